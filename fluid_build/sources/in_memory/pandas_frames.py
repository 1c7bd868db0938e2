"""pandas data frames: index, names and dtypes that DuckDB doesn't read by itself."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeGuard

import duckdb

from fluid_build.sources.in_memory.arrow_tables import prepare_arrow
from fluid_build.sources.in_memory.prepared import PreparedColumn, PreparedTable, distinct_names
from fluid_build.sources.in_memory.python_values import check_texts, text_column
from fluid_build.sources.in_memory.scalar_types import LARGEST_EXACT
from fluid_build.sources.sql import quote
from fluid_build.sources.text_values.nanoseconds import IN_UTC, whole_durations

_READABLE_KINDS = frozenset("biufMm")
"""NumPy's letters of boolean, whole, unsigned, floating, datetime and timedelta."""
_WIDEST_FLOAT = 8
"""Bytes of a float64; NumPy's longer floats have more digits than a DOUBLE."""
_MONTH_OF_DAYS = 30
"""Days that DuckDB takes for a month in a column of durations."""
_WHOLE_AGAIN = (
    "Its values are whole numbers, which pandas keeps as float64 because some are missing; read as"
    " whole numbers."
)
_REGISTERED = "frame_to_prepare"


@dataclass(frozen=True, slots=True)
class _Readable:
    """A column that DuckDB can read, SQL over it where its values take some, and a note or ""."""

    values: Any
    expression: str = ""
    note: str = ""


def is_pandas_frame(table: object) -> TypeGuard[Any]:
    """Return whether an object is a pandas data frame; pandas isn't imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def prepare_pandas(connection: duckdb.DuckDBPyConnection, frame: Any) -> PreparedTable:
    """Return a frame whose columns DuckDB reads with the values that they have.

    A named index is data, so it's read as columns. Columns of Arrow's types are read as an Arrow
    table. The frame itself isn't changed.
    """
    frame = _with_named_index(frame)
    names, notes = distinct_names([_label(label) for label in frame.columns])
    frame = frame.set_axis([f"c{position}" for position in range(len(names))], axis=1)
    labels = dict(zip(frame.columns, names, strict=True))
    arrow = [column for column in frame.columns if hasattr(frame[column].dtype, "pyarrow_dtype")]
    scannables: list[object] = []
    columns: dict[str, PreparedColumn] = {}
    if arrow:
        prepared = prepare_arrow(
            connection, _arrow_table(frame[arrow]), [labels[column] for column in arrow]
        )
        scannables += prepared.scannables
        columns |= dict(zip(arrow, prepared.columns, strict=True))
    plain = {
        column: _readable_column(labels[column], _dense_column(frame[column]))
        for column in frame.columns
        if column not in columns
    }
    if plain:
        readable = frame[[*plain]].assign(**{column: each.values for column, each in plain.items()})
        scannables.append(readable)
        columns |= _prepared_columns(connection, readable, plain, frame, labels)
    ordered = tuple(columns[column] for column in frame.columns)
    return PreparedTable(tuple(scannables), ordered, notes)


def _with_named_index(frame: Any) -> Any:
    if all(name is None for name in frame.index.names):
        return frame
    levels = frame.index.to_frame(index=False)
    unnamed = [position for position, name in enumerate(frame.index.names) if name is None]
    levels = levels.drop(columns=levels.columns[unnamed])
    pandas = sys.modules["pandas"]
    return pandas.concat([levels, frame.reset_index(drop=True)], axis=1)


def _label(label: object) -> str:
    """Return a column's label as a name: levels of a MultiIndex are joined with a dot."""
    if isinstance(label, tuple):
        return ".".join(filter(None, map(_label, label)))
    return "" if label is None or label != label else str(label)


def _arrow_table(frame: Any) -> Any:
    """Return columns of Arrow's types as a table of Arrow."""
    import pyarrow

    columns = {column: frame[column].array.__arrow_array__() for column in frame.columns}
    return pyarrow.table(columns)


def _dense_column(values: Any) -> Any:
    return values.sparse.to_dense() if hasattr(values.dtype, "fill_value") else values


def _readable_column(name: str, values: Any) -> _Readable:
    """Return a column as DuckDB can read it."""
    dtype = values.dtype
    if str(dtype) == "category" and _is_text(dtype.categories.dtype):
        return _Readable(values, f"CAST({quote(values.name)} AS VARCHAR)")
    kind = getattr(getattr(dtype, "numpy_dtype", dtype), "kind", "")
    is_wide_float = kind == "f" and dtype.itemsize > _WIDEST_FLOAT
    if str(dtype) in ("category", "object") or is_wide_float:
        return _as_text(name, values)
    if hasattr(dtype, "tz") and values.dt.nanosecond.any():
        return _Readable(values.dt.tz_convert("UTC").dt.tz_localize(None), note=IN_UTC)
    if kind == "m" and values.dt.nanoseconds.mod(1000).any():
        nanoseconds = values.astype("int64").astype(object).where(values.notna(), None)
        return replace(_as_text(name, nanoseconds), note=whole_durations("nanoseconds"))
    if kind == "m" and (values.dt.days.abs() >= _MONTH_OF_DAYS).any():
        return _as_text(name, values)
    if _is_text(dtype):
        if dtype.storage == "python":
            check_texts(name, values.dropna())
        return _Readable(values)
    if kind in _READABLE_KINDS or hasattr(dtype, "tz"):
        return _Readable(values)
    text = values.astype(object).map(str, na_action="ignore")
    note = f"Its pandas type {dtype} has no counterpart in SQL, so it's read as text."
    return _Readable(text, note=note)


def _as_text(name: str, values: Any) -> _Readable:
    """Return a column of Python objects as their texts."""
    objects = values.astype(object)
    column = text_column(name, objects.where(objects.notna(), None).tolist())
    texts = type(values)(column.texts, index=values.index, name=values.name, dtype=object)
    return _Readable(texts, column.expression(values.name), " ".join(column.notes))


def _is_text(dtype: Any) -> bool:
    return str(dtype) in ("str", "string") or str(dtype).startswith("string[")


def _prepared_columns(
    connection: duckdb.DuckDBPyConnection,
    readable: Any,
    plain: Mapping[str, _Readable],
    frame: Any,
    labels: Mapping[str, str],
) -> dict[str, PreparedColumn]:
    """Return columns as they are read, floats that are whole numbers by all of their values."""
    columns = {}
    connection.register(_REGISTERED, readable)
    try:
        for column, each in plain.items():
            expression, note = each.expression or quote(column), each.note
            values = None if note else partial(_python_values, frame[column])
            if getattr(each.values.dtype, "kind", "") == "f" and _holds_whole_numbers(
                connection, column
            ):
                expression, note = f"CAST({quote(column)} AS BIGINT)", _WHOLE_AGAIN
            notes = (note,) if note else ()
            columns[column] = PreparedColumn(labels[column], expression, notes, values)
    finally:
        connection.unregister(_REGISTERED)
    return columns


def _python_values(values: Any, rows: Sequence[int]) -> list[object]:
    objects = values.iloc[rows].astype(object)
    return list(objects.where(objects.notna(), None))


def _holds_whole_numbers(connection: duckdb.DuckDBPyConnection, column: str) -> bool:
    """Return whether a column of floats has missing values, and only whole numbers besides."""
    name = quote(column)
    is_exact = f"abs({name}) <= {LARGEST_EXACT} AND {name} = trunc({name})"
    query = (
        f"SELECT count({name}) BETWEEN 1 AND count(*) - 1 AND coalesce(bool_and({is_exact}), false)"
        f" FROM {_REGISTERED}"
    )
    return bool(connection.execute(query).fetchall()[0][0])
