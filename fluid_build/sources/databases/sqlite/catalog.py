"""What a SQLite database declares, read with its pragmas."""

import sqlite3
from dataclasses import dataclass

from fluid_build.sources.base import DeclaredForeignKey
from fluid_build.sources.sql import quote

_VIRTUAL_GENERATED, _STORED_GENERATED, _HIDDEN = 2, 3, 1


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column as ``PRAGMA table_xinfo`` gives it."""

    name: str
    declared_type: str
    nullable: bool
    generated: bool


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table and all keys that it declares."""

    name: str
    columns: tuple[CatalogColumn, ...]
    primary_key: tuple[str, ...]
    unique_keys: tuple[tuple[str, ...], ...]
    foreign_keys: tuple[DeclaredForeignKey, ...]


def table_names(connection: sqlite3.Connection) -> list[str]:
    """Ordinary and virtual tables, without SQLite's own and without a virtual table's storage."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\' ORDER BY lower(name), name"
    ).fetchall()
    shadows = _shadow_tables(connection, [row[0] for row in rows if _is_virtual(row[1])])
    return [name for name, _ in rows if name not in shadows]


def view_names(connection: sqlite3.Connection) -> list[str]:
    """Return the views, in the order of tables."""
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY lower(name), name"
    )
    return [name for (name,) in rows.fetchall()]


def _is_virtual(sql: str | None) -> bool:
    return " ".join((sql or "").split()).upper().startswith("CREATE VIRTUAL TABLE")


def _shadow_tables(connection: sqlite3.Connection, virtual: list[str]) -> set[str]:
    # PRAGMA table_list came with SQLite 3.37; before it only the names tell.
    rows = connection.execute("PRAGMA table_list").fetchall()
    if rows:
        return {row[1] for row in rows if row[2] == "shadow"}
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {name for (name,) in names for owner in virtual if name.startswith(owner + "_")}


def read_table(connection: sqlite3.Connection, name: str) -> CatalogTable:
    """Return columns and keys of one table.

    Raises sqlite3.Error where SQLite cannot make sense of it.
    """
    info = connection.execute(f"PRAGMA table_xinfo({quote(name)})").fetchall()
    columns = tuple(
        CatalogColumn(
            name=row[1],
            declared_type=(row[2] or "").strip(),
            nullable=not (row[3] or row[5]),
            generated=row[6] in (_VIRTUAL_GENERATED, _STORED_GENERATED),
        )
        for row in info
        if row[6] != _HIDDEN
    )
    keyed = sorted((row[5], row[1]) for row in info if row[5])
    primary_key = tuple(column for _, column in keyed)
    return CatalogTable(
        name=name,
        columns=columns,
        primary_key=primary_key,
        unique_keys=_unique_keys(connection, name, primary_key),
        foreign_keys=_foreign_keys(connection, name),
    )


def _unique_keys(
    connection: sqlite3.Connection, table: str, primary_key: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    unique_keys: list[tuple[str, ...]] = []
    for _, index, unique, origin, partial in connection.execute(
        f"PRAGMA index_list({quote(table)})"
    ).fetchall():
        if not unique or partial or origin == "pk":
            continue
        parts = connection.execute(f"PRAGMA index_info({quote(index)})").fetchall()
        columns = tuple(row[2] for row in sorted(parts))
        # The name is missing where the index is over an expression.
        if None not in columns and columns != primary_key and columns not in unique_keys:
            unique_keys.append(columns)
    return tuple(sorted(unique_keys))


def key_collations(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """Return the collations of a table's key columns, without those of columns compared by byte.

    A key that is referred to has the collations that its columns declare.
    """
    indexes = connection.execute(f"PRAGMA index_list({quote(table)})").fetchall()
    keys = [
        (origin, name) for _, name, unique, origin, partial in indexes if unique and not partial
    ]
    collations: dict[str, str] = {}
    # An index of its own (c) may have other collations than the columns; pk and u come after it.
    for _, name in sorted(keys):
        for _, _, column, _, collation, is_key in connection.execute(
            f"PRAGMA index_xinfo({quote(name)})"
        ).fetchall():
            if is_key and column is not None:
                collations[column] = collation
    return {column: name for column, name in collations.items() if name.upper() != "BINARY"}


def _foreign_keys(connection: sqlite3.Connection, table: str) -> tuple[DeclaredForeignKey, ...]:
    parts: dict[int, list[tuple[int, str, str, str | None]]] = {}
    for row in connection.execute(f"PRAGMA foreign_key_list({quote(table)})").fetchall():
        number, position, parent, child_column, parent_column = row[:5]
        parts.setdefault(number, []).append((position, parent, child_column, parent_column))
    keys = []
    # SQLite numbers foreign keys from the last declared to the first.
    for number in sorted(parts, reverse=True):
        pairs = sorted(parts[number])
        to_columns = tuple(pair[3] for pair in pairs)
        keys.append(
            DeclaredForeignKey(
                columns=tuple(pair[2] for pair in pairs),
                to_table=pairs[0][1],
                # None stands for the parent's primary key, and so does an empty tuple.
                to_columns=tuple(column for column in to_columns if column is not None),
            )
        )
    return tuple(keys)
