"""Rows of a server's catalog, and what is put together from them: the keys of its tables."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

Rows: TypeAlias = Sequence[tuple[Any, ...]]
Query: TypeAlias = Callable[[str], Rows]
"""Runs SQL on the server and returns its rows: for catalogs, which are small."""

NamedRow: TypeAlias = Mapping[str, object]
NamedQuery: TypeAlias = Callable[[str], Sequence[NamedRow]]
"""Runs a statement and returns its rows by the lower-cased names of their columns."""

Place: TypeAlias = tuple[str, str]
"""Schema and table."""
Key: TypeAlias = tuple[str, ...]
ForeignKey: TypeAlias = tuple[Key, str, str, Key]
"""Columns, and the schema, table and columns that they refer to."""

Of = TypeVar("Of", bound=Hashable)
Item = TypeVar("Item")


def grouped(pairs: Iterable[tuple[Of, Item]]) -> dict[Of, tuple[Item, ...]]:
    """Return what belongs to each, in order."""
    groups: dict[Of, list[Item]] = {}
    for of, item in pairs:
        groups.setdefault(of, []).append(item)
    return {of: tuple(items) for of, items in groups.items()}


def declared_keys(
    rows: Iterable[tuple[Of, Hashable, bool, str]],
) -> tuple[dict[Of, Key], dict[Of, tuple[Key, ...]]]:
    """Return the primary key and the unique keys of each table, none of them twice.

    A row has a table, one of its keys, whether that's the primary one, and a column of it. A key
    over an expression has a column without a name, and is left out.
    """
    keys = grouped(((table, key, is_primary), name) for table, key, is_primary, name in rows)
    primary = {table: names for (table, _, is_primary), names in keys.items() if is_primary}
    unique = grouped(
        (table, names)
        for (table, _, is_primary), names in keys.items()
        if not is_primary and all(names) and names != primary.get(table)
    )
    return primary, {table: tuple(dict.fromkeys(names)) for table, names in unique.items()}


def declared_references(
    rows: Iterable[tuple[Of, Hashable, str, str, str, str]],
) -> dict[Of, tuple[ForeignKey, ...]]:
    """Return the foreign keys of each table.

    A row has a table, one of its foreign keys, the schema and table that it refers to, a column of
    the key, and the column that this one refers to.
    """
    keys = grouped(
        ((table, key, to_schema, to_table), (own, parent))
        for table, key, to_schema, to_table, own, parent in rows
    )
    return grouped(
        (table, (tuple(own for own, _ in pairs), to_schema, to_table, tuple(to for _, to in pairs)))
        for (table, _, to_schema, to_table), pairs in keys.items()
    )
