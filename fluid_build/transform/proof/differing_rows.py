"""The first rows that differ, ready to be shown: few, clipped, and without personal values."""

from collections.abc import Collection, Sequence

import duckdb

from fluid_build.modeling.element import ModelPart
from fluid_build.sources.text_values.personal_text import MASK, presentable
from fluid_build.text import clip
from fluid_build.transform.proof.row_comparison import (
    Difference,
    RowComparison,
    Side,
    first_differences,
)

MOST_SHOWN = 5
"""Rows of each side: enough to see a pattern, few enough to read."""


_LONGEST_VALUE = 80
"""Characters of a value: a line of a terminal."""


class DifferingRow(ModelPart):
    """A row that one side has ``times`` times more often than the other.

    ``values`` are text by column, None for a null; a long value ends in an ellipsis, a personal one
    is masked. ``differs`` names the columns that differ from the most similar row of the other
    side, provided that at least half of their values are the same.
    """

    side: Side
    times: int
    values: dict[str, str | None]
    differs: tuple[str, ...] = ()


def differing_rows(
    connection: duckdb.DuckDBPyConnection, comparison: RowComparison, hidden: Collection[str]
) -> tuple[DifferingRow, ...]:
    """Return the first rows that only one side has, with the values of hidden columns masked."""
    differences = first_differences(connection, comparison, MOST_SHOWN)
    names = [name for name, _, _ in comparison.columns]
    return tuple(
        DifferingRow(
            side=difference.side,
            times=difference.times,
            values=fit_to_show(names, difference.values, hidden),
            differs=_differs(names, difference, differences),
        )
        for difference in differences
    )


def fit_to_show(
    names: Sequence[str], values: Sequence[str | None], hidden: Collection[str]
) -> dict[str, str | None]:
    """Return values by column: clipped, and masked where they may not be shown."""
    return {
        name: None if value is None else _shown(value, is_hidden=name in hidden)
        for name, value in zip(names, values, strict=True)
    }


def _shown(value: str, *, is_hidden: bool) -> str:
    return MASK if is_hidden or not presentable(value) else clip(value, _LONGEST_VALUE)


def _differs(
    names: Sequence[str], row: Difference, differences: Sequence[Difference]
) -> tuple[str, ...]:
    differing_columns = [
        [name for name, a, b in zip(names, row.values, candidate.values, strict=True) if a != b]
        for candidate in differences
        if candidate.side != row.side
    ]
    nearest = min(differing_columns, key=len, default=[])
    return tuple(nearest) if 2 * len(nearest) <= len(names) else ()
