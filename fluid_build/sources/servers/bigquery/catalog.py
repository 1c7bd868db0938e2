"""What BigQuery declares of its tables: columns, comments, keys that it doesn't enforce, sizes.

It's read from the tables themselves (``tables.get``), which costs nothing; each query of
INFORMATION_SCHEMA is billed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fluid_build.sources.servers.staging import ServerColumn, ServerTable

if TYPE_CHECKING:
    from google.cloud.bigquery import Client, SchemaField, Table

_VIEW_TYPES = ("VIEW", "MATERIALIZED_VIEW")
_STANDARD_NAMES = {
    "INTEGER": "INT64",
    "FLOAT": "FLOAT64",
    "BOOLEAN": "BOOL",
    "RECORD": "STRUCT",
}
"""The names of types in the API, where SQL has others."""


@dataclass(frozen=True, slots=True)
class BigQueryField:
    """A column or a field inside of one, by the names of types in SQL."""

    name: str
    type: str
    is_repeated: bool = False
    precision: int = 0
    scale: int = 0
    fields: tuple["BigQueryField", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BigQueryColumn(ServerColumn):
    """A column of a table."""

    field: BigQueryField


def dataset_names(client: "Client", project: str) -> list[str]:
    """Return the datasets of a project that this user can see; hidden ones aren't listed."""
    return sorted(dataset.dataset_id for dataset in client.list_datasets(project))


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table or view of a dataset; ``path`` is ``project.dataset.table``."""

    path: str
    is_view: bool


def listed_tables(client: "Client", project: str, datasets: Sequence[str]) -> list[ListedTable]:
    """Return the tables and views of some datasets."""
    return [
        ListedTable(f"{project}.{dataset}.{item.table_id}", item.table_type in _VIEW_TYPES)
        for dataset in datasets
        for item in client.list_tables(f"{project}.{dataset}")
    ]


def described_table(table: "Table", project: str) -> ServerTable[BigQueryColumn]:
    """Return what a table declares. Its foreign keys to another project are left out."""
    is_view = table.table_type in _VIEW_TYPES
    constraints = table.table_constraints
    primary = constraints.primary_key if constraints else None
    return ServerTable(
        schema=table.dataset_id,
        name=table.table_id,
        bytes=table.num_bytes or 0,
        readable=True,
        comment=table.description or None,
        columns=tuple(_columns(table.schema)),
        primary_key=tuple(primary.columns) if primary else (),
        foreign_keys=tuple(
            (
                tuple(pair.referencing_column for pair in key.column_references),
                key.referenced_table.dataset_id,
                key.referenced_table.table_id,
                tuple(pair.referenced_column for pair in key.column_references),
            )
            for key in (constraints.foreign_keys if constraints else None) or ()
            if key.referenced_table.project == project
        ),
        rows=None if is_view else table.num_rows,
        is_view=is_view,
    )


def _columns(fields: Sequence["SchemaField"]) -> Iterator[BigQueryColumn]:
    for schema_field in fields:
        column = described_field(schema_field)
        yield BigQueryColumn(
            name=schema_field.name,
            declared_type=declared_type(column),
            nullable=schema_field.mode != "REQUIRED",
            generated=False,
            comment=schema_field.description or None,
            field=column,
        )


def described_field(schema_field: "SchemaField") -> BigQueryField:
    """Return a column or a field inside of one, by the names of types in SQL."""
    return BigQueryField(
        name=schema_field.name,
        type=_STANDARD_NAMES.get(schema_field.field_type, schema_field.field_type),
        is_repeated=schema_field.mode == "REPEATED",
        precision=schema_field.precision or 0,
        scale=schema_field.scale or 0,
        fields=tuple(described_field(inner) for inner in schema_field.fields),
    )


def declared_type(column: BigQueryField) -> str:
    """Return a type as GoogleSQL writes it: ``ARRAY<STRUCT<a INT64, b NUMERIC(10, 2)>>``."""
    name = column.type
    if name == "STRUCT":
        inner = ", ".join(f"{field.name} {declared_type(field)}" for field in column.fields)
        name = f"STRUCT<{inner}>"
    elif column.precision:
        digits = f"{column.precision}, {column.scale}" if column.scale else str(column.precision)
        name = f"{name}({digits})"
    return f"ARRAY<{name}>" if column.is_repeated else name
