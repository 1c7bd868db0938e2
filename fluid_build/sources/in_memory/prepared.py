"""A table of this process on its way into the engine, whatever library it is from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PreparedColumn:
    """A column: its name for the user, SQL over the registered object, and notes on its values."""

    name: str
    expression: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreparedTable:
    """An object that DuckDB can scan once it's registered, and its columns.

    ``notes`` are on the table as a whole.
    """

    scannable: object
    columns: tuple[PreparedColumn, ...]
    notes: tuple[str, ...] = ()


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
