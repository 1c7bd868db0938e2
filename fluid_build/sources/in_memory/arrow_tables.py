"""Arrow tables, polars data frames and DuckDB relations, scanned through Arrow's C stream."""

from typing import Any

import duckdb

from fluid_build.sources.in_memory.exact_times import with_exact_times
from fluid_build.sources.in_memory.prepared import PreparedColumn, PreparedTable, distinct_names
from fluid_build.sources.sql import quote

_CHANGED_BY_ARROW = frozenset(
    {"UUID", "BIT", "HUGEINT", "UHUGEINT", "TIME WITH TIME ZONE", "JSON", "BIGNUM"}
)
"""Types of DuckDB that come out of Arrow as another type, or as another value."""


class _Stream:
    """The Arrow stream of an object, without the object's other abilities.

    DuckDB scans a stream by itself, and needs pyarrow for an object that it recognizes.
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a new stream of the rows."""
        return self._table.__arrow_c_stream__(requested_schema)


def is_arrow_table(table: object) -> bool:
    """Return whether an object has rows and columns in Arrow's terms."""
    if _is_lazy(table):
        return True
    return hasattr(table, "__arrow_c_stream__") and (
        hasattr(table, "schema") or hasattr(table, "columns")
    )


def prepare_arrow(connection: duckdb.DuckDBPyConnection, table: Any) -> PreparedTable:
    """Return an object as a stream; a lazy one is collected first."""
    if isinstance(table, duckdb.DuckDBPyRelation):
        return _prepare_relation(table)
    if _is_lazy(table):
        table = table.collect()
    names = _names(table)
    chosen_names, notes = distinct_names(names)
    if len(set(names)) < len(names):
        table = table.rename_columns(chosen_names)
    table, remarks = with_exact_times(table)
    stream = _Stream(table)
    columns = tuple(
        PreparedColumn(name, expression, remarks.get(i, ()))
        for i, (name, expression) in enumerate(
            zip(chosen_names, _expressions(connection, stream), strict=True)
        )
    )
    return PreparedTable(stream, columns, notes)


def _is_lazy(table: object) -> bool:
    return type(table).__name__ == "LazyFrame" and hasattr(table, "collect")


def _names(table: Any) -> list[str]:
    """Return the names of the columns, as pyarrow, polars and readers of batches have them."""
    if hasattr(table, "column_names"):
        return list(table.column_names)
    names = table.columns if hasattr(table, "columns") else table.schema.names
    return [str(name) for name in names]


def _expressions(connection: duckdb.DuckDBPyConnection, stream: _Stream) -> list[str]:
    """Return the columns by the names that DuckDB gives them, dictionaries as their values."""
    connection.register(_REGISTERED, stream)
    try:
        described = connection.execute(f"DESCRIBE {_REGISTERED}").fetchall()
    finally:
        connection.unregister(_REGISTERED)
    return [
        f"CAST({quote(name)} AS VARCHAR)" if type_.startswith("ENUM") else quote(name)
        for name, type_, *_ in described
    ]


_REGISTERED = "stream_to_prepare"


def _prepare_relation(relation: duckdb.DuckDBPyRelation) -> PreparedTable:
    """Return a relation, which belongs to another connection, as a stream of its rows.

    The relation runs on its own connection, batch by batch, and no setting of that is changed.
    """
    names, notes = distinct_names(list(relation.columns))
    types = [str(type_) for type_ in relation.types]
    is_text_in_arrow = [type_ in _CHANGED_BY_ARROW for type_ in types]
    projected = relation.project(
        ", ".join(
            f"{f'CAST(#{i} AS VARCHAR)' if as_text else f'#{i}'} AS c{i}"
            for i, as_text in enumerate(is_text_in_arrow, start=1)
        )
    )
    columns = tuple(
        PreparedColumn(name, f"CAST(c{i} AS {_type_after_export(type_)})")
        for i, (name, type_) in enumerate(zip(names, types, strict=True), start=1)
    )
    return PreparedTable(_Stream(projected), columns, notes)


def _type_after_export(type_: str) -> str:
    return "VARCHAR" if type_.startswith("ENUM") else type_.replace('"NULL"', "INTEGER")
