"""Numbers that share each row of a parent out: percentages of an employee's cost, by cost center.

They add up to 1 or to 100 for each parent, whatever they're called.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.observations.numeric_columns import NumericColumn, numeric_columns
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling.profile import ForeignKey
from fluid_build.sources.sql import quote

_WHOLES = (1, 100)
_FEWEST_SHARED = 10
"""Parents with several rows that must be shared out; a few sums are 100 by accident."""
_MATCHING = 0.95
"""Share of them that must be; some lack a row, or have one too many."""
_ERROR = 0.005
"""Part of the whole by which shares may miss it, such as three times 33.3."""


@dataclass(frozen=True, slots=True)
class WholeShares:
    """A column whose values add up to ``whole`` for ``matches`` of ``parents`` with several rows.

    ``columns`` are those by which rows refer to the parent.
    """

    table: str
    share: str
    columns: tuple[str, ...]
    whole: int
    parents: int
    matches: int


def whole_shares(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[WholeShares]:
    """Return the shares of all tables, a query for each reference of a table that may have some."""
    for key in foreign_keys:
        table = tables.get(key.from_table)
        if key.implied or table is None:
            continue
        numbers = [n for n in numeric_columns(table, foreign_keys) if _may_be_share(table, n)]
        if numbers:
            with unless_unreadable():
                yield from _shares(connection, table, key, numbers)


def _may_be_share(table: ObservedTable, number: NumericColumn) -> bool:
    column = table.profile.column(number.name)
    try:
        low, high = float(column.min or "nan"), float(column.max or "nan")
    except ValueError:
        return False
    return low >= 0 and any(whole / 2 <= high <= whole for whole in _WHOLES)


def _shares(
    connection: duckdb.DuckDBPyConnection,
    table: ObservedTable,
    key: ForeignKey,
    numbers: Sequence[NumericColumn],
) -> Iterator[WholeShares]:
    columns = ", ".join(quote(table.aliases[name]) for name in key.from_columns)
    sums = ", ".join(f"sum({number.sql}) AS s{i}" for i, number in enumerate(numbers))
    figures = ", ".join(
        f"count(*) FILTER (WHERE abs(s{i} - {whole}) <= {_ERROR * whole})"
        for i in range(len(numbers))
        for whole in _WHOLES
    )
    row = connection.execute(
        f"SELECT count(*), {figures} FROM"
        f" (SELECT {sums} FROM {table.relation} GROUP BY {columns} HAVING count(*) > 1)"
    ).fetchone()
    parents, *matches = row or (0,)
    pairs = [(number, whole) for number in numbers for whole in _WHOLES]
    for (number, whole), found in zip(pairs, matches, strict=False):
        if parents >= _FEWEST_SHARED and found >= _MATCHING * parents:
            yield WholeShares(
                table.profile.name, number.name, key.from_columns, whole, parents, found
            )
