"""References that were always filled when a vault was modelled, and that rows lack later."""

from pathlib import Path

import pytest

from fluid_build.transform.proof.proof import prove
from tests.transform.data_vault.vaults import Vault, vault

ZERO = "0" * 32
SHOP = (
    "CREATE TABLE customer (id INTEGER, name VARCHAR, city VARCHAR)",
    "CREATE TABLE product (id INTEGER, name VARCHAR, price DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'name ' || i, 'city ' || i % 7 FROM range(1, 41) r(i)",
    "INSERT INTO product SELECT i, 'thing ' || i, i / 4 FROM range(1, 21) r(i)",
)
SALES = (
    "CREATE TABLE sale (id INTEGER, customer_id INTEGER, product_id INTEGER, sold_at TIMESTAMP,"
    " amount DECIMAL(9, 2))",
    "INSERT INTO sale SELECT i, 1 + i % 40, 1 + i % 20, TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR,"
    " i * 1.5 FROM range(1, 301) r(i)",
)
"""Rows that nothing refers to: a transactional link."""
PARTS_OF_SALES = (
    *SALES,
    "CREATE TABLE refund (sale_id INTEGER, pos INTEGER, reason VARCHAR)",
    "INSERT INTO refund SELECT 1 + i // 2, 1 + i % 2, 'reason ' || i % 9 FROM range(100) r(i)",
)
"""Rows that others refer to: a hub, and a link of all that each sale refers to."""
MISSING = (
    "INSERT INTO shop.sale VALUES (301, NULL, 3, TIMESTAMP '2024-05-01', 9),"
    " (302, 4, NULL, TIMESTAMP '2024-05-01', 9), (303, NULL, NULL, TIMESTAMP '2024-05-01', 9)",
)
LINKS = pytest.mark.parametrize(
    ("tables", "link"), [(SALES, "tl_sale"), (PARTS_OF_SALES, "lnk_sale")]
)


def _hashes(shop: Vault, of: str) -> dict[object, object]:
    """The hash key of each business key of a hub."""
    return {row[0]: row[1] for row in shop.rows(f"SELECT id, {of}_hk FROM model.hub_{of}")}


def _new_pairs(shop: Vault, link: str) -> list[tuple[object, ...]]:
    """What the rows of the last load refer to, by the keys of the hubs."""
    return shop.rows(
        f"SELECT l.customer_hk, c.id, l.product_hk, p.id FROM model.{link} AS l"
        " JOIN model.hub_customer AS c USING (customer_hk)"
        " JOIN model.hub_product AS p USING (product_hk)"
        f" WHERE l.load_date = TIMESTAMP '{shop.day}' ORDER BY c.id, p.id"
    )


@LINKS
def test_a_missing_business_key_leads_to_the_zero_key(
    tmp_path: Path, tables: tuple[str, ...], link: str
) -> None:
    """Its hub has a row for it, so that inner joins find one, and no test of the load fails."""
    with vault(tmp_path, (*SHOP, *tables)) as shop:
        shop.change(*MISSING)
        shop.load()
        customers = _hashes(shop, "customer")
        products = _hashes(shop, "product")
        assert _new_pairs(shop, link) == [
            (customers[4], 4, ZERO, None),
            (ZERO, None, products[3], 3),
            (ZERO, None, ZERO, None),
        ]
        assert shop.broken() == {}
        assert (proof := prove(shop.built, shop.model)).verdict == "proven", proof.reason
        assert shop.load() == {}


@LINKS
def test_nothing_has_the_zero_key_as_long_as_nothing_is_missing(
    tmp_path: Path, tables: tuple[str, ...], link: str
) -> None:
    """A hub has a row for it from when a row needs it, and keeps it once that one is repaired."""
    with vault(tmp_path, (*SHOP, *tables)) as shop:
        of_ghost = f"SELECT record_source FROM model.hub_customer WHERE customer_hk = '{ZERO}'"
        assert shop.rows(of_ghost) == []
        shop.change("INSERT INTO shop.sale VALUES (301, NULL, 3, TIMESTAMP '2024-05-01', 9)")
        shop.load()
        assert shop.rows(of_ghost) == [("ghost record",)]
        shop.change("UPDATE shop.sale SET customer_id = 5 WHERE id = 301")
        shop.load()
        assert shop.rows(of_ghost) == [("ghost record",)]
        assert shop.rows(f"SELECT count(*) FROM model.hub_product WHERE product_hk = '{ZERO}'") == [
            (0,)
        ]
        assert shop.broken() == {}
        assert prove(shop.built, shop.model).verdict == "proven"


@pytest.mark.parametrize("none", ["0", "-1", "9999"])
def test_a_value_for_none_makes_the_vault_that_a_null_makes(tmp_path: Path, none: str) -> None:
    """It's no business key, and no row of a link; and it's given back as it was written."""

    def staffed(value: str) -> tuple[str, ...]:
        return (
            *SHOP,
            "CREATE TABLE staff (staff_id INTEGER, title VARCHAR, supervisor_id INTEGER,"
            " customer_id INTEGER)",
            "INSERT INTO staff SELECT i, 'title ' || i % 9,"
            f" CASE WHEN i < 4 THEN {value} ELSE i // 4 END,"
            f" CASE WHEN i % 2 = 0 THEN {value} ELSE 1 + i % 40 END FROM range(1, 101) r(i)",
        )

    (tmp_path / "with_null").mkdir()
    with vault(tmp_path / "with_null", staffed("NULL")) as expected:
        sizes = expected.sizes()
    assert sizes["hub_staff"] == 100
    with vault(tmp_path, staffed(none)) as shop:
        assert shop.sizes() == sizes
        assert (shop.lost(), shop.broken()) == ({}, {})
        shop.change("INSERT INTO shop.staff VALUES (101, NULL, NULL, NULL)", f"UPDATE shop.staff"
                    f" SET supervisor_id = {none} WHERE staff_id = 50")  # fmt: skip
        shop.load()
        assert shop.rows("SELECT count(*) FROM model.hub_staff") == [(101,)]
        assert (shop.lost(), shop.broken()) == ({}, {})
