"""Relations of DuckDB, which belong to another connection, read through Arrow without loss.

Arrow has no place for some of DuckDB's types; their values travel as text. Each row comes with the
hash that it had before, and the engine compares.
"""

from collections.abc import Sequence
from dataclasses import replace

import duckdb
from duckdb.sqltypes import DuckDBPyType

from fluid_build.sources.in_memory.engine_types import json_note, rewritten
from fluid_build.sources.in_memory.prepared import (
    PreparedColumn,
    PreparedTable,
    Stream,
    distinct_names,
)
from fluid_build.sources.sql import literal

_TRAVELS_AS_TEXT = frozenset(
    {"bignum", "bit", "hugeint", "interval", "time with time zone", "uhugeint", "uuid"}
)
"""Types of DuckDB that come out of Arrow as another type, or as another value."""
_CHANGED = literal("DuckDB handed over other values than those that the relation has.")


def prepare_relation(relation: duckdb.DuckDBPyRelation) -> PreparedTable:
    """Return a relation as a stream of its rows, with a hash for each.

    The relation runs once, on its own connection, batch by batch, and no setting of that is
    changed.
    """
    names, notes = distinct_names(list(relation.columns))
    exported: list[str] = []
    hashed: list[str] = []
    columns: list[PreparedColumn] = []
    for i, (name, type_) in enumerate(zip(names, relation.types, strict=True), start=1):
        value, note = f"#{i}", json_note(name, type_)
        carried, final = rewritten(type_, _carried), rewritten(type_, _final)
        if note:
            value, carried, final = f"CAST(#{i} AS JSON)", "VARCHAR", "JSON"
        elif final != rewritten(type_, str):
            value = f"CAST(#{i} AS {final})"
        hashed.append(value)
        exported.append(f"CAST({value} AS {carried}) AS c{i}")
        columns.append(PreparedColumn(name, f"CAST(c{i} AS {final})", (note,) if note else ()))
    exported.append(f"hash({', '.join(hashed)}) AS hashed")
    first = replace(columns[0], expression=_checked(columns))
    stream = Stream(relation.project(", ".join(exported)))
    return PreparedTable((stream,), (first, *columns[1:]), notes)


def _carried(type_: DuckDBPyType) -> str:
    return "VARCHAR" if type_.id in _TRAVELS_AS_TEXT or str(type_) == "JSON" else _final(type_)


def _final(type_: DuckDBPyType) -> str:
    return "VARCHAR" if type_.id == "enum" else str(type_).replace('"NULL"', "INTEGER")


def _checked(columns: Sequence[PreparedColumn]) -> str:
    """Return the first column as SQL that fails where a row has another hash than there."""
    first, *_ = values = [column.expression for column in columns]
    return f"CASE WHEN hash({', '.join(values)}) = hashed THEN {first} ELSE error({_CHANGED}) END"
