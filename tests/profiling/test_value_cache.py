"""Values that are cached in Python are those that a query on the table returns."""

from collections.abc import Sequence

import pytest

from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.sources.base import OpenSource
from tests.profiling.databases import database, tables_of

TYPES = {
    "integer": "i % 7",
    "large integer": "CAST(i % 7 AS HUGEINT) * 170141183460469231731687303",
    "decimal without places": "CAST(i % 7 AS DECIMAL(38, 0))",
    "whole float": "CAST(i % 7 AS FLOAT)",
    "whole double": "CAST(i % 7 AS DOUBLE)",
    "text": "'Ä ' || (i % 7)",
    "text of numbers": "' ' || (i % 7)",
    "uuid": "CAST(md5(CAST(i % 7 AS VARCHAR)) AS UUID)",
    "text of uuids": "upper(CAST(CAST(md5(CAST(i % 7 AS VARCHAR)) AS UUID) AS VARCHAR))",
    "date": "DATE '2020-01-01' + CAST(i % 7 AS INTEGER)",
    "enum": "CAST(CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END AS ENUM('even', 'odd'))",
}


def table_sql(rows: int, **columns: str) -> str:
    """Return SQL for a table ``t`` of some rows; columns are SQL over the row number ``i``."""
    listed = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    return f"CREATE TABLE t AS SELECT {listed} FROM range({rows}) AS t(i)"


def columns_of(source: OpenSource, *names: str) -> list[MeasuredColumn]:
    (table,) = tables_of(source)
    return [table.by_name[name] for name in names]


def counts_by_query(source: OpenSource, columns: Sequence[MeasuredColumn]) -> list[int]:
    """Return how often each value occurs, without nulls."""
    group = ", ".join(column.sql for column in columns)
    present = " AND ".join(f"{column.sql} IS NOT NULL" for column in columns)
    query = f"SELECT count(*) FROM t WHERE {present} GROUP BY {group} ORDER BY 1"
    return [count for (count,) in source.connection.execute(query).fetchall()]


@pytest.mark.parametrize("rows", [300, 6000], ids=["small", "large"])
@pytest.mark.parametrize("type_", TYPES)
def test_values_are_counted_as_by_a_query(type_: str, rows: int) -> None:
    """Each value of every type is cached with its count, in small and large tables."""
    with database(table_sql(rows, c=f"CASE WHEN i % 9 > 0 THEN {TYPES[type_]} END")) as source:
        columns = columns_of(source, "c")
        cache = ValueCache(source.connection)
        assert cache.can_hold(columns)
        values = cache.values(columns)
        assert sorted(values.counts.values()) == counts_by_query(source, columns)
        assert values.rows == sum(values.counts.values())


def test_columns_together_are_counted_as_by_a_query() -> None:
    """Rows with a null in any of the columns are left out, other combinations counted."""
    with database(table_sql(300, a="nullif(i % 5, 3)", b="nullif('x' || i % 3, 'x1')")) as source:
        columns = columns_of(source, "a", "b")
        values = ValueCache(source.connection).values(columns)
        assert sorted(values.counts.values()) == counts_by_query(source, columns)
        assert values.sorted_firsts == sorted(a for a in (0, 1, 2, 4) for _ in range(2))


def test_whole_numbers_of_any_type_are_the_same_values() -> None:
    """Numbers of different types are equal in Python if they are in DuckDB."""
    with database(
        table_sql(40, a="i", b="CAST(i AS DOUBLE)", c="' ' || i", d="CAST(i AS DECIMAL(38, 0))")
    ) as source:
        cache = ValueCache(source.connection)
        keys = [set(cache.values([column]).counts) for column in columns_of(source, *"abcd")]
        assert keys[0] == keys[1] == keys[2] == keys[3] == set(range(40))


def test_many_values_are_not_cached() -> None:
    """The key of a large table stays in the database."""
    with database(table_sql(70_000, a="i", b="i % 10")) as source:
        many, few = columns_of(source, "a", "b")
        cache = ValueCache(source.connection)
        assert not cache.can_hold([many])
        assert cache.can_hold([few])
        assert not cache.can_hold([few, few])


@pytest.mark.parametrize("sql", ["i / 7.5", "[i]", "i = 3", "TIMESTAMP '2020-01-01'"])
def test_values_that_cannot_be_keys_are_not_cached(sql: str) -> None:
    """Fractions, lists, booleans and times aren't compared as keys."""
    with database(table_sql(40, a=sql)) as source:
        assert not ValueCache(source.connection).can_hold(columns_of(source, "a"))


def test_evicted_tables_are_read_again() -> None:
    """A table that made room for another one is read a second time, with the same values."""
    script = "; ".join(
        f"CREATE TABLE t{n} AS SELECT i AS a, i % 5 AS b FROM range({50 + n}) AS t(i)"
        for n in range(6)
    )
    with database(script) as source:
        cache = ValueCache(source.connection, most_cells=220)
        tables = tables_of(source)
        for _ in range(2):
            counts = [len(cache.values([table.by_name["a"]]).counts) for table in tables]
            assert counts == [50 + n for n in range(6)]


@pytest.mark.parametrize("rows", [300, 6000], ids=["small", "large"])
def test_a_column_compared_in_another_form_is_read_again(rows: int) -> None:
    """Text of digits was read as numbers and is read as text once its table is forgotten."""
    with database(table_sql(rows, a="CAST(i % 7 AS VARCHAR)")) as source:
        (column,) = columns_of(source, "a")
        cache = ValueCache(source.connection)
        assert set(cache.values([column]).counts) == set(range(7))
        column.key_kind = "text"
        cache.forget(column.table)
        assert set(cache.values([column]).counts) == set("0123456")
