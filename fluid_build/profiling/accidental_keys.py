"""Whether a key of several columns holds for a reason, or because nothing put it to the test.

Two columns drawn at random seldom agree in both on any two of a few rows. How many pairs of rows
would agree, were the columns independent, says how hard a key was tried: with 50 expected and none
found it holds for a reason, with 0.1 expected it says nothing.
"""

from collections.abc import Iterable, Sequence
from math import prod

from fluid_build.profiling.column_stats import ColumnStats
from fluid_build.profiling.measured_tables import MeasuredColumn

_TRIED = 3.0
"""From so many expected repeats on, none is found by chance in one of twenty tables (e^-3)."""
_DATE_WORDS = frozenset("date day month year period since".split())
_STAMPED = ("creat", "insert", "load", "modif", "updat", "chang", "edit", "sync")
_SEQUENCE_WORDS = frozenset("line seq sequence ordinal position step version revision".split())
_QUANTITIES = frozenset({"money", "measure", "percent"})
_BALANCES = frozenset("bal discount margin population profit saldo stock tax total vat".split())


def only_just_holds(key: Sequence[MeasuredColumn]) -> bool:
    """Whether so few repeats were to be expected that finding none means little."""
    return expected_repeats([node.stats for node in key]) < _TRIED


def expected_repeats(columns: Sequence[ColumnStats]) -> float:
    """How many pairs of rows would agree in all columns, were these independent of each other."""
    rows = columns[0].rows
    return rows * (rows - 1) / 2 * prod(map(_agreeing, columns))


def _agreeing(column: ColumnStats) -> float:
    """The share of pairs of rows that agree in a column; of rare values, as if they were even."""
    seen, rows = column.sample_rows, column.rows
    if min(seen, rows) < 2:
        return 0.0
    counts = [count for _, count in column.values]
    share = sum(count * (count - 1) for count in counts) / (seen * (seen - 1))
    rare = rows * (1 - sum(counts) / seen)
    each = rare / max(column.distinct - len(counts), 1)
    return min(1.0, share + max(each - 1, 0.0) * rare / (rows * (rows - 1)))


def places_in_time_or_order(key: Iterable[MeasuredColumn], referring: Iterable[str]) -> bool:
    """Whether a date or a sequence number is part of a key: what is there for a new row to differ.

    The moment at which a row was written is none: it says nothing of what the row is about.
    """
    refers = set(referring)
    return any(
        node.stats.name not in refers and (_is_date(node) or _SEQUENCE_WORDS & set(node.name.bare))
        for node in key
    )


def _is_date(node: MeasuredColumn) -> bool:
    if any(word.startswith(_STAMPED) for word in node.name.bare):
        return False
    typed = node.stats.measured_type or ""
    if node.stats.kind == "temporal" or typed.startswith(("DATE", "TIMESTAMP")):
        return True
    return bool(_DATE_WORDS & set(node.name.bare))


def holds_a_quantity(node: MeasuredColumn) -> bool:
    """Whether a column holds amounts, counts or percentages, which repeat when they happen to."""
    if node.is_measure:
        return True
    number = node.stats.kind in {"integer", "float", "decimal"}
    if not number or node.name.keyed:
        return False
    return bool(node.amounts & _QUANTITIES or _BALANCES & set(node.name.bare))
