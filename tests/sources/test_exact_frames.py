"""Values of frames: each is read as it is, or a note on its column says what it became."""

import datetime
import decimal
import enum
import math
import uuid
from collections import Counter
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.base import Column
from fluid_build.sources.uri import in_memory

BERLIN = datetime.timezone(datetime.timedelta(hours=2))


def staged(table: object) -> tuple[Column, list[Any]]:
    with open_source(in_memory({"t": table}), nested="keep") as source:
        ((column,),) = (table.columns for table in source.tables)
        rows = source.connection.execute(f"FROM {source.tables[0].relation}").fetchall()
    return column, [row[0] for row in rows]


def staged_objects(*values: object) -> tuple[Column, list[Any]]:
    """Stage Python objects as a column of pandas, which has no type of its own for them."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return staged(pd.DataFrame({"c": column}))


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ({"a": 2**60 + 1}, "STRUCT(a BIGINT)"),
        ([2**63, 1], "UBIGINT[]"),
        ([2**100, -1], "HUGEINT[]"),
        ([2**127], "UHUGEINT[]"),
        ([math.inf, -math.inf, 0.1, 1], "DOUBLE[]"),
        ({"a": b"\xff\\x41'"}, "STRUCT(a BLOB)"),
        ([decimal.Decimal("1.20"), decimal.Decimal("12345678901234567890.5")], "DECIMAL(22,2)[]"),
        ({"a": [datetime.date(1, 1, 1)], "b": datetime.time(1, 2, 3, 4)},
         "STRUCT(a DATE[], b TIME)"),
        ([datetime.time(1, 2, tzinfo=BERLIN)], "TIME WITH TIME ZONE[]"),
        ([datetime.datetime(2024, 1, 1, 0, 0, 0, 1)], "TIMESTAMP[]"),
        ([datetime.datetime(2024, 1, 1, tzinfo=BERLIN)], "TIMESTAMP WITH TIME ZONE[]"),
        ([datetime.timedelta(days=-400, microseconds=1)], "INTERVAL[]"),
        ([uuid.UUID(int=7)], "UUID[]"),
        ([True, None], "BOOLEAN[]"),
        ({"a": "", "b": "null", "c": "a\x00\"'\\"}, "STRUCT(a VARCHAR, b VARCHAR, c VARCHAR)"),
        ([[None], []], "INTEGER[][]"),
        ({"a": np.array([1, 2], dtype="uint8")}, "STRUCT(a BIGINT[])"),
    ],
)  # fmt: skip
def test_nested_objects_keep_their_types_and_values(value: object, type_: str) -> None:
    column, (found, nothing) = staged_objects(value, None)
    assert (column.type, column.notes, nothing) == (type_, (), None)
    expected = {"a": [1, 2]} if "uint8" in repr(value) else value
    assert found == expected


def test_missing_values_of_pandas_are_null_in_nested_objects() -> None:
    column, values = staged_objects([pd.NaT, pd.Timestamp("2024-01-01")], [pd.NA, None])
    assert (column.type, column.notes) == ("TIMESTAMP[]", ())
    assert values == [[None, datetime.datetime(2024, 1, 1)], [None, None]]


@pytest.mark.parametrize(
    ("value", "text", "note"),
    [
        ({"x": 1, "X": 2}, '{"x": 1, "X": 2}', ""),
        ([1, "1"], '[1, "1"]', ""),
        ([2**70, 0.5], "[1180591620717411303424, 0.5]", ""),
        ([{}], "[{}]", ""),
        (["a", b"a"], '["a", "\\\\x61"]', "Its bytes values are text in its JSON."),
        ([math.inf, "a"], '["inf", "a"]', "Its float values are text in its JSON."),
        ([1, {2}], "[1, [2]]", "Its sets are read as lists."),
        ([1, {1: 2}], '[1, {"1": 2}]', "The keys of its dicts are read as text."),
    ],
)
def test_what_has_no_type_in_common_is_json_with_a_note_on_what_json_has_not(
    value: object, text: str, note: str
) -> None:
    column, values = staged_objects(value)
    assert (column.type, values) == ("JSON", [text])
    assert column.notes == ((note,) if note else ())


@pytest.mark.parametrize(
    ("values", "found", "note"),
    [
        ([{1: "a"}], [{"1": "a"}], "The keys of its dicts are read as text."),
        ([{3, 1}], [[1, 3]], "Its sets are read as lists."),
        ([[Fraction(1, 3)]], [["1/3"]],
         "Some of its numbers have more digits than a DOUBLE; read as text."),
        ([[complex(1, 2)]], [["(1+2j)"]], "Its complex values are read as text."),
        ([[np.timedelta64(1, "D")]], [["1 days"]], "Its timedelta64 values are read as text."),
        ([2**200], [str(2**200)],
         "Some of its whole numbers have more digits than a number has in SQL; read as text."),
        ([datetime.time(1), datetime.time(1, tzinfo=BERLIN)], ["01:00:00", "01:00:00+02:00"],
         "Some of its times have a time zone and some haven't; read as text."),
    ],
)  # fmt: skip
def test_objects_without_an_exact_type_are_text_with_a_note(
    values: list[object], found: list[object], note: str
) -> None:
    column, staged_values = staged_objects(*values)
    assert (staged_values, column.notes) == (found, (note,))


def test_subclasses_of_plain_types_are_their_values() -> None:
    word = enum.StrEnum("word", ["A"])
    number = enum.IntEnum("number", ["ONE"])
    assert staged_objects(word.A)[1] == ["a"]
    assert staged_objects(number.ONE)[1] == [1]
    assert staged_objects(Counter("a"))[1] == [{"a": 1}]


def endless() -> list[object]:
    items: list[object] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({1: "a", "1": "b"}, "a dict with two keys that are the same as text"),
        (["\ud800"], "text that isn't valid Unicode"),
        ({"\ud800": 1}, "text that isn't valid Unicode"),
        (endless(), "nested more than 100 levels deep"),
        (["a", endless()], "nested more than 100 levels deep"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_column(value: object, reason: str) -> None:
    with pytest.raises(SourceUnreadableError, match=f"Its column c has .*{reason}"):
        staged_objects(value)


def test_a_value_at_the_end_of_many_nulls_is_kept() -> None:
    assert staged_objects(*[None] * 20_000, [1])[1][-1] == [1]


def test_objects_of_polars_are_their_values() -> None:
    import polars as pl

    def objects(*values: object) -> tuple[Column, list[Any]]:
        return staged(pl.DataFrame({"c": pl.Series(values, dtype=pl.Object)}))

    assert objects({"a": [2**60]}, None)[1] == [{"a": [2**60]}, None]
    column, values = objects(1, "x")
    assert (values, column.notes) == (
        ["1", "x"], ("It holds text and whole number values; read as text.",),
    )  # fmt: skip


def test_numbers_of_polars_that_arrow_has_no_type_for_are_kept() -> None:
    import polars as pl

    numbers = {"i": [2**100, -5], "u": [2**127, 0], "f": [1.5, None]}
    frame = pl.DataFrame(numbers, schema={"i": pl.Int128, "u": pl.UInt128, "f": pl.Float16})
    assert staged(frame.select("i"))[1] == [2**100, -5]
    assert staged(frame.select("f"))[1] == [1.5, None]
    column, values = staged(frame.select("u"))
    assert (values, column.type) == ([str(2**127), "0"], "VARCHAR")
    assert "read as text" in column.notes[0]


def viewed(numbers: list[int], type_: pa.DataType) -> pa.Table:
    storage = pa.int32() if "32" in str(type_) else pa.int64()
    return pa.table({"c": pa.array(numbers, storage).view(type_)})


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("days", [-1, 1])
def test_times_of_arrow_that_no_day_has_are_refused(unit: str, days: int) -> None:
    type_ = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    units = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    table = viewed([0, days * 86_400 * units + (days > 0)], type_)
    with pytest.raises(
        SourceUnreadableError, match=r"Its column c has values that .*time.* hasn't"
    ):
        staged(table)
    listed = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), table["c"].chunk(0))
    with pytest.raises(
        SourceUnreadableError, match=r"Its column c has values that .*time.* hasn't"
    ):
        staged(pa.table({"c": listed}))


def test_days_of_arrow_in_milliseconds_are_days_or_refused() -> None:
    assert staged(viewed([-86_400_000, 0], pa.date64()))[1][0] == datetime.date(1969, 12, 31)
    with pytest.raises(SourceUnreadableError, match="Its column c has values that date64"):
        staged(viewed([-1], pa.date64()))


def test_wide_decimals_of_arrow_are_numbers_where_they_fit() -> None:
    small = pa.table({"c": pa.array([decimal.Decimal("1.50")], pa.decimal256(60, 2))})
    assert staged(small)[1] == [decimal.Decimal("1.50")]
    column, values = staged(
        pa.table({"c": pa.array([[decimal.Decimal(10) ** 50]], pa.list_(pa.decimal256(60, 0)))})
    )
    assert values == [["1" + "0" * 50]]
    assert "read as text" in column.notes[0]
    thousands = pa.table({"c": pa.array([decimal.Decimal(1200)], pa.decimal128(5, -2))})
    assert staged(thousands)[1] == [1200]


def test_columns_of_pandas_in_types_of_arrow_are_read_as_arrow_has_them() -> None:
    moment = pa.array([1, None], pa.int64()).cast(pa.time64("ns"))
    frame = pd.DataFrame({"c": pd.Series(moment, dtype=pd.ArrowDtype(pa.time64("ns")))})
    with open_source(in_memory({"t": frame}), nested="keep") as source:
        query = f"SELECT CAST(c AS VARCHAR) FROM {source.tables[0].relation}"
        assert source.connection.execute(query).fetchall() == [("00:00:00.000000001",), (None,)]


def test_columns_of_both_kinds_of_pandas_stay_side_by_side() -> None:
    many = range(300_000)
    frame = pd.DataFrame({"a": pd.Series(many, dtype="int32[pyarrow]"), "b": list(many)})
    frame["A"] = frame["a"]
    with open_source(in_memory({"t": frame})) as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == ["a", "b", "A"]
        query = f"SELECT count(*), count(*) FILTER (a = b AND A_3 = b) FROM {table.relation}"
        query = query.replace("A_3", f'"{table.columns[2].alias}"')
        assert source.connection.execute(query).fetchall() == [(300_000, 300_000)]


RELATIONS = (
    "INTERVAL '3000000 hours'",
    "INTERVAL '-1 months 3 days -2600000 hours'",
    "['10:00:00.000001+02:30:15'::TIMETZ]",
    "MAP {'101'::BIT: {'t': ['24:00:00-15:59:59'::TIMETZ, NULL]}}",
    "[['101'::BIT], NULL]::BIT[][2]",
    "[340282366920938463463374607431768211455::UHUGEINT]",
    "['170141183460469231731687303715884105727'::HUGEINT, NULL]",
    "['-123456789012345678901234567890123456789012345'::BIGNUM]",
    "['00000000-0000-0000-0000-000000000007'::UUID]",
    "['{\"a\": 1}'::JSON]",
    "{'x y': 1, 'a\"b': '1'::BIT}",
    "['10:00:00.123456789'::TIME_NS]",
    "'infinity'::TIMESTAMP",
    "'-0.0'::DOUBLE",
)


@pytest.mark.parametrize("expression", RELATIONS)
def test_values_of_relations_keep_type_and_value_at_any_depth(expression: str) -> None:
    with duckdb.connect() as theirs:
        relation = theirs.sql(f"SELECT {expression} AS c")
        (expected,) = theirs.execute(f"SELECT CAST({expression} AS VARCHAR)").fetchall()
        with open_source(in_memory({"t": relation}), nested="keep") as source:
            (column,) = source.tables[0].columns
            query = f"SELECT CAST(c AS VARCHAR) FROM {source.tables[0].relation}"
            assert source.connection.execute(query).fetchall() == [expected]
        assert (column.type, column.notes) == (str(relation.types[0]), ())


@pytest.mark.parametrize(
    ("expression", "type_", "value", "note"),
    [
        ("['x', NULL]::ENUM('x', 'y')[]", "VARCHAR[]", ["x", None], ""),
        ("union_value(a := 1)::UNION(a INT, b TEXT)", "JSON", '{"a":1}', "a UNION"),
        ("[union_value(b := 'x')::UNION(a INT, b TEXT)]", "JSON", '[{"b":"x"}]', "a UNION"),
        ("{'a': [1]}::VARIANT", "JSON", '{"a":[1]}', "a VARIANT"),
    ],
)
def test_types_of_relations_that_tables_cannot_have_are_others_with_a_note(
    expression: str, type_: str, value: object, note: str
) -> None:
    with duckdb.connect() as theirs:
        column, values = staged(theirs.sql(f"SELECT {expression} AS c"))
    assert (column.type, values) == (type_, [value])
    assert column.notes == ((f"It holds {note}; read as JSON.",) if note else ())


def test_a_relation_of_random_values_runs_once() -> None:
    with duckdb.connect() as theirs:
        relation = theirs.sql("SELECT random() AS c, uuid() AS d FROM range(5000)")
        with open_source(in_memory({"t": relation})) as source:
            query = f"SELECT count(DISTINCT c), count(DISTINCT d) FROM {source.tables[0].relation}"
            assert source.connection.execute(query).fetchall() == [(5000, 5000)]


def test_fields_of_arrow_that_differ_in_case_only_are_told_apart() -> None:
    column, values = staged(pa.table({"c": pa.array([{"x": 1, "X": 2}])}))
    assert (column.type, values) == ("JSON", ['{"x":1,"X":2}'])
    assert "differ in case only" in column.notes[0]
    twins = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(SourceUnreadableError, match="Its column c has fields of the same name"):
        staged(pa.table({"c": twins}))


ENTRIES = pa.dictionary(pa.int8(), pa.string())


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (pa.list_(ENTRIES, 2), [None, ["a", "b"]]),
        (pa.list_(ENTRIES), [[], None]),
        (pa.list_(pa.struct({"a": ENTRIES})), [[{"a": "x"}, {"a": None}]]),
    ],
)
def test_dictionaries_of_arrow_in_other_types_are_read_as_their_values(
    type_: pa.DataType, values: list[Any]
) -> None:
    """DuckDB would read other entries, or end the process."""
    found = staged(pa.table({"c": pa.array(values, type_)}))[1]
    assert [list(each) if isinstance(each, tuple) else each for each in found] == values


def test_categories_of_polars_in_other_types_are_read_as_their_values() -> None:
    import polars as pl

    values = [["a", None], [], None]
    for words in (pl.Categorical(), pl.Enum(["a"])):
        frame = pl.DataFrame({"c": pl.Series(values, dtype=pl.List(words))})
        assert staged(frame)[1] == values


def test_what_arrow_itself_cannot_convert_is_refused() -> None:
    broken = pa.array([None, {"a": None}], pa.struct({"a": ENTRIES}))
    with pytest.raises(SourceUnreadableError, match="t can't be read"):
        staged(pa.table({"c": broken}))


@pytest.mark.parametrize("library", ["pandas", "objects", "arrow", "polars", "relation"])
def test_an_hour_that_clocks_show_twice_is_read(library: str) -> None:
    """02:30 of the day on which summer ends is two moments; Python calls neither equal to one."""
    utc = [datetime.datetime(2024, 10, 27, hour, 30, tzinfo=datetime.UTC) for hour in range(3)]
    zoned = pd.Series(utc).dt.tz_convert("Europe/Berlin")
    _, moments = staged(_of_moments(library, zoned))
    assert [moment.astimezone(datetime.UTC) for moment in moments] == utc


def _of_moments(library: str, moments: "pd.Series[Any]") -> object:
    table = pa.table({"at": pa.array(list(moments), pa.timestamp("us", "Europe/Berlin"))})
    match library:
        case "pandas":
            return moments.to_frame("at")
        case "objects":
            return moments.astype(object).to_frame("at")
        case "polars":
            import polars as pl

            return pl.from_arrow(table)
        case "relation":
            connection = duckdb.connect()
            connection.execute("SET timezone = 'Europe/Berlin'")
            return connection.from_arrow(table)
        case _:
            return table
