"""Versions of members: what is versioned keeps its past, and an event meets the one of its day."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from fluid_build.modeling.dimensional.elements import UNKNOWN_KEY
from tests.transform.dimensional.shop import SHOP
from tests.transform.dimensional.stars import Star, star

BEGINNING, END = datetime(1, 1, 1), datetime(9999, 12, 31)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Star]:
    with star(tmp_path, SHOP) as found:
        found.day = datetime(2024, 1, 15)
        yield found


def test_what_did_not_change_adds_nothing(shop: Star) -> None:
    """A second load of the same source leaves every relation as it was."""
    assert shop.load() == {}
    assert shop.load() == {}


def test_a_change_of_what_is_versioned_adds_a_version(shop: Star) -> None:
    """The old one ends where the new one begins; the first was always valid."""
    shop.change("UPDATE shop.customer SET city = 'Bern' WHERE id = 5")
    assert shop.load() == {"dim_customer": 1, "dim_customer_history": 1}
    moved = datetime(2024, 1, 16)
    assert shop.rows(
        "SELECT city, valid_from, valid_to, is_current FROM model.dim_customer WHERE id = 5"
        " ORDER BY valid_from"
    ) == [("Lyon", BEGINNING, moved, False), ("Bern", moved, END, True)]
    assert shop.broken_tests() == []


def test_a_change_of_what_is_overwritten_adds_none(shop: Star) -> None:
    """A corrected address is in every version at once; the old one is kept nowhere."""
    shop.change("UPDATE shop.customer SET city = 'Bern' WHERE id = 5")
    shop.load()
    shop.change("UPDATE shop.customer SET email = 'new@x.example' WHERE id = 5")
    assert shop.load() == {}
    emails = shop.rows("SELECT DISTINCT email FROM model.dim_customer WHERE id = 5")
    assert emails == [("new@x.example",)]


def test_an_event_meets_the_version_of_its_day(shop: Star) -> None:
    """Orders before the move stay with the old city, later ones go with the new."""
    shop.change("UPDATE shop.customer SET city = 'Bern'")
    shop.load()
    by_city = shop.rows(
        "SELECT c.city = 'Bern', count(*) FROM model.fct_orders o"
        " JOIN model.dim_customer c USING (customer_key) GROUP BY ALL ORDER BY ALL"
    )
    by_day = shop.rows(
        "SELECT order_date >= TIMESTAMP '2024-01-16', count(*) FROM source.orders"
        " GROUP BY ALL ORDER BY ALL"
    )
    assert by_city == by_day
    assert len(by_city) == 2


def test_an_event_of_the_moment_of_a_change_meets_the_new_version(shop: Star) -> None:
    """A version holds from its first moment on; the one before it ended just then."""
    shop.change(
        "UPDATE shop.customer SET city = 'Bern'",
        "UPDATE shop.orders SET order_date = TIMESTAMP '2024-01-16' WHERE id = 1",
        "UPDATE shop.orders SET order_date = TIMESTAMP '2024-01-15 23:59:59' WHERE id = 2",
    )
    shop.load()
    assert shop.rows(
        "SELECT o.id, c.valid_from, c.city = 'Bern' FROM model.fct_orders o"
        " JOIN model.dim_customer c USING (customer_key) WHERE o.id <= 2 ORDER BY o.id"
    ) == [(1, datetime(2024, 1, 16), True), (2, BEGINNING, False)]


def test_an_event_without_a_day_meets_the_version_of_today(shop: Star) -> None:
    """Nobody knows when a page was visited."""
    shop.change("UPDATE shop.customer SET city = 'Bern'")
    shop.load()
    assert shop.rows(
        "SELECT DISTINCT c.city FROM model.fct_visit v JOIN model.dim_customer c"
        f" USING (customer_key) WHERE customer_key <> '{UNKNOWN_KEY}'"
    ) == [("Bern",)]


def test_a_lookup_follows_the_reference_of_the_version(shop: Star) -> None:
    """The old version keeps its category; a category's new wording is meant for all."""
    shop.change("UPDATE shop.product SET category_id = 1 WHERE id = 2")
    shop.load()
    shop.change("UPDATE shop.category SET name = name || '!'")
    shop.load()
    assert shop.rows(
        "SELECT category_id, category_name FROM model.dim_product WHERE id = 2 ORDER BY valid_from"
    ) == [(3, "cat 3!"), (1, "cat 1!")]


def test_a_member_that_is_gone_leaves_its_versions(shop: Star) -> None:
    """Its events stay with it, later ones too, and it stays as it was, marked as deleted."""
    shop.change("DELETE FROM shop.customer WHERE id = 5")
    assert shop.load() == {"dim_customer_history": 1}
    assert shop.load() == {}
    assert shop.rows(
        "SELECT city, name, is_current, valid_to, is_deleted FROM model.dim_customer WHERE id = 5"
    ) == [("Lyon", "customer 5", False, datetime(2024, 1, 16), True)]
    kept = shop.rows(
        "SELECT count(*) FROM model.fct_orders JOIN model.dim_customer c USING (customer_key)"
        " WHERE c.id = 5"
    )
    assert kept == shop.rows("SELECT count(*) FROM source.orders WHERE customer_id = 5")
    assert shop.broken_tests() == []


def test_a_member_that_comes_back_has_a_version_again(shop: Star) -> None:
    """With a gap in which it was not there."""
    shop.change("CREATE TABLE shop.kept AS FROM shop.customer WHERE id = 5")
    shop.change("DELETE FROM shop.customer WHERE id = 5")
    shop.load()
    shop.change("INSERT INTO shop.customer FROM shop.kept")
    assert shop.load() == {"dim_customer": 1, "dim_customer_history": 1}
    assert shop.rows(
        "SELECT valid_from, valid_to, is_current FROM model.dim_customer WHERE id = 5"
        " ORDER BY valid_from"
    ) == [(BEGINNING, datetime(2024, 1, 16), False), (datetime(2024, 1, 17), END, True)]


def test_every_row_lands_on_exactly_one_version(shop: Star) -> None:
    """After changes, deletions and returns, no fact has lost or doubled a row."""
    shop.change("UPDATE shop.customer SET segment = 'state' WHERE id % 3 = 0")
    shop.load()
    shop.change("UPDATE shop.product SET colour = 'green' WHERE id % 2 = 0")
    shop.change("DELETE FROM shop.customer WHERE id > 27")
    shop.load()
    for name in ("orders", "order_line", "payment", "visit"):
        wanted = shop.rows(f"SELECT count(*) FROM source.{name}")
        keys = [one for one in shop.plan.build(f"fct_{name}").columns if "foreign-key" in one.tags]
        assert shop.rows(f"SELECT count(*) FROM model.fct_{name}") == wanted
        assert keys
    assert shop.broken_tests() == []


def test_a_new_member_was_always_there(shop: Star) -> None:
    """Events may be older than the load that brought their customer."""
    shop.change("INSERT INTO shop.customer VALUES (99, 'late', NULL, 'Oslo', 'firm', 1)")
    shop.change("UPDATE shop.orders SET customer_id = 99 WHERE id = 1")
    shop.load()
    assert shop.rows(
        "SELECT c.id, c.valid_from FROM model.fct_orders o JOIN model.dim_customer c"
        " USING (customer_key) WHERE o.id = 1"
    ) == [(99, BEGINNING)]
