"""PostgreSQL, on a real server."""

import time
from typing import Any

import pytest

from fluid_build.errors import (
    EmptySourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
)
from fluid_build.progress import Progress
from fluid_build.sources import open_source
from fluid_build.sources.base import DeclaredForeignKey, Source, Table
from fluid_build.sources.servers.postgres.database import PostgresRows
from fluid_build.sources.servers.rows import MOMENTS

Database = Any


def only(source: Source) -> Table:
    (table,) = source.tables
    return table


def values(source: Source, table: Table, column: str) -> list[object]:
    alias = table.column(column).alias
    rows = source.connection.execute(f'SELECT "{alias}"::VARCHAR FROM {table.relation}')
    return [row[0] for row in rows.fetchall()]


TYPES = [
    ("numeric", "12345678901234567890.1234567", "DECIMAL(38,7)", "12345678901234567890.1234567"),
    ("numeric", "42", "DECIMAL(18,0)", "42"),
    ("numeric(10,2)", "1.25", "DECIMAL(10,2)", "1.25"),
    ("numeric(38,10)", "0.0000000001", "DECIMAL(38,10)", "0.0000000001"),
    ("numeric(10,2)", "'NaN'", "DOUBLE", "nan"),
    ("numeric", "'Infinity'", "DOUBLE", "inf"),
    ("numeric(1000,500)", "1e-400", "VARCHAR", "0." + "0" * 399 + "1" + "0" * 100),
    ("numeric(3,-2)", "12300", "DECIMAL(18,0)", "12300"),
    ("money", "'12.34'", "DECIMAL(18,2)", "12.34"),
    ("inet", "'10.0.0.1'", "VARCHAR", "10.0.0.1"),
    ("inet", "'::1/64'", "VARCHAR", "::1/64"),
    ("cidr", "'10.0.0.1'", "VARCHAR", "10.0.0.1/32"),
    ("int[]", "'{1,NULL,3}'", "INTEGER[]", "[1, NULL, 3]"),
    ("int[]", "'{{1,2},{3,4}}'", "VARCHAR", "{{1,2},{3,4}}"),
    ("text[]", "ARRAY['a,b','c']", "VARCHAR[]", "['a,b', c]"),
    ("numeric[]", "'{1.10,2}'", "VARCHAR", "{1.10,2}"),
    ("mood", "'so so'", "VARCHAR", "so so"),
    ("mood[]", "'{\"so so\"}'", "VARCHAR", '{"so so"}'),
    ("positive", "5", "INTEGER", "5"),
    ("price", "5", "DECIMAL(12,2)", "5.00"),
    ("pair", "ROW(1,'x')", "VARCHAR", "(1,x)"),
    ("json", "'{\"a\": [1]}'", "JSON", '{"a": [1]}'),
    ("jsonb", '\'{"b":1,"a":2}\'', "JSON", '{"a": 2, "b": 1}'),
    ("int4range", "'[1,5)'", "VARCHAR", "[1,5)"),
    ("tstzrange", "'[,2020-01-01 00:00:00+00)'", "VARCHAR", None),
    ("uuid", "'e3019b24-3a90-4556-a464-469ed5a45bb2'", "UUID", None),
    ("timestamptz", "'2020-06-01 12:00:00+02'", "TIMESTAMP WITH TIME ZONE", None),
    ("timestamp", "'-infinity'", "TIMESTAMP", "-infinity"),
    ("date", "'infinity'", "DATE", "infinity"),
    ("date", "'0044-03-15 BC'", "DATE", "0044-03-15 (BC)"),
    ("date", "'5874897-12-31'", "DATE", "5874897-12-31"),
    ("timestamp", "'294247-01-10 04:00:54.775806'", "TIMESTAMP", "294247-01-10 04:00:54.775806"),
    ("timestamp", "'294247-01-10 04:00:54.775807'", "VARCHAR", "294247-01-10 04:00:54.775807"),
    ("timestamp", "'294276-12-31 23:59:59.999999'", "VARCHAR", "294276-12-31 23:59:59.999999"),
    ("timestamp", "'4714-11-24 00:00:00 BC'", "TIMESTAMP", "4714-11-24 (BC) 00:00:00"),
    ("timestamptz", "'infinity'", "TIMESTAMP WITH TIME ZONE", "infinity"),
    ("timestamptz", "'294276-12-31 12:00:00+00'", "VARCHAR", None),
    ("late", "'294276-12-31'", "VARCHAR", "294276-12-31 00:00:00"),
    ("timestamp[]", "'{294276-12-31}'", "VARCHAR", '{"294276-12-31 00:00:00"}'),
    ("timestamp[]", "'{infinity}'", "TIMESTAMP[]", "[infinity]"),
    ("int[]", "'[0:1]={1,2}'", "VARCHAR", "[0:1]={1,2}"),
    ("int[]", "'{}'", "INTEGER[]", "[]"),
    ("whole_list", "'{1,2}'", "INTEGER[]", "[1, 2]"),
    ("whole_list", "'{{1},{2}}'", "VARCHAR", "{{1},{2}}"),
    ("numeric[]", "'{NaN,-Infinity}'", "VARCHAR", "{NaN,-Infinity}"),
    ("real[]", "'{NaN,-Infinity}'", "FLOAT[]", "[nan, -inf]"),
    ("numeric(1000,0)", "repeat('9', 1000)::numeric", "VARCHAR", "9" * 1000),
    ("money", "'-92233720368547758.08'", "DECIMAL(38,2)", "-92233720368547758.08"),
    ("jsonb", "'123456789012345678901.10'", "JSON", "123456789012345678901.10"),
    ("int4multirange", "'{[1,3),[5,6)}'", "VARCHAR", "{[1,3),[5,6)}"),
    ("numrange", "'empty'", "VARCHAR", "empty"),
    ("bit varying", "B'0001'", "VARCHAR", "0001"),
    ("oid", "4294967295", "VARCHAR", "4294967295"),
    ("xid8", "'18446744073709551615'", "VARCHAR", "18446744073709551615"),
    ("char(3)[]", "'{a}'", "VARCHAR", '{"a  "}'),
    ("timetz", "'24:00:00-15:59:59'", "TIME WITH TIME ZONE", "24:00:00-15:59:59"),
    ("interval", "'-infinity'", "VARCHAR", "-infinity"),
    ("interval", "'-178000000 years'", "INTERVAL", "-178000000 years"),
    ("interval", "'2562047788 hours'", "INTERVAL", "2562047788:00:00"),
    ("time", "'24:00'", "TIME", "24:00:00"),
    ("timetz", "'10:20:30+02'", "TIME WITH TIME ZONE", "10:20:30+02"),
    ("interval", "'1 mon 2 days 03:00'", "INTERVAL", "1 month 2 days 03:00:00"),
    ("bytea", "'\\xff00'", "BLOB", "\\xFF\\x00"),
    ("inet", "'10.0.0.1/24'", "VARCHAR", "10.0.0.1/24"),
    ("macaddr", "'08:00:2b:01:02:03'", "VARCHAR", None),
    ("point", "'(1,2)'", "VARCHAR", "(1,2)"),
    ("bit(3)", "B'101'", "VARCHAR", "101"),
    ("tsvector", "'a b'", "VARCHAR", "'a' 'b'"),
    ("char(5)", "'a'", "VARCHAR", "a"),
    ('"char"', "'a'", "VARCHAR", "a"),
    ("name", "'n'", "VARCHAR", "n"),
    ("real", "1.1", "FLOAT", "1.1"),
    ("double precision", "'NaN'", "DOUBLE", "nan"),
    ("xml", "NULL", "VARCHAR", None),
    ("vector(2)", "'[1,2]'", "VARCHAR", "[1,2]"),
]


def test_every_type_is_read_without_loss(postgres: Database) -> None:
    """Each type has a fitting type in DuckDB, and the value that the server shows."""
    creates = "".join(
        f"CREATE TABLE t{i:03} (c {declared}); INSERT INTO t{i:03} VALUES ({value});"
        for i, (declared, value, _, _) in enumerate(TYPES)
    )
    postgres.run(
        "CREATE TYPE mood AS ENUM ('so so', 'fine'); CREATE DOMAIN whole AS int;"
        "CREATE DOMAIN positive AS whole CHECK (value > 0); CREATE DOMAIN price AS numeric(12,2);"
        "CREATE DOMAIN late AS timestamp; CREATE DOMAIN whole_list AS int[];"
        f"CREATE TYPE pair AS (a int, b text); CREATE EXTENSION vector; {creates}"
    )
    with open_source(postgres.uri, nested="keep") as source:
        assert source.skipped == ()
        read = [(table.column("c").type, *values(source, table, "c")) for table in source.tables]
    for (declared, _, type_, value), (found, text) in zip(TYPES, read, strict=True):
        assert (declared, found) == (declared, type_)
        if value is not None:
            assert (declared, text) == (declared, value)


def test_only_the_column_with_odd_values_becomes_text(postgres: Database) -> None:
    """Its neighbours of the same type keep it, and the note counts the values and says why."""
    postgres.run(r"""
        CREATE TABLE t (id int, flat int[], deep int[], day timestamp, late timestamp,
                        j json, bad json);
        INSERT INTO t VALUES
            (1, '{1,2}', '{{1,2},{3,4}}', 'infinity', '294276-12-31 23:59:59', '{}', '"ok"'),
            (2, NULL, '{5}', NULL, NULL, '[1]', '"\ud800"'),
            (3, NULL, NULL, NULL, NULL, NULL, NULL);
    """)
    with open_source(postgres.uri, nested="keep") as source:
        table = only(source)
        assert {column.name: column.type for column in table.columns} == {
            "id": "INTEGER",
            "flat": "INTEGER[]",
            "deep": "VARCHAR",
            "day": "TIMESTAMP",
            "late": "VARCHAR",
            "j": "JSON",
            "bad": "VARCHAR",
        }
        assert values(source, table, "deep") == ["{{1,2},{3,4}}", "{5}", None]
        assert values(source, table, "late") == ["294276-12-31 23:59:59", None, None]
    assert table.notes == (
        "deep: 1 value of several dimensions or with other bounds than from 1; read as text.",
        "late: 1 value after the year 294246, where DuckDB's timestamps end; read as text.",
        "bad: Some of its values don't fit the type that DuckDB has for it; read as text.",
    )


def test_reads_declared_keys_comments_and_generated_columns(postgres: Database) -> None:
    """Composite keys whole and in order, unique indexes, comments, not-null through domains."""
    postgres.run("""
        CREATE DOMAIN code AS text NOT NULL;
        CREATE TABLE parent (b int, a int, c code, "Mixed Case" int UNIQUE,
            twice int GENERATED ALWAYS AS (a * 2) STORED, PRIMARY KEY (a, b));
        CREATE TABLE child (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, y int, x int NOT NULL,
            up int REFERENCES child, FOREIGN KEY (x, y) REFERENCES parent (a, b));
        CREATE UNIQUE INDEX whole ON child (y, x) INCLUDE (up);
        CREATE UNIQUE INDEX part ON child (up) WHERE up > 5;
        CREATE UNIQUE INDEX computed ON child (abs(up));
        COMMENT ON TABLE parent IS 'the parent'; COMMENT ON COLUMN parent.a IS 'first half';
    """)
    with open_source(postgres.uri) as source:
        child, parent = source.tables
    assert parent.primary_key == ("a", "b")
    assert parent.unique_keys == (("Mixed Case",),)
    assert parent.comment == "the parent"
    assert parent.column("a").comment == "first half"
    assert not parent.column("c").nullable
    assert parent.column("twice").generated
    assert child.unique_keys == (("y", "x"),)
    assert child.foreign_keys == (
        DeclaredForeignKey(("up",), "child", ("id",)),
        DeclaredForeignKey(("x", "y"), "parent", ("a", "b")),
    )
    assert not child.column("x").nullable
    assert child.column("up").nullable


CITEXT = """
    CREATE TYPE citext;
    CREATE FUNCTION i(cstring) RETURNS citext AS 'textin' LANGUAGE internal IMMUTABLE STRICT;
    CREATE FUNCTION o(citext) RETURNS cstring AS 'textout' LANGUAGE internal IMMUTABLE STRICT;
    CREATE TYPE citext (INPUT = i, OUTPUT = o, LIKE = text, CATEGORY = 'S', COLLATABLE = true);
    CREATE CAST (citext AS text) WITHOUT FUNCTION;
    CREATE FUNCTION eq(citext, citext) RETURNS bool IMMUTABLE LANGUAGE sql
        AS 'SELECT lower($1::text) = lower($2::text)';
    CREATE FUNCTION cmp(citext, citext) RETURNS int IMMUTABLE LANGUAGE sql
        AS 'SELECT bttextcmp(lower($1::text), lower($2::text))';
    CREATE OPERATOR = (LEFTARG = citext, RIGHTARG = citext, FUNCTION = eq, COMMUTATOR = =);
    CREATE OPERATOR CLASS citext_ops DEFAULT FOR TYPE citext USING btree
        AS OPERATOR 3 =, FUNCTION 1 cmp(citext, citext);
"""
"""What the extension makes, which the server of the tests doesn't have."""


def test_references_that_hold_by_the_case_of_citext_are_noted(postgres: Database) -> None:
    """The server keeps both keys, of which one takes different texts for equal."""
    postgres.run(f"""{CITEXT}
        CREATE TABLE country (code citext PRIMARY KEY, exact text UNIQUE);
        INSERT INTO country VALUES ('De', 'a'), ('fr', 'b');
        CREATE TABLE city (id int PRIMARY KEY, country citext REFERENCES country,
            exact text REFERENCES country (exact));
        INSERT INTO city VALUES (1, 'DE', 'a'), (2, 'de', NULL), (3, 'fr', 'b'), (4, NULL, 'b');
    """)
    with open_source(postgres.uri) as source:
        city, country = source.tables
    assert country.notes == ()
    assert {key.columns[0]: key.by_collation for key in city.foreign_keys} == {
        "country": 2,
        "exact": 0,
    }
    (note,) = city.notes
    assert "country: 2 rows refer to country only by the source's collation (citext)" in note


def test_references_that_hold_by_a_collation_of_icu_are_noted(postgres: Database) -> None:
    if not postgres.run("SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'"):
        pytest.skip("this server was built without ICU")
    postgres.run("""
        CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
        CREATE TABLE country (name text COLLATE loose PRIMARY KEY);
        INSERT INTO country VALUES ('Côte d''Ivoire'), ('France');
        CREATE TABLE city (id int PRIMARY KEY, name text COLLATE loose REFERENCES country);
        INSERT INTO city VALUES (1, 'COTE D''IVOIRE'), (2, 'France'), (3, NULL), (4, 'france');
    """)
    with open_source(postgres.uri) as source:
        (note,) = source.tables[0].notes
    assert "name: 2 rows refer to country only by the source's collation (loose), which" in note


def test_case_twins_are_told_apart(postgres: Database) -> None:
    """Tables and columns whose names differ in case alone keep their names and values."""
    postgres.run("""
        CREATE TABLE twin (id int, "ID" text, "Id" int); INSERT INTO twin VALUES (1, 'two', 3);
        CREATE TABLE "Twin" (id int); INSERT INTO "Twin" VALUES (10);
    """)
    with open_source(postgres.uri) as source:
        tables = {table.name: table for table in source.tables}
        assert set(tables) == {"twin", "Twin"}
        twin = tables["twin"]
        assert [column.name for column in twin.columns] == ["id", "ID", "Id"]
        assert [values(source, twin, name) for name in ("id", "ID", "Id")] == [
            ["1"],
            ["two"],
            ["3"],
        ]
        assert values(source, tables["Twin"], "id") == ["10"]


def test_a_partitioned_table_is_one(postgres: Database) -> None:
    """The parent holds all rows; its partitions are not listed, inherited tables are."""
    postgres.run("""
        CREATE TABLE sale (day date, id int, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
        CREATE TABLE sale_old PARTITION OF sale FOR VALUES FROM ('2000-01-01') TO ('2020-01-01');
        CREATE TABLE sale_new PARTITION OF sale DEFAULT;
        CREATE TABLE refund (day date, id int, FOREIGN KEY (day, id) REFERENCES sale);
        INSERT INTO sale VALUES ('2010-01-01', 1), ('2030-01-01', 2);
    """)
    with open_source(postgres.uri) as source:
        refund, sale = source.tables
        assert values(source, sale, "id") == ["1", "2"]
    assert sale.primary_key == ("day", "id")
    assert refund.foreign_keys == (DeclaredForeignKey(("day", "id"), "sale", ("day", "id")),)


def test_tables_that_only_inherit_are_parts_of_their_parent(postgres: Database) -> None:
    """What partitions were before version 10: no row is read twice, at any depth."""
    postgres.run("""
        CREATE TABLE measured (day date, id int);
        CREATE TABLE measured_2023 () INHERITS (measured);
        CREATE TABLE measured_2024 () INHERITS (measured);
        CREATE TABLE measured_2024_may () INHERITS (measured_2024);
        INSERT INTO measured VALUES ('2022-01-01', 1);
        INSERT INTO measured_2023 VALUES ('2023-01-01', 2);
        INSERT INTO measured_2024 VALUES ('2024-01-01', 3);
        INSERT INTO measured_2024_may VALUES ('2024-05-01', 4);
    """)
    with open_source(postgres.uri) as source:
        measured = only(source)
        assert sorted(map(str, values(source, measured, "id"))) == ["1", "2", "3", "4"]
    assert "The rows of 3 tables that inherit from it are among its own." in measured.notes


def test_a_parent_has_the_keys_that_bind_its_children_as_well(postgres: Database) -> None:
    """Each child may have the id of another, and refer to what doesn't exist."""
    postgres.run("""
        CREATE TABLE site (id int PRIMARY KEY);
        CREATE TABLE measured (
            id int PRIMARY KEY, site int REFERENCES site, other int REFERENCES site);
        CREATE TABLE measured_2024 (PRIMARY KEY (id), FOREIGN KEY (site) REFERENCES site)
            INHERITS (measured);
        INSERT INTO site VALUES (1);
        INSERT INTO measured VALUES (1, 1, 1);
        INSERT INTO measured_2024 VALUES (1, 1, 9);
    """)
    with open_source(postgres.uri) as source:
        measured, _ = source.tables
    assert measured.primary_key == ()
    assert [key.columns for key in measured.foreign_keys] == [("site",)]


def test_a_parent_is_read_without_children_that_have_more_columns(postgres: Database) -> None:
    """Each row is in one table, with all of its columns."""
    postgres.run("""
        CREATE TABLE place (id int, name text);
        CREATE TABLE capital (country text) INHERITS (place);
        CREATE TABLE village () INHERITS (place);
        INSERT INTO place VALUES (1, 'Hamburg');
        INSERT INTO capital VALUES (2, 'Berlin', 'de');
        INSERT INTO village VALUES (3, 'Wacken');
    """)
    with open_source(postgres.uri) as source:
        tables = {table.name: table for table in source.tables}
        ids = {name: values(source, table, "id") for name, table in tables.items()}
    assert ids == {"place": ["1"], "capital": ["2"], "village": ["3"]}
    assert "Tables with columns of their own inherit from it" in " ".join(tables["place"].notes)


def test_leaves_out_what_is_no_table(postgres: Database) -> None:
    """Views, materialized views and foreign tables are counted in a note, system schemas not."""
    postgres.run("""
        CREATE TABLE t (a int); CREATE VIEW v AS TABLE t; CREATE MATERIALIZED VIEW m AS TABLE t;
        CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;
        CREATE FOREIGN TABLE f (a int) SERVER s;
    """)
    with open_source(postgres.uri) as source:
        assert only(source).name == "t"
        assert source.notes == (
            "Foreign tables aren't read (1 found); add --views to read them.",
            "Materialized views aren't read (1 found); add --views to read them.",
            "Views aren't read (1 found); add --views to read them.",
        )


def test_schemas_are_all_read_or_chosen(postgres: Database) -> None:
    """All schemas with tables by default, names qualified if there are several."""
    postgres.run("""
        CREATE TABLE t (a int PRIMARY KEY); CREATE SCHEMA "S b"; CREATE SCHEMA bare;
        CREATE TABLE "S b".u (a int REFERENCES t);
    """)
    with open_source(postgres.uri) as source:
        assert [table.name for table in source.tables] == ["S b.u", "public.t"]
        assert source.tables[0].foreign_keys == (DeclaredForeignKey(("a",), "public.t", ("a",)),)
    with open_source(postgres.uri, schemas=["S b"]) as source:
        table = only(source)
        assert (table.name, table.schema) == ("u", "S b")
        assert table.notes == ("It declares a foreign key (a) to public.t, which wasn't read.",)
    with pytest.raises(SourceNotFoundError, match="no schema 'publik'"):
        open_source(postgres.uri, schemas=["publik"])
    with pytest.raises(EmptySourceError, match="no tables in bare"):
        open_source(postgres.uri, schemas=["bare"])


def test_all_tables_are_seen_at_one_moment(postgres: Database) -> None:
    """What is written while the tables are read is in none of them."""
    postgres.run("CREATE TABLE a (n int); CREATE TABLE b (n int); INSERT INTO a VALUES (1)")

    def write(report: Progress) -> None:
        if report.detail == "b":
            postgres.run("INSERT INTO a VALUES (2); INSERT INTO b VALUES (2)")

    with open_source(postgres.uri, on_progress=write) as source:
        a, b = source.tables
        assert (values(source, a, "n"), values(source, b, "n")) == (["1"], [])


def test_a_table_without_permission_is_skipped(postgres: Database) -> None:
    """A table that the user may not read is listed with the reason; row-level security is told."""
    user = f"reader_of_{postgres.name}"
    postgres.run(f"""
        CREATE ROLE {user} LOGIN; CREATE TABLE open (a int); CREATE TABLE secret (a int);
        GRANT SELECT ON open TO {user}; ALTER TABLE open ENABLE ROW LEVEL SECURITY;
    """)
    with open_source(postgres.uri_of(user)) as source:
        table = only(source)
        assert table.name == "open"
        assert "Row-level security is on" in table.notes[0]
        (skipped,) = source.skipped
        assert (skipped.name, "permission" in skipped.reason) == ("secret", True)
    postgres.run(f"DROP TABLE open; DROP TABLE secret; DROP ROLE {user}")


def test_columns_without_permission_are_left_out_and_named(postgres: Database) -> None:
    """The others are read, whatever they hold, and no key of a hidden column is."""
    user = f"reader_of_{postgres.name}"
    postgres.run(f"""
        CREATE ROLE {user} LOGIN;
        CREATE TABLE partly (id int PRIMARY KEY, code int UNIQUE, at timestamp, salary int,
                             boss int REFERENCES partly);
        INSERT INTO partly VALUES (1, 2, '294276-12-31', 3, 1);
        GRANT SELECT (id, at) ON partly TO {user};
    """)
    try:
        with open_source(postgres.uri_of(user)) as source:
            table = only(source)
            assert source.skipped == ()
            assert [column.name for column in table.columns] == ["id", "at"]
            assert (table.primary_key, table.unique_keys, table.foreign_keys) == (("id",), (), ())
            assert values(source, table, "at") == ["294276-12-31 00:00:00"]
        assert (
            "This user may not SELECT its columns code, salary, boss, which weren't read."
            in table.notes
        )
    finally:
        postgres.run(f"DROP OWNED BY {user}; DROP ROLE {user}")


def test_a_table_that_fails_costs_no_other_its_moment_or_a_second_copy(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are asked for once each, and are as of the moment before anything was read."""
    asked: list[str] = []
    read = PostgresRows.relation

    def relation(rows: PostgresRows, sql: str, size: int = 0, /) -> Any:
        asked.append(sql)
        return read(rows, sql, size)

    monkeypatch.setattr(PostgresRows, "relation", relation)
    postgres.run("""
        CREATE TABLE a (n int); CREATE TABLE c (n int);
        CREATE FUNCTION fail() RETURNS int LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no luck'; END $$;
        CREATE VIEW b AS SELECT fail() AS n;
    """)

    def write(report: Progress) -> None:
        if report.detail == "b":
            postgres.run("INSERT INTO a VALUES (2); INSERT INTO c VALUES (2)")

    with open_source(postgres.uri, on_progress=write, views=True) as source:
        assert [(table.name, values(source, table, "n")) for table in source.tables] == [
            ("a", []),
            ("c", []),
        ]
        assert "no luck" in source.skipped[0].reason
        assert source.notes == ()
    assert [sum(f'"{name}"' in sql for sql in asked) for name in "ac"] == [1, 1]


def test_a_connection_that_is_cut_is_made_again_and_noted(postgres: Database) -> None:
    """What was read before is kept, and the note says that the rest may be newer."""
    postgres.run("CREATE TABLE a (n int); CREATE TABLE b (n int); INSERT INTO a VALUES (1)")

    def cut(report: Progress) -> None:
        if report.detail == "b":
            postgres.run(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname ="
                f" '{postgres.name}' AND pid <> pg_backend_pid()"
            )

    with open_source(postgres.uri, on_progress=cut) as source:
        assert source.skipped == ()
        assert [values(source, table, "n") for table in source.tables] == [["1"], []]
        assert source.notes == (MOMENTS,)


def test_a_table_that_fails_is_skipped_and_the_others_are_read(postgres: Database) -> None:
    """An error on the server while one table is read costs that table alone."""
    postgres.run("""
        CREATE TABLE a (n int); INSERT INTO a VALUES (1);
        CREATE TABLE b (n int, bad int GENERATED ALWAYS AS (1 / n) STORED);
        CREATE TABLE c (n int); INSERT INTO c VALUES (3);
        CREATE FUNCTION fail() RETURNS boolean LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no luck'; END $$;
        ALTER TABLE b ENABLE ROW LEVEL SECURITY; ALTER TABLE b FORCE ROW LEVEL SECURITY;
        CREATE POLICY p ON b USING (fail()); INSERT INTO a VALUES (2);
    """)
    user = f"reader_of_{postgres.name}"
    postgres.run(
        f"CREATE ROLE {user} LOGIN; GRANT SELECT ON a, b, c TO {user};"
        "ALTER TABLE b DISABLE TRIGGER ALL; INSERT INTO b VALUES (1)"
    )
    with open_source(postgres.uri_of(user)) as source:
        assert [table.name for table in source.tables] == ["a", "c"]
        assert values(source, source.tables[0], "n") == ["1", "2"]
        (skipped,) = source.skipped
        assert skipped.name == "b"
        assert "no luck" in skipped.reason
    postgres.run(f"DROP OWNED BY {user}; DROP ROLE {user}")


def test_reading_writes_nothing(postgres: Database) -> None:
    """The connection is read-only on the server's side."""
    postgres.run("CREATE TABLE t (a int); CREATE SEQUENCE s")
    seen: list[str] = []

    def look(_: Progress) -> None:
        seen.append(
            postgres.run(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name NOT LIKE 'psql%'"
                f" AND datname = '{postgres.name}' AND backend_type = 'client backend'"
            )
        )

    with open_source(postgres.uri, on_progress=look):
        assert seen[0] == "1"
        # Everything was copied: the server has its connection back, a moment later.
        for _ in range(50):
            look(Progress("after", 0, 0))
            if seen[-1] == "0":
                break
            time.sleep(0.1)
        assert seen[-1] == "0"


@pytest.fixture
def guarded(postgres: Database) -> Any:
    """A database with a login that asks for a password."""
    user = f"guarded_{postgres.name}"
    rules = postgres.folder / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all {user} scram-sha-256\n{before}")
    postgres.run(
        f"SET password_encryption = 'scram-sha-256'; CREATE ROLE {user} LOGIN PASSWORD 'right pw';"
        f"CREATE TABLE t (a int); GRANT SELECT ON t TO {user}; SELECT pg_reload_conf()"
    )
    yield lambda password: postgres.uri_of(user, password)
    rules.write_text(before)
    postgres.run(f"DROP OWNED BY {user}; DROP ROLE {user}; SELECT pg_reload_conf()")


def test_a_password_opens_and_is_never_shown(guarded: Any) -> None:
    """The right password opens; a wrong one is refused without being repeated."""
    with open_source(guarded("right%20pw")) as source:
        assert only(source).name == "t"
        shown = f"{source!r} {source.connection.execute('FROM duckdb_databases()').fetchall()}"
        assert "right" not in shown
    with pytest.raises(SourceUnreachableError, match="refused the login") as caught:
        open_source(guarded("wr0ng%40pw"))
    error = caught.value
    said = f"{error} {error.hint} {error!r} {error.__cause__} {error.__context__}"
    assert "wr0ng" not in str(error) + str(error.hint) + repr(error)
    assert error.__cause__ is None and error.__suppress_context__
    assert said


@pytest.mark.parametrize(
    ("uri", "error", "said"),
    [
        ("postgresql://u:s3cret@localhost:1/db", SourceUnreachableError, "refused"),
        ("postgresql://u:s3cret@h.invalid/db", SourceUnreachableError, "can't be reached"),
        ("postgresql://u:s3cret@/db?host=/nowhere", SourceUnreachableError, "can't be reached"),
        ("postgresql://u:s3cret%zz@h/db", SourceUnreachableError, "percent-encoded"),
        ("postgresql://u:s3cret@h:port/db", SourceUnreachableError, "port"),
        ("host=/nowhere password='s3cret' user=u", SourceUnreachableError, "can't be reached"),
        ("postgresql://u@/db?host=/nowhere&password=s3cret", SourceUnreachableError, "reached"),
        ("postgresql://u@h.invalid/db?sslpassword=s3cret", SourceUnreachableError, "reached"),
    ],
)
def test_a_server_that_cannot_be_reached_is_told_without_the_password(
    uri: str, error: type[Exception], said: str
) -> None:
    """The message says what is wrong with the server, and never holds the password."""
    with pytest.raises(error, match=said) as caught:
        open_source(uri)
    assert "s3cret" not in f"{caught.value} {caught.value.hint} {caught.value!r}"  # type: ignore[attr-defined]


def test_an_unknown_database_is_told(postgres: Database) -> None:
    """A database that the server does not have, and one without tables, have their errors."""
    with pytest.raises(SourceNotFoundError, match='database "nix" does not exist'):
        open_source(postgres.uri.replace(f"/{postgres.name}?", "/nix?"))
    with pytest.raises(EmptySourceError, match="has no tables"):
        open_source(postgres.uri)


def test_none_of_the_tables_readable(postgres: Database) -> None:
    """A database of which nothing may be read is an error, not an empty source."""
    user = f"outsider_{postgres.name}"
    postgres.run(f"CREATE ROLE {user} LOGIN; CREATE TABLE t (a int)")
    with pytest.raises(SourceUnreadableError, match="None of the 1 tables"):
        open_source(postgres.uri_of(user))
    postgres.run(f"DROP ROLE {user}")
