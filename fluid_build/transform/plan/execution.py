"""A plan run directly in DuckDB, on the connection of its source."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import duckdb

from fluid_build.errors import BuildFailedError, SourceChangedError
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source, Table
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.elements import Build, PlanSource, TransformPlan
from fluid_build.transform.plan.parallel_sessions import in_sessions, small

DATABASE = "forged"
"""The database inside the connection that holds the schemas ``source`` and ``model``."""

FIRST_LOAD = datetime(2000, 1, 1)
"""The load date of a run whose result is only compared: no clock, so that runs are identical."""


@dataclass(frozen=True, slots=True)
class Built:
    """A plan that was run; ``source.<id>`` and ``model.<name>`` are on ``connection``."""

    connection: duckdb.DuckDBPyConnection
    plan: TransformPlan

    def rows(self, relation: str) -> int:
        """Return how many rows ``source.<id>`` or ``model.<name>`` has."""
        row = self.connection.execute(f"SELECT count(*) FROM {relation}").fetchone()
        return int(row[0]) if row else 0

    def load(self, load_date: datetime) -> None:
        """Run the plan again: incremental builds add what's new, the others are rebuilt."""
        set_load_date(self.connection, load_date)
        for build in self.plan.builds:
            _run(self.connection, build, again=True)


@contextmanager
def built(
    source: Source,
    plan: TransformPlan,
    *,
    load_date: datetime = FIRST_LOAD,
    on_progress: OnProgress = ignore,
) -> Iterator[Built]:
    """Run all builds of a plan in order; they are dropped after the block.

    Each relation's columns and types are compared with what the plan promises. Raises
    SourceChangedError where the source lacks a table or column of the plan, and BuildFailedError
    where a build fails or differs from what's promised.
    """
    connection = source.connection
    previous = connection.execute("SELECT current_database()").fetchone()
    connection.execute(f"ATTACH ':memory:' AS {DATABASE}")
    try:
        connection.execute(f"USE {DATABASE}")
        show_sources(connection, source, plan)
        connection.execute("CREATE SCHEMA model")
        set_load_date(connection, load_date)
        _run_all(connection, plan, on_progress)
        check_types(connection, plan)
        yield Built(connection, plan)
    finally:
        connection.execute(f"USE {quote(previous[0] if previous else 'memory')}")
        connection.execute(f"DETACH {DATABASE}")


def statement(build: Build, *, again: bool = False) -> str:
    """Return the SQL that makes a build's relation, or with ``again`` adds what's new to it."""
    name = f"model.{build.name}"
    if build.materialization == "view":
        return f"CREATE OR REPLACE VIEW {name} AS\n{build.sql}"
    if not again or build.next_load is None:
        return f"CREATE OR REPLACE TABLE {name} AS\n{build.sql}"
    if build.materialization == "incremental":
        replaced = f"DELETE FROM {name} WHERE {build.replaced};\n" if build.replaced else ""
        return f"{replaced}INSERT INTO {name}\n{build.next_sql}"
    return f"CREATE OR REPLACE TABLE {name} AS\n{build.next_sql}"


def check_types(connection: duckdb.DuckDBPyConnection, plan: TransformPlan) -> None:
    """Compare every relation in the schema ``model`` with the columns and types of the plan."""
    built_columns: dict[str, list[tuple[str, str]]] = {}
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " WHERE database_name = current_database() AND schema_name = 'model'"
        " ORDER BY table_name, column_index"
    ).fetchall()
    for table, column, type_ in rows:
        built_columns.setdefault(table, []).append((column, type_))
    for build in plan.builds:
        promised = [(column.name, column.type) for column in build.columns]
        if built_columns.get(build.name) != promised:
            raise BuildFailedError(
                f"{build.name} differs from the plan: "
                f"{_first_difference(promised, built_columns.get(build.name, []))}.",
                hint="This is a bug in Fluid Forge. Please report it, and attach model.json.",
            )


def show_sources(
    connection: duckdb.DuckDBPyConnection, source: Source, plan: TransformPlan
) -> None:
    """Make the schema ``source``, with a view on each table of the plan's source."""
    connection.execute("CREATE SCHEMA source")
    tables = {table.name: table for table in source.tables}
    for planned in plan.sources:
        table = tables.get(planned.at_source)
        if table is None:
            raise SourceChangedError(
                f"The source no longer has the table {planned.at_source!r}.",
                hint="Run `fluid forge` again to update the model.",
            )
        connection.execute(_view(table, planned))


def _view(table: Table, planned: PlanSource) -> str:
    by_name = {column.alias: column for column in table.columns}
    for name, _ in planned.columns:
        if name not in by_name:
            raise SourceChangedError(
                f"The table {planned.at_source!r} no longer has the column {name!r}.",
                hint="Run `fluid forge` again to update the model.",
            )
    selected = ", ".join(quote(name) for name, _ in planned.columns)
    return f"CREATE VIEW source.{planned.id} AS SELECT {selected} FROM {table.relation}"


def set_load_date(connection: duckdb.DuckDBPyConnection, load_date: datetime) -> None:
    """Say which moment the builds that follow load."""
    connection.execute(f"SET VARIABLE load_date = TIMESTAMP {literal(load_date.isoformat(' '))}")


def _run_all(
    connection: duckdb.DuckDBPyConnection, plan: TransformPlan, on_progress: OnProgress
) -> None:
    """Run all builds; small ones that don't depend on each other run together."""
    tables = {f"source.{source.id}": source.table for source in plan.sources}
    few_rows = {tables[relation] for relation in small(connection, tables)}
    count_done = 0
    for wave in waves(plan.builds):
        small_builds = [build for build in wave if few_rows.issuperset(build.mapped_source_tables)]
        large_builds = [
            build for build in wave if not few_rows.issuperset(build.mapped_source_tables)
        ]
        work = [partial(_run, build=build, again=False) for build in small_builds]
        with closing(in_sessions(connection, work)) as results:
            for build, _ in zip(small_builds, results, strict=True):
                on_progress(Progress("build", count_done, len(plan.builds), build.name))
                count_done += 1
        for build in large_builds:
            on_progress(Progress("build", count_done, len(plan.builds), build.name))
            _run(connection, build, again=False)
            count_done += 1


def waves(builds: Sequence[Build]) -> list[list[Build]]:
    """Return builds in groups, each after the groups that it reads; in the plan's order within."""
    levels: dict[str, int] = {}
    groups: list[list[Build]] = []
    for build in builds:
        level = max((levels[name] + 1 for name in build.ref_models), default=0)
        levels[build.name] = level
        if level == len(groups):
            groups.append([])
        groups[level].append(build)
    return groups


def _run(connection: duckdb.DuckDBPyConnection, build: Build, *, again: bool) -> None:
    try:
        connection.execute(statement(build, again=again))
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        raise build_failure(f"{build.name} failed to build", error) from error


def build_failure(what: str, error: duckdb.Error) -> BuildFailedError:
    """Return the error for a query that failed, with what helps: memory, disk, or a report."""
    text = str(error)
    # DuckDB has no class of its own for a full disk, and calls its own bound one "offload".
    if "No space left on device" in text or "max_temp_directory_size" in text:
        hint = (
            "Free space on the disk, or name a folder on a larger one with the environment"
            " variable TMPDIR."
        )
    elif isinstance(error, duckdb.OutOfMemoryException):
        hint = 'Raise the limit with the environment variable FLUID_MEMORY_LIMIT, such as "8GB".'
    else:
        hint = "If the source hasn't changed since the model was generated, please report this."
    return BuildFailedError(f"{what}: {text.splitlines()[0]}", hint=hint)


def _first_difference(promised: list[tuple[str, str]], columns: list[tuple[str, str]]) -> str:
    for planned, actual in zip(promised, columns, strict=False):
        if planned != actual:
            return f"{' '.join(planned)} was planned, but {' '.join(actual)} was built"
    return f"{len(promised)} columns were planned, but {len(columns)} were built"
