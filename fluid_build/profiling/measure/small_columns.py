"""The figures of a column that was read whole, from its values as text."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from operator import mul
from typing import Any
from uuid import UUID

from fluid_build.profiling.measure.distributions import Ranked, describe_positions, describe_texts
from fluid_build.profiling.measure.figures import ColumnStats
from fluid_build.profiling.measure.number_lines import FloatingPoint, axis_of


def set_figures(
    stats: ColumnStats, counts: Mapping[str, int], ranked: Sequence[str], total: int | None
) -> bool:
    """Set lengths, bounds and distribution of a column; False if the text hides its order.

    ``counts`` are all values with their numbers, ``ranked`` the same values in alphabetical order.
    ``total`` adds up the positions of dates or times on their axis.
    """
    if stats.kind in {"nested", "binary"}:
        return True
    stats.is_integral = stats.kind == "integer"
    if not counts:
        return True
    if stats.kind == "text":
        _set_lengths(stats, counts)
    type_name = stats.column.type.partition("(")[0]
    if type_name in _NUMBERS:
        _set_number_figures(stats, counts)
        return True
    if type_name in _SORTED_AS_TEXT:
        if stats.kind == "temporal":
            if not _sort_as_text(type_name, ranked):
                return False
            _describe_times(stats, counts, ranked, total)
        stats.set_bounds(ranked[0], ranked[-1])
        return True
    parse = _PARSERS.get(type_name)
    if parse is None:
        return False
    values = list(map(parse, counts))
    stats.set_bounds(min(values), max(values))
    return True


def _set_lengths(stats: ColumnStats, counts: Mapping[str, int]) -> None:
    lengths = list(map(len, counts))
    stats.min_length, stats.max_length = min(lengths), max(lengths)
    stats.avg_length = sum(map(mul, lengths, counts.values())) / stats.present


def _set_number_figures(stats: ColumnStats, counts: Mapping[str, int]) -> None:
    axis = axis_of(stats.column.type)
    if axis is None:
        return
    positions = axis.positions(counts)
    if stats.kind == "float":
        _set_float_bounds(stats, positions)
        axis = FloatingPoint(stats.is_integral)
    else:
        parse = Decimal if stats.column.type.startswith("DECIMAL") else int
        stats.set_bounds(parse(axis.text(min(positions))), parse(axis.text(max(positions))))
    repeats = None if len(counts) == stats.present else list(counts.values())
    stats.distribution = describe_positions(axis, positions, repeats)


def _set_float_bounds(stats: ColumnStats, values: Sequence[float]) -> None:
    """Set the bounds as DuckDB orders numbers, NaN last."""
    stats.is_integral = all(math.isfinite(value) and value.is_integer() for value in values)
    numbers = [value for value in values if not math.isnan(value)]
    has_nan = len(numbers) < len(values)
    stats.set_bounds(
        min(numbers, default=math.nan), math.nan if has_nan else max(reversed(numbers))
    )


def _describe_times(
    stats: ColumnStats, counts: Mapping[str, int], ranked: Sequence[str], total: int | None
) -> None:
    axis = axis_of(stats.column.type)
    if axis is not None and total is not None:
        running = list(accumulate(map(counts.__getitem__, ranked)))
        stats.distribution = describe_texts(axis, Ranked(ranked, running), total)


def _sort_as_text(type_name: str, values: Sequence[str]) -> bool:
    """Return whether dates or times sort as their text does.

    "infinity", years BC and years after 9999 don't.
    """
    usual_length = _USUAL_LENGTHS.get(type_name)
    return set(map(len, values)) == {usual_length} or all(map(_SORTS_AS_TEXT, values))


_SORTS_AS_TEXT = re.compile(r"\d{4}-\d\d-[^)]*$|\d\d:").match
_USUAL_LENGTHS = {"DATE": 10, "TIME": 8, "TIMESTAMP": 19}
"""Lengths that only dates of years with four digits, and times of whole seconds, have."""
_SORTED_AS_TEXT = frozenset(
    (
        *"DATE TIME TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS VARCHAR".split(),
        "TIMESTAMP WITH TIME ZONE",
    )
)

_NUMBERS = frozenset(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT"
    " DECIMAL DOUBLE".split()
)
# How text becomes the value that DuckDB would return; the bounds of other types come from a query.
_PARSERS: Mapping[str, Callable[[str], Any]] = {"BOOLEAN": "true".__eq__, "UUID": UUID}
