"""Arrow tables and polars data frames, scanned through Arrow's C stream."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb
from duckdb.sqltypes import DuckDBPyType

from fluid_build.sources.in_memory.engine_types import json_note
from fluid_build.sources.in_memory.exact_types import with_exact_types
from fluid_build.sources.in_memory.prepared import (
    PreparedColumn,
    PreparedTable,
    Stream,
    distinct_names,
)
from fluid_build.sources.in_memory.python_values import TextColumn, text_column
from fluid_build.sources.sql import quote

_REGISTERED = "stream_to_prepare"


def is_arrow_table(table: object) -> bool:
    """Return whether an object has rows and columns in Arrow's terms."""
    if _is_lazy(table):
        return True
    return hasattr(table, "__arrow_c_stream__") and (
        hasattr(table, "schema") or hasattr(table, "columns")
    )


def prepare_arrow(
    connection: duckdb.DuckDBPyConnection, table: Any, labels: Sequence[str] | None = None
) -> PreparedTable:
    """Return an object as a stream; a lazy one is collected first.

    ``labels`` are the names of the columns for the user, where the table has others.
    """
    if _is_lazy(table):
        table = table.collect()
    names = _names(table)
    distinct, notes = distinct_names(names)
    if len(set(names)) < len(names):
        table = table.rename_columns(distinct)
    labels = labels or distinct
    given = table
    table, objects = _with_texts(table, labels)
    table, remarks = with_exact_types(table, labels)
    stream = Stream(table)
    columns = []
    for i, (label, (name, type_)) in enumerate(
        zip(labels, _described(connection, stream), strict=True)
    ):
        expression, note = quote(name), json_note(label, type_)
        if i in objects:
            expression = objects[i].expression(name)
        elif type_.id == "enum":  # A dictionary, which is read as its values.
            expression = f"CAST({expression} AS VARCHAR)"
        elif note:
            expression = f"CAST({expression} AS JSON)"
        remark = (*remarks.get(i, ()), *((note,) if note else ()))
        remark = objects[i].notes if i in objects else remark
        values = None if remark else _values(given, i)
        columns.append(PreparedColumn(label, expression, remark, values))
    return PreparedTable((stream,), tuple(columns), notes)


def _is_lazy(table: object) -> bool:
    return type(table).__name__ == "LazyFrame" and hasattr(table, "collect")


def _names(table: Any) -> list[str]:
    """Return the names of the columns, as pyarrow, polars and readers of batches have them."""
    if hasattr(table, "column_names"):
        return list(table.column_names)
    names = table.columns if hasattr(table, "columns") else table.schema.names
    return [str(name) for name in names]


def _with_texts(table: Any, labels: Sequence[str]) -> tuple[Any, Mapping[int, TextColumn]]:
    """Return a frame of polars with texts for Python's objects, and these by their position."""
    objects: dict[int, TextColumn] = {}
    if not type(table).__module__.startswith("polars."):
        return table, objects
    import polars

    for i, type_ in enumerate(table.schema.dtypes()):
        if type_ == polars.Object:
            series = table.to_series(i)
            objects[i] = text_column(labels[i], series.to_list())
            texts = polars.Series(series.name, objects[i].texts, dtype=polars.String)
            table = table.with_columns(texts)
    return table, objects


def _described(
    connection: duckdb.DuckDBPyConnection, stream: Stream
) -> list[tuple[str, DuckDBPyType]]:
    """Return the columns by the names that DuckDB gives them, with their types."""
    connection.register(_REGISTERED, stream)
    try:
        relation = connection.table(_REGISTERED)
        return list(zip(relation.columns, relation.types, strict=True))
    finally:
        connection.unregister(_REGISTERED)


def _values(table: Any, position: int) -> Callable[[Sequence[int]], list[object]] | None:
    """Return a function for Python's own values of a column; None for what is only a stream."""
    if hasattr(table, "to_series"):
        series = table.to_series(position)
        return lambda rows: list(series.gather(rows).to_list())
    if hasattr(table, "take"):
        column = table.column(position)
        return lambda rows: [column[row].as_py() for row in rows]
    return None
