"""A plan run directly in DuckDB, on the connection of its source."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

import duckdb

from fluid_build.errors import BuildFailedError, ScratchFullError, SourceChangedError
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source, Table
from fluid_build.sources.engine.connection import MORE_MEMORY, MORE_ROOM, is_disk_full
from fluid_build.sources.scan_estimate import size
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.elements import Build, PlanSource, TransformPlan
from fluid_build.transform.plan.parallel_sessions import ROW_GROUP, in_sessions, row_counts

DATABASE = "forged"
"""The database inside the connection that holds the schemas ``source`` and ``model``."""

FIRST_LOAD = datetime(2000, 1, 1)
"""The load date of a run whose result is only compared: no clock, so that runs are identical."""


@dataclass(frozen=True, slots=True)
class Built:
    """A plan that was run; ``source.<id>`` and ``model.<name>`` are on ``connection``.

    ``source_rows`` has how many rows the source's tables have.
    """

    connection: duckdb.DuckDBPyConnection
    plan: TransformPlan
    source_rows: Mapping[str, int] = field(default_factory=dict)

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

    The errors are those of ``prepared`` and ``build_all``.
    """
    with prepared(source, plan, load_date=load_date) as database:
        for _ in build_all(database, plan.builds, on_progress):
            pass
        yield database


@contextmanager
def prepared(
    source: Source, plan: TransformPlan, *, load_date: datetime = FIRST_LOAD
) -> Iterator[Built]:
    """Show the source, with a schema for the builds; all of it is dropped after the block.

    Raises SourceChangedError where the source lacks a table or column of the plan.
    """
    connection = source.connection
    previous = connection.execute("SELECT current_database()").fetchone()
    connection.execute(f"ATTACH ':memory:' AS {DATABASE}")
    try:
        connection.execute(f"USE {DATABASE}")
        show_sources(connection, source, plan)
        connection.execute("CREATE SCHEMA model")
        set_load_date(connection, load_date)
        tables = {f"source.{each.id}": each.table for each in plan.sources}
        counted = row_counts(connection, tables)
        yield Built(connection, plan, {tables[name]: rows for name, rows in counted.items()})
    finally:
        connection.execute(f"USE {quote(previous[0] if previous else 'memory')}")
        connection.execute(f"DETACH {DATABASE}")


def build_all(
    database: Built,
    builds: Sequence[Build],
    on_progress: OnProgress = ignore,
    *,
    done: int = 0,
) -> Iterator[Sequence[Build]]:
    """Run some builds of a plan; yield them in groups, each after those that it reads.

    ``done`` builds have been run before. Each relation's columns and types are compared with what
    the plan promises. Raises BuildFailedError where a build fails or differs from what's promised.
    """
    connection, total = database.connection, len(database.plan.builds)
    few_rows = {table for table, rows in database.source_rows.items() if rows <= ROW_GROUP}
    for wave in waves(builds):
        small_builds = [build for build in wave if few_rows.issuperset(build.mapped_source_tables)]
        large_builds = [build for build in wave if build not in small_builds]
        work = [partial(_run, build=build, again=False) for build in small_builds]
        with closing(in_sessions(connection, work)) as results:
            for build, _ in zip(small_builds, results, strict=True):
                on_progress(Progress("build", done, total, build.name))
                done += 1
        for build in large_builds:
            on_progress(Progress("build", done, total, build.name))
            _run(connection, build, again=False)
            done += 1
        check_types(connection, wave)
        yield wave


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


def check_types(connection: duckdb.DuckDBPyConnection, builds: Sequence[Build]) -> None:
    """Compare relations in the schema ``model`` with the columns and types of the plan."""
    built_columns: dict[str, list[tuple[str, str]]] = {}
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " WHERE database_name = current_database() AND schema_name = 'model'"
        " ORDER BY table_name, column_index"
    ).fetchall()
    for table, column, type_ in rows:
        built_columns.setdefault(table, []).append((column, type_))
    for build in builds:
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


def waves(builds: Sequence[Build]) -> list[list[Build]]:
    """Return builds in groups, each after the groups that it reads; in the plan's order within."""
    levels: dict[str, int] = {}
    groups: list[list[Build]] = []
    for build in builds:
        level = max((levels[name] + 1 for name in build.ref_models if name in levels), default=0)
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
        raise build_failure(connection, f"{build.name} failed to build", error) from error


def build_failure(
    connection: duckdb.DuckDBPyConnection, what: str, error: duckdb.Error
) -> BuildFailedError:
    """Return the error for a query that failed, with what helps: memory, disk, or a report."""
    text = str(error)
    if is_disk_full(error):
        used, free, folder = _scratch(connection)
        return ScratchFullError(
            f"{what}: {size(used)} of temporary files are in use, and {folder} has {size(free)}"
            " left.",
            hint=MORE_ROOM,
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        hint = MORE_MEMORY
    else:
        hint = "If the source hasn't changed since the model was generated, please report this."
    return BuildFailedError(f"{what}: {text.splitlines()[0]}", hint=hint)


def _scratch(connection: duckdb.DuckDBPyConnection) -> tuple[int, int, str]:
    """Return how much of the disk temporary files have, how much is free, and where they are."""
    try:
        row = connection.execute(
            "SELECT coalesce((SELECT sum(size) FROM duckdb_temporary_files()), 0),"
            " current_setting('temp_directory')"
        ).fetchone()
    except duckdb.Error:
        row = None
    used, place = row or (0, "")
    folder = next((each for each in Path(place or ".").parents if each.is_dir()), Path())
    return int(used), shutil.disk_usage(folder).free, str(folder)


def _first_difference(promised: list[tuple[str, str]], columns: list[tuple[str, str]]) -> str:
    for planned, actual in zip(promised, columns, strict=False):
        if planned != actual:
            return f"{' '.join(planned)} was planned, but {' '.join(actual)} was built"
    return f"{len(promised)} columns were planned, but {len(columns)} were built"
