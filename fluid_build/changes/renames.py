"""What somebody said about new names: which table or column had which name before."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Renames:
    """The earlier names of tables by their new ones, and of columns by new table and new name.

    ``apart`` are new tables and columns that aren't what went under another name: the new table,
    the new column (None of a table), and the name that it didn't have.
    """

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[tuple[str, str], str] = field(default_factory=dict)
    apart: frozenset[tuple[str, str | None, str]] = frozenset()

    def earlier_table(self, table: str) -> str:
        """Return what a table was called before; its name, if nobody says otherwise."""
        return self.tables.get(table, table)

    def earlier_column(self, table: str, column: str) -> str:
        """Return what a column was called before; ``table`` is the table's new name."""
        return self.columns.get((table, column), column)

    def are_two(self, was: str, table: str, column: str | None = None) -> bool:
        """Return whether somebody said that what is there now isn't what was called ``was``."""
        return (table, column, was) in self.apart


NO_RENAMES = Renames()
