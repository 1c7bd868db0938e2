"""Columns of a header that are totals of its lines: a sum, a sum of products, or a count.

Only headers with several lines count, since one line is its own total.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeVar

import duckdb

from fluid_build.observations.numeric_columns import NumericColumn, numeric_columns
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling.profile import ForeignKey
from fluid_build.sources.sql import quote

_MOST_NUMBERS = 10
"""Numbers of a table that are tried; each makes a pair with each of the other table."""
_MOST_FACTORS = 3
"""Whole numbers and others of a line that are multiplied with each other: quantities and prices."""
_MOST_LINES = 5_000_000
"""Lines that are summed; a pass over more would take longer than the profile."""
_FEWEST_HEADERS = 10
"""Headers with several lines that must have the total: fewer agree by accident in small counts."""
_FEWEST_VALUES = 5
"""Distinct totals; a flag of orders is the count of their lines where most have one or two."""
_LINES_PER_HEADER = (1.1, 200)
"""Lines for each header, on average: with fewer nothing is summed, with more it's no header."""
_SAME_SUM = (0.7, 1.5)
"""How the sum of all lines may differ from that of all headers, which may have lost some lines."""
_MATCHING = 0.95
"""Share of headers whose total must be that of the lines; some have a rebate, or lost a line."""
_RELATIVE_ERROR = 1e-6
"""Part of a total that floating point may have changed."""


@dataclass(frozen=True, slots=True)
class HeaderTotal:
    """A column of a header that is the total of its lines.

    ``amounts`` are a column of the line, or two that are multiplied; with none, the lines are
    counted. ``matches`` of ``rows``, the headers with several lines, have the total.
    """

    header: str
    total: str
    line: str
    amounts: tuple[str, ...]
    rows: int
    matches: int


@dataclass(frozen=True, slots=True)
class _Amount:
    """A number of each line as SQL, with the error that each line adds to the total."""

    columns: tuple[str, ...]
    sql: str
    rounding: float


_T = TypeVar("_T", NumericColumn, _Amount)


def header_totals(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[HeaderTotal]:
    """Return the totals of all headers: a pass over each table, then one for each likely pair."""
    sums = _Sums(connection, foreign_keys)
    for key in foreign_keys:
        line, header = tables.get(key.from_table), tables.get(key.to_table)
        if key.implied or line is None or header is None or not _may_be_lines(line, header):
            continue
        with unless_unreadable():
            pairs = list(sums.likely_pairs(line, header))
            if pairs:
                yield from _totals(connection, key, (line, header), pairs)


@dataclass
class _Sums:
    """The sums of the numbers of tables, each computed once, when it's asked for."""

    connection: duckdb.DuckDBPyConnection
    foreign_keys: Sequence[ForeignKey]
    of_totals: dict[str, list[tuple[NumericColumn, float]]] = field(default_factory=dict)
    of_amounts: dict[str, list[tuple[_Amount, float]]] = field(default_factory=dict)

    def likely_pairs(
        self, line: ObservedTable, header: ObservedTable
    ) -> Iterator[tuple[NumericColumn, _Amount]]:
        """Return the totals and amounts that have about the same sum over all rows."""
        fewest, most = _SAME_SUM
        for total, of_total in self._totals(header):
            for amount, of_amount in self._amounts(line):
                if fewest * abs(of_total) <= abs(of_amount) <= most * abs(of_total):
                    yield total, amount

    def _totals(self, table: ObservedTable) -> list[tuple[NumericColumn, float]]:
        name = table.profile.name
        if name not in self.of_totals:
            columns = [
                column
                for column in numeric_columns(table, self.foreign_keys)
                if column.distinct >= _FEWEST_VALUES
            ][:_MOST_NUMBERS]
            self.of_totals[name] = self._summed(table, columns)
        return self.of_totals[name]

    def _amounts(self, table: ObservedTable) -> list[tuple[_Amount, float]]:
        name = table.profile.name
        if name not in self.of_amounts:
            columns = numeric_columns(table, self.foreign_keys)[:_MOST_NUMBERS]
            # A line's total is a quantity times a price: whole numbers with what has decimals.
            whole = [column for column in columns if not column.rounding][:_MOST_FACTORS]
            broken = [column for column in columns if column.rounding][:_MOST_FACTORS]
            products = [
                _Amount((left.name, right.name), f"{left.sql} * {right.sql}", right.rounding)
                for left, right in product(whole, broken)
            ]
            single = [_Amount((column.name,), column.sql, 0.0) for column in columns]
            self.of_amounts[name] = self._summed(table, [*single, *products, _Amount((), "1", 0.0)])
        return self.of_amounts[name]

    def _summed(self, table: ObservedTable, summands: Sequence[_T]) -> list[tuple[_T, float]]:
        """Return each column or amount with its sum; without those that have none."""
        if not summands:
            return []
        sums = ", ".join(f"sum({summand.sql})" for summand in summands)
        row = self.connection.execute(f"SELECT {sums} FROM {table.relation}").fetchone() or ()
        return [(summand, float(sum_)) for summand, sum_ in zip(summands, row, strict=True) if sum_]


def _may_be_lines(line: ObservedTable, header: ObservedTable) -> bool:
    lines, headers = line.profile.rows, header.profile.rows
    fewest, most = _LINES_PER_HEADER
    is_bounded = headers >= _FEWEST_HEADERS and lines <= _MOST_LINES
    return line is not header and is_bounded and fewest * headers <= lines <= most * headers


def _totals(
    connection: duckdb.DuckDBPyConnection,
    key: ForeignKey,
    tables: tuple[ObservedTable, ObservedTable],
    pairs: Sequence[tuple[NumericColumn, _Amount]],
) -> Iterator[HeaderTotal]:
    row = connection.execute(_query(key, tables, pairs)).fetchone() or ()
    settled: set[str] = set()
    for (total, amount), rows, matches in zip(pairs, row[::2], row[1::2], strict=True):
        is_total = rows >= _FEWEST_HEADERS and matches >= _MATCHING * rows
        # A single column comes first: its product with a constant is the same total.
        if is_total and total.name not in settled:
            settled.add(total.name)
            yield HeaderTotal(
                header=key.to_table,
                total=total.name,
                line=key.from_table,
                amounts=amount.columns,
                rows=rows,
                matches=matches,
            )


def _query(
    key: ForeignKey,
    tables: tuple[ObservedTable, ObservedTable],
    pairs: Sequence[tuple[NumericColumn, _Amount]],
) -> str:
    """Return a query that counts, for each total and amount, the headers and those that match."""
    line, header = tables
    totals = list(dict.fromkeys(total for total, _ in pairs))
    amounts = list(dict.fromkeys(amount for _, amount in pairs))
    ours = [quote(line.aliases[name]) for name in key.from_columns]
    theirs = [quote(header.aliases[name]) for name in key.to_columns]
    sums = ", ".join(f"sum({amount.sql}) AS s{i}" for i, amount in enumerate(amounts))
    keys = ", ".join(f"{column} AS k{i}" for i, column in enumerate(ours))
    header_keys = ", ".join(f"{column} AS h{i}" for i, column in enumerate(theirs))
    values = ", ".join(f"{total.sql} AS t{i}" for i, total in enumerate(totals))
    joined = " AND ".join(f"h{i} = k{i}" for i in range(len(ours)))
    counts = ", ".join(
        _counts(
            f"t{totals.index(total)}", f"s{amounts.index(amount)}", total.rounding, amount.rounding
        )
        for total, amount in pairs
    )
    return (
        f"WITH lines AS (SELECT {keys}, {sums}, count(*) AS line_count FROM {line.relation}"
        f" GROUP BY {', '.join(ours)}),"
        f" headers AS (SELECT {header_keys}, {values} FROM {header.relation})"
        f" SELECT {counts} FROM headers JOIN lines ON {joined} WHERE line_count > 1"
    )


def _counts(total: str, amount: str, rounding: float, line_rounding: float) -> str:
    has_both = f"{total} <> 0 AND {amount} IS NOT NULL"
    error = f"{rounding} + {line_rounding} * line_count + {_RELATIVE_ERROR} * abs({total})"
    matching = f"abs({total} - {amount}) <= {error}"
    return f"count(*) FILTER (WHERE {has_both}), count(*) FILTER (WHERE {has_both} AND {matching})"
