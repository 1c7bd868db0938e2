"""The first rows that differ, fit to be shown: bounded, clipped, and nothing personal in them."""

from collections.abc import Collection, Sequence

import duckdb

from fluid_build.modeling.element import ModelPart
from fluid_build.sources.personal_text import MASK, presentable
from fluid_build.text import clip
from fluid_build.transform.proof.row_comparison import (
    Difference,
    RowComparison,
    Side,
    first_differences,
)

MOST_SHOWN = 5
_LONGEST_VALUE = 80


class DifferingRow(ModelPart):
    """A row that one side has ``times`` times more often than the other.

    ``values`` are text, by column, None for a null; a value that is too long ends in an ellipsis,
    a personal one is masked. ``differs`` names the columns in which the row differs from the one
    that it is most like on the other side, where most of their values are the same.
    """

    side: Side
    times: int
    values: dict[str, str | None]
    differs: tuple[str, ...] = ()


def differing_rows(
    connection: duckdb.DuckDBPyConnection, comparison: RowComparison, hidden: Collection[str]
) -> tuple[DifferingRow, ...]:
    """The first rows of each side that the other lacks; values of ``hidden`` columns masked."""
    found = first_differences(connection, comparison, MOST_SHOWN)
    names = [name for name, _, _ in comparison.columns]
    return tuple(
        DifferingRow(
            side=row.side,
            times=row.times,
            values=fit_to_show(names, row.values, hidden),
            differs=_differs(names, row, found),
        )
        for row in found
    )


def fit_to_show(
    names: Sequence[str], values: Sequence[str | None], hidden: Collection[str]
) -> dict[str, str | None]:
    """Values by the names of their columns: clipped, and masked where they may not be shown."""
    return {
        name: None if value is None else _shown(value, is_hidden=name in hidden)
        for name, value in zip(names, values, strict=True)
    }


def _shown(value: str, *, is_hidden: bool) -> str:
    return MASK if is_hidden or not presentable(value) else clip(value, _LONGEST_VALUE)


def _differs(names: Sequence[str], row: Difference, found: Sequence[Difference]) -> tuple[str, ...]:
    others = [
        [name for name, a, b in zip(names, row.values, other.values, strict=True) if a != b]
        for other in found
        if other.side != row.side
    ]
    nearest = min(others, key=len, default=[])
    return tuple(nearest) if 2 * len(nearest) <= len(names) else ()
