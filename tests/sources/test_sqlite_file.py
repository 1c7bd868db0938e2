"""SQLite files: values that no declaration binds, and a folder that must not change."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from fluid_build.errors import EmptySourceError, SourceNotFoundError, SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.base import DeclaredForeignKey, Source, Table
from fluid_build.sources.text_values.conventions import OFFSET_NOTE, OFFSETS_NOTE
from tests.sources.fingerprints import fingerprint


def written(path: Path, script: str) -> str:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


def only(source: Source) -> Table:
    (table,) = source.tables
    return table


def values(source: Source, column: str) -> list[object]:
    table = only(source)
    rows = source.connection.execute(
        f'SELECT "{column}"::VARCHAR FROM {table.relation} ORDER BY rowid'
    )
    return [row[0] for row in rows.fetchall()]


@pytest.mark.parametrize(
    ("declared", "inserted", "type_", "read"),
    [
        ("INTEGER", ["1", "9223372036854775807"], "BIGINT", ["1", "9223372036854775807"]),
        ("INTEGER", ["1", "2.5"], "DOUBLE", ["1.0", "2.5"]),
        ("INTEGER", ["1", "'abc'"], "VARCHAR", ["1", "abc"]),
        ("INTEGER", ["1", "''"], "VARCHAR", ["1", ""]),
        ("INTEGER", ["x'00ff'", "1"], "VARCHAR", ["\\x00\\xFF", "1"]),
        ("NUMERIC(10,2)", ["19.99", "5"], "DECIMAL(10,2)", ["19.99", "5.00"]),
        ("NUMERIC(10,2)", ["0.125"], "DOUBLE", ["0.125"]),
        ("DECIMAL(20,0)", ["9007199254740993"], "DECIMAL(20,0)", ["9007199254740993"]),
        ("NUMERIC", ["1", "9007199254740993"], "BIGINT", ["1", "9007199254740993"]),
        ("NUMERIC", ["1", "0.1"], "DOUBLE", ["1.0", "0.1"]),
        ("REAL", ["0.1", "0.30000000000000004"], "DOUBLE", ["0.1", "0.30000000000000004"]),
        ("REAL", ["1.5", "'n/a'"], "VARCHAR", ["1.5", "n/a"]),
        ("BOOLEAN", ["0", "1", "NULL"], "BOOLEAN", ["false", "true", None]),
        ("BOOLEAN", ["0", "7"], "BIGINT", ["0", "7"]),
        ("DATE", ["'2020-01-31'"], "DATE", ["2020-01-31"]),
        ("DATE", ["'2020-01-31 00:00:00'"], "DATE", ["2020-01-31"]),
        ("DATE", ["'2020-01-31 10:20:30'"], "TIMESTAMP", ["2020-01-31 10:20:30"]),
        ("DATE", ["'31/01/2020'"], "VARCHAR", ["31/01/2020"]),
        ("DATE", ["1577836800"], "BIGINT", ["1577836800"]),
        ("DATE", ["2458849.5"], "DOUBLE", ["2458849.5"]),
        ("DATETIME", ["'2020-01-31T10:20:30.5'"], "TIMESTAMP", ["2020-01-31 10:20:30.5"]),
        ("DATETIME", ["1577836800", "'2020-01-31'"], "VARCHAR", ["1577836800", "2020-01-31"]),
        (
            "DATETIME",
            ["'2020-01-31T10:00:00+02:00'"],
            "TIMESTAMP WITH TIME ZONE",
            ["2020-01-31 08:00:00+00"],
        ),
        ("TIME", ["'12:30:00'"], "TIME", ["12:30:00"]),
        *(
            (declared, [f"'{text}'" for text in texts], "VARCHAR", texts)
            for declared, *texts in (
                ("DATETIME", "2024-01-01 10:00:00.123456789"),
                ("DATETIME", "2024-01-01 10:00:00+02:00", "2024-01-01 10:00:00+01:00"),
                ("DATETIME", "2024-01-01 24:00:00", "2024-01-02 00:00:00"),
                ("DATE", "2024-01-01", "infinity"),
                ("DATE", "epoch"),
                ("DATE", "0000-01-01"),
                ("DATE", "2024/02/03", "2024-02-03"),
                ("DATE", "2024-1-01"),
                ("TIME", "24:00:00"),
                ("TIME", "10:00:00.1234567"),
            )
        ),
        ("BLOB", ["x'00ff'"], "BLOB", ["\\x00\\xFF"]),
        ("BLOB", ["'text'"], "VARCHAR", ["text"]),
        ("TEXT", ["1", "'a'"], "VARCHAR", ["1", "a"]),
        ("", ["1", "2"], "BIGINT", ["1", "2"]),
        ("", ["'a'", "'b'"], "VARCHAR", ["a", "b"]),
        ("UUID", ["'a-b'"], "VARCHAR", ["a-b"]),
        ("STRING", ["12", "'x'"], "VARCHAR", ["12", "x"]),
        ("JSON", ["NULL"], "VARCHAR", [None]),
    ],
)
def test_a_value_is_never_bent_to_the_declared_type(
    tmp_path: Path, declared: str, inserted: list[str], type_: str, read: list[object]
) -> None:
    """Each value comes out as stored, in the narrowest type that all of them fit."""
    rows = "".join(f"INSERT INTO t VALUES ({value});" for value in inserted)
    uri = written(tmp_path / "a.db", f"CREATE TABLE t (c {declared}); {rows}")
    with open_source(uri) as source:
        assert only(source).column("c").type == type_
        assert values(source, "c") == read


@pytest.mark.parametrize(
    ("declared", "inserted", "said"),
    [
        ("INTEGER", ["1", "2", "'abc'"], "2 whole numbers and 1 text"),
        ("NUMERIC(4,2)", ["0.125"], "1 of 1 values don't fit that precision"),
        ("BOOLEAN", ["1", "7"], "1 of 2 values aren't 0 or 1"),
        ("DATE", ["1577836800"], "1 whole number; read as BIGINT"),
        ("DATE", ["'2020-01-31 10:20:30'"], "read as TIMESTAMP"),
        ("DATE", ["'infinity'"], "1 text value; read as VARCHAR"),
    ],
)
def test_a_note_counts_what_contradicts_the_type(
    tmp_path: Path, declared: str, inserted: list[str], said: str
) -> None:
    """Where the declared type is given up, a note of the table says how many values are what."""
    rows = "".join(f"INSERT INTO t VALUES ({value});" for value in inserted)
    uri = written(tmp_path / "a.db", f"CREATE TABLE t (c {declared}); {rows}")
    with open_source(uri) as source:
        (note,) = only(source).notes
    assert note.startswith(f"c: Declared {declared}, but ")
    assert said in note


def test_offsets_and_dates_among_moments_are_noted(tmp_path: Path) -> None:
    """What isn't kept of how moments are written is said."""
    for texts, note in (
        (("2024-01-01 10:00:00+02:00",), OFFSET_NOTE),
        (("2024-01-01 10:00:00+02:00", "2024-01-01 10:00:00+01:00"), OFFSETS_NOTE),
        (("2024-01-01 10:00:00", "2024-01-01"), "Dates without a time are read as midnight."),
    ):
        (tmp_path / "a.db").unlink(missing_ok=True)
        rows = "".join(f"INSERT INTO t VALUES ('{text}');" for text in texts)
        with open_source(written(tmp_path / "a.db", f"CREATE TABLE t (c DATETIME); {rows}")) as one:
            assert only(one).notes[0].endswith(note)


def test_text_that_is_not_utf8_does_not_kill_the_table(tmp_path: Path) -> None:
    """Broken text is shown with its bytes escaped, and counted."""
    uri = written(
        tmp_path / "a.db",
        "CREATE TABLE t (c TEXT); INSERT INTO t VALUES ('ok'), (CAST(x'ff61' AS TEXT)), ('é');",
    )
    with open_source(uri) as source:
        assert values(source, "c") == ["ok", "\\xFFa", "é"]
        assert "1 of its text values isn't valid UTF-8" in only(source).notes[0]


def test_reads_a_utf16_database(tmp_path: Path) -> None:
    """A database that stores its text in UTF-16 reads like any other, the exact way included."""
    uri = written(
        tmp_path / "a.db",
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (c, d INT);"
        "INSERT INTO t VALUES ('é日', 'x');",
    )
    with open_source(uri) as source:
        assert values(source, "c") == ["é日"]


def test_a_nul_inside_text_is_kept(tmp_path: Path) -> None:
    """Text with a NUL character in it is not cut off there."""
    uri = written(
        tmp_path / "a.db", "CREATE TABLE t (c TEXT); INSERT INTO t VALUES ('a' || char(0) || 'b');"
    )
    with open_source(uri) as source:
        assert source.connection.execute(f"FROM {only(source).relation}").fetchall() == [("a\0b",)]


def test_reads_declared_keys(tmp_path: Path) -> None:
    """Primary, unique and foreign keys come whole and in order, in the tables' own spelling."""
    uri = written(
        tmp_path / "a.db",
        """
        CREATE TABLE Parent (b INT, a INT, "c d" TEXT NOT NULL UNIQUE, PRIMARY KEY (a, b));
        CREATE TABLE one (id INTEGER PRIMARY KEY, up INT REFERENCES one);
        CREATE UNIQUE INDEX part ON one (up) WHERE up > 5;
        CREATE TABLE child (x INT, y INT, o INT NOT NULL REFERENCES ONE, z INT REFERENCES gone (i),
            FOREIGN KEY (X, y) REFERENCES parent, UNIQUE (y, x));
        CREATE UNIQUE INDEX lone ON child (o);
        CREATE UNIQUE INDEX computed ON child (x + y);
        """,
    )
    with open_source(uri) as source:
        tables = {table.name: table for table in source.tables}
    assert tables["Parent"].primary_key == ("a", "b")
    assert tables["Parent"].unique_keys == (("c d",),)
    assert not tables["Parent"].column("c d").nullable
    assert tables["one"].primary_key == ("id",)
    assert tables["one"].unique_keys == ()
    assert tables["one"].foreign_keys == (DeclaredForeignKey(("up",), "one", ("id",)),)
    child = tables["child"]
    assert child.unique_keys == (("o",), ("y", "x"))
    assert set(child.foreign_keys) == {
        DeclaredForeignKey(("o",), "one", ("id",)),
        DeclaredForeignKey(("x", "y"), "Parent", ("a", "b")),
    }
    assert child.notes == ("It declares a foreign key (z) to gone, which wasn't read.",)


def test_reads_every_form_of_table(tmp_path: Path) -> None:
    """WITHOUT ROWID, STRICT, generated columns and full-text tables; no view, no shadow table."""
    uri = written(
        tmp_path / "a.db",
        """
        CREATE TABLE w (k TEXT PRIMARY KEY, n INT, g INT GENERATED ALWAYS AS (n + 1)) WITHOUT ROWID;
        INSERT INTO w VALUES ('x', 1);
        CREATE TABLE s (a INT, b ANY) STRICT; INSERT INTO s VALUES (1, 'x'), (2, 5);
        CREATE VIRTUAL TABLE f USING fts5 (body); INSERT INTO f VALUES ('some words');
        CREATE TABLE "a""b'c" ("d""e'f{c}" DATE); INSERT INTO "a""b'c" VALUES ('2020-01-01');
        CREATE VIEW v AS SELECT 1;
        """,
    )
    with open_source(uri) as source:
        tables = {table.name: table for table in source.tables}
        assert set(tables) == {"w", "s", "f", "a\"b'c"}
        assert tables["w"].column("g").generated
        rows = source.connection.execute(f"FROM {tables['w'].relation}").fetchall()
        assert rows == [("x", 1, 2)]
        rows = source.connection.execute(f"FROM {tables['s'].relation}").fetchall()
        assert rows == [(1, "x"), (2, "5")]
        rows = source.connection.execute(f"FROM {tables['f'].relation}").fetchall()
        assert rows == [("some words",)]
        assert tables["a\"b'c"].columns[0].name == "d\"e'f{c}"
        assert source.notes == ("Views aren't read (1 found); add --views to read them.",)


def test_reads_a_wal_database_and_leaves_it_alone(tmp_path: Path) -> None:
    """Rows that are still in the log are read, and no -wal or -shm is made or changed."""
    original = tmp_path / "original.db"
    writer = sqlite3.connect(original)
    writer.execute("PRAGMA journal_mode = wal")
    writer.execute("CREATE TABLE t (c INT)")
    writer.execute("INSERT INTO t VALUES (7)")
    writer.commit()
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    shutil.copy(original, crashed / "a.db")
    shutil.copy(f"{original}-wal", crashed / "a.db-wal")
    before = fingerprint(tmp_path)
    for path in (crashed / "a.db", original):
        with open_source(path) as source:
            assert values(source, "c") == ["7"]
    assert fingerprint(tmp_path) == before
    writer.close()


def test_reads_a_database_whose_writer_crashed(tmp_path: Path) -> None:
    """A hot journal is rolled back in a private copy, not in the source."""
    original = tmp_path / "original.db"
    writer = sqlite3.connect(original)
    writer.execute("PRAGMA cache_size = 5")
    writer.execute("CREATE TABLE t (c TEXT)")
    writer.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 2000)
    writer.commit()
    writer.execute("UPDATE t SET c = 'half done'")
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    shutil.copy(original, crashed / "a.db")
    shutil.copy(f"{original}-journal", crashed / "a.db-journal")
    writer.rollback()
    writer.close()
    before = fingerprint(crashed)
    with open_source(crashed / "a.db") as source:
        assert set(values(source, "c")) == {"x" * 500}
    assert fingerprint(crashed) == before


def test_says_that_a_database_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that another process is writing to is reported as locked."""
    monkeypatch.setattr("fluid_build.sources.databases.sqlite.file._BUSY_SECONDS", 0.1)
    uri = written(tmp_path / "a.db", "CREATE TABLE t (c INT)")
    writer = sqlite3.connect(tmp_path / "a.db")
    writer.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceUnreadableError, match="locked"):
        open_source(uri)
    writer.close()


def test_says_that_a_database_is_corrupt(tmp_path: Path) -> None:
    """A damaged file is reported in one sentence."""
    uri = written(tmp_path / "a.db", "CREATE TABLE t (c INT)")
    path = tmp_path / "a.db"
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 4000)
    with pytest.raises(SourceUnreadableError, match=r"a\.db can't be read"):
        open_source(uri)


def test_one_bad_table_does_not_stop_the_others(tmp_path: Path) -> None:
    """A table with a damaged page is listed as skipped with the reason; the others are read."""
    uri = written(
        tmp_path / "a.db",
        "PRAGMA page_size = 1024; CREATE TABLE good (c INT); INSERT INTO good VALUES (1);"
        "CREATE TABLE bad (c TEXT); INSERT INTO bad VALUES ('x');",
    )
    with sqlite3.connect(tmp_path / "a.db") as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'bad'"
        (page,) = connection.execute(query).fetchone()
    connection.close()
    raw = bytearray((tmp_path / "a.db").read_bytes())
    raw[(page - 1) * 1024 : page * 1024] = b"\xee" * 1024
    (tmp_path / "a.db").write_bytes(raw)
    with open_source(uri) as source:
        assert only(source).name == "good"
        (skipped,) = source.skipped
    assert skipped.name == "bad"
    assert skipped.reason.endswith(".")


def test_refuses_what_is_no_sqlite_file(tmp_path: Path) -> None:
    """A file of another kind, an empty database and a missing file each have their error."""
    (tmp_path / "text.db").write_text("hello, this is some text and no database at all")
    with pytest.raises(SourceUnreadableError, match="isn't a SQLite database"):
        open_source(f"sqlite:///{tmp_path}/text.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(EmptySourceError, match="no table"):
        open_source(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(SourceNotFoundError, match="doesn't exist"):
        open_source(f"sqlite:///{tmp_path}/gone.db")


@pytest.mark.timeout(30)
def test_a_thousand_tables_take_no_thousand_openings(tmp_path: Path) -> None:
    """Many small tables are read together, and some bad values among them cost only themselves."""
    creates = "".join(
        f"CREATE TABLE t{i:03} (id INTEGER PRIMARY KEY, n INT); INSERT INTO t{i:03} VALUES"
        f" ({i}, {repr('odd') if i % 50 == 0 else i});"
        for i in range(300)
    )
    uri = written(tmp_path / "a.db", f"BEGIN; {creates} COMMIT;")
    with open_source(uri) as source:
        assert [table.name for table in source.tables] == [f"t{i:03}" for i in range(300)]
        kinds = [table.column("n").type for table in source.tables]
        assert kinds.count("VARCHAR") == 6


def test_values_that_only_the_scanner_finds_bad_are_read(tmp_path: Path) -> None:
    """A date that passes SQLite's own check and text that is not UTF-8 break no other table."""
    uri = written(
        tmp_path / "a.db",
        "CREATE TABLE a (n INT); INSERT INTO a VALUES (1);"
        "CREATE TABLE b (c TEXT); INSERT INTO b VALUES (CAST(x'ff' AS TEXT));"
        "CREATE TABLE c (d DATE); INSERT INTO c VALUES ('2020-02-31');"
        "CREATE TABLE e (n INT); INSERT INTO e VALUES (5);",
    )
    with open_source(uri) as source:
        assert source.skipped == ()
        found = [
            source.connection.execute(f"FROM {table.relation}").fetchall()
            for table in source.tables
        ]
    assert found == [[(1,)], [("\\xFF",)], [("2020-02-31",)], [(5,)]]


@pytest.mark.parametrize("declared", ["DATE", "DATETIME"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2024-01-01", "2024-01-01 00:00:00"),
        ("2024-01-01 00:00:00", "2024-01-01T00:00:00"),
        ("2024-01-01 00:00:00", "2024-01-01 00:00"),
        ("2024-01-01 00:00:00", "2024-01-01 00:00:00.000"),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00+00:00"),
    ],
)
def test_moments_in_two_spellings_stay_two_values(
    tmp_path: Path, declared: str, first: str, second: str
) -> None:
    """As a key they would look like one value twice."""
    rows = f"INSERT INTO t VALUES ('{first}'), ('{second}')"
    script = f"CREATE TABLE t (v {declared} PRIMARY KEY); {rows};"
    with open_source(written(tmp_path / "a.db", script)) as source:
        assert values(source, "v") == [first, second]
        assert "would become one value" in only(source).column("v").notes[0]


def test_times_in_two_spellings_stay_two_values(tmp_path: Path) -> None:
    script = "CREATE TABLE t (v TIME); INSERT INTO t VALUES ('12:00'), ('12:00:00');"
    with open_source(written(tmp_path / "a.db", script)) as source:
        assert values(source, "v") == ["12:00", "12:00:00"]


def test_references_that_hold_by_a_collation_alone_are_noted(tmp_path: Path) -> None:
    """SQLite compares as the column that is referred to says; 'zz' has no match either way."""
    script = """
        CREATE TABLE country (code TEXT COLLATE NOCASE PRIMARY KEY, old TEXT COLLATE RTRIM UNIQUE);
        INSERT INTO country VALUES ('De', 'D '), ('É', 'E');
        CREATE TABLE city (id INTEGER PRIMARY KEY, country TEXT REFERENCES country,
            old TEXT REFERENCES country (old));
        INSERT INTO city VALUES (1, 'DE', 'D'), (2, 'de', 'E'), (3, 'De', 'e'), (4, 'zz', NULL),
            (5, 'é', 'D  ');
    """
    with open_source(written(tmp_path / "a.db", script)) as source:
        city, country = source.tables
    assert country.notes == ()
    assert [(key.columns, key.by_collation) for key in city.foreign_keys] == [
        (("country",), 2),
        (("old",), 2),
    ]
    assert [note.split(", which")[0] for note in city.notes] == [
        "country: 2 rows refer to country only by the source's collation (NOCASE)",
        "old: 2 rows refer to country only by the source's collation (RTRIM)",
    ]


def test_a_column_s_own_collation_counts_and_not_that_of_another_index(tmp_path: Path) -> None:
    script = """
        CREATE TABLE country (code TEXT PRIMARY KEY);
        CREATE UNIQUE INDEX loosely ON country (code COLLATE NOCASE);
        INSERT INTO country VALUES ('DE');
        CREATE TABLE city (country TEXT COLLATE NOCASE REFERENCES country);
        INSERT INTO city VALUES ('de');
    """
    with open_source(written(tmp_path / "a.db", script)) as source:
        city, _ = source.tables
    assert (city.notes, city.foreign_keys[0].by_collation) == ((), 0)
