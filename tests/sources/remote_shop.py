"""A shop as the files of a lake, here and on a web server."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from fluid_build.sources.base import Source
from tests.sources.web_server import web_server


def write_shop(folder: Path) -> Path:
    """CSV, JSON, Parquet, partitions and months, as a lake has them."""
    folder.mkdir(parents=True)
    (folder / "customers.csv").write_text("id,name\n1,Zoë\n2,日本\n")
    (folder / "events.jsonl").write_text('{"id": 1, "at": "2024-01-02"}\n')
    for year in (2023, 2024):
        part = folder / "orders" / f"year={year}"
        part.mkdir(parents=True)
        duckdb.sql(f"SELECT {year} AS id, 9.5 AS amount").write_parquet(str(part / "0.parquet"))
    for month in ("01", "02"):
        (folder / f"sales_2024_{month}.csv").write_text("id,v\n1,a\n")
    return folder


def count_rows(source: Source) -> dict[str, int]:
    return {
        table.name: source.connection.sql(f"SELECT count(*) FROM {table.relation}").fetchall()[0][0]
        for table in source.tables
    }


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    with web_server(write_shop(tmp_path / "shop")) as url:
        yield url
