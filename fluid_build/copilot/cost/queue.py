"""The queue of calls that wait for money which other calls have reserved, for threads and tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from decimal import Decimal

from fluid_build.copilot.cost.ledger import Hold, Ledger, Waiter
from fluid_build.copilot.cost.ledger_lock import LedgerLock
from fluid_build.copilot.errors import CostLimitExceeded

_HOLDS: ContextVar[tuple[Hold, ...]] = ContextVar("fluid_cost_holds", default=())
"""What this context has reserved: it isn't released while a call made in this context waits."""


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

    async def wait(self, hold: Hold, limit: Decimal | None) -> None:
        """Reserve once others have released enough."""
        import asyncio

        loop, ready = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(ready.set)

        waiter = self._join(hold, limit, wake)
        try:
            await ready.wait()
        except BaseException:
            self._leave(waiter)
            raise
        _register_or_refuse(hold, waiter.refused_total, limit)

    def wait_sync(self, hold: Hold, limit: Decimal | None) -> None:
        """Reserve once others have released enough, and block this thread until then."""
        ready = threading.Event()
        waiter = self._join(hold, limit, ready.set, {threading.get_ident()})
        try:
            ready.wait()
        except BaseException:
            self._leave(waiter)
            raise
        _register_or_refuse(hold, waiter.refused_total, limit)

    def serve(self) -> None:
        """Wake the calls whose waiting has ended. Called after any change of the ledger."""
        with self._lock:
            decided = self._ledger.decide()
        for waiter in decided:
            try:
                waiter.wake()
            except RuntimeError:  # its event loop is closed, so nobody will use the money
                self._leave(waiter)

    def _join(
        self,
        hold: Hold,
        limit: Decimal | None,
        wake: Callable[[], None],
        stopped: Iterable[int] = (),
    ) -> Waiter:
        from fluid_build.copilot.blocking import stopped_threads

        outer_holds = frozenset(outer for outer in _HOLDS.get() if outer.is_open)
        threads = stopped_threads().union(stopped)
        waiter = Waiter(hold, limit, wake, outer_holds, threads)
        with self._lock:
            self._ledger.wait(waiter)
        self.serve()
        return waiter

    def _leave(self, waiter: Waiter) -> None:
        with self._lock:
            self._ledger.leave(waiter)
        self.serve()


def _register_or_refuse(hold: Hold, refused_total: Decimal | None, limit: Decimal | None) -> None:
    """Add an open hold to this context's. Raises if it was refused."""
    if refused_total is not None and limit is not None:
        raise CostLimitExceeded(refused_total, limit)
    _HOLDS.set((*(outer for outer in _HOLDS.get() if outer.is_open), hold))
