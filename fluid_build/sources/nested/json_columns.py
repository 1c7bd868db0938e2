"""Columns of JSON text, read as structs and lists with a type that fits all of their values.

A column is read so only if every value in it survives: its parts, by place and value, are compared
with those of the original text.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import duckdb

from fluid_build import limits
from fluid_build.sources.base import Column
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.personal_text import holds_personal

_Structure: TypeAlias = "str | list[_Structure] | dict[str, _Structure]"
"""What ``json_group_structure`` returns: the name of a type, a list of one, or fields."""

_DECLARED = ("json", "jsonb")
_WHOLE = ("UBIGINT", "HUGEINT")
_ANY = "JSON"


@dataclass(frozen=True, slots=True)
class ParsedColumn:
    """A column of JSON and the structure that it's read with, as ``json_transform`` takes it."""

    column: Column
    structure: str

    @property
    def sql(self) -> str:
        """The column's value with that structure, over the rows as they were read."""
        return f"json_transform({self.text}, {literal(self.structure)})"

    @property
    def text(self) -> str:
        """The column's value as JSON, over the same rows."""
        return _text(self.column)


def is_json(column: Column) -> bool:
    """Return whether a column says that it holds JSON."""
    declared = column.declared_type.lower() in _DECLARED
    return column.type == "JSON" or (column.type == "VARCHAR" and declared)


def parse_json(
    connection: duckdb.DuckDBPyConnection, relation: str, column: Column
) -> ParsedColumn | None:
    """Return how to read a column of JSON; None where its values have no structure in common."""
    try:
        structure = _structure(connection, relation, column)
        if structure is None:
            return None
        parsed = ParsedColumn(column, json.dumps(structure))
        faithful = _figures(connection, relation, parsed.text) == _figures(
            connection, relation, f"to_json({parsed.sql})"
        )
    except duckdb.InterruptException:
        raise
    except (duckdb.Error, RecursionError):
        # Invalid JSON, fields that a struct can't have, or numbers that fit no type.
        return None
    return parsed if faithful else None


def _text(column: Column) -> str:
    return f"CAST({quote(column.alias)} AS JSON)"


def _structure(
    connection: duckdb.DuckDBPyConnection, relation: str, column: Column
) -> "_Structure | None":
    # Digits outside of text: a DOUBLE has about 17 of them, and more would be lost unseen.
    row = connection.execute(
        f"SELECT json_group_structure({_text(column)}), bool_or(regexp_matches(regexp_replace("
        f"CAST({quote(column.alias)} AS VARCHAR), '\"(\\\\.|[^\"\\\\])*\"', '', 'g'),"
        f" '\\d\\.\\d*\\d{{16}}|\\d{{16}}\\d*\\.\\d')) FROM {relation}"
    ).fetchone()
    if row is None or row[0] is None or row[1]:
        return None
    structure = _typed(json.loads(row[0]), 0)
    return structure if isinstance(structure, dict | list) or structure.startswith("MAP") else None


def _typed(structure: _Structure, depth: int) -> _Structure:
    """Return a structure with types that a table can have."""
    if depth > limits.NESTED_DEPTH.value:
        return _ANY
    if isinstance(structure, list):
        return [_typed(structure[0], depth + 1)]
    if isinstance(structure, dict):
        return _typed_fields(structure, depth)
    if structure in _WHOLE:
        return "BIGINT"
    return _ANY if structure == "NULL" else structure


def _typed_fields(fields: Mapping[str, _Structure], depth: int) -> _Structure:
    typed = {name: _typed(field, depth + 1) for name, field in fields.items()}
    if any(holds_personal(name) for name in typed):
        # Such names are data, and would become the names of columns.
        values = {_type_name(field) for field in typed.values()}
        return f"MAP(VARCHAR, {values.pop() if len(values) == 1 else _ANY})"
    if "" in typed or len({name.lower() for name in typed}) < len(typed):
        return _ANY
    return typed


def _type_name(structure: _Structure) -> str:
    if isinstance(structure, list):
        return f"{_type_name(structure[0])}[]"
    if isinstance(structure, dict):
        fields = (f"{quote(name)} {_type_name(field)}" for name, field in structure.items())
        return f"STRUCT({', '.join(fields)})"
    return structure


def leaves(relation: str, document: str) -> str:
    """Return a query for the parts of JSON documents: a row for each, as places and values.

    A field that is null counts as missing. Numbers are compared by value: 1.50 is 1.5, and 2 is
    2.0.
    """
    number = "CAST(part.atom AS DOUBLE)"
    is_whole = f"part.type = 'DOUBLE' AND abs({number}) < 1e15 AND {number} = trunc({number})"
    return (
        "SELECT (SELECT list(part.fullkey || ' ' || CASE"
        f" WHEN {is_whole} THEN CAST(CAST({number} AS BIGINT) AS VARCHAR)"
        " WHEN part.type IN ('OBJECT', 'ARRAY', 'NULL') THEN part.type"
        " ELSE CAST(part.atom AS VARCHAR) END ORDER BY part.fullkey)"
        " FROM json_tree(documents.document) AS part"
        " WHERE part.type <> 'NULL' OR part.fullkey LIKE '%]') AS parts"
        f" FROM (SELECT {document} AS document FROM {relation}) AS documents"
    )


def _figures(
    connection: duckdb.DuckDBPyConnection, relation: str, document: str
) -> tuple[int, int] | None:
    """Return the number of documents, and the sum of the hashes of their parts."""
    row = connection.execute(
        "SELECT count(*), coalesce(sum(CAST(hash(parts) AS HUGEINT)), 0)"
        f" FROM ({leaves(relation, document)})"
    ).fetchone()
    return None if row is None else (int(row[0]), int(row[1]))
