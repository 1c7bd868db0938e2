"""What can't be read is called by its name, and its owner is told what to do."""

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from fluid_build.errors import EmptySourceError, SourceError, UnknownSourceError
from fluid_build.sources import open_source
from fluid_build.sources.addresses.unread_formats import unread_format
from tests.postgres import PostgresDatabase

FORMATS = {
    "shop.numbers": ("a Numbers spreadsheet", "Save each sheet as CSV"),
    "shop.docx": ("a Word document", "Save its tables as CSV"),
    "shop.zip": ("an archive", "Unpack it"),
    "shop.csv.bz2": ("a compressed file", "Unpack it"),
    "shop.orc": ("an ORC file", "Convert it to Parquet"),
    "shop.accdb": ("an Access database", "Export its tables"),
}


def said(caught: pytest.ExceptionInfo[SourceError]) -> str:
    return f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("name", FORMATS)
def test_a_single_file_is_called_what_it_is(tmp_path: Path, name: str) -> None:
    """It may well hold tables, so it isn't said to hold none."""
    (tmp_path / name).write_bytes(b"PK\x03\x04")
    with pytest.raises(UnknownSourceError) as caught:
        open_source(tmp_path / name)
    what, advice = FORMATS[name]
    assert f"{name} is {what}; Fluid Forge doesn't read this format yet. {advice}" in said(caught)


def test_a_folder_of_such_files_says_which(tmp_path: Path) -> None:
    """By kind and number, and so does a glob."""
    for name in ("a.numbers", "b.numbers", "c.zip", "note.md"):
        (tmp_path / name).write_bytes(b"PK\x03\x04")
    for place in (tmp_path, tmp_path / "*"):
        with pytest.raises(EmptySourceError) as caught:
            open_source(place)
        files = "2 Numbers spreadsheets, an archive and 1 other file"
        expected = f"has no data files, but {files}. Save"
        assert expected in said(caught)


def test_a_mixed_folder_is_read_and_notes_what_was_left_aside(tmp_path: Path) -> None:
    """Nothing is passed over in silence."""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    for name in ("a.numbers", "b.numbers", "deep/c.orc", "note.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["t"]
        notes = " ".join(source.notes)
    assert "Not read: a.numbers, b.numbers (Numbers spreadsheets). Save each sheet as CSV" in notes
    assert "Not read: deep/c.orc (an ORC file). Convert it to Parquet" in notes
    assert "an unknown format: note.md." in notes


def test_a_hudi_table_is_never_read_as_the_files_in_it(tmp_path: Path) -> None:
    """Some of them may be deleted: by itself it is an error, beside others it is skipped."""
    lake = tmp_path / "lake" / "orders"
    (lake / ".hoodie").mkdir(parents=True)
    (lake / "data").mkdir()
    duckdb.sql("SELECT 1 AS id").write_parquet(str(lake / "data" / "0.parquet"))
    with pytest.raises(EmptySourceError) as caught:
        open_source(lake)
    assert "an Apache Hudi table" in said(caught) and "to export it to Parquet" in said(caught)
    (tmp_path / "ok.csv").write_text("a,b\n1,2\n")
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["ok"]
        (skipped,) = source.skipped
    assert (skipped.name, "Hudi" in skipped.reason) == ("lake.orders", True)


def test_known_formats_and_read_formats_do_not_overlap() -> None:
    """What is read is never said not to be."""
    for name in ("a.csv", "a.csv.gz", "a.parquet", "a.json", "a.sql", "a.db", "a.txt", "a.tsv.zst"):
        assert unread_format(Path(name)) is None


MONTHS = [f"sales_2024_{month:02d}.csv" for month in range(1, 13)]


def test_monthly_files_that_a_glob_names_are_said_to_be_alike(tmp_path: Path) -> None:
    """One file a table is what a glob gives; a folder of their own makes them one table."""
    for month in MONTHS:
        (tmp_path / month).write_text("id,amount\n1,2\n")
    with open_source(tmp_path / "sales_*.csv") as source:
        (note,) = source.notes
    assert "12 files have the same columns (sales_2024_01.csv to sales_2024_12.csv)" in note
    assert "move them to a subfolder and pass its parent folder as the source" in note
    (tmp_path / "sales").mkdir()
    for month in MONTHS:
        (tmp_path / month).rename(tmp_path / "sales" / month)
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert source.notes == ()
        (rows,) = source.connection.sql(f"SELECT count(*) FROM {table.relation}").fetchall()
    assert (table.name, rows) == ("sales", (12,))


@pytest.mark.parametrize(
    "files",
    [
        {"colors.csv": "id,name", "sizes.csv": "id,name"},
        {"t1.csv": "id,name", "t2.csv": "id,other"},
    ],
)
def test_tables_that_are_no_parts_are_not_remarked_on(
    tmp_path: Path, files: dict[str, str]
) -> None:
    """Lookup tables share their columns, and numbered tables often don't."""
    for name, header in files.items():
        (tmp_path / name).write_text(f"{header}\n1,a\n2,b\n")
    with open_source(tmp_path) as source:
        assert source.notes == ()


def test_a_duckdb_file_of_views_says_so_and_the_advice_works(tmp_path: Path) -> None:
    """The views are counted, and the option that reads them is named."""
    path = tmp_path / "mart.duckdb"
    with duckdb.connect(str(path)) as database:
        for i in range(12):
            database.execute(f"CREATE VIEW v{i} AS SELECT {i} AS id, 'x' AS name")
    with pytest.raises(EmptySourceError) as caught:
        open_source(path)
    assert "mart.duckdb has no tables, only 12 views. Add --views" in said(caught)
    with open_source(path, views=True) as source:
        assert len(source.tables) == 12


def test_a_sqlite_file_of_views_says_so(tmp_path: Path) -> None:
    """One view is told in the singular."""
    path = tmp_path / "mart.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE VIEW v AS SELECT 1 AS id")
    with pytest.raises(EmptySourceError) as caught:
        open_source(path)
    assert "has no tables, only a view" in said(caught)
    assert "Add --views" in said(caught)


def test_a_postgres_database_of_views_says_so(postgres: PostgresDatabase) -> None:
    """Materialized views are counted with them."""
    postgres.run("CREATE VIEW a AS SELECT 1 AS id; CREATE MATERIALIZED VIEW b AS SELECT 1 AS id")
    with pytest.raises(EmptySourceError) as caught:
        open_source(postgres.uri)
    assert "has no tables, only 2 views" in said(caught)
    assert "Add --views" in said(caught)


def test_a_script_of_views_says_so(tmp_path: Path) -> None:
    """DDL of views declares no table either."""
    (tmp_path / "views.sql").write_text(
        "CREATE VIEW a AS SELECT 1;\ncreate or replace materialized view b as select 2;\n"
    )
    with pytest.raises(EmptySourceError) as caught:
        open_source(tmp_path / "views.sql")
    assert "no CREATE TABLE statement, only 2 CREATE VIEW" in said(caught)
