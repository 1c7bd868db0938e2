"""Generated frames of each library: a value comes back equal, or is refused, or has a note."""

import datetime
import decimal
import json
import math
import re
import uuid
from collections.abc import Callable
from typing import Any, TypeAlias

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.uri import in_memory

Shape: TypeAlias = "tuple[Any, ...]"
"""A type with the strategy for its values: as the library calls it, and the values."""

ZONES = st.timezones() | st.integers(-57_599, 57_599).map(
    lambda seconds: datetime.timezone(datetime.timedelta(seconds=seconds))
)
WHOLE = st.integers(-(2**63), 2**63 - 1)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=3, max_value=10**9)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
MISSING = st.sampled_from([None, pd.NaT, pd.NA])
PLAIN: tuple[st.SearchStrategy[Any], ...] = (
    st.booleans(),
    WHOLE,
    st.integers(-(2**130), 2**130),
    st.integers(-10, 10) | st.floats(),
    st.floats(),
    st.decimals(allow_nan=False) | st.just(decimal.Decimal("NaN")),
    DECIMALS,
    st.text(max_size=5),
    TEXTS,
    st.binary(max_size=4),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=ZONES),
    st.datetimes(timezones=st.none() | ZONES),
    st.times(),
    st.times(timezones=ZONES),
    st.times(timezones=st.none() | ZONES),
    st.timedeltas(),
    st.uuids(),
    st.fractions(),
    st.complex_numbers(),
    WHOLE.map(np.int64),
    st.floats(width=32).map(np.float32),
    st.integers(-(2**60), 2**60).map(pd.Timestamp),
    st.integers(-(2**60), 2**60).map(pd.Timedelta),
)
"""Values of Python, NumPy and pandas: those of one kind, and those that share a kind's name."""
KEYS = TEXTS | st.sampled_from(["a", "A", "ß", "ss", ""])


def nested(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return strategies for lists and dicts whose values are all of one strategy."""
    return (
        st.just(st.lists(values | MISSING, max_size=3))
        | st.just(st.lists(values, max_size=3).map(tuple))
        | st.lists(KEYS, max_size=3, unique=True).map(
            lambda keys: st.fixed_dictionaries(dict.fromkeys(keys, values | MISSING))
        )
        | st.just(st.dictionaries(KEYS | st.integers(0, 2), values, max_size=2))
    )


SHAPES = st.recursive(
    st.sampled_from(PLAIN),
    lambda shapes: (
        shapes.flatmap(nested) | st.tuples(shapes, shapes).map(lambda two: two[0] | two[1])
    ),
    max_leaves=4,
)
OBJECTS = SHAPES.flatmap(lambda values: st.lists(values | st.none(), min_size=1, max_size=4))


def read(table: object) -> tuple[list[Any], tuple[str, ...], str] | None:
    """Return the values, notes and type of a table's column; None where it was refused."""
    try:
        source = open_source(in_memory({"t": table}), nested="keep")
    except SourceUnreadableError:
        return None
    with source:
        (column,) = source.tables[0].columns
        rows = source.connection.execute(f"FROM {source.tables[0].relation}").fetchall()
        return [row[0] for row in rows], column.notes, column.type


def is_equal(value: Any, found: Any) -> bool:
    """Return whether a value came back, with its type, but for those of NumPy and of Arrow."""
    if value is None or value is pd.NaT or value is pd.NA:
        return found is None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return (
            isinstance(found, dict)
            and set(value) <= set(found)
            and all(is_equal(value.get(key), each) for key, each in found.items())
        )
    if isinstance(value, list | tuple):
        if isinstance(found, dict):
            return is_equal(dict(value), found)
        return (
            isinstance(found, list | tuple)
            and len(value) == len(found)
            and all(map(is_equal, value, found))
        )
    if isinstance(value, float) and math.isnan(value):
        return isinstance(found, float) and math.isnan(found)
    if isinstance(value, bool) or isinstance(found, bool):
        return value is found
    return bool(value == found)


def check(table: object, values: list[Any]) -> None:
    """Raise AssertionError where values of a table were changed, and nothing says so."""
    result = read(table)
    if result is None or result[1]:
        return
    found, _, type_ = result
    if type_ == "JSON":
        found = [None if each is None else json.loads(each) for each in found]
    assert all(map(is_equal, values, found)), (values, result)


def at_the_top(value: Any) -> Any:
    """Return a value of an object column, in which pandas takes any NaN for a missing value."""
    is_number = isinstance(value, float | np.floating | decimal.Decimal)
    return None if is_number and math.isnan(value) else value


@given(OBJECTS)
@example([{"a": 2**53 + 1}, {"a": 0.5}])
@example([{"x": 1, "X": 2}])
def test_objects_of_pandas_come_back(values: list[Any]) -> None:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    check(pd.DataFrame({"c": pd.Series(column, dtype=object)}), [*map(at_the_top, values)])


@given(OBJECTS)
def test_objects_of_polars_come_back(values: list[Any]) -> None:
    import polars as pl

    check(pl.DataFrame({"c": pl.Series(values, dtype=pl.Object)}), values)


def nested_in_arrow(shape: tuple[pa.DataType, Any]) -> st.SearchStrategy[Any]:
    type_, values = shape
    listed = st.lists(values | st.none(), max_size=3)
    return st.sampled_from(
        [
            (pa.list_(type_), listed),
            (pa.large_list(type_), listed),
            (pa.list_(type_, 2), st.lists(values, min_size=2, max_size=2)),
            (pa.struct({"a": type_, "b": pa.int8()}), st.fixed_dictionaries({"a": values})),
            (
                pa.map_(pa.string(), type_),
                st.dictionaries(st.sampled_from("ab"), values).map(lambda value: [*value.items()]),
            ),
        ]
    )


def whole(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


ARROW: tuple[tuple[pa.DataType, Any], ...] = (
    (pa.null(), st.none()),
    (pa.bool_(), st.booleans()),
    (pa.int8(), whole(8)),
    (pa.int64(), whole(64)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float16(), st.floats(width=16).map(np.float16)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.string(), TEXTS),
    (pa.large_string(), TEXTS),
    (pa.string_view(), TEXTS),
    (pa.binary(), st.binary(max_size=20)),
    (pa.binary(2), st.binary(min_size=2, max_size=2)),
    (pa.binary_view(), st.binary(max_size=20)),
    (pa.decimal32(9, 3), DECIMALS.filter(lambda value: abs(value) < 10**6)),
    (pa.decimal128(38, 3), DECIMALS),
    (pa.decimal256(70, 3), DECIMALS | st.integers(-(10**60), 10**60).map(decimal.Decimal)),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    (pa.timestamp("s"), st.datetimes().map(lambda value: value.replace(microsecond=0))),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("us", "Europe/Berlin"), st.datetimes(
        datetime.datetime(1990, 1, 1), datetime.datetime(2100, 1, 1),
        timezones=st.just(datetime.UTC))),
    (pa.time32("s"), st.times().map(lambda value: value.replace(microsecond=0))),
    (pa.time64("us"), st.times()),
    (pa.time64("ns"), st.times()),
    (pa.duration("us"), st.timedeltas()),
    (pa.month_day_nano_interval(), st.tuples(whole(20), whole(20), whole(60)).map(
        pa.MonthDayNano)),
    (pa.dictionary(pa.int8(), pa.string()), TEXTS),
)  # fmt: skip
ARROW_COLUMNS = st.recursive(
    st.sampled_from(ARROW), lambda shapes: shapes.flatmap(nested_in_arrow), max_leaves=3
).flatmap(
    lambda shape: st.tuples(
        st.just(shape[0]), st.lists(shape[1] | st.none(), min_size=1, max_size=4)
    )
)


def arrow_array(column: tuple[pa.DataType, list[Any]]) -> pa.Array | None:
    """Return a column of Arrow; None for what pyarrow itself doesn't make of Python's values."""
    try:
        return pa.array(column[1], column[0])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError):
        return None


def plain_interval(value: Any) -> Any:
    """Return a value with Arrow's intervals as DuckDB returns them: durations of 30-day months."""
    if isinstance(value, pa.MonthDayNano):
        days = value.months * 30 + value.days
        return datetime.timedelta(days, microseconds=value.nanoseconds // 1000)
    if isinstance(value, dict):
        return {key: plain_interval(each) for key, each in value.items()}
    is_list = isinstance(value, list | tuple)
    return [plain_interval(each) for each in value] if is_list else value


@given(ARROW_COLUMNS)
def test_columns_of_arrow_come_back(column: tuple[pa.DataType, list[Any]]) -> None:
    array = arrow_array(column)
    if array is not None:
        check(pa.table({"c": array}), plain_interval(array.to_pylist()))


@given(ARROW_COLUMNS)
def test_columns_of_pandas_in_types_of_arrow_come_back(
    column: tuple[pa.DataType, list[Any]],
) -> None:
    array = arrow_array(column)
    if array is not None:
        series = pd.Series(pd.arrays.ArrowExtensionArray(array))
        check(pd.DataFrame({"c": series}), plain_interval(array.to_pylist()))


@given(ARROW_COLUMNS)
def test_columns_of_polars_come_back(column: tuple[pa.DataType, list[Any]]) -> None:
    import polars as pl

    array = arrow_array(column)
    # Polars panics at these types of Arrow.
    if array is not None and not re.search("interval|decimal(32|256)|dictionary", str(array.type)):
        frame = pl.DataFrame(pa.table({"c": array}))
        check(frame, frame.to_series().to_list())


RELATION: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("BOOLEAN", ("true",)),
    ("UHUGEINT", ("0", str(2**128 - 1))),
    ("HUGEINT", (str(2**127 - 1), str(-(2**127)))),
    ("BIGNUM", ("-" + "9" * 60,)),
    ("DOUBLE", ("nan", "-inf", "-0.0", "0.1")),
    ("DECIMAL(38,3)", ("0.001", "-" + "9" * 35 + ".999")),
    ("VARCHAR", ("", "NULL", "a''b", "[1, 2]", "\\", "{")),
    ("BLOB", ("\\x00\\xFF", "")),
    ("BIT", ("0", "0101", "1" * 70)),
    ("DATE", ("infinity", "-infinity", "0044-03-15 (BC)", "200000-01-01")),
    ("TIME", ("24:00:00", "00:00:00.000001")),
    ("TIME_NS", ("00:00:00.000000001",)),
    ("TIME WITH TIME ZONE", ("24:00:00-15:59:59", "00:00:00.000001+02:30:15")),
    ("TIMESTAMP", ("infinity", "290000-01-01 00:00:00.000001")),
    ("TIMESTAMP_S", ("290000-01-01 00:00:01",)),
    ("TIMESTAMP_NS", ("2262-04-11 23:47:16.854775806", "infinity")),
    ("TIMESTAMP WITH TIME ZONE", ("infinity", "2024-01-01 00:00:00.000001+00")),
    ("INTERVAL", ("3000000 hours", "-1 months 2 days -2600000 hours", "1 microsecond")),
    ("UUID", (str(uuid.UUID(int=7)),)),
    ("JSON", ('{"a": 1}', "null")),
    ("ENUM('x', 'y')", ("x",)),
)


def nested_in_a_relation(shape: tuple[str, Any]) -> st.SearchStrategy[Any]:
    type_, values = shape
    listed = st.lists(values, min_size=2, max_size=2).map(lambda items: f"[{', '.join(items)}]")
    return st.sampled_from(
        [
            (f"{type_}[]", listed),
            (f"{type_}[2]", listed),
            (
                f'STRUCT("x y" {type_}, b BIT)',
                values.map(lambda value: f"{{'x y': {value}, 'b': '1'::BIT}}"),
            ),
            (f"MAP(INTEGER, {type_})", values.map(lambda value: f"MAP {{1: {value}}}")),
            (f"MAP({type_}, INTEGER)", values.map(
                lambda value: "NULL" if value == "NULL" else f"MAP {{{value}: 1}}")),
        ]
    )  # fmt: skip


def literals(type_: str, texts: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from([f"'{text}'::{type_}" for text in texts] + ["NULL"])


RELATION_COLUMNS = st.recursive(
    st.sampled_from([(type_, literals(type_, texts)) for type_, texts in RELATION]),
    lambda shapes: shapes.flatmap(nested_in_a_relation),
    max_leaves=3,
).flatmap(lambda shape: st.tuples(st.just(shape[0]), st.lists(shape[1], min_size=1, max_size=3)))


@given(RELATION_COLUMNS)
def test_columns_of_relations_come_back(column: tuple[str, list[str]]) -> None:
    type_, values = column
    rows = ", ".join(f"({i}, {value})" for i, value in enumerate(values))
    with duckdb.connect() as theirs:
        theirs.execute("SET TimeZone = 'UTC'")
        theirs.execute(f"CREATE TABLE t (i INTEGER, c {type_})")
        theirs.execute(f"INSERT INTO t VALUES {rows}")
        texts = "SELECT CAST(c AS VARCHAR) FROM {} ORDER BY i"
        with open_source(in_memory({"t": theirs.table("t")}), nested="keep") as source:
            (table,) = source.tables
            found = source.connection.execute(texts.format(table.relation)).fetchall()
        assert found == theirs.execute(texts.format("t")).fetchall()
        expected = type_.replace("ENUM('x', 'y')", "VARCHAR")
        assert table.columns[1].type == expected


NATIVE: tuple[tuple[str, Callable[[int], Any]], ...] = (
    ("datetime64[s]", lambda n: np.datetime64(n, "s")),
    ("datetime64[us]", lambda n: np.datetime64(n, "us")),
    ("timedelta64[s]", lambda n: np.timedelta64(n, "s")),
    ("timedelta64[us]", lambda n: np.timedelta64(n, "us")),
    ("Int64", int),
    ("int16", lambda n: n % 100),
    ("float16", lambda n: n % 1000 / 8),
    ("float32", lambda n: n % 2**20 / 8),
    ("Float64", float),
    ("longdouble", lambda n: np.longdouble(n) + np.longdouble(1) / 3),
    ("complex128", complex),
    ("boolean", lambda n: n % 2 == 0),
    ("string", str),
    ("category", str),
    ("category", float),
    ("Sparse[int64]", int),
    ("period[D]", lambda n: pd.Period(ordinal=n % 10**5, freq="D")),
)


@given(
    st.sampled_from(NATIVE).flatmap(
        lambda kind: st.tuples(
            st.just(kind[0]),
            st.lists(st.integers(-(2**35), 2**35).map(kind[1]), min_size=1, max_size=4),
        )
    )
)
def test_columns_of_pandas_in_types_of_its_own_come_back(column: tuple[str, list[Any]]) -> None:
    dtype, values = column
    series = pd.Series(values).astype(dtype)  # type: ignore[call-overload]
    objects = [
        value.to_pytimedelta() if isinstance(value, pd.Timedelta) else value
        for value in series.astype(object)
    ]
    check(pd.DataFrame({"c": series}), objects)
