"""How far the queries on one table are, told while they run."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import duckdb

from fluid_build.progress import OnProgress, Progress, StoppedError, ignore

_EVERY_SECONDS = 0.2


@contextmanager
def following(
    connection: duckdb.DuckDBPyConnection, on_progress: OnProgress, report: Progress
) -> Iterator[None]:
    """Report, and while the block's queries run report again with the part that is done.

    Nobody knows how many queries will follow, so each takes half of what is left: the part only
    ever grows, and reaches 1 with the next unit. Later reports come from a thread of their own.
    """
    on_progress(report)
    if on_progress is ignore:
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        behind, last = 0.0, 0.0
        while not ended.wait(_EVERY_SECONDS):
            share = max(0.0, connection.query_progress() / 100)
            if share < last:
                behind += (1 - behind) / 2
            last = share
            try:
                on_progress(replace(report, part=behind + (1 - behind) / 2 * share))
            except StoppedError:
                # It can't be raised in the thread that waits for the query.
                connection.interrupt()

    watcher = threading.Thread(target=watch, name="fluid-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
