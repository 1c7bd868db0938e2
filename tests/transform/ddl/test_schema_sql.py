"""``schema.sql``: databases accept it, and their catalogs then say what the plan says."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot

from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.ddl.schema_sql import SCHEMA_FILE, ddl_files
from fluid_build.transform.plan.elements import Build, BuildTest, PlanColumn, TransformPlan
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from tests.postgres import PostgresDatabase
from tests.shared import CORPUS, on_databases
from tests.transform.databases import EVERY_TYPE, database, modelled

HOSTILE = "it's \"1\"; DROP TABLE t; --\n*/ \\' $$ {}{{ x }} \\"
TECHNIQUES = ("flat", "data_vault_2", "dimensional")


def column(name: str, type_: str = "INTEGER", **fields: object) -> PlanColumn:
    values = {"name": name, "type": type_, "contract_type": "integer", **fields}
    return PlanColumn.model_validate(values)


def key_test(*columns: str, **fields: object) -> BuildTest:
    values = {"name": "t", "kind": "unique", "columns": columns, **fields}
    return BuildTest.model_validate(values)


def reference(name: str, to_model: str, **fields: object) -> BuildTest:
    return BuildTest.model_validate(
        {
            "name": "r",
            "kind": "relationships",
            "columns": (name,),
            "to_model": to_model,
            "to_columns": ("id",),
            "cardinality": "many-to-one",
            **fields,
        }
    )


def table(name: str, *tests: BuildTest, columns: tuple[PlanColumn, ...] = ()) -> Build:
    return Build(
        name=name,
        layer="flat",
        materialization="table",
        title=name,
        sql="",
        columns=(column("id", required=True), column("other"), *columns),
        key=("id",),
        tests=(key_test("id"), *tests),
    )


def plan(*builds: Build) -> TransformPlan:
    return TransformPlan(name="shop", technique="flat", sources=(), builds=builds)


def schema(target: Target, *builds: Build) -> str:
    return ddl_files(plan(*builds), target)[SCHEMA_FILE]


def constraints(sql: str) -> list[tuple[str, str, list[str]]]:
    with duckdb.connect() as connection:
        connection.execute(sql)
        return connection.execute(
            "SELECT table_name, constraint_type, constraint_column_names FROM duckdb_constraints()"
            " WHERE constraint_type <> 'NOT NULL' ORDER BY ALL"
        ).fetchall()


def test_table_follows_the_one_that_it_refers_to() -> None:
    sql = schema("duckdb", table("a", reference("other", "b")), table("b"))
    assert constraints(sql) == [
        ("a", "FOREIGN KEY", ["other"]),
        ("a", "PRIMARY KEY", ["id"]),
        ("b", "PRIMARY KEY", ["id"]),
    ]


@pytest.mark.parametrize("violations", [1, 12])
def test_violated_claims_are_no_constraints(violations: int) -> None:
    broken = table("b", key_test("other", key_kind="declared", allowed=violations))
    referring = table("a", reference("other", "b", allowed=violations))
    assert [kind for _, kind, _ in constraints(schema("duckdb", broken, referring))] == [
        "PRIMARY KEY",
        "PRIMARY KEY",
    ]


@pytest.mark.parametrize(
    "scope", [{"filled": ("other",)}, {"current": "is_current"}, {"latest_of": ("id",)}]
)
def test_a_key_of_some_rows_is_no_constraint_of_the_table(scope: dict[str, object]) -> None:
    of_some = table("a", key_test("other", key_kind="declared", scope=scope))
    referring = table("b", reference("other", "a", scope=scope))
    assert [kind for _, kind, _ in constraints(schema("duckdb", of_some, referring))] == [
        "PRIMARY KEY",
        "PRIMARY KEY",
    ]


def test_declared_key_is_unique_and_a_measured_one_is_not() -> None:
    declared = table("a", key_test("other", key_kind="declared"))
    measured = table("b", key_test("other", key_kind="candidate"))
    assert ("a", "UNIQUE", ["other"]) in constraints(schema("duckdb", declared, measured))
    assert ("b", "UNIQUE", ["other"]) not in constraints(schema("duckdb", declared, measured))


def test_tables_that_refer_to_each_other_get_their_keys_afterwards(
    postgres: PostgresDatabase,
) -> None:
    circle = (table("a", reference("other", "b")), table("b", reference("other", "a")))
    postgres.run(schema("postgres", *circle))
    query = "SELECT count(*) FROM pg_constraint WHERE contype = 'f'"
    assert postgres.run(query) == "2"
    assert constraints(schema("duckdb", *circle))[0] == ("a", "PRIMARY KEY", ["id"])
    assert "1 foreign key of tables that refer to each other" in schema("duckdb", *circle)


def test_table_that_refers_to_itself_can_still_be_loaded() -> None:
    own = table("a", reference("other", "a"))
    with duckdb.connect() as connection:
        connection.execute(schema("duckdb", own))
        connection.execute("INSERT INTO a VALUES (2, 1), (1, NULL)")
    assert "REFERENCES a (id)" in schema("postgres", own)


def hostile_table() -> Build:
    described = column("note", "VARCHAR", contract_type="varchar(20)", description=HOSTILE)
    build = table('odd "name`', columns=(described, column("a`\"b'; --")))
    return build.model_copy(update={"description": HOSTILE})


def test_hostile_text_stays_a_comment_in_duckdb() -> None:
    with duckdb.connect() as connection:
        connection.execute(schema("duckdb", hostile_table()))
        (row,) = connection.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall()
        assert row == ('odd "name`', HOSTILE)
        columns = dict(
            connection.execute(
                "SELECT column_name, comment FROM duckdb_columns() WHERE NOT internal"
            ).fetchall()
        )
    assert columns == {"id": None, "other": None, "note": HOSTILE, "a`\"b'; --": None}


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_hostile_text_stays_a_comment_in_postgresql(
    postgres: PostgresDatabase, conforming: str
) -> None:
    setting = f"SET standard_conforming_strings = {conforming}; SET escape_string_warning = off;"
    postgres.run(f"{setting}\n{schema('postgres', hostile_table())}")
    place = "(SELECT oid FROM pg_class WHERE relname LIKE 'odd%' AND relkind = 'r')"
    assert postgres.run(f"SELECT obj_description({place}, 'pg_class')") == HOSTILE
    assert postgres.run(f"SELECT col_description({place}, 3)") == HOSTILE
    types = f"SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = {place}"
    assert postgres.run(f"{types} AND attnum = 3") == "character varying(20)"


@pytest.mark.parametrize("target", ["snowflake", "bigquery", "databricks"])
def test_hostile_text_stays_one_literal_on_every_target(target: Target) -> None:
    statements = sqlglot.parse(schema(target, hostile_table()), read=target)
    kinds = {type(statement).__name__ for statement in statements if statement is not None}
    assert kinds <= {"Create", "Comment"}
    assert sum(type(statement).__name__ == "Create" for statement in statements) == 1


def test_keys_say_what_a_database_does_with_them() -> None:
    pair = (table("b"), table("a", reference("other", "b")))
    assert "REFERENCES b (id) NOT ENFORCED\n" in schema("bigquery", *pair)
    assert "PRIMARY KEY (id) NOT ENFORCED RELY" in schema("databricks", *pair)
    assert "PRIMARY KEY (id) RELY" in schema("snowflake", *pair)
    assert "REFERENCES b (id)\n" in schema("postgres", *pair)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_type_can_be_created(
    tmp_path: Path, postgres: PostgresDatabase, technique: str
) -> None:
    with modelled(database(tmp_path / "types.duckdb", EVERY_TYPE), technique) as shop:
        types = transform_plan(shop.model)
    with duckdb.connect() as connection:
        connection.execute(ddl_files(types, "duckdb")[SCHEMA_FILE])
    postgres.run(ddl_files(types, "postgres")[SCHEMA_FILE])


def loaded_tables(sql: str, source: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Create a schema and load it with what was built, table by table."""
    source.execute("CREATE SCHEMA declared")
    source.execute("SET search_path = 'declared'")
    source.execute(sql)
    ordered = source.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'declared' ORDER BY table_oid"
    ).fetchall()
    for (name,) in ordered:
        source.execute(f"INSERT INTO declared.{name} BY NAME SELECT * FROM model.{name}")
        yield name


@on_databases("jaffle_shop chinook", thorough="northwind sakila adventureworks_lt")
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_built_rows_obey_the_schema(name: str, technique: str) -> None:
    with modelled(CORPUS / name / "data", technique) as shop:
        database_plan = transform_plan(shop.model)
        sql = ddl_files(database_plan, "duckdb")[SCHEMA_FILE]
        with built(shop.source, database_plan) as result:
            names = list(loaded_tables(sql, result.connection))
    assert sorted(names) == sorted(build.name for build in database_plan.published)
