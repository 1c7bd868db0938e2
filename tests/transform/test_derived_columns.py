"""What a load derives: it holds after every load, and what somebody changed of it is found."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.transform.proof.derived_columns import (
    Contradiction,
    contradicted_rows,
    expected_record_sources,
)
from fluid_build.transform.proof.hash_columns import hash_columns
from fluid_build.transform.proof.next_load import changes_by_a_load, changes_without_hashes
from tests.transform.data_vault.shop import REFERENCES
from tests.transform.data_vault.shop import SHOP as VAULT_SHOP
from tests.transform.data_vault.vaults import Vault, vault
from tests.transform.dimensional.shop import SHOP as STAR_SHOP
from tests.transform.dimensional.stars import Star, star

Loaded = Star | Vault


@pytest.fixture
def mart(tmp_path: Path) -> Iterator[Star]:
    with star(tmp_path, STAR_SHOP) as found:
        yield found


@pytest.fixture
def raw_vault(tmp_path: Path) -> Iterator[Vault]:
    with vault(tmp_path, VAULT_SHOP, REFERENCES, business_vault=True) as found:
        yield found


def contradictions(loaded: Loaded) -> list[Contradiction]:
    """What a load on the same day would not leave so."""
    model, plan, connection = loaded.model, loaded.plan, loaded.built.connection
    stored = [build for build in plan.published if build.materialization != "view"]
    sources = expected_record_sources(model, stored, ())
    found = list(contradicted_rows(connection, stored, hash_columns(model), sources))
    return [*found, *changes_by_a_load(connection, plan, plan, loaded.day)]


DAYS = (
    "UPDATE shop.customer SET city = 'elsewhere' WHERE id = 3",
    "CREATE TABLE shop.kept AS FROM shop.customer WHERE id = 5;"
    " DELETE FROM shop.customer WHERE id = 5",
    "UPDATE shop.customer SET city = 'nowhere' WHERE id = 3",
    "INSERT INTO shop.customer FROM shop.kept",
)
"""A row changes, another one goes, the first changes again, and the other comes back."""


@pytest.mark.parametrize("technique", ["mart", "raw_vault"])
def test_nothing_contradicts_what_was_loaded_on_several_days(
    request: pytest.FixtureRequest, technique: str
) -> None:
    """History, deletions and rows that came back are as loads leave them."""
    loaded: Loaded = request.getfixturevalue(technique)
    assert contradictions(loaded) == []
    for change in DAYS:
        loaded.change(*change.split("; "))
        loaded.load()
        assert contradictions(loaded) == []


def test_old_snapshots_may_be_deleted(raw_vault: Vault) -> None:
    for change in DAYS:
        raw_vault.change(*change.split("; "))
        raw_vault.load()
    for build in raw_vault.plan.builds:
        if build.layer == "business_vault":
            latest = f"(SELECT max(snapshot_date) FROM model.{build.name})"
            raw_vault.change(f"DELETE FROM model.{build.name} WHERE snapshot_date < {latest}")
    assert contradictions(raw_vault) == []


@pytest.mark.parametrize("prefix", ["pit_", "bridge_"])
def test_a_row_that_a_snapshot_lacks_is_found_without_hashes(raw_vault: Vault, prefix: str) -> None:
    """Also where another engine made them, such as PostgreSQL."""
    builds = raw_vault.plan.published
    name = next(build.name for build in builds if build.name.startswith(prefix))
    connection = raw_vault.built.connection
    assert list(changes_without_hashes(connection, builds)) == []
    raw_vault.load()
    one_row = f"(SELECT min(rowid) FROM model.{name})"
    raw_vault.change(f"DELETE FROM model.{name} WHERE rowid = {one_row}")
    assert [(each.relation, each.rows) for each in changes_without_hashes(connection, builds)] == [
        (name, 1)
    ]


def first(relation: str, column: str, value: str) -> str:
    """The statement that gives a column of one row another value."""
    row = f"(SELECT max(rowid) FROM model.{relation} WHERE {column} IS NOT NULL)"
    return f"UPDATE model.{relation} SET {column} = {value} WHERE rowid = {row}"


STAR_DAMAGES = {
    "a day": ("dim_date", "DELETE FROM model.dim_date WHERE full_date = '2024-01-05'"),
    "a day twice": ("dim_date", "INSERT INTO model.dim_date FROM model.dim_date LIMIT 1"),
    "a month's name": ("dim_date", first("dim_date", "month_name", "'x'")),
    "a day's key": ("dim_date", first("dim_date", "date_key", "NULL")),
    "a durable key": ("dim_customer", first("dim_customer", "customer_durable_key", "'x'")),
    "a start": ("dim_customer", first("dim_customer", "valid_from", "DATE '2023-01-01'")),
    "an end": ("dim_customer", first("dim_customer", "valid_to", "NULL")),
    "a history": ("dim_customer_history", "DELETE FROM model.dim_customer_history"),
    "a row hash": ("dim_customer_history", first("dim_customer_history", "row_hash", "'x'")),
    "a load date": ("dim_customer_history", first("dim_customer_history", "load_date", "NULL")),
}
VAULT_DAMAGES = {
    "a hash diff": ("sat_customer", first("sat_customer", "hash_diff", "'x'")),
    "no hash diff": ("sat_customer", first("sat_customer", "hash_diff", "NULL")),
    "a record source": ("sat_customer", first("sat_customer", "record_source", "'x'")),
    "a hub's record source": ("hub_customer", first("hub_customer", "record_source", "'x'")),
    "no load date": ("hub_customer", first("hub_customer", "load_date", "NULL")),
    "a hub that is younger than its rows": (
        "sat_customer",
        first("hub_customer", "load_date", "TIMESTAMP '2000-01-09'"),
    ),
    "a row of the staging": ("stg_customer", "DELETE FROM model.stg_customer"),
}


@pytest.mark.parametrize("damage", STAR_DAMAGES)
def test_a_change_of_what_a_star_derives_is_found(mart: Star, damage: str) -> None:
    """Its relation is named."""
    relation, statement = STAR_DAMAGES[damage]
    mart.change(statement)
    assert relation in {each.relation for each in contradictions(mart)}


@pytest.mark.parametrize("damage", VAULT_DAMAGES)
def test_a_change_of_what_a_vault_derives_is_found(raw_vault: Vault, damage: str) -> None:
    """Its relation is named."""
    relation, statement = VAULT_DAMAGES[damage]
    raw_vault.change(statement)
    assert relation in {each.relation for each in contradictions(raw_vault)}


def test_hash_keys_of_two_links_that_were_swapped_are_found(raw_vault: Vault) -> None:
    """Each is still there once, beside the hubs of the other."""
    link = next(one for one in raw_vault.dv2.links if not one.of_rows)
    key, relation = link.hash_key, f"model.{link.name}"
    raw_vault.change(
        f"UPDATE {relation} SET {key} = CASE WHEN {key} = ends.a THEN ends.b ELSE ends.a END FROM"
        f" (SELECT min({key}) AS a, max({key}) AS b FROM {relation}) AS ends"
        f" WHERE {key} IN (ends.a, ends.b)"
    )
    assert link.name in {each.relation for each in contradictions(raw_vault)}


def test_a_key_that_the_source_has_no_longer_keeps_its_hash(raw_vault: Vault) -> None:
    """A row of an old version is checked as well, which no load reads."""
    raw_vault.change("UPDATE shop.customer SET city = 'elsewhere' WHERE id = 3")
    raw_vault.load()
    raw_vault.change(
        "UPDATE model.sat_customer SET city = 'x' WHERE load_date = (SELECT min(load_date) FROM"
        " model.sat_customer WHERE NOT is_deleted) AND city = 'c0' AND rowid IN (SELECT rowid FROM"
        " model.sat_customer ORDER BY load_date) AND customer_hk = (SELECT customer_hk FROM"
        " model.hub_customer WHERE id = 3)"
    )
    assert [(each.relation, each.rows) for each in contradictions(raw_vault)] == [
        ("sat_customer", 1)
    ]


def test_a_hash_of_one_zero_beside_the_other_is_no_contradiction(tmp_path: Path) -> None:
    """A file keeps one of the two, and the hash was made before."""
    statements = (
        "CREATE TABLE reading (id INTEGER PRIMARY KEY, value DOUBLE)",
        "INSERT INTO reading SELECT i + 10, i + 0.25 FROM range(40) r(i)",
        "UPDATE reading SET value = 0 WHERE id = 12",
    )
    with vault(tmp_path, statements) as loaded:
        # DuckDB doesn't write a value over an equal one.
        for value in ("0.5", "-0.0"):
            loaded.change(f"UPDATE model.sat_reading SET value = '{value}' WHERE value IN (0, 0.5)")
        assert loaded.rows("SELECT count(*) FROM model.sat_reading WHERE signbit(value)") == [(1,)]
        assert contradictions(loaded) == []
