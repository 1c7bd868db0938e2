"""A DuckDB file as a warehouse.

DuckDB lets one process write to a file, and dbt is another one: the file is only open for as long
as it's read or changed. The lock is therefore that of a small file beside it, which the system
frees when its owner ends, however it ends.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build.errors import WarehouseBusyError, WarehouseError
from fluid_build.evolution.warehouse import NO_VALUES, Engine, Relation, Row, Value, qualified
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason

if sys.platform != "win32":
    import fcntl

_LOCK_ENDING = ".lock"
_OPEN_ELSEWHERE = "set lock on file"
"""Words of DuckDB's message where another process has the file open."""


@dataclass(frozen=True, slots=True)
class DuckDBWarehouse:
    """A DuckDB file that is open."""

    connection: duckdb.DuckDBPyConnection
    file: Path
    schema: str
    engine: Engine = "duckdb"

    @property
    def version(self) -> str:
        """The engine and its version."""
        return f"duckdb {duckdb.__version__}"

    def relations(self) -> Mapping[str, Relation]:
        """Return every table and view of the schema by name."""
        columns: dict[str, dict[str, str]] = {}
        for table, column, type_ in self.query(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name ="
            " current_database() AND schema_name = $1 ORDER BY table_name, column_index",
            [self.schema],
        ):
            columns.setdefault(str(table), {})[str(column)] = str(type_)
        views = {
            str(name)
            for (name,) in self.query(
                "SELECT view_name FROM duckdb_views() WHERE database_name = current_database()"
                " AND schema_name = $1",
                [self.schema],
            )
        }
        return {name: Relation(name, found, name in views) for name, found in columns.items()}

    def query(self, sql: str, values: Sequence[Value] = NO_VALUES) -> Sequence[Row]:
        """Run a statement and return its rows."""
        try:
            return self.connection.execute(sql, list(values) or None).fetchall()
        except DUCKDB_ERRORS as error:
            raise self._refused(error) from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block does together, or nothing of it."""
        self.query("BEGIN")
        try:
            yield
            self.query("COMMIT")
        except BaseException:
            # A commit that failed has rolled back by itself.
            with _ignored_without_transaction():
                self.connection.execute("ROLLBACK")
            raise

    def named(self, relation: str) -> str:
        """Return the quoted name of a relation of the schema."""
        return qualified(self.schema, relation)

    def _refused(self, error: Exception) -> WarehouseError:
        return WarehouseError(
            f"The warehouse {self.file.name} refused a statement: {reason(error, self.file)}",
            hint="Nothing of that step was kept. Check the warehouse, and run the command again.",
        )


@contextmanager
def _ignored_without_transaction() -> Iterator[None]:
    try:
        yield
    except duckdb.TransactionException:
        return


@contextmanager
def open_duckdb(file: Path, schema: str, *, read_only: bool) -> Iterator[DuckDBWarehouse]:
    """Open a DuckDB file, which is made where it's missing and ``read_only`` isn't set."""
    try:
        connection = duckdb.connect(str(file), read_only=read_only)
    except DUCKDB_ERRORS as error:
        kind = WarehouseBusyError if _OPEN_ELSEWHERE in str(error) else WarehouseError
        raise kind(
            f"The warehouse {file.name} can't be opened: {reason(error, file)}",
            hint="Close other programs that have it open, and run the command again.",
        ) from None
    with closing(connection):
        yield DuckDBWarehouse(connection, file, schema)


@dataclass(frozen=True, slots=True)
class FileLock:
    """A file that this process has locked."""

    descriptor: int

    def check(self) -> None:
        """Do nothing: only the end of the process frees the lock."""


@contextmanager
def locked_duckdb(file: Path) -> Iterator[FileLock]:
    """Hold the lock of a DuckDB file; WarehouseBusyError where another process has it."""
    place = file.with_name(file.name + _LOCK_ENDING)
    try:
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise WarehouseError(
            f"The lock beside the warehouse, {place}, can't be made: {error.strerror}",
            hint="Check that you may write to that folder.",
        ) from error
    try:
        if sys.platform != "win32":
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise busy(file.name) from None
        yield FileLock(descriptor)
    finally:
        # The file stays: one that is removed while another waits for it would be two locks.
        os.close(descriptor)


def busy(warehouse: str) -> WarehouseBusyError:
    """Return the error for a warehouse that somebody else has locked."""
    return WarehouseBusyError(
        f"Another `fluid apply` or `fluid rollback` is at work in {warehouse}.",
        hint="Wait until it has ended. If it was killed, its lock is gone with it.",
    )
