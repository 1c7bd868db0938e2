"""What goes back, in rows, relations and columns: all of it in one transaction, or nothing."""

from datetime import date, datetime, timedelta

import pytest

from fluid_build.errors import WarehouseError
from fluid_build.evolution.deployments import (
    KEPT_FOLDERS,
    RelationState,
    Result,
    finished,
    folder_of,
    interrupted,
    make_table,
    read_deployments,
    record_failure,
    record_result,
    record_start,
    record_undone,
    undone_versions,
)
from fluid_build.evolution.locations import opened
from fluid_build.evolution.rolling_back import RelationUndo, Rollback, other_loads, roll_back
from fluid_build.evolution.warehouse import Location
from tests.evolution.warehouses import rows, run

FIRST = datetime(2024, 1, 1)


def deployed(location: Location, *outcomes: str) -> None:
    """Record deployments, one a day."""
    with opened(location) as warehouse:
        make_table(warehouse)
        for number, outcome in enumerate(outcomes, start=1):
            day = FIRST + timedelta(days=number)
            record_start(warehouse, number, day, day, '{"x": 1}')
            if outcome == "done":
                states = {"sat": RelationState(rows=3, columns={"k": "INTEGER"})}
                result = Result("1.2.0", "m", "s", states, b"\0zip")
                record_result(warehouse, number, day, result)
            elif outcome == "failed":
                record_failure(warehouse, number, day)


def test_deployments_are_read_as_they_were_recorded(location: Location) -> None:
    deployed(location, "done", "failed", "started")
    with opened(location) as warehouse:
        first, second, third = read_deployments(warehouse)
    assert (first.outcome, second.outcome, third.outcome) == ("done", "failed", "started")
    assert (first.contract_version, first.rows) == ("1.2.0", 3)
    assert first.load_date == datetime(2024, 1, 2)
    assert (first.kept, second.kept, third.finished_at) == ("", '{"x": 1}', None)


def test_the_folders_of_the_last_deployments_stay(location: Location) -> None:
    """Each is as large as the product; one that failed counts for none."""
    deployed(location, "done", "done", "failed", *["done"] * (KEPT_FOLDERS - 1))
    with opened(location) as warehouse:
        kept = [
            each.number
            for each in read_deployments(warehouse)
            if folder_of(warehouse, each.number) is not None
        ]
    assert kept == [2, *range(4, KEPT_FOLDERS + 3)]


def test_an_interrupted_one_is_the_first_since_the_last_that_ended_well(
    location: Location,
) -> None:
    deployed(location, "failed", "done", "started", "failed")
    with opened(location) as warehouse:
        deployments = read_deployments(warehouse)
        unfinished = interrupted(deployments)
        assert unfinished is not None
        assert unfinished.number == 3
        assert [each.number for each in finished(deployments)] == [2]
        record_undone(warehouse, 2)
        assert interrupted(read_deployments(warehouse)) is None


def rollback_of(location: Location, *undos: RelationUndo) -> Rollback:
    with opened(location) as warehouse:
        first, *later = read_deployments(warehouse)
    return Rollback(first, tuple(later), undos, (), (), {}, ())


@pytest.fixture
def loaded(location: Location) -> Location:
    deployed(location, "done", "done")
    wide = {"duckdb": "BIGINT", "postgres": "bigint"}[location.engine]
    run(
        location,
        f"CREATE TABLE {location.schema}.sat (k {wide}, load_date TIMESTAMP, later VARCHAR)",
        f"INSERT INTO {location.schema}.sat VALUES (1, TIMESTAMP '2024-01-02', 'x'),"
        " (9000000000, TIMESTAMP '2024-01-03', 'y')",
        f"CREATE TABLE {location.schema}.came_later (k INTEGER)",
    )
    return location


MOMENT = "TIMESTAMP '2024-01-02 00:00:00'"
SAT = RelationUndo(
    "sat",
    1,
    dated_by="load_date",
    bound=MOMENT,
    columns=("later",),
    retyped={"k": "INTEGER"},
)


def test_rows_columns_types_and_relations_that_came_later_go(loaded: Location) -> None:
    planned = rollback_of(loaded, SAT, RelationUndo("came_later", 0, is_dropped=True))
    with opened(loaded) as warehouse:
        roll_back(warehouse, planned)
        there = warehouse.relations()
        deployments = read_deployments(warehouse)
    assert [each.outcome for each in deployments] == ["done", "undone"]
    assert undone_versions(deployments) == {"1.2.0"}
    assert undone_versions(deployments[:1]) == set()
    assert "came_later" not in there
    assert {name: type_.upper() for name, type_ in there["sat"].columns.items()}.keys() == {
        "k",
        "load_date",
    }
    assert there["sat"].columns["k"].upper() == "INTEGER"
    assert rows(loaded, f"SELECT k FROM {loaded.schema}.sat") == [(1,)]


def test_days_that_no_deployment_loaded_are_known(loaded: Location) -> None:
    """By the moments of rows, and by the days of snapshots."""
    run(
        loaded,
        f"INSERT INTO {loaded.schema}.sat (k, load_date) VALUES"
        " (3, TIMESTAMP '2024-01-03 00:00:01'), (4, TIMESTAMP '2024-01-05')",
        f"CREATE TABLE {loaded.schema}.snap AS SELECT DATE '2024-01-03' AS day"
        " UNION ALL SELECT DATE '2024-01-07'",
    )
    snap = RelationUndo("snap", 2, dated_by="day", bound="DATE '2024-01-02'")
    with opened(loaded) as warehouse:
        deployments = read_deployments(warehouse)
        assert other_loads(warehouse, [SAT, snap], deployments) == (
            date(2024, 1, 3),
            date(2024, 1, 5),
            date(2024, 1, 7),
        )
        dropped = RelationUndo("came_later", 0, is_dropped=True)
        assert other_loads(warehouse, [dropped], deployments) == ()


def test_nothing_goes_where_one_of_them_cannot(loaded: Location) -> None:
    planned = rollback_of(loaded, SAT, RelationUndo("zz_not_there", 0, is_dropped=True))
    with opened(loaded) as warehouse:
        with pytest.raises(WarehouseError):
            roll_back(warehouse, planned)
        assert [*warehouse.relations()["sat"].columns] == ["k", "load_date", "later"]
        assert [each.outcome for each in read_deployments(warehouse)] == ["done", "done"]
    assert rows(loaded, f"SELECT count(*) FROM {loaded.schema}.sat") == [(2,)]


def test_an_edited_table_of_deployments_is_an_error(location: Location) -> None:
    deployed(location, "done")
    run(location, f"UPDATE {location.schema}.fluid_deployments SET relations = '[1]'")
    with opened(location) as warehouse, pytest.raises(WarehouseError, match="isn't as"):
        read_deployments(warehouse)
