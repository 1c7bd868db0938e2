"""The nights of a folder in the store."""

from datetime import datetime, timedelta
from pathlib import Path

from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.monitoring.figures import SourceFigures
from fluid_build.monitoring.history import Night, Seen, history_of, keep_night, read_nights
from tests.monitoring.nights import night

FOLDER = history_of("shop", "/warehouse.duckdb", "shop")


def kept(store: SqliteBackend, number: int, rows: int, hour: int = 2, **more: object) -> Night:
    figures = night(number, rows)
    moment = figures.moment.replace(hour=hour)
    parts = {"moment": moment, "figures": figures.source, **more}
    return keep_night(store, FOLDER, Night.model_validate(parts)).night


def test_a_night_is_held_against_those_before_it(tmp_path: Path) -> None:
    store = SqliteBackend(tmp_path / "store.db")
    for number in range(10):
        assert not kept(store, number, 1_000 * number).alarms
    assert [alarm.figure for alarm in kept(store, 10, 9_000).alarms] == ["rows"]
    assert not kept(store, 10, 10_000, hour=5).alarms
    assert len(read_nights(store, FOLDER)) == 11


def test_looks_of_one_day_are_one_night(tmp_path: Path) -> None:
    """The apply knows what the plan said, and one that failed has no figures of its own."""
    store = SqliteBackend(tmp_path / "store.db")
    moment = datetime(2026, 6, 1, 3)
    planned = Seen(moment=moment, outcome="nothing")
    kept(store, 0, 7, planned=planned)
    failed = Seen(moment=moment + timedelta(hours=1), outcome="failed", told=("No.",))
    keep_night(store, FOLDER, Night(moment=moment, applied=failed))
    (found,) = read_nights(store, FOLDER)
    assert found.figures is not None
    assert found.figures.rows == 7
    assert found.planned == planned
    assert found.has_failed


def test_folders_do_not_see_each_other(tmp_path: Path) -> None:
    store = SqliteBackend(tmp_path / "store.db")
    kept(store, 0, 7)
    assert read_nights(store, history_of("shop", "/warehouse.duckdb", "other")) == ()


def test_a_record_of_another_version_is_passed(tmp_path: Path) -> None:
    store = SqliteBackend(tmp_path / "store.db")
    store.put(f"nights/{FOLDER}", "2026-05-01", {"unknown": 1})
    kept(store, 0, 7)
    assert [each.figures for each in read_nights(store, FOLDER)] != [SourceFigures()]
    assert len(read_nights(store, FOLDER)) == 1
