"""Rows that change, whatever figures they move, change no relation and no column of a model."""

from pathlib import Path

import pytest

from bench.look_once.databases import LOOK_ONCE, build_database
from tests.modeling.evolved import SHOP, designed, difference, relations, run
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
def test_rows_of_a_shop_change_no_relation(tmp_path: Path, technique: str) -> None:
    run(tmp_path / "shop.duckdb", SHOP)
    assert changed_by_rows(tmp_path / "shop.duckdb", technique, 3, seed=5) == []


@pytest.mark.slow
@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
@pytest.mark.parametrize("script", sorted(LOOK_ONCE.glob("*.sql")), ids=lambda path: path.stem)
def test_rows_change_no_relation(tmp_path: Path, script: Path, technique: str) -> None:
    build_database(script, tmp_path / "source.duckdb")
    assert changed_by_rows(tmp_path / "source.duckdb", technique, 10, seed=17) == []
