"""Progress inside a table: whoever waits for a large one sees it move."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.progress import Progress, StoppedError
from fluid_build.sources import open_source
from fluid_build.sources.engine import query_progress
from tests.sources.large_files import large_csv
from tests.sources.large_files import often as often


def test_the_part_that_is_done_only_grows(tmp_path: Path) -> None:
    """Over several queries it never falls back."""
    heard: list[Progress] = []
    with open_source(large_csv(tmp_path), on_progress=heard.append):
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
