"""Which tables are one and which are not, where a person overrules what their names say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OneTable:
    """A table of several: what it's called, and the names of its parts, or globs of them."""

    name: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Tables that are one, and tables whose parts are tables of their own, by their names."""

    one_table: tuple[OneTable, ...] = ()
    separate: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The tables that it names."""
        return (*(one.name for one in self.one_table), *self.separate)

    def separates(self, name: str, prefix: str = "") -> str | None:
        """Return how a table is named here whose parts are tables of their own; None if it isn't.

        ``prefix`` is its schema with a dot, which may be left out.
        """
        spellings = {name.lower(), name.removeprefix(prefix).lower()}
        return next((each for each in self.separate if each.lower() in spellings), None)


AS_NAMED = Grouping()
"""Names alone say which tables are one."""
