"""Rows that change, whatever figures they move, change no relation and no column of a model."""

from pathlib import Path

import pytest

from bench.look_once.databases import LOOK_ONCE, build_database
from fluid_build.decisions.language import SetValidity
from tests.modeling.evolved import SHOP, designed, difference, relations, run, unwritten
from tests.modeling.rows_only import changed_by_rows

DEPOTS = (
    "CREATE TABLE depots (depot_code VARCHAR PRIMARY KEY, depot_name VARCHAR, docks INTEGER)",
    "INSERT INTO depots SELECT 'D' || (10 + i), 'Depot ' || i, 1 + i % 9 FROM range(24) t(i)",
    "CREATE TABLE drivers (driver_id INTEGER PRIMARY KEY, last_name VARCHAR, depot_code VARCHAR)",
    "INSERT INTO drivers SELECT i, 'Driver ' || i, 'D' || (10 + i % 24) FROM range(1, 121) t(i)",
    "CREATE TABLE scans (scan_id INTEGER PRIMARY KEY, driver_id INTEGER, depot_code VARCHAR,"
    " scanned_at TIMESTAMP)",
    "INSERT INTO scans SELECT i, 1 + i % 120, 'D' || (10 + i * 7 % 24),"
    " TIMESTAMP '2026-01-01' + i * INTERVAL '1 hour' FROM range(1, 1201) t(i)",
)
"""Depots are a dimension, and are joined by the one of their drivers."""


def test_a_parent_that_loses_its_last_child_changes_no_column(tmp_path: Path) -> None:
    database = tmp_path / "courier.duckdb"
    run(database, DEPOTS)
    before = designed(database, "dimensional")
    assert "dim_depots" in relations(before)
    run(database, ["UPDATE drivers SET depot_code = 'D18' WHERE depot_code = 'D17'"])
    after = designed(database, "dimensional", before.basis)
    assert relations(after) == relations(before)


def test_what_a_dimension_does_not_meet_is_added_beside_it(tmp_path: Path) -> None:
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    before = designed(database, "dimensional")
    run(database, ["UPDATE customers SET region_code = 'N' WHERE region_code = 'S'"])
    found = difference(before, designed(database, "dimensional", before.basis))
    assert list(found.new_relations) == ["dim_regions"]
    assert found.new_columns == {}


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_a_row_without_its_key_weakens_no_claim(tmp_path: Path, technique: str) -> None:
    """It goes to quarantine, so that nothing which is loaded lacks the key."""
    database = tmp_path / "courier.duckdb"
    run(database, [statement.replace("PRIMARY KEY", "") for statement in DEPOTS])
    before = designed(database, technique)
    run(database, ["INSERT INTO drivers VALUES (NULL, 'Nobody', 'D11')"])
    after = designed(database, technique, before.basis)
    drivers = after.model.conceptual.entity("drivers")
    assert drivers.attribute("driver_id").required
    earlier, later = (
        [each.call for each in model.plan.quarantines if each.title == "drivers"]
        for model in (before, after)
    )
    assert later == earlier


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_rows_of_a_shop_change_no_relation(tmp_path: Path, technique: str) -> None:
    run(tmp_path / "shop.duckdb", SHOP)
    assert changed_by_rows(tmp_path / "shop.duckdb", technique, 3, seed=5) == []


@pytest.mark.slow
@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
@pytest.mark.parametrize("script", sorted(LOOK_ONCE.glob("*.sql")), ids=lambda path: path.stem)
def test_rows_change_no_relation(tmp_path: Path, script: Path, technique: str) -> None:
    build_database(script, tmp_path / "source.duckdb")
    assert changed_by_rows(tmp_path / "source.duckdb", technique, 10, seed=17) == []


def test_a_satellite_that_joined_later_is_dated_by_a_decision_too(tmp_path: Path) -> None:
    database = tmp_path / "courier.duckdb"
    run(database, DEPOTS)
    first = designed(database, "data_vault_2")
    run(
        database,
        [
            "ALTER TABLE drivers ADD COLUMN licence VARCHAR",
            "ALTER TABLE drivers ADD COLUMN changed_at TIMESTAMP",
            "UPDATE drivers SET licence = 'B' || driver_id, changed_at = TIMESTAMP '2026-01-01'",
        ],
    )
    joined = designed(database, "data_vault_2", first.basis)
    decision = SetValidity(table="drivers", follows="stamp", column="changed_at")
    dated = designed(database, "data_vault_2", joined.basis, (decision,))
    assert unwritten(joined, dated) == []
