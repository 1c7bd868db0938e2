"""Times in nanoseconds: those of data frames and Arrow tables come back digit for digit."""

import json
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.sources.base import Column
from fluid_build.sources.text_values.nanoseconds import AS_TEXT, CUT, IN_UTC, whole_durations
from fluid_build.sources.uri import in_memory

DURATIONS = whole_durations("nanoseconds")
FINE, COARSE = (1, None, -5, 1999), (1000, None, -5_000, 2_000)
NUMBERS = st.lists(st.none() | st.integers(-(2**62), 2**62), min_size=1, max_size=5)


def staged(table: object) -> tuple[Column, list[Any]]:
    with open_source(in_memory({"t": table}), nested="keep") as source:
        ((column,),) = (table.columns for table in source.tables)
        rows = source.connection.execute(f"FROM {source.tables[0].relation}").fetchall()
    return column, [row[0] for row in rows]


def staged_text(table: object) -> tuple[Column, list[Any]]:
    """Stage a table; its values as DuckDB writes them."""
    with open_source(in_memory({"t": table}), nested="keep") as source:
        (column,) = source.tables[0].columns
        query = f"SELECT CAST({column.alias} AS VARCHAR) FROM {source.tables[0].relation}"
        return column, [row[0] for row in source.connection.execute(query).fetchall()]


def arrow(values: Any, type_: pa.DataType) -> pa.Table:
    return pa.table({"c": pa.array(values, type_)})


def polars(values: Any, unit: str) -> Any:
    """Make a data frame of moments in Berlin, or of durations."""
    import polars as pl

    numbers = pl.Series("c", values, pl.Int64)
    if unit == "durations":
        return pl.DataFrame(numbers.cast(pl.Duration("ns")))
    moments = numbers.cast(pl.Datetime("ns")).dt.replace_time_zone("UTC")
    return pl.DataFrame(moments.dt.convert_time_zone("Europe/Berlin"))


MAKERS = {
    "arrow": (
        lambda values: arrow(values, pa.timestamp("ns", "Europe/Berlin")),
        lambda values: arrow(values, pa.duration("ns")),
    ),
    "polars": (
        lambda values: polars(values, "moments"),
        lambda values: polars(values, "durations"),
    ),
    "pandas": (
        lambda values: pd.DataFrame(
            {
                "c": pd.Series(pd.array(values, "Int64"))
                .astype("datetime64[ns]")
                .dt.tz_localize("UTC")
                .dt.tz_convert("Europe/Berlin")
            }
        ),
        lambda values: pd.DataFrame(
            {"c": pd.Series(pd.array(values, "Int64")).astype("timedelta64[ns]")}
        ),
    ),
}


@pytest.mark.parametrize("library", MAKERS)
def test_moments_with_a_zone_keep_their_nanoseconds(library: str) -> None:
    column, texts = staged_text(MAKERS[library][0](FINE))
    assert (column.type, column.notes) == ("TIMESTAMP_NS", (IN_UTC,))
    assert texts == [
        "1970-01-01 00:00:00.000000001",
        None,
        "1969-12-31 23:59:59.999999995",
        "1970-01-01 00:00:00.000001999",
    ]


@pytest.mark.parametrize("library", MAKERS)
def test_durations_keep_their_nanoseconds(library: str) -> None:
    column, values = staged(MAKERS[library][1](FINE))
    assert (column.type, column.notes, values) == ("BIGINT", (DURATIONS,), list(FINE))


@pytest.mark.parametrize("library", MAKERS)
def test_times_that_lose_nothing_are_read_as_what_they_are(library: str) -> None:
    moments, durations = (staged(make(COARSE))[0] for make in MAKERS[library])
    assert (moments.type, moments.notes) == ("TIMESTAMP WITH TIME ZONE", ())
    assert (durations.type, durations.notes) == ("INTERVAL", ())


@pytest.mark.parametrize("library", MAKERS)
@given(values=NUMBERS)
def test_no_two_durations_become_one(library: str, values: list[int | None]) -> None:
    _, texts = staged_text(MAKERS[library][1](values))
    assert len(set(texts)) == len(set(values))


DURATION = pa.duration("ns")
MOMENT = pa.timestamp("ns", "UTC")
DAY = "1970-01-01 00:00:00.0000"


@pytest.mark.parametrize(
    ("value", "type_", "expected", "notes"),
    [
        ([1, 1500], pa.list_(DURATION), "[1, 1500]", (DURATIONS,)),
        ([1, 1500], pa.large_list(DURATION), "[1, 1500]", (DURATIONS,)),
        ([1, 1500], pa.list_(DURATION, 2), "[1, 1500]", (DURATIONS,)),
        ([("k", 1)], pa.map_(pa.string(), DURATION), "{k=1}", (DURATIONS,)),
        ([1], pa.list_view(DURATION), None, (CUT,)),
        (
            {"a": 1, "b": [1999]},
            pa.struct([("a", MOMENT), ("b", pa.list_(DURATION))]),
            f"{{'a': '{DAY}00001', 'b': [1999]}}",
            (IN_UTC, DURATIONS),
        ),
        ([2000], pa.list_(DURATION), "['00:00:00.000002']", ()),
        ((1, 2, 3), pa.month_day_nano_interval(), "P1M2DT0.000000003S", (AS_TEXT,)),
        ((-1, 0, -1_000_000_001), pa.month_day_nano_interval(), None, (AS_TEXT,)),
        ((1, 2, 3000), pa.month_day_nano_interval(), "1 month 2 days 00:00:00.000003", ()),
        ([(1, 2, 3)], pa.list_(pa.month_day_nano_interval()), "[1 month 2 days]", (CUT,)),
    ],
    ids=str,
)
def test_nested_times_and_intervals_lose_nothing_without_a_note(
    value: object, type_: pa.DataType, expected: str | None, notes: tuple[str, ...]
) -> None:
    column, texts = staged_text(arrow([value, None], type_))
    assert column.notes == notes
    assert texts == [expected if expected is not None else texts[0], None]


def test_times_in_dictionaries_and_readers_keep_their_nanoseconds() -> None:
    encoded = pa.table({"c": pa.array([1, 1999], DURATION).dictionary_encode()})
    assert staged(encoded)[1] == [1, 1999]
    assert staged(arrow([1, 1999], DURATION).to_reader())[1] == [1, 1999]


def test_nested_times_of_polars_keep_their_nanoseconds() -> None:
    import polars as pl

    durations = pl.Series("c", [[[1], [1500]]], pl.List(pl.Array(pl.Int64, 1)))
    frame = pl.DataFrame(durations.cast(pl.List(pl.Array(pl.Duration("ns"), 1))))
    column, texts = staged_text(frame)
    assert (json.loads(texts[0]), column.notes) == ([[1], [1500]], (DURATIONS,))


def test_moments_of_pandas_in_a_type_of_arrow_keep_their_nanoseconds() -> None:
    moments = pd.Series([pd.Timestamp("2024-01-01 00:00:00.123456789", tz="UTC"), None])
    frame = pd.DataFrame({"c": moments.astype("timestamp[ns, UTC][pyarrow]")})
    column, texts = staged_text(frame)
    assert (column.type, column.notes) == ("TIMESTAMP_NS", (IN_UTC,))
    assert texts == ["2024-01-01 00:00:00.123456789", None]


@pytest.mark.parametrize("dtype", [object, "category"])
def test_moments_in_other_columns_of_pandas_are_text_where_they_would_be_cut(dtype: Any) -> None:
    moments = [pd.Timestamp("2024-01-01 00:00:00.123456789", tz="UTC"), None]
    column, values = staged(pd.DataFrame({"c": pd.Series(moments).astype(dtype)}))
    assert (column.type, column.notes) == ("VARCHAR", (AS_TEXT,))
    assert values == ["2024-01-01T00:00:00.123456789+00:00", None]
