"""``--include``, ``--exclude``, ``--schema`` and ``--views``, through every kind of source."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from fluid_build.errors import EmptySourceError, SourceNotFoundError, UsageError
from fluid_build.progress import Progress
from fluid_build.sources import open_source
from fluid_build.sources.options import OpenOptions, ReadOptions
from fluid_build.sources.selection import selected_tables
from fluid_build.sources.table_choice import TableName
from tests.cli.running import Fluid
from tests.mariadb import MariaDBDatabase
from tests.postgres import PostgresDatabase

STATEMENTS = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(20))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER,"
    " FOREIGN KEY (customer_id) REFERENCES customer (id))",
    "CREATE TABLE orders_backup (id INTEGER PRIMARY KEY)",
    "INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bo')",
    "INSERT INTO orders VALUES (10, 1), (11, 2), (12, 2)",
    "INSERT INTO orders_backup VALUES (10)",
)
VIEWS = (
    "CREATE VIEW order_names AS SELECT o.id, c.name FROM orders o JOIN customer c"
    " ON c.id = o.customer_id",
)
DATABASES = ("sqlite", "duckdb", "postgres", "mysql")
KINDS = (*DATABASES, "csv", "ddl", "dump")

Place = Callable[..., str]


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """Makes the tables, or other statements, as a kind of source; returns its URI."""

    def make(kind: str, statements: Sequence[str] = STATEMENTS) -> str:
        if kind == "postgres":
            postgres: PostgresDatabase = request.getfixturevalue("postgres")
            postgres.run(";".join(statements))
            return postgres.uri
        if kind == "mysql":
            mariadb: MariaDBDatabase = request.getfixturevalue("mariadb")
            mariadb.run(";".join(statements))
            return mariadb.uri
        if kind == "sqlite":
            with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as database, database:
                database.executescript(";".join(statements))
            return str(tmp_path / "shop.sqlite")
        if kind == "duckdb":
            with duckdb.connect(str(tmp_path / "shop.duckdb")) as engine:
                engine.execute(";".join(statements))
            return str(tmp_path / "shop.duckdb")
        if kind == "dump":
            (tmp_path / "shop.sql").write_text(";\n".join(statements) + ";\n")
            return str(tmp_path / "shop.sql")
        if kind == "ddl":
            creates = [statement for statement in statements if statement.startswith("CREATE")]
            (tmp_path / "shop.sql").write_text(";\n".join(creates) + ";")
            return str(tmp_path / "shop.sql")
        for name in ("customer", "orders", "orders_backup"):
            (tmp_path / f"{name}.csv").write_text("id,customer_id\n10,1\n11,2\n")
        return str(tmp_path)

    return make


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_tables_that_globs_choose_are_read(kind: str, place: Place) -> None:
    """Others aren't read, and a foreign key to one of them is a note."""
    reports: list[Progress] = []
    with open_source(
        place(kind), include=["ORDERS*"], exclude=["*_backup"], on_progress=reports.append
    ) as source:
        (orders,) = source.tables
    assert orders.name == "orders"
    assert {report.detail for report in reports} <= {"", "orders"}
    if kind != "csv":
        assert orders.foreign_keys == ()
        (note,) = orders.notes
        assert note.startswith("It declares a foreign key (customer_id) to ")
        assert note.endswith("customer, which wasn't read.")


@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_that_matches_nothing_is_wrong_usage(kind: str, place: Place) -> None:
    """The nearest name is in the hint, and nothing was read."""
    uri = place(kind)
    for options in (ReadOptions(include=["custmer"]), ReadOptions(exclude=["custmer"])):
        with pytest.raises(UsageError, match="No table matches custmer") as caught:
            open_source(uri, **options.as_settings())
        assert "Did you mean customer?" in str(caught.value.hint)
    with pytest.raises(UsageError, match="No table is left"):
        open_source(uri, exclude=["*"])


@pytest.mark.parametrize("kind", DATABASES)
def test_views_are_read_as_tables_where_asked_for(kind: str, place: Place) -> None:
    """They declare no keys, and a note says that they're views; without the option they aren't."""
    uri = place(kind, (*STATEMENTS, *VIEWS))
    with open_source(uri) as source:
        assert "order_names" not in {table.name for table in source.tables}
        assert source.notes == ("Views aren't read (1 found); add --views to read them.",)
    with open_source(uri, views=True) as source:
        assert source.skipped == ()
        assert source.notes == ()
        view = next(table for table in source.tables if table.name == "order_names")
        rows = source.connection.execute(f"FROM {view.relation} ORDER BY 1").fetchall()
    assert rows == [(10, "Ada"), (11, "Bo"), (12, "Bo")]
    assert [column.name for column in view.columns] == ["id", "name"]
    assert view.primary_key == ()
    assert "It's a view, which declares no keys." in view.notes
    with open_source(uri, views=True, include=["order_names"]) as source:
        assert [table.name for table in source.tables] == ["order_names"]


@pytest.mark.parametrize("kind", DATABASES)
def test_a_database_of_views_alone_names_the_option(kind: str, place: Place) -> None:
    """Without it there is nothing to read; with it there is."""
    uri = place(kind, ("CREATE VIEW one AS SELECT 1 AS a",))
    with pytest.raises(EmptySourceError, match="only a view") as caught:
        open_source(uri)
    assert "--views" in str(caught.value.hint)
    with open_source(uri, views=True) as source:
        assert [table.name for table in source.tables] == ["one"]


@pytest.mark.parametrize("kind", DATABASES)
def test_a_broken_view_is_skipped(kind: str, place: Place) -> None:
    """A view of a table that is gone doesn't stop the others."""
    view = "CREATE VIEW broken AS SELECT id FROM gone"
    statements = ["CREATE TABLE gone (id INTEGER)", view, "CREATE TABLE t (id INTEGER)"]
    if kind != "postgres":
        statements.append("DROP TABLE gone")
    uri = place(kind, statements)
    with open_source(uri, views=True) as source:
        if kind == "postgres":
            # It doesn't let a table go that a view needs.
            return
        assert [table.name for table in source.tables] == ["t"]
        (skipped,) = source.skipped
        assert skipped.name == "broken"


def test_postgres_reads_materialized_views_and_foreign_tables_as_well(
    postgres: PostgresDatabase,
) -> None:
    """Each has a note of its own; a unique index on a materialized view is a key."""
    postgres.run("""
        CREATE TABLE t (a int); INSERT INTO t VALUES (1);
        CREATE MATERIALIZED VIEW m AS TABLE t; CREATE UNIQUE INDEX ON m (a);
    """)
    with open_source(postgres.uri, views=True) as source:
        view, _ = source.tables
    assert view.unique_keys == (("a",),)
    assert "materialized view" in view.notes[0]


@pytest.mark.parametrize("kind", ["duckdb", "postgres"])
def test_schemas_are_chosen_by_globs(kind: str, place: Place) -> None:
    """A glob may choose several; one that matches none is an error with the nearest name."""
    uri = place(
        kind,
        [
            f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.t (id INTEGER)"
            for schema in ("sales_eu", "sales_us", "person")
        ],
    )
    with open_source(uri, schemas=["Sales_*"]) as source:
        assert {table.name for table in source.tables} == {"sales_eu.t", "sales_us.t"}
    with open_source(uri, include=["sales_*.t"]) as source:
        assert {table.schema for table in source.tables} == {"sales_eu", "sales_us"}
    with open_source(uri, exclude=["person.t", "sales_us.*"]) as source:
        assert [table.name for table in source.tables] == ["t"]
    with pytest.raises(SourceNotFoundError, match="no schema 'persn'") as caught:
        open_source(uri, schemas=["persn"])
    assert "person" in str(caught.value.hint)


def test_a_view_over_a_file_of_this_machine_is_not_run(tmp_path: Path) -> None:
    """A stranger's database doesn't decide which files are read."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nhidden\n")
    path = tmp_path / "mart.duckdb"
    with duckdb.connect(str(path)) as engine:
        engine.execute("CREATE TABLE t AS SELECT 1 AS a")
        engine.execute(f"CREATE VIEW by_function AS FROM read_csv('{secret}')")
        engine.execute(f"CREATE VIEW by_name AS FROM '{secret}'")
        engine.execute("CREATE VIEW behind AS FROM by_function")
        engine.execute(f"CREATE VIEW as_text AS FROM read_text('{secret}')")
        engine.execute("CREATE VIEW whole AS WITH x AS (FROM t) FROM x, range(2), unnest([1])")
    with open_source(str(path), views=True) as source:
        assert [table.name for table in source.tables] == ["t", "whole"]
        assert {skipped.name for skipped in source.skipped} == {
            "as_text",
            "behind",
            "by_function",
            "by_name",
        }
        assert all("reads more than tables" in skipped.reason for skipped in source.skipped)


def test_an_exact_name_is_no_pattern_and_its_case_goes_first() -> None:
    """Brackets may be part of a name; a source may have names that differ in case alone."""
    names = [TableName(name) for name in ("a[b]", "ab", "Orders", "orders")]

    def choose(pattern: str, *, folds_case: bool = False) -> list[str]:
        options = OpenOptions(include=[pattern])
        chosen = selected_tables(names, lambda name: name, options, folds_case=folds_case)
        return [name.shown for name in chosen]

    assert choose("a[b]") == ["a[b]"]
    assert choose("a[bc]") == ["ab"]
    assert choose("orders") == ["orders"]
    assert choose("order*") == ["orders"]
    assert choose("order*", folds_case=True) == ["Orders", "orders"]
    assert choose("ORDERS") == ["Orders", "orders"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_reads_what_is_chosen(kind: str, place: Place, fluid: Fluid) -> None:
    """``fluid profile`` takes the options for every kind."""
    outcome = fluid("profile", place(kind), "--include", "o*", "--exclude", "orders_b*", "--json")
    assert outcome.code == 0, outcome.err
    assert [table["name"] for table in json.loads(outcome.out)["tables"]] == ["orders"]


def test_what_matches_nothing_is_wrong_usage_of_the_command(place: Place, fluid: Fluid) -> None:
    """Exit code 2, with the nearest name."""
    outcome = fluid("profile", place("sqlite"), "--exclude", "ordrs")
    assert (outcome.code, outcome.out) == (2, "")
    assert "No table matches ordrs." in outcome.err
    assert "Did you mean orders" in outcome.err


@pytest.mark.parametrize("schemas", [("sales",), ("sales", "person")])
def test_decisions_name_a_table_with_its_schema_or_without(
    fluid: Fluid, tmp_path: Path, schemas: Sequence[str]
) -> None:
    """Whether the folder's tables are called with their schema or not."""
    path, folder = tmp_path / "works.duckdb", tmp_path / "out"
    with duckdb.connect(str(path)) as engine:
        for schema in schemas:
            engine.execute(f"CREATE SCHEMA {schema}")
            engine.execute(
                f"CREATE TABLE {schema}.{schema}_Customer AS SELECT 1 AS id, 'a' AS name"
            )
    forged = fluid("forge", "data-model", "from-source", "--uri", path, "-o", folder)
    assert forged.code == 0, forged.err
    for name in ("sales_Customer", "sales.sales_customer", "SALES_CUSTOMER"):
        outcome = fluid("decide", folder, "set-key", name, "id")
        assert outcome.code == 0, outcome.err
    for wrong in ("persn.sales_Customer", "other.sales_Customer"):
        assert fluid("decide", folder, "set-key", wrong, "id").code == 2


def test_a_contract_names_a_table_with_its_schema_or_without(fluid: Fluid, tmp_path: Path) -> None:
    """Also where the tested source has one schema, so that its tables are called without it."""
    path, folder = tmp_path / "works.duckdb", tmp_path / "out"
    with duckdb.connect(str(path)) as engine:
        for schema in ("sales", "person"):
            engine.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.c AS SELECT 1 AS id")
    assert fluid("forge", "data-model", "from-source", "--uri", path, "-o", folder).code == 0
    outcome = fluid("test", folder / "contract.fluid.yaml", "--uri", path, "--schema", "sales")
    assert "person_c  missing" in outcome.out
    assert "sales_c  missing" not in outcome.out


def test_a_glob_needs_to_match_in_one_of_several_sources_only(fluid: Fluid, tmp_path: Path) -> None:
    """What matches in none of them is wrong usage."""
    for name, tables in {"a": ("orders", "orders_old"), "b": ("customer",)}.items():
        with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as engine:
            for table in tables:
                engine.execute(f"CREATE TABLE {table} AS SELECT range AS id FROM range(9)")
    places = [part for name in "ab" for part in ("--uri", f"{name}={tmp_path}/{name}.duckdb")]
    command = ("forge", "data-model", "from-source", *places, "--technique", "data_vault_2")
    outcome = fluid(*command, "--exclude", "*_old", "-o", tmp_path / "out")
    assert outcome.code == 0, outcome.err
    assert "2 tables" in outcome.out
    assert fluid("verify", tmp_path / "out").code == 0
    outcome = fluid(*command, "--exclude", "*_older", "-o", tmp_path / "other")
    assert (outcome.code, "No table matches *_older." in outcome.err) == (2, True)


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgres"])
def test_dbt_reads_views_as_well(kind: str, place: Place, fluid: Fluid, tmp_path: Path) -> None:
    """What it builds of a view is what the forge read of it."""
    uri = place(kind, (*STATEMENTS, *VIEWS))
    command = ("forge", "data-model", "from-source", "--uri", uri, "--views", "--include", "o*")
    forged = fluid(*command, "-o", tmp_path / "out")
    assert forged.code == 0, forged.err
    verified = fluid("verify", tmp_path / "out", "--dbt", "--trust", "--uri", uri)
    assert verified.code == 0, verified.out + verified.err
    assert verified.out.count("order_names") == 2
    assert verified.out.count("Proven.") == 2
