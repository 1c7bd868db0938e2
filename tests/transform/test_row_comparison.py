"""Rows compared: which rows are the same, and what is reported about different ones."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources.sql import literal
from fluid_build.transform.proof.row_comparison import (
    Counts,
    RowComparison,
    between,
    count,
    describe,
    first_differences,
)

Row = tuple[int | None, str | None, float | None]


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def _compared(
    original: str, rebuilt: str
) -> tuple[Counts, duckdb.DuckDBPyConnection, RowComparison]:
    """Compare row by row and by sums, which must find the same."""
    connection = _connection()
    comparison = between(
        original, describe(connection, original), rebuilt, describe(connection, rebuilt)
    )
    counts = count(connection, comparison)
    by_sums = count(connection, replace(comparison, exact=False))
    is_equal = not (counts.missing or counts.unexpected)
    assert by_sums == replace(counts, by="sums" if is_equal else "rows")
    return counts, connection, comparison


@pytest.mark.parametrize(
    "value",
    [
        "NULL::INTEGER",
        "'nan'::DOUBLE",
        "-0.0::DOUBLE",
        "'{\"a\": 1}'::JSON",
        "{'a': 1, 'b': 'x, y'}",
        "[1, NULL, 2]",
        "[1.5, 'nan'::DOUBLE]",
        "MAP {'a': 1, 'b': 2}",
        "'\\x00\\xFF'::BLOB",
        "INTERVAL '1 month 3 days'",
        "TIMESTAMPTZ '2024-01-01 12:00:00+02'",
        "TIMETZ '12:00:00+02'",
        "UUID '550e8400-e29b-41d4-a716-446655440000'",
        "'0101'::BIT",
        "'b'::ENUM('a', 'b')",
        "170141183460469231731687303715884105727::HUGEINT",
        "TIMESTAMP_NS '2024-01-01 00:00:00.123456789'",
        "union_value(a := 1)",
        "12345678901234567890::BIGNUM",
        "1.50::DECIMAL(10,2)",
    ],
)
def test_a_value_of_any_type_is_equal_to_itself(value: str) -> None:
    """Types that equality is hard for are compared as well, nulls and NaN included."""
    counts, *_ = _compared(f"SELECT {value} AS x", f"SELECT {value} AS x")
    assert counts == Counts(original=1, rebuilt=1, missing=0, unexpected=0)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("0.0::DOUBLE", "-0.0::DOUBLE"),
        ("[0.0::FLOAT]", "[-0.0::FLOAT]"),
        ("INTERVAL '1 month'", "INTERVAL '30 days'"),
        ("{'x': INTERVAL '1 day'}", "{'x': INTERVAL '24 hours'}"),
        ("'{\"a\":1}'::JSON", "'{\"a\": 1}'::JSON"),
        ("MAP {'a': 1, 'b': 2}", "MAP {'b': 2, 'a': 1}"),
        ("'a'", "'a '"),
        ("''", "NULL::VARCHAR"),
        ("[NULL, 'a']", "['NULL', 'a']"),
        ("'1'::BIT", "'01'::BIT"),
        ("TIMETZ '10:00:00+01'", "TIMETZ '09:00:00+00'"),
        ("'\\x00'::BLOB", "''::BLOB"),
        ("0.1::DOUBLE + 0.2::DOUBLE", "0.3::DOUBLE"),
    ],
)
def test_values_that_are_stored_differently_differ(ours: str, theirs: str) -> None:
    """What DuckDB may call equal and is not the same value counts as lost and as unexpected."""
    counts, *_ = _compared(f"SELECT {ours} AS x", f"SELECT {theirs} AS x")
    assert (counts.missing, counts.unexpected) == (1, 1)


def test_text_is_compared_byte_by_byte_whatever_its_collation() -> None:
    """A column that is declared to ignore case still keeps its case."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE a (x VARCHAR COLLATE NOCASE)")
    connection.execute("CREATE TABLE b (x VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO a VALUES ('Ada'), ('ADA')")
    connection.execute("INSERT INTO b VALUES ('ada'), ('ADA')")
    comparison = between("FROM a", (("x", "VARCHAR"),), "FROM b", (("x", "VARCHAR"),))
    assert count(connection, comparison) == Counts(2, 2, 1, 1)


def test_the_names_of_columns_never_meet_ours() -> None:
    """A table may call its columns as the comparison calls its own, or with quotes in them."""
    query = 'SELECT 1 AS ours, 2 AS theirs, 3 AS "k0", 4 AS "a ""b"" c", 5 AS c0'
    counts, *_ = _compared(query, query)
    assert counts == Counts(1, 1, 0, 0)


def test_a_column_whose_types_differ_is_compared_as_text() -> None:
    """The figures still tell whether the values came back."""
    counts, *_ = _compared("SELECT 7::INTEGER AS x", "SELECT 7::BIGINT AS x")
    assert counts == Counts(1, 1, 0, 0)


def test_two_queries_without_a_common_column_are_compared_by_their_rows() -> None:
    """Where no column came back there is still a number of rows."""
    counts, connection, comparison = _compared(
        "SELECT 1 AS a FROM range(3)", "SELECT 1 AS b FROM range(2)"
    )
    assert counts == Counts(3, 2, 1, 0)
    assert [d.side for d in first_differences(connection, comparison, 5)] == ["missing"]


def test_the_first_differences_are_bounded_and_in_order() -> None:
    """So many of each side, sorted, each with how often it is missing."""
    _, connection, comparison = _compared(
        "SELECT i % 8 AS x FROM range(16) t(i)", "SELECT 9 AS x UNION ALL SELECT 0"
    )
    found = first_differences(connection, comparison, 3)
    assert [(d.side, d.times, d.values) for d in found] == [
        ("missing", 1, ("0",)),
        ("missing", 2, ("1",)),
        ("missing", 2, ("2",)),
        ("unexpected", 1, ("9",)),
    ]


_rows = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 2)),
        st.one_of(st.none(), st.sampled_from(["", "a", "A", "a ", "é"])),
        st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, float("nan")])),
    ),
    max_size=8,
)


_VALUES = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-1", "0", "127"],
    "BIGINT": ["-9223372036854775808", "0", "255", "256"],
    "HUGEINT": ["-1", "0", "18446744073709551616"],
    "UHUGEINT": ["0", "340282366920938463463374607431768211455"],
    "BIGNUM": ["-1", "1", "256", "-123456789012345678901234567890"],
    "DECIMAL(9,2)": ["0", "0.01", "-0.01"],
    "DECIMAL(38,2)": ["0", "0.01", "10"],
    "FLOAT": ["0", "-0.0", "nan", "inf"],
    "DOUBLE": ["0", "-0.0", "nan", "5e-324", "0.1", "0.10000000000000002"],
    "VARCHAR": ["", "a", "A", "a ", "a\\0", "\u00e9", "e\u0301", "NULL", "\U0001f600"],
    "BLOB": ["", r"\x00", r"\x00\x00", r"\x01", r"\xFF", "a"],
    "BIT": ["0", "00", "1", "000000001"],
    "DATE": ["0001-01-01 (BC)", "2020-01-01", "infinity"],
    "TIME": ["00:00:00", "00:00:00.000001"],
    "TIMETZ": ["10:00:00+01", "09:00:00+00"],
    "TIMESTAMP": ["2020-01-01", "2020-01-01 00:00:00.000001", "-infinity"],
    "TIMESTAMP_S": ["2020-01-01", "2020-01-01 00:00:01"],
    "TIMESTAMP_NS": ["2020-01-01", "2020-01-01 00:00:00.000000001"],
    "TIMESTAMPTZ": ["2020-01-01 00:00:00+00", "2020-01-01 00:00:00+01"],
    "INTERVAL": ["1 month", "30 days", "720 hours"],
    "UUID": [f"00000000-0000-0000-0000-00000000000{n}" for n in range(3)],
    "ENUM('a', 'b')": ["a", "b"],
    "JSON": ['{"a":1}', '{"a": 1}', "null"],
    "INTEGER[]": ["[]", "[NULL]", "[1]", "[1, 1]"],
    "VARCHAR[]": ["[]", "['']", "[a, b]", "['a, b']", "['NULL']", "[NULL]"],
    "INTEGER[][]": ["[[1], [2]]", "[[1, 2]]", "[[], [1, 2]]", "[NULL, [1, 2]]"],
    "DOUBLE[]": ["[0.0]", "[-0.0]", "[nan]"],
    "INTEGER[2]": ["[1, 2]", "[2, 1]"],
    "STRUCT(a INTEGER, b VARCHAR)": ["{'a': 1, 'b': x}", "{'a': NULL, 'b': x}"],
    "MAP(VARCHAR, INTEGER)": ["{a=1, b=2}", "{b=2, a=1}", "{}"],
}
"""Values of each type that are hard to tell apart, as DuckDB reads them from text."""


@pytest.mark.parametrize("type_", _VALUES)
def test_any_change_of_a_row_is_found(type_: str) -> None:
    """A value that is changed, lost, doubled or swapped: no sum is the same as before.

    The row has two columns of the type, so that a value may go astray within a row and between
    two rows whose columns each keep all their values.
    """
    values = [None, *_VALUES[type_]]
    rows = [(a, b) for a in values for b in values]

    def table(rows: Sequence[tuple[str | None, str | None]]) -> str:
        texts = ", ".join(f"({_text(a)}, {_text(b)})" for a, b in rows)
        return f"SELECT a::{type_} AS a, b::{type_} AS b FROM (VALUES {texts}) AS v(a, b)"

    def swapped(number: int) -> list[tuple[str | None, str | None]]:
        (a, b), (c, d) = rows[number], rows[-1]
        return [*rows[:number], (a, d), *rows[number + 1 : -1], (c, b)]

    assert _compared(table(rows), table(rows[::-1]))[0].missing == 0
    for number in range(0, len(rows) - 1, max(1, len(rows) // 5)):
        a, b = rows[number]
        rest = [*rows[:number], *rows[number + 1 :]]
        assert _compared(table(rows), table(rest))[0].missing == 1
        assert _compared(table(rows), table([*rows, (a, b)]))[0].unexpected == 1
        assert _compared(table(rows), table([*rest, rows[-1]]))[0].missing == 1
        if a != b:
            assert _compared(table(rows), table([*rest, (b, a)]))[0].missing == 1
        if a != rows[-1][0] and b != rows[-1][1]:
            assert _compared(table(rows), table(swapped(number)))[0].missing == 2


def _text(value: str | None) -> str:
    return "NULL" if value is None else literal(value)


def _table(rows: Sequence[Row]) -> str:
    if not rows:
        return "SELECT NULL::INTEGER AS i, NULL::VARCHAR AS t, NULL::DOUBLE AS d WHERE false"
    values = ", ".join(f"({_sql(i)}, {_sql(t)}, {_sql(d)})" for i, t, d in rows)
    return (
        "SELECT i::INTEGER AS i, t::VARCHAR AS t, d::DOUBLE AS d"
        f" FROM (VALUES {values}) AS v(i, t, d)"
    )


def _sql(value: object) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'::{'VARCHAR' if isinstance(value, str) else 'DOUBLE'}"


def _same(rows: Sequence[Row]) -> Counter[str]:
    """Rows by what they are, so that -0.0 is not 0.0 and a NaN is a NaN."""
    return Counter(repr(row) for row in rows)


@given(ours=_rows, theirs=_rows)
def test_missing_and_unexpected_are_the_differences_of_multisets(
    ours: list[Row], theirs: list[Row]
) -> None:
    """For any two small tables the counts are what Python's own multisets say."""
    counts, *_ = _compared(_table(ours), _table(theirs))
    a, b = _same(ours), _same(theirs)
    assert counts == Counts(len(ours), len(theirs), (a - b).total(), (b - a).total())
