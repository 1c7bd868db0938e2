"""Parquet files that DuckDB can't query as they are: the Null type, and broken bytes."""

import sys
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from fluid_build.errors import FluidError, SourceUnreadableError
from fluid_build.sources import open_source, staged_views
from fluid_build.sources.base import Source
from fluid_build.sources.files.arrow_schema import duration_units
from tests.sources.parquet_tables import (
    DIFFERENT,
    ERRORS,
    ROWS,
    monthly,
    two_tables,
    write_decimals,
    write_nulls,
)


def test_duckdb_still_fails_where_it_skips_pages_of_nulls(tmp_path: Path) -> None:
    """The day this test fails, DuckDB reads the Null type, and our way around it can go."""
    write_nulls(tmp_path / "t.parquet")
    with (
        duckdb.connect() as connection,
        pytest.raises(duckdb.NotImplementedException, match="PlainSkip"),
    ):
        connection.execute(f"FROM '{tmp_path}/t.parquet' WHERE code = 'G00500'").fetchall()


def test_a_column_of_the_null_type_holds_typed_nulls(tmp_path: Path) -> None:
    """It is there with every row null, and a filter that skips its pages works."""
    write_nulls(tmp_path / "t.parquet")
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert [(column.name, column.type) for column in table.columns] == [
            ("id", "BIGINT"),
            ("note", "VARCHAR"),
            ("code", "VARCHAR"),
        ]
        found = source.connection.execute(
            f"SELECT count(*), count(note) FROM {table.relation} WHERE code = 'G00500'"
        ).fetchone()
    assert found == (37, 0)


def test_the_null_type_of_one_file_takes_the_type_of_the_others(tmp_path: Path) -> None:
    """A month without a value doesn't change what the column of all months is."""
    days = pyarrow.array(range(ROWS), pyarrow.date32())
    folder = tmp_path / "visits"
    folder.mkdir()
    write_nulls(folder / "part-1.parquet")
    write_nulls(folder / "part-2.parquet", note=days)
    with open_source(folder) as source:
        (table,) = source.tables
        assert table.column("note").type == "DATE"
        found = source.connection.execute(
            f"SELECT count(*), count(note) FROM {table.relation} WHERE code = 'G00500'"
        ).fetchone()
    assert found == (74, 37)


def test_nulls_nested_in_a_column_are_staged_and_told(tmp_path: Path) -> None:
    """What can be read but not searched is copied first; dbt reads a copy too, and says why."""
    rows = [{"a": number, "b": None} for number in range(ROWS)]
    nested = pyarrow.array(rows, pyarrow.struct([("a", pyarrow.int64()), ("b", pyarrow.null())]))
    write_nulls(tmp_path / "t.parquet", note=nested)
    with open_source(tmp_path) as source:
        (table,) = source.tables
        found = source.connection.execute(
            f"SELECT count(*) FROM {table.relation} WHERE code = 'G00500'"
        ).fetchone()
        assert found == (37,)
        assert table.notes == (staged_views.COPIED,)


def test_work_that_fails_later_is_done_again_on_copies(tmp_path: Path) -> None:
    """A query of the keys, the build or the proof that fails in place gets its copy too."""
    two_tables(tmp_path)
    runs: list[list[bool]] = []

    def work(source: Source) -> str:
        runs.append([staged_views.COPIED in table.notes for table in source.tables])
        if len(runs) == 1:
            raise ERRORS[0]
        return "done"

    with open_source(tmp_path) as source:
        assert staged_views.staged_where_needed(source, lambda: work(source)) == "done"
    assert runs == [[False, False], [True, True]]


def test_decimals_that_duckdb_misreads_are_read_as_text(tmp_path: Path) -> None:
    """Of more than 38 digits, 0.01 would be read as 167772.16."""
    folder = tmp_path / "amounts"
    for year, digits, text in ((2023, 38, "7"), (2024, 39, "0.000000000001"), (2025, 76, "-1e30")):
        path = folder / f"year={year}" / "part.parquet"
        path.parent.mkdir(parents=True)
        write_decimals(path, digits, text, None)
    with open_source(tmp_path) as source:
        (table,) = source.tables
        query = f"SELECT amount, year FROM {table.relation} WHERE amount IS NOT NULL ORDER BY year"
        rows = source.connection.execute(query).fetchall()
        notes = table.columns[0].notes
    assert rows == [
        ("7.000000000000", 2023),
        ("0.000000000001", 2024),
        (f"-1{'0' * 30}.000000000000", 2025),
    ]
    assert notes == ("Its decimals may have more than 38 digits; they're read as text.",)


@pytest.mark.parametrize("nested", [False, True])
def test_wide_decimals_are_refused_where_they_cant_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nested: bool
) -> None:
    type_ = pyarrow.decimal256(39, 2)
    values = [[Decimal("0.01")]] if nested else [Decimal("0.01")]
    array = pyarrow.array(values, pyarrow.list_(type_) if nested else type_)
    parquet.write_table(pyarrow.table({"amount": array}), tmp_path / "amounts.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FluidError, match="DuckDB misreads"):
        open_source(tmp_path)


TIMES = {
    "time": pyarrow.time64,
    "moment": lambda unit: pyarrow.timestamp(unit, "UTC"),
    "nested time": lambda unit: pyarrow.list_(pyarrow.time64(unit)),
}


@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize(("unit", "notes"), [("us", 0), ("ns", 1)])
def test_nanoseconds_that_are_cut_are_noted(
    tmp_path: Path, kind: str, unit: str, notes: int
) -> None:
    type_ = TIMES[kind](unit)
    numbers = [[1], [3_600_000_001]] if kind.startswith("nested") else [1, 3_600_000_001]
    parquet.write_table(
        pyarrow.table({"at": pyarrow.array(numbers, type_)}), tmp_path / "times.parquet"
    )
    with open_source(tmp_path) as source:
        column = next(
            c for table in source.tables for c in table.columns if c.type.startswith("TIME")
        )
    assert len(column.notes) == notes


def test_moments_in_the_old_type_are_noted(tmp_path: Path) -> None:
    moments = pyarrow.table({"at": pyarrow.array([1], pyarrow.timestamp("ns"))})
    path = tmp_path / "times.parquet"
    parquet.write_table(moments, path, use_deprecated_int96_timestamps=True)
    with open_source(tmp_path) as source:
        assert "what is finer than a microsecond was cut" in source.tables[0].columns[0].notes[0]


@given(
    st.lists(
        st.tuples(st.text(max_size=5), st.sampled_from(["s", "ms", "us", "ns", None, "nested"])),
        max_size=6,
        unique_by=lambda pair: pair[0],
    )
)
def test_arrow_says_which_columns_are_durations(columns: list[tuple[str, str | None]]) -> None:
    types = {
        None: pyarrow.int64(),
        "nested": pyarrow.struct([("a", pyarrow.list_(pyarrow.duration("ms")))]),
    }
    schema = pyarrow.schema(
        [(name, types[unit] if unit in types else pyarrow.duration(unit)) for name, unit in columns]
    )
    words = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
    expected = {name: words.get(unit, words["ms"]) for name, unit in columns if unit}
    assert duration_units(schema.serialize().to_pybytes()) == expected


@given(st.data())
def test_a_damaged_arrow_schema_fails_nothing(data: st.DataObject) -> None:
    schema = pyarrow.schema([("a", pyarrow.duration("s")), ("b", pyarrow.list_(pyarrow.int8()))])
    message = bytearray(schema.serialize().to_pybytes())
    for _ in range(data.draw(st.integers(1, 8))):
        message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    duration_units(bytes(message[: data.draw(st.integers(0, len(message)))]))


def test_durations_are_noted_with_their_unit(tmp_path: Path) -> None:
    table = pyarrow.table({"took": pyarrow.array([1, 2], pyarrow.duration("ms"))})
    parquet.write_table(table, tmp_path / "runs.parquet")
    with open_source(tmp_path) as source:
        (column,) = source.tables[0].columns
    assert (column.type, column.notes) == (
        "BIGINT",
        ("It holds durations, as whole numbers of milliseconds.",),
    )


TYPES = st.sampled_from(list(DIFFERENT))


@settings(max_examples=40, deadline=None)
@given(st.lists(TYPES, min_size=2, max_size=3, unique=True))
def test_values_come_back_in_the_type_of_their_own_file(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str]
) -> None:
    """Whatever type a column has in other files, none of its values changes."""
    folder = monthly(tmp_path_factory.mktemp("s"), *(DIFFERENT[kind] for kind in kinds))
    with open_source(folder) as source:
        (table,) = source.tables
        for path in sorted(folder.iterdir()):
            alone = f"'{path}'"
            (type_,), *_ = source.connection.execute(f"SELECT typeof(v) FROM {alone}").fetchall()
            type_ = "VARCHAR" if type_ == '"NULL"' else type_
            missing = source.connection.execute(
                f"SELECT id, CAST(v AS {type_}) FROM {alone}"
                f" EXCEPT SELECT id, TRY_CAST(v AS {type_}) FROM {table.relation}"
            ).fetchall()
            assert missing == []
        rows = source.connection.execute(f"SELECT count(*) FROM {table.relation}").fetchone()
    assert rows == (sum(len(DIFFERENT[kind]) for kind in kinds),)


@pytest.mark.parametrize(
    ("kinds", "type_"),
    [
        (("BIGINT", "DOUBLE"), "VARCHAR"),
        (("small BIGINT", "DOUBLE"), "DOUBLE"),
        (("INTEGER", "DOUBLE"), "DOUBLE"),
        (("INTEGER", "FLOAT"), "VARCHAR"),
        (("SMALLINT", "FLOAT"), "FLOAT"),
        (("FLOAT", "DOUBLE"), "DOUBLE"),
        (("BIGINT", "UBIGINT"), "HUGEINT"),
        (("DECIMAL(10,2)", "DOUBLE"), "DOUBLE"),
        (("DECIMAL(10,2)", "DECIMAL(28,27)"), "DECIMAL(35,27)"),
        (("DECIMAL(37,2)", "DECIMAL(28,27)"), "VARCHAR"),
        (("BOOLEAN", "INTEGER"), "VARCHAR"),
        (("TIMESTAMP", "TIMESTAMP_NS"), "TIMESTAMP_NS"),
        (("TIMESTAMP", "TIMESTAMPTZ"), "VARCHAR"),
        (("DATE", "TIMESTAMP"), "VARCHAR"),
        (("INTEGER", "VARCHAR"), "VARCHAR"),
    ],
    ids=str,
)
def test_types_that_differ_among_files_are_joined_only_exactly(
    tmp_path: Path, kinds: tuple[str, ...], type_: str
) -> None:
    """Otherwise the column is text, and a note says so; decimals made floating are noted too."""
    folder = monthly(tmp_path / "s", *(DIFFERENT[kind] for kind in kinds))
    with open_source(folder) as source:
        column = source.tables[0].column("v")
    assert column.type == type_
    assert len(column.notes) == (type_ == "VARCHAR" or kinds == ("DECIMAL(10,2)", "DOUBLE"))


def test_durations_in_different_units_are_refused(tmp_path: Path) -> None:
    """As whole numbers 1500 ms and 1500 s would be one."""
    units = (pyarrow.array([1500], pyarrow.duration(unit)) for unit in ("ms", "s"))
    with pytest.raises(FluidError, match="durations in milliseconds and seconds"):
        open_source(monthly(tmp_path / "s", *units))


@pytest.mark.parametrize(
    ("january", "february", "reason"),
    [
        ([[2**53 + 1]], [[1.5]], "different types in its files"),
        ([{"a": True}], [{"a": 5}], "different types in its files"),
        ([{"a": 1}], [{"a": {"b": 1}}], "nested in some files"),
        ([[1]], [1], "nested in some files"),
    ],
)
def test_nested_values_that_their_joint_type_would_change_are_refused(
    tmp_path: Path, january: list[object], february: list[object], reason: str
) -> None:
    folder = monthly(tmp_path / "s", pyarrow.array(january), pyarrow.array(february))
    with pytest.raises(FluidError, match=reason):
        open_source(folder)


def test_nested_values_are_compared_place_by_place(tmp_path: Path) -> None:
    """What stands at another place, or is null in a file, is no other type."""
    january = [{"a": [{"x": 1, "y": "b"}], "m": None}]
    february = [{"m": "text", "a": [{"y": "c", "x": 2}]}]
    folder = monthly(tmp_path / "s", pyarrow.array(january), pyarrow.array(february))
    with open_source(folder) as source:
        assert not any(column.notes for table in source.tables for column in table.columns)


def test_a_map_with_equal_keys_costs_its_table_alone(tmp_path: Path) -> None:
    """Arrow writes one, DuckDB can't put it together again; the same key in two maps is none."""
    type_ = pyarrow.map_(pyarrow.string(), pyarrow.int64())
    for name, maps in (
        ("equal", [[("k", 1), ("k", 2)], []]),
        ("other", [[("k", 1), ("l", 2)], [("k", 3)]]),
    ):
        table = pyarrow.table({"id": [1, 2], "m": pyarrow.array(maps, type_)})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["other", "other__m"]
        assert [(one.name, one.reason) for one in source.skipped] == [
            ("equal", "A map in m has a key more than once. Write it as a list.")
        ]
    with pytest.raises(FluidError, match="a key more than once"):
        open_source(tmp_path / "equal.parquet")


def test_numbers_of_no_unit_beside_durations_are_noted(tmp_path: Path) -> None:
    folder = monthly(
        tmp_path,
        pyarrow.array([1], pyarrow.duration("s")),
        pyarrow.array([1], pyarrow.int64()),
    )
    with open_source(folder) as source:
        (table,) = source.tables
    notes = [note for column in table.columns for note in column.notes]
    assert (
        "Only some of its files say that its numbers are seconds; the others say no unit." in notes
    )


def test_decimals_that_become_floating_numbers_are_noted(tmp_path: Path) -> None:
    folder = monthly(
        tmp_path,
        pyarrow.array([Decimal("0.20")], pyarrow.decimal128(4, 2)),
        pyarrow.array([0.2], pyarrow.float32()),
    )
    with open_source(folder) as source:
        (table,) = source.tables
    notes = [note for column in table.columns for note in column.notes]
    assert any("decimals are read as floating numbers" in note for note in notes)


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("days", [-1, 2])
def test_times_outside_of_a_day_are_refused(tmp_path: Path, unit: str, days: int) -> None:
    """DuckDB reads them as something that has no spelling."""
    type_ = pyarrow.time64(unit) if unit == "us" else pyarrow.time32(unit)
    many = days * 86_400 * {"s": 1, "ms": 1_000, "us": 1_000_000}[unit]
    parquet.write_table(
        pyarrow.table({"id": [1], "at": pyarrow.array([many], type_)}), tmp_path / "t.parquet"
    )
    with pytest.raises(SourceUnreadableError, match="at has times before 00:00 or after 24:00"):
        open_source(tmp_path / "t.parquet")
