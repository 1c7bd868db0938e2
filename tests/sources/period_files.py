"""Files for one period each, in any format."""

import gzip
from pathlib import Path

import duckdb


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if name.endswith(".parquet"):
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({text}) TO '{folder / name}' (FORMAT parquet)")
    elif name.endswith(".gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    else:
        (folder / name).write_text(text)
