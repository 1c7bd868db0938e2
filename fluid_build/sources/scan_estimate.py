"""What the queries of a warehouse will scan, said before they run, and the bound on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.errors import ScanTooLargeError
from fluid_build.text import counted

MOST_BYTES = 10 * 1000**3
"""What is scanned unasked: about 6 US cents at BigQuery's on-demand price, and a minute of a small
warehouse. Beyond it the user says --sample or --full."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanEstimate:
    """What reading some tables will scan.

    ``basis`` says where the bytes are from (``a dry run``), and ``compute`` what runs the
    queries (``the warehouse LOAD_WH``), if that is known. ``is_at_most`` says that sampling may
    scan less. ``price`` is in US dollars, and ``price_source`` what it is computed by.
    """

    tables: int
    bytes: int | None
    rows: int | None = None
    basis: str = ""
    compute: str = ""
    is_at_most: bool = False
    price: float | None = None
    price_source: str = ""

    @property
    def sentence(self) -> str:
        """The estimate in a line."""
        of_tables = counted(self.tables, "table")
        rows = "" if self.rows is None else f", {counted(self.rows, 'row')}"
        compute = f", on {self.compute}" if self.compute else ""
        if self.bytes is None:
            return f"Reading {of_tables}{rows}{compute}; how much that scans isn't known."
        most = "at most" if self.is_at_most else "about"
        basis = f" ({self.basis})" if self.basis else ""
        amount = f"Reading {of_tables} scans {most} {size(self.bytes)}{basis}"
        return f"{amount}{rows}{compute}.{self._price}"

    @property
    def _price(self) -> str:
        if self.price is None:
            return ""
        amount = "less than $0.01" if self.price < 0.01 else f"about ${self.price:,.2f}"
        return f" On demand that costs {amount} ({self.price_source})."


OnScan: TypeAlias = Callable[[ScanEstimate], None]
"""Is told what will be scanned before the first row is read."""


def any_scan(_estimate: ScanEstimate) -> None:
    """Ignore what will be scanned."""


def check_scan(estimate: ScanEstimate, *, sample: int | None, full: bool) -> None:
    """Raise ScanTooLargeError for a large scan that nobody asked for in so many words."""
    if sample is not None or full or estimate.bytes is None or estimate.bytes <= MOST_BYTES:
        return
    raise ScanTooLargeError(
        f"{estimate.sentence} More than {size(MOST_BYTES)} isn't scanned unasked.",
        hint="Add --sample 100000 to read a part of each table, or --full to read everything.",
    )


def size(number: int) -> str:
    """Return a number of bytes for people: ``1.2 GB``, a thousand to the next unit."""
    amount = float(number)
    for unit in _UNITS:
        if amount < 1000 or unit == _UNITS[-1]:
            return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:,.1f} {unit}"
        amount /= 1000
    raise AssertionError("the last unit takes any amount")
