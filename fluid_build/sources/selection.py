"""Which schemas and tables of a source are read: those that names and globs choose."""

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from typing import Protocol, TypeVar

from fluid_build.errors import UsageError
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.table_choice import OnUnmatched, TableName, refuse_unmatched
from fluid_build.text import listed

T = TypeVar("T")


def selected_tables(
    tables: Sequence[T],
    name_of: Callable[[T], TableName],
    options: OpenOptions,
    *,
    folds_case: bool = True,
) -> list[T]:
    """Return the tables that ``include`` and ``exclude`` leave, in order, before a row is read.

    A pattern matches a table by its name with its schema or without. ``folds_case`` says whether
    the source takes names for equal that differ in case alone; elsewhere another case matches only
    where nothing in the same case does. Raises UsageError for a pattern that matches no table, and
    where no table is left; ``on_unmatched`` may be content with the former.
    """
    if not tables or not (options.include or options.exclude):
        return list(tables)
    names = [name_of(table) for table in tables]
    on_unmatched = options.on_unmatched
    included = positions_matching(options.include, names, on_unmatched, folds_case=folds_case)
    excluded = positions_matching(options.exclude, names, on_unmatched, folds_case=folds_case)
    if options.include and not included:
        refuse_unmatched(listed(options.include, "or"), names)
    left = [
        table
        for position, table in enumerate(tables)
        if (not options.include or position in included) and position not in excluded
    ]
    if not left:
        raise UsageError(
            "No table is left to read: all that are included are excluded as well.",
            hint="Change --include or --exclude.",
        )
    return left


class Placed(Protocol):
    """A table with its schema and name."""

    @property
    def schema(self) -> str:
        """Its schema."""
        ...

    @property
    def name(self) -> str:
        """Its name."""
        ...


def placed_name(table: Placed) -> TableName:
    """Return the name of a table that has a schema."""
    return TableName(table.name, table.schema, table.name)


def matching_positions(
    pattern: str, spellings: Sequence[Collection[str]], *, folds_case: bool
) -> set[int]:
    """Return the positions of the names that a pattern matches in one of their spellings.

    An exact name is no pattern: brackets and stars may be part of it.
    """
    attempts: list[Callable[[str], bool]] = [lambda spelling: spelling == pattern]
    if not folds_case:
        attempts.append(lambda spelling: fnmatchcase(spelling, pattern))
    lower = pattern.lower()
    attempts.append(lambda spelling: fnmatchcase(spelling.lower(), lower))
    attempts.append(lambda spelling: spelling.lower() == lower)
    for attempt in attempts:
        positions = {position for position, each in enumerate(spellings) if any(map(attempt, each))}
        if positions:
            return positions
    return set()


def positions_matching(
    patterns: Sequence[str],
    names: Sequence[TableName],
    on_unmatched: OnUnmatched,
    *,
    folds_case: bool,
) -> set[int]:
    """Return the positions of the tables that some patterns match."""
    positions: set[int] = set()
    spellings = [name.spellings for name in names]
    for pattern in patterns:
        matches = matching_positions(pattern, spellings, folds_case=folds_case)
        if not matches:
            on_unmatched(pattern, names)
        positions |= matches
    return positions
