"""Copies of the tables that dbt can't read from the source itself: ``land/<id>.parquet``."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from fluid_build.errors import OutputError
from fluid_build.sources.base import Table
from fluid_build.sources.engine.connection import reason as reason_of
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.dbt.jinja import Jinja
from fluid_build.transform.dbt.portable_paths import sql_in_project
from fluid_build.transform.dbt.profiles_yml import DUCKDB_SCHEMA
from fluid_build.transform.dbt.readings import Reading
from fluid_build.transform.dbt.source_entries import SourceEntry, TableCopy
from fluid_build.transform.plan.elements import OF_THE_LOAD, PlanSource, TransformPlan

COPIES_FOLDER = "land"
_REFRESH = "Run `fluid forge` again to refresh it."

# Parquet has no such types, and DuckDB would write others instead; its intervals have milliseconds,
# and none below zero.
_NOT_IN_PARQUET = re.compile(r"\b(U?HUGEINT|BIT|ENUM|UNION|BIGNUM|INTERVAL|TIME WITH TIME ZONE)\b")


def write_copy(
    connection: duckdb.DuckDBPyConnection,
    copy: TableCopy,
    source: PlanSource,
    folder: Path,
) -> Path:
    """Write a copy into a folder, and return its path; the same rows make the same bytes.

    A column of a type that Parquet lacks is written as text, which the staging casts back.
    ``connection`` is the source's. Raises OutputError where the copy can't be written.
    """
    path = folder / f"{copy.id}.parquet"
    columns = ", ".join(
        f"{_written(name, type_)} AS {quote(name)}" for name, type_ in source.columns
    )
    sql = (
        f"COPY (SELECT {columns} FROM {copy.table.relation}) TO {literal(str(path))}"
        " (FORMAT parquet, COMPRESSION zstd)"
    )
    try:
        connection.execute(sql)
    except duckdb.InterruptException:
        raise
    except duckdb.IOException as error:
        raise OutputError(
            f"{copy.path} can't be written: {reason_of(error, path)}",
            hint="Free some disk space, or choose a folder on another disk.",
        ) from None
    return path


def copy_path(source_id: str) -> str:
    """Return the path of a plan source's copy below the project's folder."""
    return f"{COPIES_FOLDER}/{source_id}.parquet"


def reading_of_copies(
    plan: TransformPlan,
    tables: Sequence[tuple[PlanSource, Table]],
    reason: str,
    *,
    refresh: str = _REFRESH,
) -> Reading:
    """Return how a project reads tables that are all copied, for one reason (a clause).

    ``refresh`` says how the copies are made again.
    """
    copies = [TableCopy(source.id, copy_path(source.id), table, reason) for source, table in tables]
    return Reading(
        entries=tuple(copied_entry(source, reason) for source, _ in tables),
        copies=tuple(copies),
        notes=tuple(note_on_copy(plan, source, reason, refresh) for source, _ in tables),
    )


def copied_entry(source: PlanSource, reason: str) -> SourceEntry:
    """Return the entry of a table that's read from its copy."""
    return SourceEntry(
        source.id,
        source.table,
        source.table,
        DUCKDB_SCHEMA,
        meta=copy_meta(source.id),
        note=f"A copy made by `fluid forge`: {reason}.",
    )


def note_on_copy(
    plan: TransformPlan,
    source: PlanSource,
    reason: str,
    refresh: str = _REFRESH,
) -> str:
    """Say that a table is read from its copy, and which personal data that holds."""
    personal = [
        column.name
        for build in plan.builds
        if build.layer in OF_THE_LOAD and source.id in build.ref_sources
        for column in build.columns
        if column.pii
    ]
    warning = f" It holds personal data ({', '.join(personal)})." if personal else ""
    return (
        f"{source.table} is read from {copy_path(source.id)}, a copy of its rows: {reason}."
        f" {refresh}{warning}"
    )


def _written(name: str, type_: str) -> str:
    column = quote(name)
    return f"CAST({column} AS VARCHAR)" if _NOT_IN_PARQUET.search(type_) else column


def copy_meta(source_id: str) -> Mapping[str, str]:
    """Return how dbt-duckdb finds the copy."""
    path = sql_in_project(copy_path(source_id))
    return {"external_location": Jinja(f"read_parquet({path})")}
