"""Tables as observations query them: the relation to read, and each column as a typed value."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile
from fluid_build.sources.base import Source
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, unreadable
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.canonical_text import type_and_spelling
from fluid_build.sources.text_values.conventions import DECIMAL_MARKS, with_decimal_point

_ENVIRONMENT_ERRORS = (duckdb.OutOfMemoryException, duckdb.IOException)
"""Failures of the machine or of a file. They may not happen elsewhere, so leaving an observation
out for them would give the same source another model on a smaller machine."""


@dataclass(frozen=True, slots=True)
class ObservedTable:
    """A profiled table that can be queried: ``relation`` may follow FROM on the connection.

    ``aliases`` are the names of its columns inside the relation, by their names at the source.
    """

    profile: TableProfile
    relation: str
    aliases: Mapping[str, str]

    def value(self, column: str) -> str:
        """Return SQL for a column's values, typed as measured; null where a value has no type."""
        return _typed(quote(self.aliases[column]), self.profile.column(column))


def value_type(column: ColumnProfile) -> str:
    """Return DuckDB's name of the type of a column's values, as measured."""
    return type_and_spelling(column.measured_type or column.type)[0]


def is_dated(column: ColumnProfile) -> bool:
    """Return whether a column's values are dates or timestamps, as measured."""
    return value_type(column).startswith(("DATE", "TIMESTAMP"))


def observed_tables(source: Source, profile: Profile) -> dict[str, ObservedTable]:
    """Return the tables of a profile that have rows, by name."""
    relations = {table.name: table for table in source.tables}
    return {
        table.name: ObservedTable(
            profile=table,
            relation=relations[table.name].relation,
            aliases={column.name: column.alias for column in relations[table.name].columns},
        )
        for table in profile.tables
        if table.rows and table.name in relations
    }


@contextmanager
def unless_unreadable() -> Iterator[None]:
    """Leave the block without a result where DuckDB can't run a query of it.

    A profiled table can be read, so this is a query that its files or types don't support. An
    observation is then absent, and the model is built by names and figures of the profile. Too
    little memory and failed reads are raised: see ``reporting_failures``.
    """
    try:
        yield
    except (duckdb.InterruptException, *_ENVIRONMENT_ERRORS):
        raise
    except DUCKDB_ERRORS:
        return


@contextmanager
def reporting_failures(source: Source) -> Iterator[None]:
    """Raise SourceUnreadableError where memory runs out or a file can't be read, as profiling."""
    try:
        yield
    except _ENVIRONMENT_ERRORS as error:
        raise unreadable(source.name, error) from error


def _typed(name: str, column: ColumnProfile) -> str:
    if column.measured_type is None:
        return name
    to_type, date_format = type_and_spelling(column.measured_type)
    if not date_format:
        return f"TRY_CAST({name} AS {to_type})"
    text = f"trim(CAST({name} AS VARCHAR))"
    if date_format in DECIMAL_MARKS:
        return f"TRY_CAST({with_decimal_point(text, DECIMAL_MARKS[date_format])} AS {to_type})"
    return f"CAST(try_strptime({text}, {literal(date_format)}) AS {to_type})"
