"""What a load made now would change in a warehouse that has all of its source: nothing.

Tables are made again by their own queries, from what the warehouse has of other relations, and
compared in every column; so is the period that a load replaces. Relations that only get rows added
may get none. One that is loaded no more has what it had.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import duckdb

from fluid_build.decisions.conventions import DEFAULT_CONVENTIONS, ColumnNames
from fluid_build.transform.plan.elements import Build, PlanColumn, TransformPlan
from fluid_build.transform.plan.execution import FIRST_LOAD, set_load_date, statement
from fluid_build.transform.plan.hashing import BINARY, HASH_TYPE
from fluid_build.transform.proof.derived_columns import Contradiction, is_derived
from fluid_build.transform.proof.row_comparison import RowComparison, count

_NOT_AS_LOADED = "not as a load makes them"
_ABSENT = "missing that a load adds"
_OF_A_SNAPSHOT = "missing in snapshots that it has"


def changes_by_a_load(
    connection: duckdb.DuckDBPyConnection,
    plan: TransformPlan,
    warehouse: TransformPlan,
    load_date: datetime,
) -> Iterator[Contradiction]:
    """Yield what a load on that day would change in the relations of ``model``.

    ``warehouse`` is the plan of those that it has. Where it lacks a table of the staging, that is
    made for the others to read.
    """
    shown = {build.name for build in warehouse.builds}
    set_load_date(connection, load_date)
    for build in plan.builds:
        if build.materialization == "view":
            continue
        if build.layer == "quarantine":
            _set_apart_now(connection, build)
        elif build.name in shown and build.is_retired:
            continue
        elif build.name in shown:
            yield from _changes(connection, build, plan.column_names)
        else:
            connection.execute(statement(build))


def changes_without_hashes(
    connection: duckdb.DuckDBPyConnection,
    builds: Sequence[Build],
    added: ColumnNames = DEFAULT_CONVENTIONS.columns,
) -> Iterator[Contradiction]:
    """Yield what a load would change in relations that another engine than DuckDB has made.

    These are the dimensions and the business vault. Another engine may write a value otherwise, and
    so have other hashes: what they lead to in the source isn't compared, and a member that the
    source has deleted is found by one.
    """
    set_load_date(connection, FIRST_LOAD)
    for build in builds:
        if build.layer == "quarantine":
            _set_apart_now(connection, build)
            continue
        if build.layer == "business_vault":
            yield from _changes_of_snapshots(connection, build)
        is_dimension = len(build.key) == 1 and is_derived(build.column(build.key[0]))
        if build.layer == "mart" and build.materialization == "table" and is_dimension:
            names = {column.name for column in build.columns}
            where = f"NOT {added.is_deleted}" if added.is_deleted in names else "TRUE"
            columns = [column.name for column in build.columns if not _is_hash(column, added)]
            yield from _differing(connection, build, columns, where)


def _set_apart_now(connection: duckdb.DuckDBPyConnection, quarantine: Build) -> None:
    """Put what a load would set apart into the quarantine, in the place of what earlier ones did.

    Other relations are read by the load date, which is that of no load that was.
    """
    views = "SELECT view_name FROM duckdb_views() WHERE schema_name = 'model' AND view_name = ?"
    if connection.execute(views, [quarantine.name]).fetchall():
        connection.execute(f"DROP VIEW model.{quarantine.name}")
    connection.execute(statement(quarantine))


def _changes(
    connection: duckdb.DuckDBPyConnection, build: Build, added: ColumnNames
) -> Iterator[Contradiction]:
    if build.materialization == "table" or build.replaced:
        names = [column.name for column in build.columns]
        yield from _differing(connection, build, names, build.replaced or "TRUE")
        return
    if build.layer == "business_vault":
        yield from _changes_of_snapshots(connection, build)
        return
    stored = f"model.{build.name}"
    # A load finds what it needn't add by one key. The hashes beside it must be there as well.
    hashes = ", ".join(column.name for column in build.columns if _is_hash(column, added))
    if hashes and not any(column.name == added.is_deleted for column in build.columns):
        first_load = f"SELECT {hashes} FROM ({build.sql}\n)"
        absent = _rows(connection, f"({first_load} EXCEPT SELECT {hashes} FROM {stored})")
    else:
        absent = _rows(connection, f"({build.next_sql}\n)")
    if absent:
        yield Contradiction(build.name, absent, _ABSENT)


def _changes_of_snapshots(
    connection: duckdb.DuckDBPyConnection, build: Build
) -> Iterator[Contradiction]:
    """Yield what isn't as it follows from the raw vault, which all days of a business vault do.

    Old snapshots may have been deleted. One that is still there has all of its rows.
    """
    names = ", ".join(column.name for column in build.columns)
    stored = f"SELECT {names} FROM model.{build.name}"
    derived = f"SELECT {names} FROM ({build.sql}\n)"
    kept = f"WHERE snapshot_date IN (SELECT snapshot_date FROM model.{build.name})"
    if absent := _rows(connection, f"({build.next_sql}\n)"):
        yield Contradiction(build.name, absent, _ABSENT)
    elif invented := _rows(connection, f"({stored} EXCEPT ALL {derived})"):
        yield Contradiction(build.name, invented, _NOT_AS_LOADED)
    elif missing := _rows(connection, f"({derived} {kept} EXCEPT ALL {stored})"):
        yield Contradiction(build.name, missing, _OF_A_SNAPSHOT)


def _is_hash(column: PlanColumn, added: ColumnNames) -> bool:
    is_text = column.type in (HASH_TYPE, BINARY)
    return is_derived(column) and is_text and column.name != added.record_source


def _differing(
    connection: duckdb.DuckDBPyConnection, build: Build, columns: Sequence[str], where: str
) -> Iterator[Contradiction]:
    """Yield the rows of a table that a load doesn't make, and those that it has not."""
    comparison = RowComparison(
        original=f"SELECT * FROM ({build.next_sql}\n) WHERE {where}",
        rebuilt=f"SELECT * FROM model.{build.name} WHERE {where}",
        columns=tuple((c.name, c.type, c.type) for c in build.columns if c.name in columns),
        zeros="equal",
    )
    counts = count(connection, comparison)
    if counts.unexpected:
        yield Contradiction(build.name, counts.unexpected, _NOT_AS_LOADED)
    elif counts.missing:
        yield Contradiction(build.name, counts.missing, _ABSENT)


def _rows(connection: duckdb.DuckDBPyConnection, relation: str) -> int:
    row = connection.execute(f"SELECT COUNT(*) FROM {relation}").fetchone()
    assert row is not None, "a count without groups always gives a row"
    return int(row[0])
