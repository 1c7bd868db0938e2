"""What a catalog of Databricks declares: tables, columns, comments, and keys for information only.

https://docs.databricks.com/en/sql/language-manual/sql-ref-information-schema.html
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

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
from fluid_build.sources.sql import literal

_Constraint: TypeAlias = tuple[str, str]
"""The schema of a constraint and its name."""

_INTERNAL = "information_schema"
_VIEW_TYPES = ("VIEW", "MATERIALIZED_VIEW", "METRIC_VIEW")


@dataclass(frozen=True, slots=True)
class DatabricksColumn(ServerColumn):
    """A column; its declared type is the whole type: ``struct<a:int,b:array<string>>``."""


def quoted(name: str) -> str:
    """Quote a name for Databricks."""
    return "`" + name.replace("`", "``") + "`"


def schema_names(query: NamedQuery, catalog: str) -> list[str]:
    """Return the schemas of a catalog, apart from the catalog's own."""
    rows = query(f"SELECT schema_name FROM {quoted(catalog)}.information_schema.schemata")
    names = (str(row["schema_name"]) for row in rows)
    return sorted(name for name in names if name != _INTERNAL)


def read_tables(
    query: NamedQuery, catalog: str, schemas: Sequence[str], *, views: bool = False
) -> list[ServerTable[DatabricksColumn]]:
    """Return the tables of some schemas, with all that they declare; with ``views`` these too."""
    if not schemas:
        return []
    rows = _information(
        query, catalog, "tables", "table_schema, table_name, table_type, comment", schemas
    )
    columns = _columns(query, catalog, schemas)
    primary, unique, foreign = _keys(query, catalog, schemas)
    tables = []
    for row in rows:
        is_view = row["table_type"] in _VIEW_TYPES
        place = _place(row)
        if not is_view or views:
            tables.append(
                ServerTable(
                    schema=place[0],
                    name=place[1],
                    bytes=0,
                    readable=True,
                    comment=_text(row["comment"]),
                    columns=columns.get(place, ()),
                    primary_key=primary.get(place, ()),
                    unique_keys=unique.get(place, ()),
                    foreign_keys=foreign.get(place, ()),
                    is_view=is_view,
                )
            )
    return sorted(tables, key=lambda table: (table.schema, table.name.lower()))


def view_count(query: NamedQuery, catalog: str, schemas: Sequence[str]) -> int:
    """Return how many views some schemas have."""
    if not schemas:
        return 0
    rows = _information(query, catalog, "tables", "table_schema, table_type", schemas)
    return sum(row["table_type"] in _VIEW_TYPES for row in rows)


def _information(
    query: NamedQuery,
    catalog: str,
    view: str,
    columns: str,
    schemas: Sequence[str],
    order: str = "",
) -> Sequence[NamedRow]:
    chosen = ", ".join(literal(schema) for schema in schemas)
    return query(
        f"SELECT {columns} FROM {quoted(catalog)}.information_schema.{view}"
        f" WHERE table_schema IN ({chosen}){f' ORDER BY {order}' if order else ''}"
    )


def _columns(
    query: NamedQuery, catalog: str, schemas: Sequence[str]
) -> dict[Place, tuple[DatabricksColumn, ...]]:
    rows = _information(
        query,
        catalog,
        "columns",
        "table_schema, table_name, column_name, full_data_type, is_nullable, comment",
        schemas,
        "table_schema, table_name, ordinal_position",
    )
    return grouped(
        (
            _place(row),
            DatabricksColumn(
                name=str(row["column_name"]),
                declared_type=str(row["full_data_type"]),
                nullable=row["is_nullable"] != "NO",
                generated=False,
                comment=_text(row["comment"]),
            ),
        )
        for row in rows
    )


_Keys: TypeAlias = tuple[
    dict[Place, Key], dict[Place, tuple[Key, ...]], dict[Place, tuple[ForeignKey, ...]]
]


def _keys(query: NamedQuery, catalog: str, schemas: Sequence[str]) -> _Keys:
    """Return primary, unique and foreign keys; foreign ones to another catalog are left out."""
    constraints = _information(
        query,
        catalog,
        "table_constraints",
        "table_schema, table_name, constraint_schema, constraint_name, constraint_type",
        schemas,
        "table_schema, table_name, constraint_name",
    )
    key_columns = _key_columns(query, catalog, schemas)
    parents = _parents(query, catalog)
    by_type = grouped((row["constraint_type"], row) for row in constraints)

    def references() -> Iterator[tuple[Place, _Constraint, str, str, str, str]]:
        for row in by_type.get("FOREIGN KEY", ()):
            key = _constraint(row)
            own = key_columns.get(key, ())
            theirs = key_columns.get(parents.get(key, ("", "")), ())
            for (_, name), ((schema, table), parent) in zip(own, theirs, strict=False):
                yield _place(row), key, schema, table, name, parent

    primary, unique = declared_keys(
        (_place(row), _constraint(row), type_ == "PRIMARY KEY", name)
        for type_ in ("PRIMARY KEY", "UNIQUE")
        for row in by_type.get(type_, ())
        for _, name in key_columns.get(_constraint(row), ())
    )
    return primary, unique, declared_references(references())


def _key_columns(
    query: NamedQuery, catalog: str, schemas: Sequence[str]
) -> dict[_Constraint, tuple[tuple[Place, str], ...]]:
    """Return the columns of each constraint, with their tables, by its schema and name."""
    rows = _information(
        query,
        catalog,
        "key_column_usage",
        "table_schema, table_name, constraint_schema, constraint_name, column_name",
        schemas,
        "constraint_schema, constraint_name, ordinal_position",
    )
    return grouped((_constraint(row), (_place(row), str(row["column_name"]))) for row in rows)


def _parents(query: NamedQuery, catalog: str) -> dict[_Constraint, _Constraint]:
    """Return the key that each foreign key refers to, both by schema and name of the constraint."""
    rows = query(
        "SELECT constraint_schema, constraint_name, unique_constraint_catalog,"
        " unique_constraint_schema, unique_constraint_name"
        f" FROM {quoted(catalog)}.information_schema.referential_constraints"
    )
    return {
        _constraint(row): (
            str(row["unique_constraint_schema"]),
            str(row["unique_constraint_name"]),
        )
        for row in rows
        if row["unique_constraint_catalog"] == catalog
    }


def read_tags(
    query: NamedQuery, catalog: str, schemas: Sequence[str]
) -> tuple[dict[Place, TableFacts], tuple[str, ...]]:
    """Return what tags say of tables, by schema and name; with a note where they can't be read.

    https://docs.databricks.com/en/sql/language-manual/information-schema/column_tags.html
    """
    chosen = ", ".join(literal(schema) for schema in schemas)
    tags = [
        f"SELECT schema_name, table_name, {column}, tag_name, tag_value"
        f" FROM {quoted(catalog)}.information_schema.{view} WHERE schema_name IN ({chosen})"
        for view, column in (("table_tags", "'' AS column_name"), ("column_tags", "column_name"))
    ]
    return queried_tags(query, tags if schemas else [], catalog)


def _place(row: NamedRow) -> Place:
    return str(row["table_schema"]), str(row["table_name"])


def _constraint(row: NamedRow) -> _Constraint:
    return str(row["constraint_schema"]), str(row["constraint_name"])


def _text(value: object) -> str | None:
    return str(value) if value else None
