"""What a Snowflake database declares: tables, columns, comments, and the keys that it records.

Snowflake enforces only NOT NULL. A declared key is a claim like any other, and is checked.
https://docs.snowflake.com/en/sql-reference/info-schema
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.sources.servers.staging import ServerColumn, ServerTable
from fluid_build.sources.sql import quote

Row: TypeAlias = Mapping[str, object]
Query: TypeAlias = Callable[[str], Sequence[Row]]
"""Runs a statement and returns its rows by the lower-cased names of their columns."""

_ForeignKeys: TypeAlias = tuple[tuple[tuple[str, ...], str, str, tuple[str, ...]], ...]
_Place: TypeAlias = tuple[str, str]

_INTERNAL = "INFORMATION_SCHEMA"
_VIEW_TYPES = ("VIEW", "MATERIALIZED VIEW")


@dataclass(frozen=True, slots=True)
class SnowflakeColumn(ServerColumn):
    """A column; ``data_type`` is the catalog's word, ``precision`` and ``scale`` a number's."""

    data_type: str = ""
    precision: int = 0
    scale: int = 0


def schema_names(query: Query, database: str) -> list[str]:
    """Return the schemas of a database, apart from the catalog's own."""
    rows = query(f"SHOW SCHEMAS IN DATABASE {quote(database)}")
    names = [str(row["name"]) for row in rows]
    return sorted(name for name in names if name.upper() != _INTERNAL)


def read_tables(
    query: Query, database: str, schemas: Sequence[str], *, views: bool = False
) -> list[ServerTable[SnowflakeColumn]]:
    """Return the tables of some schemas, with all that they declare; with ``views`` these too."""
    columns = _columns(query, database)
    tables = [*_tables(query, database), *(_views(query, database) if views else ())]
    result: list[ServerTable[SnowflakeColumn]] = []
    for schema in schemas:
        of_schema = [row for row in tables if row["table_schema"] == schema]
        of_schema.sort(key=lambda row: str(row["table_name"]).lower())
        keys = _declared_keys(query, database, schema) if of_schema else _NO_KEYS
        result += [_table(row, columns, keys) for row in of_schema]
    return result


@dataclass(frozen=True, slots=True)
class _DeclaredKeys:
    primary: Mapping[_Place, tuple[tuple[str, ...], ...]]
    unique: Mapping[_Place, tuple[tuple[str, ...], ...]]
    foreign: Mapping[_Place, _ForeignKeys]


_NO_KEYS = _DeclaredKeys({}, {}, {})


def _declared_keys(query: Query, database: str, schema: str) -> _DeclaredKeys:
    place = f"{quote(database)}.{quote(schema)}"
    return _DeclaredKeys(
        primary=_keys(query(f"SHOW PRIMARY KEYS IN SCHEMA {place}")),
        unique=_keys(query(f"SHOW UNIQUE KEYS IN SCHEMA {place}")),
        foreign=foreign_keys(query(f"SHOW IMPORTED KEYS IN SCHEMA {place}"), database),
    )


def _table(
    row: Row, columns: Mapping[_Place, tuple[SnowflakeColumn, ...]], keys: _DeclaredKeys
) -> ServerTable[SnowflakeColumn]:
    place = (str(row["table_schema"]), str(row["table_name"]))
    primary = keys.primary.get(place, ())
    return ServerTable(
        schema=place[0],
        name=place[1],
        bytes=_whole(row["bytes"]),
        readable=True,
        comment=_text(row["comment"]),
        columns=columns.get(place, ()),
        primary_key=next(iter(primary), ()),
        unique_keys=tuple(key for key in keys.unique.get(place, ()) if key not in primary),
        foreign_keys=keys.foreign.get(place, ()),
        rows=None if row["row_count"] is None else _whole(row["row_count"]),
        is_view=row["table_type"] in _VIEW_TYPES,
    )


def view_count(query: Query, database: str, schemas: Sequence[str]) -> int:
    """Return how many views some schemas have."""
    rows = query(f"SELECT table_schema FROM {quote(database)}.information_schema.views")
    return sum(str(row["table_schema"]) in schemas for row in rows)


def _tables(query: Query, database: str) -> list[Row]:
    rows = query(
        "SELECT table_schema, table_name, table_type, row_count, bytes, comment"
        f" FROM {quote(database)}.information_schema.tables ORDER BY table_schema, table_name"
    )
    return [row for row in rows if row["table_type"] not in _VIEW_TYPES]


def _views(query: Query, database: str) -> list[Row]:
    rows = query(
        "SELECT table_schema, table_name, comment"
        f" FROM {quote(database)}.information_schema.views ORDER BY table_schema, table_name"
    )
    return [{**row, "table_type": "VIEW", "row_count": None, "bytes": 0} for row in rows]


def _columns(query: Query, database: str) -> dict[_Place, tuple[SnowflakeColumn, ...]]:
    rows = query(
        "SELECT table_schema, table_name, column_name, data_type, numeric_precision,"
        " numeric_scale, character_maximum_length, is_nullable, comment"
        f" FROM {quote(database)}.information_schema.columns"
        " ORDER BY table_schema, table_name, ordinal_position"
    )
    columns: dict[_Place, list[SnowflakeColumn]] = {}
    for row in rows:
        columns.setdefault((str(row["table_schema"]), str(row["table_name"])), []).append(
            SnowflakeColumn(
                name=str(row["column_name"]),
                declared_type=_declared(row),
                nullable=row["is_nullable"] != "NO",
                generated=False,
                comment=_text(row["comment"]),
                data_type=str(row["data_type"]),
                precision=_whole(row["numeric_precision"]),
                scale=_whole(row["numeric_scale"]),
            )
        )
    return {at: tuple(group) for at, group in columns.items()}


_LONGEST_TEXT = 16_777_216
"""The length of a VARCHAR that was declared without one."""


def _declared(row: Row) -> str:
    type_ = str(row["data_type"])
    if type_ == "NUMBER":
        return f"NUMBER({_whole(row['numeric_precision'])},{_whole(row['numeric_scale'])})"
    length = _whole(row["character_maximum_length"])
    if type_ == "TEXT":
        return f"VARCHAR({length})" if 0 < length < _LONGEST_TEXT else "VARCHAR"
    return type_


def _keys(rows: Sequence[Row]) -> dict[_Place, tuple[tuple[str, ...], ...]]:
    """Return the keys of each table, from the rows of SHOW PRIMARY KEYS or SHOW UNIQUE KEYS."""
    constraints: dict[tuple[_Place, str], list[tuple[int, str]]] = {}
    for row in rows:
        at = (str(row["schema_name"]), str(row["table_name"]))
        column = (_whole(row["key_sequence"]), str(row["column_name"]))
        constraints.setdefault((at, str(row["constraint_name"])), []).append(column)
    keys: dict[_Place, tuple[tuple[str, ...], ...]] = {}
    for (at, _), columns in constraints.items():
        key = tuple(name for _, name in sorted(columns, key=lambda column: column[0]))
        keys[at] = (*keys.get(at, ()), key)
    return keys


def foreign_keys(rows: Sequence[Row], database: str) -> dict[_Place, _ForeignKeys]:
    """Return the foreign keys of each table, from the rows of SHOW IMPORTED KEYS.

    One to another database is left out: that table isn't part of the source.
    """
    constraints: dict[tuple[_Place, str], list[Row]] = {}
    for row in rows:
        if row["pk_table_name"] and row["pk_database_name"] == database:
            at = (str(row["fk_schema_name"]), str(row["fk_table_name"]))
            constraints.setdefault((at, str(row["fk_name"])), []).append(row)
    keys: dict[_Place, _ForeignKeys] = {}
    for (at, _), pairs in constraints.items():
        pairs.sort(key=lambda row: _whole(row["key_sequence"]))
        key = (
            tuple(str(row["fk_column_name"]) for row in pairs),
            str(pairs[0]["pk_schema_name"]),
            str(pairs[0]["pk_table_name"]),
            tuple(str(row["pk_column_name"]) for row in pairs),
        )
        keys[at] = (*keys.get(at, ()), key)
    return keys


def _text(value: object) -> str | None:
    return str(value) if value else None


def _whole(value: object) -> int:
    return 0 if value is None else int(str(value))
