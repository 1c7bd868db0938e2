"""A tool's blocking work, as its thread and whoever asked for it both see it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from fluid_build.progress import Progress, StoppedError


class Interruptible(Protocol):
    """A connection whose query can be given up from another thread."""

    def interrupt(self) -> None:
        """Give the query up that runs."""
        ...


class Job:
    """One piece of work, as its thread and the event loop both see it."""

    def __init__(self) -> None:
        self.latest: Progress | None = None
        self._is_stopped = False
        self._connection: Interruptible | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether nobody wants the result any more."""
        return self._is_stopped

    def report(self, progress: Progress) -> None:
        """Take note of how far the work is. Raises StoppedError where nobody wants it any more."""
        self.raise_if_stopped()
        self.latest = progress

    def raise_if_stopped(self) -> None:
        """Raise StoppedError where nobody wants the result any more."""
        if self._is_stopped:
            raise StoppedError

    @contextmanager
    def querying(self, connection: Interruptible) -> Iterator[None]:
        """Let ``stop`` interrupt the queries that the block runs on a connection."""
        self._connection = connection
        try:
            self.raise_if_stopped()
            yield
        finally:
            self._connection = None

    def stop(self) -> None:
        """Have the work end at its next report, and interrupt the query that it waits for."""
        self._is_stopped = True
        connection = self._connection
        if connection is not None:
            connection.interrupt()
