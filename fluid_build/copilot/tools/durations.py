"""The durations of a tool: exact sums, and the latest values."""

from __future__ import annotations

from collections import deque

FOLD_AT = 256
"""Durations that wait to be added up, so that a lock is taken once for all of them."""


class Durations:
    """The latest durations of a tool, in milliseconds, and exact sums over all of them.

    New values wait in ``pending``, where appending needs no lock, and are folded in by the hundred.
    """

    def __init__(self, size: int) -> None:
        self.pending: list[float] = []
        self.latest: deque[float] = deque(maxlen=size)
        self.count = 0
        self.total = 0.0
        self.shortest = float("inf")
        self.longest = 0.0

    def fold(self) -> int:
        """Add up the pending values; return how many values there were in all."""
        waiting = len(self.pending)
        arrived = self.pending[:waiting]
        del self.pending[:waiting]  # Not replaced: another thread may be appending to it.
        if arrived:
            self.count += len(arrived)
            self.total += sum(arrived)
            self.shortest = min(self.shortest, *arrived)
            self.longest = max(self.longest, *arrived)
            self.latest.extend(arrived)
        return self.count
