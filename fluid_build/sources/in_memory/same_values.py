"""Whether the engine holds the values that Python has: a look back that knows no conversion.

Rules for types can't foresee each way in which a library hands over values, so some rows are
fetched again and compared as Python's own values.
"""

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb

from fluid_build.sources.in_memory.prepared import PreparedColumn
from fluid_build.sources.in_memory.scalar_types import is_missing
from fluid_build.sources.sql import quote

_ROWS = 500
"""Rows that are looked at, evenly spread: they take some hundredths of a second."""
_DAYS_OF_A_MONTH = 30
"""Days that DuckDB takes for a month where it returns an interval as a duration of Python."""
_NOT_IN_PYTHON = (OverflowError, ValueError)
"""What libraries raise for a value that no type of Python holds, such as a year after 9999."""


def check_values(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[tuple[PreparedColumn, str]],
) -> None:
    """Raise ValueError for a column in which a staged value isn't the one that was handed over.

    Each column comes with its name in the relation. Those that are converted with a note, and those
    whose values Python can't have, are left to the rules for their types.
    """
    ((count,),) = connection.execute(f"SELECT count(*) FROM {relation}").fetchall()
    rows = sorted({count * i // _ROWS for i in range(_ROWS)} | {count - 1}) if count else []
    checked = [(column, alias) for column, alias in columns if column.values is not None]
    if not rows or not checked:
        return
    selected = ", ".join(quote(alias) for _, alias in checked)
    listed = ", ".join(map(str, rows))
    staged = connection.execute(
        f"SELECT {selected} FROM {relation} WHERE rowid IN ({listed}) ORDER BY rowid"
    ).fetchall()
    for position, (column, _) in enumerate(checked):
        assert column.values is not None
        try:
            values = column.values(rows)
            is_same = all(map(same, values, (row[position] for row in staged)))
        except _NOT_IN_PYTHON:
            continue
        if not is_same:
            raise ValueError(f"Its column {column.name} isn't read with the values that it has.")


def same(value: Any, staged: Any) -> bool:
    """Return whether a value of Python is the one that DuckDB returns for it."""
    if is_missing(value) or staged is None:
        return is_missing(value) and staged is None
    if hasattr(value, "dtype") and not value.shape:
        value = value.item()
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if isinstance(value, bool) != isinstance(staged, bool):
        return False
    if isinstance(value, float) and math.isnan(value):
        return isinstance(staged, float) and math.isnan(staged)
    if hasattr(value, "months"):
        days = timedelta(days=value.months * _DAYS_OF_A_MONTH + value.days)
        return bool(days + timedelta(microseconds=value.nanoseconds // 1000) == staged)
    if isinstance(value, dict):
        return _same_fields(value, json.loads(staged) if isinstance(staged, str) else staged)
    if isinstance(value, list | tuple) or hasattr(value, "tolist"):
        return _same_items([*value], json.loads(staged) if isinstance(staged, str) else staged)
    if _is_moment(value) and _is_moment(staged):
        # An hour that clocks show twice equals none of another time zone in Python.
        return bool(value.astimezone(UTC) == staged.astimezone(UTC))
    return bool(value == staged)


def _is_moment(value: Any) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None


def _same_fields(value: dict[Any, Any], staged: Any) -> bool:
    """Return whether a dict is the same; a struct has null for a field that a dict hasn't."""
    if not isinstance(staged, dict) or not value.keys() <= staged.keys():
        return False
    return all(same(value.get(key), each) for key, each in staged.items())


def _same_items(items: list[Any], staged: Any) -> bool:
    if isinstance(staged, dict):  # Arrow's maps are lists of pairs.
        return _same_fields(dict(items), staged)
    return (
        isinstance(staged, list | tuple)
        and len(items) == len(staged)
        and all(map(same, items, staged))
    )
