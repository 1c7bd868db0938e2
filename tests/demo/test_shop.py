"""The demo shop: real-looking, dirty on purpose, and the same every time."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from stdnum import ean, iban, luhn

from fluid_build.demo import TOTAL_ROWS, build_shop
from fluid_build.errors import OutputError


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    build_shop(path)
    return path


@pytest.fixture(scope="module")
def shop(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection:
        yield connection


def ask(shop: sqlite3.Connection, query: str) -> list[tuple[object, ...]]:
    return shop.execute(query).fetchall()


def number(shop: sqlite3.Connection, query: str) -> int:
    (value,) = shop.execute(query).fetchone()
    assert isinstance(value, int)
    return value


def test_it_has_fourteen_tables_and_two_hundred_thousand_rows(shop: sqlite3.Connection) -> None:
    """Its size is what the documentation says."""
    tables = [name for (name,) in ask(shop, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    rows = sum(number(shop, f"SELECT count(*) FROM {table}") for table in tables)
    assert (len(tables), rows) == (14, TOTAL_ROWS) == (14, 200_000)


def test_no_key_and_no_index_is_declared(shop: sqlite3.Connection) -> None:
    """Nothing in its schema gives the answer away."""
    schema = " ".join(sql for (sql,) in ask(shop, "SELECT sql FROM sqlite_schema"))
    assert not re.search(r"KEY|UNIQUE|REFERENCES|NOT NULL|INDEX", schema, re.IGNORECASE)


@pytest.mark.parametrize(
    ("child", "column", "parent", "key", "orphans"),
    [
        ("orders", "customer_id", "customers", "customer_id", 177),
        ("order_lines", "prod_id", "products", "product_id", 287),
        ("addresses", "country", "countries", "country_code", 94),
        ("orders", "ship_to", "addresses", "address_id", 0),
        ("orders", "bill_to", "addresses", "address_id", 0),
        ("categories", "parent_id", "categories", "category_id", 0),
        ("reviews", "customer_id", "customers", "customer_id", 0),
    ],
)
def test_some_relationships_have_orphans(
    shop: sqlite3.Connection, child: str, column: str, parent: str, key: str, orphans: int
) -> None:
    """Erased customers, deleted articles and an old spelling leave a few hundred; others none."""
    count = number(
        shop,
        f"SELECT count(*) FROM {child} WHERE {column} IS NOT NULL "
        f"AND {column} NOT IN (SELECT {key} FROM {parent})",
    )
    assert count == orphans


def test_order_lines_have_no_key_but_the_composite_one(shop: sqlite3.Connection) -> None:
    """An article may stand twice in an order, so only the position tells its lines apart."""
    total = number(shop, "SELECT count(*) FROM order_lines")
    pairs = "SELECT count(*) FROM (SELECT DISTINCT order_id, {} FROM order_lines)"
    assert number(shop, pairs.format("pos")) == total
    assert number(shop, pairs.format("prod_id")) < total


def test_numbers_with_check_digits_are_right(shop: sqlite3.Connection) -> None:
    """Cards, accounts and articles would pass a check in a real system."""
    cards = ask(shop, "SELECT card_number FROM payments WHERE card_number IS NOT NULL")
    assert all(luhn.is_valid(card) for (card,) in cards)
    assert all(iban.is_valid(number) for (number,) in ask(shop, "SELECT iban FROM suppliers"))
    assert all(ean.is_valid(number) for (number,) in ask(shop, "SELECT ean FROM products"))


def test_few_products_make_most_sales_and_winter_sells_best(shop: sqlite3.Connection) -> None:
    """Sales are spread as sales are: by a power law, and over the year."""
    sales = [
        n for (n,) in ask(shop, "SELECT count(*) n FROM order_lines GROUP BY prod_id ORDER BY n")
    ]
    best = sum(sales[-len(sales) // 10 :])  # type: ignore[arg-type]
    assert 0.35 < best / number(shop, "SELECT count(*) FROM order_lines") < 0.7
    months = dict(ask(shop, "SELECT strftime('%m', placed_at), count(*) FROM orders GROUP BY 1"))
    assert months["12"] == max(months.values()) > 2 * months["02"]  # type: ignore[operator,type-var]


def test_nobody_orders_before_they_registered(shop: sqlite3.Connection) -> None:
    """Dates of different tables agree."""
    assert not number(
        shop,
        "SELECT count(*) FROM orders JOIN customers USING (customer_id) "
        "WHERE date(placed_at) < registered",
    )


def test_personal_data_is_nobodys(shop: sqlite3.Connection) -> None:
    """Mail goes to reserved domains, and IP addresses are those of documentation."""
    mails = ask(shop, "SELECT email FROM customers UNION SELECT email FROM suppliers")
    assert all(re.fullmatch(r"[a-z0-9._-]+@(mail\.)?example\.(com|org|net)", m) for (m,) in mails)
    ips = ask(shop, "SELECT DISTINCT client_ip FROM orders WHERE client_ip IS NOT NULL")
    assert all(re.match(r"192\.0\.2\.|198\.51\.100\.|203\.0\.113\.|2001:db8:", ip) for (ip,) in ips)


def test_an_older_shop_is_replaced_by_the_same_bytes(path: Path, tmp_path: Path) -> None:
    """Making it again is no error, leaves no second file, and changes no byte."""
    again = tmp_path / "shop.db"
    again.write_bytes(path.read_bytes() + b"old")
    build_shop(again)
    assert [entry.name for entry in tmp_path.iterdir()] == ["shop.db"]
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"mine", b"SQLite format 3\0" + bytes(200)])
def test_another_file_is_never_replaced(tmp_path: Path, content: bytes) -> None:
    """What isn.t a demo shop stays as it is."""
    mine = tmp_path / "shop.db"
    mine.write_bytes(content)
    with pytest.raises(OutputError, match="isn't a demo shop"):
        build_shop(mine)
    assert mine.read_bytes() == content
