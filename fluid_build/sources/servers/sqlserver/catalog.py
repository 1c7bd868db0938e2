"""What a SQL Server database declares, read from its catalog views (version 2016 and later).

https://learn.microsoft.com/en-us/sql/relational-databases/system-catalog-views/
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.sources.servers.catalog_rows import (
    ForeignKey,
    Key,
    Query,
    declared_keys,
    declared_references,
)
from fluid_build.sources.servers.staging import ServerColumn, ServerTable

_ROW_SECURITY = "Row-level security is on: only the rows visible to this user were read."


@dataclass(frozen=True, slots=True)
class CatalogColumn(ServerColumn):
    """A column as SQL Server declares it.

    ``base`` is the name of its system type, with alias types seen through. ``precision`` and
    ``scale`` are those of a number; the scale of a time is its digits of a second.
    """

    base: str
    precision: int
    scale: int


CatalogTable: TypeAlias = ServerTable[CatalogColumn]


def database_name(query: Query) -> str:
    """Return the name of the database that the connection leads to."""
    return str(query("SELECT DB_NAME() AS name")[0][0])


def allows_snapshots(query: Query) -> bool:
    """Return whether everything can be read as it was at one moment."""
    rows = query("SELECT snapshot_isolation_state FROM sys.databases WHERE database_id = DB_ID()")
    return bool(rows) and int(rows[0][0]) == 1


def view_count(query: Query) -> int:
    """Return how many views there are."""
    return int(query("SELECT count(*) FROM sys.views WHERE is_ms_shipped = 0")[0][0])


def read_tables(query: Query, *, views: bool) -> list[CatalogTable]:
    """Return every table that the user may see, by schema and name, with columns and keys."""
    columns, notes = _columns(query)
    primary, unique = _keys(query)
    foreign = _foreign_keys(query)
    kinds = "'U', 'V'" if views else "'U'"
    rows = query(f"""
        SELECT o.object_id, s.name, o.name, o.type,
               HAS_PERMS_BY_NAME(QUOTENAME(s.name) + '.' + QUOTENAME(o.name), 'OBJECT', 'SELECT'),
               (SELECT coalesce(sum(a.used_pages), 0) * 8192
                FROM sys.partitions p JOIN sys.allocation_units a
                  ON a.container_id IN (p.hobt_id, p.partition_id)
                WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)),
               (SELECT max(CAST(p.value AS nvarchar(4000))) FROM sys.extended_properties p
                WHERE p.class = 1 AND p.major_id = o.object_id AND p.minor_id = 0
                  AND p.name = 'MS_Description'),
               CASE WHEN EXISTS (SELECT 1 FROM sys.security_predicates r
                                 WHERE r.target_object_id = o.object_id) THEN 1 ELSE 0 END,
               coalesce(t.temporal_type, 0),
               (SELECT sum(p.rows) FROM sys.partitions p
                WHERE p.object_id = o.object_id AND p.index_id IN (0, 1))
        FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id
        LEFT JOIN sys.tables t ON t.object_id = o.object_id
        WHERE o.type IN ({kinds}) AND o.is_ms_shipped = 0
        ORDER BY s.name, lower(o.name), o.name""")
    return [
        CatalogTable(
            schema=str(schema),
            name=str(name),
            bytes=int(size or 0),
            readable=bool(readable),
            comment=comment,
            columns=tuple(columns[id_]),
            primary_key=primary.get(id_, ()),
            unique_keys=unique.get(id_, ()),
            foreign_keys=foreign.get(id_, ()),
            notes=(
                *(["It's a view."] if str(type_).strip() == "V" else []),
                *([_ROW_SECURITY] if row_security else []),
                *(["It has the history of a temporal table."] if temporal == 1 else []),
                *notes[id_],
            ),
            rows=None if count is None else int(count),
            is_estimate=True,
            is_view=str(type_).strip() == "V",
        )
        for id_, schema, name, type_, readable, size, comment, row_security, temporal, count in rows
    ]


def _columns(
    query: Query,
) -> tuple[Mapping[int, list[CatalogColumn]], Mapping[int, list[str]]]:
    """Return the columns of each table, and notes on how the user sees them."""
    rows = query("""
        SELECT c.object_id, c.name, TYPE_NAME(c.user_type_id),
               coalesce(TYPE_NAME(c.system_type_id), TYPE_NAME(c.user_type_id)),
               c.max_length, c.precision, c.scale, c.is_nullable, c.is_computed,
               coalesce(c.generated_always_type, 0), c.is_masked, coalesce(c.encryption_type, 0),
               (SELECT max(CAST(p.value AS nvarchar(4000))) FROM sys.extended_properties p
                WHERE p.class = 1 AND p.major_id = c.object_id AND p.minor_id = c.column_id
                  AND p.name = 'MS_Description')
        FROM sys.columns c JOIN sys.objects o ON o.object_id = c.object_id
        WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0
        ORDER BY c.object_id, c.column_id""")
    columns: defaultdict[int, list[CatalogColumn]] = defaultdict(list)
    notes: defaultdict[int, list[str]] = defaultdict(list)
    for row in rows:
        id_, name, declared, base, length, precision, scale, nullable, computed, always = row[:10]
        masked, encrypted, comment = row[10:]
        columns[id_].append(
            CatalogColumn(
                name=str(name),
                declared_type=_declared(str(declared), str(base), length, precision, scale),
                nullable=bool(nullable),
                generated=bool(computed or always),
                comment=comment,
                base=_base(str(base), str(declared)),
                precision=int(precision),
                scale=int(scale),
            )
        )
        if masked:
            notes[id_].append(f"{name} is masked: without the right UNMASK its values are changed.")
        if encrypted:
            notes[id_].append(f"{name} is encrypted: its values were read as they are stored.")
    return columns, notes


def _base(system: str, declared: str) -> str:
    """Return the name that says what a value is.

    The spatial and hierarchical types share one system type.
    """
    return declared if declared in ("geography", "geometry", "hierarchyid") else system


_SIZED = ("char", "varchar", "binary", "varbinary", "nchar", "nvarchar")
_FRACTIONS = ("datetime2", "datetimeoffset", "time")


def _declared(declared: str, base: str, length: int, precision: int, scale: int) -> str:
    """Return a type as a CREATE TABLE statement spells it; an alias type goes by its own name."""
    if declared != base:
        return declared
    if base in _SIZED:
        characters = length // 2 if base in ("nchar", "nvarchar") else length
        return f"{base}({'max' if length == -1 else characters})"
    if base in ("decimal", "numeric"):
        return f"{base}({precision},{scale})"
    return f"{base}({scale})" if base in _FRACTIONS else base


def _keys(query: Query) -> tuple[Mapping[int, Key], Mapping[int, tuple[Key, ...]]]:
    """Return primary keys, and unique keys: constraints as well as whole-table unique indexes."""
    return declared_keys(
        query("""
        SELECT i.object_id, i.index_id, i.is_primary_key, c.name
        FROM sys.indexes i
        JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id
        JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
        WHERE i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0
          AND k.key_ordinal > 0 AND k.is_included_column = 0
        ORDER BY i.object_id, i.is_primary_key DESC, i.index_id, k.key_ordinal""")
    )


def _foreign_keys(query: Query) -> Mapping[int, tuple[ForeignKey, ...]]:
    return declared_references(
        query("""
        SELECT f.parent_object_id, f.object_id, SCHEMA_NAME(p.schema_id), p.name, a.name, b.name
        FROM sys.foreign_keys f
        JOIN sys.foreign_key_columns k ON k.constraint_object_id = f.object_id
        JOIN sys.objects p ON p.object_id = f.referenced_object_id
        JOIN sys.columns a ON a.object_id = k.parent_object_id AND a.column_id = k.parent_column_id
        JOIN sys.columns b ON b.object_id = k.referenced_object_id
                          AND b.column_id = k.referenced_column_id
        ORDER BY f.parent_object_id, f.name, k.constraint_column_id""")
    )
