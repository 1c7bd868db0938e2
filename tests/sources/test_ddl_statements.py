"""Cutting text into statements: a bad one never takes the others with it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources.sql_text.ddl import open_ddl
from fluid_build.sources.sql_text.ddl.dialects import DIALECTS
from fluid_build.sources.sql_text.ddl.files import SqlFile
from fluid_build.sources.sql_text.ddl.script import read_script
from fluid_build.sources.sql_text.ddl.statements import split
from fluid_build.sources.sql_text.ddl.tables import declared_tables


def cut(text: str, dialect: str) -> list[str]:
    return [statement.opening for statement in split(text, DIALECTS[dialect])]


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("postgres", "CREATE FUNCTION f() RETURNS int AS $x$ a; b; $$ c; $x$ LANGUAGE sql;"),
        ("postgres", "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;"),
        ("postgres", "DO $$ BEGIN EXECUTE 'x;'; END $$;"),
        ("postgres", "COMMENT ON TABLE x IS E'it\\'s; (';"),
        ("postgres", "SELECT 1 /* a; /* b; */ ' */ ;"),
        ("postgres", "INSERT INTO x VALUES ('a;', E'b\\';'), (';');"),
        ("postgres", "COPY x (a) FROM stdin;\nit's; $$ (\n\\.\n"),
        ("mysql", "INSERT INTO x VALUES ('a\\';', \"b;\", 'c'';');"),
        ("mysql", "CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW BEGIN SET a = 1; END;"),
        ("mysql", "CREATE PROCEDURE p() BEGIN WHILE 1 DO SET a = 1; END WHILE; SELECT 2; END;"),
        (
            "sqlite",
            "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END;",
        ),
        ("oracle", "BEGIN\n  NULL; IF a THEN b; END IF;\nEND;\n/\n"),
        ("oracle", "CREATE PACKAGE p IS\n  PROCEDURE q;\n  v NUMBER;\nEND p;\n/\n"),
        ("oracle", "COMMENT ON TABLE x IS q'{it's; here}';"),
        ("oracle", "PROMPT it's not a statement;\n"),
        ("tsql", "CREATE PROCEDURE p AS\nSELECT 1;\nSELECT 2;\nGO\n"),
        ("tsql", "PRINT N'a;''b'\nGO 5\n"),
        ("tsql", "EXEC p @a = N'CREATE TABLE never (id int)'\n"),
        ("snowflake", "CREATE PROCEDURE p() RETURNS STRING AS $$ x; ' $$;"),
        ("bigquery", 'SELECT """a; \' """;'),
        ("mysql", "-- it's; a comment\n# and; 'another\nSET x = 1;"),
    ],
)
def test_semicolons_inside_do_not_cut(dialect: str, body: str) -> None:
    """A semicolon in a string, a comment, a body or a row ends nothing: what follows is read."""
    found = cut(f"{body}\nCREATE TABLE after (id int);", dialect)
    assert len(found) == 2
    assert found[1] == "CREATE TABLE after (id int)"


def test_delimiter_of_the_mysql_client() -> None:
    """Between DELIMITER lines only the chosen mark ends a statement."""
    text = "DELIMITER $$\nCREATE PROCEDURE p()\nBEGIN SELECT 1; END$$\nDELIMITER ;\nSELECT 2;"
    assert cut(text, "mysql") == [
        "DELIMITER",
        "CREATE PROCEDURE p() BEGIN SELECT 1; END",
        "DELIMITER",
        "SELECT",
    ]


def test_statements_without_semicolons() -> None:
    """T-SQL needs no semicolons: statements part where the next one begins on a line."""
    text = "CREATE TABLE a (x int)\nCREATE TABLE b (y int)\nALTER TABLE a ADD z int\nGO\n"
    assert cut(text, "tsql") == [
        "CREATE TABLE a (x int)",
        "CREATE TABLE b (y int)",
        "ALTER TABLE a ADD z int",
    ]


def test_open_parenthesis_is_left_behind() -> None:
    """A parenthesis that never closes costs its own statement and no other."""
    text = "CREATE TABLE a (x int, (\nCREATE TABLE b (y int);"
    assert cut(text, "postgres") == ["CREATE TABLE a (x int, (", "CREATE TABLE b (y int)"]


def test_copy_without_its_rows_swallows_nothing() -> None:
    """COPY FROM stdin that no rows follow leaves what follows alone."""
    text = "COPY t FROM stdin;\nCREATE TABLE t (x int);"
    assert cut(text, "postgres") == ["COPY", "CREATE TABLE t (x int)"]


def test_line_numbers_count_from_the_file() -> None:
    """A statement knows the line it begins on, whatever stands before it."""
    text = "/* one\ntwo */\n-- three\n\nSELECT 'a\nb';\n\n  CREATE TABLE t (x int);"
    assert [statement.line for statement in split(text, DIALECTS["postgres"])] == [5, 8]


def test_rows_are_never_shown() -> None:
    """What a statement shows of itself holds no row: of INSERT and COPY only the keyword."""
    text = "INSERT INTO t VALUES ('secret');\nCOPY t FROM stdin;\nsecret\n\\.\n"
    assert cut(text, "postgres") == ["INSERT", "COPY"]


def test_opening_is_short() -> None:
    """Of a long statement the first eighty characters are shown."""
    text = "CREATE TABLE t (" + ", ".join(f"column_{n} int" for n in range(50)) + ");"
    assert len(cut(text, "postgres")[0]) == 80


def test_every_statement_is_accounted_for(tmp_path: Path) -> None:
    """The notes count each statement by its kind, and show each that could not be read."""
    path = tmp_path / "x.sql"
    path.write_text(
        "SET a = 1;\nSET b = 2;\nGRANT SELECT ON t TO u;\nCREATE TABLE t (id int);\n"
        "INSERT INTO t VALUES (1);\nCREATE VIEW v AS SELECT 1;\nFROBNICATE t;\n"
        "CREATE TABLE u (id int;\n"
    )
    with open_ddl(path, dialect="postgres") as source:
        assert source.notes[1:] == (
            "8 statements: 1 declares structure, 5 do not "
            "(2 SET, 1 CREATE VIEW, 1 GRANT, 1 INSERT), 2 could not be read.",
            "Line 7 could not be read (it begins like no statement we know).",
            "Line 8 could not be read (a parenthesis is never closed): CREATE TABLE u (id int",
        )
        assert [skipped.name for skipped in source.skipped] == ["u"]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE TABEL u (id int, type text)", "it's about no kind of object we know"),
        ("CREAT TABLE u (id int)", "it begins like no statement we know"),
    ],
)
def test_a_misspelt_statement_is_shown_with_its_line(
    tmp_path: Path, statement: str, reason: str
) -> None:
    """A typo isn't taken for a statement that doesn't matter."""
    path = tmp_path / "x.sql"
    path.write_text(f"CREATE TABLE t (id int);\n\n{statement};\n")
    with open_ddl(path) as source:
        assert f"Line 3 could not be read ({reason}): {statement}" in source.notes


@pytest.mark.parametrize(
    ("dialect", "statement", "kind"),
    [
        ("postgres", "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO b", "ALTER DEFAULT"),
        ("postgres", "CREATE UNLOGGED SEQUENCE s", "CREATE SEQUENCE"),
        ("mysql", "CREATE ALGORITHM=MERGE DEFINER=`a`@`%` SQL SECURITY INVOKER VIEW v AS SELECT 1",
         "CREATE VIEW"),
        ("tsql", "CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY])", "CREATE SCHEME"),
        ("oracle", "CREATE OR REPLACE EDITIONABLE SYNONYM a FOR b", "CREATE SYNONYM"),
        ("db2", "CREATE BUFFERPOOL b PAGESIZE 4096", "CREATE BUFFERPOOL"),
    ],
)  # fmt: skip
def test_other_objects_than_tables_are_counted(
    tmp_path: Path, dialect: str, statement: str, kind: str
) -> None:
    """A statement about another object is counted by what it's about."""
    path = tmp_path / "x.sql"
    path.write_text(f"CREATE TABLE t (id int);\n{statement};\n")
    with open_ddl(path, dialect=dialect) as source:
        assert source.notes[1:] == (f"2 statements: 1 declares structure, 1 does not (1 {kind}).",)


WORDS = st.sampled_from(
    ["CREATE", "TABLE", "t", "(", ")", ";", "'", '"', "`", "[", "]", "$$", "/*", "*/", "--", "\n",
     "BEGIN", "END", "GO", "COPY", "FROM", "stdin", "INSERT", "INTO", "ALTER", "ADD", "x int", ",",
     "PRIMARY KEY", "REFERENCES", "\\", "#", "/", "DELIMITER", "COMMENT ON", "IS", "E'", "q'[", "<",
     ">", "STRUCT", "AS", "CHECK", "DEFAULT", "1", "UNIQUE", "LIKE", "EXEC", "sp_rename", "."]
)  # fmt: skip


@given(st.lists(WORDS, max_size=40).map(" ".join), st.sampled_from(sorted(DIALECTS)))
def test_nonsense_never_crashes(text: str, name: str) -> None:
    """Whatever follows in a file, the tables before it are read."""
    file = SqlFile("x.sql", f"CREATE TABLE sound (id int);\n{text}")
    tables = declared_tables(read_script([file], DIALECTS[name]).schema).tables
    assert "sound" in [table.name.split(".")[-1] for table in tables]
