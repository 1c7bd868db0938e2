"""MySQL and MariaDB, on a real MariaDB server."""

import socket
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import (
    EmptySourceError,
    FluidError,
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
)
from fluid_build.progress import Progress
from fluid_build.sources import open_source
from fluid_build.sources.base import DeclaredForeignKey, Source, Table
from fluid_build.sources.servers.mysql import catalog, rows
from fluid_build.sources.servers.mysql import database as reachability
from fluid_build.sources.servers.rows import MOMENTS
from fluid_build.sources.sql import quote
from tests.mariadb import MariaDBDatabase, start_mariadb


def only(source: Source) -> Table:
    (table,) = source.tables
    return table


def values(source: Source, table: Table, column: str) -> list[object]:
    alias = table.column(column).alias
    rows = source.connection.execute(f"SELECT {quote(alias)}::VARCHAR FROM {table.relation}")
    return [row[0] for row in rows.fetchall()]


TYPES = [
    ("tinyint", "-128", "TINYINT", "-128"),
    ("tinyint unsigned", "255", "UTINYINT", "255"),
    ("smallint unsigned", "65535", "USMALLINT", "65535"),
    ("mediumint unsigned zerofill", "7", "UINTEGER", "7"),
    ("int(5)", "123456", "INTEGER", "123456"),
    ("bigint", "-9223372036854775808", "BIGINT", "-9223372036854775808"),
    ("bigint unsigned", "18446744073709551615", "UBIGINT", "18446744073709551615"),
    ("float", "1.1", "FLOAT", "1.1"),
    ("double", "1e300", "DOUBLE", "1e+300"),
    ("decimal(10,2)", "99999999.99", "DECIMAL(10,2)", "99999999.99"),
    ("decimal(10,2)", "-99999999.99", "DECIMAL(10,2)", "-99999999.99"),
    ("decimal(10,2) unsigned", "99999999.99", "DECIMAL(10,2)", "99999999.99"),
    ("decimal(10,0)", "9999999999", "DECIMAL(10,0)", "9999999999"),
    ("decimal(1,0)", "-9", "DECIMAL(1,0)", "-9"),
    ("decimal(1,1) unsigned", "0.9", "DECIMAL(1,1)", ".9"),
    ("decimal(38,38)", "0." + "9" * 38, "DECIMAL(38,38)", "." + "9" * 38),
    ("decimal(38,0)", "9" * 38, "DECIMAL(38,0)", "9" * 38),
    ("decimal(65,30)", "1.5", "DECIMAL(38,30)", "1.5" + "0" * 29),
    ("decimal(65,0)", "9" * 65, "VARCHAR", "9" * 65),
    ("bit(1)", "b'1'", "BOOLEAN", "true"),
    ("bit(8)", "b'10101010'", "UINTEGER", "170"),
    ("bit(64)", "b'" + "1" * 64 + "'", "UBIGINT", "18446744073709551615"),
    ("tinyint(1)", "1", "BOOLEAN", "true"),
    ("tinyint(1)", "2", "TINYINT", "2"),
    ("tinyint(1)", "-1", "TINYINT", "-1"),
    ("boolean", "NULL", "BOOLEAN", None),
    ("date", "'2024-02-29'", "DATE", "2024-02-29"),
    ("date", "'9999-12-31'", "DATE", "9999-12-31"),
    ("date", "'0000-01-01'", "DATE", "0001-01-01 (BC)"),
    ("datetime(6)", "'9999-12-31 23:59:59.999999'", "TIMESTAMP", "9999-12-31 23:59:59.999999"),
    ("timestamp(6)", "'2038-01-19 03:14:07.999999'", "TIMESTAMP WITH TIME ZONE", None),
    ("datetime", "'2024-02-29 23:59:59'", "TIMESTAMP", "2024-02-29 23:59:59"),
    ("datetime(6)", "'2024-02-29 23:59:59.123456'", "TIMESTAMP", "2024-02-29 23:59:59.123456"),
    ("time", "'23:59:59'", "TIME", "23:59:59"),
    ("time(3)", "'00:00:00.125'", "TIME", "00:00:00.125"),
    ("time", "'838:59:59'", "INTERVAL", "838:59:59"),
    ("time", "'-00:00:01'", "INTERVAL", "-00:00:01"),
    ("time(6)", "'-838:59:58.999999'", "INTERVAL", "-838:59:58.999999"),
    ("year", "0", "INTEGER", "0"),
    ("year", "2155", "INTEGER", "2155"),
    ("float", "16777216", "FLOAT", "16777216.0"),
    ("double", "1e-320", "DOUBLE", "1e-320"),
    ("decimal(65,30)", "9" * 35 + "." + "9" * 30, "VARCHAR", "9" * 35 + "." + "9" * 30),
    ("decimal(10,2) zerofill", "1.5", "DECIMAL(10,2)", "1.50"),
    ("bit(12)", "b'000000000001'", "UBIGINT", "1"),
    ("tinyint(1) unsigned", "200", "UTINYINT", "200"),
    ("enum('a','b')", "'b'", "VARCHAR", "b"),
    ("set('x','y')", "''", "VARCHAR", ""),
    ("char(5)", "'a  '", "VARCHAR", "a"),
    ("char(3) character set binary", "'a'", "BLOB", "a\\x00\\x00"),
    ("text character set ucs2 collate ucs2_bin", "'é'", "VARCHAR", "é"),
    ("json", "'123456789012345678901.10'", "JSON", "123456789012345678901.10"),
    ("json", "'{\"a\": 1e400}'", "JSON", '{"a": 1e400}'),
    ("year", "2024", "INTEGER", "2024"),
    ("char(5)", "'a'", "VARCHAR", "a"),
    ("varchar(5)", "'a  '", "VARCHAR", "a  "),
    ("varchar(5) character set latin1", "'é'", "VARCHAR", "é"),
    ("varchar(5) character set cp1251", "'я'", "VARCHAR", "я"),
    ("varchar(5) collate utf8mb4_bin", "'😀'", "VARCHAR", "😀"),
    ("longtext", "'日本'", "VARCHAR", "日本"),
    ("tinytext", "''", "VARCHAR", ""),
    ("enum('a','b,c') collate utf8mb4_bin", "'b,c'", "VARCHAR", "b,c"),
    ("set('x','y')", "'x,y'", "VARCHAR", "x,y"),
    ("binary(3)", "x'ff'", "BLOB", "\\xFF\\x00\\x00"),
    ("varbinary(3)", "x'00ff'", "BLOB", "\\x00\\xFF"),
    ("blob", "''", "BLOB", ""),
    ("json", '\'{"a": [1, "é"]}\'', "JSON", '{"a": [1, "é"]}'),
    ("uuid", "'e3019b24-3a90-4556-a464-469ed5a45bb2'", "UUID", None),
    ("inet4", "'10.0.0.1'", "VARCHAR", "10.0.0.1"),
    ("inet6", "'::1'", "VARCHAR", "::1"),
    ("point", "POINT(1, 2)", "BLOB", None),
]


def test_every_type_is_read_without_loss(mariadb: MariaDBDatabase) -> None:
    """Each type has a fitting type in DuckDB, and the value that the server shows."""
    mariadb.run(
        "".join(
            f"CREATE TABLE t{i:03} (c {declared}); INSERT INTO t{i:03} VALUES ({value});"
            for i, (declared, value, _, _) in enumerate(TYPES)
        )
    )
    with open_source(mariadb.uri, nested="keep") as source:
        assert source.skipped == ()
        read = [(table.column("c").type, *values(source, table, "c")) for table in source.tables]
    for (declared, _, type_, value), (read_type, text) in zip(TYPES, read, strict=True):
        assert (declared, read_type) == (declared, type_)
        if value is not None:
            assert (declared, text) == (declared, value)


@given(
    st.lists(
        st.tuples(
            st.integers(-(2**63), 2**63 - 1),
            st.decimals(-(10**10), 10**10, places=3, allow_nan=False),
            st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
            st.binary(max_size=20),
            st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.booleans(),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_rows_are_read_as_they_were_written(
    mariadb: MariaDBDatabase, rows: list[tuple[object, ...]]
) -> None:
    """Numbers, text, bytes and truth values come back exactly."""
    mariadb.run(
        "CREATE OR REPLACE TABLE t (i bigint, d decimal(20,3), s varchar(30) COLLATE utf8mb4_bin,"
        " b varbinary(20), f double, t tinyint(1))"
    )
    mariadb.insert("t", rows)
    with open_source(mariadb.uri) as source:
        read = source.connection.execute(f"FROM {only(source).relation}").fetchall()
    assert read == rows


def test_a_moment_is_read_in_utc(mariadb: MariaDBDatabase) -> None:
    """A TIMESTAMP is the moment it is, whatever the server's time zone."""
    mariadb.run(
        "CREATE TABLE t (c timestamp); SET time_zone = '+05:00';"
        " INSERT INTO t VALUES ('2024-06-01 05:00:00')"
    )
    mariadb.server.run("SET GLOBAL time_zone = '-03:00'")
    try:
        with open_source(mariadb.uri) as source:
            table = only(source)
            assert table.column("c").type == "TIMESTAMP WITH TIME ZONE"
            assert values(source, table, "c") == ["2024-06-01 00:00:00+00"]
    finally:
        mariadb.server.run("SET GLOBAL time_zone = 'SYSTEM'")


def test_zero_dates_are_null_and_counted_in_a_note(mariadb: MariaDBDatabase) -> None:
    """0000-00-00 doesn't fail, and isn't lost without a word, in a column without NULL either."""
    mariadb.run("""
        SET sql_mode = '';
        CREATE TABLE t (d date NOT NULL, m datetime, s timestamp NULL, whole date NOT NULL);
        INSERT INTO t VALUES (0, 0, 0, '2024-01-01'), ('2024-01-31', NULL, NULL, '2024-01-02'),
            (0, '2024-01-31 10:00:00', NULL, '2024-01-03')
    """)
    with open_source(mariadb.uri) as source:
        table = only(source)
        assert [column.type for column in table.columns[:2]] == ["DATE", "TIMESTAMP"]
        assert values(source, table, "d") == [None, "2024-01-31", None]
        assert table.column("d").nullable
        assert not table.column("whole").nullable
    assert table.notes == (
        "d: 2 values: zero dates (0000-00-00); read as NULL.",
        "m: 1 value: zero dates (0000-00-00); read as NULL.",
        "s: 1 value: zero dates (0000-00-00); read as NULL.",
    )


def queries_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that grows by what the server is asked for."""
    asked: list[str] = []
    read = rows.MySQLRows.relation

    def relation(self: rows.MySQLRows, sql: str, size: int = 0, /) -> AbstractContextManager[str]:
        asked.append(sql)
        return read(self, sql, size)

    monkeypatch.setattr(rows.MySQLRows, "relation", relation)
    return asked


def test_a_date_without_a_day_is_kept_as_text(
    mariadb: MariaDBDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2024-02-00 fits no DATE: its column is text, and the other columns keep their types."""
    mariadb.run("""
        SET sql_mode = '';
        CREATE TABLE t (a date, b date, j json, u uuid);
        INSERT INTO t VALUES ('2024-02-00', '2024-02-01', '[1]', uuid()), (0, 0, '{}', uuid());
        CREATE TABLE whole (day date); INSERT INTO whole VALUES ('2024-02-01')
    """)
    asked = queries_of(monkeypatch)
    with open_source(mariadb.uri) as source:
        table = source.tables[0]
        types = [column.type for column in table.columns]
        assert types == ["VARCHAR", "DATE", "JSON", "UUID"]
        assert values(source, table, "a") == ["2024-02-00", None]
        assert values(source, table, "b") == ["2024-02-01", None]
        assert source.notes == (), "all is still seen at one moment"
    assert "a: 1 value without month or day (2024-00-00); read as text." in table.notes
    assert sum("`whole`" in sql for sql in asked) == 1, "other tables are read once"


def test_reads_declared_keys_comments_and_generated_columns(mariadb: MariaDBDatabase) -> None:
    """Composite keys whole and in order, unique indexes, comments; an invisible column as well."""
    mariadb.run("""
        CREATE TABLE parent (b int, a int, `Mixed Case` int UNIQUE, c varchar(20) NOT NULL,
            twice int AS (a * 2) STORED, hidden int INVISIBLE, now_ datetime DEFAULT (now()),
            PRIMARY KEY (a, b), UNIQUE KEY prefix (c(5)))
            COMMENT 'the parent';
        ALTER TABLE parent MODIFY a int COMMENT 'first half';
        CREATE TABLE child (id int AUTO_INCREMENT PRIMARY KEY, y int, x int NOT NULL, up int,
            KEY plain (y), FOREIGN KEY (up) REFERENCES child (id),
            FOREIGN KEY (x, y) REFERENCES parent (a, b))
    """)
    with open_source(mariadb.uri) as source:
        child, parent = source.tables
    assert parent.primary_key == ("a", "b")
    assert set(parent.unique_keys) == {("Mixed Case",), ("c",)}
    assert parent.comment == "the parent"
    assert parent.column("a").comment == "first half"
    assert parent.column("twice").generated
    assert not parent.column("now_").generated
    assert [column.name for column in parent.columns][-2:] == ["hidden", "now_"]
    assert set(child.foreign_keys) == {
        DeclaredForeignKey(("up",), "child", ("id",)),
        DeclaredForeignKey(("x", "y"), "parent", ("a", "b")),
    }
    assert not child.column("x").nullable


def test_a_truth_value_in_a_key_stays_a_number(mariadb: MariaDBDatabase) -> None:
    """A TINYINT(1) that refers to another isn't turned into a type that it can't be joined by."""
    mariadb.run("""
        CREATE TABLE status (id tinyint(1) UNIQUE, name varchar(9));
        CREATE TABLE job (id int PRIMARY KEY, status tinyint(1) REFERENCES status (id));
        INSERT INTO status VALUES (0, 'new'), (1, 'run'); INSERT INTO job VALUES (7, 1)
    """)
    with open_source(mariadb.uri) as source:
        job, status = source.tables
        assert (job.column("status").type, status.column("id").type) == ("TINYINT", "TINYINT")


def test_odd_names_are_read(mariadb: MariaDBDatabase) -> None:
    """Names with quotes, backticks, question marks and other scripts, and words of SQL."""
    names = ["a`b", 'say "x"', "it's", "ta?ble", "表", "select", "back\\slash", "%s {x} $1"]
    for name in names:
        quoted = "`" + name.replace("`", "``") + "`"
        mariadb.server.run(
            f"CREATE TABLE {quoted} ({quoted} int PRIMARY KEY COMMENT 'it''s \"\\\\');"
            f" INSERT INTO {quoted} VALUES (1)",
            mariadb.name,
        )
    with open_source(mariadb.uri) as source:
        assert source.skipped == ()
        assert {table.name for table in source.tables} == set(names)
        for table in source.tables:
            assert values(source, table, table.name) == ["1"]
            assert table.primary_key == (table.name,)


def test_case_twins_are_told_apart(mariadb: MariaDBDatabase) -> None:
    """Two tables whose names differ in case alone keep their names and rows."""
    mariadb.run("CREATE TABLE twin (id int); CREATE TABLE Twin (id int);"
                " INSERT INTO twin VALUES (1); INSERT INTO Twin VALUES (2)")  # fmt: skip
    with open_source(mariadb.uri) as source:
        tables = {table.name: table for table in source.tables}
        assert {name: values(source, table, "id") for name, table in tables.items()} == {
            "twin": ["1"],
            "Twin": ["2"],
        }


def test_a_reference_that_holds_only_by_collation_is_noted(mariadb: MariaDBDatabase) -> None:
    """The server takes 'ABC' and 'abc ' for equal, DuckDB doesn't: a note counts such rows."""
    mariadb.run("""
        CREATE TABLE country (code varchar(5) PRIMARY KEY) COLLATE utf8mb4_general_ci;
        CREATE TABLE city (id int PRIMARY KEY, country varchar(5), exact varchar(5),
            FOREIGN KEY (country) REFERENCES country (code),
            FOREIGN KEY (exact) REFERENCES country (code)) COLLATE utf8mb4_general_ci;
        INSERT INTO country VALUES ('DE'), ('Fr');
        INSERT INTO city VALUES (1, 'DE', 'DE'), (2, 'de', 'Fr'), (3, 'FR ', NULL), (4, NULL, NULL)
    """)
    with open_source(mariadb.uri) as source:
        city, country = source.tables
    (note,) = city.notes
    assert "country: 2 rows refer to country only by the source's collation" in note
    assert "utf8mb4_general_ci" in note
    assert country.notes == ()


def test_partitions_versions_and_engines(mariadb: MariaDBDatabase) -> None:
    """A partitioned table is one, of a versioned one the current rows are read, with a note."""
    mariadb.run("""
        CREATE TABLE sale (id int, y int, PRIMARY KEY (id, y))
            PARTITION BY RANGE (y) (PARTITION a VALUES LESS THAN (10),
                                    PARTITION b VALUES LESS THAN MAXVALUE);
        INSERT INTO sale VALUES (1, 5), (2, 50);
        CREATE TABLE price (id int PRIMARY KEY, p int) WITH SYSTEM VERSIONING;
        INSERT INTO price VALUES (1, 10); UPDATE price SET p = 20;
        CREATE TABLE old (id int) ENGINE = MyISAM; CREATE SEQUENCE numbers
    """)
    with open_source(mariadb.uri) as source:
        old, price, sale = source.tables
        assert sorted(map(str, values(source, sale, "id"))) == ["1", "2"]
        assert values(source, price, "p") == ["20"]
        assert source.notes == ("Sequences aren't read (1 found).",)
    assert price.primary_key == ("id",)
    assert price.notes == ("It's system-versioned: only the current version of each row was read.",)
    assert "MyISAM, has no transactions" in old.notes[0]


def test_databases_are_chosen(mariadb: MariaDBDatabase) -> None:
    """The one of the URI by default, others by --schema; a foreign key to another is a note."""
    other = f"{mariadb.name}_other"
    mariadb.run(f"""
        CREATE DATABASE {other}; CREATE TABLE {other}.parent (id int PRIMARY KEY);
        CREATE TABLE child (id int REFERENCES {other}.parent (id))
    """)
    try:
        with open_source(mariadb.uri) as source:
            child = only(source)
            assert child.notes == (
                f"It declares a foreign key (id) to {other}.parent, which wasn't read.",
            )
            assert source.name == mariadb.name
        with open_source(mariadb.uri, schemas=[other, mariadb.name]) as source:
            assert {table.name for table in source.tables} == {
                f"{mariadb.name}.child",
                f"{other}.parent",
            }
        with open_source(mariadb.uri_of("root", database="")) as source:
            assert {mariadb.name, other} <= {table.schema for table in source.tables}
        with pytest.raises(SourceNotFoundError, match="no schema 'nix'"):
            open_source(mariadb.uri, schemas=["nix"])
    finally:
        mariadb.run(f"DROP TABLE child; DROP DATABASE {other}")


def test_databases_that_differ_in_case_are_told_apart(mariadb: MariaDBDatabase) -> None:
    """Only the tables of the one that the URI names are read."""
    twin = mariadb.name.upper()
    mariadb.run(f"CREATE TABLE a (n int); CREATE DATABASE {twin}; CREATE TABLE {twin}.b (n int)")
    try:
        with open_source(mariadb.uri) as source:
            assert [table.name for table in source.tables] == ["a"]
        with open_source(mariadb.uri_of("root", database=twin)) as source:
            assert [table.name for table in source.tables] == ["b"]
    finally:
        mariadb.run(f"DROP DATABASE {twin}")


def test_all_tables_are_seen_at_one_moment(mariadb: MariaDBDatabase) -> None:
    """What is written while the tables are read is in none of them."""
    mariadb.run("CREATE TABLE a (n int); CREATE TABLE b (n int); INSERT INTO a VALUES (1)")

    def write(report: Progress) -> None:
        if report.detail == "b":
            mariadb.run("INSERT INTO a VALUES (2); INSERT INTO b VALUES (2)")

    with open_source(mariadb.uri, on_progress=write) as source:
        a, b = source.tables
        assert (values(source, a, "n"), values(source, b, "n")) == (["1"], [])
        assert source.notes == ()


def test_a_weaker_isolation_is_noted(mariadb: MariaDBDatabase) -> None:
    """Where the server's transactions see others' changes, the reader is told."""
    mariadb.run("CREATE TABLE a (n int); SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED")
    try:
        with open_source(mariadb.uri) as source:
            (note,) = source.notes
        assert "isolation level is READ-COMMITTED" in note
    finally:
        mariadb.run("SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def test_a_large_table_is_read_as_it_comes(
    mariadb: MariaDBDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that shouldn't be held in memory is streamed, and a note says what that means."""
    for module in (rows, catalog):
        monkeypatch.setattr(module, "MOST_AT_ONCE", 1)
    mariadb.run("CREATE TABLE a (n int); INSERT INTO a SELECT seq FROM seq_1_to_5000")
    with open_source(mariadb.uri) as source:
        table = only(source)
        assert len(values(source, table, "n")) == 5000
    assert "by a connection of its own" in table.notes[0]


def test_a_sample_reads_some_rows(mariadb: MariaDBDatabase) -> None:
    """Of a large table the first, of a small one all; zero dates are counted among those read."""
    mariadb.run("""
        SET sql_mode = ''; CREATE TABLE small (n int); INSERT INTO small VALUES (1), (2);
        CREATE TABLE big (n int, d date); INSERT INTO big SELECT seq, 0 FROM seq_1_to_500;
        ANALYZE TABLE small, big
    """)
    with open_source(mariadb.uri, sample=100) as source:
        big, small = source.tables
        assert len(values(source, big, "n")) == 100
        assert values(source, small, "n") == ["1", "2"]
    assert big.sampled is not None
    assert small.sampled is None
    assert "d: 100 values: zero dates (0000-00-00); read as NULL." in big.notes


@contextmanager
def a_user(mariadb: MariaDBDatabase, *grants: str, password: str = "") -> Iterator[str]:
    user = f"u_{mariadb.name}"
    mariadb.run(f"CREATE USER {user} IDENTIFIED BY '{password}'")
    for grant in grants:
        mariadb.run(f"GRANT {grant} TO {user}")
    try:
        yield user
    finally:
        mariadb.run(f"DROP USER {user}")


def test_a_reader_with_the_right_to_select_sees_keys(mariadb: MariaDBDatabase) -> None:
    """A login that may only read has the same declared keys."""
    mariadb.run("CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (p int REFERENCES p (id))")
    with (
        a_user(mariadb, f"SELECT ON {mariadb.name}.*") as user,
        open_source(mariadb.uri_of(user)) as source,
    ):
        child, parent = source.tables
        assert parent.primary_key == ("id",)
        assert child.foreign_keys == (DeclaredForeignKey(("p",), "p", ("id",)),)


def test_what_may_not_be_read_is_left_out(mariadb: MariaDBDatabase) -> None:
    """A table without the right is skipped, a column without it left out with a note."""
    mariadb.run("""
        CREATE TABLE open (id int); CREATE TABLE secret (id int);
        CREATE TABLE partly (id int PRIMARY KEY, code int UNIQUE, salary int, born date);
        SET sql_mode = ''; INSERT INTO partly VALUES (1, 2, 3, 0)
    """)
    grants = (
        f"SELECT ON {mariadb.name}.open",
        f"INSERT ON {mariadb.name}.secret",
        f"SELECT (id, born) ON {mariadb.name}.partly",
    )
    with a_user(mariadb, *grants) as user, open_source(mariadb.uri_of(user)) as source:
        open_table, partly = source.tables
        assert (open_table.name, partly.name) == ("open", "partly")
        assert [column.name for column in partly.columns] == ["id", "born"]
        assert partly.primary_key == ("id",)
        assert partly.notes == (
            "born: 1 value: zero dates (0000-00-00); read as NULL.",
            "This user may SELECT some of its columns only; the others weren't read.",
        )
        assert open_table.notes == ()
        (skipped,) = source.skipped
        assert (skipped.name, "permission" in skipped.reason) == ("secret", True)


def test_a_table_that_fails_is_skipped_and_the_others_are_read(
    mariadb: MariaDBDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error on the server costs that table alone; the others are read once, in two moments."""
    asked = queries_of(monkeypatch)
    mariadb.run("""
        CREATE TABLE a (n int); INSERT INTO a VALUES (1);
        CREATE TABLE b (n int) ENGINE = MyISAM; CREATE TABLE c (n int); INSERT INTO c VALUES (3)
    """)
    (mariadb.server.folder / "data" / mariadb.name / "b.MYD").unlink()
    mariadb.run("FLUSH TABLES")
    with open_source(mariadb.uri) as source:
        assert [table.name for table in source.tables] == ["a", "c"]
        (skipped,) = source.skipped
        assert skipped.name == "b"
        assert "SELECT" not in skipped.reason
        assert "b.MYD" in skipped.reason
        assert source.notes == (MOMENTS,)
    assert [sum(f"`{name}`" in sql for sql in asked) for name in "ac"] == [1, 1]


def test_a_connection_that_is_cut_is_made_again(mariadb: MariaDBDatabase) -> None:
    """What was read before is kept, and the note says that the rest may be newer."""
    mariadb.run("CREATE TABLE a (n int); CREATE TABLE b (n int); INSERT INTO a VALUES (1)")
    cuts: list[object] = []

    def cut(report: Progress) -> None:
        if report.detail == "b" and not cuts:
            cuts.append(report)
            for (number,) in mariadb.run(
                "SELECT ID FROM information_schema.PROCESSLIST"
                f" WHERE DB = '{mariadb.name}' AND ID <> CONNECTION_ID()"
            ):
                mariadb.run(f"KILL CONNECTION {number}")

    with open_source(mariadb.uri, on_progress=cut) as source:
        assert cuts
        assert source.skipped == ()
        assert [values(source, table, "n") for table in source.tables] == [["1"], []]
        assert source.notes == (MOMENTS,)


def test_a_server_that_dies_is_reported() -> None:
    """It's the server that is at fault, not the rights on its tables."""
    server = start_mariadb(tempfile.gettempdir())
    try:
        server.run("CREATE DATABASE d; CREATE TABLE d.a (n int); CREATE TABLE d.b (n int)")

        def kill(report: Progress) -> None:
            if report.detail == "b":
                server.process.kill()
                server.process.wait()

        with pytest.raises(SourceUnreachableError, match="stopped answering while"):
            open_source(f"mysql://root@127.0.0.1:{server.port}/d", on_progress=kill)
    finally:
        server.stop()


def test_reading_writes_nothing(mariadb: MariaDBDatabase) -> None:
    """The transaction is read-only on the server's side, and its connection is given back."""
    mariadb.run("CREATE TABLE t (a int)")
    processes = (
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST"
        f" WHERE DB = '{mariadb.name}' AND ID <> CONNECTION_ID()"
    )
    seen: list[object] = []

    def look(report: Progress) -> None:
        if report.detail:
            seen.append(mariadb.run(processes)[0][0])

    with open_source(mariadb.uri, on_progress=look) as source:
        assert seen == [1]
        assert mariadb.run(processes) == [(0,)]
        assert source.connection.execute(
            "SELECT count(*) FROM duckdb_databases() WHERE database_name = 'origin'"
        ).fetchone() == (0,)


def test_a_password_opens_and_is_never_shown(
    mariadb: MariaDBDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right password opens, in the URI or in MYSQL_PWD; a wrong one isn't repeated."""
    mariadb.run("CREATE TABLE t (a int)")
    with a_user(mariadb, f"SELECT ON {mariadb.name}.*", password="right @/:pw") as user:
        with open_source(mariadb.uri_of(user, "right%20%40%2F%3Apw")) as source:
            assert only(source).name == "t"
            shown = f"{source!r} {source.connection.execute('FROM duckdb_databases()').fetchall()}"
            assert "right" not in shown
        with pytest.raises(SourceUnreachableError, match="refused the login") as caught:
            open_source(mariadb.uri_of(user, "wr0ng%40pw"))
        error = caught.value
        assert "wr0ng" not in f"{error} {error.hint} {error!r}"
        assert error.__cause__ is None and error.__suppress_context__
        monkeypatch.setenv("MYSQL_PWD", "right @/:pw")
        with open_source(mariadb.uri_of(user)) as source:
            assert only(source).name == "t"


def test_a_socket_and_mariadbs_own_scheme_lead_to_the_server(mariadb: MariaDBDatabase) -> None:
    """``mariadb://`` is the same as ``mysql://``, and ``socket`` names the server's socket."""
    mariadb.run("CREATE TABLE t (a int)")
    for uri in (
        mariadb.uri.replace("mysql://", "mariadb://"),
        f"mysql://root@/{mariadb.name}?socket={mariadb.server.socket}",
    ):
        with open_source(uri) as source:
            assert only(source).name == "t"


@pytest.mark.parametrize(
    ("uri", "error", "message"),
    [
        ("mysql://u:s3cret@127.0.0.1:1/db", SourceUnreachableError, "can't be reached"),
        ("mysql://u:s3cret@h.invalid/db", SourceUnreachableError, "can't be reached"),
        ("mysql://u:s3cret@/db?socket=/nowhere", SourceUnreachableError, "can't be reached"),
        ("mysql://u:s3cret@h:port/db", SourceError, "can't be r"),
        ("mysql://u:s3cret@127.0.0.1:1/db?nonsense=1", SourceError, "can't be read"),
        ("mysql://u:s3cret@127.0.0.1:99999/db", SourceError, "can't be r"),
    ],
)
def test_a_server_that_cannot_be_reached_is_reported_without_the_password(
    uri: str, error: type[FluidError], message: str
) -> None:
    """The message says what is wrong with the server, and never holds the password."""
    with pytest.raises(error, match=message) as caught:
        open_source(uri)
    assert "s3cret" not in f"{caught.value} {caught.value.hint} {caught.value!r}"


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that accepts a connection and never greets doesn't hold the command up."""
    monkeypatch.setattr(reachability, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(SourceUnreachableError, match="didn't answer within"):
            open_source(f"mysql://u@127.0.0.1:{port}/db")


def test_an_encrypted_connection_is_required_where_asked_for(mariadb: MariaDBDatabase) -> None:
    """``ssl-mode=required`` refuses a server without TLS, and says how to choose."""
    with pytest.raises(SourceUnreachableError, match="encrypted") as caught:
        open_source(f"{mariadb.uri}?ssl-mode=required")
    assert "ssl-mode" in str(caught.value.hint)


def test_unknown_and_empty_databases_have_errors_of_their_own(mariadb: MariaDBDatabase) -> None:
    """A database that the server doesn't have, one without tables, and one of views alone."""
    with pytest.raises(SourceNotFoundError, match="Unknown database 'nix'"):
        open_source(mariadb.uri_of("root", database="nix"))
    with pytest.raises(EmptySourceError, match="has no tables"):
        open_source(mariadb.uri)
    mariadb.run("CREATE TABLE t (a int)")
    with a_user(mariadb) as user, pytest.raises(SourceNotFoundError, match="may not use it"):
        open_source(mariadb.uri_of(user))
    with (
        a_user(mariadb, f"INSERT ON {mariadb.name}.t") as user,
        pytest.raises(SourceUnreadableError, match="None of the 1 tables"),
    ):
        open_source(mariadb.uri_of(user))
