"""What dbt built in a DuckDB file, beside the source that it built it from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from fluid_build.errors import BuildFailedError
from fluid_build.sources.base import Source
from fluid_build.sources.engine import reason
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.elements import TransformPlan
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
    """The relations that dbt built in that schema of a DuckDB file, to be compared with a source.

    The file is read and never written to. Raises BuildFailedError where it cannot be opened, or
    where a published relation of the plan is missing or has other columns or types than planned.
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
            check_types(connection, shown)
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
            f"What dbt built in {file.name} cannot be opened: {reason(error, file)}",
            hint="Close other programs that have the file open, and run it again.",
        ) from error


def _show_relations(
    connection: duckdb.DuckDBPyConnection, plan: TransformPlan, file: Path, schema: str
) -> TransformPlan:
    """Make the schema ``model``; the plan of what is in it.

    Staging views are made by the plan: dbt's read the source by its own way, which only dbt can
    go, and they hold nothing. Another view is left out, as nothing could be said of it, and so is a
    staging table that is not there: it only serves the load.
    """
    connection.execute("CREATE SCHEMA model")
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND schema_name = ?",
        [_DBT, schema],
    ).fetchall()
    tables = {str(name) for (name,) in rows}
    shown = []
    for build in plan.builds:
        if build.name in tables:
            connection.execute(
                f"CREATE VIEW model.{build.name} AS SELECT *"
                f" FROM {_DBT}.{quote(schema)}.{quote(build.name)}"
            )
            shown.append(build)
        elif build.layer == "staging" and build.materialization == "view":
            connection.execute(statement(build))
            shown.append(build)
        elif build.layer != "staging" and build.materialization != "view":
            raise BuildFailedError(
                f"dbt built no relation {build.name} in {file.name}.",
                hint="Run 'dbt build' in the project's folder to see why.",
            )
    return plan.model_copy(update={"builds": tuple(shown)})
