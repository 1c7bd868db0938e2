"""Which part of a server's table is asked for, and which part was read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import duckdb

from fluid_build.sources.base import SampledRows
from fluid_build.sources.servers.row_limits import RowLimit, RowLimiter, SizedTable, first_rows
from fluid_build.text import counted


class EstimatedTable(SizedTable, Protocol):
    """A table whose number of rows the server may only estimate."""

    @property
    def is_estimate(self) -> bool:
        """Whether the number of rows may be wrong."""
        ...


@dataclass(frozen=True, slots=True)
class TableSampling:
    """How many rows of a table are read at most, None for all, and how the server is asked."""

    rows: int | None = None
    limiter: RowLimiter = first_rows

    def limit(self, table: EstimatedTable) -> RowLimit:
        """Return what bounds a query; nothing where the server knows that a table is small."""
        if self.rows is None or _has_at_most(table, self.rows):
            return RowLimit()
        return self.limiter(table, self.rows)

    def part_read(
        self, connection: duckdb.DuckDBPyConnection, table: EstimatedTable, relation: str
    ) -> SampledRows | None:
        """Return which part of a table was staged as a relation; None where all of it was.

        All of it was where the first rows were asked for, and there were fewer than asked for.
        """
        limit = self.limit(table)
        if self.rows is None or limit == RowLimit():
            return None
        row = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()
        rows = int(row[0]) if row else 0
        if not limit.after_table and rows < self.rows:
            return None
        if table.rows is not None and table.rows <= rows:
            return SampledRows(rows) if table.is_estimate else None
        return SampledRows(rows, table.rows, table.is_estimate)


def _has_at_most(table: EstimatedTable, rows: int) -> bool:
    return table.rows is not None and not table.is_estimate and table.rows <= rows


def sample_notes(sampled: SampledRows | None) -> Iterator[str]:
    """Yield what a user must know of a table that was read in part."""
    if sampled is not None:
        about = "about " if sampled.is_estimate else ""
        of_total = "" if sampled.total is None else f" of {about}{sampled.total:,}"
        yield (
            f"Only a sample was read, {counted(sampled.rows, 'row')}{of_total}: what is said of its"
            " values holds in the sample, and isn't proven for the other rows."
        )
