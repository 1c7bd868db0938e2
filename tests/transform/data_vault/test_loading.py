"""Loading a vault again: what is new, what changed, what is gone, and nothing besides."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import dear_property
from tests.transform.data_vault.shop import REFERENCES, SHOP
from tests.transform.data_vault.vaults import Vault, vault


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Vault]:
    """The vault of the shop, loaded once."""
    with vault(tmp_path, SHOP, REFERENCES) as loaded:
        yield loaded


def test_a_second_load_of_the_same_adds_nothing(shop: Vault) -> None:
    """Loading is idempotent, and every test of the plan holds."""
    assert shop.load() == {}
    assert shop.broken() == {}
    assert shop.lost() == {}


def test_a_changed_row_adds_one_row_to_its_satellite(shop: Vault) -> None:
    """What did not change is not written again, not even the row's other satellite."""
    shop.change("UPDATE shop.customer SET city = 'elsewhere' WHERE id = 3")
    assert shop.load() == {"sat_customer": 1}
    history = shop.rows(
        "SELECT city FROM model.sat_customer JOIN model.hub_customer USING"
        " (customer_hk) WHERE id = 3 ORDER BY model.sat_customer.load_date"
    )
    assert history == [("c0",), ("elsewhere",)]
    assert shop.lost() == {}


def test_a_state_changes_in_a_satellite_of_its_own(shop: Vault) -> None:
    """A balance that moves adds no copy of the columns that stay."""
    shop.change("UPDATE shop.customer SET balance = balance + 1")
    assert shop.load() == {"sat_customer_state": 12}
    assert shop.lost() == {}


def test_a_new_row_comes_with_its_keys_links_and_descriptions(shop: Vault) -> None:
    """Hub, links, satellites and effectivity each get the one row."""
    shop.change("INSERT INTO shop.orders VALUES (99, 1, NULL, 2, DATE '2025-01-01')")
    assert shop.load() == {
        "hub_orders": 1,
        "sat_orders": 1,
        "lnk_orders": 1,
        "eff_sat_orders": 1,
    }
    assert shop.lost() == {}


def test_a_deleted_row_is_recorded_and_may_come_back(shop: Vault) -> None:
    """Nothing is taken out: a row says that it is gone, the next that it is back."""
    shop.change(
        "CREATE TABLE aside AS FROM shop.employee WHERE id = 8",
        "DELETE FROM shop.employee WHERE id = 8",
    )
    assert shop.load() == {"sat_employee": 1, "eff_sat_employee_manager": 1}
    assert shop.lost() == {}
    assert shop.load() == {}
    shop.change("INSERT INTO shop.employee FROM aside")
    assert shop.load() == {"sat_employee": 1, "eff_sat_employee_manager": 1}
    marks = shop.rows(
        "SELECT is_deleted, name FROM model.sat_employee JOIN model.hub_employee"
        " USING (employee_hk) WHERE id = 8 ORDER BY model.sat_employee.load_date"
    )
    assert marks == [(False, "e8"), (True, "e8"), (False, "e8")]
    assert shop.lost() == {}


_COMBINATIONS = """
    SELECT o.id, c.id AS customer_id, s.id AS ship_customer_id, e.id AS seller_id,
        v.load_date, v.is_deleted
    FROM model.lnk_orders l
    JOIN model.eff_sat_orders v USING (orders_lk)
    JOIN model.hub_orders o USING (orders_hk)
    LEFT JOIN model.hub_customer c USING (customer_hk)
    LEFT JOIN model.hub_customer s ON s.customer_hk = l.customer_ship_hk
    LEFT JOIN model.hub_employee e ON e.employee_hk = l.employee_seller_hk"""


def _ends_of_an_order(shop: Vault, order: int) -> list[tuple[object, ...]]:
    return shop.rows(
        f"SELECT customer_id, ship_customer_id, seller_id, is_deleted FROM ({_COMBINATIONS})"
        f" WHERE id = {order} ORDER BY load_date, is_deleted DESC"
    )


def test_one_changed_end_of_an_event_ends_its_combination_and_begins_another(shop: Vault) -> None:
    """The link keeps both, its satellite says which of them stands."""
    shop.change("UPDATE shop.orders SET customer_id = 12 WHERE id = 1")
    assert shop.load() == {"lnk_orders": 1, "eff_sat_orders": 2}
    assert _ends_of_an_order(shop, 1) == [
        (2, 2, 2, False),
        (2, 2, 2, True),
        (12, 2, 2, False),
    ]
    assert shop.lost() == {}
    shop.change("UPDATE shop.orders SET customer_id = 2 WHERE id = 1")
    assert shop.load() == {"eff_sat_orders": 2}
    assert shop.lost() == {}


def test_an_event_that_refers_to_something_else_breaks_no_test(tmp_path: Path) -> None:
    """Its link keeps both combinations, so the event's own key is there twice."""
    statements = (
        "CREATE TABLE machine (machine_id INTEGER PRIMARY KEY, name VARCHAR, stock INTEGER)",
        "INSERT INTO machine SELECT 100 + i, 'Machine ' || i, i * 900 FROM range(20) r(i)",
        "CREATE TABLE device (device_id INTEGER PRIMARY KEY, name VARCHAR, owner VARCHAR)",
        "INSERT INTO device SELECT 500 + i, 'Device ' || i, 'o' || i % 7 FROM range(20) r(i)",
        "CREATE TABLE repair (repair_id INTEGER PRIMARY KEY, machine_id INTEGER REFERENCES machine,"
        " device_id INTEGER REFERENCES device, done_at TIMESTAMP, amount DECIMAL(8, 2))",
        "INSERT INTO repair SELECT 9000 + i, 100 + i % 20, 500 + i * 7 % 20,"
        " TIMESTAMP '2025-01-01' + i * INTERVAL 3 HOUR, i * 1.5 FROM range(80) r(i)",
    )
    with vault(tmp_path, statements) as repairs:
        repairs.change("UPDATE shop.repair SET machine_id = 101 WHERE repair_id = 9007")
        assert repairs.load() == {"tl_repair": 1, "sat_repair": 2}
        assert repairs.broken() == {}


def test_an_event_that_loses_an_end_gets_its_old_combination_back_with_it(shop: Vault) -> None:
    """An end that is missing is the ghost record, so that every event has a combination."""
    shop.change("UPDATE shop.orders SET ship_customer_id = NULL WHERE id = 1")
    assert shop.load() == {"lnk_orders": 1, "eff_sat_orders": 2}
    assert shop.lost() == {}
    shop.change("UPDATE shop.orders SET ship_customer_id = 2 WHERE id = 1")
    assert shop.load() == {"eff_sat_orders": 2}
    assert _ends_of_an_order(shop, 1) == [
        (2, 2, 2, False),
        (2, 2, 2, True),
        (2, None, 2, False),
        (2, None, 2, True),
        (2, 2, 2, False),
    ]
    assert shop.lost() == {}
    assert shop.broken() == {}


_ENDS = st.none() | st.integers(1, 4)


@dear_property
@given(
    loads=st.lists(
        st.dictionaries(st.integers(1, 3), st.tuples(_ENDS, _ENDS, _ENDS) | st.none()), max_size=4
    )
)
def test_the_combinations_of_events_are_exact_as_of_every_load(
    tmp_path_factory: pytest.TempPathFactory, loads: list[dict[int, tuple[int | None, ...] | None]]
) -> None:
    """Whatever ends change, come or go, or whole events: each load shows what was there then."""
    orders = "SELECT id, customer_id, ship_customer_id, seller_id FROM shop.orders"
    with vault(tmp_path_factory.mktemp("shop"), SHOP, REFERENCES) as shop:
        seen = {shop.day: set(shop.rows(orders))}
        for changes in loads:
            for order, ends in changes.items():
                shop.change(f"DELETE FROM shop.orders WHERE id = {order}")
                if ends is not None:
                    row = (order, *ends, "2024-01-01")
                    shop.change(f"INSERT INTO shop.orders VALUES {_values(*row)}")
            shop.load()
            seen[shop.day] = set(shop.rows(orders))
        for day, then in seen.items():
            as_of = f"""
                SELECT id, customer_id, ship_customer_id, seller_id FROM (
                    {_COMBINATIONS} WHERE v.load_date <= '{day}'
                    QUALIFY ROW_NUMBER() OVER (PARTITION BY l.orders_lk
                        ORDER BY v.load_date DESC) = 1
                ) WHERE NOT is_deleted"""
            rows = shop.rows(as_of)
            assert (set(rows), len(rows)) == (then, len(then))


def test_an_orphan_is_kept_in_the_hub_and_in_the_link(shop: Vault) -> None:
    """A key that only a reference has is a business key too, with its record source."""
    shop.change("UPDATE shop.orders SET customer_id = 77 WHERE id = 1")
    shop.load()
    assert shop.rows("SELECT record_source FROM model.hub_customer WHERE id = 77") == [
        ("shop.orders",)
    ]
    assert shop.lost() == {}
    assert shop.broken() == {}


def test_an_orphan_that_cannot_be_looked_up_is_lost_no_more_than_any(shop: Vault) -> None:
    """Without its natural key it leads to the ghost record, and its own columns tell it apart."""
    shop.change(
        "INSERT INTO shop.customer_product VALUES (1, 501), (1, 502)",
        "INSERT INTO shop.order_line VALUES (1, 9, 501, 3, 1), (1, 10, 502, NULL, 1)",
    )
    shop.load()
    ghosts = """
        SELECT count(*) FROM model.lnk_customer_product JOIN model.hub_product USING (product_hk)
        WHERE sku IS NULL"""
    assert shop.rows(ghosts) == [(2,)]
    assert shop.lost() == {}
    assert shop.broken() == {}


def test_a_missing_optional_reference_leads_to_the_ghost_record(shop: Vault) -> None:
    """A link of several hubs is whole even where one of them is not known."""
    unknown = """
        SELECT count(*) FROM model.tl_order_line l
        JOIN model.hub_employee e ON e.employee_hk = l.employee_packer_hk WHERE e.id IS NULL"""
    nulls = "SELECT count(*) FROM shop.order_line WHERE packer_id IS NULL"
    assert shop.rows(unknown) == shop.rows(nulls)


def test_rows_of_one_parent_are_each_followed_on_their_own(shop: Vault) -> None:
    """Of several phones one is changed, one is gone and one is new."""
    shop.change(
        "UPDATE shop.customer_phone SET digits = '0' WHERE customer_id = 1 AND kind = 'home'",
        "DELETE FROM shop.customer_phone WHERE customer_id = 1 AND kind = 'work'",
        "INSERT INTO shop.customer_phone VALUES (1, 'car', '2')",
    )
    assert shop.load() == {"msat_customer_phone": 3}
    assert shop.lost() == {}


def test_rows_without_a_key_are_counted(shop: Vault) -> None:
    """One more of a row, and the last of another, are one row each in the history."""
    shop.change(
        "INSERT INTO shop.visit VALUES (1, 'page0')", "DELETE FROM shop.visit WHERE customer_id = 2"
    )
    gone = shop.rows(
        "SELECT count(DISTINCT visit_lk) FROM model.tl_visit JOIN model.hub_customer"
        " USING (customer_hk) WHERE id = 2"
    )
    assert shop.load() == {"tl_visit": 1 + int(str(gone[0][0]))}
    assert shop.lost() == {}


def test_a_code_that_changes_its_meaning_keeps_the_old_one(shop: Vault) -> None:
    """Code lists have a history like satellites."""
    shop.change(
        "UPDATE shop.country SET name = 'Deutschland' WHERE code = 'de'",
        "DELETE FROM shop.country WHERE code = 'ch'",
    )
    assert shop.load() == {"ref_country": 2}
    assert shop.lost() == {}


def test_a_composite_reference_that_is_null_in_part_is_not_lost(shop: Vault) -> None:
    """No link stands for it, and both its columns are still there."""
    shop.change("UPDATE shop.product SET part_no = NULL WHERE id = 4")
    assert shop.load() == {"sat_product": 1, "eff_sat_product_part": 1}
    assert shop.lost() == {}


def test_everything_can_go_and_come_back(shop: Vault) -> None:
    """Emptied tables leave their keys and their history."""
    tables = [source.table for source in shop.plan.sources]
    for table in tables:
        shop.change(f"CREATE TABLE aside_{table} AS FROM shop.{table}", f"DELETE FROM shop.{table}")
    shop.load()
    assert shop.lost() == {}
    assert shop.load() == {}
    for table in tables:
        shop.change(f"INSERT INTO shop.{table} FROM aside_{table}")
    shop.load()
    assert shop.lost() == {}
    assert shop.broken() == {}


_IDS = st.integers(1, 14)
_TEXTS = st.sampled_from(["a", "", "|", "^^", "\\", "||a", "'"])
_REFERENCES = st.none() | st.integers(1, 30)


def _values(*values: object) -> str:
    texts = (
        "NULL"
        if v is None
        else str(v)
        if isinstance(v, int)
        else "'" + str(v).replace("'", "''") + "'"
        for v in values
    )
    return f"({', '.join(texts)})"


_CHANGES = st.one_of(
    st.builds(
        lambda i, t: f"UPDATE shop.customer SET name = {_values(t)} WHERE id = {i}", _IDS, _TEXTS
    ),
    st.builds(
        lambda i, b: f"UPDATE shop.customer SET balance = {_values(b)} WHERE id = {i}",
        _IDS,
        _REFERENCES,
    ),
    st.builds(
        lambda i, c: f"UPDATE shop.orders SET customer_id = {_values(c)} WHERE id = {i}",
        _IDS,
        _REFERENCES,
    ),
    st.builds(
        lambda i, c: f"UPDATE shop.orders SET ship_customer_id = {_values(c)} WHERE id = {i}",
        _IDS,
        _REFERENCES,
    ),
    st.builds(
        lambda i, c: f"UPDATE shop.employee SET manager_id = {_values(c)} WHERE id = {i}",
        _IDS,
        _REFERENCES,
    ),
    st.builds(
        lambda i, c: f"UPDATE shop.product SET part_no = {_values(c)} WHERE id = {i}",
        _IDS,
        _REFERENCES,
    ),
    st.builds(
        lambda i, t: f"UPDATE shop.product SET sku = {_values(f'{t}{i}')} WHERE id = {i}",
        _IDS,
        _TEXTS,
    ),
    st.builds(
        lambda i, p, e: (
            f"UPDATE shop.order_line SET product_id = {_values(p)},"
            f" packer_id = {_values(e)} WHERE order_id = {i}"
        ),
        _IDS,
        _REFERENCES,
        _REFERENCES,
    ),
    st.builds(
        lambda i, t: (
            f"UPDATE shop.customer_phone SET digits = {_values(t)} WHERE customer_id = {i}"
        ),
        _IDS,
        _TEXTS,
    ),
    st.builds(
        lambda i, t: f"INSERT OR REPLACE INTO shop.customer_detail VALUES {_values(i, t)}",
        st.integers(1, 40),
        _TEXTS,
    ),
    st.builds(
        lambda i, t: f"INSERT OR IGNORE INTO shop.customer_phone VALUES {_values(i, t, t)}",
        _IDS,
        _TEXTS,
    ),
    st.builds(
        lambda i, p: f"INSERT OR IGNORE INTO shop.customer_product VALUES {_values(i, p)}",
        st.integers(1, 40),
        st.integers(1, 40),
    ),
    st.builds(lambda i, t: f"INSERT INTO shop.visit VALUES {_values(i, t)}", _REFERENCES, _TEXTS),
    st.builds(
        lambda t, i: f"DELETE FROM shop.{t} WHERE id = {i}",
        st.sampled_from(["customer", "orders", "employee", "product"]),
        _IDS,
    ),
    st.builds(
        lambda t, i: f"DELETE FROM shop.{t} WHERE customer_id = {i}",
        st.sampled_from(["visit", "customer_detail", "customer_phone", "customer_product"]),
        _IDS,
    ),
    st.builds(
        lambda c, t: f"INSERT OR REPLACE INTO shop.country VALUES {_values(c, t)}", _TEXTS, _TEXTS
    ),
)


@dear_property
@given(loads=st.lists(st.lists(_CHANGES, min_size=1, max_size=8), min_size=1, max_size=2))
def test_whatever_changes_nothing_is_lost_and_nothing_is_loaded_twice(
    tmp_path_factory: pytest.TempPathFactory, loads: list[list[str]]
) -> None:
    """After any changes that leave the keys whole, the vault gives every table back as it is."""
    with vault(tmp_path_factory.mktemp("shop"), SHOP, REFERENCES) as shop:
        for changes in loads:
            shop.change(*changes)
            shop.load()
            assert shop.lost() == {}
        assert shop.broken() == {}
        assert shop.load() == {}
