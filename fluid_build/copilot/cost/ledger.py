"""The money of a run: what is spent, what is reserved, and which calls wait for reserved money."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Self


@dataclass(eq=False, slots=True)
class Hold:
    """US dollars that one call may spend, and the thread that reserved them."""

    amount: Decimal
    thread: int = field(default_factory=threading.get_ident)
    is_open: bool = False
    """Whether the money is reserved: not before it is granted, and not after it is released."""
    is_abandoned: bool = False
    """Whether nobody can release the money, because the reservation was garbage-collected."""
    is_paused: bool = False
    """Whether its stream waits for its reader, who may never come back."""
    changed_at: float = 0.0
    """When it was opened, paused or resumed, by the monotonic clock."""


@dataclass(eq=False, slots=True)
class Waiter:
    """A call that waits until others release enough money.

    ``wake`` is called once it is decided: either ``hold`` is open, or ``refused_total`` has the sum
    that would exceed ``limit``. ``outer_holds`` and what ``stopped_threads`` have reserved can't be
    released before this call goes on.
    """

    hold: Hold
    limit: Decimal | None
    wake: Callable[[], None]
    outer_holds: frozenset[Hold]
    stopped_threads: frozenset[int]
    refused_total: Decimal | None = None
    blocking_usd: Decimal = Decimal(0)
    """What others hold, where the call was refused only because of that."""
    joined_at: float = field(default_factory=time.monotonic)

    @property
    def is_decided(self) -> bool:
        """Return whether its waiting has ended."""
        return self.hold.is_open or self.refused_total is not None


class Ledger:
    """What a run has spent and reserved. Not safe from several threads: its owner has a lock."""

    def __init__(self) -> None:
        self.spent = Decimal(0)
        self.reserved = Decimal(0)
        self._holds: set[Hold] = set()
        self._waiters: list[Waiter] = []
        self._changed_at = time.monotonic()
        self._checked_for: Decimal | None = None
        """The spending at which no waiting call was over its limit."""

    def open(self, hold: Hold, limit: Decimal | None) -> Decimal | None:
        """Reserve money now; return the sum that would exceed the limit, and reserve nothing."""
        total = self.spent + self.reserved + hold.amount
        if limit is not None and total > limit:
            return total
        self.reserved += hold.amount
        self._holds.add(hold)
        hold.is_open = True
        hold.changed_at = time.monotonic()
        return None

    def release(self, hold: Hold) -> bool:
        """Release reserved money; return False if that was done before."""
        if not hold.is_open:
            return False
        hold.is_open = False
        self._changed_at = time.monotonic()
        self._holds.discard(hold)
        self.reserved -= hold.amount
        return True

    def clear(self) -> None:
        """Forget all spending and all reservations. Those who wait go on waiting."""
        for hold in self._holds:
            hold.is_open = False
        self._holds.clear()
        self.spent = self.reserved = Decimal(0)

    def wait(self, waiter: Waiter) -> None:
        """Put a call at the end of the queue, until ``decide`` returns it."""
        self._waiters.append(waiter)
        self._checked_for = None

    def leave(self, waiter: Waiter) -> None:
        """Take a call that stops waiting out of the queue, or release its money."""
        if waiter in self._waiters:
            self._waiters.remove(waiter)
        self.release(waiter.hold)

    def idle_since(self) -> float | None:
        """Return since when all reserved money waits for readers of streams, or None."""
        if not all(hold.is_paused for hold in self._independent_holds(self._blocking_waiters())):
            return None
        return max((self._changed_at, *(hold.changed_at for hold in self._holds)))

    def refuse(self, waiter: Waiter) -> None:
        """Refuse a call that has waited long enough."""
        self._waiters.remove(waiter)
        self._refuse(waiter)

    def change_limit(self, limit: Decimal | None) -> None:
        """Apply another limit to those who wait."""
        for waiter in self._waiters:
            waiter.limit = limit
        self._checked_for = None

    def decide(self) -> list[Waiter]:
        """Return the calls whose waiting has ended, to be woken in this order.

        Calls are served in order of arrival, so that no large one starves. Those that keep
        others' money from being released come first. A call is refused once it would exceed the
        limit whatever is released, or if nothing can be released.
        """
        decided = []
        while (waiter := self._next_decided()) is not None:
            self._waiters.remove(waiter)
            decided.append(waiter)
        return decided

    def _next_decided(self) -> Waiter | None:
        if self._checked_for != self.spent:
            for waiter in self._waiters:
                if waiter.limit is not None and self.spent + waiter.hold.amount > waiter.limit:
                    return self._refuse(waiter)
            self._checked_for = self.spent
        blocking = self._blocking_waiters()
        candidates = (*blocking, *self._waiters[:1])
        for waiter in candidates:
            if self.open(waiter.hold, waiter.limit) is None:
                return waiter
        is_stuck = candidates and not self._independent_holds(blocking)
        return self._refuse(candidates[0]) if is_stuck else None

    def _blocking_waiters(self) -> list[Waiter]:
        """Return the waiting calls that keep some reserved money from being released."""
        threads = {hold.thread for hold in self._holds}
        return [
            waiter
            for waiter in self._waiters
            if (waiter.outer_holds and waiter.outer_holds & self._holds)
            or (waiter.stopped_threads and waiter.stopped_threads & threads)
        ]

    def _independent_holds(self, blocking: list[Waiter]) -> list[Hold]:
        """Return the money that can be released before these calls go on, and was not abandoned."""
        outer_holds = frozenset[Hold]().union(*(waiter.outer_holds for waiter in blocking))
        threads = frozenset[int]().union(*(waiter.stopped_threads for waiter in blocking))
        return [
            hold
            for hold in self._holds
            if not (hold.is_abandoned or hold in outer_holds or hold.thread in threads)
        ]

    def _refuse(self, waiter: Waiter) -> Waiter:
        waiter.refused_total = self.spent + self.reserved + waiter.hold.amount
        if waiter.limit is not None and self.spent + waiter.hold.amount <= waiter.limit:
            waiter.blocking_usd = self.reserved
        return waiter


class LedgerLock:
    """A lock around one change of a ledger, as a ``with`` block. Blocks can't be nested.

    The garbage collector runs finalizers at any point, also in the thread that has the lock. So
    what a finalizer changes goes through ``finalize``, and waits until such a block has ended.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_changing = False
        self._deferred: deque[Callable[[], object]] = deque()

    def __enter__(self) -> Self:
        self._lock.acquire()
        self._is_changing = True
        return self

    def __exit__(self, *_: object) -> None:
        self._is_changing = False
        self._lock.release()
        while self._deferred:
            try:
                work = self._deferred.popleft()
            except IndexError:  # another thread took it
                return
            work()

    def finalize(self, work: Callable[[], object]) -> None:
        """Do a finalizer's work: now, or once the block has ended that it interrupts."""
        with self._lock:
            if self._is_changing:  # by this thread, or the lock wouldn't be free
                self._deferred.append(work)
                return
        work()
