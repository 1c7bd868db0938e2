"""A connection to Databricks as far as its cursor goes, for tests; DuckDB is behind it.

The views of the information schema have the columns that Unity Catalog documents.
https://docs.databricks.com/en/sql/language-manual/sql-ref-information-schema.html
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import duckdb
import pyarrow as pa
import sqlglot
from databricks.sql.exc import ServerOperationError

_VIEWS = {
    "schemata": "catalog_name, schema_name",
    "tables": "table_catalog, table_schema, table_name, table_type, comment",
    "columns": "table_schema, table_name, column_name, ordinal_position, full_data_type,"
    " is_nullable, comment",
    "table_constraints": "table_schema, table_name, constraint_schema, constraint_name,"
    " constraint_type",
    "key_column_usage": "table_schema, table_name, constraint_schema, constraint_name,"
    " column_name, ordinal_position",
    "referential_constraints": "constraint_schema, constraint_name, unique_constraint_catalog,"
    " unique_constraint_schema, unique_constraint_name",
    "table_tags": "catalog_name, schema_name, table_name, tag_name, tag_value",
    "column_tags": "catalog_name, schema_name, table_name, column_name, tag_name, tag_value",
}


@dataclass
class DatabricksCatalog:
    """A catalog with its tables; ``forbidden`` ones can't be selected from."""

    name: str
    connection: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)
    forbidden: set[str] = field(default_factory=set)
    statements: list[str] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.run(f"ATTACH ':memory:' AS {self.name}", f"CREATE SCHEMA {self.name}.recorded")
        for view, columns in _VIEWS.items():
            texts = ", ".join(f"{column} VARCHAR" for column in columns.split(", "))
            self.run(f"CREATE TABLE {self.name}.recorded.{view} ({texts})")

    def run(self, *statements: str) -> None:
        """Run statements of DuckDB's SQL."""
        for statement in statements:
            self.connection.execute(statement)

    def record(self, view: str, *rows: Sequence[object]) -> None:
        """Add rows to a view of the information schema."""
        for row in rows:
            marks = ", ".join("?" * len(row))
            place = f"{self.name}.recorded.{view}"
            self.connection.execute(f"INSERT INTO {place} VALUES ({marks})", list(row))

    def connect(self, **arguments: Any) -> "DatabricksCatalog":
        """Return the connection, and keep what it was asked with."""
        self.arguments = arguments
        return self

    def cursor(self) -> "_Cursor":
        """Return a cursor."""
        return _Cursor(self)

    def close(self) -> None:
        """Stay open for the next connection."""


@dataclass
class _Cursor:
    catalog: DatabricksCatalog
    table: pa.Table = None
    position: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def description(self) -> list[tuple[str, str]]:
        return [(field.name, str(field.type)) for field in self.table.schema]

    def execute(self, statement: str) -> None:
        self.catalog.statements.append(statement)
        quoted = [f"`{table}`" for table in self.catalog.forbidden]
        views = [f"information_schema.{view} " for view in self.catalog.forbidden]
        if any(name in statement for name in (*quoted, *views)):
            raise ServerOperationError("[INSUFFICIENT_PERMISSIONS] User has no SELECT on it.")
        if statement.startswith("DESCRIBE DETAIL"):
            self.table = pa.table(
                {"format": ["delta"], "sizeInBytes": [4_000_000], "numFiles": [3]}
            )
            return
        # DuckDB writes every field and all digits, and takes no options for it.
        sql = re.sub(r"(to_json\([^()]*), map\([^()]*\)\)", r"\1)", statement)
        sql = sql.replace(", )", ")").replace("information_schema", "recorded")
        translated = sqlglot.transpile(sql, read="databricks", write="duckdb")[0]
        self.table = self.catalog.connection.execute(translated).to_arrow_table()
        self.position = 0

    def fetchall(self) -> list[tuple[object, ...]]:
        return [tuple(row.values()) for row in self.table.to_pylist()]

    def fetchmany_arrow(self, size: int) -> pa.Table:
        part = self.table.slice(self.position, size)
        self.position += part.num_rows
        return part
