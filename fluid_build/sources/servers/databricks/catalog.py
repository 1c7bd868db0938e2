"""What a catalog of Databricks declares: tables, columns, comments, and keys for information only.

https://docs.databricks.com/en/sql/language-manual/sql-ref-information-schema.html
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.sources.servers.staging import ServerColumn, ServerTable
from fluid_build.sources.sql import literal

Row: TypeAlias = Mapping[str, object]
Query: TypeAlias = Callable[[str], Sequence[Row]]
"""Runs a statement and returns its rows by the lower-cased names of their columns."""

_ForeignKeys: TypeAlias = tuple[tuple[tuple[str, ...], str, str, tuple[str, ...]], ...]
_Place: TypeAlias = tuple[str, str]

_INTERNAL = "information_schema"
_VIEW_TYPES = ("VIEW", "MATERIALIZED_VIEW", "METRIC_VIEW")


@dataclass(frozen=True, slots=True)
class DatabricksColumn(ServerColumn):
    """A column; its declared type is the whole type: ``struct<a:int,b:array<string>>``."""


def quoted(name: str) -> str:
    """Quote a name for Databricks."""
    return "`" + name.replace("`", "``") + "`"


def schema_names(query: Query, catalog: str) -> list[str]:
    """Return the schemas of a catalog, apart from the catalog's own."""
    rows = query(f"SELECT schema_name FROM {quoted(catalog)}.information_schema.schemata")
    names = (str(row["schema_name"]) for row in rows)
    return sorted(name for name in names if name != _INTERNAL)


def read_tables(
    query: Query, catalog: str, schemas: Sequence[str], *, views: bool = False
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


def view_count(query: Query, catalog: str, schemas: Sequence[str]) -> int:
    """Return how many views some schemas have."""
    if not schemas:
        return 0
    rows = _information(query, catalog, "tables", "table_schema, table_type", schemas)
    return sum(row["table_type"] in _VIEW_TYPES for row in rows)


def _information(
    query: Query, catalog: str, view: str, columns: str, schemas: Sequence[str], order: str = ""
) -> Sequence[Row]:
    chosen = ", ".join(literal(schema) for schema in schemas)
    return query(
        f"SELECT {columns} FROM {quoted(catalog)}.information_schema.{view}"
        f" WHERE table_schema IN ({chosen}){f' ORDER BY {order}' if order else ''}"
    )


def _columns(
    query: Query, catalog: str, schemas: Sequence[str]
) -> dict[_Place, tuple[DatabricksColumn, ...]]:
    rows = _information(
        query,
        catalog,
        "columns",
        "table_schema, table_name, column_name, full_data_type, is_nullable, comment",
        schemas,
        "table_schema, table_name, ordinal_position",
    )
    columns: dict[_Place, list[DatabricksColumn]] = {}
    for row in rows:
        columns.setdefault(_place(row), []).append(
            DatabricksColumn(
                name=str(row["column_name"]),
                declared_type=str(row["full_data_type"]),
                nullable=row["is_nullable"] != "NO",
                generated=False,
                comment=_text(row["comment"]),
            )
        )
    return {place: tuple(group) for place, group in columns.items()}


_Keys: TypeAlias = tuple[
    dict[_Place, tuple[str, ...]],
    dict[_Place, tuple[tuple[str, ...], ...]],
    dict[_Place, _ForeignKeys],
]


def _keys(query: Query, catalog: str, schemas: Sequence[str]) -> _Keys:
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
    primary: dict[_Place, tuple[str, ...]] = {}
    unique: dict[_Place, tuple[tuple[str, ...], ...]] = {}
    foreign: dict[_Place, _ForeignKeys] = {}
    for row in constraints:
        place, constraint = _place(row), _constraint(row)
        columns = key_columns.get(constraint, (place, ()))[1]
        if row["constraint_type"] == "PRIMARY KEY":
            primary[place] = columns
        elif row["constraint_type"] == "UNIQUE":
            unique[place] = (*unique.get(place, ()), columns)
        elif (parent := key_columns.get(parents.get(constraint, ("", "")))) is not None:
            (schema, table), parent_columns = parent
            key = (columns, schema, table, parent_columns)
            foreign[place] = (*foreign.get(place, ()), key)
    return primary, unique, foreign


def _key_columns(
    query: Query, catalog: str, schemas: Sequence[str]
) -> dict[tuple[str, str], tuple[_Place, tuple[str, ...]]]:
    """Return the table and columns of each constraint, by its schema and name."""
    rows = _information(
        query,
        catalog,
        "key_column_usage",
        "table_schema, table_name, constraint_schema, constraint_name, column_name",
        schemas,
        "constraint_schema, constraint_name, ordinal_position",
    )
    columns: dict[tuple[str, str], tuple[_Place, tuple[str, ...]]] = {}
    for row in rows:
        place, names = columns.get(_constraint(row), (_place(row), ()))
        columns[_constraint(row)] = (place, (*names, str(row["column_name"])))
    return columns


def _parents(query: Query, catalog: str) -> dict[tuple[str, str], tuple[str, str]]:
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


def _place(row: Row) -> _Place:
    return str(row["table_schema"]), str(row["table_name"])


def _constraint(row: Row) -> tuple[str, str]:
    return str(row["constraint_schema"]), str(row["constraint_name"])


def _text(value: object) -> str | None:
    return str(value) if value else None
