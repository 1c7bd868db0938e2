"""A table of this process on its way into the engine, whatever library it is from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PreparedColumn:
    """A column: its name for the user, SQL over the registered objects, and notes on its values.

    ``values`` returns Python's own values of some rows, of a column that is read as it is.
    """

    name: str
    expression: str
    notes: tuple[str, ...] = ()
    values: Callable[[Sequence[int]], list[object]] | None = None


@dataclass(frozen=True, slots=True)
class PreparedTable:
    """Objects that DuckDB can scan once they're registered, side by side, and their columns.

    ``notes`` are on the table as a whole.
    """

    scannables: tuple[object, ...]
    columns: tuple[PreparedColumn, ...]
    notes: tuple[str, ...] = ()


class Stream:
    """The Arrow stream of an object, without the object's other abilities.

    DuckDB scans a stream by itself, and needs pyarrow for an object that it recognizes.
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a new stream of the rows."""
        return self._table.__arrow_c_stream__(requested_schema)


def distinct_names(names: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return column names, each once and none empty, and notes on those that had to change.

    Names that differ only in case stay as they are.
    """
    used: set[str] = set()
    chosen_names: list[str] = []
    notes: list[str] = []
    for position, requested in enumerate(names, start=1):
        name, number = requested or f"column_{position}", 1
        while name in used or (number > 1 and name in names):
            number += 1
            name = f"{requested or 'column'}_{number}"
        if name != requested:
            label = f"called {requested!r}, as another column is" if requested else "without a name"
            notes.append(f"Column {position} is {label}; here it's {name}.")
        used.add(name)
        chosen_names.append(name)
    return chosen_names, tuple(notes)
