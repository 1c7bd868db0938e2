"""The project for PostgreSQL, built by dbt on a real server and compared with DuckDB's run."""

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from psycopg import sql

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
