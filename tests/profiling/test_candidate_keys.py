"""Candidate keys are all minimal sets of up to four columns that identify a row, and no others."""

from collections.abc import Sequence
from itertools import combinations, takewhile

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fluid_build.profiling.measure.candidate_keys import (
    MAX_COLUMNS,
    MAX_KEYS,
    MAX_SEARCHED,
    CandidateKeys,
    find_candidate_keys,
)
from fluid_build.profiling.measure.samples import SAMPLE_ROWS
from fluid_build.profiling.measure.tables import measure_table
from fluid_build.sources.base import Column, Table
from tests.profiling.databases import candidates

NAMES = "abcdefg"
Rows = Sequence[tuple[int | None, ...]]


def minimal_keys(rows: Rows) -> set[tuple[str, ...]]:
    """Return all minimal sets of up to four columns that are unique and never null.

    With them the first columns, if they are unique and more than four, and none of these is within.
    """
    width = len(rows[0])
    whole = [i for i in range(width) if all(row[i] is not None for row in rows)]
    found: list[tuple[int, ...]] = []
    for size in range(1, MAX_COLUMNS + 1):
        for group in combinations(whole, size):
            if any(set(key) <= set(group) for key in found):
                continue
            if len({tuple(row[i] for i in group) for row in rows}) == len(rows):
                found.append(group)
    first: list[int] = []
    for i in takewhile(whole.__contains__, range(width)):
        if (i,) in found or any(set(key) <= {*first, i} for key in found):
            break
        if len({row[i] for row in rows}) > 1:
            first.append(i)
        if len({tuple(row[i] for i in first) for row in rows}) == len(rows):
            found.append(tuple(first))
            break
    return {tuple(NAMES[i] for i in key) for key in found}


def keys_of(rows: Rows) -> CandidateKeys:
    """Return the keys found in a table of these rows."""
    names = NAMES[: len(rows[0])]
    columns = tuple(Column(name, "INTEGER") for name in names)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(f'{name} INTEGER' for name in names)})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(names))})", rows)
        table = Table("t", columns, "t")
        return find_candidate_keys(connection, measure_table(connection, table))


@st.composite
def tables(draw: st.DrawFn, nulls: bool = False) -> Rows:
    width = draw(st.integers(1, 6))
    values = [
        st.one_of(st.integers(0, draw(st.integers(1, 6))), *([st.none()] if nulls else []))
        for _ in range(width)
    ]
    return draw(st.lists(st.tuples(*values), min_size=2, max_size=14, unique=True))


@given(tables())
def test_small_tables_agree_with_trying_everything(rows: Rows) -> None:
    """In any small table, exactly the minimal keys are found."""
    assert set(keys_of(rows).keys) == minimal_keys(rows)


@given(tables(nulls=True))
def test_nullable_columns_are_in_no_key(rows: Rows) -> None:
    """A column that is ever null is in no key, alone or with others."""
    assert set(keys_of(rows).keys) == minimal_keys(rows)


def grid(*sizes: int) -> str:
    """Return columns that count like an odometer, so that only all of them together are unique."""
    columns, below = [], 1
    for name, size in zip(NAMES, sizes, strict=False):
        columns.append(f"CAST((i // {below}) % {size} AS INTEGER) AS {name}")
        below *= size
    return f"SELECT {', '.join(columns)} FROM range({below}) t(i)"


@pytest.mark.parametrize(
    "sizes", [(60, 90), (18, 17, 19), (9, 8, 9, 11), (300, 250), (45, 40, 44), (17, 16, 18, 15)]
)
def test_wide_keys_of_large_tables_are_found(sizes: tuple[int, ...]) -> None:
    """A key of up to four columns is found although only some rows are sampled."""
    result = candidates(f"CREATE TABLE t AS {grid(*sizes)}")
    assert result.keys == [tuple(NAMES[: len(sizes)])]
    assert result.notes == []


@pytest.mark.parametrize("sizes", [(60, 90), (300, 250), (45, 40, 44)])
def test_one_repeat_in_a_large_table_disproves_a_key(sizes: tuple[int, ...]) -> None:
    """Two equal rows are found, however far apart and outside the sample."""
    script = f"CREATE TABLE t AS {grid(*sizes)}; INSERT INTO t SELECT * FROM t LIMIT 1 OFFSET 3333"
    assert candidates(script).keys == []


@pytest.mark.parametrize("columns", [5, 7])
def test_the_first_columns_are_a_key_however_many(columns: int) -> None:
    """Each of seven bits is needed to tell the rows apart; what follows them tells nothing."""
    bits = ", ".join(f"(i >> {bit}) & 1 AS bit_{bit}" for bit in range(columns))
    found = candidates(
        f"CREATE TABLE t AS SELECT 1 AS client, {bits}, i % 3 AS extra"
        f" FROM range({2**columns}) t(i)"
    )
    assert found.keys == [tuple(f"bit_{bit}" for bit in range(columns))]


@pytest.mark.parametrize("rows", [SAMPLE_ROWS + 3000, 70_000])
def test_a_repeat_leaves_the_wider_key(rows: int) -> None:
    """If a pair of columns repeats once, the third column that differs joins the key."""
    result = candidates(
        f"CREATE TABLE t AS SELECT i // 50 AS a, i % 50 AS b, 1 AS c FROM range({rows}) t(i);"
        " INSERT INTO t VALUES (7, 7, 2)"
    )
    assert result.keys == [("a", "b", "c")]


@pytest.mark.parametrize("rows", [SAMPLE_ROWS + 3000, 70_000])
def test_all_keys_of_a_large_table_are_found(rows: int) -> None:
    """Single and composite keys are found, fewest columns first, in table order."""
    result = candidates(
        "CREATE TABLE t AS SELECT i // 100 AS a, i % 100 AS b, i * 3 AS c,"
        f" (i // 100) * 2 AS d FROM range({rows}) t(i)"
    )
    assert result.keys == [("c",), ("a", "b"), ("b", "d")]


@settings(max_examples=6)
@given(st.lists(st.integers(3, 40), min_size=3, max_size=5), st.integers(0, 10_000))
def test_large_tables_agree_with_trying_everything(sizes: list[int], salt: int) -> None:
    """In a large table of random values, exactly the minimal keys are found."""
    rows = SAMPLE_ROWS + 1000
    columns = ", ".join(
        f"pick(i, {salt + n}, {size * 20}) AS {NAMES[n]}" for n, size in enumerate(sizes)
    )
    script = f"CREATE TABLE t AS SELECT {columns} FROM range({rows}) t(i)"
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE MACRO pick(i, salt, n) AS CAST(hash(i * 1000 + salt) % n AS INTEGER)"
        )
        values = connection.execute(script.removeprefix("CREATE TABLE t AS ")).fetchall()
    assert set(candidates(script).keys) == minimal_keys(values)


@pytest.mark.parametrize("rows", [100, SAMPLE_ROWS + 3000, 70_000])
def test_a_null_rules_out_a_key(rows: int) -> None:
    """One null anywhere excludes a column from every key."""
    result = candidates(
        f"CREATE TABLE t AS SELECT nullif(i, {rows // 2}) AS a, i AS b, nullif(i // 10, 3) AS c,"
        f" i % 10 AS d FROM range({rows}) t(i)"
    )
    assert result.keys == [("b",)]


def test_keys_of_every_kind_of_value_are_found() -> None:
    """Text, dates, times with a zone and UUIDs can be part of a key as numbers can."""
    result = candidates(
        "CREATE TABLE t AS SELECT 'shop ' || (i % 80) AS shop, DATE '2024-01-01'"
        " + CAST((i // 80) % 10 AS INTEGER) AS day, TIMESTAMPTZ '2024-01-01 00:00:00+00'"
        " + INTERVAL (i // 800) HOUR AS hour FROM range(9000) t(i)"
    )
    assert result.keys == [("shop", "day", "hour")]


def test_a_repeat_among_times_with_a_zone_is_seen() -> None:
    """The search learns from repeated rows that hold times with a zone."""
    result = candidates(
        "CREATE TABLE t AS SELECT i // 50 AS a, i % 50 AS b, TIMESTAMPTZ '2024-01-01 00:00:00+00'"
        " AS c FROM range(9000) t(i); INSERT INTO t VALUES (7, 7, '2025-01-01 00:00:00+00')"
    )
    assert result.keys == [("a", "b", "c")]


@pytest.mark.parametrize("rows", [0, 1])
def test_empty_tables_and_single_rows_prove_little(rows: int) -> None:
    """An empty table has no key; in a single row, each column is one."""
    result = candidates(f"CREATE TABLE t AS SELECT i AS a, 'x' AS b FROM range({rows}) t(i)")
    assert result.keys == ([] if rows == 0 else [("a",), ("b",)])


def test_duplicate_rows_leave_no_key() -> None:
    """If two rows are equal, nothing identifies them."""
    assert (
        candidates("CREATE TABLE t AS SELECT i % 9 AS a, i % 3 AS b FROM range(99) t(i)").keys == []
    )


def test_the_number_of_keys_is_limited_with_a_note() -> None:
    """Of more keys than anyone reads, the list is cut and a note says so."""
    columns = ", ".join(f"i + {n} AS c{n}" for n in range(MAX_KEYS + 20))
    result = candidates(f"CREATE TABLE t AS SELECT {columns} FROM range(50) t(i)")
    assert len(result.keys) == MAX_KEYS
    assert f"more than {MAX_KEYS} candidate keys" in result.notes[-1]


def test_the_columns_searched_are_limited_with_a_note() -> None:
    """In a very wide table, the likeliest columns are searched and a note says so."""
    filler = ", ".join(f"i // {200 + n} AS filler_{n}" for n in range(MAX_SEARCHED + 10))
    result = candidates(
        f"CREATE TABLE t AS SELECT i // 20 AS a, i % 20 AS b, {filler} FROM range(400) t(i)"
    )
    assert ("a", "b") in result.keys
    assert str(MAX_SEARCHED) in result.notes[0]


def test_searching_twice_finds_the_same() -> None:
    """Keys and their order don't change between runs."""
    script = (
        "CREATE TABLE t AS SELECT pick(i, 1, 90) AS a, pick(i, 2, 800) AS b, pick(i, 3, 700) AS c,"
        " pick(i, 4, 60) AS d, 'x' || pick(i, 5, 500) AS e FROM range(9000) t(i)"
    )
    assert candidates(script) == candidates(script)
