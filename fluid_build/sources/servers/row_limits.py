"""How a server is asked for a part of a table: what each does best, and cheapest."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias


class SizedTable(Protocol):
    """A table as far as its size goes; ``rows`` is None where the server doesn't say."""

    @property
    def rows(self) -> int | None:
        """How many rows the server says it has."""
        ...

    @property
    def bytes(self) -> int:
        """How many bytes it takes there; 0 where that isn't known."""
        ...

    @property
    def is_view(self) -> bool:
        """Whether it's a view, which has no blocks to sample."""
        ...


@dataclass(frozen=True, slots=True)
class RowLimit:
    """The parts of a SELECT that bound its rows, in the server's SQL; "" for a part it hasn't.

    ``before_columns`` follows SELECT, ``after_table`` the table's name, and ``at_end`` all of it.
    """

    before_columns: str = ""
    after_table: str = ""
    at_end: str = ""


RowLimiter: TypeAlias = Callable[[SizedTable, int], RowLimit]
"""Returns how a table is bounded to about that many rows, and no more."""


def first_rows(_table: SizedTable, rows: int) -> RowLimit:
    """Take the first rows that the server finds."""
    return RowLimit(at_end=f"LIMIT {rows}")


MOST_PERCENT = 100.0
_SPARE = 1.2
"""Blocks hold more or fewer rows than the average: a fifth more of them are read, and what is more
than asked for is cut off."""


def percent_of(rows: int, total: int, *, least: float = 0.0) -> float:
    """Return which percentage of a table's blocks should hold so many rows."""
    percent = MOST_PERCENT * _SPARE * rows / max(total, 1)
    return min(MOST_PERCENT, float(f"{max(least, percent):.3g}"))
