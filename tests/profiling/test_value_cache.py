"""Values that are held in Python say what a query on the table says."""

from collections.abc import Sequence

import pytest

from fluid_build.profiling.measured_tables import MeasuredColumn
from fluid_build.profiling.value_cache import ValueCache
from fluid_build.sources.base import OpenSource
from tests.profiling.databases import database, schema_of

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


def made(rows: int, **columns: str) -> str:
    """A table ``t`` of some rows; columns are SQL over the row number ``i``."""
    listed = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    return f"CREATE TABLE t AS SELECT {listed} FROM range({rows}) AS t(i)"


def nodes_of(source: OpenSource, *names: str) -> list[MeasuredColumn]:
    (entity,) = schema_of(source)
    return [entity.by_name[name] for name in names]


def asked(source: OpenSource, nodes: Sequence[MeasuredColumn]) -> list[int]:
    """How often each value occurs, by a query, nulls left out."""
    group = ", ".join(node.sql for node in nodes)
    present = " AND ".join(f"{node.sql} IS NOT NULL" for node in nodes)
    query = f"SELECT count(*) FROM t WHERE {present} GROUP BY {group} ORDER BY 1"
    return [count for (count,) in source.connection.execute(query).fetchall()]


@pytest.mark.parametrize("rows", [300, 6000], ids=["small", "large"])
@pytest.mark.parametrize("type_", TYPES)
def test_values_are_counted_as_by_a_query(type_: str, rows: int) -> None:
    """Of every type, a small table's and a large one's, each value is held with its count."""
    with database(made(rows, c=f"CASE WHEN i % 9 > 0 THEN {TYPES[type_]} END")) as source:
        nodes = nodes_of(source, "c")
        held = ValueCache(source.connection)
        assert held.can_hold(nodes)
        values = held.values(nodes)
        assert sorted(values.counts.values()) == asked(source, nodes)
        assert values.rows == sum(values.counts.values())


def test_columns_together_are_counted_as_by_a_query() -> None:
    """Rows with a null in any of the columns are left out, other combinations counted."""
    with database(made(300, a="nullif(i % 5, 3)", b="nullif('x' || i % 3, 'x1')")) as source:
        nodes = nodes_of(source, "a", "b")
        values = ValueCache(source.connection).values(nodes)
        assert sorted(values.counts.values()) == asked(source, nodes)
        assert values.firsts == sorted(a for a in (0, 1, 2, 4) for _ in range(2))


def test_whole_numbers_of_any_type_are_the_same_values() -> None:
    """A number is found whatever type it is kept in, as DuckDB finds it."""
    with database(
        made(40, a="i", b="CAST(i AS DOUBLE)", c="' ' || i", d="CAST(i AS DECIMAL(38, 0))")
    ) as source:
        held = ValueCache(source.connection)
        keys = [set(held.values([node]).counts) for node in nodes_of(source, *"abcd")]
        assert keys[0] == keys[1] == keys[2] == keys[3] == set(range(40))


def test_many_values_are_not_held() -> None:
    """A key of a large table stays where it is."""
    with database(made(70_000, a="i", b="i % 10")) as source:
        many, few = nodes_of(source, "a", "b")
        held = ValueCache(source.connection)
        assert not held.can_hold([many])
        assert held.can_hold([few])
        assert not held.can_hold([few, few])


@pytest.mark.parametrize("sql", ["i / 7.5", "[i]", "i = 3", "TIMESTAMP '2020-01-01'"])
def test_what_is_no_key_is_not_held(sql: str) -> None:
    """Fractions, lists, truth values and times are not compared as keys."""
    with database(made(40, a=sql)) as source:
        assert not ValueCache(source.connection).can_hold(nodes_of(source, "a"))


def test_tables_beyond_the_bound_are_read_again() -> None:
    """What was let go for another table's sake is read anew, and is the same."""
    script = "; ".join(
        f"CREATE TABLE t{n} AS SELECT i AS a, i % 5 AS b FROM range({50 + n}) AS t(i)"
        for n in range(6)
    )
    with database(script) as source:
        held = ValueCache(source.connection, most_cells=220)
        entities = schema_of(source)
        for _ in range(2):
            counted = [len(held.values([entity.by_name["a"]]).counts) for entity in entities]
            assert counted == [50 + n for n in range(6)]
