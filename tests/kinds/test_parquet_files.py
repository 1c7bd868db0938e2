"""Parquet files that DuckDB can't query as they are: profiled, forged, and built by dbt."""

from pathlib import Path

import duckdb
import pyarrow
import pytest
from pyarrow import parquet

from fluid_build.forging import forge
from fluid_build.profiling import profile_source, profiler
from fluid_build.sources import open_source, staged_views
from fluid_build.sources.base import Table
from fluid_build.sources.text_values.conventions import Conventions
from tests.sources.parquet_tables import (
    DIFFERENT,
    ERRORS,
    monthly,
    two_tables,
    write_codes,
    write_decimals,
    write_nulls,
)
from tests.transform.dbt.opened_projects import project_of


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


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_query_that_fails_on_a_file_is_run_on_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: duckdb.Error
) -> None:
    """The table is copied, measured, and carries a note; nothing is skipped."""
    two_tables(tmp_path)
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
    two_tables(tmp_path)
    _fails_in_place(monkeypatch, ERRORS[2], copies_fail=True)
    with open_source(tmp_path) as source:
        profile = profile_source(source)
    assert [table.name for table in profile.tables] == ["good"]
    assert [(one.name, one.reason) for one in profile.skipped] == [("bad", "page is too short.")]


def test_wide_decimals_come_back_whole(tmp_path: Path) -> None:
    texts = [f"{10**44 + i}.{i:012}" for i in range(30)]
    write_decimals(tmp_path / "amounts.parquet", 60, *texts)
    with open_source(tmp_path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"SELECT amount FROM {table.relation}").fetchall()
        forged = forge(source, technique="flat")
    assert [str(amount) for (amount,) in rows] == texts
    assert forged.proof.verdict == "proven"
    with project_of(str(tmp_path / "amounts.parquet"), tmp_path / "dbt") as made:
        assert made.access.copies


@pytest.mark.parametrize(("other", "shown"), [("Name", "Name"), ("name", "name_2")])
def test_columns_of_one_name_are_forged(tmp_path: Path, other: str, shown: str) -> None:
    """Names that differ in case alone are kept, equal ones numbered, and no value is lost."""
    arrays = [pyarrow.array([1, 2]), pyarrow.array(["x", "y"]), pyarrow.array(["z", "w"])]
    parquet.write_table(pyarrow.table(arrays, names=["id", "name", other]), tmp_path / "a.parquet")
    with open_source(tmp_path / "a.parquet") as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == ["id", "name", shown]
        assert forge(source, technique="flat").proof.verdict == "proven"


def test_dbt_reads_text_of_different_types_as_the_forge_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project casts file by file, whatever its time zone is."""
    project = tmp_path / "out"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    kinds = ("TIMESTAMP", "TIMESTAMPTZ", "VARCHAR")
    folder = monthly(tmp_path / "s", *(DIFFERENT[kind] for kind in kinds), pyarrow.nulls(2))
    with project_of(str(folder), project) as made:
        assert made.access.copies == ()
        assert made.differing("s") == 0
