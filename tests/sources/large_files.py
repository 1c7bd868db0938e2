"""A file that takes a moment to read, and progress that is reported in each moment."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.sources.engine import query_progress


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask so often that a table of a moment has several reports."""
    monkeypatch.setattr(query_progress, "_EVERY_SECONDS", 0.002)


def large_csv(folder: Path) -> Path:
    path = folder / "large.csv"
    rows = "SELECT i, md5(i::VARCHAR) AS a, i % 97 AS b, 'x' || i AS c FROM range(300000) AS r(i)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{path}' (HEADER)")
    return path
