"""Statements that change tables, applied in order, and columns as they are declared."""

from pathlib import Path

import pytest

from fluid_build.errors import EmptySourceError
from fluid_build.sources.base import Source
from fluid_build.sources.sql_text.ddl import open_ddl


def read(folder: Path, text: str, dialect: str = "postgres") -> Source:
    path = folder / "x.sql"
    path.write_text(text, encoding="utf-8")
    return open_ddl(path, dialect=dialect)


def columns(source: Source) -> list[tuple[str, str, bool]]:
    return [
        (column.name, column.declared_type, column.nullable) for column in source.tables[0].columns
    ]


MADE = "CREATE TABLE t (a int NOT NULL, b text);\n"


@pytest.mark.parametrize(
    ("dialect", "change", "expected"),
    [
        ("postgres", "ALTER TABLE t ADD c date NOT NULL, DROP COLUMN b;",
         [("a", "int", False), ("c", "date", False)]),
        ("postgres", "ALTER TABLE t RENAME COLUMN b TO c;",
         [("a", "int", False), ("c", "text", True)]),
        ("postgres", "ALTER TABLE t ALTER b TYPE varchar(9) USING b::text, ALTER a DROP NOT NULL;",
         [("a", "int", True), ("b", "varchar(9)", True)]),
        ("postgres", "ALTER TABLE t ALTER COLUMN b SET NOT NULL, ALTER b SET DEFAULT 'x';",
         [("a", "int", False), ("b", "text", False)]),
        ("postgres", "ALTER TABLE t ALTER a ADD GENERATED ALWAYS AS IDENTITY (START 1, CACHE 1);",
         [("a", "int", False), ("b", "text", True)]),
        ("mysql", "ALTER TABLE t CHANGE b c bigint NOT NULL AFTER a, MODIFY a int;",
         [("a", "int", True), ("c", "bigint", False)]),
        ("mysql", "ALTER TABLE t ADD COLUMN (c int, d int), ENGINE=InnoDB, AUTO_INCREMENT=5;",
         [("a", "int", False), ("b", "text", True), ("c", "int", True), ("d", "int", True)]),
        ("tsql", "ALTER TABLE t ADD c int, d datetime NOT NULL\nALTER TABLE t DROP COLUMN b, c",
         [("a", "int", False), ("d", "datetime", False)]),
        ("tsql", "ALTER TABLE t ALTER COLUMN b nvarchar(5) NOT NULL",
         [("a", "int", False), ("b", "nvarchar(5)", False)]),
        ("tsql", "EXEC sp_rename 'dbo.t.b', 'c', 'COLUMN';",
         [("a", "int", False), ("c", "text", True)]),
        ("oracle", "ALTER TABLE t ADD (c NUMBER(3)); ALTER TABLE t MODIFY (b NOT NULL, c DATE);",
         [("a", "int", False), ("b", "text", False), ("c", "DATE", True)]),
        ("oracle", "ALTER TABLE t DROP (b);", [("a", "int", False)]),
        ("hive", "ALTER TABLE t ADD COLUMNS (c string COMMENT 'x', d int);",
         [("a", "int", False), ("b", "text", True), ("c", "string", True), ("d", "int", True)]),
    ],
)  # fmt: skip
def test_columns_after_changes(
    tmp_path: Path, dialect: str, change: str, expected: list[tuple[str, str, bool]]
) -> None:
    """The columns are those that remain after all changes."""
    with read(tmp_path, MADE + change, dialect) as source:
        assert columns(source) == expected
        assert not [note for note in source.notes if "in part" in note or "could not" in note]


def test_rename_takes_keys_along(tmp_path: Path) -> None:
    """Keys and references follow a column and a table to their new names."""
    text = """
    CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (a int REFERENCES a (id));
    ALTER TABLE a RENAME COLUMN id TO key; ALTER TABLE a RENAME TO c;
    """
    with read(tmp_path, text) as source:
        first, second = source.tables
        assert (first.name, first.primary_key) == ("c", ("key",))
        assert [(key.to_table, key.to_columns) for key in second.foreign_keys] == [("c", ("key",))]


def test_drop_takes_keys_along(tmp_path: Path) -> None:
    """Dropping a constraint, a primary key or a column drops its keys."""
    text = """
    CREATE TABLE t (a int, b int, c int, PRIMARY KEY (a), CONSTRAINT u UNIQUE (b), UNIQUE (c));
    ALTER TABLE t DROP CONSTRAINT u, DROP COLUMN c; ALTER TABLE t DROP PRIMARY KEY;
    """
    with read(tmp_path, text, "mysql") as source:
        assert (source.tables[0].primary_key, source.tables[0].unique_keys) == ((), ())


def test_dropped_table_is_gone(tmp_path: Path) -> None:
    """A dropped table is gone, and a later one of its name is the new one."""
    text = """
    CREATE TABLE a (x int); CREATE TABLE b (x int); DROP TABLE IF EXISTS a, b CASCADE;
    CREATE TABLE a (y int);
    """
    with read(tmp_path, text) as source:
        assert [(table.name, table.columns[0].name) for table in source.tables] == [("a", "y")]


def test_drops_before_the_tables_are_created_change_nothing(tmp_path: Path) -> None:
    """A dump that first drops what it's about to create loses nothing of it."""
    text = """
    ALTER TABLE IF EXISTS ONLY public.t DROP CONSTRAINT IF EXISTS t_pkey;
    DROP TABLE IF EXISTS public.t;
    CREATE TABLE public.t (id int);
    ALTER TABLE ONLY public.t ADD CONSTRAINT t_pkey PRIMARY KEY (id);
    """
    with read(tmp_path, text) as source:
        assert source.tables[0].primary_key == ("id",)


def test_a_change_to_an_absent_column_is_shown(tmp_path: Path) -> None:
    """A change to a column that doesn't exist is shown with its line."""
    with read(tmp_path, MADE + "ALTER TABLE t DROP COLUMN nope;") as source:
        assert source.notes[-1] == (
            "Line 2 was read in part: ALTER TABLE t: there is no column nope to drop."
        )


def test_unknown_change_is_shown(tmp_path: Path) -> None:
    """An unknown change is shown, and the others in its statement are made."""
    with read(tmp_path, MADE + "ALTER TABLE t FROBNICATE b, DROP COLUMN b;") as source:
        assert [column.name for column in source.tables[0].columns] == ["a"]
        assert "FROBNICATE b" in source.notes[-1]


def test_change_to_an_absent_table_is_shown(tmp_path: Path) -> None:
    """Changes to tables that aren't in the DDL are counted, with the tables' names."""
    with read(tmp_path, MADE + "ALTER TABLE gone ADD PRIMARY KEY (id);") as source:
        assert source.notes[-1] == ("1 statement changes tables that the DDL doesn't create: gone.")


@pytest.mark.parametrize(
    ("dialect", "made", "reason"),
    [
        ("postgres", "CREATE TABLE x AS SELECT 1 AS a;",
         "It's made from a query, so its columns aren't declared."),
        ("mysql", "CREATE TABLE x SELECT 1 AS a;",
         "It's made from a query, so its columns aren't declared."),
        ("sqlite", "CREATE VIRTUAL TABLE x USING fts5(a, b);",
         "It's a virtual table, whose columns a module decides."),
        ("databricks", "CREATE TABLE x USING DELTA LOCATION '/x';", "It declares no columns."),
        ("postgres", "CREATE TABLE x (LIKE gone);",
         "It takes its columns from a table that isn't in the DDL."),
    ],
)  # fmt: skip
def test_skipped_with_its_reason(tmp_path: Path, dialect: str, made: str, reason: str) -> None:
    """A table without columns of its own is skipped, with the reason."""
    with read(tmp_path, MADE + made, dialect) as source:
        assert [table.name for table in source.tables] == ["t"]
        assert [skipped.reason for skipped in source.skipped] == [reason]


@pytest.mark.parametrize(
    ("dialect", "made", "note"),
    [
        ("postgres", "CREATE TEMP TABLE x (a int);", "x is left out: it's a temporary table."),
        ("tsql", "CREATE TABLE #x (a int);", "#x is left out: it's a temporary table."),
        ("oracle", "CREATE GLOBAL TEMPORARY TABLE x (a NUMBER) ON COMMIT DELETE ROWS;",
         "x is left out: it's a temporary table."),
        ("sqlite", "CREATE TABLE sqlite_sequence(name, seq);",
         "sqlite_sequence is left out: it's SQLite's own."),
    ],
)  # fmt: skip
def test_left_out_with_a_note(tmp_path: Path, dialect: str, made: str, note: str) -> None:
    """A table without data to keep is left out, and isn't a failure."""
    with read(tmp_path, MADE + made, dialect) as source:
        assert [table.name for table in source.tables] == ["t"]
        assert source.skipped == ()
        assert note in source.notes


def test_only_skipped_tables_are_an_error(tmp_path: Path) -> None:
    """If no table remains, the error says why the first one was skipped."""
    with pytest.raises(EmptySourceError, match="x: It's made from a query"):
        read(tmp_path, "CREATE TABLE x AS SELECT 1;")


@pytest.mark.parametrize(
    ("dialect", "made"),
    [
        ("postgres", "CREATE TABLE u (LIKE t INCLUDING ALL, c int);"),
        ("postgres", "CREATE TABLE u (c int) INHERITS (t);"),
    ],
)
def test_columns_of_another_table(tmp_path: Path, dialect: str, made: str) -> None:
    """LIKE and INHERITS put the other table's columns before the table's own."""
    with read(tmp_path, made + MADE, dialect) as source:
        named = {table.name: table for table in source.tables}
        assert [column.name for column in named["u"].columns] == ["a", "b", "c"]


def test_copy_brings_keys_only_where_the_dialect_does(tmp_path: Path) -> None:
    """MySQL's LIKE copies the keys too, PostgreSQL's only if asked to."""
    made = "CREATE TABLE t (a int PRIMARY KEY);"
    with read(tmp_path, made + "CREATE TABLE u LIKE t;", "mysql") as source:
        assert source.tables[1].primary_key == ("a",)
    with read(tmp_path, made + "CREATE TABLE u (LIKE t);") as source:
        assert source.tables[1].primary_key == ()


@pytest.mark.parametrize(
    ("dialect", "column"),
    [
        ("postgres", "g int GENERATED ALWAYS AS (a + 1) STORED"),
        ("mysql", "g int AS (a + 1) VIRTUAL"),
        ("tsql", "g AS ([a] + 1) PERSISTED"),
        ("oracle", "g NUMBER GENERATED ALWAYS AS (a + 1) VIRTUAL"),
        ("clickhouse", "g Int32 MATERIALIZED a + 1"),
    ],
)
def test_computed_column(tmp_path: Path, dialect: str, column: str) -> None:
    """A column computed from others is marked as generated."""
    with read(tmp_path, f"CREATE TABLE t (a int, {column}, z int)", dialect) as source:
        assert [column.generated for column in source.tables[0].columns] == [False, True, False]


@pytest.mark.parametrize(
    ("dialect", "column"),
    [
        ("postgres", "i int GENERATED BY DEFAULT AS IDENTITY"),
        ("postgres", "i bigserial"),
        ("tsql", "i int IDENTITY(1,1)"),
        ("mysql", "i int AUTO_INCREMENT"),
        ("oracle", "i NUMBER GENERATED BY DEFAULT ON NULL AS IDENTITY"),
    ],
)
def test_identity_column_is_never_null(tmp_path: Path, dialect: str, column: str) -> None:
    """A column that numbers its rows isn't computed, and never null."""
    with read(tmp_path, f"CREATE TABLE t ({column}, z int)", dialect) as source:
        column = source.tables[0].columns[0]
        assert (column.nullable, column.generated) == (False, False)


@pytest.mark.parametrize(
    "column",
    [
        "x varchar(9) DEFAULT 'NOT NULL, y int'",
        "x int DEFAULT NULL",
        "x int DEFAULT (1) CHECK (x IS NOT NULL)",
        "x timestamp DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)",
        "x int DEFAULT 1 REFERENCES t (id) ON DELETE SET NULL",
    ],
)
def test_defaults_say_nothing_of_nulls(tmp_path: Path, column: str) -> None:
    """Words inside defaults, checks and reference actions aren't the column's own."""
    with read(
        tmp_path, f"CREATE TABLE t (id int PRIMARY KEY, {column}, z int);", "mysql"
    ) as source:
        assert [(column.name, column.nullable) for column in source.tables[0].columns] == [
            ("id", False),
            ("x", True),
            ("z", True),
        ]


def test_words_not_understood_are_shown(tmp_path: Path) -> None:
    """Words after a column that nobody knows are shown on its table."""
    with read(tmp_path, "CREATE TABLE t (a int NOT NULL b text, c int);") as source:
        assert source.tables[0].notes == ("Part of the column a wasn't understood: 'b text'.",)


def test_an_unreadable_element_leaves_the_others(tmp_path: Path) -> None:
    """An unreadable line of a table is shown, and the other columns stay."""
    with read(tmp_path, "CREATE TABLE t (a int, 12 34, c int);") as source:
        assert [column.name for column in source.tables[0].columns] == ["a", "c"]
        assert source.notes[-1].startswith("Line 1 was read in part: t: 12 34")


@pytest.mark.parametrize(
    ("dialect", "name"),
    [("postgres", "key"), ("postgres", "index"), ("sqlite", "key"), ("mysql", "`key`"),
     ("postgres", '"primary"'), ("tsql", "[order]"), ("postgres", "period"), ("postgres", "title")],
)  # fmt: skip
def test_columns_called_like_keywords(tmp_path: Path, dialect: str, name: str) -> None:
    """A keyword can be the name of a column."""
    text = f"CREATE TABLE t ({name} varchar(10) NOT NULL CHECK ({name} > 'a'), z int);"
    with read(tmp_path, text, dialect) as source:
        first = source.tables[0].columns[0]
        assert (first.name, first.declared_type) == (name.strip('`"[]'), "varchar(10)")


def test_a_column_of_a_domain_has_its_base_type(tmp_path: Path) -> None:
    """A column of a domain or enumeration has its base type, and the domain's not-null."""
    text = """
    CREATE TABLE t (a "Flag", b mood, c mood[], d s.amount);
    CREATE DOMAIN "Flag" boolean NOT NULL; CREATE TYPE mood AS ENUM ('a', 'b');
    CREATE DOMAIN s.amount AS numeric(9,2) DEFAULT 0 CHECK (VALUE > 0);
    """
    with read(tmp_path, text) as source:
        assert [
            (column.declared_type, column.type, column.nullable)
            for column in source.tables[0].columns
        ] == [
            ("Flag", "BOOLEAN", False),
            ("mood", "VARCHAR", True),
            ("mood[]", "VARCHAR[]", True),
            ("s.amount", "DECIMAL(9,2)", True),
        ]


def test_thousands_of_renames_that_wait_for_each_other_end(tmp_path: Path) -> None:
    renames = (f"ALTER TABLE t{i} RENAME TO t{i + 1};" for i in reversed(range(5_000)))
    with read(tmp_path, "CREATE TABLE t0 (id int);\n" + "\n".join(renames)) as source:
        assert [table.name for table in source.tables] == ["t5000"]


def test_a_statement_waits_for_the_table_that_another_one_renames(tmp_path: Path) -> None:
    with read(
        tmp_path,
        'ALTER TABLE b ADD d int; ALTER TABLE "B" ADD e int; ALTER TABLE a RENAME TO B;'
        "CREATE TABLE a (c int); ALTER TABLE nowhere ADD x int;",
    ) as source:
        assert [name for name, _, _ in columns(source)] == ["c", "d", "e"]
        assert "nowhere" in " ".join(source.notes)


def test_statements_that_rename_back_and_forth_end(tmp_path: Path) -> None:
    with read(
        tmp_path,
        "RENAME TABLE a TO c, c TO a, d TO y; RENAME TABLE b TO d, d TO b, c TO y;"
        "CREATE TABLE a (x int); CREATE TABLE b (x int);",
        dialect="mysql",
    ) as source:
        assert sorted(table.name for table in source.tables) == ["a", "b"]


def test_a_name_is_free_again_after_a_drop_or_a_rename(tmp_path: Path) -> None:
    with read(
        tmp_path,
        "CREATE TABLE t (a int, b text); ALTER TABLE t ADD c int; ALTER TABLE t ADD C int;"
        "ALTER TABLE t DROP c; ALTER TABLE t ADD c date; ALTER TABLE t RENAME COLUMN b TO d;"
        "ALTER TABLE t ADD b int; ALTER TABLE t ADD d int;",
    ) as source:
        assert [(name, type_) for name, type_, _ in columns(source)] == [
            ("a", "int"), ("d", "text"), ("c", "date"), ("b", "int"),
        ]  # fmt: skip
