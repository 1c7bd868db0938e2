"""Many small queries at once: additional sessions of a connection, each on its own thread.

DuckDB splits a scan into tasks of one row group. A smaller table is a single task, and more threads
only cost time to set up. So small queries run several at a time on one DuckDB thread each, and
large ones run one after another on all threads.
"""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TypeVar

import duckdb

from fluid_build.sources.sql import literal, quote

ROW_GROUP = 122_880
"""Rows that DuckDB scans in one task."""

_MOST_SESSIONS = 4
"""Each session has the memory of its query, and all of them share Python's global lock."""

_COUNTED_AT_ONCE = 100
"""Relations counted in one statement, which shares its fixed cost."""
_Result = TypeVar("_Result")
_Work = Callable[[duckdb.DuckDBPyConnection], _Result]


def in_sessions(
    connection: duckdb.DuckDBPyConnection, work: Sequence[_Work[_Result]]
) -> Generator[_Result]:
    """Do small independent pieces of work, and yield their results in order.

    Each piece gets a connection to the same database with the same schema, time zone and load
    date. The first error, in the order of the pieces, is raised once no query is running, and none
    runs after the generator is closed.
    """
    with one_thread_a_query(connection) as threads:
        at_once = min(threads, os.cpu_count() or 1, _MOST_SESSIONS, len(work))
        if at_once <= 1:
            yield from (piece(connection) for piece in work)
            return
        with _sessions(connection, at_once) as sessions:
            yield from _results(sessions, work)


@contextmanager
def one_thread_a_query(connection: duckdb.DuckDBPyConnection) -> Iterator[int]:
    """Run each query on the thread that executes it; yield how many threads DuckDB used before."""
    row = connection.execute("SELECT current_setting('threads')").fetchone()
    threads = int(row[0]) if row else 1
    connection.execute("SET threads = 1")
    try:
        yield threads
    finally:
        connection.execute(f"SET threads = {threads:d}")


def small(connection: duckdb.DuckDBPyConnection, relations: Iterable[str]) -> frozenset[str]:
    """Return the relations that have no more rows than DuckDB scans in one task."""
    counts = row_counts(connection, relations)
    return frozenset(name for name, rows in counts.items() if rows <= ROW_GROUP)


def row_counts(connection: duckdb.DuckDBPyConnection, relations: Iterable[str]) -> dict[str, int]:
    """Return how many rows relations have.

    One that can't be counted has more than a task; the next query on it raises the reason.
    """
    names = list(relations)
    found: dict[str, int] = {}
    for start in range(0, len(names), _COUNTED_AT_ONCE):
        part = names[start : start + _COUNTED_AT_ONCE]
        counts = "\nUNION ALL\n".join(
            f"SELECT {number}, count(*) FROM {name}" for number, name in enumerate(part)
        )
        try:
            rows = connection.execute(counts).fetchall()
        except duckdb.InterruptException:
            raise
        except duckdb.Error:
            rows = [(number, ROW_GROUP + 1) for number in range(len(part))]
        found |= {part[number]: int(count) for number, count in rows}
    return found


@contextmanager
def _sessions(
    connection: duckdb.DuckDBPyConnection, count: int
) -> Iterator[list[duckdb.DuckDBPyConnection]]:
    sessions: list[duckdb.DuckDBPyConnection] = []
    try:
        sessions += (_session(connection) for _ in range(count))
        yield sessions
    finally:
        for session in sessions:
            session.close()


def _session(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Return another connection on which SQL means the same as on this one."""
    row = connection.execute(
        "SELECT current_database(), current_schema(), current_setting('TimeZone'),"
        " CAST(getvariable('load_date') AS VARCHAR)"
    ).fetchone()
    assert row is not None, "a select without a table always gives a row"
    database, schema, zone, load_date = row
    session = connection.cursor()
    session.execute(f"USE {quote(database)}.{quote(schema)}")
    session.execute(f"SET TimeZone = {literal(zone)}")
    if load_date is not None:
        session.execute(f"SET VARIABLE load_date = TIMESTAMP {literal(load_date)}")
    return session


def _results(
    sessions: Sequence[duckdb.DuckDBPyConnection], work: Sequence[_Work[_Result]]
) -> Iterator[_Result]:
    free: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    for session in sessions:
        free.put(session)

    def run(piece: _Work[_Result]) -> _Result:
        session = free.get()
        try:
            return piece(session)
        finally:
            free.put(session)

    pool = ThreadPoolExecutor(len(sessions), thread_name_prefix="fluid-session")
    started: list[Future[_Result]] = []
    try:
        started += (pool.submit(run, piece) for piece in work)
        for future in started:
            yield future.result()
    except BaseException:
        # Ctrl-C or an error must not wait for results that nobody will read.
        for future in started:
            future.cancel()
        for session in sessions:
            session.interrupt()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
