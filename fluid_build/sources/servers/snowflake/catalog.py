"""What a Snowflake database declares: tables, columns, comments, and the keys that it records.

Snowflake enforces only NOT NULL. A declared key is a claim like any other, and is checked.
https://docs.snowflake.com/en/sql-reference/info-schema
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.sources.declarations.catalog_facts import TableFacts
from fluid_build.sources.servers.catalog_rows import (
    ForeignKey,
    Key,
    NamedQuery,
    NamedRow,
    Place,
    declared_keys,
    declared_references,
    grouped,
)
from fluid_build.sources.servers.staging import ServerColumn, ServerTable
from fluid_build.sources.servers.warehouse_client import queried_tags
from fluid_build.sources.sql import literal, quote

_INTERNAL = "INFORMATION_SCHEMA"
_VIEW_TYPES = ("VIEW", "MATERIALIZED VIEW")


@dataclass(frozen=True, slots=True)
class SnowflakeColumn(ServerColumn):
    """A column; ``data_type`` is the catalog's word, ``precision`` and ``scale`` a number's."""

    data_type: str = ""
    precision: int = 0
    scale: int = 0


def schema_names(query: NamedQuery, database: str) -> list[str]:
    """Return the schemas of a database, apart from the catalog's own."""
    rows = query(f"SHOW SCHEMAS IN DATABASE {quote(database)}")
    names = [str(row["name"]) for row in rows]
    return sorted(name for name in names if name.upper() != _INTERNAL)


def read_tables(
    query: NamedQuery, database: str, schemas: Sequence[str], *, views: bool = False
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
    primary: Mapping[Place, Key]
    unique: Mapping[Place, tuple[Key, ...]]
    foreign: Mapping[Place, tuple[ForeignKey, ...]]


_NO_KEYS = _DeclaredKeys({}, {}, {})


def _declared_keys(query: NamedQuery, database: str, schema: str) -> _DeclaredKeys:
    place = f"{quote(database)}.{quote(schema)}"
    primary, unique = declared_keys(
        (
            (str(row["schema_name"]), str(row["table_name"])),
            row["constraint_name"],
            kind == "PRIMARY",
            str(row["column_name"]),
        )
        for kind in ("PRIMARY", "UNIQUE")
        for row in sorted(query(f"SHOW {kind} KEYS IN SCHEMA {place}"), key=_position)
    )
    rows = query(f"SHOW IMPORTED KEYS IN SCHEMA {place}")
    return _DeclaredKeys(primary, unique, foreign_keys(rows, database))


def _table(
    row: NamedRow, columns: Mapping[Place, tuple[SnowflakeColumn, ...]], keys: _DeclaredKeys
) -> ServerTable[SnowflakeColumn]:
    place = (str(row["table_schema"]), str(row["table_name"]))
    return ServerTable(
        schema=place[0],
        name=place[1],
        bytes=_whole(row["bytes"]),
        readable=True,
        comment=_text(row["comment"]),
        columns=columns.get(place, ()),
        primary_key=keys.primary.get(place, ()),
        unique_keys=keys.unique.get(place, ()),
        foreign_keys=keys.foreign.get(place, ()),
        rows=None if row["row_count"] is None else _whole(row["row_count"]),
        is_view=row["table_type"] in _VIEW_TYPES,
    )


def view_count(query: NamedQuery, database: str, schemas: Sequence[str]) -> int:
    """Return how many views some schemas have."""
    rows = query(f"SELECT table_schema FROM {quote(database)}.information_schema.views")
    return sum(str(row["table_schema"]) in schemas for row in rows)


def _tables(query: NamedQuery, database: str) -> list[NamedRow]:
    rows = query(
        "SELECT table_schema, table_name, table_type, row_count, bytes, comment"
        f" FROM {quote(database)}.information_schema.tables ORDER BY table_schema, table_name"
    )
    return [row for row in rows if row["table_type"] not in _VIEW_TYPES]


def _views(query: NamedQuery, database: str) -> list[NamedRow]:
    rows = query(
        "SELECT table_schema, table_name, comment"
        f" FROM {quote(database)}.information_schema.views ORDER BY table_schema, table_name"
    )
    return [{**row, "table_type": "VIEW", "row_count": None, "bytes": 0} for row in rows]


def _columns(query: NamedQuery, database: str) -> dict[Place, tuple[SnowflakeColumn, ...]]:
    rows = query(
        "SELECT table_schema, table_name, column_name, data_type, numeric_precision,"
        " numeric_scale, character_maximum_length, is_nullable, comment"
        f" FROM {quote(database)}.information_schema.columns"
        " ORDER BY table_schema, table_name, ordinal_position"
    )
    return grouped(
        (
            (str(row["table_schema"]), str(row["table_name"])),
            SnowflakeColumn(
                name=str(row["column_name"]),
                declared_type=_declared(row),
                nullable=row["is_nullable"] != "NO",
                generated=False,
                comment=_text(row["comment"]),
                data_type=str(row["data_type"]),
                precision=_whole(row["numeric_precision"]),
                scale=_whole(row["numeric_scale"]),
            ),
        )
        for row in rows
    )


_LONGEST_TEXT = 16_777_216
"""The length of a VARCHAR that was declared without one."""


def _declared(row: NamedRow) -> str:
    type_ = str(row["data_type"])
    if type_ == "NUMBER":
        return f"NUMBER({_whole(row['numeric_precision'])},{_whole(row['numeric_scale'])})"
    length = _whole(row["character_maximum_length"])
    if type_ == "TEXT":
        return f"VARCHAR({length})" if 0 < length < _LONGEST_TEXT else "VARCHAR"
    return type_


def _position(row: NamedRow) -> int:
    return _whole(row["key_sequence"])


def foreign_keys(rows: Sequence[NamedRow], database: str) -> dict[Place, tuple[ForeignKey, ...]]:
    """Return the foreign keys of each table, from the rows of SHOW IMPORTED KEYS.

    One to another database is left out: that table isn't part of the source.
    """
    return declared_references(
        (
            (str(row["fk_schema_name"]), str(row["fk_table_name"])),
            row["fk_name"],
            str(row["pk_schema_name"]),
            str(row["pk_table_name"]),
            str(row["fk_column_name"]),
            str(row["pk_column_name"]),
        )
        for row in sorted(rows, key=_position)
        if row["pk_table_name"] and row["pk_database_name"] == database
    )


def read_tags(query: NamedQuery, database: str) -> tuple[dict[Place, TableFacts], tuple[str, ...]]:
    """Return what tags say of tables, which only some roles may read, or a note on that.

    https://docs.snowflake.com/en/sql-reference/account-usage/tag_references
    """
    tags = (
        "SELECT object_schema, object_name, column_name, tag_name, tag_value"
        " FROM snowflake.account_usage.tag_references"
        f" WHERE object_database = {literal(database)} AND object_deleted IS NULL"
        " AND domain IN ('TABLE', 'COLUMN')"
    )
    return queried_tags(query, [tags], database)


def _text(value: object) -> str | None:
    return str(value) if value else None


def _whole(value: object) -> int:
    return 0 if value is None else int(str(value))
