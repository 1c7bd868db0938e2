"""DuckDB files, attached read-only."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from fluid_build.errors import EmptySourceError, SourceNotFoundError, SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.base import DeclaredForeignKey


def written(path: Path, script: str) -> str:
    with duckdb.connect(str(path)) as connection:
        connection.execute(script)
    return f"duckdb:///{path}"


def test_reads_declared_keys(tmp_path: Path) -> None:
    """Keys come whole and in order, unique indexes among them."""
    uri = written(
        tmp_path / "a.duckdb",
        """
        CREATE TABLE p (a INT, b INT, "C c" VARCHAR NOT NULL, PRIMARY KEY (b, a),
            UNIQUE ("C c", a));
        CREATE TABLE ch (x INT, y INT, "un, usual" INT, FOREIGN KEY (x, y) REFERENCES p (b, a));
        CREATE UNIQUE INDEX i ON ch ("un, usual", y);
        """,
    )
    with open_source(uri) as source:
        tables = {table.name: table for table in source.tables}
    assert tables["p"].primary_key == ("b", "a")
    assert tables["p"].unique_keys == (("C c", "a"),)
    assert [column.nullable for column in tables["p"].columns] == [False, False, False]
    assert tables["ch"].foreign_keys == (DeclaredForeignKey(("x", "y"), "p", ("b", "a")),)
    assert tables["ch"].unique_keys == (("un, usual", "y"),)


def test_reads_comments_types_and_generated_columns(tmp_path: Path) -> None:
    """Comments, nested and enumerated types, and which columns are computed."""
    uri = written(
        tmp_path / "a.duckdb",
        """
        CREATE TYPE mood AS ENUM ('ok', 'bad');
        CREATE TABLE t (d DECIMAL(30,10), m mood, s STRUCT(a INT, b VARCHAR[]),
            "to tal" DECIMAL(31,10) GENERATED ALWAYS AS (d * 2));
        COMMENT ON TABLE t IS 'a table'; COMMENT ON COLUMN t.d IS 'a number';
        CREATE VIEW v AS FROM t;
        """,
    )
    with open_source(uri, nested="keep") as source:
        (table,) = source.tables
        assert source.notes == ("Views aren't read (1 found); add --views to read them.",)
    assert table.comment == "a table"
    assert table.column("d").comment == "a number"
    assert table.column("d").type == "DECIMAL(30,10)"
    assert table.column("m").type == "ENUM('ok', 'bad')"
    assert [column.generated for column in table.columns] == [False, False, False, True]


def test_several_schemas_qualify_the_names(tmp_path: Path) -> None:
    """With more than one schema names are schema.table; one that is asked for stays bare."""
    uri = written(
        tmp_path / "a.duckdb",
        "CREATE TABLE t (a INT PRIMARY KEY); CREATE SCHEMA s; CREATE SCHEMA none;"
        "CREATE TABLE s.t (a INT PRIMARY KEY); CREATE TABLE s.u (a INT REFERENCES s.t (a));",
    )
    with open_source(uri) as source:
        assert [table.name for table in source.tables] == ["main.t", "s.t", "s.u"]
        (key,) = source.tables[2].foreign_keys
        assert key.to_table == "s.t"
    with open_source(uri, schemas=["s"]) as source:
        assert [table.name for table in source.tables] == ["t", "u"]
        assert source.tables[1].foreign_keys == (DeclaredForeignKey(("a",), "t", ("a",)),)
    with pytest.raises(SourceNotFoundError, match="no schema 'sx'") as caught:
        open_source(uri, schemas=["sx"])
    assert caught.value.hint == "Did you mean 's'?"
    with pytest.raises(EmptySourceError, match="no tables in none"):
        open_source(uri, schemas=["none"])


def test_says_that_a_file_is_locked_by_another_process(tmp_path: Path) -> None:
    """A file that another process has open for writing is reported as locked."""
    uri = written(tmp_path / "a.duckdb", "CREATE TABLE t (a INT)")
    script = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "a.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as holder:
        assert holder.stdout
        holder.stdout.readline()
        with pytest.raises(SourceUnreadableError, match="locked"):
            open_source(uri)
        holder.communicate(b"\n")


def test_refuses_what_is_damaged_or_no_duckdb_file(tmp_path: Path) -> None:
    """A damaged file, a text file and an empty database each have their error."""
    path = tmp_path / "a.duckdb"
    uri = written(path, "CREATE TABLE t AS SELECT range AS a FROM range(100000)")
    raw = bytearray(path.read_bytes())
    raw[4096:20000] = b"\xff" * (20000 - 4096)
    path.write_bytes(raw)
    with pytest.raises(SourceUnreadableError, match=r"a\.duckdb"):
        open_source(uri)
    (tmp_path / "text.duckdb").write_text("hello, world; this is no database")
    with pytest.raises(SourceUnreadableError, match="isn't a DuckDB database"):
        open_source(tmp_path / "text.duckdb")
    with pytest.raises(EmptySourceError, match="no table"):
        open_source(written(tmp_path / "b.duckdb", "CREATE SCHEMA s"))


def test_reads_what_is_still_in_the_write_ahead_log(tmp_path: Path) -> None:
    """A file whose writer was killed is read with its log, and neither of them changes."""
    script = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]);"
        "c.execute('CREATE TABLE t AS SELECT 7 AS a'); os._exit(0)"
    )
    path = tmp_path / "a.duckdb"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    wal = tmp_path / "a.duckdb.wal"
    assert wal.exists()
    before = (path.read_bytes(), wal.read_bytes())
    with open_source(path) as source:
        (table,) = source.tables
        assert source.connection.execute(f"FROM {table.relation}").fetchall() == [(7,)]
    assert (path.read_bytes(), wal.read_bytes()) == before
