"""The queue of calls that wait for money which other calls have reserved, for threads and tasks."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from decimal import Decimal
from typing import TYPE_CHECKING

from fluid_build.copilot.cost.ledger import Hold, Ledger, LedgerLock, Waiter
from fluid_build.copilot.errors import CostLimitExceeded

if TYPE_CHECKING:
    import asyncio

DEFAULT_PATIENCE_SECONDS = 120.0
"""The default timeout of a client."""

_CHECK_SECONDS = 0.5
"""Between two checks whether the readers of streams have left: nothing reports that."""

_HOLDS: ContextVar[tuple[Hold, ...]] = ContextVar("fluid_cost_holds", default=())
"""What this context has reserved: it isn't released while a call made in this context waits."""

_STREAMS: ContextVar[tuple[weakref.ref[StreamHold], ...]] = ContextVar(
    "fluid_cost_streams", default=()
)
"""The streams that were created in this context, in whatever task they are read."""


class StreamHold:
    """The money of a stream, known in the context that creates the stream.

    ``hold`` is that of its current attempt. Between two events the money waits for the reader.
    """

    def __init__(self) -> None:
        self.hold: Hold | None = None
        self._reader: weakref.ref[asyncio.Task[object]] | int = 0
        known = (stream for stream in _STREAMS.get() if stream() is not None)
        _STREAMS.set((*known, weakref.ref(self)))

    def pause(self) -> None:
        """Record that the stream goes on only when its reader asks for more."""
        if self.hold is not None and self.hold.is_open:
            task = _current_task()
            self._reader = threading.get_ident() if task is None else weakref.ref(task)
            self.hold.is_paused, self.hold.changed_at = True, time.monotonic()

    def resume(self) -> None:
        """Record that the reader has asked for more."""
        if self.hold is not None:
            self.hold.is_paused, self.hold.changed_at = False, time.monotonic()

    @property
    def waits_for_current_code(self) -> bool:
        """Return whether the stream is paused, and no other task or thread reads it."""
        if self.hold is None or not self.hold.is_paused:
            return False
        if isinstance(self._reader, int):
            return self._reader == threading.get_ident()
        task = self._reader()
        return task is None or task.done() or task is _current_task()


class ReservationQueue:
    """Reservations in a ledger, immediate or queued.

    Every method raises ``CostLimitExceeded`` if refused.
    """

    def __init__(self, ledger: Ledger, lock: LedgerLock) -> None:
        self._ledger = ledger
        self._lock = lock

    def reserve(self, hold: Hold, limit: Decimal | None) -> None:
        """Reserve now."""
        with self._lock:
            total = self._ledger.open(hold, limit)
        _register_or_refuse(hold, total, limit)

    async def wait(self, hold: Hold, limit: Decimal | None, patience: float) -> None:
        """Reserve once others have released enough.

        After ``patience`` seconds in which only streams that nobody reads hold money, it's refused.
        """
        import asyncio

        loop, ready = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(ready.set)

        with self._queued(hold, limit, wake) as waiter:
            while seconds := self._seconds_to_wait(waiter, patience):
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await ready.wait()

    def wait_sync(self, hold: Hold, limit: Decimal | None, patience: float) -> None:
        """Reserve as ``wait`` does, and block this thread until then."""
        ready = threading.Event()
        with self._queued(hold, limit, ready.set, {threading.get_ident()}) as waiter:
            while seconds := self._seconds_to_wait(waiter, patience):
                ready.wait(seconds)

    def serve(self) -> None:
        """Wake the calls whose waiting has ended. Called after any change of the ledger."""
        with self._lock:
            decided = self._ledger.decide()
        for waiter in decided:
            try:
                waiter.wake()
            except RuntimeError:  # its event loop is closed, so nobody will use the money
                self._leave(waiter)

    @contextmanager
    def _queued(
        self,
        hold: Hold,
        limit: Decimal | None,
        wake: Callable[[], None],
        stopped: Iterable[int] = (),
    ) -> Iterator[Waiter]:
        """Join the queue, and leave it where the waiting fails. Raises if it was refused."""
        from fluid_build.copilot.blocking import stopped_threads

        threads = stopped_threads().union(stopped)
        waiter = Waiter(hold, limit, wake, _outer_holds(), threads)
        with self._lock:
            self._ledger.wait(waiter)
        self.serve()
        try:
            yield waiter
        except BaseException:
            self._leave(waiter)
            raise
        _register_or_refuse(hold, waiter.refused_total, waiter.limit, waiter.blocking_usd)

    def _seconds_to_wait(self, waiter: Waiter, patience: float) -> float:
        """Return the seconds until the next look at a waiting call; 0 once it is decided."""
        with self._lock:
            if waiter.is_decided:
                return 0
            waiter.outer_holds = _outer_holds()
            since = self._ledger.idle_since()
            if since is not None:
                waited = time.monotonic() - max(since, waiter.joined_at)
                if waited >= patience:
                    self._ledger.refuse(waiter)
        self.serve()
        return 0 if waiter.is_decided else min(patience, _CHECK_SECONDS)

    def _leave(self, waiter: Waiter) -> None:
        with self._lock:
            self._ledger.leave(waiter)
        self.serve()


def _register_or_refuse(
    hold: Hold,
    refused_total: Decimal | None,
    limit: Decimal | None,
    blocking_usd: Decimal = Decimal(0),
) -> None:
    """Add an open hold to this context's. Raises if it was refused."""
    if refused_total is not None and limit is not None:
        raise CostLimitExceeded(refused_total, limit, blocking_usd=blocking_usd)
    _HOLDS.set((*(outer for outer in _HOLDS.get() if outer.is_open), hold))


def _outer_holds() -> frozenset[Hold]:
    """Return the money that can't be released while the current code waits."""
    streams = (reference() for reference in _STREAMS.get())
    paused = (
        stream.hold for stream in streams if stream is not None and stream.waits_for_current_code
    )
    return frozenset(hold for hold in (*_HOLDS.get(), *paused) if hold is not None and hold.is_open)


def _current_task() -> asyncio.Task[object] | None:
    import asyncio

    try:
        return asyncio.current_task()
    except RuntimeError:  # there's no event loop in this thread
        return None
