"""Where the shop is, and the warehouse that dbt builds from it: DuckDB files or PostgreSQL."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import duckdb
import psycopg

Row = tuple[object, ...]


class Database(Protocol):
    """Where the source is, and the warehouse that is built from it."""

    uri: str
    target: str

    def run(self, sql: str) -> None:
        """Run statements on the source."""

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query on the source."""

    def warehouse(self, folder: Path) -> AbstractContextManager["Reader"]:
        """Open what was built from a folder, to read it."""


class Reader(Protocol):
    """A connection to the warehouse."""

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query."""

    def relations(self) -> dict[str, tuple[str, ...]]:
        """Return the tables, each with its columns."""


@dataclass(frozen=True)
class DuckDBReader:
    """A DuckDB file that nobody writes to."""

    connection: duckdb.DuckDBPyConnection

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query."""
        return self.connection.execute(sql).fetchall()

    def relations(self) -> dict[str, tuple[str, ...]]:
        """Return the tables, each with its columns."""
        return _by_table(
            self.rows(
                "SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables()"
                " USING (database_name, schema_name, table_name)"
                " WHERE schema_name = 'main' ORDER BY table_name, column_index"
            )
        )


@dataclass(frozen=True)
class DuckDBShop:
    """A shop in a DuckDB file; dbt builds in a file of its own."""

    uri: str
    target: str = "duckdb"

    def run(self, sql: str) -> None:
        """Run statements on the source."""
        with duckdb.connect(self.uri) as connection:
            connection.execute(sql)

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query on the source."""
        with duckdb.connect(self.uri, read_only=True) as connection:
            return connection.execute(sql).fetchall()

    @contextmanager
    def warehouse(self, folder: Path) -> Iterator[Reader]:
        """Open what was built from a folder, to read it."""
        (file,) = (folder / "dbt").glob("*.duckdb")
        with duckdb.connect(str(file), read_only=True) as connection:
            yield DuckDBReader(connection)


@dataclass(frozen=True)
class PostgresReader:
    """The schemas of a server that dbt has built."""

    connection: psycopg.Connection
    schema: str

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query."""
        return self.connection.execute(sql.encode()).fetchall()

    def relations(self) -> dict[str, tuple[str, ...]]:
        """Return the tables, each with its columns."""
        return _by_table(
            self.rows(
                "SELECT table_name, column_name FROM information_schema.columns"
                " JOIN information_schema.tables USING (table_schema, table_name)"
                f" WHERE table_schema = '{self.schema}' AND table_type = 'BASE TABLE'"
                " ORDER BY table_name, ordinal_position"
            )
        )


@dataclass(frozen=True)
class PostgresShop:
    """A shop in a database of a PostgreSQL server; dbt builds in a schema of the same."""

    uri: str
    target: str = "postgres"

    def run(self, sql: str) -> None:
        """Run statements on the source, first dropping views where one is in the way."""
        try:
            self._run(sql)
        except (psycopg.errors.DependentObjectsStillExist, psycopg.errors.FeatureNotSupported):
            for schema, view in self.rows(
                "SELECT schemaname, viewname FROM pg_views WHERE viewname LIKE 'stg_%'"
            ):
                self._run(f'DROP VIEW IF EXISTS "{schema}"."{view}" CASCADE')
            self._run(sql)

    def _run(self, sql: str) -> None:
        with psycopg.connect(self.uri) as connection:
            connection.execute(sql.encode())

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query on the source."""
        with psycopg.connect(self.uri) as connection:
            return connection.execute(sql.encode()).fetchall()

    @contextmanager
    def warehouse(self, _folder: Path) -> Iterator[Reader]:
        """Open what was built from a folder, to read it."""
        with psycopg.connect(self.uri, autocommit=True) as connection:
            found = connection.execute(
                "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname NOT IN"
                " ('public', 'pg_catalog', 'information_schema')"
            ).fetchall()
            ((schema,),) = found
            connection.execute(f'SET search_path TO "{schema}"'.encode())
            yield PostgresReader(connection, schema)


def _by_table(rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    tables: dict[str, list[str]] = {}
    for table, column in rows:
        tables.setdefault(str(table), []).append(str(column))
    return {name: tuple(columns) for name, columns in tables.items()}
