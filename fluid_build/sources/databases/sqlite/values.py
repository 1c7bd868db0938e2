"""Reading one SQLite table into DuckDB without losing or bending a value.

There are two ways. The fast one lets the scanner read by declared type; it is taken only where it
is proven to be lossless (the scanner cuts the time off a DATE and rounds large numbers in
silence). The exact one carries each value over together with its storage class, and then gives
every column the narrowest type that all its values fit.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import duckdb

from fluid_build.sources.databases.sqlite.catalog import CatalogColumn, CatalogTable
from fluid_build.sources.databases.sqlite.types import Meaning, Target, target
from fluid_build.sources.engine.connection import SCRATCH
from fluid_build.sources.origin import NativeQuery
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.moment_texts import DATES_AND_MOMENTS, MomentClass, settle_text
from fluid_build.text import counted

_EXACT_IN_DOUBLE = 2**53
_PER_QUERY = 200
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Reading:
    """The type a column was read as, and a sentence where that is not what was declared."""

    type: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Classes:
    """How many values of a column have each of SQLite's storage classes."""

    integers: int
    reals: int
    texts: int
    blobs: int
    huge_integers: int

    @property
    def total(self) -> int:
        """All values that are not null."""
        return self.integers + self.reals + self.texts + self.blobs


def read_fast(
    connection: duckdb.DuckDBPyConnection,
    reader: sqlite3.Connection,
    table: CatalogTable,
    relation: str,
    *,
    doubts: Mapping[Meaning, str],
) -> list[Reading] | None:
    """Stage by declared types; None where only the exact way is safe.

    ``doubts`` is WOULD_BEND, or the longer WOULD_FAIL. Raises one of DUCKDB_ERRORS where the
    scanner meets a value that it refuses.
    """
    targets = [target(column.declared_type) for column in table.columns]
    if any(
        column.generated or aim.meaning == "time" or not column.declared_type
        for column, aim in zip(table.columns, targets, strict=True)
    ):
        return None
    if _any_doubt(reader, table, targets, doubts):
        return None
    connection.execute(f"CREATE TABLE {relation} AS SELECT * FROM origin.main.{quote(table.name)}")
    readings = _narrow_numbers(connection, relation, table.columns, targets)
    if readings is None:
        connection.execute(f"DROP TABLE {relation}")
    return readings


def _any_doubt(
    reader: sqlite3.Connection,
    table: CatalogTable,
    targets: Sequence[Target],
    doubts: Mapping[Meaning, str],
) -> bool:
    conditions = [
        doubts[aim.meaning].replace("{c}", quote(column.name))
        for column, aim in zip(table.columns, targets, strict=True)
        if aim.meaning in doubts
    ]
    return any(
        reader.execute(
            f"SELECT 1 FROM {quote(table.name)} WHERE {' OR '.join(some)} LIMIT 1"
        ).fetchone()
        for some in _batches(conditions)
    )


_DAY = f"{'[0-9]' * 4}-{'[0-9]' * 2}-{'[0-9]' * 2}"
_CLOCK = f"{'[0-9]' * 2}:{'[0-9]' * 2}:{'[0-9]' * 2}"

WOULD_BEND: Mapping[Meaning, str] = {
    "date": f"({{c}} IS NOT NULL AND (typeof({{c}}) <> 'text' OR {{c}} NOT GLOB '{_DAY}'"
    " OR substr({c}, 1, 4) = '0000'))",
    "timestamp": f"({{c}} IS NOT NULL AND (typeof({{c}}) <> 'text' OR substr({{c}}, 1, 4) = '0000'"
    f" OR {{c}} NOT GLOB '{_DAY} {_CLOCK}*' OR substr({{c}}, 12, 2) > '23'"
    # As DuckDB and Python spell them: others may be equal to one of these, and become it.
    " OR NOT (length({c}) = 19 OR (length({c}) = 26 AND substr({c}, 20, 1) = '.'"
    " AND substr({c}, 21) NOT GLOB '*[^0-9]*' AND substr({c}, 21) <> '000000'))))",
    "blob": "typeof({c}) NOT IN ('blob', 'null')",
}
"""Values that the scanner would accept and bend, by what the column is meant to hold."""

WOULD_FAIL: Mapping[Meaning, str] = {
    "integer": "typeof({c}) NOT IN ('integer', 'null')",
    "boolean": "typeof({c}) NOT IN ('integer', 'null')",
    "real": "typeof({c}) NOT IN ('real', 'integer', 'null')",
    "number": "typeof({c}) NOT IN ('real', 'integer', 'null')",
    "decimal": "typeof({c}) NOT IN ('real', 'integer', 'null')",
    "any": "typeof({c}) NOT IN ('text', 'null')",
    "blob": WOULD_BEND["blob"],
    "date": f"({WOULD_BEND['date']} OR ({{c}} IS NOT NULL AND date({{c}}) IS NULL))",
    "timestamp": f"({WOULD_BEND['timestamp']} OR ({{c}} IS NOT NULL AND date({{c}}) IS NULL))",
}
"""Values that it would bend or refuse, as far as SQLite can tell."""


def _narrow_numbers(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[CatalogColumn],
    targets: Sequence[Target],
) -> list[Reading] | None:
    """Turn the DOUBLEs and BIGINTs of a fast read into what was declared, where all values fit."""
    readings = [Reading(aim.type) for aim in targets]
    at = [i for i, aim in enumerate(targets) if aim.meaning in ("decimal", "number", "boolean")]
    for some in _batches(at):
        checks = ", ".join(_fits_sql(columns[i].name, targets[i]) for i in some)
        row = connection.execute(f"SELECT {checks} FROM {relation}").fetchone() or ()
        for position, i in enumerate(some):
            misfits, huge, whole, values = row[4 * position : 4 * position + 4]
            if huge:
                return None
            readings[i] = _number_reading(columns[i], targets[i], misfits, bool(whole), values)
    for column, reading, aim in zip(columns, readings, targets, strict=True):
        if aim.meaning in ("decimal", "number", "boolean") and reading.type != "DOUBLE":
            connection.execute(
                f"ALTER TABLE {relation} ALTER {quote(column.name)} TYPE {reading.type}"
            )
    return readings


def _fits_sql(name: str, aim: Target) -> str:
    column = quote(name)
    values = f"count({column})"
    if aim.meaning == "boolean":
        return f"count(*) FILTER ({column} NOT IN (0, 1)), 0, true, {values}"
    huge = f"count(*) FILTER (abs({column}) >= {_EXACT_IN_DOUBLE})"
    whole = f"coalesce(bool_and({column} = trunc({column})), false)"
    if aim.meaning == "number":
        return f"0, {huge}, {whole}, {values}"
    back = f"CAST(TRY_CAST({column} AS {aim.type}) AS DOUBLE)"
    return f"count(*) FILTER ({column} IS DISTINCT FROM {back}), {huge}, {whole}, {values}"


def _number_reading(
    column: CatalogColumn, aim: Target, misfits: int, whole: bool, values: int
) -> Reading:
    if aim.meaning == "number":
        return Reading("BIGINT" if whole and values else "DOUBLE")
    if not misfits:
        return Reading(aim.type)
    if aim.meaning == "boolean":
        return Reading("BIGINT", _note(column, f"{misfits:,} of {values:,} values aren't 0 or 1"))
    fact = f"{misfits:,} of {values:,} values don't fit that precision"
    return Reading("BIGINT" if whole else "DOUBLE", _note(column, fact))


def _note(column: CatalogColumn, fact: str) -> str:
    return f"Declared {column.declared_type or 'without a type'}, but {fact}."


def read_exactly(
    connection: duckdb.DuckDBPyConnection, table: CatalogTable, relation: str, *, utf8: bool
) -> list[Reading]:
    """Stage each value with its storage class first, then settle a type for each column."""
    raw = f"{SCRATCH}.carried"
    query = _carrying(table, utf8=utf8)
    connection.execute(f"CREATE TABLE {raw} AS SELECT * FROM sqlite_query('origin', ?)", [query])
    try:
        readings = [
            _settle(connection, raw, f"c{i}", table.columns[i], classes, utf8=utf8)
            for i, classes in enumerate(_count_classes(connection, raw, len(table.columns)))
        ]
        values = exact_query(table, readings, utf8=utf8).columns
        chosen = ", ".join(f"{value} AS {quote(name)}" for name, value in values)
        connection.execute(f"CREATE TABLE {relation} AS SELECT {chosen} FROM {raw}")
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {raw}")
    return readings


def exact_query(table: CatalogTable, readings: Sequence[Reading], *, utf8: bool) -> NativeQuery:
    """Return the query of ``read_exactly``, with the expressions that type its result."""
    columns = tuple(
        (column.name, _as_type(f"c{i}", reading.type, utf8=utf8))
        for i, (column, reading) in enumerate(zip(table.columns, readings, strict=True))
    )
    return NativeQuery(_carrying(table, utf8=utf8), columns)


def _carrying(table: CatalogTable, *, utf8: bool) -> str:
    carried = ", ".join(
        f"{_carry(column.name, utf8=utf8)} AS c{i}" for i, column in enumerate(table.columns)
    )
    return f"SELECT {carried} FROM {quote(table.name)}"


def _carry(name: str, *, utf8: bool) -> str:
    column = quote(name)
    # hex() shows the bytes in the database's own encoding, which DuckDB decodes only from UTF-8.
    text = f"hex({column})" if utf8 else column
    return (
        f"CASE typeof({column}) WHEN 'integer' THEN 'i' || {column}"
        f" WHEN 'real' THEN 'r' || printf('%!.17g', {column})"
        f" WHEN 'text' THEN 't' || {text} WHEN 'blob' THEN 'b' || hex({column}) END"
    )


def _count_classes(
    connection: duckdb.DuckDBPyConnection, raw: str, columns: int
) -> Iterable[Classes]:
    for some in _batches(range(columns)):
        counts = ", ".join(
            ", ".join(f"count(*) FILTER (c{i}[1] = '{kind}')" for kind in "irtb")
            + f", count(*) FILTER (c{i}[1] = 'i'"
            f" AND abs(CAST({_body(i)} AS HUGEINT)) >= {_EXACT_IN_DOUBLE})"
            for i in some
        )
        row = connection.execute(f"SELECT {counts} FROM {raw}").fetchone() or ()
        for position in range(len(some)):
            yield Classes(*row[5 * position : 5 * position + 5])


def _body(i: int) -> str:
    return f"CASE c{i}[1] WHEN 'i' THEN c{i}[2:] END"


def _settle(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    cell: str,
    column: CatalogColumn,
    classes: Classes,
    *,
    utf8: bool,
) -> Reading:
    aim = target(column.declared_type)
    if classes.total == 0:
        return Reading(aim.type)
    if aim.meaning in _MOMENTS and classes.texts == classes.total:
        return _settle_moments(connection, raw, cell, column, classes, utf8=utf8)
    for candidate in _candidates(aim, classes):
        misfits = _misfits(connection, raw, cell, candidate)
        if misfits == 0:
            return Reading(candidate, _class_note(column, aim, candidate, classes))
    broken = _broken_texts(connection, raw, cell) if utf8 and classes.texts else 0
    note = _class_note(column, aim, "VARCHAR", classes)
    if broken:
        verb = "isn't" if broken == 1 else "aren't"
        fact = (
            f"{broken:,} of its text values {verb} valid UTF-8; the invalid bytes are shown as"
            " \\xNN."
        )
        note = f"{note} {fact[0].upper()}{fact[1:]}".strip()
    return Reading("VARCHAR", note)


def _candidates(aim: Target, classes: Classes) -> list[str]:
    """Types to try, narrowest first; VARCHAR takes what none of them does."""
    if classes.blobs:
        return ["BLOB"] if classes.blobs == classes.total else []
    if classes.texts:
        return []
    numbers = ["BIGINT"] if classes.reals == 0 else ([] if classes.huge_integers else ["DOUBLE"])
    if aim.meaning in ("boolean", "decimal"):
        return [aim.type, *numbers]
    return ["DOUBLE", *numbers] if aim.meaning == "real" and not classes.huge_integers else numbers


def _misfits(connection: duckdb.DuckDBPyConnection, raw: str, cell: str, type_: str) -> int:
    """Say how many values would not survive the way into the type unchanged."""
    tests = {
        "BOOLEAN": f"{cell} NOT IN ('i0', 'i1')",
        "BIGINT": "false",
        "DOUBLE": "false",
        "BLOB": "false",
    }
    test = tests.get(type_)
    if test is None:
        decimal = f"TRY_CAST({cell}[2:] AS {type_})"
        test = f"CAST({decimal} AS DOUBLE) IS DISTINCT FROM CAST({cell}[2:] AS DOUBLE)"
    return _count(connection, raw, cell, test)


def _count(connection: duckdb.DuckDBPyConnection, raw: str, cell: str, test: str) -> int:
    row = connection.execute(
        f"SELECT count(*) FILTER ({test}) FROM {raw} WHERE {cell} IS NOT NULL"
    ).fetchone()
    return int(row[0]) if row else 0


_MOMENTS: Mapping[Meaning, tuple[MomentClass, ...]] = {
    "date": DATES_AND_MOMENTS,
    "timestamp": DATES_AND_MOMENTS,
    "time": ("time",),
}
"""The classes that text may be of where a column is declared for dates or times."""


def _settle_moments(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    cell: str,
    column: CatalogColumn,
    classes: Classes,
    *,
    utf8: bool,
) -> Reading:
    """Settle the type of a column of dates or times in text; what doesn't come back stays text."""
    aim = target(column.declared_type)
    text = _as_text(cell, utf8=utf8)
    settled = settle_text(connection, f"SELECT {text} AS v FROM {raw}", _MOMENTS[aim.meaning])
    type_ = settled.type
    is_midnight = f"regexp_full_match({text}, '.{{10}}([ T]00:00(:00([.]0+)?)?)?')"
    if aim.meaning == "date" and type_ == "TIMESTAMP":
        all_midnight = not _count(connection, raw, cell, f"NOT {is_midnight}")
        type_ = "DATE" if all_midnight and not settled.note else type_
    elif aim.meaning == "timestamp" and type_ == "DATE":
        type_ = "TIMESTAMP"
    note = " ".join(filter(None, (_class_note(column, aim, type_, classes), settled.note)))
    return Reading(type_, note)


def _broken_texts(connection: duckdb.DuckDBPyConnection, raw: str, cell: str) -> int:
    row = connection.execute(
        f"SELECT count(*) FROM {raw}"
        f" WHERE {cell}[1] = 't' AND TRY(decode(unhex({cell}[2:]))) IS NULL"
    ).fetchone()
    return int(row[0]) if row else 0


def _as_text(cell: str, *, utf8: bool) -> str:
    body = f"{cell}[2:]"
    text = f"coalesce(TRY(decode(unhex({body}))), CAST(unhex({body}) AS VARCHAR))"
    return (
        f"CASE {cell}[1] WHEN 'i' THEN {body} WHEN 'r' THEN CAST(CAST({body} AS DOUBLE) AS VARCHAR)"
        f" WHEN 't' THEN {text if utf8 else body} WHEN 'b' THEN CAST(unhex({body}) AS VARCHAR) END"
    )


def _as_type(cell: str, type_: str, *, utf8: bool) -> str:
    if type_ == "BLOB":
        return f"unhex({cell}[2:])"
    if type_ in ("VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME"):
        return f"CAST({_as_text(cell, utf8=utf8)} AS {type_})"
    if type_ == "BOOLEAN":
        return f"{cell} = 'i1'"
    return f"CAST({cell}[2:] AS {type_})"


_READS_AS: dict[str, tuple[str, ...]] = {
    "integer": ("BIGINT",),
    "text": ("VARCHAR",),
    "blob": ("BLOB",),
    "real": ("DOUBLE",),
    "number": ("BIGINT", "DOUBLE"),
    "boolean": ("BOOLEAN",),
    "date": ("DATE",),
    "timestamp": ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
    "time": ("TIME",),
}


def _class_note(column: CatalogColumn, aim: Target, type_: str, classes: Classes) -> str:
    """Return a sentence where the values are not what the declaration promises."""
    numbers = {
        "whole number": classes.integers,
        "fractional number": classes.reals,
        "text value": classes.texts,
        "blob": classes.blobs,
    }
    present = [counted(number, kind) for kind, number in numbers.items() if number]
    as_promised = type_ in _READS_AS.get(aim.meaning, (aim.type,))
    if aim.meaning == "any":
        as_promised = len(present) == 1 or not (classes.texts or classes.blobs)
    if as_promised and (len(present) == 1 or type_ != "VARCHAR"):
        return ""
    return _note(column, f"it holds {' and '.join(present)}; read as {type_}")


def _batches(items: Sequence[_T]) -> Iterable[Sequence[_T]]:
    for start in range(0, len(items), _PER_QUERY):
        yield items[start : start + _PER_QUERY]
