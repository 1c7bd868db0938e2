"""What dbt built in a DuckDB file, next to the source that it was built from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from fluid_build.errors import BuildFailedError
from fluid_build.sources.base import Source
from fluid_build.sources.engine.connection import reason
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.elements import OF_THE_LOAD, TransformPlan
from fluid_build.transform.plan.execution import (
    DATABASE,
    Built,
    check_types,
    show_sources,
    statement,
)

_DBT = "built_by_dbt"


@contextmanager
def built_by_dbt(
    source: Source, plan: TransformPlan, file: Path, *, schema: str = "main"
) -> Iterator[Built]:
    """Show what dbt built in that schema of a DuckDB file, to compare it with a source.

    The file is only read. Raises BuildFailedError where it can't be opened, or where a published
    relation of the plan is missing or has other columns or types than planned.
    """
    connection = source.connection
    previous = connection.execute("SELECT current_database()").fetchone()
    _attach(connection, file)
    try:
        connection.execute(f"ATTACH ':memory:' AS {DATABASE}")
        try:
            connection.execute(f"USE {DATABASE}")
            show_sources(connection, source, plan)
            shown = _show_relations(connection, plan, file, schema)
            check_types(connection, shown.builds)
            yield Built(connection, shown)
        finally:
            connection.execute(f"USE {quote(previous[0] if previous else 'memory')}")
            connection.execute(f"DETACH {DATABASE}")
    finally:
        connection.execute(f"DETACH {_DBT}")


def _attach(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    try:
        connection.execute(f"ATTACH {literal(str(file))} AS {_DBT} (READ_ONLY)")
    except duckdb.Error as error:
        raise BuildFailedError(
            f"{file.name}, which dbt built, can't be opened: {reason(error, file)}",
            hint="Close other programs that have the file open, and try again.",
        ) from error


def _show_relations(
    connection: duckdb.DuckDBPyConnection, plan: TransformPlan, file: Path, schema: str
) -> TransformPlan:
    """Make the schema ``model``, and return the plan of what is in it.

    Staging views are made from the plan, because only dbt can resolve how its own read the source,
    and they hold no data. Other views are left out, since nothing could be said about them, and so
    are missing staging tables: they only serve the load.
    """
    connection.execute("CREATE SCHEMA model")
    rows = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns()"
        " WHERE database_name = ? AND schema_name = ?"
        " AND table_name IN (SELECT t.table_name FROM duckdb_tables() AS t"
        " WHERE t.database_name = database_name AND t.schema_name = schema_name)"
        " ORDER BY table_name, column_index",
        [_DBT, schema],
    ).fetchall()
    tables: dict[str, list[str]] = {}
    for table, column in rows:
        tables.setdefault(table, []).append(column)
    shown = []
    for build in plan.builds:
        if build.name in tables:
            # A column that a migration added is the last one, wherever the plan has it.
            places = {column.name: place for place, column in enumerate(build.columns)}
            columns = sorted(tables[build.name], key=lambda name: places.get(name, len(places)))
            connection.execute(
                f"CREATE VIEW model.{build.name} AS SELECT {', '.join(map(quote, columns))}"
                f" FROM {_DBT}.{quote(schema)}.{quote(build.name)}"
            )
            shown.append(build)
        elif build.layer in OF_THE_LOAD and build.materialization == "view":
            connection.execute(statement(build))
            shown.append(build)
        elif build.layer != "staging" and build.materialization != "view":
            raise BuildFailedError(
                f"dbt didn't build the relation {build.name} in {file.name}.",
                hint="Run 'dbt build' in the project's folder to see why.",
            )
    return plan.model_copy(update={"builds": tuple(shown)})
