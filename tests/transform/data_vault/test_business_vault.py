"""A business vault as it is built: it answers what the raw vault does, now and for any moment."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.data_vault.business_elements import BusinessTable
from fluid_build.modeling.data_vault.business_queries import AS_OF
from fluid_build.transform.plan.execution import FIRST_LOAD
from fluid_build.transform.proof.proof import prove
from tests.examples import dear_property
from tests.modeling.profiles import reference
from tests.transform.data_vault.shop import REFERENCES, SHOP
from tests.transform.data_vault.vaults import Vault, vault

_SMALL = (
    "CREATE TABLE region (id INTEGER PRIMARY KEY, label VARCHAR, anthem VARCHAR, size INTEGER)",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR,"
    " balance DECIMAL(10, 2), region_id INTEGER)",
    "CREATE TABLE customer_detail (customer_id INTEGER PRIMARY KEY, hobby VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, note VARCHAR, ordered DATE)",
    "INSERT INTO region SELECT i, 'r' || i, 'a' || i, i FROM range(1, 5) r(i)",
    "INSERT INTO customer SELECT i, 'n' || i, 'c', i * 1.5, 1 + i % 4 FROM range(1, 7) r(i)",
    "INSERT INTO customer_detail SELECT i, 'h' || i FROM range(1, 5) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 6, 'o' || i, DATE '2024-01-01' FROM range(1, 13) r(i)",
)
_REFERENCES = (
    reference("customer", "region_id", "region", "id"),
    reference("customer_detail", "customer_id", "customer", "id"),
    reference("orders", "customer_id", "customer", "id"),
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Vault]:
    """The vault of the shop with its business vault, loaded once."""
    with vault(tmp_path, SHOP, REFERENCES, business_vault=True) as loaded:
        yield loaded


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Vault]:
    with vault(tmp_path, _SMALL, _REFERENCES, business_vault=True) as loaded:
        yield loaded


def tables(loaded: Vault) -> tuple[BusinessTable, ...]:
    business = loaded.dv2.business_vault
    assert business is not None
    return (*business.point_in_time_tables, *business.bridges)


def answer(loaded: Vault, query: str, moment: str = "9999-12-31 00:00:00") -> Counter[object]:
    """The rows of a query of the model as of a moment; its relations are in the schema model."""
    loaded.connection.execute("SET search_path = 'forged.model'")
    try:
        return Counter(loaded.rows(query.replace(AS_OF, f"TIMESTAMP '{moment}'")))
    finally:
        loaded.connection.execute("USE forged")


def test_each_query_returns_the_rows_of_the_query_without_it(shop: Vault) -> None:
    names = {"pit_customer", "bridge_order_line", "bridge_customer_product"}
    assert {table.name for table in tables(shop)} == names
    for table in tables(shop):
        rows = answer(shop, table.query)
        assert rows and rows == answer(shop, table.raw_query), table.name


def test_each_load_is_a_snapshot_that_stays_as_it_was(shop: Vault) -> None:
    """A change, a deletion and a new row show from their load on, and not before."""
    before = {table.name: answer(shop, table.query) for table in tables(shop)}
    shop.change(
        "UPDATE shop.customer SET city = 'elsewhere' WHERE id = 3",
        "UPDATE shop.orders SET customer_id = 12 WHERE id = 1",
        "DELETE FROM shop.order_line WHERE line_no = 1",
        "DELETE FROM shop.customer WHERE id = 5",
        "INSERT INTO shop.customer_product VALUES (1, 2)",
    )
    shop.load()
    for table in tables(shop):
        then, now = answer(shop, table.query, "2000-01-01 12:00:00"), answer(shop, table.query)
        assert then == before[table.name] == answer(shop, table.raw_query, "2000-01-01 12:00:00")
        assert now != then
        assert now == answer(shop, table.raw_query)
    assert shop.broken() == {}
    assert shop.lost() == {}


def test_a_load_of_the_same_adds_no_snapshot(shop: Vault) -> None:
    assert shop.load() == {}


def test_nothing_valid_leads_to_the_ghost_record(small: Vault) -> None:
    """Customers without a detail, and a deleted customer, have a row to join all the same."""
    small.change("DELETE FROM shop.customer WHERE id = 1")
    small.load()
    valid = small.rows("""
        SELECT c.id, s.is_deleted, s.name, d.is_deleted, d.hobby FROM model.pit_customer p
        JOIN model.hub_customer c USING (customer_hk)
        JOIN model.sat_customer s ON s.customer_hk = p.sat_customer_hk
            AND s.load_date = p.sat_customer_load_date
        JOIN model.sat_customer_detail d ON d.customer_hk = p.sat_customer_detail_hk
            AND d.load_date = p.sat_customer_detail_load_date
        WHERE p.snapshot_date = TIMESTAMP '2000-01-02' AND c.id IN (1, 2, 6) ORDER BY c.id""")
    assert valid == [
        (1, True, None, False, "h1"),
        (2, False, "n2", False, "h2"),
        (6, False, "n6", True, None),
    ]


def test_a_ghost_record_is_no_current_row_and_comes_once(small: Vault) -> None:
    ghosts = "SELECT count(*) FROM model.sat_customer WHERE record_source = 'ghost record'"
    small.change("UPDATE shop.customer SET name = 'other'")
    small.load()
    assert small.rows(ghosts) == [(1,)]
    assert small.lost() == {}


def test_a_vault_that_was_loaded_without_ghost_records_gets_them(small: Vault) -> None:
    """The option may be chosen for a vault that has a history already."""
    small.change("DELETE FROM model.sat_customer WHERE record_source = 'ghost record'")
    assert small.load() == {"sat_customer": 1}
    assert small.broken() == {}


def test_snapshots_that_were_deleted_stay_away(small: Vault) -> None:
    small.change("UPDATE shop.customer SET name = 'other' WHERE id = 2")
    small.load()
    first = "WHERE snapshot_date = TIMESTAMP '2000-01-01'"
    names = ["snapshot_dates", *(table.name for table in tables(small))]
    small.change(*(f"DELETE FROM model.{name} {first}" for name in names))
    assert small.load() == {}


def test_a_business_vault_made_again_is_the_same(small: Vault) -> None:
    """All of it follows from the raw vault, so it can be dropped."""
    for change in ("UPDATE shop.customer SET name = 'x'", "DELETE FROM shop.orders WHERE id < 4"):
        small.change(change)
        small.load()
    for build in small.plan.published:
        if build.layer == "business_vault":
            assert Counter(small.rows(build.sql)) == Counter(
                small.rows(f"SELECT * FROM model.{build.name}")
            ), build.name


def test_a_row_that_a_table_does_not_lead_to_is_lost(small: Vault) -> None:
    """The proof counts the rows of the source that each table leads to."""
    assert prove(small.built, small.model).verdict == "proven"
    small.change(
        "DELETE FROM model.bridge_orders WHERE orders_hk IN (SELECT max(orders_hk) FROM"
        " model.bridge_orders)"
    )
    proof = prove(small.built, small.model)
    assert proof.verdict == "lost"
    assert [table.table for table in proof.tables if table.verdict == "lost"] == ["orders"]


def test_a_row_that_leads_nowhere_breaks_a_test(small: Vault) -> None:
    small.change("DELETE FROM model.sat_customer_detail WHERE hobby = 'h1'")
    assert "pit_customer_sat_customer_detail_hk_reference" in small.broken()


_READINGS = (
    "CREATE TABLE region (id INTEGER PRIMARY KEY, label VARCHAR, anthem VARCHAR, size INTEGER)",
    "CREATE TABLE station (id INTEGER PRIMARY KEY, name VARCHAR, river VARCHAR, region_id INTEGER)",
    "CREATE TABLE reading (station_id INTEGER, celsius DECIMAL(4, 1))",
    "INSERT INTO region SELECT i, 'r' || i, 'a' || i, i FROM range(1, 5) r(i)",
    "INSERT INTO station SELECT i, 'n' || i, 's' || i, 1 + i % 4 FROM range(1, 7) r(i)",
    "INSERT INTO reading SELECT 1 + i % 6, i % 7 / 2 FROM range(90) r(i)",
)


def test_rows_without_a_key_are_reached_with_how_often_they_occur(tmp_path: Path) -> None:
    """Of equal readings, some are deleted: their count has a history."""
    references = (
        reference("station", "region_id", "region", "id"),
        reference("reading", "station_id", "station", "id"),
    )
    with vault(tmp_path, _READINGS, references, business_vault=True) as loaded:
        (bridge,) = tables(loaded)
        before = answer(loaded, bridge.query)
        assert "multiplicity" in bridge.query and before == answer(loaded, bridge.raw_query)
        loaded.change(
            "DELETE FROM shop.reading WHERE station_id = 1 AND celsius = 0 AND rowid < 40",
            "INSERT INTO shop.reading VALUES (2, 0.5), (3, 99)",
        )
        loaded.load()
        assert answer(loaded, bridge.query) == answer(loaded, bridge.raw_query) != before
        assert answer(loaded, bridge.query, "2000-01-01 12:00:00") == before
        assert prove(loaded.built, loaded.model).verdict == "proven"
        assert loaded.broken() == {}


_CHANGES = st.one_of(
    st.builds(
        "UPDATE shop.customer SET name = 'm{}' WHERE id = {}".format, *[st.integers(1, 6)] * 2
    ),
    st.builds(
        "UPDATE shop.customer SET balance = {} WHERE id = {}".format, *[st.integers(1, 6)] * 2
    ),
    st.builds(
        "UPDATE shop.customer SET region_id = {} WHERE id = {}".format,
        st.sampled_from(["NULL", "1", "4", "9"]),
        st.integers(1, 6),
    ),
    st.builds(
        "UPDATE shop.orders SET customer_id = {} WHERE id = {}".format,
        st.sampled_from(["NULL", "1", "6", "8"]),
        st.integers(1, 12),
    ),
    st.builds(
        "DELETE FROM shop.{}".format,
        st.sampled_from(
            [
                "orders WHERE id < 5",
                "customer WHERE id = 2",
                "customer_detail",
                "region WHERE id = 1",
            ]
        ),
    ),
    st.builds(
        "INSERT INTO shop.orders SELECT id + 20, customer_id, note, ordered FROM shop.orders"
        " WHERE id = {} AND NOT EXISTS (FROM shop.orders WHERE id = {} + 20)".format,
        st.shared(st.integers(1, 12), key="new"),
        st.shared(st.integers(1, 12), key="new"),
    ),
    st.just("INSERT OR IGNORE INTO shop.customer_detail SELECT id, 'new' FROM shop.customer"),
)


@dear_property
@given(loads=st.lists(st.lists(_CHANGES, min_size=1, max_size=3), min_size=1, max_size=4))
def test_whatever_changes_every_moment_is_answered_alike(
    tmp_path_factory: pytest.TempPathFactory, loads: list[list[str]]
) -> None:
    with vault(
        tmp_path_factory.mktemp("small"), _SMALL, _REFERENCES, business_vault=True
    ) as loaded:
        for changes in loads:
            loaded.change(*changes)
            loaded.load()
        for day in range(-1, len(loads) + 1):
            moment = (FIRST_LOAD + timedelta(days=day, hours=1)).isoformat(" ")
            for table in tables(loaded):
                expected = answer(loaded, table.raw_query, moment)
                assert answer(loaded, table.query, moment) == expected, (table.name, moment)
        assert loaded.broken() == {}
        assert loaded.lost() == {}
