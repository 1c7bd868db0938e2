"""The figures of columns equal those of plain SQL, for every type."""

import math
import sqlite3
from functools import cache
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.profiling.measure.figures import ColumnStats, TableStats, kind_of
from fluid_build.profiling.measure.samples import SAMPLE_ROWS
from fluid_build.profiling.measure.schema import key_kind_of
from fluid_build.profiling.measure.tables import measure_table, value_text
from fluid_build.sources import open_source
from fluid_build.sources.base import Column, Table
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.conventions import Conventions
from tests.profiling.databases import database, measured, measured_column

SMALL = "range(1000) AS t(i)"
MEDIUM = f"range({SAMPLE_ROWS + 4000}) AS t(i)"
LARGE_ROWS = 70_000
LARGE = f"range({LARGE_ROWS}) AS t(i)"

TYPES = {
    "tinyint": "CAST(i % 100 AS TINYINT)",
    "bigint": "i * 3000000000",
    "ubigint": "CAST(i AS UBIGINT)",
    "hugeint": "CAST(i AS HUGEINT) * 170141183460469231731687303",
    "uhugeint": "CAST(i AS UHUGEINT)",
    "decimal": "CAST(i % 77 AS DECIMAL(12, 3)) / 8",
    "wide decimal": "CAST(i % 77 AS DECIMAL(38, 0))",
    "float": "CAST(i % 9 AS FLOAT) / 3",
    "double": "CAST(i % 50 AS DOUBLE) / 7",
    "boolean": "i % 3 = 0",
    "text": "'value ' || (i % 120)",
    "unicode": "'ÄÖ-日本-' || (i % 120)",
    "blob": "CAST('ab' || (i % 60) AS BLOB)",
    "bit": "CAST(CAST(i % 60 AS INTEGER) AS BIT)",
    "uuid": "CAST(md5(CAST(i % 300 AS VARCHAR)) AS UUID)",
    "date": "DATE '2020-01-01' + CAST(i % 400 AS INTEGER)",
    "time": "TIME '00:00:00' + INTERVAL (i % 600) SECOND",
    "timestamp": "TIMESTAMP '2020-01-01 00:00:00' + INTERVAL (i) MINUTE",
    "timestamptz": "TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i) HOUR",
    "interval": "INTERVAL (i % 30) DAY",
    "enum": "CAST(CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END AS ENUM('even', 'odd'))",
    "list": "[i % 20, 1]",
    "array": "array_value(i % 20, 1)",
    "struct": "{'a': i % 20, 'b': 'x'}",
    "map": "MAP {'k': i % 20}",
    "union": "union_value(n := i % 20)",
    "json": "CAST('{\"a\": ' || (i % 20) || '}' AS JSON)",
    "all null": "CAST(NULL AS INTEGER)",
    "null text": "CAST(NULL AS VARCHAR)",
}


SOME_NULL = "list_extract([{0}], CAST(if(i % 5 = 0, 2, 1) AS INTEGER))"


@cache
def every_type(rows: str, form: str = "{0}") -> TableStats:
    """Return the figures of a table of that many rows with a column of each type."""
    columns = ", ".join(f"{form.format(value)} AS {quote(name)}" for name, value in TYPES.items())
    with database(f"CREATE TABLE t AS SELECT {columns} FROM {rows}") as source:
        return measured(source, "t")


@cache
def counted(rows: str) -> dict[str, tuple[object, ...]]:
    """Return rows, nulls and distinct values of each type's column by the plainest SQL."""
    asked = ", ".join(
        f"count(*), count(*) - count({value}), count(DISTINCT {value})"
        for value in map(SOME_NULL.format, TYPES.values())
    )
    with duckdb.connect() as connection:
        row = connection.execute(f"SELECT {asked} FROM {rows}").fetchone()
    assert row is not None
    return {name: row[3 * at : 3 * at + 3] for at, name in enumerate(TYPES)}


def plain(*expressions: str) -> tuple[object, ...]:
    """Return the same over a small table."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        row = connection.execute(f"SELECT {', '.join(expressions)} FROM {SMALL}").fetchone()
    assert row is not None
    return tuple(row)


@pytest.mark.parametrize("type_", TYPES)
def test_a_small_table_is_counted_exactly(type_: str) -> None:
    """Rows, nulls and distinct values of every type equal those of plain SQL."""
    stats = every_type(SMALL, SOME_NULL).column(type_)
    figures = (stats.rows, stats.nulls, stats.distinct)
    assert figures == counted(SMALL)[type_]
    assert stats.distinct_exact


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("size", [MEDIUM, LARGE], ids=["medium", "large"])
def test_a_larger_table_is_exact_unless_marked(type_: str, size: str) -> None:
    """Rows and nulls are always exact; distinct is exact or marked as an estimate close to it."""
    stats = every_type(size, SOME_NULL).column(type_)
    rows, nulls, distinct = counted(size)[type_]
    assert (stats.rows, stats.nulls) == (rows, nulls)
    if stats.distinct_exact:
        assert stats.distinct == distinct
    else:
        assert stats.distinct == pytest.approx(distinct, rel=0.3)


@pytest.mark.parametrize("type_", ["bigint", "text", "blob", "bit", "list", "json", "null text"])
def test_a_column_is_measured_alone_as_among_others(type_: str) -> None:
    """A table of a single column, of whatever type, is measured like one of many."""
    alone = measured_column(SOME_NULL.format(TYPES[type_]), SMALL).columns[0]
    among = every_type(SMALL, SOME_NULL).column(type_)
    assert (alone.nulls, alone.distinct, alone.values) == (
        among.nulls,
        among.distinct,
        among.values,
    )


@pytest.mark.parametrize("type_", TYPES)
def test_bounds_are_the_least_and_the_greatest(type_: str) -> None:
    """Columns with an order are bounded by their least and greatest value."""
    stats = every_type(SMALL).column(type_)
    if stats.kind in {"nested", "binary"} or not stats.present:
        assert (stats.low, stats.high) == (None, None)
    else:
        form = "CAST({}({}) AS VARCHAR)" if stats.kind == "temporal" else "{}({})"
        bounds = plain(*(form.format(bound, TYPES[type_]) for bound in ("min", "max")))
        assert (stats.low, stats.high) == bounds


@pytest.mark.parametrize("special", ["nan", "inf", "-inf"])
def test_special_floats_are_measured(special: str) -> None:
    """NaN and the infinities are values like others, and never whole numbers."""
    stats = measured_column(f"CASE WHEN i = 3 THEN '{special}'::DOUBLE ELSE i END").columns[0]
    assert (stats.nulls, stats.distinct) == (0, 1000)
    assert not (special == "nan" and stats.bounds)


def test_a_column_of_special_floats_is_measured() -> None:
    """A column of nothing but NaN and infinity has no bounds as whole numbers."""
    stats = measured_column("CASE WHEN i % 2 = 0 THEN 'nan'::DOUBLE ELSE 'inf'::DOUBLE END")
    assert (stats.columns[0].distinct, stats.columns[0].bounds) == (2, None)


def test_whole_floats_are_integral() -> None:
    """A float column with whole numbers only may be a nullable integer."""
    stats = measured_column("CASE WHEN i % 9 = 0 THEN NULL ELSE CAST(i AS DOUBLE) END").columns[0]
    assert stats.is_integral
    assert stats.bounds == (1, 998)


def test_whole_floats_beyond_a_bigint_are_no_integer_keys() -> None:
    """Compared as BIGINT they would be null, and a reference would be measured without them."""
    within, beyond = (
        measured_column(f"CASE WHEN i = 7 THEN {high} ELSE i::DOUBLE END").columns[0]
        for high in ("2e15", "1e30")
    )
    assert (key_kind_of(within), key_kind_of(beyond)) == ("integer", "")


def test_fractions_are_not_integral() -> None:
    """One fraction among whole floats makes the column a measure."""
    assert not measured_column("CASE WHEN i = 7 THEN 0.5 ELSE i::DOUBLE END").columns[0].is_integral


def test_an_empty_table_has_no_figures() -> None:
    """Without rows, only the columns are known."""
    stats = measured_column("CAST(i AS INTEGER)", "range(0) AS t(i)")
    column = stats.columns[0]
    assert (stats.rows, column.nulls, column.distinct, column.low) == (0, 0, 0, None)
    assert not column.is_unique
    assert not column.is_key


def test_a_column_of_nulls_has_nulls_only() -> None:
    """A column without values is neither unique nor typed."""
    column = measured_column("CAST(NULL AS VARCHAR)").columns[0]
    assert (column.nulls, column.distinct, column.values) == (1000, 0, [])
    assert (column.measured_type, column.min_length) == (None, None)
    assert not column.is_unique


def test_a_column_with_one_null_is_unique_but_not_a_key() -> None:
    """Uniqueness ignores nulls; a key has none."""
    column = measured_column("nullif(i, 0)").columns[0]
    assert (column.is_unique, column.is_key) == (True, False)


def test_two_thousand_columns_are_measured() -> None:
    """A very wide table is measured completely."""
    columns = ", ".join(f"i + {n} AS column_{n}" for n in range(2000))
    with database(f"CREATE TABLE wide AS SELECT {columns} FROM range(20) t(i)") as source:
        stats = measured(source, "wide")
    assert [c.low for c in stats.columns] == list(range(2000))
    assert all(c.is_key for c in stats.columns)


@pytest.mark.parametrize(
    "name", ['a "b" c', "select", "日本", "it's", "a.b", "  ", "%s {} $1 ?", "x\ny", "rowid"]
)
def test_any_name_is_measured(name: str) -> None:
    """Quotes, reserved words, other scripts and markers in names do no harm."""
    script = f"CREATE TABLE {quote(name)} AS SELECT i AS {quote(name)} FROM range(5000) t(i)"
    with database(script) as source:
        stats = measured(source, name)
    assert (stats.columns[0].name, stats.columns[0].distinct) == (name, 5000)


def test_names_that_differ_in_case_alone_are_distinguished() -> None:
    """A column is read by its alias and reported by its own name."""
    columns = (Column("id", "BIGINT"), Column("ID", "BIGINT", alias="ID_2"))
    with duckdb.connect() as connection:
        connection.execute('CREATE TABLE t AS SELECT i AS id, i % 3 AS "ID_2" FROM range(9) t(i)')
        stats = measure_table(connection, Table("t", columns, '"t"'))
    assert {column.name: column.distinct for column in stats.columns} == {"id": 9, "ID": 3}


def text_of(*values: str | None) -> ColumnStats:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (c VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        return measure_table(connection, Table("t", (Column("c", "VARCHAR"),), "t")).columns[0]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (("1", "22", "-3", None), "BIGINT"),
        ((" 1 ", "22"), "BIGINT"),
        (("1.5", "2", "-3.5e4"), "DOUBLE"),
        (("1.5", "2", "-3e4"), None),
        (("1.10", "1.2"), None),
        (("1.10", "1.25"), "DOUBLE"),
        (("2024-01-31", "1999-12-01"), "DATE"),
        (("31/01/2024", "01/12/1999"), "DATE (%d/%m/%Y)"),
        (("01/31/2024", "12/01/1999"), "DATE (%m/%d/%Y)"),
        (("31.01.2024", "1.12.1999"), "DATE (%d.%m.%Y)"),
        (("31-Jan-2024", "01-Dec-1999"), "DATE (%d-%b-%Y)"),
        (("2024/01/31", "1999/12/01"), "DATE (%Y/%m/%d)"),
        (("2024-01-31 10:00:00", "2024-01-31T23:59"), "TIMESTAMP"),
        (("true", "FALSE"), "BOOLEAN"),
        (("true", None, "false", None), "BOOLEAN"),
        (("true", None), None),
        (("true", "TRUE"), None),
        (("true", "FALSE", "t"), None),
        (("t", "f"), "BOOLEAN"),
        (("T", "F"), None),
        (("3f2504e0-4f89-11d3-9a0c-0305e82c3301",), "UUID"),
        (("007", "012"), None),
        (("007", "12", "5"), None),
        (("12", "5", "007"), None),
        (("0.5", "01.5"), None),
        (("0", "10", "-5"), "BIGINT"),
        (("1", "two"), None),
        (("2024-02-31", "2024-02-30"), None),
        (("apple", "pear"), None),
        (("", "1"), None),
    ],
)
def test_the_type_that_text_really_has(values: tuple[str | None, ...], type_: str | None) -> None:
    """Text has a measured type if its every value is a number, date, boolean or UUID."""
    assert text_of(*values).measured_type == type_


@pytest.mark.parametrize(
    ("values", "type_", "reversible"),
    [
        (("2024-01-31", "1999-12-01", None), "DATE", True),
        (("2024-1-31", "1999-12-01"), "DATE", False),
        ((" 2024-01-31", "1999-12-01"), "DATE", False),
        (("31.01.2024", "01.12.1999"), "DATE (%d.%m.%Y)", True),
        (("31.01.2024", "1.12.1999"), "DATE (%d.%m.%Y)", False),
        (("31/01/2024", "01/12/1999"), "DATE (%d/%m/%Y)", True),
        (("2024-01-31 10:00:00", "2024-01-31 23:59:00"), "TIMESTAMP", True),
        (("2024-01-31 10:00:00", "2024-01-31T23:59"), "TIMESTAMP", False),
        (("1", "22", "-3"), "BIGINT", True),
        (("1", "+22"), None, False),
        (("1 ", "22"), "BIGINT", False),
        (("1.5", "2.25", "-0.125"), "DOUBLE", True),
        (("1.50", "2.25"), "DOUBLE", False),
        (("1.5", "2"), "DOUBLE", False),
        (("1.5", "2.0"), "DOUBLE", True),
        (("true", "false"), "BOOLEAN", True),
        (("true", "FALSE"), "BOOLEAN", False),
        (("yes", "no"), "BOOLEAN", False),
        (("3f2504e0-4f89-11d3-9a0c-0305e82c3301",), "UUID", True),
        (("3F2504E0-4F89-11D3-9A0C-0305E82C3301",), "UUID", False),
        (("apple", "1"), None, False),
    ],
)
def test_text_is_reversible_if_each_value_is_spelled_as_its_type_is(
    values: tuple[str | None, ...], type_: str | None, reversible: bool
) -> None:
    """Read as its type and written again, reversible text has the same spelling, value by value."""
    column = text_of(*values)
    assert (column.measured_type, column.reversible) == (type_, reversible)


def test_one_odd_spelling_far_down_makes_text_irreversible() -> None:
    """The spelling of every value of a large table is compared, not a sample."""
    odd = "CASE WHEN i = 64321 THEN ' 64321' ELSE CAST(i AS VARCHAR) END"
    column = measured_column(odd, LARGE).columns[0]
    assert (column.measured_type, column.reversible) == ("BIGINT", False)
    assert measured_column("CAST(i AS VARCHAR)", LARGE).columns[0].reversible


@pytest.mark.parametrize("code", ["064321", "6e4", "+64321", "1.10"])
def test_one_code_far_down_keeps_text(code: str) -> None:
    """What is only written like a code is looked for in all values, not in a sample."""
    numbers = "i + 0.5" if "." in code else "i"
    odd = f"CASE WHEN i = 64321 THEN '{code}' ELSE CAST({numbers} AS VARCHAR) END"
    assert measured_column(odd, LARGE).columns[0].measured_type is None


@given(st.lists(st.one_of(st.integers(-99, 99), st.floats(-9, 9)), min_size=1, max_size=9))
def test_reversible_text_survives_plain_casts(numbers: list[float]) -> None:
    """Reversible text, cast to its type and back, is the same text."""
    column = text_of(*map(str, numbers))
    if column.reversible:
        there = f"CAST(value AS {column.measured_type})"
        values = ", ".join(f"('{number}')" for number in numbers)
        rows = duckdb.sql(f"SELECT value, CAST({there} AS VARCHAR) FROM (VALUES {values}) t(value)")
        assert all(value == again for value, again in rows.fetchall())


def test_one_value_far_down_disproves_a_type() -> None:
    """Every value of a large table is checked, not a sample."""
    odd = "CASE WHEN i = 64321 THEN 'n/a' ELSE CAST(i AS VARCHAR) END"
    assert measured_column(odd, LARGE).columns[0].measured_type is None
    whole = measured_column("CAST(i AS VARCHAR)", LARGE).columns[0]
    assert whole.measured_type == "BIGINT"


def test_text_of_numbers_is_bounded_as_numbers() -> None:
    """The bounds of numbers in text are numbers: text sorts 9 after 10."""
    assert text_of("9", "10", "100").bounds == (9, 100)


def test_near_unique_columns_are_counted_exactly_in_large_tables() -> None:
    """One repeated value in a large table is found, so that no false key is."""
    almost = measured_column("greatest(i, 1)", LARGE).columns[0]
    assert almost.distinct_exact
    assert almost.distinct == LARGE_ROWS - 1
    assert not almost.is_unique
    assert measured_column("i * 7", LARGE).columns[0].is_key


def test_near_unique_text_is_counted_exactly_in_large_tables() -> None:
    """The same for text."""
    almost = measured_column("'k' || greatest(i, 1)", LARGE).columns[0]
    assert (almost.distinct, almost.distinct_exact) == (LARGE_ROWS - 1, True)


def test_few_values_are_counted_over_the_whole_of_a_large_table() -> None:
    """A column with few values has all of them, with exact counts."""
    column = measured_column("CASE WHEN i = 33333 THEN 'rare' ELSE 'usual' END", LARGE).columns[0]
    assert column.values == [("usual", LARGE_ROWS - 1), ("rare", 1)]
    assert column.sample_rows == LARGE_ROWS


def test_the_most_frequent_values_come_first() -> None:
    """Values are listed by frequency, then by their text."""
    column = measured_column("['a', 'b', 'b', 'c'][1 + i % 4]", "range(8) t(i)").columns[0]
    assert column.values == [("b", 4), ("a", 2), ("c", 2)]


@pytest.mark.parametrize("rows", [SMALL, MEDIUM, LARGE], ids=["small", "medium", "large"])
def test_lengths_are_characters(rows: str) -> None:
    """Text is as long as it has characters, without nulls, at any size of the table."""
    column = measured_column("CASE i % 3 WHEN 0 THEN 'é' WHEN 1 THEN '日本語' END", rows).columns[0]
    assert (column.min_length, column.max_length) == (1, 3)
    assert column.avg_length == pytest.approx(2, abs=0.01)


def figures(stats: TableStats) -> list[tuple[object, ...]]:
    return [
        (c.name, c.nulls, c.distinct, c.distinct_exact, str(c.low), str(c.high), c.values, c.codes)
        for c in stats.columns
    ]


def test_measuring_twice_gives_the_same() -> None:
    """Figures, samples and estimates don't change between runs."""
    first = figures(every_type(LARGE))
    every_type.cache_clear()
    assert figures(every_type(LARGE)) == first


VALUE = st.one_of(st.none(), st.integers(-3, 3))
TEXT = st.one_of(st.none(), st.text("ab ", max_size=2))


@given(st.lists(st.tuples(VALUE, TEXT), max_size=12))
def test_small_tables_agree_with_counting_by_hand(
    rows: list[tuple[int | None, str | None]],
) -> None:
    """Nulls, distinct values and bounds of any small table equal Python's."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (n INTEGER, s VARCHAR)")
        if rows:
            connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        columns = (Column("n", "INTEGER"), Column("s", "VARCHAR"))
        stats = measure_table(connection, Table("t", columns, "t"))
    for index, column in enumerate(stats.columns):
        present = [row[index] for row in rows if row[index] is not None]
        assert column.nulls == len(rows) - len(present)
        assert column.distinct == len(set(present))
        assert (column.low, column.high) == (min(present, default=None), max(present, default=None))
        assert dict(column.values) == {str(v): present.count(v) for v in present}


@pytest.mark.parametrize("odd", ["chr(31)", "'a' || chr(31) || 'b'", "''", "chr(0)", "NULL"])
def test_any_character_may_be_in_a_small_table(odd: str) -> None:
    """Values are read together, and come apart again whatever is in them."""
    with database(
        f"CREATE TABLE t AS SELECT CASE WHEN i = 3 THEN {odd} WHEN i % 4 > 0 THEN 'v' || i % 2 END"
        " AS c, i AS d FROM range(20) r(i)"
    ) as source:
        stats = measured(source, "t").column("c")
        rows = source.connection.execute(
            "SELECT c, count(*) FROM t WHERE c IS NOT NULL GROUP BY c"
        ).fetchall()
    assert sorted(stats.values) == sorted(rows)
    assert (stats.nulls, stats.distinct) == (20 - sum(count for _, count in rows), len(rows))


def test_values_that_contradict_the_declared_type_are_measured(tmp_path: Path) -> None:
    """SQLite allows text in an integer column; the values that are there are counted."""
    path = tmp_path / "loose.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (n INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?)", [(1,), ("one",), (None,), (2,)])
    connection.close()
    with open_source(str(path)) as source:
        column = measure_table(source.connection, source.tables[0]).columns[0]
    assert (column.rows, column.nulls, column.distinct) == (4, 1, 3)


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        *[("INTEGER", "integer"), ("UHUGEINT", "integer"), ("DECIMAL(9,0)", "integer")],
        *[("DECIMAL(9,2)", "decimal"), ("DOUBLE", "float"), ("VARCHAR", "text")],
        *[("ENUM('a')", "text"), ("BLOB", "binary"), ("BIT", "binary"), ("INTEGER[]", "nested")],
        *[("VARCHAR[3]", "nested"), ("STRUCT(a INTEGER)", "nested"), ("JSON", "nested")],
        *[("TIMESTAMP WITH TIME ZONE", "temporal"), ("TIME", "temporal"), ("UUID", "uuid")],
        *[("INTERVAL", "nested"), ("BOOLEAN", "boolean"), ("MAP(VARCHAR, INTEGER)", "nested")],
    ],
)
def test_every_type_has_a_kind(type_: str, kind: str) -> None:
    """DuckDB's types fall into the kinds that keys depend on."""
    assert kind_of(type_) == kind


def test_long_bounds_are_clipped() -> None:
    """A bound is cut to a readable length and marked as cut."""
    assert value_text("x" * 5000) == "x" * 199 + "…"
    assert value_text(None) is None
    assert value_text(math.inf) == "inf"


def sampled(script: str) -> ColumnStats:
    """Return the figures of the first column of table ``t`` that a script makes."""
    with database(script) as source:
        return measured(source, "t").columns[0]


def test_a_sample_is_spread_over_the_table() -> None:
    """The slices begin at the first row, end at the last and are spread evenly between."""
    stats = sampled(f"CREATE TABLE t AS SELECT i AS c FROM {LARGE}")
    assert stats.sample_rows == 2048
    shown = sorted(int(value) for value, _ in stats.values)
    assert shown[0] == 0
    assert shown[-1] > LARGE_ROWS - 512
    assert max(b - a for a, b in pairwise(shown)) < LARGE_ROWS / 3


@pytest.mark.parametrize(
    "script",
    [
        f"CREATE VIEW t AS SELECT i AS c FROM {LARGE}",
        f"CREATE TABLE t AS SELECT i AS rowid FROM {LARGE}",
        f"CREATE TABLE t AS SELECT i - 90000 AS c FROM range({LARGE_ROWS + 90000}) AS t(i);"
        "DELETE FROM t WHERE c < 0",
    ],
    ids=["view", "column rowid", "deleted rows"],
)
def test_a_sample_is_the_same_without_row_numbers(script: str) -> None:
    """A view, a table with a column rowid and one with deleted rows are sampled all the same."""
    plain = sampled(f"CREATE TABLE t AS SELECT i AS c FROM {LARGE}")
    stats = sampled(script)
    assert (stats.values, stats.sample_rows) == (plain.values, plain.sample_rows)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (("01/02/2024", "03/04/2024"), "--date-order"),
        (("01-02-2024", "03-04-2024"), "--date-order"),
        (("654.159", "12.500"), "--decimal"),
        (("654.159", "12"), "--decimal"),
    ],
)
def test_text_that_fits_two_types_has_none_and_asks(texts: tuple[str, ...], note: str) -> None:
    """A day that may be a month, and a point that may separate thousands, settle nothing."""
    stats = text_of(*texts)
    assert stats.measured_type is None
    assert note in " ".join(stats.notes)


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("01-02-2024", "13-02-2024", "DATE (%d-%m-%Y)"),
        ("01-02-2024", "02-13-2024", "DATE (%m-%d-%Y)"),
        ("654.159", "1.5", "DOUBLE"),
    ],
)
def test_text_that_fits_two_types_follows_the_tables_other_columns(
    own: str, other: str, expected: str
) -> None:
    """One program wrote the table, so a column that settles the format settles it for all."""
    script = (
        "CREATE TABLE t (v VARCHAR, w VARCHAR);"
        f"INSERT INTO t VALUES ('{own}', '{other}'), ('{own}', '{other}')"
    )
    with database(script) as source:
        assert measured(source, "t").column("v").measured_type == expected


def test_the_users_answer_gives_text_its_type() -> None:
    """The question in the note can be answered."""
    script = "CREATE TABLE t AS SELECT '01/02/2024' AS d, '654.159' AS n FROM range(3)"
    with database(script) as source:
        answers = Conventions(decimal=".", date_order="mdy")
        stats = measure_table(source.connection, source.tables[0], answers)
    assert [one.measured_type for one in stats.columns] == ["DATE (%m/%d/%Y)", "DOUBLE"]


@pytest.mark.parametrize("declared", ["bit(8)", "BIT VARYING(8)", "varbit"])
def test_a_bit_string_is_not_a_number(declared: str) -> None:
    """Ones and zeros declared as bits stay text, though they look like whole numbers."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (c VARCHAR)")
        connection.execute("INSERT INTO t VALUES ('10101010'), ('11110000'), ('10000001')")
        column = Column("c", "VARCHAR", declared_type=declared)
        assert (
            measure_table(connection, Table("t", (column,), "t")).columns[0].measured_type is None
        )
