"""Every earlier row has to be there after a load, as it was; what a load may do is no loss."""

from collections.abc import Callable
from datetime import datetime

import pytest

from fluid_build.errors import VersionsLostError
from fluid_build.evolution.applying import remove_killed_loads
from fluid_build.evolution.deployments import (
    make_table,
    read_deployments,
    record_failure,
    record_start,
)
from fluid_build.evolution.kept_versions import Kept, check_kept, forget, take
from fluid_build.evolution.locations import opened
from fluid_build.evolution.warehouse import Location
from fluid_build.transform.plan.elements import Build, PlanColumn, TransformPlan
from tests.evolution.warehouses import rows, run

LOADED = datetime(2024, 3, 1, 12)


def build(name: str, *key: str, **fields: object) -> Build:
    column = PlanColumn(name=key[0], type="INTEGER", contract_type="integer")
    return Build.model_validate(
        {"name": name, "layer": "mart", "title": name, "sql": "", "columns": (column,), "key": key}
        | {"materialization": "table", **fields}
    )


PLAN = TransformPlan(
    name="shop",
    technique="dimensional",
    sources=(),
    builds=(
        build("sat", "k", materialization="incremental"),
        build("snap", "k", materialization="incremental", replaced="snapshot_date = x"),
        build("dim", "k", next_load="SELECT 1"),
        build("fct", "k"),
    ),
)


@pytest.fixture
def filled(location: Location) -> Location:
    """A history, a snapshot fact, a dimension that keeps members, and a fact that's replaced."""
    schema = location.schema
    with opened(location) as warehouse:
        make_table(warehouse)
    run(
        location,
        f"CREATE TABLE {schema}.sat (k INTEGER, city VARCHAR, load_date TIMESTAMP)",
        f"INSERT INTO {schema}.sat VALUES (1, 'Bern', TIMESTAMP '2024-01-01'),"
        " (1, NULL, TIMESTAMP '2024-02-01'), (2, 'Lyon', TIMESTAMP '2024-02-01')",
        f"CREATE TABLE {schema}.snap (k INTEGER, snapshot_date DATE)",
        f"INSERT INTO {schema}.snap VALUES (1, DATE '2024-02-29'), (1, DATE '2024-03-01')",
        f"CREATE TABLE {schema}.dim (k INTEGER, city VARCHAR)",
        f"INSERT INTO {schema}.dim VALUES (1, 'Bern'), (2, 'Lyon'), (NULL, 'nowhere')",
        f"CREATE TABLE {schema}.fct (k INTEGER)",
        f"INSERT INTO {schema}.fct VALUES (7)",
    )
    return location


def taken(location: Location) -> Kept:
    with opened(location) as warehouse:
        return take(warehouse, (PLAN,), LOADED)


def checked(location: Location, kept: Kept) -> None:
    with opened(location) as warehouse:
        check_kept(warehouse, Kept.model_validate_json(kept.model_dump_json()))


def test_it_counts_what_has_to_be_kept(filled: Location) -> None:
    kept = taken(filled)
    assert {each.relation: each.rows for each in kept.dated} == {"sat": 3, "snap": 1}
    assert {each.relation: each.rows for each in kept.keyed} == {"dim": 3}
    assert kept.rows == 7


ALLOWED: dict[str, str] = {
    "nothing": "SELECT 1",
    "a new version": "INSERT INTO {}.sat VALUES (1, 'Rome', TIMESTAMP '2024-03-01 12:00:00')",
    "a ghost record": "INSERT INTO {}.sat VALUES (0, NULL, TIMESTAMP '1900-01-01')",
    "a new column": "ALTER TABLE {}.sat ADD COLUMN zip VARCHAR",
    "a wider type": "ALTER TABLE {}.sat ALTER COLUMN k TYPE BIGINT",
    "an exact type": "ALTER TABLE {}.sat ALTER COLUMN k TYPE DECIMAL(12, 2)",
    "today's snapshot again": "DELETE FROM {}.snap WHERE snapshot_date = DATE '2024-03-01'",
    "another value of a member": "UPDATE {}.dim SET city = 'Basel' WHERE k = 1",
    "a new member": "INSERT INTO {}.dim VALUES (3, 'Oslo')",
    "facts made anew": "DELETE FROM {}.fct",
}


@pytest.mark.parametrize("change", ALLOWED)
def test_what_a_load_may_do_is_no_loss(filled: Location, change: str) -> None:
    kept = taken(filled)
    run(filled, ALLOWED[change].format(filled.schema))
    checked(filled, kept)


LOSSES: dict[str, tuple[str, str]] = {
    "a version": ("DELETE FROM {}.sat WHERE city = 'Lyon'", "sat: 3 rows before, 2 now"),
    "a version of nulls": ("DELETE FROM {}.sat WHERE city IS NULL", "sat: 3 rows before, 2 now"),
    "a doubled version": (
        "INSERT INTO {}.sat VALUES (2, 'Lyon', TIMESTAMP '2024-02-01')",
        "sat: 3 rows before, 4 now",
    ),
    "a changed value": ("UPDATE {}.sat SET city = 'x' WHERE k = 2", "sat: of 3 rows, some"),
    "a null that is a value now": (
        "UPDATE {}.sat SET city = '' WHERE city IS NULL",
        "sat: of 3 rows, some were changed",
    ),
    "a redated version": (
        "UPDATE {}.sat SET load_date = TIMESTAMP '2024-02-02' WHERE k = 2",
        "sat: of 3 rows, some were changed",
    ),
    "a column": ("ALTER TABLE {}.sat DROP COLUMN city", "sat: 3 rows before, 0 now"),
    "a relation": ("DROP TABLE {}.sat", "sat: 3 rows before, 0 now"),
    "an earlier snapshot": ("DELETE FROM {}.snap", "snap: 1 row before, 0 now"),
    "a member": ("DELETE FROM {}.dim WHERE k = 2", "dim: 3 rows before, 2 now"),
    "a member without a key": ("DELETE FROM {}.dim WHERE k IS NULL", "dim: 3 rows before, 2 now"),
    "all members": ("DROP TABLE {}.dim", "dim: 3 rows before, 0 now"),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_or_changed_row_is_an_error_with_the_figures(filled: Location, loss: str) -> None:
    kept = taken(filled)
    statement, figures = LOSSES[loss]
    run(filled, statement.format(filled.schema))
    with pytest.raises(VersionsLostError) as lost:
        checked(filled, kept)
    assert figures in lost.value.message


def test_two_swapped_values_are_a_change(filled: Location) -> None:
    """Sums of columns alone wouldn't tell: the hash is of a whole row."""
    run(
        filled,
        f"INSERT INTO {filled.schema}.sat VALUES (4, 'a', TIMESTAMP '2024-02-01'),"
        " (5, 'b', TIMESTAMP '2024-02-01')",
    )
    kept = taken(filled)
    run(filled, f"UPDATE {filled.schema}.sat SET city = CASE k WHEN 4 THEN 'b' ELSE 'a' END"
        " WHERE k IN (4, 5)")  # fmt: skip
    with pytest.raises(VersionsLostError, match="some were changed"):
        checked(filled, kept)


def test_another_version_of_the_engine_compares_numbers_alone(filled: Location) -> None:
    """Its hashes may be others, which is no loss."""
    kept = taken(filled).model_copy(update={"engine": "of yesterday"})
    run(filled, f"UPDATE {filled.schema}.sat SET city = 'x' WHERE k = 2")
    checked(filled, kept)
    run(filled, f"DELETE FROM {filled.schema}.sat WHERE k = 2")
    with pytest.raises(VersionsLostError):
        checked(filled, kept)


def test_the_kept_keys_are_gone_when_they_are_found(filled: Location) -> None:
    taken(filled)
    with opened(filled) as warehouse:
        forget(warehouse)
        assert "fluid_kept_keys" not in warehouse.relations()


@pytest.mark.parametrize("earlier", [lambda: (), lambda: (PLAN,)])
def test_a_new_warehouse_has_nothing_to_keep(
    location: Location, earlier: Callable[[], tuple[TransformPlan, ...]]
) -> None:
    with opened(location) as warehouse:
        make_table(warehouse)
        kept = take(warehouse, earlier(), LOADED)
        assert kept.rows == 0
        check_kept(warehouse, kept)
    assert rows(location, f"SELECT count(*) FROM {location.schema}.fluid_deployments") == [(0,)]


def test_what_a_killed_load_added_is_taken_out_and_nothing_else(filled: Location) -> None:
    """A failed check is no reason to forget what the source had on that day."""
    killed, failed = datetime(2024, 2, 1), datetime(2024, 1, 1)
    with opened(filled) as warehouse:
        record_start(warehouse, 1, failed, LOADED, "")
        record_failure(warehouse, 1, LOADED)
        record_start(warehouse, 2, killed, LOADED, "")
        remove_killed_loads(warehouse, (PLAN,), read_deployments(warehouse))
    assert rows(filled, f"SELECT k, city FROM {filled.schema}.sat") == [(1, "Bern")]
    assert rows(filled, f"SELECT count(*) FROM {filled.schema}.snap") == [(2,)]
