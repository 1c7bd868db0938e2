"""Tables of the calling process: what they become in the engine, and what is left alone."""

import datetime
import decimal
import subprocess
import sys
import uuid
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import SourceUnreadableError, UsageError
from fluid_build.progress import Progress
from fluid_build.sources import open_source
from fluid_build.sources.base import Table
from fluid_build.sources.uri import in_memory


def staged(**tables: object) -> tuple[list[Table], dict[str, list[tuple[object, ...]]]]:
    with open_source(in_memory(tables), nested="keep") as source:
        assert source.skipped == ()
        return list(source.tables), {
            table.name: source.connection.execute(f"FROM {table.relation}").fetchall()
            for table in source.tables
        }


def staged_column(values: object, dtype: object = None) -> tuple[str, list[object], str]:
    """Stage a column of pandas; its type, its values, and the notes on it."""
    frame = pd.DataFrame({"c": pd.Series(values, dtype=dtype)})  # type: ignore[arg-type]
    (table,), rows = staged(t=frame)
    (column,) = table.columns
    return column.type, [row[0] for row in rows["t"]], " ".join(column.notes)


UUIDS = [uuid.UUID(int=7), None]
DAY = datetime.date(2024, 2, 29)


@pytest.mark.parametrize(
    ("values", "dtype", "type_", "staged_values"),
    [
        (["a", None], object, "VARCHAR", ["a", None]),
        (["a", None], "string", "VARCHAR", ["a", None]),
        (["a", None], "category", "VARCHAR", ["a", None]),
        ([2, None], "category", "BIGINT", [2, None]),
        ([1, None], "Int64", "BIGINT", [1, None]),
        ([1, None], "int64[pyarrow]", "INTEGER", [1, None]),
        ([True, None], "boolean", "BOOLEAN", [True, None]),
        ([True, None], object, "BOOLEAN", [True, None]),
        ([np.int64(2**60 + 1), np.int32(2), None], object, "BIGINT", [2**60 + 1, 2, None]),
        ([np.float32(1.5), 2, None], object, "DOUBLE", [1.5, 2.0, None]),
        ([np.bool_(True), float("nan")], object, "BOOLEAN", [True, None]),
        (
            [decimal.Decimal("1.25"), decimal.Decimal("NaN")],
            object,
            "DECIMAL(3,2)",
            [decimal.Decimal("1.25"), None],
        ),
        (
            [decimal.Decimal("1.25"), decimal.Decimal("inf")],
            object,
            "VARCHAR",
            ["1.25", "Infinity"],
        ),
        ([2**70, 1], object, "HUGEINT", [2**70, 1]),
        ([1.5, None], None, "DOUBLE", [1.5, None]),
        ([DAY, None], object, "DATE", [DAY, None]),
        ([decimal.Decimal("1.20"), decimal.Decimal("30.125")], object, "DECIMAL(5,3)", None),
        (UUIDS, object, "UUID", UUIDS),
        ([b"\xff", None], object, "BLOB", [b"\xff", None]),
        ([datetime.time(1, 2), None], object, "TIME", [datetime.time(1, 2), None]),
        ([[1, 2], None], object, "BIGINT[]", [[1, 2], None]),
        ([np.array([1.5])], object, "DOUBLE[]", [[1.5]]),
        (
            [{"a": 1}, {"a": 2, "b": "x"}],
            object,
            "STRUCT(a BIGINT, b VARCHAR)",
            [{"a": 1, "b": None}, {"a": 2, "b": "x"}],
        ),
    ],
)
def test_a_pandas_column_keeps_its_values(
    values: object, dtype: object, type_: str, staged_values: object
) -> None:
    found_type, found_values, _ = staged_column(values, dtype)
    assert found_type.replace("INTEGER", "BIGINT") == type_.replace("INTEGER", "BIGINT")
    assert found_values == (values if staged_values is None else staged_values)


def test_a_time_with_a_zone_is_the_same_moment() -> None:
    moments = pd.to_datetime(["2024-07-01 12:00", None]).tz_localize("Europe/Berlin")
    type_, values, _ = staged_column(moments)
    assert type_ == "TIMESTAMP WITH TIME ZONE"
    assert values == [datetime.datetime(2024, 7, 1, 10, tzinfo=datetime.UTC), None]


def test_whole_numbers_with_missing_values_are_whole_again() -> None:
    """Pandas turns them into floats, and a key of floats refers to nothing."""
    type_, values, note = staged_column([1.0, None, 3.0])
    assert (type_, values) == ("BIGINT", [1, None, 3])
    assert "float64" in note
    assert staged_column([1.0, 2.0])[0] == "DOUBLE"
    assert staged_column([1.0, None, float("inf")])[0] == "DOUBLE"
    assert staged_column([2.0**60, None])[0] == "DOUBLE"


def test_values_of_several_types_become_text_with_a_note() -> None:
    type_, values, note = staged_column([1, "x", None], object)
    assert (type_, values) == ("VARCHAR", ["1", "x", None])
    assert note == "It holds text and whole number values; read as text."
    type_, values, _ = staged_column([2**53 + 1, 0.5], object)
    assert (type_, values) == ("VARCHAR", ["9007199254740993", "0.5"])


def test_a_late_value_of_another_type_is_not_lost() -> None:
    """DuckDB would type the column by its first thousand values."""
    type_, values, _ = staged_column([*range(5000), "late"], object)
    assert type_ == "VARCHAR"
    assert values[-1] == "late"


def test_a_dtype_without_counterpart_becomes_text() -> None:
    type_, values, note = staged_column(pd.period_range("2024-01", periods=1, freq="M"))
    assert (type_, values) == ("VARCHAR", ["2024-01"])
    assert "period[M]" in note


def test_fields_that_are_personal_values_stay_out_of_the_type() -> None:
    """The keys of this object are addresses of people, and a type is no secret."""
    records = [{f"person{i}@example.org": i} for i in range(20)]
    type_, values, _ = staged_column(records, object)
    assert type_ == "JSON"
    assert values[3] == '{"person3@example.org": 3}'


def test_column_names_are_made_distinct_and_text() -> None:
    frame = pd.DataFrame([[1, 2, 3, 4, 5]], columns=["a", "a", "A", None, 7])
    (table,), rows = staged(t=frame)
    assert [column.name for column in table.columns] == ["a", "a_2", "A", "column_4", "7"]
    assert [column.alias for column in table.columns] == ["a", "a_2", "A_3", "column_4", "7"]
    assert rows["t"] == [(1, 2, 3, 4, 5)]
    assert table.notes == (
        "Column 2 is called 'a', as another column is; here it's a_2.",
        "Column 4 is without a name; here it's column_4.",
    )
    assert list(frame.columns) == ["a", "a", "A", None, 7]


def test_levels_of_column_names_are_joined() -> None:
    (table,), _ = staged(t=pd.DataFrame({("x", "y"): [1], ("x", ""): [2]}))
    assert [column.name for column in table.columns] == ["x.y", "x"]


def test_a_named_index_is_data_and_another_is_not() -> None:
    frame = pd.DataFrame({"a": [1]}, index=pd.Index([7], name="key"))
    (table,), rows = staged(t=frame)
    assert [column.name for column in table.columns] == ["key", "a"]
    assert rows["t"] == [(7, 1)]
    (table,), _ = staged(t=pd.DataFrame({"a": [1, 2]}).iloc[1:])
    assert [column.name for column in table.columns] == ["a"]


def test_polars_and_arrow_tables_keep_their_values() -> None:
    import polars as pl

    frame = pl.DataFrame(
        {
            "c": pl.Series(["x", None], dtype=pl.Categorical),
            "l": [[1], [2, 3]],
            "d": pl.Series([decimal.Decimal("1.5"), None], dtype=pl.Decimal(10, 2)),
        }
    )
    arrow = pa.table([[1], [2], pa.array(["a"]).dictionary_encode()], names=["a", "a", "z"])
    tables, rows = staged(eager=frame, lazy=frame.lazy(), arrow=arrow)
    expected = [("x", [1], decimal.Decimal("1.50")), (None, [2, 3], None)]
    assert rows == {"eager": expected, "lazy": expected, "arrow": [(1, 2, "a")]}
    assert [column.type for column in tables[0].columns] == ["VARCHAR", "BIGINT[]", "DECIMAL(10,2)"]
    assert [column.name for column in tables[2].columns] == ["a", "a_2", "z"]


EXACT = (
    "17014118346046923173168730371588410572::HUGEINT AS huge, '101'::BIT AS bits,"
    " uuid '00000000-0000-0000-0000-000000000007' AS id, '10:00:00+02'::TIMETZ AS clock,"
    " '{\"a\":1}'::JSON AS document, 'x'::ENUM('x') AS word, 1 AS twin, 2 AS twin, NULL AS nothing"
)


def test_a_relation_of_another_connection_keeps_types_that_arrow_lacks() -> None:
    with duckdb.connect() as theirs:
        relation = theirs.sql(f"SELECT {EXACT}")
        (table,), rows = staged(t=relation)
        expected = relation.fetchall()
    assert rows["t"] == expected
    assert [column.type for column in table.columns][:6] == [
        "HUGEINT", "BIT", "UUID", "TIME WITH TIME ZONE", "JSON", "VARCHAR",
    ]  # fmt: skip
    assert [column.name for column in table.columns][6:] == ["twin", "twin_2", "nothing"]


def test_reading_changes_nothing_of_the_other_connection() -> None:
    with duckdb.connect() as theirs:
        theirs.execute("CREATE TABLE t AS FROM range(10)")
        before = theirs.execute("FROM duckdb_settings()").fetchall()
        staged(t=theirs.table("t"))
        assert theirs.execute("FROM duckdb_settings()").fetchall() == before
        assert theirs.execute("SHOW TABLES").fetchall() == [("t",)]


def test_neither_pandas_nor_polars_needs_pyarrow() -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
import duckdb, pandas, polars
from fluid_build.sources import open_source
from fluid_build.sources.uri import in_memory
tables = {
    "a": pandas.DataFrame({"x": [{"k": [1]}, None]}),
    "b": polars.DataFrame({"x": ["y"]}),
    "c": duckdb.sql("SELECT 1 AS x"),
}
with open_source(in_memory(tables)) as source:
    assert source.skipped == (), source.skipped
    assert len(source.tables) == 4
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_table_that_cannot_be_converted_is_skipped_alone() -> None:
    broken = pd.DataFrame({"a": ["\ud800"]}, dtype=object)
    with open_source(in_memory({"broken": broken, "whole": pd.DataFrame({"a": [1]})})) as source:
        assert [table.name for table in source.tables] == ["whole"]
        assert [skipped.name for skipped in source.skipped] == ["broken"]
    with pytest.raises(SourceUnreadableError, match="broken can't be read"):
        open_source(in_memory({"broken": broken}))


def test_a_series_of_polars_is_no_table() -> None:
    import polars as pl

    with pytest.raises(UsageError, match="t has the type Series, which isn't a table"):
        open_source(in_memory({"t": pl.Series([1])}))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "There is no table to read."),
        ({"t": [1, 2]}, "t has the type list, which isn't a table."),
        ({"t": pd.Series([1])}, "t has the type Series, which isn't a table."),
        ({3: pd.DataFrame({"a": [1]})}, "3 isn't the name of a table."),
    ],
)
def test_what_is_no_table_is_refused(tables: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        open_source(in_memory(tables))


def test_later_changes_of_a_frame_do_not_show() -> None:
    frame = pd.DataFrame({"a": [1]})
    with open_source(in_memory({"t": frame})) as source:
        frame.loc[0, "a"] = 2
        assert source.relation(source.tables[0]).fetchall() == [(1,)]


def test_an_interrupt_while_reading_leaves_no_file(temporary: Path) -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_source(in_memory({"t": pd.DataFrame({"a": [1]})}), on_progress=interrupt)
    assert list(temporary.iterdir()) == []


@given(
    values=st.lists(
        st.none()
        | st.builds(
            decimal.Decimal,
            st.tuples(
                st.sampled_from([0, 1]),
                st.lists(st.integers(0, 9), min_size=1, max_size=28).map(tuple),
                st.integers(-30, 12),
            ),
        ),
        min_size=1,
        max_size=5,
    )
)
@pytest.mark.parametrize("dtype", [object, "category"])
def test_every_decimal_of_pandas_keeps_its_digits(
    dtype: str, values: list[decimal.Decimal | None]
) -> None:
    """Without digits behind the point (1.2E+3), and with more than a number has: those are text."""
    type_, found, note = staged_column(values, dtype)
    if type_ == "VARCHAR" and any(values):
        assert "digits" in note
    assert [None if value is None else decimal.Decimal(str(value)) for value in found] == values


@pytest.mark.parametrize("days", [29, 30, 360, 365, -400])
def test_durations_of_pandas_are_days_and_no_months(days: int) -> None:
    duration = datetime.timedelta(days=days, seconds=1)
    frame = pd.DataFrame({"c": pd.Series([duration, None], dtype="timedelta64[ns]")})
    with open_source(in_memory({"t": frame})) as source:
        query = f"SELECT DATE '2024-01-01' + c FROM {source.tables[0].relation}"
        moment = source.connection.execute(query).fetchall()[0][0]
    assert moment == datetime.datetime(2024, 1, 1) + duration
