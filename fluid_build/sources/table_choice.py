"""Choosing one table of a source by the name that a user gives it."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fluid_build.errors import UsageError
from fluid_build.text import listed_up_to

_MOST_LISTED = 30


@dataclass(frozen=True, slots=True)
class TableName:
    """A table's name as the source is shown: bare, or with its schema where several are read."""

    shown: str
    schema: str = ""
    table: str = ""

    @property
    def spellings(self) -> frozenset[str]:
        """Every name that a user may give it."""
        table = self.table or self.shown
        return frozenset((self.shown, table, f"{self.schema}.{table}" if self.schema else table))


OnTables: TypeAlias = Callable[[Sequence[TableName]], None]
"""Is told the tables of a source once they are known, before any row is read; may raise."""


def any_tables(_names: Sequence[TableName]) -> None:
    """Content with whatever there is."""


OnUnmatched: TypeAlias = Callable[[str, Sequence[TableName]], None]
"""Is told a pattern that matches none of the tables; may raise."""


def refuse_unmatched(pattern: str, names: Sequence[TableName]) -> None:
    """Raise UsageError for a pattern that matches no table."""
    raise UsageError(f"No table matches {pattern}.", hint=tables_hint(pattern, names))


def chosen_table(requested: str, names: Sequence[TableName]) -> str:
    """Return the shown name of the requested table, with its schema or without, in any case.

    A name in the very same spelling goes before others. Raises UsageError where none is meant,
    with the nearest names and those that there are, or where several are.
    """
    matching = [name for name in names if name.shown == requested]
    matching = matching or [name for name in names if requested in name.spellings]
    matching = matching or [name for name in names if requested.lower() in _lower(name)]
    if len(matching) == 1:
        return matching[0].shown
    if matching:
        candidates = ", ".join(sorted(_full(name) for name in matching))
        raise UsageError(
            f"{requested} matches {len(matching)} tables.", hint=f"Choose one: {candidates}."
        )
    raise UsageError(f"The source has no table {requested}.", hint=tables_hint(requested, names))


def may_be_made(requested: str, names: Sequence[TableName]) -> bool:
    """Return whether a name may be that of a table made of others as they are read.

    Split from the nested columns of another, or united of several for one period each.
    """
    name = requested.lower()
    spellings = [spelling for name in names for spelling in _lower(name)]
    return any(
        name.startswith(f"{spelling}__") or (spelling.startswith(name) and spelling != name)
        for spelling in spellings
    )


def _lower(name: TableName) -> set[str]:
    return {spelling.lower() for spelling in name.spellings}


def _full(name: TableName) -> str:
    if name.shown != name.table or not name.schema:
        return name.shown
    return f"{name.schema}.{name.table}"


def tables_hint(requested: str, names: Sequence[TableName]) -> str:
    """Return a hint with the names nearest to a requested one, and with all names."""
    is_distinct = len({name.shown for name in names}) == len(names)
    labels = {name: name.shown if is_distinct else _full(name) for name in names}
    shown_by = {spelling.lower(): labels[name] for name in names for spelling in name.spellings}
    near = difflib.get_close_matches(requested.lower(), shown_by, n=3)
    guesses = " or ".join(dict.fromkeys(shown_by[spelling] for spelling in near))
    guess = f"Did you mean {guesses}? " if guesses else ""
    tables = listed_up_to(_MOST_LISTED, list(labels.values()))
    return f"{guess}The tables are {tables}."
