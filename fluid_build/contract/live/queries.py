"""SQL that measures a check: made of the rule's structure, never of SQL that a contract holds.

Aggregates of one table go into one SELECT; each gives a single figure. Queries stand for
themselves and give one row.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from fluid_build.contract.column_types import ValueType
from fluid_build.modeling.types import is_number
from fluid_build.sources.base import Column, Table
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.conventions import DECIMAL_MARKS, with_decimal_point

_INTEGERS = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
_PLAIN = {
    "boolean": "BOOLEAN",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "uuid": "UUID",
    "interval": "INTERVAL",
}
_NUMBERS = frozenset({"integer", "decimal", "float"})
_WIDEST_DECIMAL = 38


def null_rows(columns: Sequence[Column]) -> str:
    """Return SQL that counts the rows with a null in any of the columns."""
    condition = " OR ".join(f"{quote(column.alias)} IS NULL" for column in columns)
    return f"count(*) FILTER (WHERE {condition})"


def filled_rows(columns: Sequence[Column]) -> str:
    """Return SQL that counts the rows with a value in all of the columns."""
    return f"count(*) FILTER (WHERE {_filled(columns)})"


def other_values(column: Column, values: Sequence[str]) -> str:
    """Return SQL that counts the rows whose value isn't accepted, however it's spelled."""
    name = quote(column.alias)
    listed = ", ".join(literal(value) for value in values)
    same = f"CAST({name} AS VARCHAR) IN ({listed})"
    if _is_plain_type(column.type):
        meant = ", ".join(f"TRY_CAST({literal(value)} AS {column.type})" for value in values)
        same += f" OR coalesce({name} IN ({meant}), FALSE)"
    return f"count(*) FILTER (WHERE {name} IS NOT NULL AND NOT ({same}))"


def longest(column: Column) -> str:
    """Return SQL for the length of the longest text; null where there is none."""
    return f"max(length(CAST({quote(column.alias)} AS VARCHAR)))"


def misfits(column: Column, live: ValueType, promised: ValueType, text_format: str) -> str | None:
    """Return SQL that counts values that don't fit a type; None where that can't be counted.

    A text is taken for what it spells, also by ``text_format``: strptime's letters for a date, or
    the mark of its decimals. A whole number such as 20231225 may be a date too.
    """
    target = _duckdb_type(promised)
    if target is None:
        return None
    name = quote(column.alias)
    if live.kind == "text":
        read = f"TRY_CAST(trim({name}) AS {target})"
        if text_format in DECIMAL_MARKS:
            number = with_decimal_point(f"trim({name})", DECIMAL_MARKS[text_format])
            read = f"TRY_CAST({number} AS {target})"
        elif text_format and promised.kind in ("date", "timestamp"):
            read = f"coalesce({read}, try_strptime(trim({name}), {literal(text_format)}))"
        return f"count(*) FILTER (WHERE {name} IS NOT NULL AND {read} IS NULL)"
    if text_format.startswith("%") and live.kind in _NUMBERS and promised.kind == "date":
        read = f"try_strptime(CAST({name} AS VARCHAR), {literal(text_format)})"
        return f"count(*) FILTER (WHERE {name} IS NOT NULL AND {read} IS NULL)"
    comparable = live.kind in _NUMBERS and promised.kind in _NUMBERS
    if not comparable and (live.kind, promised.kind) != ("timestamp", "date"):
        return None
    cast = f"TRY_CAST({name} AS {target})"
    # Rounding may lead out of the live type, which is a difference as well.
    again = f"TRY_CAST({cast} AS {column.type})"
    return f"count(*) FILTER (WHERE {name} IS NOT NULL AND {again} IS DISTINCT FROM {name})"


def newest(column: Column, now: datetime) -> str:
    """Return SQL for the latest time, at most a day after ``now``; both in UTC, without a zone.

    Values without a zone may be ahead by some hours; those far ahead mean "never".
    """
    moment = f"TRY_CAST({quote(column.alias)} AS TIMESTAMP)"
    bound = f"TIMESTAMP {literal((now + timedelta(days=1)).isoformat(' '))}"
    return f"max({moment}) FILTER (WHERE isfinite({moment}) AND {moment} <= {bound})"


def repeats(table: Table, key: Sequence[Column]) -> str:
    """Return SQL for the rows with a whole key, and those beyond the first of each key."""
    names = ", ".join(quote(column.alias) for column in key)
    return (
        "SELECT coalesce(sum(n), 0), coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n"
        f" FROM {table.relation} WHERE {_filled(key)} GROUP BY {names})"
    )


def orphans(
    child: Table, columns: Sequence[Column], parent: Table, parent_columns: Sequence[Column]
) -> str:
    """Return SQL for the rows of a child with a reference, and those whose parent is missing."""
    ours: list[str] = []
    theirs: list[str] = []
    for column, other in zip(columns, parent_columns, strict=True):
        as_text = not _is_comparable(column.type, other.type)
        for side, names in ((column, ours), (other, theirs)):
            name = quote(side.alias)
            names.append(f"CAST({name} AS VARCHAR)" if as_text else name)
    keys = [f"v{index}" for index in range(len(ours))]
    matches = " AND ".join(f"parent.{key} = child.{key}" for key in keys)
    return (
        f"WITH child AS (SELECT {_aliased(ours, keys)}, count(*) AS n FROM {child.relation}"
        f" WHERE {_filled(columns)} GROUP BY ALL),"
        f" parent AS (SELECT DISTINCT {_aliased(theirs, keys)} FROM {parent.relation}"
        f" WHERE {_filled(parent_columns)})"
        " SELECT (SELECT coalesce(sum(n), 0) FROM child), (SELECT coalesce(sum(n), 0)"
        f" FROM child ANTI JOIN parent ON {matches})"
    )


def _aliased(expressions: Sequence[str], names: Sequence[str]) -> str:
    return ", ".join(f"{sql} AS {name}" for sql, name in zip(expressions, names, strict=True))


def _filled(columns: Sequence[Column]) -> str:
    return " AND ".join(f"{quote(column.alias)} IS NOT NULL" for column in columns)


def _is_comparable(type_: str, other_type: str) -> bool:
    return type_ == other_type or (is_number(type_) and is_number(other_type))


def _is_plain_type(type_: str) -> bool:
    """Return whether a literal can be read as that type by naming it in SQL."""
    return is_number(type_) or type_ in ("BOOLEAN", "DATE", "TIMESTAMP", "UUID")


def _duckdb_type(promised: ValueType) -> str | None:
    if promised.kind == "integer":
        return _INTEGERS[promised.bits or 64]
    if promised.kind == "float":
        return "FLOAT" if promised.bits == 32 else "DOUBLE"
    if promised.kind == "decimal":
        if promised.precision is None:
            return "DOUBLE"
        bounded = 0 < promised.precision <= _WIDEST_DECIMAL
        fits = bounded and (promised.scale or 0) <= promised.precision
        return f"DECIMAL({promised.precision},{promised.scale or 0})" if fits else None
    return _PLAIN.get(promised.kind)
