"""Interrupts: what DuckDB makes of a Ctrl-C, and giving up what still runs."""

from contextlib import suppress

import duckdb


def stop(connection: duckdb.DuckDBPyConnection) -> None:
    """Close a connection; a query that a Ctrl-C left running on it is given up first.

    Closing alone would wait for that query's end.
    """
    with suppress(duckdb.ConnectionException):
        connection.interrupt()
    connection.close()


def was_interrupted(error: BaseException | None) -> bool:
    """Return whether an error is what DuckDB makes of a Ctrl-C while a query runs.

    It raises a RuntimeError from the KeyboardInterrupt, which nobody takes for an interrupt.
    """
    return isinstance(error, duckdb.InterruptException) or (
        isinstance(error, RuntimeError) and isinstance(error.__cause__, KeyboardInterrupt)
    )
