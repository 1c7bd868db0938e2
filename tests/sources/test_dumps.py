"""SQL dumps with rows, as the databases' own tools write them."""

import sqlite3
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import SourceUnreadableError
from fluid_build.forging import forge
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.dumps import sqlite_script
from fluid_build.sources.dumps.literals import literals_of, read_rows
from fluid_build.sources.kinds import DDL
from fluid_build.sources.options import ReadOptions
from fluid_build.sources.uri import Address, locate
from tests.postgres import PostgresDatabase

Write = Callable[[str], Path]

MYSQL = r"""-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
CREATE TABLE `customer` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `name` varchar(50) DEFAULT NULL COMMENT 'as on the invoice',
  `photo` varbinary(10) DEFAULT NULL,
  `born` date DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
LOCK TABLES `customer` WRITE;
INSERT INTO `customer` VALUES (1,'it\'s; (ok), `x`',0x6869,'1990-02-28'),
(2,'back\\slash\nline',_binary 'ab',NULL);
INSERT INTO `customer` (`name`,`id`) VALUES (NULL,3);
UNLOCK TABLES;
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "dump.sql"
        path.write_text(text)
        return path

    return written


def rows(source: Source, table: str) -> list[tuple[object, ...]]:
    [found] = [each for each in source.tables if each.name == table]
    return source.relation(found).order("1").fetchall()


@pytest.mark.parametrize("options", [(), ("--inserts",), ("--rows-per-insert=2",)])
def test_what_pg_dump_writes_has_the_rows_of_the_database(
    postgres: PostgresDatabase, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """COPY and INSERT give the values that the server has, whatever they hold."""
    postgres.run(r"""
        CREATE TABLE customer (id int PRIMARY KEY, name text, photo bytea, paid numeric(9,2),
                               at timestamptz, ok boolean, tags text[], doc jsonb, "a ""b" uuid);
        INSERT INTO customer VALUES
          (1, E'tab\t, line\n, \\N and ''quote''', '\x00ff', 12.50, '2024-02-29 12:00:00.25+02',
           true, '{a,b}', '{"k": [1, "x"]}', '6f9619ff-8b86-d011-b42d-00c04fc964ff'),
          (2, '', '\x', -0.01, NULL, false, '{}', NULL, NULL),
          (3, NULL, NULL, NULL, '0044-03-15 BC', NULL, NULL, 'null', NULL);
        CREATE TABLE ticket (customer_id int REFERENCES customer, note text);
        INSERT INTO ticket VALUES (1, '\.'), (1, ''), (NULL, E'\x1e');
        CREATE TABLE empty (a int);
        DELETE FROM customer WHERE id = 3;""")
    dump = tmp_path / "shop.sql"
    command = [str(postgres.psql.with_name("pg_dump")), *options, f"--file={dump}", postgres.uri]
    subprocess.run(command, check=True)
    with (
        open_source(dump, nested="keep") as read,
        open_source(postgres.uri, nested="keep") as server,
    ):
        assert (read.kind, read.skipped) == ("dump", ())
        for table in ("customer", "ticket", "empty"):
            assert rows(read, table) == rows(server, table)
        customer = next(table for table in read.tables if table.name == "customer")
        assert customer.primary_key == ("id",)
        types = {table.name: [c.type for c in table.columns] for table in server.tables}
        assert {t.name: [c.type for c in t.columns] for t in read.tables} == types


def test_what_mysqldump_writes_is_read_with_its_escapes(write: Write) -> None:
    """Backslashes, binary values and named columns are read as MySQL reads them."""
    with open_source(write(MYSQL)) as source:
        assert rows(source, "customer")[:2] == [
            (1, "it's; (ok), `x`", b"hi", date(1990, 2, 28)),
            (2, "back\\slash\nline", b"ab", None),
        ]
        assert rows(source, "customer")[2] == (3, None, None, None)
        assert source.tables[0].column("name").comment == "as on the invoice"


def test_what_sqlite_dumps_has_the_rows_of_the_file(tmp_path: Path) -> None:
    """A SQLite dump reads as its database does, functions around its texts included."""
    path = tmp_path / "dump.sql"
    with sqlite3.connect(":memory:") as database:
        database.executescript("""
            CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, photo BLOB);
            CREATE TABLE ticket (
                id INTEGER PRIMARY KEY, customer_id REFERENCES customer, x NUMERIC);
            INSERT INTO customer VALUES (1, 'it''s' || char(10) || 'so', x'00ff'), (2, NULL, NULL);
            INSERT INTO ticket VALUES (1, 1, 1.5), (2, 2, 'n/a');""")
        text = "\n".join(database.iterdump())
    database.close()
    path.write_text(
        text + "\nINSERT INTO customer VALUES(3,replace('a\\nb','\\n',char(10)),NULL);"
        "\nINSERT INTO customer VALUES(4,unistr('a\\u000ab'),NULL);"
    )
    with open_source(path) as source:
        assert rows(source, "customer") == [
            (1, "it's\nso", b"\x00\xff"),
            (2, None, None),
            (3, "a\nb", None),
            (4, "a\nb", None),
        ]
        assert rows(source, "ticket") == [(1, 1, "1.5"), (2, 2, "n/a")]
        assert source.tables[1].foreign_keys[0].to_table == "customer"


def test_a_sqlite_dump_reaches_no_other_file(tmp_path: Path) -> None:
    """ATTACH, pragmas and functions that touch files aren't run, and the rest is read."""
    path, target = tmp_path / "dump.sql", tmp_path / "stolen.db"
    path.write_text(
        "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n"
        f"CREATE TABLE t (id INTEGER PRIMARY KEY);\nATTACH '{target}' AS other;\n"
        f"VACUUM INTO '{target}';\n"
        "INSERT INTO t VALUES(load_extension('x'));\nINSERT INTO t VALUES(7);\nCOMMIT;\n"
    )
    with open_source(path) as source:
        assert rows(source, "t") == [(7,)]
        assert any("couldn't be run" in note for note in source.notes)
    assert not target.exists()


COUNTING = "WITH c(x) AS (VALUES(1),(2),(3),(4),(5),(6),(7),(8),(9),(0))"
CROSSED = ", ".join(f"c AS c{number}" for number in range(12))
TENFOLD = ",'a','aaaaaaaaaa')"
SQLITE_HEAD = """PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
INSERT INTO t VALUES(1,'x');
"""


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OR ROLLBACK INTO t VALUES(1,'again');",
        f"INSERT INTO t(b) {COUNTING} SELECT 'x' FROM {CROSSED} WHERE c0.x + c11.x < 0;",
        f"INSERT INTO t(b) {COUNTING} SELECT '{'x' * 1000}' FROM {CROSSED};",
    ],
    ids=["a rollback", "an endless loop", "a full disk"],
)
def test_a_statement_of_a_sqlite_dump_that_undoes_the_others_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """What came before it would be lost unseen, and what goes on for ever is ended."""
    monkeypatch.setattr(sqlite_script, "_INSTRUCTIONS", (20_000_000, 20))
    monkeypatch.setattr(sqlite_script, "_SMALLEST_LIMIT", 1024 * 1024)
    path = tmp_path / "dump.sql"
    path.write_text(f"{SQLITE_HEAD}{statement}\nINSERT INTO t VALUES(2,'y');\nCOMMIT;\n")
    with pytest.raises(SourceUnreadableError, match=r"before line 5, INSERT \("):
        open_source(path)


@pytest.mark.parametrize(
    "value",
    [
        f"{'replace(' * 9}'aaaaaaaaaa'{TENFOLD * 9}",
        "(WITH RECURSIVE c(x) AS ({}) SELECT x FROM c LIMIT 1)",
    ],
    ids=["a gigabyte", "a recursive query"],
)
def test_an_expression_of_a_sqlite_dump_that_grows_is_left_out(tmp_path: Path, value: str) -> None:
    expression = value.format("SELECT 1 UNION ALL SELECT x + 1 FROM c")
    path = tmp_path / "dump.sql"
    path.write_text(f"{SQLITE_HEAD}INSERT INTO t VALUES(2,{expression});\nCOMMIT;\n")
    with open_source(path) as source:
        assert rows(source, "t") == [(1, "x")]
        assert any("1 statement of dump.sql couldn't be run" in note for note in source.notes)


def test_an_expression_is_left_out_and_never_run(write: Write) -> None:
    """A value that isn't a literal costs its row, and the note says which line that is."""
    path = write(
        "-- PostgreSQL database dump\nCREATE TABLE t (id int, what text);\n"
        "INSERT INTO t VALUES (1, 'a'),\n(2, pg_read_file('/etc/passwd')),\n(3, 'c');\n"
        "INSERT INTO t SELECT 4, 'd';\n"
    )
    with open_source(path) as source:
        assert rows(source, "t") == [(1, "a"), (3, "c")]
        assert "1 row was left out" in source.tables[0].notes[0]
        assert "line 4" in source.tables[0].notes[0]
        assert "1 statement without values, such as INSERT … SELECT: left out." in source.notes


def test_literals_of_sql_server_and_oracle_are_read(write: Write) -> None:
    """Conversions around a literal, as both export them, say no more than the literal."""
    path = write(
        "CREATE TABLE t (id int, at timestamp, name varchar(20));\n"
        "INSERT INTO t (id, at, name) VALUES"
        " (1, CAST(N'2024-01-01T10:00:00.123' AS DateTime2), N'ä'),"
        " (2, to_date('2024-01-02 10:00:00','YYYY-MM-DD HH24:MI:SS'), 'b'),"
        " (3, TIMESTAMP '2024-01-03 00:00:00', NULL);\n"
    )
    with open_source(path) as source:
        assert [str(row[1]) for row in rows(source, "t")] == [
            "2024-01-01 10:00:00.123000",
            "2024-01-02 10:00:00",
            "2024-01-03 00:00:00",
        ]


@pytest.mark.parametrize(
    ("type_", "value"), [("int", "1.5"), ("numeric(4,1)", "1.25"), ("date", "0000-00-00")]
)
def test_a_value_that_its_type_would_change_stays_text(
    write: Write, type_: str, value: str
) -> None:
    """A column keeps its text, with a note, where the declared type would round or lose a value."""
    path = write(
        f"-- PostgreSQL database dump\nCREATE TABLE t (id int, x {type_});\n"
        f"INSERT INTO t VALUES (1, '{value}'), (2, NULL);\n"
    )
    with open_source(path) as source:
        assert rows(source, "t") == [(1, value), (2, None)]
        assert "read as text" in source.tables[0].notes[0]


def test_sql_without_rows_is_structure(write: Write) -> None:
    """A file that only declares tables is DDL, as before."""
    assert locate(str(write("CREATE TABLE t (id int);"))).kind.name == "ddl"
    assert locate(str(write("CREATE TABLE t (id int);\nINSERT INTO t VALUES (1);"))).kind.name == (
        "dump"
    )


def test_a_dump_that_was_cut_off_keeps_what_came_before(write: Write) -> None:
    """The rows before the cut are read, and the last, broken one is counted."""
    path = write(MYSQL[: MYSQL.index(",NULL);\nINSERT")])
    with open_source(path) as source:
        assert [row[0] for row in rows(source, "customer")] == [1]
        assert "1 row was left out" in source.tables[0].notes[0]


def test_a_binary_file_with_the_ending_of_sql_is_refused(tmp_path: Path) -> None:
    """pg_dump's custom format isn't text."""
    path = tmp_path / "dump.sql"
    path.write_bytes(b"PGDMP\x01\x0e\x00INSERT INTO\n" + bytes(100))
    with pytest.raises(SourceUnreadableError, match="isn't SQL text"):
        open_source(path)


def test_a_forge_of_a_dump_copies_its_rows_for_dbt(write: Write, tmp_path: Path) -> None:
    """The model is proven on the dump's rows, and the project reads copies of them."""
    with open_source(write(MYSQL)) as source:
        forged = forge(source, out=tmp_path / "shop")
    assert forged.proof.verdict == "proven"
    assert (tmp_path / "shop/dbt/land/customer.parquet").is_file()


SCHEMAS = """CREATE TABLE sales.customer (id integer PRIMARY KEY);
CREATE TABLE crm.customer (id integer PRIMARY KEY);
CREATE TABLE crm.visit (id integer PRIMARY KEY);
CREATE TABLE loose (id integer PRIMARY KEY);
INSERT INTO crm.visit VALUES (7);
"""


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (ReadOptions(schemas=("crm",)), {"crm.customer", "crm.visit"}),
        (ReadOptions(include=("customer",)), {"sales.customer", "crm.customer"}),
        (ReadOptions(include=("CRM.*", "loose")), {"crm.customer", "crm.visit", "main.loose"}),
        (
            ReadOptions(schemas=("s*", "crm"), exclude=("visit",)),
            {"sales.customer", "crm.customer"},
        ),
    ],
)
def test_tables_of_sql_are_chosen_by_schema_and_by_name(
    write: Write, options: ReadOptions, names: set[str]
) -> None:
    """One key that SQLite has too doesn't make a dump with schemas one of SQLite."""
    dump = write(SCHEMAS)
    for address in (locate(str(dump)), Address(DDL, str(dump))):
        with open_source(address, **options.as_settings()) as source:
            assert {table.name for table in source.tables} == names


NESTED = """CREATE TABLE invoice (id integer PRIMARY KEY, lines jsonb, paid text, due text);
INSERT INTO invoice VALUES (1, '[{"sku":"a"},{"sku":"b"}]', '1.234', '01/02/2024');
INSERT INTO invoice VALUES (2, '[{"sku":"c"}]', '5.678', '03/04/2024');
"""


def test_nested_columns_of_a_dump_become_tables(write: Write) -> None:
    path = write(NESTED)
    with open_source(path) as source:
        assert [table.name for table in source.tables] == ["invoice", "invoice__lines"]
        assert [row[2] for row in rows(source, "invoice__lines")] == ["a", "b", "c"]
    with open_source(path, nested="keep") as source:
        assert [table.name for table in source.tables] == ["invoice"]


def test_an_answer_settles_how_text_in_a_dump_is_written(write: Write) -> None:
    path = write(NESTED)
    types = []
    for answers in (NO_ANSWERS, Conventions(".", "dmy")):
        with open_source(path, conventions=answers) as source:
            invoice = profile_source(source).table("invoice")
        types.append((invoice.column("paid").measured_type, invoice.column("due").measured_type))
    assert types == [(None, None), ("DOUBLE", "DATE (%d/%m/%Y)")]


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_VALUES = st.one_of(st.none(), _TEXTS, st.integers().map(str))


@given(st.lists(st.lists(_VALUES, min_size=1, max_size=4), max_size=5), st.booleans())
def test_rows_written_as_literals_are_read_back(
    table: list[list[str | None]], backslash: bool
) -> None:
    """Whatever texts rows hold, reading their literals gives them back."""

    def literal(value: str | None) -> str:
        if value is None:
            return "NULL"
        text = value.replace("\\", "\\\\") if backslash else value
        return "'" + text.replace("'", "''") + "'"

    text = ", ".join(f"({','.join(map(literal, row))})" for row in table)
    assert list(read_rows(text, 0, len(text), literals_of(backslash=backslash))) == table
