"""Rows as text, given the types that their table declares."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.sources.base import Column, Table
from fluid_build.sources.sql import quote

_WHOLE = frozenset(
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
     "UBIGINT", "UHUGEINT")
)  # fmt: skip
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)")


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a column's text becomes its type, and when a value doesn't fit, both as SQL."""

    value: str
    misfit: str


def create_typed(
    connection: duckdb.DuckDBPyConnection, rows: str, table: Table, names: Sequence[str]
) -> Table:
    """Create a table from rows of text; return it with the columns and types that it has.

    ``rows`` is SQL whose columns are called by their aliases, of which ``names`` has those that
    rows came with. A column with a value that its declared type can't hold stays text, with a note.
    """
    columns = [column for column in table.columns if column.alias in names]
    readings = [_reading(column) for column in columns]
    checks = ", ".join(f"count(*) FILTER ({reading.misfit})" for reading in readings)
    misfits = connection.execute(f"SELECT {checks} FROM ({rows})").fetchone() or ()
    typed = [
        column if count == 0 else _as_text(column, count)
        for column, count in zip(columns, misfits, strict=True)
    ]
    values = ", ".join(
        f"{reading.value if count == 0 else quote(column.alias)} AS {quote(column.alias)}"
        for column, reading, count in zip(columns, readings, misfits, strict=True)
    )
    connection.execute(f"CREATE TABLE {table.relation} AS SELECT {values} FROM ({rows})")
    notes = [f"{column.name}: {note}" for column in typed for note in column.notes]
    missing = [column.name for column in table.columns if column.alias not in names]
    if missing:
        notes.append(f"The dump has no values of {', '.join(missing)}, which was left out.")
    return replace(table, columns=tuple(typed), notes=(*table.notes, *notes))


def _as_text(column: Column, misfits: int) -> Column:
    values = "1 value isn't" if misfits == 1 else f"{misfits:,} values aren't"
    note = f"{values} of its declared type {column.declared_type}; read as text."
    return replace(column, type="VARCHAR", notes=(*column.notes, note))


def _reading(column: Column) -> _Reading:
    text, type_ = quote(column.alias), column.type
    value = text
    if type_ == "BLOB":
        value = (
            f"CASE WHEN starts_with({text}, '\\x') THEN unhex({text}[3:]) ELSE encode({text}) END"
        )
        return _Reading(value, f"starts_with({text}, '\\x') AND NOT {_IS_HEX.format(text)}")
    if type_.endswith("[]"):
        # PostgreSQL's way to write an array, of elements that need no quotes.
        value = f"'[' || substr({text}, 2, length({text}) - 2) || ']'"
        odd = f" OR regexp_matches({text}[2:], '[{{\"]')"
    elif type_ in _WHOLE:
        odd = f" OR NOT regexp_full_match({text}, '-?[0-9]+')"
    elif scale := _DECIMAL.fullmatch(type_):
        digits = f"length(rtrim(split_part({text}, '.', 2), '0'))"
        odd = f" OR contains(lower({text}), 'e') OR {digits} > {scale[1]}"
    else:
        odd = ""
    if type_ == "VARCHAR":
        return _Reading(text, "false")
    return _Reading(
        f"CAST({value} AS {type_})",
        f"{text} IS NOT NULL AND (TRY_CAST({value} AS {type_}) IS NULL{odd})",
    )


_IS_HEX = "regexp_full_match({}, '\\\\x([0-9A-Fa-f]{{2}})*')"
