"""What every kind of source promises, held against each on a real engine."""

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow
import pytest

from fluid_build.progress import Progress
from fluid_build.sources import open_source
from fluid_build.sources.base import Source, Table
from fluid_build.sources.uri import in_memory
from tests.mariadb import ANSI, MariaDBDatabase
from tests.sources.fingerprints import fingerprint
from tests.sources.kinds import COLUMNS, MAKERS, ROWS, arrow_tables, csv_folder, statements

if TYPE_CHECKING:
    from tests.sources.object_store import ObjectStore

KINDS = (*MAKERS, "in_memory", "postgres", "mysql", "snowflake", "s3")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def uri(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    if kind == "in_memory":
        return arrow_tables()
    if kind == "s3":
        store: ObjectStore = request.getfixturevalue("s3")
        return store.upload(Path(csv_folder(tmp_path)), "lake", tmp_path.name)

    if kind == "snowflake":
        snowflake: Any = request.getfixturevalue("snowflake")
        snowflake.run(*statements())
        return str(snowflake.uri)
    if kind == "mysql":
        mariadb: MariaDBDatabase = request.getfixturevalue("mariadb")
        mariadb.run(";\n".join((ANSI, *statements())))
        return mariadb.uri
    if kind != "postgres":
        return MAKERS[kind](tmp_path)
    database: Any = request.getfixturevalue("postgres")
    database.run(";\n".join(statements()))
    return str(database.uri)


def rows_of(source: Source, table: Table) -> list[tuple[object, ...]]:
    texts = source.connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {table.relation}")
    return sorted(texts.fetchall(), key=str)


def expected_tables(kind: str) -> list[str]:
    return [name for name in ROWS if kind != "json" or ROWS[name]]


def test_lists_every_table_by_its_own_name(kind: str, uri: str) -> None:
    """Tables keep their names: spaces, reserved words, and the empty one included."""
    with open_source(uri) as source:
        assert [table.name for table in source.tables] == sorted(
            expected_tables(kind), key=str.lower
        )
        assert source.skipped == ()


def test_lists_every_column_in_order(kind: str, uri: str) -> None:
    """Columns keep their names and their order."""
    with open_source(uri) as source:
        found = {table.name: [column.name for column in table.columns] for table in source.tables}
    assert found == {name: list(COLUMNS[name]) for name in expected_tables(kind)}


def test_reads_every_value(kind: str, uri: str) -> None:
    """Every value comes out as it went in, nulls and quotes and other scripts included."""
    with open_source(uri) as source:
        for table in source.tables:
            expected = [
                tuple(None if value is None else str(value) for value in row)
                for row in ROWS[table.name]
            ]
            found = rows_of(source, table)
            if table.name == "group":
                found = [(row[0], f"{float(str(row[1])):.2f}") for row in found]
            assert found == sorted(expected, key=str)


def test_relations_have_the_columns_and_types_that_are_said(uri: str) -> None:
    """A relation's columns are the aliases in order, with the types of the columns."""
    with open_source(uri) as source:
        for table in source.tables:
            relation = source.relation(table)
            assert relation.columns == [column.alias for column in table.columns]
            assert [str(type_) for type_ in relation.types] == [c.type for c in table.columns]


def test_types_are_those_of_the_values(kind: str, uri: str) -> None:
    """Whole numbers, text and dates have the right family of type in every kind."""
    with open_source(uri) as source:
        customer = next(table for table in source.tables if table.name == "customer")
        assert customer.column("id").type in ("INTEGER", "BIGINT")
        assert customer.column("name").type == "VARCHAR"
        assert customer.column("born").type == "DATE"


def test_declared_precision_is_kept(kind: str, uri: str) -> None:
    """NUMERIC(10,2) stays exact where the source can declare it."""
    with open_source(uri) as source:
        amount = next(t for t in source.tables if t.name == "group").column("amount")
    if kind not in ("csv", "json", "s3"):
        assert amount.type == "DECIMAL(10,2)"


def test_an_all_null_column_is_read(uri: str) -> None:
    """A column without a single value is a column all the same."""
    with open_source(uri) as source:
        customer = next(table for table in source.tables if table.name == "customer")
        (count,) = source.connection.execute(
            f"SELECT count(note) FROM {customer.relation}"
        ).fetchone() or (None,)
        assert count == 0


def test_nothing_of_the_source_changes(kind: str, uri: str, tmp_path: Path) -> None:
    """Reading leaves the bytes of the source and the listing of its folder as they were."""
    before = fingerprint(tmp_path)
    with open_source(uri) as source:
        for table in source.tables:
            rows_of(source, table)
        assert fingerprint(tmp_path) == before
    assert fingerprint(tmp_path) == before


def test_progress_names_the_tables(uri: str) -> None:
    """Whoever waits hears of each table, and of the end."""
    heard: list[Progress] = []
    with open_source(uri, on_progress=heard.append) as source:
        names = {table.name for table in source.tables}
    assert names <= {report.detail for report in heard}
    assert heard[-1].done == heard[-1].total == len(names)


def test_an_interrupt_while_opening_leaves_nothing(uri: str, temporary: Path) -> None:
    """Ctrl-C while tables are read goes through, and no temporary file stays."""

    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_source(uri, on_progress=interrupt)
    assert list(temporary.iterdir()) == []


def test_a_source_can_be_opened_twice_at_a_time(uri: str) -> None:
    """Two readers of one source do not disturb each other."""
    with open_source(uri) as one, open_source(uri) as other:
        assert [table.name for table in one.tables] == [table.name for table in other.tables]


def test_closing_twice_does_no_harm(uri: str) -> None:
    """A source that is closed may be closed again."""
    source = open_source(uri)
    source.close()
    source.close()


def test_a_name_has_neither_path_nor_uri(kind: str, uri: str) -> None:
    """The source's name is fit for a title."""
    with open_source(uri) as source:
        assert source.name
        assert not set(source.name) & set("/:@?")


@pytest.mark.parametrize("wide_kind", KINDS)
def test_reads_two_thousand_columns(
    wide_kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A table of 2,000 columns (1,600 in Postgres, 1,000 in MySQL: their limits) is read whole."""
    # The stand-in for Snowflake takes most of a minute to create 2,000 columns.
    width = {"postgres": 1600, "mysql": 1000, "snowflake": 300}.get(wide_kind, 2000)
    names = [f"column number {i}" for i in range(width)]
    columns = ", ".join(f'"{name}" INTEGER' for name in names)
    insert = f"INSERT INTO wide VALUES ({', '.join(map(str, range(width)))})"
    uri: Any = str(tmp_path)
    if wide_kind == "postgres":
        database: Any = request.getfixturevalue("postgres")
        database.run(f"CREATE TABLE wide ({columns}); {insert}")
        uri = database.uri
    elif wide_kind == "mysql":
        mariadb: MariaDBDatabase = request.getfixturevalue("mariadb")
        mariadb.run(f"{ANSI}; CREATE TABLE wide ({columns}); {insert}")
        uri = mariadb.uri
    elif wide_kind == "snowflake":
        snowflake: Any = request.getfixturevalue("snowflake")
        snowflake.run(f"CREATE TABLE wide ({columns})", insert)
        uri = snowflake.uri
    elif wide_kind == "sqlite":
        with sqlite3.connect(tmp_path / "wide.db") as connection:
            connection.execute(f"CREATE TABLE wide ({columns})")
            connection.execute(insert)
        connection.close()
        uri = f"sqlite:///{tmp_path}/wide.db"
    elif wide_kind == "duckdb":
        with duckdb.connect(str(tmp_path / "wide.duckdb")) as engine:
            engine.execute(f"CREATE TABLE wide ({columns}); {insert}")
        uri = f"duckdb:///{tmp_path}/wide.duckdb"
    elif wide_kind == "in_memory":
        table_in_memory = pyarrow.table({name: [i] for i, name in enumerate(names)})
        uri = in_memory({"wide": table_in_memory})
    elif wide_kind == "json":
        record = {name: i for i, name in enumerate(names)}
        (tmp_path / "wide.json").write_text(json.dumps([record]))
    elif wide_kind == "csv":
        lines = [",".join(names), ",".join(map(str, range(width)))]
        (tmp_path / "wide.csv").write_text("\n".join(lines))
    else:
        with duckdb.connect() as engine:
            engine.execute(f"CREATE TABLE wide ({columns}); {insert}")
            engine.execute(f"COPY wide TO '{tmp_path}/wide.parquet'")
    with open_source(uri) as source:
        (table,) = source.tables
        assert [column.name for column in table.columns] == names
        row = source.connection.execute(f"FROM {table.relation}").fetchone()
        assert row == tuple(range(width))
