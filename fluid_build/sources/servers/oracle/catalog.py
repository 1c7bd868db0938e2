"""What an Oracle database declares, read from its data dictionary (version 12.2 and later).

https://docs.oracle.com/en/database/oracle/oracle-database/23/refrn/
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.sources.servers.catalog_rows import (
    ForeignKey,
    Key,
    Place,
    Query,
    declared_keys,
    declared_references,
)
from fluid_build.sources.servers.staging import ServerColumn, ServerTable

_OURS = "u.oracle_maintained = 'N'"
_EXTERNAL = "It's an external table: its rows are in files that the server reads."
_UNREAD = "{} wasn't read: DuckDB has nothing like its type {}."


@dataclass(frozen=True, slots=True)
class CatalogColumn(ServerColumn):
    """A column as Oracle declares it.

    ``base`` is its type without sizes (``TIMESTAMP WITH TIME ZONE``); a type of a user's own is
    "OBJECT". ``precision`` is None for a NUMBER of any size; the scale of a timestamp is its
    digits of a second.
    """

    base: str
    precision: int | None
    scale: int | None


CatalogTable: TypeAlias = ServerTable[CatalogColumn]


def database_name(query: Query) -> str:
    """Return the name of the database, or of the pluggable one, that the connection leads to."""
    return str(query("SELECT SYS_CONTEXT('USERENV', 'DB_NAME') FROM dual")[0][0])


def view_count(query: Query) -> int:
    """Return how many views of users there are."""
    rows = query(
        f"SELECT count(*) FROM all_views v JOIN all_users u ON u.username = v.owner WHERE {_OURS}"
    )
    return int(rows[0][0])


def read_tables(query: Query, *, views: bool) -> list[CatalogTable]:
    """Return every table of users that this user may read, by schema and name, with its keys."""
    columns, unread = _columns(query)
    primary, unique = _keys(query)
    foreign = _foreign_keys(query)
    view_rows = f"""
        UNION ALL
        SELECT v.owner, v.view_name, 0, 'NO', 1, NULL
        FROM all_views v JOIN all_users u ON u.username = v.owner WHERE {_OURS}"""
    rows = query(f"""
        SELECT x.owner, x.name, x.bytes, x.is_external, x.is_view, x.num_rows, c.comments
        FROM (
            SELECT t.owner, t.table_name AS name,
                   coalesce(t.num_rows * t.avg_row_len, 0) AS bytes,
                   t.external AS is_external, 0 AS is_view, t.num_rows
            FROM all_tables t JOIN all_users u ON u.username = t.owner
            WHERE {_OURS} AND t.nested = 'NO' AND t.secondary = 'N' AND t.temporary = 'N'
              AND t.table_name NOT LIKE 'BIN$%' AND t.iot_name IS NULL
              AND NOT EXISTS (SELECT 1 FROM all_mviews m
                              WHERE m.owner = t.owner AND m.mview_name = t.table_name)
            {view_rows if views else ""}
        ) x
        LEFT JOIN all_tab_comments c ON c.owner = x.owner AND c.table_name = x.name
        ORDER BY x.owner, lower(x.name), x.name""")
    return [
        CatalogTable(
            schema=schema,
            name=name,
            bytes=int(size),
            readable=True,
            comment=comment,
            columns=tuple(columns[schema, name]),
            primary_key=primary.get((schema, name), ()),
            unique_keys=unique.get((schema, name), ()),
            foreign_keys=foreign.get((schema, name), ()),
            notes=(
                *(["It's a view."] if is_view else []),
                *([_EXTERNAL] if is_external == "YES" else []),
                *unread[schema, name],
            ),
            rows=None if count is None else int(count),
            is_estimate=True,
            is_view=bool(is_view),
        )
        for schema, name, size, is_external, is_view, count, comment in rows
    ]


_NOT_READ = frozenset({"BFILE", "OBJECT", "ANYDATA"})


def _columns(
    query: Query,
) -> tuple[Mapping[Place, list[CatalogColumn]], Mapping[Place, list[str]]]:
    """Return the columns that can be read, and notes on those that can't."""
    rows = query(f"""
        SELECT c.owner, c.table_name, c.column_name, c.data_type, c.data_type_owner,
               c.data_precision, c.data_scale, c.char_length, c.data_length, c.nullable,
               c.virtual_column, m.comments
        FROM all_tab_cols c JOIN all_users u ON u.username = c.owner
        LEFT JOIN all_col_comments m ON m.owner = c.owner AND m.table_name = c.table_name
                                    AND m.column_name = c.column_name
        WHERE {_OURS} AND c.hidden_column = 'NO'
        ORDER BY c.owner, c.table_name, c.column_id""")
    columns: defaultdict[Place, list[CatalogColumn]] = defaultdict(list)
    unread: defaultdict[Place, list[str]] = defaultdict(list)
    for schema, table, name, type_, type_owner, precision, scale, *sizes, comment in rows:
        characters, length, nullable, is_virtual = sizes
        base = _base(type_, type_owner)
        if base in _NOT_READ:
            unread[schema, table].append(_UNREAD.format(name, type_))
            continue
        columns[schema, table].append(
            CatalogColumn(
                name=name,
                declared_type=_declared(type_, precision, scale, characters, length),
                nullable=nullable == "Y",
                generated=is_virtual == "YES",
                comment=comment,
                base=base,
                precision=precision,
                scale=scale,
            )
        )
    return columns, unread


def _base(type_: str, owner: str | None) -> str:
    """Return a type without the sizes inside it: TIMESTAMP(6) WITH TIME ZONE has one."""
    if owner is not None and type_ not in ("XMLTYPE", "SDO_GEOMETRY"):
        return "OBJECT"
    start, _, rest = type_.partition("(")
    while rest:
        _, _, after = rest.partition(")")
        text, _, rest = after.partition("(")
        start += text
    return start


def _declared(
    type_: str, precision: int | None, scale: int | None, characters: int, length: int
) -> str:
    if type_ == "NUMBER" and precision is not None:
        return f"NUMBER({precision},{scale})" if scale else f"NUMBER({precision})"
    if type_ == "NUMBER" and scale == 0:
        return "INTEGER"
    if type_ in ("CHAR", "VARCHAR2", "NCHAR", "NVARCHAR2"):
        return f"{type_}({characters})"
    return f"RAW({length})" if type_ == "RAW" else type_


def _keys(query: Query) -> tuple[Mapping[Place, Key], Mapping[Place, tuple[Key, ...]]]:
    """Return primary keys, and unique keys: constraints as well as unique indexes."""
    constraints = query(f"""
        SELECT k.owner, k.table_name, k.constraint_name, k.constraint_type, c.column_name
        FROM all_constraints k JOIN all_users u ON u.username = k.owner
        JOIN all_cons_columns c ON c.owner = k.owner AND c.constraint_name = k.constraint_name
        WHERE {_OURS} AND k.constraint_type IN ('P', 'U')
        ORDER BY k.owner, k.table_name, k.constraint_type, k.constraint_name, c.position""")
    indexes = query(f"""
        SELECT i.table_owner, i.table_name, i.index_name, 'U', c.column_name
        FROM all_indexes i JOIN all_users u ON u.username = i.table_owner
        JOIN all_ind_columns c ON c.index_owner = i.owner AND c.index_name = i.index_name
        WHERE {_OURS} AND i.uniqueness = 'UNIQUE' AND i.index_type = 'NORMAL'
        ORDER BY i.table_owner, i.table_name, i.index_name, c.column_position""")
    return declared_keys(
        ((schema, table), (source, name), type_ == "P", column)
        for source, rows in (("constraint", constraints), ("index", indexes))
        for schema, table, name, type_, column in rows
    )


def _foreign_keys(query: Query) -> Mapping[Place, tuple[ForeignKey, ...]]:
    rows = query(f"""
        SELECT k.owner, k.table_name, k.constraint_name, p.owner, p.table_name,
               a.column_name, b.column_name
        FROM all_constraints k JOIN all_users u ON u.username = k.owner
        JOIN all_constraints p ON p.owner = k.r_owner AND p.constraint_name = k.r_constraint_name
        JOIN all_cons_columns a ON a.owner = k.owner AND a.constraint_name = k.constraint_name
        JOIN all_cons_columns b ON b.owner = p.owner AND b.constraint_name = p.constraint_name
                               AND b.position = a.position
        WHERE {_OURS} AND k.constraint_type = 'R'
        ORDER BY k.owner, k.table_name, k.constraint_name, a.position""")
    return declared_references(
        ((schema, table), key, to_schema, to_table, own, parent)
        for schema, table, key, to_schema, to_table, own, parent in rows
    )
