"""Members that the source has lost: they stay, marked, and whatever refers to them still does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.modeling.dimensional.elements import UNKNOWN_KEY
from tests.modeling.profiles import reference
from tests.transform.dimensional.shop import SHOP
from tests.transform.dimensional.stars import Star, star, without_history

_SELLERS = (
    "CREATE TABLE seller (id INTEGER PRIMARY KEY, code VARCHAR, name VARCHAR, boss INTEGER)",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, seller INTEGER, via VARCHAR, paid DECIMAL(9, 2))",
    "INSERT INTO seller SELECT i, 'c' || i, 'seller ' || i, CASE WHEN i > 1 THEN i // 2 END"
    " FROM range(1, 21) r(i)",
    "INSERT INTO sale SELECT i, 1 + i % 20, 'c' || (1 + i % 20), i * 1.5 FROM range(1, 101) r(i)",
)
"""Sales by the number of who sold, and by the code of who helped; nothing is dated."""


@pytest.fixture
def sellers(tmp_path: Path) -> Iterator[Star]:
    references = [
        reference("sale", "seller", "seller", "id"),
        reference("sale", "via", "seller", "code"),
        reference("seller", "boss", "seller", "id"),
    ]
    with star(tmp_path, _SELLERS, references, adjust=without_history) as found:
        assert {one.key for one in found.star.facts[0].dimensions} == {
            "seller_key",
            "via_seller_key",
        }
        yield found


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Star]:
    with star(tmp_path, SHOP) as found:
        yield found


def test_a_deleted_member_stays_as_it_was(sellers: Star) -> None:
    """Its attributes are those that were seen last, load after load, and it is marked."""
    sellers.change("UPDATE shop.seller SET name = 'renamed' WHERE id = 7")
    sellers.load()
    sellers.change("DELETE FROM shop.seller WHERE id = 7")
    for _ in range(2):
        assert sellers.load() == {}
        seller = sellers.rows(
            "SELECT id, code, name, boss, is_deleted FROM model.dim_seller WHERE is_deleted"
        )
        assert seller == [(7, "c7", "renamed", 3, True)]


def test_facts_keep_pointing_to_a_deleted_member(sellers: Star) -> None:
    """By its key and by another number of it, and no test or proof takes that for a fault."""
    count = (
        "SELECT count(*) FROM model.fct_sale f JOIN model.dim_seller s"
        " ON f.{}seller_key = s.seller_key WHERE s.id = 7"
    )
    before = [sellers.rows(count.format(role)) for role in ("", "via_")]
    sellers.change("DELETE FROM shop.seller WHERE id = 7")
    sellers.load()
    assert [sellers.rows(count.format(role)) for role in ("", "via_")] == before == [[(5,)]] * 2
    assert sellers.failures() == []


def test_a_fact_that_no_longer_knows_a_deleted_member_is_red(sellers: Star) -> None:
    """The source can't say whom it referred to; the dimension still can."""
    sellers.change("DELETE FROM shop.seller WHERE id = 7")
    sellers.load()
    sellers.rows(
        f"UPDATE model.fct_sale SET seller_key = '{UNKNOWN_KEY}' WHERE seller = 7 RETURNING id"
    )
    assert [one.table for one in sellers.proof().tables if one.verdict == "lost"] == ["sale"]


def test_members_keep_pointing_to_a_deleted_one(sellers: Star) -> None:
    """References to a deleted boss stay; a boss who never existed breaks the promise."""
    of_boss = (
        "SELECT count(*) FROM model.dim_seller s JOIN model.dim_seller b"
        " ON s.boss_seller_key = b.seller_key WHERE b.id = 7"
    )
    before = sellers.rows(of_boss)
    sellers.change("DELETE FROM shop.seller WHERE id = 7")
    sellers.load()
    assert sellers.rows(of_boss) == before == [(2,)]
    assert sellers.failures() == []
    sellers.change("UPDATE shop.seller SET boss = 999 WHERE id = 20")
    sellers.load()
    assert "dim_seller_seller_boss_to_seller_orphans" in sellers.broken_tests()
    assert sellers.proof().verdict == "proven"


def test_a_member_that_comes_back_is_marked_no_longer(sellers: Star) -> None:
    """It is there once, with what the source says of it now."""
    sellers.change("DELETE FROM shop.seller WHERE id = 7")
    sellers.load()
    sellers.change("INSERT INTO shop.seller VALUES (7, 'c7', 'back', 1)")
    sellers.load()
    assert sellers.rows("SELECT name, is_deleted FROM model.dim_seller WHERE id = 7") == [
        ("back", False)
    ]
    assert sellers.failures() == []


def test_a_reused_code_refers_to_the_member_that_has_it_now(sellers: Star) -> None:
    """A deleted member's code may be another's one day: no fact is doubled by that."""
    sellers.change("DELETE FROM shop.seller WHERE id IN (7, 8)")
    sellers.change("UPDATE shop.seller SET code = 'c7' WHERE id = 9")
    sellers.load()
    assert sellers.rows("SELECT count(*) FROM model.fct_sale") == [(100,)]
    assert sellers.rows(
        "SELECT DISTINCT s.id FROM model.fct_sale f"
        " JOIN model.dim_seller s ON f.via_seller_key = s.seller_key WHERE f.via = 'c7'"
    ) == [(9,)]
    sellers.change("DELETE FROM shop.seller WHERE id = 9")
    sellers.load()
    assert sellers.rows("SELECT count(*) FROM model.fct_sale") == [(100,)]


def test_a_reference_to_who_never_existed_is_an_orphan(sellers: Star) -> None:
    """It lands on the unknown member, keeps its number, and breaks the promise of the reference."""
    sellers.change("UPDATE shop.sale SET seller = 999 WHERE id = 1")
    sellers.change("DELETE FROM shop.seller WHERE id = 7")
    sellers.load()
    assert sellers.rows("SELECT seller, seller_key FROM model.fct_sale WHERE id = 1") == [
        (999, UNKNOWN_KEY)
    ]
    assert sellers.broken_tests() == ["fct_sale_sale_seller_to_seller_orphans"]
    assert sellers.proof().verdict == "proven"


def test_orphans_that_were_measured_are_known(tmp_path: Path) -> None:
    """So many are no fault, and one more is."""
    references = [reference("sale", "seller", "seller", "id", orphans=5)]
    statements = (*_SELLERS, "UPDATE sale SET seller = 900 + id WHERE id <= 5")
    with star(tmp_path, statements, references) as found:
        assert found.broken_tests() == []
        found.change("UPDATE shop.sale SET seller = 906 WHERE id = 6")
        found.load()
        assert found.broken_tests() == ["fct_sale_sale_seller_to_seller_orphans"]


def test_a_deleted_row_of_an_event_goes_with_the_source(sellers: Star) -> None:
    """A fact says what the source says: its rows come and go."""
    sellers.change("DELETE FROM shop.sale WHERE id = 1")
    assert sellers.load() == {"fct_sale": -1}
    assert sellers.failures() == []


@pytest.mark.parametrize("fact", ["fct_orders", "fct_visit"])
def test_versioned_members_stay_for_every_event(shop: Star, fact: str) -> None:
    """An event keeps its member, be it dated before the deletion, after it or not at all."""
    count = (
        f"SELECT count(*) FROM model.{fact} f JOIN model.dim_customer c USING (customer_key)"
        " WHERE c.id = 5"
    )
    shop.change("UPDATE shop.customer SET city = 'Bern' WHERE id = 5")
    shop.load()
    before = shop.rows(count)
    shop.change("DELETE FROM shop.customer WHERE id = 5")
    for _ in range(2):
        shop.load()
        assert shop.rows(count) == before
        assert shop.rows(
            "SELECT name, email, city, region_name, is_deleted FROM model.dim_customer"
            " WHERE id = 5 ORDER BY valid_from"
        ) == [
            ("customer 5", "c5@x.example", "Lyon", "South", True),
            ("customer 5", "c5@x.example", "Bern", "South", True),
        ]
        assert shop.failures() == []


def test_a_versioned_member_comes_back(shop: Star) -> None:
    """With the versions it had, none of them marked, and events of the gap keep to it as well."""
    shop.change("CREATE TABLE shop.kept AS FROM shop.customer WHERE id = 5")
    shop.change("DELETE FROM shop.customer WHERE id = 5")
    shop.load()
    shop.change("INSERT INTO shop.customer FROM shop.kept")
    shop.change(
        "UPDATE shop.orders SET order_date = TIMESTAMP '2000-01-02 12:00:00' + to_seconds(id)"
        " WHERE customer_id = 5"
    )
    shop.load()
    assert shop.rows("SELECT DISTINCT is_deleted FROM model.dim_customer") == [(False,)]
    assert shop.failures() == []
