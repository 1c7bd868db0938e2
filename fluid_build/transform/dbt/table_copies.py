"""Copies of the tables that dbt can't read from the source itself: ``land/<id>.parquet``."""

import re
from collections.abc import Mapping
from pathlib import Path

import duckdb

from fluid_build.errors import OutputError
from fluid_build.sources.engine import reason
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.dbt.jinja import Jinja
from fluid_build.transform.dbt.portable_paths import sql_in_project
from fluid_build.transform.dbt.source_entries import TableCopy
from fluid_build.transform.plan.elements import PlanSource

COPIES_FOLDER = "land"

# Parquet has no such types, and DuckDB would write others instead.
_NOT_IN_PARQUET = re.compile(r"\b(U?HUGEINT|BIT|ENUM|UNION|BIGNUM|TIME WITH TIME ZONE)\b")


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
            f"{copy.path} can't be written: {reason(error, path)}",
            hint="Free some disk space, or choose a folder on another disk.",
        ) from None
    return path


def copy_path(source_id: str) -> str:
    """Return the path of a plan source's copy below the project's folder."""
    return f"{COPIES_FOLDER}/{source_id}.parquet"


def _written(name: str, type_: str) -> str:
    column = quote(name)
    return f"CAST({column} AS VARCHAR)" if _NOT_IN_PARQUET.search(type_) else column


def copy_meta(source_id: str) -> Mapping[str, str]:
    """Return how dbt-duckdb finds the copy."""
    path = sql_in_project(copy_path(source_id))
    return {"external_location": Jinja(f"read_parquet({path})")}
