"""Parquet files that DuckDB can't query as they are: the Null type, and broken bytes."""

import random
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow
import pytest
from pyarrow import parquet

from fluid_build.errors import FluidError
from fluid_build.forging import forge
from fluid_build.profiling import profile_source, profiler
from fluid_build.sources import open_source, staged_views
from fluid_build.sources.base import Source, Table
from fluid_build.sources.conventions import Conventions
from tests.transform.dbt.opened_projects import project_of

ROWS = 36_677
"""Enough for pages that a filter on clustered values skips."""


def write_nulls(path: Path, *, rows: int = ROWS, note: pyarrow.Array | None = None) -> None:
    """A table as pandas writes it where a column holds nothing: clustered codes, no dictionary."""
    columns = {
        "id": pyarrow.array(range(rows)),
        "note": pyarrow.nulls(rows) if note is None else note,
        "code": pyarrow.array([f"G{number // 37:05d}" for number in range(rows)]),
    }
    parquet.write_table(pyarrow.table(columns), path, use_dictionary=["id", "code"])


def write_codes(path: Path) -> None:
    codes = pyarrow.array([f"G{number:05d}" for number in range(ROWS // 37 + 1)])
    parquet.write_table(pyarrow.table({"code": codes}), path)


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


def test_a_table_with_the_null_type_keeps_its_keys_and_references(tmp_path: Path) -> None:
    """Its keys and relationships are found, it is forged, and it comes back whole."""
    write_nulls(tmp_path / "visits.parquet")
    write_codes(tmp_path / "codes.parquet")
    with open_source(tmp_path) as source:
        forged = forge(source, technique="data_vault_2")
    assert forged.profile.skipped == ()
    keys = {table.name: table.primary_key for table in forged.profile.tables}
    assert keys == {"codes": ("code",), "visits": ("id",)}
    (reference,) = forged.profile.foreign_keys
    assert (reference.from_table, reference.to_table) == ("visits", "codes")
    assert forged.proof.verdict == "proven"


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


def test_dbt_reads_the_null_type_as_the_forge_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project's own reading of the file gives the same rows, filters included."""
    data, project = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    project.mkdir()
    monkeypatch.chdir(project)
    write_nulls(data / "t.parquet")
    with project_of(str(data), project) as made:
        assert made.access.copies == ()
        assert made.differing("t") == 0
        assert "REPLACE" in made.external("t")


def _fails_in_place(
    monkeypatch: pytest.MonkeyPatch, error: duckdb.Error, *, copies_fail: bool = False
) -> None:
    """Have a table ``bad`` fail where it is read in place, as DuckDB's reader does."""
    real = staged_views.stage_view

    def stage(connection: duckdb.DuckDBPyConnection, relation: str) -> None:
        if copies_fail:
            raise error
        real(connection, relation)
        copied.add(relation)

    copied: set[str] = set()
    monkeypatch.setattr(staged_views, "stage_view", stage)
    measure = profiler.measure_table

    def measure_table(
        connection: duckdb.DuckDBPyConnection, table: Table, conventions: Conventions
    ) -> object:
        if table.name == "bad" and table.relation not in copied:
            raise error
        return measure(connection, table, conventions)

    monkeypatch.setattr(profiler, "measure_table", measure_table)


def _two_tables(folder: Path) -> None:
    write_codes(folder / "bad.parquet")
    write_codes(folder / "good.parquet")


ERRORS = (
    duckdb.NotImplementedException("Not implemented Error: PlainSkip not implemented"),
    duckdb.InternalException("INTERNAL Error: no such encoding"),
    duckdb.IOException("IO Error: page is too short"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_query_that_fails_on_a_file_is_run_on_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: duckdb.Error
) -> None:
    """The table is copied, measured, and carries a note; nothing is skipped."""
    _two_tables(tmp_path)
    _fails_in_place(monkeypatch, error)
    with open_source(tmp_path) as source:
        profile = profile_source(source)
    assert profile.skipped == ()
    assert {table.name: table.notes for table in profile.tables} == {
        "bad": (staged_views.COPIED,),
        "good": (),
    }


def test_a_file_that_cant_be_copied_either_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other tables go on, and the reason is told."""
    _two_tables(tmp_path)
    _fails_in_place(monkeypatch, ERRORS[2], copies_fail=True)
    with open_source(tmp_path) as source:
        profile = profile_source(source)
    assert [table.name for table in profile.tables] == ["good"]
    assert [(one.name, one.reason) for one in profile.skipped] == [("bad", "page is too short.")]


def test_work_that_fails_later_is_done_again_on_copies(tmp_path: Path) -> None:
    """A query of the keys, the build or the proof that fails in place gets its copy too."""
    _two_tables(tmp_path)
    runs: list[list[bool]] = []

    def work(source: Source) -> str:
        runs.append([staged_views.COPIED in table.notes for table in source.tables])
        if len(runs) == 1:
            raise ERRORS[0]
        return "done"

    with open_source(tmp_path) as source:
        assert staged_views.staged_where_needed(source, lambda: work(source)) == "done"
    assert runs == [[False, False], [True, True]]


@pytest.mark.parametrize(("digits", "is_read"), [(38, True), (39, False)])
def test_decimals_that_duckdb_misreads_are_refused(
    tmp_path: Path, digits: int, is_read: bool
) -> None:
    """Of more than 38 digits, 0.01 would be read as 167772.16."""
    values = pyarrow.array([Decimal("0.01"), None], pyarrow.decimal256(digits, 2))
    parquet.write_table(pyarrow.table({"amount": values}), tmp_path / "amounts.parquet")
    if not is_read:
        with pytest.raises(FluidError, match="has decimals of 39 digits"):
            open_source(tmp_path)
        return
    with open_source(tmp_path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"FROM {table.relation}").fetchall()
    assert rows == [(Decimal("0.01"),), (None,)]


@pytest.mark.parametrize(("unit", "notes"), [("us", 0), ("ns", 1)])
def test_nanoseconds_that_are_cut_are_noted(tmp_path: Path, unit: str, notes: int) -> None:
    times = pyarrow.array([1, 3_600_000_001], pyarrow.time64(unit))
    parquet.write_table(pyarrow.table({"at": times}), tmp_path / "times.parquet")
    with open_source(tmp_path) as source:
        (column,) = source.tables[0].columns
    assert len(column.notes) == notes


def _sample(path: Path) -> bytes:
    rows = (
        "SELECT i AS id, 'name ' || (i * 7919 % 1000) AS name, i * 1.5 AS amount,"
        " DATE '2020-01-01' + CAST(i % 900 AS INTEGER) AS day, i % 2 = 0 AS flag,"
        " CASE WHEN i % 3 = 0 THEN NULL ELSE 'c' || (i % 20) END AS code,"
        " {'x': i, 'y': [i, i + 1]} AS nested, encode('b' || i) AS bytes FROM range(5000) AS r(i)"
    )
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    return path.read_bytes()


def test_flipped_bytes_end_in_figures_or_a_typed_error(tmp_path: Path) -> None:
    """Whatever a broken file makes of DuckDB, the forge ends well, and other tables go on."""
    whole = _sample(tmp_path / "t.parquet")
    write_codes(tmp_path / "codes.parquet")
    chance = random.Random(20)
    for _ in range(16):
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 2, 8))):
            at = chance.choice((chance.randrange(len(whole)), -1 - chance.randrange(2500)))
            broken[at] ^= 1 << chance.randrange(8)
        (tmp_path / "t.parquet").write_bytes(broken)
        try:
            with open_source(tmp_path) as source:
                forged = forge(source, technique="flat")
        except FluidError as error:
            assert error.hint
        else:
            assert "codes" in [table.name for table in forged.profile.tables]


def test_a_column_name_that_is_not_text_leaves_the_table_out(tmp_path: Path) -> None:
    """A name of broken UTF-8 can't be told nor quoted: its table is skipped, the others go on."""
    write_nulls(tmp_path / "t.parquet", rows=10)
    write_codes(tmp_path / "codes.parquet")
    broken = (tmp_path / "t.parquet").read_bytes().replace(b"note", b"n\xffte")
    (tmp_path / "t.parquet").write_bytes(broken)
    with open_source(tmp_path) as source:
        forged = forge(source, technique="flat")
    assert [table.name for table in forged.profile.tables] == ["codes"]
    assert [one.name for one in forged.profile.skipped] == ["t"]
