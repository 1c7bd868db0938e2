"""Rows as text, given the types that their table declares."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import duckdb

from fluid_build.sources.base import Column, Table
from fluid_build.sources.sql import quote
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.dumps.session_zones import SessionZones
from fluid_build.sources.text_values.decimals import settle_decimal
from fluid_build.sources.text_values.timestamps import FINER

_WHOLE = frozenset(
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
     "UBIGINT", "UHUGEINT")
)  # fmt: skip
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)")
_DATED = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_FLOATING = re.compile(r"(?:double|float|real|binary_|decfloat|bigdecimal)", re.IGNORECASE)
"""Declared types that are DOUBLE; others are exact, without a width or with one too large."""
_FLOATING_IN_ORACLE = re.compile("binary_", re.IGNORECASE)
_DIGITS = {"FLOAT": (6, 9), "DOUBLE": (15, 17)}
"""How many digits a type always gives back, and how many tell each of its values (IEEE 754)."""
_PLAIN = "regexp_full_match({}, '-?[0-9]*\\.?[0-9]+|NaN|-?Infinity')"


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a column's text becomes its type, and when a value doesn't fit, both as SQL.

    ``rounded`` is when a floating number has more digits than its type gives back, and
    ``is_settled`` says that its values decide which number they become.
    """

    value: str
    misfit: str
    rounded: str = "false"
    is_settled: bool = False


def create_typed(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    table: Table,
    names: Collection[str],
    zones: SessionZones,
) -> Table:
    """Create a table from rows of text; return it with the columns and types that it has.

    ``rows`` is SQL whose columns are called by their aliases, of which ``names`` has those that
    rows came with. A column with a value that its declared type can't hold stays text, with a note.
    """
    columns = [column for column in table.columns if column.alias in names]
    readings = [_reading(column, zones.dialect) for column in columns]
    checks = ", ".join(
        f"count(*) FILTER ({condition})"
        for column, reading in zip(columns, readings, strict=True)
        for condition in (
            reading.misfit,
            reading.rounded,
            zones.depends(column, quote(column.alias)),
        )
    )
    counts = connection.execute(f"SELECT {checks} FROM ({rows})").fetchone() or ()
    typed = [_checked(column, counts[3 * i : 3 * i + 3], zones) for i, column in enumerate(columns)]
    values = ", ".join(
        f"{reading.value if now.type == column.type else quote(column.alias)}"
        f" AS {quote(column.alias)}"
        for column, now, reading in zip(columns, typed, readings, strict=True)
    )
    connection.execute(f"CREATE TABLE {table.relation} AS SELECT {values} FROM ({rows})")
    typed = [
        _settled(connection, table.relation, now)
        if reading.is_settled and now.type == column.type
        else now
        for column, now, reading in zip(columns, typed, readings, strict=True)
    ]
    notes = [f"{column.name}: {note}" for column in typed for note in column.notes]
    missing = [column.name for column in table.columns if column.alias not in names]
    if missing:
        notes.append(f"The dump has no values of {', '.join(missing)}, which was left out.")
    return replace(table, columns=tuple(typed), notes=(*table.notes, *notes))


def _checked(column: Column, counts: Sequence[int], zones: SessionZones) -> Column:
    """Return a column with the type and the notes that counts of its values give it.

    They are of misfits, of rounded numbers, and of moments that depend on the session's zone.
    """
    misfits, rounded, dependent = counts
    if misfits:
        values = "1 value isn't" if misfits == 1 else f"{misfits:,} values aren't"
        return _with_note(
            column,
            "VARCHAR",
            f"{values} of its declared type {column.declared_type}; read as text.",
        )
    if rounded:
        values = "1 value has" if rounded == 1 else f"{rounded:,} values have"
        return _with_note(
            column,
            column.type,
            f"{values} more digits than its declared type {column.declared_type} keeps; rounded as"
            " a database does.",
        )
    note = zones.note(column, dependent)
    if dependent and zones.is_said:
        return _with_note(column, "VARCHAR", f"{note} Read as text.")
    return _with_note(column, column.type, note) if note else column


def _with_note(column: Column, type_: str, note: str) -> Column:
    return replace(column, type=type_, notes=(*column.notes, note))


def _reading(column: Column, dialect: Dialect) -> _Reading:
    text, type_ = quote(column.alias), column.type
    value = text
    if column.declared_type.upper().startswith("YEAR"):
        # MySQL takes other figures for years of this century and the last.
        return _Reading(f"CAST({text} AS {type_})", f"NOT regexp_full_match({text}, '[0-9]{{4}}')")
    if type_ == "BLOB":
        value = (
            f"CASE WHEN starts_with({text}, '\\x') THEN unhex({text}[3:]) ELSE encode({text}) END"
        )
        # Without digits, a backslash is PostgreSQL's older way to escape a byte.
        return _Reading(value, f"contains({text}, '\\') AND NOT {_IS_HEX.format(text)}")
    # Oracle's own FLOAT has decimal digits, up to 38.
    floating = _FLOATING_IN_ORACLE if dialect.sqlplus else _FLOATING
    is_exact = not floating.match(column.declared_type)
    if type_ == "DOUBLE[]" and is_exact:
        return _Reading(text, "false")
    if type_ in ("FLOAT", "DOUBLE") and is_exact:
        return _Reading(text, f"{text} <> '' AND NOT {_PLAIN.format(text)}", is_settled=True)
    if type_.endswith("[]"):
        return _array(text, type_)
    value, odd = text, _odd(text, type_)
    if type_ in _DATED:
        # PostgreSQL's way to write a year before Christ, which DuckDB would leave out.
        value = f"regexp_replace({text}, '^(\\S+)(.*) BC$', '\\1 (BC)\\2')"
    if type_ == "VARCHAR":
        return _Reading(text, "false")
    return _Reading(
        f"CAST({value} AS {type_})",
        f"{text} IS NOT NULL AND (TRY_CAST({value} AS {type_}) IS NULL{odd})",
        _rounded(text, type_),
    )


def _rounded(text: str, type_: str) -> str:
    """Return when a number in text has digits that its type doesn't give back, as SQL."""
    if type_ not in _DIGITS:
        return "false"
    always, enough = _DIGITS[type_]
    number = f"TRY_CAST({text} AS {type_})"
    digits, shortest, longest = (
        f"trim(translate(regexp_replace({spelled}, '[eE].*', ''), '-+.', ''), '0')"
        for spelled in (text, f"CAST({number} AS VARCHAR)", f"format('{{:.{enough}g}}', {number})")
    )
    return (
        f"length({digits}) > {always} AND isfinite({number})"
        f" AND {digits} NOT IN ({shortest}, {longest})"
    )


def _odd(text: str, type_: str) -> str:
    """Return when a text that can be cast would lose something, as SQL that follows others."""
    if type_ in _WHOLE:
        return f" OR NOT regexp_full_match({text}, '-?[0-9]+')"
    if scale := _DECIMAL.fullmatch(type_):
        digits = f"length(rtrim(split_part({text}, '.', 2), '0'))"
        return f" OR contains(lower({text}), 'e') OR {digits} > {scale[1]}"
    if type_ in ("FLOAT", "DOUBLE"):
        return f" OR (isinf(TRY_CAST({text} AS {type_})) AND NOT regexp_matches({text}, '^-?[iI]'))"
    if type_ == "DATE":
        return (
            f" OR TRY_CAST({text} AS TIMESTAMP) <> TRY_CAST({text} AS DATE)"
            f" OR regexp_matches({text}, {_NOT_AS_SAID})"
        )
    if type_.startswith("TIME"):
        odd = f" OR regexp_matches({text}, {FINER}) OR regexp_matches({text}, {_NOT_AS_SAID})"
        # DuckDB moves the moment by an offset, which servers leave out or move by a session's.
        return odd if "ZONE" in type_ else f"{odd} OR regexp_matches({text}, {_HAS_OFFSET})"
    return ""


def _array(text: str, type_: str) -> _Reading:
    """Read PostgreSQL's way to write an array, of elements that need no quotes."""
    element = type_.removesuffix("[]")
    inside = f"{text}[2:-2]"
    parts = f"CASE WHEN {inside} = '' THEN [] ELSE string_split({inside}, ',') END"
    cast = f"CASE WHEN upper(part) <> 'NULL' THEN TRY_CAST(part AS {element}) END"
    misfit = (
        f"upper(part) <> 'NULL' AND (TRY_CAST(part AS {element}) IS NULL{_odd('part', element)})"
    )
    rounded = f"len(list_filter({parts}, lambda part: {_rounded('part', element)})) > 0"
    return _Reading(
        f"list_transform({parts}, lambda part: {cast})",
        f"{text} IS NOT NULL AND (NOT starts_with({text}, '{{') OR contains({text}, '\\')"
        f" OR regexp_matches({text}[2:-2], '[{{}}\"]')"
        f" OR len(list_filter({parts}, lambda part: {misfit})) > 0)",
        rounded if element in _DIGITS else "false",
    )


def _settled(connection: duckdb.DuckDBPyConnection, relation: str, column: Column) -> Column:
    """Return a column of exact numbers with the type that holds them all, which it's given."""
    settled = settle_decimal(connection, relation, quote(column.alias), None)
    connection.execute(f"ALTER TABLE {relation} ALTER {quote(column.alias)} TYPE {settled.type}")
    notes = (*column.notes, *filter(None, (settled.note,)))
    return replace(column, type=settled.type, notes=notes)


_NOT_AS_SAID = "'^([0-9]{1,3}|0000)-|(^| )24:|^[a-hj-zA-HJ-Z]'"
"""What DuckDB reads as another moment than a server: a year of two digits, the year 0, 24:00 and
words such as epoch; infinity is the same for both."""
_HAS_OFFSET = "':[0-9.]+ ?([-+AC-Zac-z]|[Bb][^Cc])'"
"""An offset or a zone behind the time, other than the years before Christ."""
_IS_HEX = "regexp_full_match({}, '\\\\x([0-9A-Fa-f]{{2}})*')"
