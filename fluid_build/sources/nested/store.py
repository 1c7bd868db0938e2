"""The database inside a source's connection that split tables are put into."""

from pathlib import Path

from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import IN_MEMORY_UP_TO
from fluid_build.sources.origin import InFiles
from fluid_build.sources.sql import literal
from fluid_build.temporary import owned_folder

_DATABASE = "nested"


class NestedStore:
    """The database of one connection, attached when the first table is split."""

    def __init__(self, source: OpenSource) -> None:
        self._connection = source.connection
        if not self._count("duckdb_databases()"):
            _attach(source)

    def new_relation(self) -> str:
        """Return the name of a relation that isn't there yet, as SQL."""
        number = self._count("duckdb_tables()") + self._count("duckdb_views()")
        return f"{_DATABASE}.main.relation_{number + 1}"

    def _count(self, entries: str) -> int:
        row = self._connection.execute(
            f"SELECT count(*) FROM {entries} WHERE database_name = '{_DATABASE}' AND NOT internal"
        ).fetchone()
        return int(row[0]) if row else 0


def _attach(source: OpenSource) -> None:
    """Attach the database in memory, or in a temporary file where the source is large."""
    place = ":memory:"
    if _bytes(source) > IN_MEMORY_UP_TO:
        folder = owned_folder()
        source.cleanup.append(folder)
        place = str(folder.path / "nested.db")
    source.connection.execute(f"ATTACH {literal(place)} AS {_DATABASE}")


def _bytes(source: OpenSource) -> int:
    """Return about how much the source holds: its files, and the databases that are attached."""
    paths = {
        path
        for table in source.tables
        if isinstance(table.origin, InFiles)
        for part in table.origin.parts
        for path in part.paths
    }
    databases = source.connection.execute(
        "SELECT path FROM duckdb_databases() WHERE path IS NOT NULL"
    ).fetchall()
    paths |= {Path(path) for (path,) in databases}
    return sum(path.stat().st_size for path in paths if path.is_file())
