"""The lock around a ledger, which finalizers can't interrupt."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Self


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
