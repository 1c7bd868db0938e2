"""A plugin for pytest that records how long a whole suite took: ``pytest --suite-time NAME``.

``pytest_plugins = ["tests.suite_time"]`` in ``tests/conftest.py`` switches it on. A run is recorded
if it passed and nothing but its tier selected its tests: that is what makes a suite.
``scripts/budget.py`` compares the last record with the budget. The record has

- ``seconds``: on the clock, from the start of the session to the end of its last worker,
- ``processors``: how many worked on it, which is the workers, but never more than there are,
- ``ratio``: ``seconds * processors`` in units of a fixed piece of work, which is done before and
  after the tests, so that slower and faster machines compare,
- ``busy``: how many times longer the work took on the clock than on the processor. Above 1, other
  programs took part of the machine's time,
- ``finished``: when, in seconds since 1970.
"""

import hashlib
import json
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import pytest
import sqlglot

_TIMES = 3
"""How often the work is done at each end. The median leaves out a moment of other load."""


@dataclass(frozen=True, slots=True)
class WorkTime:
    """How long the piece of work takes now, in seconds."""

    clock: float
    processor: float


_BEGUN = pytest.StashKey[tuple[WorkTime, float]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("suite time")
    group.addoption("--suite-time", metavar="NAME", help="Record how long this whole suite took.")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Do the piece of work, and start the clock, before the workers start."""
    if _is_recorded(session.config):
        session.config.stash[_BEGUN] = (time_of_work(), time.perf_counter())


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Iterator[None]:
    """Stop the clock once the workers have ended, and do the piece of work again."""
    yield
    begun = session.config.stash.get(_BEGUN, None)
    if begun is None or exitstatus != pytest.ExitCode.OK:
        return
    before, start = begun
    seconds = time.perf_counter() - start
    after = time_of_work()
    clock = before.clock + after.clock
    processors = min(max(1, _workers(session.config)), os.cpu_count() or 1)
    record = {
        "seconds": round(seconds, 1),
        "processors": processors,
        "ratio": round(seconds * processors / (clock / 2), 1),
        "busy": round(clock / (before.processor + after.processor), 2),
        "finished": round(time.time()),
    }
    name = session.config.getoption("suite_time")
    assert session.config.cache is not None
    session.config.cache.set(f"suite_time/{name}", record)


def _is_recorded(config: pytest.Config) -> bool:
    """Return whether this is the controller of a whole suite whose time is wanted."""
    if hasattr(config, "workerinput") or not config.getoption("suite_time"):
        return False
    selections = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "maxfail", "collectonly")
    is_selection = any(config.getoption(name, None) for name in selections)
    is_given = config.args_source is pytest.Config.ArgsSource.ARGS
    has_cache = getattr(config, "cache", None) is not None
    return has_cache and not is_selection and not is_given


def _workers(config: pytest.Config) -> int:
    """Return how many processes run the tests beside the controller."""
    return len(config.getoption("tx", None) or [])


def time_of_work() -> WorkTime:
    """Return how long the piece of work takes on this machine now: the median of a few times."""
    times = [_timed() for _ in range(_TIMES)]
    clock = statistics.median(taken.clock for taken in times)
    return WorkTime(clock, statistics.median(taken.processor for taken in times))


def _timed() -> WorkTime:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return WorkTime(time.perf_counter() - clock, time.process_time() - processor)


def work() -> None:
    """Do what the tests do most, without any code of ours: it never changes.

    A third each is Python itself with JSON and hashes, parsing and writing SQL, and queries of
    DuckDB on one thread.
    """
    digest = hashlib.sha256()
    rows = [{"id": i, "name": f"row {i}", "parts": [i % 7, i % 11]} for i in range(2_000)]
    for _ in range(20):
        digest.update(json.dumps(rows, sort_keys=True).encode())
        rows = json.loads(json.dumps(rows))
    columns = ", ".join(f"SUM(a{i}) AS total_{i}" for i in range(20))
    statement = f"SELECT b, {columns} FROM t JOIN u USING (id) WHERE a1 > 0 GROUP BY b"
    for dialect in ("duckdb", "postgres", "snowflake") * 16:
        sqlglot.parse_one(statement, read=dialect).sql(dialect)
    with duckdb.connect(config={"threads": 1}) as connection:
        for i in range(60):
            connection.execute(f"CREATE TABLE t{i} AS SELECT i, hash(i) AS h FROM range(5000) r(i)")
            query = f"SELECT count(*), count(DISTINCT h % 999), max(i) FROM t{i}"
            connection.execute(query).fetchall()
