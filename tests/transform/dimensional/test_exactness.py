"""The proof of a star is red where something is lost, and nowhere else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.modeling.profiles import reference
from tests.transform.dimensional.stars import Star, fact, star

_LEAGUE = (
    "CREATE TABLE person (id VARCHAR PRIMARY KEY, name VARCHAR)",
    "CREATE TABLE season (person VARCHAR, year INTEGER, team VARCHAR, PRIMARY KEY (person, year))",
    "CREATE TABLE salary (person VARCHAR, year INTEGER, paid DECIMAL(9, 2))",
    "INSERT INTO person SELECT 'p' || i, 'name ' || i FROM range(40) r(i)",
    "INSERT INTO season SELECT 'p' || i, y, 'team ' || i % 3 FROM range(40) r(i), "
    "range(2000, 2004) s(y)",
    "INSERT INTO salary SELECT 'p' || i, y, i * 1.5 FROM range(40) r(i), range(2002, 2007) s(y)",
)
"""Salaries of seasons, of which some are not there, and of persons, who are all there."""

_TWO_WAYS = (
    "CREATE TABLE country (id INTEGER PRIMARY KEY, name VARCHAR, continent VARCHAR)",
    "CREATE TABLE shop (id INTEGER PRIMARY KEY, name VARCHAR, country INTEGER)",
    "CREATE TABLE buyer (id INTEGER PRIMARY KEY, name VARCHAR, country INTEGER)",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, shop INTEGER, buyer INTEGER, paid DECIMAL(9, 2))",
    "INSERT INTO country SELECT i, 'country ' || i, 'continent ' || i % 2 FROM range(1, 6) r(i)",
    "INSERT INTO shop SELECT i, 'shop ' || i, 1 + i % 5 FROM range(1, 21) r(i)",
    "INSERT INTO buyer SELECT i, 'buyer ' || i, 1 + i % 5 FROM range(1, 31) r(i)",
    "INSERT INTO sale SELECT i, 1 + i % 20, 1 + i % 30, i * 1.5 FROM range(1, 91) r(i)",
)
"""A lookup that two dimensions have in them, every row of it."""


@pytest.fixture
def two_ways(tmp_path: Path) -> Iterator[Star]:
    references = [
        reference("shop", "country", "country", "id"),
        reference("buyer", "country", "country", "id"),
        reference("sale", "shop", "shop", "id"),
        reference("sale", "buyer", "buyer", "id"),
    ]
    with star(tmp_path, _TWO_WAYS, references) as found:
        assert {one.name for one in found.star.dimensions} == {"dim_shop", "dim_buyer"}
        yield found


def test_facts_come_back_through_the_reference_that_every_row_has(tmp_path: Path) -> None:
    """A season that is missing takes the person from no row: the person's own key has it."""
    references = [
        reference("salary", "person year", "season", "person year", orphans=120),
        reference("salary", "person", "person", "id"),
    ]
    with star(tmp_path, _LEAGUE, references) as found:
        salary = fact(found.star, "fct_salary")
        assert [one.optional for one in salary.dimensions] == [True, False]
        assert found.failures() == []


@pytest.mark.parametrize("left", ["shop", "buyer"])
def test_a_lookup_s_row_may_move_into_another_dimension(two_ways: Star, left: str) -> None:
    """Nothing is lost as long as one of the dimensions that have the lookup still has the row."""
    assert two_ways.failures() == []
    two_ways.change(f"UPDATE shop.{left} SET country = 1 WHERE country = 3")
    two_ways.load()
    assert two_ways.failures() == []


def test_a_day_comes_back_though_the_rest_of_its_reference_is_missing(tmp_path: Path) -> None:
    """A sale in the own currency has a day all the same: the calendar has it, and no rate does."""
    statements = (
        "CREATE TABLE rate AS SELECT c AS currency, DATE '2024-03-01' + d::INTEGER AS day,"
        " d * 0.1 AS rate, 'bank ' || d % 3 AS name FROM (VALUES ('USD'), ('GBP')) v(c),"
        " range(20) r(d)",
        "CREATE TABLE sale AS SELECT i AS id, CASE i % 3 WHEN 0 THEN 'USD' WHEN 1 THEN 'GBP' END"
        " AS currency, CASE WHEN i <> 7 THEN DATE '2024-03-01' + (i % 20)::INTEGER END AS day,"
        " i * 1.25 AS amount FROM range(60) r(i)",
    )
    by_rate = reference("sale", "currency day", "rate", "currency day", nulls=21)
    with star(tmp_path, statements, [by_rate]) as found:
        assert found.failures() == []


def test_a_lookup_s_row_that_is_in_no_dimension_is_lost(two_ways: Star) -> None:
    """Nobody refers to it any more, and the star has no other place for it."""
    for name in ("shop", "buyer"):
        two_ways.change(f"UPDATE shop.{name} SET country = 1 WHERE country = 3")
    two_ways.load()
    assert two_ways.failures() == ["country: 1 missing, 0 unexpected"]


def test_a_lookup_s_row_that_nobody_can_refer_to_is_kept(tmp_path: Path) -> None:
    """Clients refer to a status by its code, and one status has none."""
    statements = (
        "CREATE TABLE status (id INTEGER PRIMARY KEY, code VARCHAR UNIQUE, label VARCHAR)",
        "CREATE TABLE client (id INTEGER PRIMARY KEY, status VARCHAR REFERENCES status (code))",
        "CREATE TABLE sale (id INTEGER PRIMARY KEY, client INTEGER, paid DECIMAL(9, 2))",
        "INSERT INTO status VALUES (1, 'A', 'active'), (2, 'B', 'blocked'), (3, NULL, 'nobody')",
        "INSERT INTO client SELECT i, ['A', 'B'][1 + i % 2] FROM range(1, 31) r(i)",
        "INSERT INTO sale SELECT i, 1 + i % 30, i * 1.5 FROM range(1, 91) r(i)",
    )
    references = [
        reference("client", "status", "status", "code"),
        reference("sale", "client", "client", "id"),
    ]
    with star(tmp_path, statements, references) as found:
        assert found.failures() == []


_DAMAGES = {
    "a lookup's value in one of two dimensions": (
        "UPDATE model.dim_buyer SET country_name = 'x' WHERE id = 7",
        {"buyer", "country"},
    ),
    "a lookup's value everywhere": (
        "UPDATE model.dim_shop SET country_name = 'x' WHERE country = 3;"
        "UPDATE model.dim_buyer SET country_name = 'x' WHERE country = 3",
        {"shop", "buyer", "country"},
    ),
    "a member": ("DELETE FROM model.dim_shop WHERE id = 7", {"shop", "sale"}),
    "a fact's row": ("DELETE FROM model.fct_sale WHERE id = 7", {"sale"}),
    "a fact's row for another's": (
        "DELETE FROM model.fct_sale WHERE id = 7;"
        "INSERT INTO model.fct_sale FROM model.fct_sale WHERE id = 8",
        {"sale"},
    ),
    "a measure": ("UPDATE model.fct_sale SET paid = paid + 1 WHERE id = 7", {"sale"}),
    "two measures that make up for each other": (
        "UPDATE model.fct_sale SET paid = paid + CASE id WHEN 7 THEN 1 ELSE -1 END "
        "WHERE id IN (7, 8)",
        {"sale"},
    ),
    "what a fact refers to": (
        "UPDATE model.fct_sale SET shop_key = (SELECT shop_key FROM model.dim_shop WHERE id = 1) "
        "WHERE id = 7",
        {"sale"},
    ),
    "a fact's reference": (
        "UPDATE model.fct_sale SET shop_key = repeat('0', 32) WHERE id = 7",
        {"sale"},
    ),
}


@pytest.mark.parametrize("damage", _DAMAGES)
def test_whatever_is_damaged_is_red(two_ways: Star, damage: str) -> None:
    """A row that is dropped or a value that is altered shows in the table that it belongs to."""
    statements, tables = _DAMAGES[damage]
    for statement in statements.split(";"):
        two_ways.rows(statement)
    proof = two_ways.proof()
    assert proof.verdict == "lost"
    assert {one.table for one in proof.tables if one.verdict == "lost"} == tables


@pytest.mark.parametrize("number", range(8))
def test_each_of_many_references_is_compared(tmp_path: Path, number: int) -> None:
    """A fact refers to eight dimensions; the proof is red where a row leads to another member."""
    names = [f"place{n}" for n in range(8)]
    statements = [
        *(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, name VARCHAR)" for name in names),
        *(f"INSERT INTO {name} SELECT i, '{name} ' || i FROM range(1, 21) r(i)" for name in names),
        "CREATE TABLE move (id INTEGER PRIMARY KEY, "
        + ", ".join(f"{name} INTEGER" for name in names)
        + ", paid DECIMAL(9, 2))",
        "INSERT INTO move SELECT i, "
        + ", ".join(f"1 + (i + {n}) % 20" for n in range(8))
        + ", i * 1.5 FROM range(1, 91) r(i)",
    ]
    references = [reference("move", name, name, "id") for name in names]
    with star(tmp_path, statements, references) as found:
        assert found.failures() == []
        one = fact(found.star, "fct_move").dimensions[number]
        found.change(
            f"UPDATE model.fct_move SET {one.key} = (SELECT {one.key} FROM model.fct_move"
            " WHERE id = 8) WHERE id = 7"
        )
        failed = [check.name for table in found.proof().tables for check in table.checks
                  if not check.holds]  # fmt: skip
        part = number // 6 + 1
        assert failed == [f"fct_move refers to the right members ({part} of 2)"]


_ORDERS = (
    "CREATE TABLE buyer (id INTEGER PRIMARY KEY, name VARCHAR)",
    "CREATE TABLE orders (order_no INTEGER PRIMARY KEY, buyer_id INTEGER, ordered DATE,"
    " freight DECIMAL(9, 2), status VARCHAR)",
    "CREATE TABLE line (order_no INTEGER, line_no INTEGER, quantity INTEGER,"
    " PRIMARY KEY (order_no, line_no))",
    "INSERT INTO buyer SELECT i, 'buyer ' || i FROM range(1, 31) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 30, DATE '2024-01-01' + CAST(i % 50 AS INTEGER),"
    " i * 1.5, ['open', 'sent', 'paid'][1 + i % 3] FROM range(1, 201) r(i)",
    "INSERT INTO line SELECT 1 + i % 210, i // 210, 1 + i % 700 FROM range(630) r(i)",
)
"""Orders with a status, and their lines: those of ten orders are orphans."""


def test_lines_have_the_status_of_their_header_and_the_proof_sees_it(tmp_path: Path) -> None:
    references = [
        reference("orders", "buyer_id", "buyer", "id"),
        reference("line", "order_no", "orders", "order_no", orphans=30),
    ]
    with star(tmp_path, _ORDERS, references) as found:
        assert found.failures() == []
        states = "SELECT order_status, count(*) FROM model.fct_line GROUP BY 1 ORDER BY 1"
        assert found.rows(states) == [("open", 198), ("paid", 201), ("sent", 201), (None, 30)]
        found.change(
            "UPDATE model.fct_line SET order_status = 'sent' WHERE order_no = 3 AND line_no = 0"
        )
        (failure,) = found.failures()
        assert "fct_line has the columns of its headers" in failure
