"""A vault's link of which the source drops a part goes on in a further one, and nothing is lost."""

import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fluid_build.forging.stages import Designed
from fluid_build.modeling.basis import restricted
from fluid_build.modeling.data_vault.elements import Link
from fluid_build.modeling.evolution import Evolution
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import Profile
from tests.modeling.evolved import designed_of, difference, measured, run, unwritten
from tests.modeling.vault_nights import VaultNights

PARTIES = (
    "CREATE TABLE customers (customer_no INTEGER, company VARCHAR NOT NULL)",
    "INSERT INTO customers SELECT 100 + i, 'Company ' || i FROM range(1, 61) t(i)",
    "CREATE TABLE drivers (driver_id INTEGER, driver_name VARCHAR, hired DATE, phone VARCHAR)",
    "INSERT INTO drivers SELECT 5000 + i, 'Driver ' || (i // 2),"
    " DATE '2010-01-01' + (i * 31)::INTEGER, '+49 30 55' || (1000 + i) FROM range(1, 41) t(i)",
    "CREATE TABLE depots (depot_code VARCHAR, town VARCHAR NOT NULL, opened DATE)",
    "INSERT INTO depots SELECT 'D' || i, 'Town ' || i, DATE '2000-01-01' + (i * 100)::INTEGER"
    " FROM range(10, 35) t(i)",
    "CREATE TABLE agencies (agency_id INTEGER, agency VARCHAR, since DATE, phone VARCHAR)",
    "INSERT INTO agencies SELECT 900 + i, 'Agency ' || (i // 2),"
    " DATE '2011-01-01' + (i * 17)::INTEGER, '+49 40 66' || (1000 + i) FROM range(1, 31) t(i)",
)
_REFERRING = "101 + i * 7 % 60, 5001 + i * 3 % 40, 'D' || (10 + i * 11 % 25), 901 + i * 13 % 30"
_REFERENCES = (
    "customer_no INTEGER NOT NULL, driver_id INTEGER NOT NULL, depot_code VARCHAR NOT NULL,"
    " agency_id INTEGER NOT NULL"
)
_AT = "TIMESTAMP '2024-01-01' + i * INTERVAL '3 hours'"
SOURCES = {
    "shipments": (
        f"CREATE TABLE shipments (shipment_no INTEGER, {_REFERENCES}, shipped_at TIMESTAMP,"
        " weight DECIMAL(8,2), status VARCHAR)",
        f"INSERT INTO shipments SELECT 70000 + i, {_REFERRING}, {_AT}, i * 0.25,"
        " CASE i % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'sent' ELSE 'done' END FROM range(1, 401) t(i)",
        "CREATE TABLE parcels (parcel_no INTEGER, shipment_no INTEGER NOT NULL, kind VARCHAR)",
        "INSERT INTO parcels SELECT i, 70001 + i * 17 % 400, 'k' || i % 4 FROM range(1, 500) t(i)",
    ),
    "visits": (
        "CREATE TABLE visits (visit_id INTEGER, customer_no INTEGER NOT NULL,"
        " driver_id INTEGER NOT NULL, agency_id INTEGER NOT NULL, visited_at TIMESTAMP,"
        " minutes INTEGER)",
        "INSERT INTO visits SELECT i, 101 + i * 7 % 60, 5001 + i * 3 % 40, 901 + i * 13 % 30,"
        f" {_AT}, i % 50 FROM range(1, 601) t(i)",
    ),
    "scans": (
        f"CREATE TABLE scans ({_REFERENCES}, scanned_at TIMESTAMP, minutes INTEGER)",
        f"INSERT INTO scans SELECT {_REFERRING}, TIMESTAMP '2024-01-01' + (i // 4) * INTERVAL"
        " '3 hours', i % 50 FROM range(1, 601) t(i)",
        "INSERT INTO scans SELECT * FROM scans WHERE minutes < 3",
    ),
    "routes": (
        f"CREATE TABLE routes ({_REFERENCES})",
        f"INSERT INTO routes SELECT {_REFERRING} FROM range(1, 601) t(i)",
    ),
    "lines": (
        "CREATE TABLE orders (order_no INTEGER, ordered_on DATE NOT NULL, note VARCHAR)",
        "INSERT INTO orders SELECT 40000 + i, DATE '2024-01-01' + (i % 200)::INTEGER, 'n' || i"
        " FROM range(1, 201) t(i)",
        "CREATE TABLE products (product_id INTEGER, title VARCHAR NOT NULL)",
        "INSERT INTO products SELECT 3000 + i, 'P ' || i FROM range(1, 51) t(i)",
        "CREATE TABLE lines (order_no INTEGER NOT NULL, product_id INTEGER NOT NULL,"
        " depot_code VARCHAR NOT NULL, agency_id INTEGER NOT NULL, quantity INTEGER,"
        " remark VARCHAR)",
        "INSERT INTO lines SELECT 40001 + i % 200, 3001 + (i * 7 + i // 200) % 50,"
        " 'D' || (10 + i * 11 % 25), 901 + i * 13 % 30, 1 + i % 5, 'r' || i % 9"
        " FROM range(0, 600) t(i)",
    ),
}
"""An event that others refer to, a transaction with a number of its own, one without a key, a table
of references alone, and lines whose key is made of references."""
REFERENCES = {
    "lines": ("order_no", "product_id", "depot_code", "agency_id"),
    "visits": ("customer_no", "driver_id", "agency_id"),
    **dict.fromkeys(
        ("shipments", "scans", "routes"),
        ("customer_no", "driver_id", "depot_code", "agency_id"),
    ),
}


@cache
def source_of(table: str) -> tuple[Profile, Observations]:
    """What is measured of a source."""
    with TemporaryDirectory() as folder:
        run(Path(folder) / "source.duckdb", (*PARTIES, *SOURCES[table]))
        return measured(Path(folder) / "source.duckdb")


def designed_without(
    table: str, columns: Iterable[str], earlier: Designed | None = None
) -> Designed:
    """The model of a source without some columns of a table, after an earlier one."""
    profile, observations = source_of(table)
    profile = restricted(profile, set(), {(table, column) for column in columns})
    basis = None if earlier is None else earlier.basis
    return designed_of(profile, observations, "data_vault_2", basis)


def links_of(model: Designed, table: str) -> list[Link]:
    """The links of a table, in the order of the model."""
    assert model.model.dv2 is not None
    return [link for link in model.model.dv2.links if link.table == table]


def unheld(model: Designed) -> list[str]:
    """The columns that the source has, and that no relation holds which is loaded."""
    evolution = model.model.evolution or Evolution()
    held = {
        source
        for build in model.plan.published
        if not build.is_retired
        for column in build.columns
        for source in column.source_columns
    }
    return [
        f"{entity.name}.{attribute.name}"
        for entity in model.model.conceptual.entities
        for attribute in entity.attributes
        for column in attribute.source_columns
        if column not in held and column not in evolution.retired_columns
    ]


def unrelated(model: Designed, table: str) -> list[str]:
    """The columns of references that the source has, and that no link relates which is loaded.

    A link that holds whole rows has those that came back later as columns.
    """
    evolution = model.model.evolution or Evolution()
    gone = {each.column for each in evolution.retired_columns if each.table == table}
    known = {c for link in links_of(model, table) for hub in link.hubs for c in hub.columns}
    related = {
        column
        for link in links_of(model, table)
        if not model.plan.build(link.name).is_retired
        for hub in link.hubs
        for column in hub.columns
    }
    is_whole = any(link.of_rows for link in links_of(model, table))
    return [] if is_whole else sorted(known - gone - related)


@pytest.mark.parametrize("table", SOURCES)
def test_whatever_a_table_drops_the_rest_is_held_and_related(table: str) -> None:
    """Some references go at once, one after another, and come back."""
    chance = random.Random(table)
    before = first = designed_without(table, ())
    for _ in range(5):
        columns = chance.sample(REFERENCES[table], chance.randint(1, len(REFERENCES[table]) - 1))
        after = designed_without(table, columns, before)
        assert difference(before, after).lost == []
        assert (unheld(after), unrelated(after, table)) == ([], []), columns
        assert unwritten(before, after) == []
        again = designed_without(table, columns, after)
        assert again.model == after.model
        before = after
    back = designed_without(table, (), before)
    assert not [build.name for build in back.plan.builds if build.is_retired]
    assert difference(first, back).lost == []


def test_a_further_link_has_what_is_left_and_its_own_key() -> None:
    before = designed_without("shipments", ())
    after = designed_without("shipments", ["driver_id"], before)
    first, further = links_of(after, "shipments")
    assert (further.name, further.instead_of) == ("lnk_shipments_2", "lnk_shipments")
    assert further.hash_key != first.hash_key
    assert further.hubs == tuple(hub for hub in first.hubs if hub.columns != ("driver_id",))
    assert after.plan.build("lnk_shipments").is_retired
    assert after.plan.build("eff_sat_shipments").is_retired
    assert not after.plan.build("eff_sat_shipments_2").is_retired


def test_a_link_that_one_reference_is_left_of_is_an_ordinary_one() -> None:
    before = designed_without("shipments", ())
    after = designed_without("shipments", ["driver_id", "agency_id", "customer_no"], before)
    further = links_of(after, "shipments")[-1]
    assert [hub.columns for hub in further.hubs] == [("shipment_no",), ("depot_code",)]


def test_a_dropped_reference_weakens_no_claim_of_its_hub() -> None:
    """Nobody lacks it: the link that relates it gets no rows."""
    before = designed_without("shipments", ())
    after = designed_without("shipments", ["driver_id"], before)
    for model in (before, after):
        assert model.plan.build("hub_drivers").column("driver_id").required
        assert model.model.dv2 is not None
        assert not model.model.dv2.hub("hub_drivers").has_ghost


@pytest.mark.parametrize(
    ("table", "column"), [("visits", "visit_id"), ("routes", "driver_id"), ("lines", "product_id")]
)
def test_rows_that_nothing_tells_apart_are_held_whole(table: str, column: str) -> None:
    before = designed_without(table, ())
    after = designed_without(table, [column], before)
    further = links_of(after, table)[-1]
    assert further.of_rows
    assert not [hub for hub in further.hubs if column in hub.columns]


def test_a_column_that_joins_later_is_described_beside_what_is_loaded() -> None:
    before = designed_without("visits", ["minutes"])
    without = designed_without("visits", ["minutes", "driver_id"], before)
    after = designed_without("visits", ["driver_id"], without)
    assert after.model.dv2 is not None
    (found,) = (each for each in after.model.dv2.satellites if "minutes" in each.columns)
    assert found.parent == "tl_visits_2"
    back = designed_without("visits", (), after)
    assert (unheld(back), unrelated(back, "visits")) == ([], [])


def test_a_folder_that_lost_a_column_earlier_gets_its_further_link() -> None:
    """As one does that was forged before there were any."""
    before = designed_without("shipments", ())
    after = designed_without("shipments", ["driver_id"], before)
    arrivals = tuple(each for each in after.basis.arrivals if not each.gone)
    old = after.basis.model_copy(update={"arrivals": arrivals})
    profile, observations = source_of("shipments")
    profile = restricted(profile, set(), {("shipments", "driver_id")})
    assert designed_of(profile, observations, "data_vault_2", old).model == after.model


CHANGED = {
    "shipments": (
        "UPDATE shipments SET depot_code = 'D12' WHERE shipment_no < 70010",
        "INSERT INTO shipments BY NAME SELECT shipment_no + 5000 AS shipment_no,"
        " COLUMNS(* EXCLUDE (shipment_no)) FROM shipments WHERE shipment_no > 70390",
        "DELETE FROM shipments WHERE shipment_no BETWEEN 70020 AND 70025",
    ),
    "visits": (
        "UPDATE visits SET customer_no = 112 WHERE visit_id < 10",
        "DELETE FROM visits WHERE visit_id BETWEEN 20 AND 25",
    ),
    "scans": ("DELETE FROM scans WHERE minutes = 7",),
    "routes": ("DELETE FROM routes WHERE depot_code = 'D12'",),
    "lines": (
        "UPDATE lines SET quantity = 99 WHERE order_no < 40010",
        "DELETE FROM lines WHERE order_no = 40020",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("table", SOURCES)
def test_each_night_is_proven_and_what_was_loaded_stays(tmp_path: Path, table: str) -> None:
    """References go, rows change, references come back: each night all of the source is there."""
    nights = VaultNights(tmp_path)
    first, second, third = [name for name in REFERENCES[table] if name != "depot_code"]
    assert nights.spend(*PARTIES, *SOURCES[table]).verdict == "proven"
    before: dict[str, int] = nights.sizes()
    for changes in (
        (f"ALTER TABLE {table} DROP COLUMN {third}",),
        CHANGED[table],
        (f"ALTER TABLE {table} DROP COLUMN {second}",),
        (
            f"ALTER TABLE {table} ADD COLUMN {third} INTEGER",
            f"UPDATE {table} SET {third} = 901",
        ),
        (f"ALTER TABLE {table} DROP COLUMN {first}",),
        (),
    ):
        proof = nights.spend(*changes)
        assert proof.verdict == "proven", (changes, proof.reason)
        sizes = nights.sizes()
        assert all(sizes[name] >= rows for name, rows in before.items()), changes
        before = sizes
    assert nights.spend().verdict == "proven"
    assert nights.sizes() == before


def test_a_row_without_the_business_key_of_its_hub_is_set_apart(tmp_path: Path) -> None:
    """As one without its table's key: no claim of the hub gets weaker, and the proof counts it."""
    nights = VaultNights(tmp_path)
    first = nights.spend(
        "CREATE TABLE clients (id INTEGER PRIMARY KEY, client_code VARCHAR UNIQUE, city VARCHAR)",
        "INSERT INTO clients SELECT i, 'C-' || (1000 + i), 'City ' || i % 9 FROM range(1, 61) t(i)",
    )
    assert first.verdict == "proven"
    assert nights.vault.hub("hub_clients").business_key_columns == ("client_code",)
    bad = nights.spend("INSERT INTO clients VALUES (61, NULL, 'Bern')")
    assert bad.verdict == "proven"
    assert [(part.rule, part.rows) for table in bad.tables for part in table.quarantined] == [
        ("NULL client_code", 1)
    ]
    assert nights.nights[-1].plan.build("hub_clients").column("client_code").required
    assert nights.rows("SELECT count(*) FROM model.hub_clients") == [(60,)]
