"""The project for PostgreSQL, built by dbt on a real server and compared with DuckDB's run."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from psycopg import sql

from fluid_build.modeling.data_vault.business_queries import AS_OF
from fluid_build.sources.sql import literal
from fluid_build.sources.uri import locate
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import run_dbt
from fluid_build.transform.dbt.source_access import source_access
from fluid_build.transform.dbt.targets import target_type
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from tests.postgres import PostgresDatabase
from tests.shared import CORPUS, needs_shared
from tests.transform.databases import modelled
from tests.transform.dbt.projects import written

LOAD_DATE = datetime(2024, 1, 31, 6, 30)

_SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40), vat NUMERIC(5, 2))",
    "CREATE TABLE detail (customer_id INTEGER PRIMARY KEY REFERENCES customer, hobby CHAR(9))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,"
    " note TEXT, ordered DATE)",
    "CREATE TABLE claim (order_id INTEGER REFERENCES orders, no INTEGER, amount NUMERIC(8, 2),"
    " PRIMARY KEY (order_id, no))",
    "INSERT INTO customer SELECT i, 'n' || i, i * 0.25 FROM generate_series(1, 9) i",
    "INSERT INTO detail SELECT i, 'h' || i FROM generate_series(1, 5) i",
    "INSERT INTO orders SELECT i, 1 + i % 9, 'o' || i, DATE '2024-01-01'"
    " FROM generate_series(1, 20) i",
    "INSERT INTO claim SELECT 1 + i % 20, i / 20, i * 1.5 FROM generate_series(1, 40) i",
)
_CHANGES = (
    "UPDATE customer SET vat = 9 WHERE id = 1",
    "UPDATE orders SET customer_id = 3 WHERE id = 1",
    "DELETE FROM claim WHERE order_id = 2",
    "DELETE FROM detail WHERE customer_id = 2",
)


def load(postgres: PostgresDatabase, folder: Path) -> None:
    """Load a folder of Parquet files into a server's public schema."""
    with psycopg.connect(postgres.uri) as server, duckdb.connect() as files:
        for path in sorted(folder.glob("*.parquet")):
            rows = files.sql(f"FROM {literal(str(path))}")
            columns = sql.SQL(", ").join(
                sql.Identifier(name) + sql.SQL(" " + target_type(str(type_), "postgres").name)
                for name, type_ in zip(rows.columns, rows.types, strict=True)
            )
            table = sql.Identifier(path.stem)
            server.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
            copy = sql.SQL("COPY {} FROM STDIN").format(table)
            with server.cursor() as cursor, cursor.copy(copy) as into:
                while chunk := rows.fetchmany(1000):
                    for row in chunk:
                        into.write_row(row)


@pytest.mark.usefixtures("dbt")
@needs_shared
@pytest.mark.parametrize(
    ("name", "technique"), [("jaffle_shop", "data_vault_2"), ("chinook", "dimensional")]
)
def test_dbt_builds_on_postgres_what_duckdb_builds(
    postgres: PostgresDatabase, tmp_path: Path, name: str, technique: str
) -> None:
    """No error, no failure, no warning; every row and value, hashes included, as in DuckDB."""
    folder = CORPUS / name / "data"
    load(postgres, folder)
    expected: dict[str, Counter[Any]] = {}
    with modelled(postgres.uri, technique) as shop:
        plan = transform_plan(shop.model)
        access = source_access(
            shop.source, plan, locate(postgres.uri), project_dir=tmp_path, target="postgres"
        )
        project = dbt_project(plan, shop.model, target="postgres", access=access)
        with built(shop.source, plan, load_date=LOAD_DATE) as result:
            for build in plan.published:
                rows = result.connection.execute(f"SELECT * FROM model.{build.name}").fetchall()
                expected[build.name] = Counter(rows)
    done = run_dbt(
        written(project, tmp_path),
        variables={"load_date": LOAD_DATE.isoformat(" ")},
        environment={
            "PGHOST": str(postgres.folder),
            "PGUSER": "postgres",
            "PGDATABASE": postgres.name,
        },
    )
    assert [f"{node.name}: {node.message}" for node in (*done.failed, *done.warned)] == []
    assert done.warnings == ()
    assert done.ok
    with psycopg.connect(postgres.uri) as server:
        for build in plan.published:
            names = sql.SQL(", ").join(sql.Identifier(column.name) for column in build.columns)
            query = sql.SQL("SELECT {} FROM {}.{}").format(
                names, sql.Identifier(str(access.schema)), sql.Identifier(build.name)
            )
            assert Counter(server.execute(query).fetchall()) == expected[build.name], build.name


@pytest.mark.usefixtures("dbt")
def test_a_business_vault_on_postgres_answers_for_each_load(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    """Every test holds after each load, and its queries return the rows of those without it."""
    environment = {
        "PGHOST": str(postgres.folder),
        "PGUSER": "postgres",
        "PGDATABASE": postgres.name,
    }
    run_statements(postgres, _SHOP)
    with modelled(postgres.uri, "data_vault_2", business_vault=True) as shop:
        plan = transform_plan(shop.model)
        access = source_access(
            shop.source, plan, locate(postgres.uri), project_dir=tmp_path, target="postgres"
        )
        written(dbt_project(plan, shop.model, target="postgres", access=access), tmp_path)
    for day, changes in enumerate(((), _CHANGES), start=1):
        run_statements(postgres, changes)
        load_date = {"load_date": f"2024-01-0{day} 00:00:00"}
        done = run_dbt(tmp_path, variables=load_date, environment=environment)
        assert done.ok and not done.warned, done
    business = shop.model.dv2.business_vault if shop.model.dv2 else None
    assert business is not None
    tables = (*business.point_in_time_tables, *business.bridges)
    assert [table.name for table in tables] == ["pit_customer", "bridge_claim"]
    with psycopg.connect(postgres.uri) as server:
        schema = sql.Identifier(str(access.schema))
        server.execute(sql.SQL("SET search_path TO {}").format(schema))
        for table in tables:
            for moment in (AS_OF, "TIMESTAMP '2024-01-01 12:00:00'"):
                queries = (q.replace(AS_OF, moment) for q in (table.query, table.raw_query))
                rows, expected = (Counter(server.execute(q.encode())) for q in queries)
                assert rows and rows == expected


def run_statements(postgres: PostgresDatabase, statements: Sequence[str]) -> None:
    with psycopg.connect(postgres.uri) as server:
        for statement in statements:
            server.execute(statement.encode())
