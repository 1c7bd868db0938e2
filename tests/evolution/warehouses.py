"""Warehouses of both kinds for tests: a DuckDB file, and a database on a real PostgreSQL server."""

from pathlib import Path

from fluid_build.evolution.locations import opened
from fluid_build.evolution.warehouse import Location
from tests.postgres import PostgresDatabase

ENGINES = ("duckdb", "postgres")


def duckdb_location(folder: Path) -> Location:
    """A warehouse in a file that doesn't exist yet."""
    return Location("duckdb", str(folder / "warehouse.duckdb"), "main")


def postgres_location(database: PostgresDatabase) -> Location:
    """A warehouse in an empty database."""
    return Location("postgres", database.uri, "shop_model")


def run(location: Location, *statements: str) -> None:
    """Change a warehouse."""
    with opened(location) as warehouse:
        for statement in statements:
            warehouse.query(statement)


def rows(location: Location, sql: str) -> list[tuple[object, ...]]:
    """The rows of a query."""
    with opened(location) as warehouse:
        return [tuple(row) for row in warehouse.query(sql)]
