"""Progress inside a table: whoever waits for a large one sees it move."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.profiling import profile_source
from fluid_build.progress import Progress, StoppedError
from fluid_build.sources import open_source
from fluid_build.sources.engine import query_progress


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask so often that a table of a moment has several reports."""
    monkeypatch.setattr(query_progress, "_EVERY_SECONDS", 0.002)


def _large(folder: Path) -> Path:
    path = folder / "large.csv"
    rows = "SELECT i, md5(i::VARCHAR) AS a, i % 97 AS b, 'x' || i AS c FROM range(300000) AS r(i)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{path}' (HEADER)")
    return path


def test_progress_moves_while_a_large_file_is_read_and_measured(tmp_path: Path) -> None:
    """In both stages there are reports from within the one table."""
    heard: list[Progress] = []
    with open_source(_large(tmp_path), on_progress=heard.append) as source:
        profile_source(source, on_progress=heard.append)
    for stage in ("reading", "columns"):
        parts = {report.part for report in heard if report.stage == stage}
        assert len(parts) > 3
        assert all(0 <= part < 1 for part in parts)


def test_the_part_that_is_done_only_grows(tmp_path: Path) -> None:
    """Over several queries it never falls back."""
    heard: list[Progress] = []
    with open_source(_large(tmp_path), on_progress=heard.append):
        pass
    parts = [report.part for report in heard if report.stage == "reading" and report.done == 0]
    assert parts == sorted(parts)


def test_nobody_is_asked_after_the_block() -> None:
    """The last report of a unit comes before its block ends, also where it fails."""
    heard: list[Progress] = []
    with (
        duckdb.connect() as connection,
        pytest.raises(ValueError, match="in the block"),
        query_progress.following(connection, heard.append, Progress("reading", 0, 1)),
    ):
        raise ValueError("in the block")
    count = len(heard)
    assert heard[0] == Progress("reading", 0, 1)
    assert len(heard) == count


def test_a_report_that_stops_the_work_interrupts_the_query() -> None:
    """The thread that waits for the query takes no step of its own until the query ends."""
    reports: list[Progress] = []

    def stop(report: Progress) -> None:
        reports.append(report)
        if len(reports) > 1:
            raise StoppedError

    with (
        duckdb.connect() as connection,
        pytest.raises(duckdb.InterruptException),
        query_progress.following(connection, stop, Progress("reading", 0, 1)),
    ):
        connection.execute(
            "SELECT sum(hash(a.i + b.i)) FROM range(1000000) a(i), range(10000) b(i)"
        )
