"""Tables of a database for one period each, read as one."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.sources.base import Source, Table
from fluid_build.sources.period_tables import exact_union


def database(folder: Path, *statements: str) -> str:
    """Return the path of a DuckDB file that was made by some statements."""
    path = folder / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return str(path)


def rows(source: Source, table: Table) -> list[tuple[object, ...]]:
    return sorted(source.connection.execute(f"FROM {table.relation}").fetchall(), key=str)


def names(source: Source) -> list[str]:
    return [table.name for table in source.tables]


def test_tables_of_years_are_one_with_a_column_for_the_year(tmp_path: Path) -> None:
    """No row says which year it's from but by its table."""
    place = database(
        tmp_path,
        "CREATE TABLE sales_2023 AS SELECT 1 AS id, 'a' AS item",
        "CREATE TABLE sales_2024 AS SELECT 2 AS id, 'b' AS item",
        "CREATE TABLE items AS SELECT 'a' AS item",
    )
    with open_source(place) as source:
        assert names(source) == ["items", "sales"]
        assert rows(source, source.tables[1]) == [(1, "a", "2023"), (2, "b", "2024")]
        assert "(sales_2023 to sales_2024) are one table" in source.tables[1].notes[-1]
    with open_source(place, periods="keep") as source:
        assert names(source) == ["items", "sales_2023", "sales_2024"]


def test_a_date_in_the_rows_makes_the_period_superfluous(tmp_path: Path) -> None:
    """Every row has a date of its month."""
    place = database(
        tmp_path,
        "CREATE TABLE sales_2024_01 AS SELECT 1 AS id, DATE '2024-01-31' AS sold",
        "CREATE TABLE sales_2024_02 AS SELECT 2 AS id, DATE '2024-02-01' AS sold",
    )
    with open_source(place) as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == ["id", "sold"]
        assert "`sold` says which period" in table.notes[-1]


def test_a_key_that_begins_again_each_year_has_the_period(tmp_path: Path) -> None:
    """References between such tables have it too, and a reference from outside is left out."""
    place = database(
        tmp_path,
        *(
            statement
            for year in (2023, 2024)
            for statement in (
                f"CREATE TABLE orders_{year} (id INTEGER PRIMARY KEY)",
                f"INSERT INTO orders_{year} VALUES (1), (2)",
                f"CREATE TABLE lines_{year} (order_id INT REFERENCES orders_{year} (id))",
                f"INSERT INTO lines_{year} VALUES (1), (2)",
            )
        ),
        "CREATE TABLE claims (order_id INTEGER REFERENCES orders_2024 (id))",
    )
    with open_source(place) as source:
        claims, lines, orders = source.tables
        assert orders.primary_key == ("id", "period")
        (reference,) = lines.foreign_keys
        assert (reference.columns, reference.to_columns) == (
            ("order_id", "period"),
            ("id", "period"),
        )
        assert claims.foreign_keys == ()
        assert "don't hold for all periods" in claims.notes[-1]


def test_a_key_that_goes_on_stays_a_key(tmp_path: Path) -> None:
    """A reference from outside then leads to the one table, however its names are spelled."""
    place = database(
        tmp_path,
        "CREATE TABLE orders_2023 (id INTEGER PRIMARY KEY)",
        "INSERT INTO orders_2023 VALUES (1), (2)",
        'CREATE TABLE orders_2024 ("ID" INTEGER PRIMARY KEY)',
        "INSERT INTO orders_2024 VALUES (3), (4)",
        'CREATE TABLE claims (order_id INTEGER REFERENCES orders_2024 ("ID"))',
    )
    with open_source(place) as source:
        claims, orders = source.tables
        assert orders.primary_key == ("ID",)
        (reference,) = claims.foreign_keys
        assert (reference.to_table, reference.to_columns) == ("orders", ("ID",))


def test_a_column_that_came_later_is_empty_before(tmp_path: Path) -> None:
    """Types widen so that every number is kept."""
    place = database(
        tmp_path,
        "CREATE TABLE sales_2023 AS SELECT 1 AS id, 1.5::DECIMAL(3,1) AS amount",
        "CREATE TABLE sales_2024 AS SELECT 2 AS id, 1.25::DECIMAL(9,2) AS amount, 'x' AS channel",
    )
    with open_source(place) as source:
        (table,) = source.tables
        assert [str(row) for row in rows(source, table)] == [
            "(1, Decimal('1.50'), None, '2023')",
            "(2, Decimal('1.25'), 'x', '2024')",
        ]


@pytest.mark.parametrize(
    "statements",
    [
        # A number, and no year.
        ["CREATE TABLE t_1 AS SELECT 1 AS a", "CREATE TABLE t_1999 AS SELECT 1 AS a"],
        [f"CREATE TABLE t_{n} AS SELECT 1 AS a" for n in (1, 1999, 2000)],
        # A year and a month of it.
        ["CREATE TABLE t_2023 AS SELECT 1 AS a", "CREATE TABLE t_2023_01 AS SELECT 1 AS a"],
        # A year, and a month of another one.
        ["CREATE TABLE t_1997 AS SELECT 1 AS a", "CREATE TABLE t_dec_1998 AS SELECT 1 AS a"],
        # Other columns.
        ["CREATE TABLE t_2023 AS SELECT 1 AS a", "CREATE TABLE t_2024 AS SELECT 1 AS b"],
        # Nested columns.
        ["CREATE TABLE t_2023 AS SELECT [1] AS a", "CREATE TABLE t_2024 AS SELECT [1] AS a"],
    ],
)
def test_tables_that_are_no_periods_of_one_stay_apart(
    tmp_path: Path, statements: Sequence[str]
) -> None:
    """What is united wrongly can't be told apart again."""
    with open_source(database(tmp_path, *statements), nested="keep") as source:
        assert len(source.tables) == len(statements)


def test_types_that_no_type_has_all_values_of_keep_tables_apart(tmp_path: Path) -> None:
    """The source's notes say which column is in the way."""
    place = database(
        tmp_path,
        "CREATE TABLE sales_2023 AS SELECT 1 AS id, DATE '2023-01-01' AS sold",
        "CREATE TABLE sales_2024 AS SELECT 2 AS id, '?' AS sold",
    )
    with open_source(place) as source:
        assert names(source) == ["sales_2023", "sales_2024"]
        assert source.notes == (
            "sales_2023 to sales_2024 stay apart, though their names differ only in a period."
            " The types of sold are DATE and VARCHAR.",
        )


_INTEGERS = st.sampled_from(["TINYINT", "UTINYINT", "SMALLINT", "INTEGER", "UINTEGER", "BIGINT"])
_DECIMALS = st.tuples(st.integers(1, 38), st.integers(0, 38)).map(
    lambda size: f"DECIMAL({max(size)},{min(size)})"
)


_TYPES = _INTEGERS | _DECIMALS | st.sampled_from(["DOUBLE", "DATE"])


@given(st.lists(_TYPES, min_size=1, max_size=4))
def test_a_union_of_types_has_the_greatest_number_of_each(types: list[str]) -> None:
    """Each type's extremes come back from the union's type."""
    union = exact_union(types)
    if union is None:
        return
    with duckdb.connect() as connection:
        for type_ in types:
            if type_ in ("DOUBLE", "DATE"):
                assert union == type_
                continue
            for value in _extremes(type_):
                own = f"CAST('{value}' AS {type_})"
                back = f"CAST(CAST({own} AS {union}) AS {type_})"
                row = connection.execute(f"SELECT {back} = {own}").fetchone()
                assert row == (True,), (type_, union, value)


def _extremes(type_: str) -> list[str]:
    if type_.startswith("DECIMAL"):
        digits, decimals = map(int, type_[8:-1].split(","))
        whole = "9" * (digits - decimals) or "0"
        text = f"{whole}.{'9' * decimals}" if decimals else whole
        return [text, f"-{text}"]
    bits = {"TINY": 8, "SMALL": 16, "INTE": 32, "BIG": 64}
    size = next(n for name, n in bits.items() if type_.removeprefix("U").startswith(name))
    if type_.startswith("U"):
        return ["0", str(2**size - 1)]
    return [str(-(2 ** (size - 1))), str(2 ** (size - 1) - 1)]
