"""Whether another way of reading a table gives the same rows, once its columns are cast.

Two sets of rows count as the same if their number and the sum of the 64-bit hashes of all rows
agree: that takes one pass over each, and no memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import duckdb

from fluid_build.sources.base import Table
from fluid_build.sources.engine.connection import DUCKDB_ERRORS
from fluid_build.sources.sql import quote
from fluid_build.text import free_name

WHOLE_UP_TO = 200 * 1024 * 1024
"""Bytes of data files, uncompressed, that are read a second time to be compared. More would
make the forge of large files noticeably slower."""

_HEAD = 10_000
"""Rows of a larger table that are compared: enough to show another type or another null."""

"""Rows of a larger table that are compared: enough to show another type or another null."""

Verdict: TypeAlias = Literal["same", "same at its start", "different"]


@dataclass
class ReadingCheck:
    """A table to compare other readings with; ``columns`` are names and types.

    With ``numbered``, rows are the same only in the same order.
    """

    connection: duckdb.DuckDBPyConnection
    table: Table
    columns: Sequence[tuple[str, str]]
    numbered: bool = False
    _figures: tuple[int, int] | None = field(default=None, init=False)

    def with_reading(self, relation: str, *, whole: bool) -> Verdict:
        """Compare with SQL that may follow FROM; where not ``whole``, its count and first rows.

        A reading that fails, or reads text as another type, is different: the staging expects
        text.
        """
        try:
            if not self._keeps_text(relation):
                return "different"
            if whole:
                return "same" if self._read(relation) == self._own() else "different"
            return "same at its start" if self._begins_alike(relation) else "different"
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS:
            return "different"

    def _keeps_text(self, relation: str) -> bool:
        rows = self.connection.execute(f"DESCRIBE FROM {relation}").fetchall()
        types = {row[0]: row[1] for row in rows}
        return all(
            name in types and (type_ != "VARCHAR" or types[name] == "VARCHAR")
            for name, type_ in self.columns
        )

    def _own(self) -> tuple[int, int]:
        if self._figures is None:
            self._figures = self._read(self.table.relation)
        return self._figures

    def _read(self, relation: str) -> tuple[int, int]:
        row = self.connection.execute(
            f"SELECT count(*), coalesce(sum(CAST(hash({self._cast()}) AS HUGEINT)), 0)"
            f" FROM {self._rows(relation)}"
        ).fetchone()
        return row or (0, 0)

    def _rows(self, relation: str) -> str:
        if not self.numbered:
            return relation
        return f"(SELECT *, row_number() OVER () AS {quote(self._number)} FROM {relation})"

    @property
    def _number(self) -> str:
        return free_name("number", {name.lower() for name, _ in self.columns})

    def _begins_alike(self, relation: str) -> bool:
        row = self.connection.execute(
            f"WITH head AS (SELECT DISTINCT hash({self._cast()}) AS h FROM"
            f" (SELECT * FROM {self._rows(relation)} LIMIT {_HEAD}))"
            f" SELECT (SELECT count(*) FROM {relation}) = (SELECT count(*) FROM"
            f" {self.table.relation}) AND (SELECT count(*) FROM head) = (SELECT count(DISTINCT h)"
            f" FROM (SELECT hash({self._cast()}) AS h FROM {self._rows(self.table.relation)})"
            " WHERE h IN (SELECT h FROM head))"
        ).fetchone()
        return bool(row and row[0])

    def _cast(self) -> str:
        columns = (f"CAST({quote(name)} AS {type_})" for name, type_ in self.columns)
        return ", ".join((*columns, *([quote(self._number)] * self.numbered)))
