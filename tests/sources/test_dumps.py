"""SQL dumps with rows, as the databases' own tools write them."""

import shutil
import sqlite3
import subprocess
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.addresses.kinds import DDL
from fluid_build.sources.base import Source
from fluid_build.sources.options import ReadOptions
from fluid_build.sources.sql import quote
from fluid_build.sources.sql_text.ddl.dialects import DIALECTS
from fluid_build.sources.sql_text.dumps import sqlite_script
from fluid_build.sources.sql_text.dumps.literals import literals_of, read_rows
from fluid_build.sources.uri import Address, locate
from tests.mariadb import MariaDBDatabase
from tests.postgres import PostgresDatabase
from tests.sources.dump_texts import MYSQL, NESTED, Write
from tests.sources.dump_texts import write as write


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


BLOBS = b"""-- MySQL dump 10.13
CREATE TABLE `t` (`id` int NOT NULL, `photo` blob, `name` varchar(9), `at` point) ENGINE=InnoDB;
"""
ESCAPES = {0: b"\\0", 10: b"\\n", 13: b"\\r", 26: b"\\Z", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}


def blob_rows(values: list[bytes]) -> bytes:
    """An INSERT as mysqldump writes it without --hex-blob."""
    rows = (
        b"(%d,_binary '%b','n',NULL)" % (i, b"".join(ESCAPES.get(c, bytes([c])) for c in value))
        for i, value in enumerate(values)
    )
    return b"INSERT INTO `t` VALUES %b;\n" % b",".join(rows)


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=5))
def test_bytes_that_mysqldump_writes_as_they_are_come_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[bytes]
) -> None:
    """Whatever bytes they are, what looks like hexadecimal digits included."""
    path = tmp_path_factory.mktemp("dump") / "dump.sql"
    path.write_bytes(BLOBS + blob_rows([*values, bytes(range(256)), b"\\x41"]))
    with open_source(path) as source:
        read = [row[1] for row in rows(source, "t")]
    assert read == [*values, bytes(range(256)), b"\\x41"]


DUMPED = r"""
    CREATE TABLE t (id int PRIMARY KEY, photo blob, code binary(3), name varchar(20), big
        decimal(65,30), at point, born date, took time, address inet6, number bigint unsigned);
    INSERT INTO t SELECT seq, UNHEX(SHA2(seq, 512)), UNHEX('ff00fe'), "Zoë \\ 'x'", 1 / 3,
        POINT(seq, 1), '2024-02-29', '-838:59:59', '::1', 18446744073709551615 FROM seq_1_to_50;
    INSERT INTO t (id, photo) VALUES (51, '\\x41'), (52, ''), (53, NULL)
"""


@pytest.mark.parametrize("options", [(), ("--hex-blob",)])
def test_what_mariadb_dumps_has_the_rows_of_the_server(
    mariadb: MariaDBDatabase, tmp_path: Path, options: tuple[str, ...]
) -> None:
    """Random bytes, as they are or in hexadecimal digits, and every other value, as text."""
    tool = shutil.which("mariadb-dump")
    if tool is None:
        pytest.skip("MariaDB's tools aren't installed")
    mariadb.run(DUMPED)
    dump = tmp_path / "shop.sql"
    command = [tool, "--no-defaults", f"--socket={mariadb.server.socket}", "--user=root"]
    subprocess.run([*command, *options, f"--result-file={dump}", mariadb.name], check=True)
    read = []
    for place in (dump, mariadb.uri):
        with open_source(place, nested="keep") as source:
            [table] = source.tables
            cells = ", ".join(f"{quote(column.name)}::VARCHAR" for column in table.columns)
            found = source.connection.execute(f"SELECT {cells} FROM {table.relation} ORDER BY id")
            read.append(found.fetchall())
    assert read[0] == read[1]
    assert len(read[0]) == 53


@pytest.mark.parametrize("head", [b"", b"/*!40101 SET NAMES utf8 */;\n"])
def test_bytes_of_a_blob_and_letters_of_text_are_told_apart(tmp_path: Path, head: bytes) -> None:
    """Text keeps its letters, and of what isn't UTF-8 in it the values are counted by column."""
    path = tmp_path / "dump.sql"
    path.write_bytes(
        head + BLOBS + b"INSERT INTO `t` VALUES (1,_binary '\xff\xfe\xfd\xfc','\xc3\xa9','');\n"
        b"INSERT INTO `t` VALUES (2,'\xc3\xa9','\xc3\xa9\xff',_binary '\x01\xff');\n"
        + b"INSERT INTO `t` VALUES (3,NULL,'\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9',NULL);\n"
    )
    with open_source(path) as source:
        assert rows(source, "t")[:2] == [
            (1, b"\xff\xfe\xfd\xfc", "é", b""),
            (2, "é".encode(), "é\ufffd", b"\x01\xff"),
        ]
        assert source.tables[0].notes == (
            "name: 1 value with bytes that aren't valid UTF-8, which were replaced.",
        )


def test_bytes_of_a_blob_in_a_legacy_encoding_come_back(tmp_path: Path) -> None:
    path = tmp_path / "dump.sql"
    path.write_bytes(BLOBS + b"INSERT INTO `t` VALUES (1,'\xff\xfe','caf\xe9',NULL);\n")
    with open_source(path) as source:
        assert rows(source, "t") == [(1, b"\xff\xfe", "café", None)]


def test_bytes_whose_line_ends_are_lost_are_left_out_and_counted(tmp_path: Path) -> None:
    """Where the file's own line ends were changed, an escaped one is still known."""
    path = tmp_path / "dump.sql"
    path.write_bytes(
        BLOBS.replace(b"\n", b"\r\n")
        + b"INSERT INTO `t` VALUES (1,'a\r\nb','n',NULL),(2,'a\\nb','n',NULL);\r\n"
    )
    with open_source(path) as source:
        assert rows(source, "t") == [(2, b"a\nb", "n", None)]
        assert "1 row was left out" in source.tables[0].notes[0]


EXTREMES = [
    ("numeric", "1.1000000000000000000000000001", "1.1000000000000000000000000001"),
    ("numeric", "1.10", "1.10"),
    ("numeric", "NaN", "nan"),
    ("numeric(50,2)", f"{'9' * 48}.25", f"{'9' * 48}.25"),
    ("price", "1.23456789012345678", "1.23456789012345678"),
    ("numeric(5,2)[]", "{1.10,NaN}", "{1.10,NaN}"),
    ("numeric(5,2)[]", "{1.10,NULL}", "[1.10, NULL]"),
    ("numeric[]", "{1.10,NaN}", "{1.10,NaN}"),
    ("double precision[]", "{NaN,-Infinity}", "[nan, -inf]"),
    ("integer[]", "{}", "[]"),
    ("integer[]", "{{1,2},{3,4}}", "{{1,2},{3,4}}"),
    ("integer[]", "[0:1]={1,2}", "[0:1]={1,2}"),
    ("text[]", "{a[b,c]d,null}", "['a[b', 'c]d', NULL]"),
    ("text[]", "{'a,b'}", "['\\'a', 'b\\'']"),
    ("lists", "{1,NULL}", "[1, NULL]"),
    ("date", "0044-03-15 BC", "0044-03-15 (BC)"),
    ("date", "2024-01-01 10:00:00", "2024-01-01 10:00:00"),
    ("timestamp", "0044-03-15 12:00:00 BC", "0044-03-15 (BC) 12:00:00"),
    ("timestamp", "294276-12-31 00:00:00", "294276-12-31 00:00:00"),
    ("timestamp", "294247-01-10 04:00:54.775807", "294247-01-10 04:00:54.775807"),
    ("timestamp", "2024-01-01 00:00:00.1234567", "2024-01-01 00:00:00.1234567"),
    ("timestamp", "infinity", "infinity"),
    ("timestamptz", "0044-03-15 12:00:00+00 BC", "0044-03-15 (BC) 12:00:00+00"),
    ("interval", "infinity", "infinity"),
    ("money", "$1,234.50", "$1,234.50"),
    ("bytea", r"\\001a", r"\001a"),
    ("inet6", "::ffff:1.2.3.4", "::ffff:1.2.3.4"),
    ("int4range", "[1,5)", "[1,5)"),
]


@pytest.mark.parametrize(("declared", "written", "value"), EXTREMES)
def test_a_value_at_the_edge_of_its_type_is_read_as_it_is(
    write: Write, declared: str, written: str, value: str
) -> None:
    """As a type that holds it or as text: never as another value, and never without its table."""
    path = write(
        "-- PostgreSQL database dump\nCREATE DOMAIN price AS numeric;\n"
        f"CREATE DOMAIN lists AS integer[];\nCREATE TABLE t (id int, x {declared});\n"
        f"COPY t (id, x) FROM stdin;\n1\t{written}\n2\t\\N\n\\.\n"
    )
    with open_source(path, nested="keep") as source:
        [table] = source.tables
        read = source.connection.execute(f"SELECT x::VARCHAR FROM {table.relation} ORDER BY id")
        assert read.fetchall() == [(value,), (None,)]


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
    with pytest.raises(SourceUnreadableError, match=r"before line 5, INSERT (t )?\("):
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
        unrun, left_out = source.tables[0].notes
        assert "INSERT statements weren't run, so a database may have other rows: line 6" in unrun
        assert "1 row was left out" in left_out
        assert "line 4" in left_out


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
    ("dialect", "expected", "notes"),
    [
        ("oracle", [None, None, "x", " "], ("N: 2 empty texts, which Oracle has as null.",)),
        ("postgres", ["", None, "x", " "], ()),
    ],
)
def test_empty_text_is_null_as_in_oracle_and_nowhere_else(
    write: Write, dialect: str, expected: list[str | None], notes: tuple[str, ...]
) -> None:
    empty = "q'[]'" if dialect == "oracle" else "NULL"
    path = write(
        'CREATE TABLE "T" ("ID" int, "N" varchar(20));\n'
        f"INSERT INTO \"T\" VALUES (1, ''), (2, {empty}), (3, 'x'), (4, ' ');\n"
    )
    with open_source(path, dialect=dialect) as source:
        assert [name for _, name in rows(source, "T")] == expected
        assert source.tables[0].notes == notes


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


def test_nested_columns_of_a_dump_become_tables(write: Write) -> None:
    path = write(NESTED)
    with open_source(path) as source:
        assert [table.name for table in source.tables] == ["invoice", "invoice__lines"]
        assert [row[2] for row in rows(source, "invoice__lines")] == ["a", "b", "c"]
    with open_source(path, nested="keep") as source:
        assert [table.name for table in source.tables] == ["invoice"]


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
    assert (
        list(
            read_rows(
                text, 0, len(text), literals_of(DIALECTS["mysql" if backslash else "postgres"])
            )
        )
        == table
    )
