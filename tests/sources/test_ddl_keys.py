"""Keys and references: whole, in order, and leading to what is there."""

from pathlib import Path

import pytest

from fluid_build.sources.base import DeclaredForeignKey, Source, Table
from fluid_build.sources.sql_text.ddl import open_ddl


def read(folder: Path, text: str, dialect: str = "postgres") -> Source:
    path = folder / "x.sql"
    path.write_text(text, encoding="utf-8")
    return open_ddl(path, dialect=dialect)


def table(source: Source, name: str) -> Table:
    return next(table for table in source.tables if table.name == name)


PARENT = "CREATE TABLE parent (a int, b int, c int, PRIMARY KEY (b, a), UNIQUE (c));\n"


@pytest.mark.parametrize(
    "child",
    [
        "CREATE TABLE child (y int, x int, FOREIGN KEY (x, y) REFERENCES parent (b, a));",
        "CREATE TABLE child (y int, x int, FOREIGN KEY (x, y) REFERENCES parent);",
        "CREATE TABLE child (y int, x int, CONSTRAINT f FOREIGN KEY (x, y) REFERENCES parent (b, a)"
        " MATCH FULL ON DELETE SET NULL ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED);",
        "CREATE TABLE child (y int, x int);\n"
        "ALTER TABLE ONLY child ADD CONSTRAINT f FOREIGN KEY (x, y) REFERENCES parent (b, a);",
        "CREATE TABLE child (y int, x int);\n"
        "ALTER TABLE child ADD CHECK (x > 0), ADD FOREIGN KEY (x, y) REFERENCES public.parent;",
        'CREATE TABLE child (y int, x int, FOREIGN KEY ("x", "y") REFERENCES PARENT (B, A));',
    ],
)
def test_composite_reference_keeps_its_pairs(tmp_path: Path, child: str) -> None:
    """A composite foreign key pairs its columns as they are written, never by their order."""
    with read(tmp_path, PARENT + child) as source:
        assert table(source, "child").foreign_keys == (
            DeclaredForeignKey(("x", "y"), "parent", ("b", "a")),
        )


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "CREATE TABLE t (a int, b int, PRIMARY KEY (b, a));"),
        ("postgres", "CREATE TABLE t (a int, b int); ALTER TABLE t ADD PRIMARY KEY (b, a);"),
        ("postgres", "CREATE TABLE t (a int, b int, CONSTRAINT k PRIMARY KEY (b, a) INCLUDE (a));"),
        ("postgres", "CREATE TABLE t (a int, b int); CREATE UNIQUE INDEX i ON t (b, a);"
         " ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY USING INDEX i;"),
        ("mysql", "CREATE TABLE t (a int, b varchar(9), PRIMARY KEY USING BTREE (b(4), a DESC));"),
        ("tsql", "CREATE TABLE t (a int, b int, CONSTRAINT [k] PRIMARY KEY NONCLUSTERED"
         " ([b] ASC, [a] DESC) WITH (FILLFACTOR = 90) ON [PRIMARY])"),
        ("sqlite", "CREATE TABLE t (a int, b text, PRIMARY KEY (b COLLATE NOCASE, a));"),
        ("oracle", "CREATE TABLE t (a NUMBER, b NUMBER, PRIMARY KEY (b, a) USING INDEX);"),
    ],
)  # fmt: skip
def test_composite_primary_key_in_its_order(tmp_path: Path, dialect: str, text: str) -> None:
    """A composite primary key comes whole, in the order of the key and not of the table."""
    with read(tmp_path, text, dialect) as source:
        assert source.tables[0].primary_key == ("b", "a")
        assert [column.nullable for column in source.tables[0].columns] == [False, False]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "CREATE TABLE t (a int UNIQUE, b int);"),
        ("postgres", "CREATE TABLE t (a int, b int, UNIQUE NULLS NOT DISTINCT (a));"),
        ("postgres", "CREATE TABLE t (a int UNIQUE NULLS NOT DISTINCT, b int);"),
        ("postgres", "CREATE TABLE t (a int); CREATE UNIQUE INDEX ON ONLY t USING btree (a);"),
        ("mysql", "CREATE TABLE t (a int UNIQUE KEY, b int);"),
        ("mysql", "CREATE TABLE t (a int, b int, UNIQUE KEY `u` (`a`) USING BTREE);"),
        ("mysql", "CREATE TABLE t (a int); ALTER TABLE t ADD UNIQUE INDEX u (a), ADD KEY (a);"),
        ("tsql", "CREATE TABLE t (a int)\nCREATE UNIQUE CLUSTERED INDEX i ON dbo.t (a DESC)"),
        ("sqlite", "CREATE TABLE t (a int); CREATE UNIQUE INDEX IF NOT EXISTS i ON t (a ASC);"),
    ],
)  # fmt: skip
def test_unique_keys(tmp_path: Path, dialect: str, text: str) -> None:
    """A unique constraint and a unique index are the same key."""
    with read(tmp_path, text, dialect) as source:
        assert source.tables[0].unique_keys == (("a",),)


@pytest.mark.parametrize(
    "columns", ["a int UNIQUE NULLS NOT DISTINCT, b int", "a int, UNIQUE NULLS NOT DISTINCT (a)"]
)
def test_nulls_may_be_equal_in_a_unique_key(tmp_path: Path, columns: str) -> None:
    """It's the same behind a column and by itself."""
    with read(tmp_path, f"CREATE TABLE t ({columns});", "postgres") as source:
        assert source.tables[0].keys_with_equal_nulls == {("a",)}
        assert source.tables[0].notes == ()


def test_a_foreign_key_of_a_column_may_have_a_name(tmp_path: Path) -> None:
    """T-SQL's FOREIGN KEY before REFERENCES is read behind a constraint's name too."""
    text = (
        "CREATE TABLE p (id int PRIMARY KEY)\nGO\n"
        "CREATE TABLE t (a int NULL CONSTRAINT x FOREIGN KEY REFERENCES dbo.p)\nGO\n"
    )
    with read(tmp_path, text, "tsql") as source:
        (key,) = source.tables[1].foreign_keys
        assert (key.columns, key.to_table, key.to_columns) == (("a",), "p", ("id",))


@pytest.mark.parametrize("index", ["(lower(a))", "(a) WHERE b > 0", "(a, (b + 1))"])
def test_index_that_proves_no_key(tmp_path: Path, index: str) -> None:
    """A unique index over an expression or some rows is no key of the columns."""
    with read(
        tmp_path, f"CREATE TABLE t (a text, b int); CREATE UNIQUE INDEX i ON t {index};"
    ) as s:
        assert s.tables[0].unique_keys == ()


def test_reference_to_a_table_that_is_not_there(tmp_path: Path) -> None:
    """A foreign key that leads nowhere is left out, and the table says so."""
    with read(
        tmp_path, "CREATE TABLE t (a int REFERENCES gone (id), b int REFERENCES t (no));"
    ) as s:
        assert s.tables[0].foreign_keys == ()
        assert s.tables[0].notes == (
            "A foreign key (a) to gone is left out: that table isn't in the DDL.",
            "A foreign key (b) to t is left out: its columns don't pair up.",
        )


def test_reference_before_its_table(tmp_path: Path) -> None:
    """The order of statements does not matter: constraints may come before their tables."""
    text = (
        "ALTER TABLE a ADD CONSTRAINT f FOREIGN KEY (b) REFERENCES b (id);\n"
        "CREATE TABLE a (b int);\nCREATE TABLE b (id int PRIMARY KEY);"
    )
    with read(tmp_path, text) as source:
        assert table(source, "a").foreign_keys == (DeclaredForeignKey(("b",), "b", ("id",)),)


def test_case_twins_stay_apart(tmp_path: Path) -> None:
    """Where quotes keep case apart, twins are two tables, and references find the right one."""
    text = (
        'CREATE TABLE "Item" (id int PRIMARY KEY); CREATE TABLE item (id int PRIMARY KEY);'
        'CREATE TABLE r (a int REFERENCES ITEM, b int REFERENCES "Item", "A" int);'
    )
    with read(tmp_path, text) as source:
        keys = table(source, "r").foreign_keys
        assert [(key.columns, key.to_table) for key in keys] == [(("a",), "item"), (("b",), "Item")]
        assert [column.alias for column in table(source, "r").columns] == ["a", "b", "A_2"]
        assert len({each.relation.lower() for each in source.tables}) == 3


def test_spelling_stays_and_case_folds(tmp_path: Path) -> None:
    """Names keep the spelling of their table's definition, however they are referred to."""
    text = (
        "CREATE TABLE Customer (CustomerID int PRIMARY KEY);"
        "CREATE TABLE Sale (Id int, Buyer int);"
        "ALTER TABLE SALE ADD FOREIGN KEY (BUYER) REFERENCES customer (customerid);"
    )
    with read(tmp_path, text) as source:
        assert table(source, "Sale").foreign_keys == (
            DeclaredForeignKey(("Buyer",), "Customer", ("CustomerID",)),
        )


def test_several_schemas_qualify_names(tmp_path: Path) -> None:
    """With several schemas a table's name has its schema before it, and twins are two tables."""
    text = (
        "CREATE TABLE a.t (id int PRIMARY KEY); CREATE TABLE b.t (id int PRIMARY KEY,"
        " up int REFERENCES a.t, own int REFERENCES b.t); CREATE TABLE u (t int REFERENCES a.t);"
    )
    with read(tmp_path, text) as source:
        assert [each.name for each in source.tables] == ["a.t", "b.t", "public.u"]
        assert [key.to_table for key in table(source, "b.t").foreign_keys] == ["a.t", "b.t"]


def test_one_schema_leaves_names_bare(tmp_path: Path) -> None:
    """With one schema, written or not, names are bare."""
    text = "CREATE TABLE public.t (id int PRIMARY KEY); CREATE TABLE u (t int REFERENCES public.t);"
    with read(tmp_path, text) as source:
        assert [table.name for table in source.tables] == ["t", "u"]
        assert source.tables[0].schema == "public"


@pytest.mark.parametrize(
    ("dialect", "use"),
    [
        ("mysql", "USE {};"),
        ("postgres", "SET search_path = {}, pg_catalog;"),
        ("oracle", "ALTER SESSION SET CURRENT_SCHEMA = {};"),
        ("snowflake", "USE SCHEMA {};"),
    ],
)
def test_current_schema_counts(tmp_path: Path, dialect: str, use: str) -> None:
    """A table without a schema belongs to the one that is in use."""
    one, two = use.format("one"), use.format("two")
    text = f"{one}\nCREATE TABLE t (id int);\n{two}\nCREATE TABLE t (id int);"
    with read(tmp_path, text, dialect) as source:
        assert [table.name for table in source.tables] == ["one.t", "two.t"]


def test_elements_of_create_schema(tmp_path: Path) -> None:
    """Tables written inside CREATE SCHEMA belong to it, those after its semicolon do not."""
    text = (
        "CREATE SCHEMA s\n  CREATE TABLE a (id int)\n  CREATE TABLE b (id int);\n"
        "CREATE TABLE c (id int);"
    )
    with read(tmp_path, text) as source:
        assert [table.name for table in source.tables] == ["s.a", "s.b", "public.c"]


def test_partitions_are_part_of_their_table(tmp_path: Path) -> None:
    """Partitions are no tables of their own; a reference they all declare is the table's."""
    text = """
    CREATE TABLE city (id int PRIMARY KEY);
    CREATE TABLE m (id int, city int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
    CREATE TABLE m1 PARTITION OF m FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
    CREATE TABLE m2 (id int, city int, day date);
    ALTER TABLE ONLY m ATTACH PARTITION m2 DEFAULT;
    ALTER TABLE m1 ADD FOREIGN KEY (city) REFERENCES city (id);
    ALTER TABLE m2 ADD FOREIGN KEY (city) REFERENCES city (id), ADD UNIQUE (id);
    """
    with read(tmp_path, text) as source:
        assert [table.name for table in source.tables] == ["city", "m"]
        assert table(source, "m").foreign_keys == (DeclaredForeignKey(("city",), "city", ("id",)),)
        assert table(source, "m").unique_keys == ()
        assert "2 partitions of m aren't separate tables." in source.notes


def test_clickhouse_keys_are_no_keys(tmp_path: Path) -> None:
    """ClickHouse's PRIMARY KEY does not make rows unique, so it is not taken for a key."""
    text = "CREATE TABLE t (id UInt64, PRIMARY KEY (id)) ENGINE = MergeTree ORDER BY id;"
    with read(tmp_path, text, "clickhouse") as source:
        assert source.tables[0].primary_key == ()
        assert any("lets them repeat" in note for note in source.notes)
