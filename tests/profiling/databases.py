"""Small databases written in SQL, and the keys found in them as readable text."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import duckdb

from fluid_build.profiling import profile_source
from fluid_build.profiling.measure.candidate_keys import CandidateKeys, find_candidate_keys
from fluid_build.profiling.measure.figures import TableStats
from fluid_build.profiling.measure.schema import MeasuredTable, build_tables
from fluid_build.profiling.measure.tables import measure_table
from fluid_build.profiling.profile import ForeignKey, Profile
from fluid_build.sources.base import Column, OpenSource, Table
from fluid_build.sources.sql import quote

_PICK = "CREATE MACRO pick(i, salt, n) AS CAST(hash(i * 1000 + salt) % n AS INTEGER)"


@contextmanager
def database(script: str) -> Iterator[OpenSource]:
    """A source in memory, made by an SQL script; ``pick(i, salt, n)`` draws from 0 to n - 1.

    Declared keys are left out: what is found is measured.
    """
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(_PICK)
    connection.execute(script)
    with OpenSource("duckdb", "test", connection, _tables(connection)) as source:
        yield source


def _tables(connection: duckdb.DuckDBPyConnection) -> tuple[Table, ...]:
    columns: dict[str, list[Column]] = {}
    for table, column, type_ in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " WHERE NOT internal ORDER BY table_name, column_index"
    ).fetchall():
        columns.setdefault(table, []).append(Column(column, type_))
    return tuple(Table(name, tuple(found), quote(name)) for name, found in columns.items())


@cache
def profiled(script: str) -> Profile:
    """Return the profile of the database that a script makes, measured once a session."""
    return profiled_again(script)


def profiled_again(script: str) -> Profile:
    """Return the profile of the database that a script makes, measured now."""
    with database(script) as source:
        return profile_source(source)


def measured(source: OpenSource, table: str) -> TableStats:
    """Return the figures of one table."""
    (source_table,) = (t for t in source.tables if t.name == table)
    return measure_table(source.connection, source_table)


def measured_column(expression: str, rows: str = "range(1000) AS t(i)") -> TableStats:
    """Return the figures of a table ``t`` with the one column ``c``."""
    with database(f"CREATE TABLE t AS SELECT {expression} AS c FROM {rows}") as source:
        return measured(source, "t")


def candidates(script: str, table: str = "t") -> CandidateKeys:
    """Return the candidate keys of one table of the database that a script makes."""
    with database(script) as source:
        return find_candidate_keys(source.connection, measured(source, table))


def tables_of(source: OpenSource) -> list[MeasuredTable]:
    """Return the measured tables of a source, before any key is chosen."""
    stats = [measure_table(source.connection, table) for table in source.tables]
    tables = build_tables(stats)
    for table in tables:
        table.candidates = find_candidate_keys(source.connection, table.stats)
    return tables


def show(key: ForeignKey) -> str:
    """Return a foreign key as ``child(a, b) -> parent(c, d)``."""
    ours, theirs = ", ".join(key.from_columns), ", ".join(key.to_columns)
    return f"{key.from_table}({ours}) -> {key.to_table}({theirs})"


def references(profile: Profile) -> set[str]:
    """Return the foreign keys of a profile that no others imply."""
    return {show(key) for key in profile.foreign_keys if not key.implied}


def implied(profile: Profile) -> set[str]:
    """Return the foreign keys of a profile that others imply."""
    return {show(key) for key in profile.foreign_keys if key.implied}


def reference(profile: Profile, shown: str) -> ForeignKey:
    """Return the foreign key that is shown so; there must be exactly one."""
    (foreign_key,) = (key for key in profile.foreign_keys if show(key) == shown)
    return foreign_key
