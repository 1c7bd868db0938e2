"""Every row that a dump brings is read, or named: no statement loses one in silence."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import EmptySourceError
from fluid_build.sources import open_source
from fluid_build.sources.sql_text.dumps import row_count
from fluid_build.sources.sql_text.dumps import source as dump_source
from fluid_build.sources.sql_text.dumps.row_count import count_rows

TABLE = "CREATE TABLE t (id integer, name text);\n"
POSSESSIVE = re.compile(r"(?<!\\)[*+?}]\+(?!\\)")


def names(folder: Path, statements: str) -> list[str | None]:
    path = folder / "dump.sql"
    path.write_text(TABLE + statements, encoding="utf-8")
    with open_source(path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"SELECT name FROM {table.relation} ORDER BY id")
        return [name for (name,) in rows.fetchall()]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t OVERRIDING SYSTEM VALUE VALUES (1,'a'),(2,'b');",
        "INSERT INTO t (id, name) OVERRIDING USER VALUE VALUES (1,'a'),(2,'b');",
        "INSERT INTO t VALUES /* it's (x) */ (1,'a'), -- (y)\n (2,'b');",
        "INSERT INTO t VALUES (1,'a'),(2,'b') ON CONFLICT (id) DO NOTHING;",
        "INSERT INTO t VALUES ROW(1,'a'), ROW(2,'b');",
        "INSERT INTO t VALUES (1,'a') , (2,'b') RETURNING (id);",
    ],
)
def test_rows_are_found_around_the_words_of_a_statement(tmp_path: Path, statement: str) -> None:
    assert names(tmp_path, statement) == ["a", "b"]


def test_a_generated_column_that_is_left_to_the_server_costs_no_row(tmp_path: Path) -> None:
    """pg_dump --inserts writes DEFAULT for it, in every row."""
    path = tmp_path / "dump.sql"
    path.write_text(
        "CREATE TABLE t (id integer, double integer GENERATED ALWAYS AS ((id * 2)) STORED,"
        " name text DEFAULT 'x');\n"
        "INSERT INTO t VALUES (1, DEFAULT, 'a'), (2, DEFAULT, DEFAULT), (3, DEFAULT, 'b');"
    )
    with open_source(path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"FROM {table.relation} ORDER BY id").fetchall()
    assert rows == [(1, "a"), (3, "b")]
    assert any(note.startswith("1 row was left out") for note in table.notes)
    assert any("double" in note for note in table.notes)


@pytest.mark.parametrize(
    ("collation", "by_collation"), [("utf8mb4_general_ci", 2), ("utf8_bin", 0)]
)
def test_mysql_finds_a_key_in_another_case(
    tmp_path: Path, collation: str, by_collation: int
) -> None:
    """Its foreign keys hold by collation; where one is exact, no text is taken for another."""
    options = f"ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE={collation}"
    path = tmp_path / "dump.sql"
    path.write_text(
        f"CREATE TABLE `country` (`code` varchar(5), PRIMARY KEY (`code`)) {options};\n"
        "CREATE TABLE `city` (`id` int, `code` varchar(5), PRIMARY KEY (`id`), CONSTRAINT `f`"
        f" FOREIGN KEY (`code`) REFERENCES `country` (`code`)) {options};\n"
        "CREATE TABLE `note` (`text` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin);\n"
        "INSERT INTO `country` VALUES ('DE'),('FR'),('Groß');\n"
        "INSERT INTO `city` VALUES (1,'de'),(2,'FR'),(3,'GROSS');"
    )
    with open_source(path) as source:
        (key,) = next(table for table in source.tables if table.name == "city").foreign_keys
    assert key.by_collation == by_collation


texts = st.text(st.sampled_from("ab'();,-/*\\ \nE\"`"), max_size=12)
gaps = st.sampled_from([",", ", ", ",\n", ", -- it's (a) note;\n", ", /* don't; ( */ "])


@given(rows=st.lists(st.tuples(texts, gaps), min_size=1, max_size=8), ending=gaps)
def test_any_rows_are_read_and_counted(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], ending: str
) -> None:
    """Whatever texts hold and comments say, both counts agree, and each text is as it was."""
    said = [text for text, _ in rows]
    quoted = [
        f"({number}, '{text.replace(chr(39), chr(39) * 2)}')" for number, text in enumerate(said)
    ]
    body = "".join(f"{row}{gap}" for row, (_, gap) in zip(quoted, rows, strict=True))
    statement = f"INSERT INTO t VALUES {body}{ending.strip(', ')}(9, 'end');\n"
    assert names(tmp_path_factory.mktemp("dump"), statement) == [*said, "end"]
    start = len("INSERT INTO t VALUES")
    assert count_rows(statement, start, statement.rindex(";"), backslash=False) == len(said) + 1


def test_a_count_goes_on_where_a_reader_stopped(tmp_path: Path) -> None:
    """A reader that ends too early is found out by the semicolon that isn't there."""
    statement = "INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c');"
    start = len("INSERT INTO t VALUES")
    assert count_rows(statement, start, statement.index(",(2"), backslash=False) == 3


def test_a_table_of_which_two_counts_differ_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that were lost between the statement and the reader don't pass for a whole table."""
    right = dump_source.read_rows
    monkeypatch.setattr(dump_source, "read_rows", lambda *arguments: list(right(*arguments))[:-1])
    with pytest.raises(EmptySourceError, match="has 2 rows by one count, and 1 by another"):
        names(tmp_path, "INSERT INTO t VALUES (1,'a'),(2,'b');")


def shown(folder: Path, text: str, name: str = "dump.sql") -> tuple[list[str], str]:
    """The rows of the first table of a dump, and what is noted and skipped."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    with open_source(path) as source:
        rows: list[str] = []
        for table in source.tables[:1]:
            found = source.connection.execute(f"SELECT * FROM {table.relation}").fetchall()
            rows = [",".join(str(value) for value in row) for row in found]
        notes = [*source.notes, *(note for table in source.tables for note in table.notes)]
        return rows, "\n".join([*notes, *(f"{s.name}: {s.reason}" for s in source.skipped)])


def test_statements_that_no_semicolon_ends_are_read_one_by_one(tmp_path: Path) -> None:
    """So writes SQL Server's own tool its scripts."""
    script = (
        "CREATE TABLE [dbo].[t]([id] [int] NOT NULL, [name] [nvarchar](20) NULL)\nGO\n"
        "SET IDENTITY_INSERT [dbo].[t] ON \nGO\n"
        + "".join(
            f"INSERT [dbo].[t] ([id], [name]) VALUES ({number}, N'it''s; {number}')\n"
            + ("GO\nprint 'Processed'\nGO\n" if number % 3 == 0 else "")
            for number in range(1, 8)
        )
        + "SET IDENTITY_INSERT [dbo].[t] OFF\nGO\n"
    )
    rows, _ = shown(tmp_path, script)
    assert rows == [f"{number},it's; {number}" for number in range(1, 8)]


@pytest.mark.parametrize("quoting", ["`", '"', ""])
def test_a_missing_semicolon_loses_no_row(tmp_path: Path, quoting: str) -> None:
    name = f"{quoting}t{quoting}"
    rows, _ = shown(
        tmp_path,
        f"CREATE TABLE {name} (id int, a text);\nINSERT INTO {name} VALUES (1,'a')\n"
        f"INSERT INTO {name} VALUES (2,'b'),\n(3,'INSERT INTO t')\n\n"
        f"  insert into {name} VALUES (4,'d')\n",
    )
    assert rows == ["1,a", "2,b", "3,INSERT INTO t", "4,d"]


def test_text_behind_rows_that_nobody_understands_refuses_the_table(tmp_path: Path) -> None:
    """It may be rows."""
    with pytest.raises(EmptySourceError, match="stands text that isn't understood"):
        names(tmp_path, "INSERT INTO t VALUES (1,'a') INSERT INTO t VALUES (2,'b');")


def test_statements_swallowed_by_an_unbalanced_quote_refuse_their_tables(tmp_path: Path) -> None:
    """A quote that isn't understood takes others' rows with it, of other tables as well."""
    rows, said = shown(
        tmp_path,
        "CREATE TABLE u (id int);\nCREATE TABLE v (id int);\nINSERT INTO u VALUES (1);\n"
        f"{TABLE}INSERT INTO t VALUES (1, f(it's));\nINSERT INTO v VALUES (2);\n"
        "INSERT INTO t VALUES (3, 'c');\nINSERT INTO u VALUES (4);\n",
    )
    assert "t: A value in line 5 isn't understood" in said
    assert "v: A value in line 5 isn't understood" in said
    assert not rows or "u: A value" not in said


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("text", "$$it's; (odd$$", "it's; (odd"),
        ("text", "$tag$a$tag$", "a"),
        ("VARCHAR2(20)", "q'[it's; (odd]'", "it's; (odd"),
        ("VARCHAR2(20)", "Nq'!it's!'", "it's"),
    ],
)
def test_text_in_quotes_of_its_own_swallows_no_row(
    tmp_path: Path, column: str, value: str, said: str
) -> None:
    rows, _ = shown(
        tmp_path,
        f"CREATE TABLE t (id int, name {column});\nINSERT INTO t VALUES (1, 'q$a$');\n"
        f"INSERT INTO t VALUES (2, {value});\nINSERT INTO t VALUES (3, 'c');\n",
    )
    assert rows == ["1,q$a$", f"2,{said}", "3,c"]


@pytest.mark.parametrize(
    "emptying",
    [
        "TRUNCATE TABLE t;",
        "TRUNCATE t;",
        "DELETE FROM ONLY t;",
        "DROP TABLE IF EXISTS t;\n" + TABLE,
    ],
)
def test_rows_that_a_dump_takes_away_again_are_not_read(tmp_path: Path, emptying: str) -> None:
    statements = f"INSERT INTO t VALUES (1,'a');\n{emptying}\nINSERT INTO t VALUES (2,'b');"
    assert names(tmp_path, statements) == ["b"]


def test_rows_that_others_replace_are_not_read_beside_them(tmp_path: Path) -> None:
    """No statement is run, so a table with both is refused."""
    keyed = "CREATE TABLE `t` (id int, name text, PRIMARY KEY (id)) ENGINE=InnoDB;\n"
    keyed += "INSERT INTO t VALUES (1,'a');\n"
    rows, _ = shown(tmp_path, keyed + "REPLACE INTO t VALUES (2,'b');")
    assert rows == ["1,a", "2,b"]
    with pytest.raises(EmptySourceError, match="replace"):
        shown(tmp_path, keyed + "REPLACE INTO t VALUES (1,'b');")


@pytest.mark.parametrize(
    "ending",
    ["COPY t FROM stdin;\n1\ta\n2\tanna@exam", "INSERT INTO t VALUES (1,'a'),(2,'anna@exam"],
)
def test_a_dump_that_was_cut_off_says_so_and_shows_no_value(tmp_path: Path, ending: str) -> None:
    rows, said = shown(tmp_path, TABLE + ending)
    assert rows == ["1,a"]
    assert "dump.sql was cut off" in said
    assert "anna" not in said


def test_transactions_hide_no_rows(tmp_path: Path) -> None:
    statements = "BEGIN;\nINSERT INTO t VALUES (1,'a');\nCOMMIT;\nBEGIN;\n"
    rows, said = shown(tmp_path, f"{TABLE}{statements}INSERT INTO t VALUES (2,'b');\nROLLBACK;\n")
    assert rows == ["1,a", "2,b"]
    assert "Its ROLLBACK statements weren't run" in said


def test_dropping_a_table_of_another_schema_takes_no_rows(tmp_path: Path) -> None:
    statements = "INSERT INTO t VALUES (1,'a');\nDROP TABLE IF EXISTS staging.t;"
    assert names(tmp_path, statements) == ["a"]


def test_rows_go_with_a_table_that_is_renamed(tmp_path: Path) -> None:
    statements = "INSERT INTO t VALUES (1,'a');\nALTER TABLE t RENAME TO u;\n"
    rows, said = shown(tmp_path, f"{TABLE}{statements}{TABLE}INSERT INTO t VALUES (3,'c');\n")
    assert rows == ["1,a"]
    assert "t" not in said.split()


def test_tables_that_swap_their_names_keep_their_rows(tmp_path: Path) -> None:
    rows, _ = shown(
        tmp_path,
        "CREATE TABLE `t` (a int) ENGINE=InnoDB; CREATE TABLE `n` LIKE `t`;\n"
        "INSERT INTO t VALUES (1); INSERT INTO n VALUES (2);\n"
        "RENAME TABLE `t` TO `old`, `n` TO `t`; INSERT INTO t VALUES (3);",
    )
    assert rows == ["1"]


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ("DROP COLUMN id", ["a"]),
        ("DROP COLUMN id;\nALTER TABLE t ADD COLUMN id text", ["a,None"]),
        ("RENAME COLUMN id TO x;\nALTER TABLE t RENAME COLUMN name TO id", ["1,a"]),
        ("ADD COLUMN x int", ["1,a,None"]),
    ],
)
@pytest.mark.parametrize("columns", ["", " (id, name)"])
def test_rows_are_read_in_the_columns_of_their_own_moment(
    tmp_path: Path, change: str, read: list[str], columns: str
) -> None:
    ending = f"INSERT INTO t{columns} VALUES (1,'a');\nALTER TABLE t {change};\n"
    rows, said = shown(tmp_path, TABLE + ending)
    # A column that no row has a value for is left out, and named.
    assert rows == [row.replace(",None", "") for row in read]
    assert ("has no values of" in said) == ("None" in read[0])


def test_lines_of_a_copy_are_read_without_a_column_that_is_dropped(tmp_path: Path) -> None:
    ending = "COPY t FROM stdin;\n1\ta\n2\t\\N\n\\.\nALTER TABLE t DROP COLUMN id;\n"
    assert shown(tmp_path, TABLE + ending)[0] == ["a", "None"]


def test_rows_of_a_partition_are_in_its_own_order_of_columns(tmp_path: Path) -> None:
    rows, _ = shown(
        tmp_path,
        "CREATE TABLE public.m (a int, b text) PARTITION BY RANGE (a);\n"
        "CREATE TABLE public.m1 (b text, a int);\n"
        "ALTER TABLE ONLY public.m ATTACH PARTITION public.m1 FOR VALUES FROM (1) TO (9);\n"
        "INSERT INTO public.m1 VALUES ('x', 1);\nINSERT INTO public.m VALUES (2, 'y');\n",
    )
    assert sorted(rows) == ["1,x", "2,y"]


def test_a_column_whose_type_changes_after_its_rows_is_named(tmp_path: Path) -> None:
    ending = "INSERT INTO t VALUES (1,'2');\nALTER TABLE t ALTER name TYPE int USING 1;"
    rows, said = shown(tmp_path, TABLE + ending)
    assert rows == ["1,2"]
    assert "name: declared as text when rows were there" in said


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE t SET name = 'b';",
        "DELETE FROM t WHERE id = 1;",
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE;",
        "INSERT INTO t SELECT 2, 'b';",
        "INSERT INTO t DEFAULT VALUES;",
        "WITH x AS (SELECT 2) INSERT INTO t SELECT 2, 'b';",
        "DO $$ BEGIN DELETE FROM t; END $$;",
        "BEGIN INSERT INTO t VALUES (2, 'b'); END;",
        "CALL fill('INSERT INTO t VALUES (2)');",
        "COPY t FROM '/tmp/rows';",
        "COPY t FROM stdin (FORMAT csv);\n2,b\n\\.",
        "LOAD DATA INFILE 'rows' INTO TABLE t;",
        "\\copy t from rows.csv",
        "INSERT ALL INTO t VALUES (2,'b') INTO t VALUES (3,'c') SELECT * FROM dual;",
        "INSERT INTO t SET id = 2;",
        "SET @s = 'INSERT INTO t VALUES (2)';",
    ],
)
def test_a_table_that_an_unrun_statement_changes_is_named(tmp_path: Path, statement: str) -> None:
    rows, said = shown(tmp_path, f"{TABLE}INSERT INTO t VALUES (1,'a');\n{statement}\n")
    assert rows == ["1,a"]
    first = statement.split()[0]
    assert f"Its {first} statements weren't run, so a database may have other rows: line 3" in said


@pytest.mark.parametrize("statement", ["CALL fill();", "EXEC fill;", "\\i rows.sql", "ROLLBACK;"])
def test_a_statement_that_may_change_any_table_is_noted(tmp_path: Path, statement: str) -> None:
    _, said = shown(tmp_path, f"{TABLE}INSERT INTO t VALUES (1,'a');\n{statement}\n")
    assert "weren't run, so a database may have other rows in any table: line 3." in said


@pytest.mark.parametrize(
    ("routine", "call"),
    [
        ("CREATE FUNCTION f() RETURNS void AS $$ INSERT INTO t VALUES (2,'b') $$;", "SELECT f();"),
        ("CREATE PROCEDURE f() BEGIN DELETE FROM t; END;", "CALL f();"),
        ("CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW SET NEW.name = 'x';",
         "INSERT INTO t VALUES (2,'b');"),
        ("CREATE TRIGGER f AFTER INSERT ON u FOR EACH ROW BEGIN INSERT INTO t VALUES (2,'b'); END;",
         "INSERT INTO u VALUES (1);"),
    ],
)  # fmt: skip
def test_a_table_that_a_routine_changes_is_named(tmp_path: Path, routine: str, call: str) -> None:
    tables = f"{TABLE}CREATE TABLE u (id int);\nINSERT INTO t VALUES (1,'a');\n"
    path = tmp_path / "dump.sql"
    for ending, is_named in ((call, True), ("", False)):
        path.write_text(f"{tables}{routine}\n{ending}\n")
        with open_source(path) as source:
            assert any("weren't run" in note for note in source.tables[0].notes) == is_named


def test_all_rows_for_a_column_that_isnt_there_are_counted(tmp_path: Path) -> None:
    rows, said = shown(tmp_path, TABLE + "INSERT INTO t (id, x) VALUES (1,2),(3,4);")
    assert not rows
    assert "2 rows were left out" in said


def test_a_statement_of_sqlite_that_fails_is_named_with_its_table(tmp_path: Path) -> None:
    _, said = shown(
        tmp_path,
        "PRAGMA foreign_keys=OFF;\nCREATE TABLE t (id INTEGER PRIMARY KEY);\n"
        "INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (f(2));\n",
    )
    assert "line 4, INSERT t (no such function: f)" in said


@pytest.mark.parametrize(
    "statement", ["BEGIN;", "EXEC sp_rename 'u', 'v';", "UPDATE t SET name = 'b';", "SELECT 1;"]
)
def test_a_statement_that_changes_no_row_is_not_noted(tmp_path: Path, statement: str) -> None:
    _, said = shown(tmp_path, f"{TABLE}{statement}\nINSERT INTO t VALUES (1,'a');\n")
    assert "weren't run" not in said


def test_tables_whose_rows_are_there_without_them_are_named(tmp_path: Path) -> None:
    _, said = shown(tmp_path, f"{TABLE}INSERT INTO t VALUES (1,'a');\nINSERT INTO u VALUES (1);")
    assert "1 statement with rows of tables that it doesn't create: left out (u)." in said


def test_a_schema_that_is_dropped_takes_its_tables(tmp_path: Path) -> None:
    table = "CREATE SCHEMA s;\nCREATE TABLE s.t (id int);\nINSERT INTO s.t VALUES"
    rows, _ = shown(tmp_path, f"{table} (1);\nDROP SCHEMA s CASCADE;\n{table} (2);\n")
    assert rows == ["2"]


def test_rows_behind_another_statement_of_their_line_make_a_dump(tmp_path: Path) -> None:
    assert shown(tmp_path, f"{TABLE}BEGIN; INSERT INTO t VALUES (1,'a'); COMMIT;")[0] == ["1,a"]


def test_rows_of_one_name_in_two_schemas_are_doubted(tmp_path: Path) -> None:
    statements = "INSERT INTO t VALUES (1,'a');\nINSERT INTO archive.t VALUES (9,'z');"
    with pytest.raises(EmptySourceError, match="in several schemas"):
        names(tmp_path, statements)


def test_rows_that_give_way_to_others_are_not_read_beside_them(tmp_path: Path) -> None:
    keyed = "CREATE TABLE t (id int, name text, PRIMARY KEY (id));\n"
    keyed += "INSERT INTO t VALUES (1,'a');\n"
    with pytest.raises(EmptySourceError, match="replace"):
        shown(tmp_path, keyed + "INSERT INTO t VALUES (1,'b') ON CONFLICT DO NOTHING;")


def test_rows_that_name_fewer_columns_are_counted(tmp_path: Path) -> None:
    statements = "INSERT INTO t (id) VALUES (1);\nINSERT INTO t VALUES (2,'b');"
    rows, said = shown(tmp_path, TABLE + statements)
    assert rows == ["1,None", "2,b"]
    assert "name: 1 row without a value for it" in said


@pytest.mark.parametrize("value", ["24-01-05", "0000-01-01", "epoch"])
def test_a_date_that_a_server_reads_otherwise_stays_text(tmp_path: Path, value: str) -> None:
    dated = "CREATE TABLE t (id int, d date, PRIMARY KEY (id)) ENGINE=InnoDB;\n"
    rows, said = shown(tmp_path, f"{dated}INSERT INTO t VALUES (1,'{value}'),(2,'2024-01-05');")
    assert rows == [f"1,{value}", "2,2024-01-05"]
    assert "1 value isn't of its declared type date" in said


def test_a_row_of_defaults_is_counted_as_left_out(tmp_path: Path) -> None:
    _, said = shown(
        tmp_path, f"{TABLE}INSERT INTO t VALUES (1,'a');\nINSERT INTO t DEFAULT VALUES;"
    )
    assert "Its INSERT statements weren't run" in said


def test_a_column_may_be_called_value(tmp_path: Path) -> None:
    rows, _ = shown(
        tmp_path,
        "CREATE TABLE s (key text, value text);\nINSERT INTO s (key, value) VALUES ('a','b');",
    )
    assert rows == ["a,b"]


def test_no_pattern_is_possessive() -> None:
    """Python 3.11.2 stops too early in a group with such a quantifier."""
    files = list((Path(__file__).parents[2] / "fluid_build").rglob("*.py"))
    assert Path(str(row_count.__file__)) in files
    found = [file.name for file in files if POSSESSIVE.search(file.read_text(encoding="utf-8"))]
    assert not found


POSTGRES = "-- PostgreSQL database dump\n"
MYSQL = "-- MySQL dump 10.13\n"
SQL_SERVER = "SET ANSI_NULLS ON\nGO\n"
ORACLE = "REM a script\nSET DEFINE OFF;\n"


def value_read(folder: Path, dialect: str, declared: str, value: str) -> tuple[list[str], str]:
    """What is read of a value, in a row of its own behind a null, and what is noted."""
    rows, said = shown(
        folder,
        f"{dialect}CREATE TABLE t (id int, x {declared});\n"
        f"INSERT INTO t VALUES (0, NULL);\nINSERT INTO t VALUES (1, {value});\n",
    )
    return [row.removeprefix("1,") for row in rows if row.startswith("1,")], said


@pytest.mark.parametrize(
    ("dialect", "declared", "value", "read"),
    [
        (POSTGRES, "text", "'abc'::varchar(3)", "abc"),
        (POSTGRES, "text", "'abc'::character varying", "abc"),
        (POSTGRES, "numeric", "'1.50'::numeric(5,2)", "1.50"),
        (POSTGRES, "date", "'2024-01-02'::date", "2024-01-02"),
        (POSTGRES, "timestamp", "CAST('2024-01-02 03:04:05.123' AS timestamp(3))",
         "2024-01-02 03:04:05.123000"),
        (POSTGRES, "text", "'happy'::public.mood", "happy"),
        (SQL_SERVER, "nvarchar(max)", "CAST(N'abc' AS nvarchar(max))", "abc"),
        (SQL_SERVER, "decimal(9,2)", "CAST(1.50 AS Decimal(9, 2))", "1.50"),
        (POSTGRES, "text", "U&'\\0041\\D83D\\DE00'", "A\U0001f600"),
        (POSTGRES, "text", "E'\\xc3\\xa9'", "é"),
        (MYSQL, "text", "_latin1'abc'", "abc"),
        (MYSQL, "year", "1970", "1970"),
        (MYSQL, "year", "0000", "0"),
        (POSTGRES, "real", "'Infinity'", "inf"),
        (POSTGRES, "real", "1e38", "9.999999680285692e+37"),
        (ORACLE, "blob", "HEXTORAW('4142')", "b'AB'"),
        (ORACLE, "raw(9)", "'4142'", "b'AB'"),
        (ORACLE, "date", "TO_DATE('2024-01-02 03:04:05', 'YYYY-MM-DD HH24:MI:SS')",
         "2024-01-02 03:04:05"),
    ],
)  # fmt: skip
def test_a_value_is_read_as_a_server_has_it(
    tmp_path: Path, dialect: str, declared: str, value: str, read: str
) -> None:
    assert value_read(tmp_path, dialect, declared, value)[0] == [read]


@pytest.mark.parametrize(
    ("dialect", "declared", "value"),
    [
        (POSTGRES, "text", "'abc'::varchar(2)"),
        (POSTGRES, "text", "'abc'::char"),
        (POSTGRES, "text", "CAST('abc' AS character varying(2))"),
        (POSTGRES, "text", "'1.25'::numeric(5,1)"),
        (POSTGRES, "text", "'1.5'::numeric::int"),
        (POSTGRES, "text", "'2024-01-02 10:00'::date"),
        (POSTGRES, "text", "'2024-01-02 10:00:00.123'::timestamp(0)"),
        (POSTGRES, "text", "U&'!0041' UESCAPE '!'"),
        (POSTGRES, "text", "U&'\\D83D'"),
        (POSTGRES, "text", "E'\\ud83d'"),
        (POSTGRES, "text", "E'\\U00110000'"),
        (POSTGRES, "text", "E'\\xff'"),
        (SQL_SERVER, "nvarchar(99)", f"CAST(N'{'x' * 31}' AS nvarchar)"),
        (SQL_SERVER, "datetime", "CAST('2024-01-02 10:11:12' AS smalldatetime)"),
        (MYSQL, "text", "_latin1'é'"),
        (MYSQL, "text", "0xff"),
        (ORACLE, "blob", "'xyz'"),
        (ORACLE, "date", "TO_DATE('2024-01-02 03:04:05', 'YYYY-MM-DD SS:MI:HH24')"),
    ],
)
def test_a_value_that_a_server_would_change_is_left_out(
    tmp_path: Path, dialect: str, declared: str, value: str
) -> None:
    rows, said = value_read(tmp_path, dialect, declared, value)
    assert not rows
    assert "1 row was left out" in said


@pytest.mark.parametrize(
    ("dialect", "declared", "value", "read"),
    [
        (MYSQL, "year", "70", "70"),
        (MYSQL, "year", "'5'", "5"),
        (POSTGRES, "real", "1e39", "1e39"),
        (POSTGRES, "double precision", "'-1e309'", "-1e309"),
        (SQL_SERVER, "nvarchar(9)", "0x4142", "\\x4142"),
    ],
)
def test_a_value_that_is_no_longer_itself_as_its_type_is_noted(
    tmp_path: Path, dialect: str, declared: str, value: str, read: str
) -> None:
    rows, said = value_read(tmp_path, dialect, declared, value)
    assert rows == [read]
    assert "x: 1 " in said


@pytest.mark.parametrize("row", ["(2, -- x 'y')\n f(2))", "(2, /* 'y') */ f(2))"])
def test_nothing_in_a_comment_is_taken_for_a_value(tmp_path: Path, row: str) -> None:
    rows, said = shown(tmp_path, f"{TABLE}INSERT INTO t VALUES (1, 'a'), {row} -- (3, 'z')\n;")
    assert rows == ["1,a"]
    assert "1 row was left out" in said


def test_rows_in_a_comment_that_mysql_reads_are_doubted(tmp_path: Path) -> None:
    with pytest.raises(EmptySourceError, match="some may be lost"):
        shown(
            tmp_path,
            "CREATE TABLE `t` (a int) ENGINE=InnoDB;\nINSERT INTO t VALUES (1) /*!50000 ,(2) */;\n",
        )


@pytest.mark.parametrize("header", ["t (id, name", "t (id, 'name')", '""', "'t"])
def test_a_copy_whose_header_is_damaged_costs_only_its_own_rows(
    tmp_path: Path, header: str
) -> None:
    damaged = f"COPY {header} FROM stdin;\n2\tb\n\\.\n"
    assert names(tmp_path, f"INSERT INTO t VALUES (1,'a');\n{damaged}") == ["a"]
