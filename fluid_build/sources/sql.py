"""Quoting: the only way a stranger's name or value gets into SQL text."""

from collections.abc import Iterable


def quote(name: str) -> str:
    """Return an SQL identifier, quoted, whatever characters it holds."""
    return '"' + name.replace('"', '""') + '"'


def quote_all(names: Iterable[str]) -> str:
    """Several identifiers, quoted, parted by commas."""
    return ", ".join(quote(name) for name in names)


def literal(value: str) -> str:
    """Return a string literal. Use a parameter where one is possible."""
    return "'" + value.replace("'", "''") + "'"
