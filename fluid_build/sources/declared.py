"""Names and declared keys made fit for use: unique, complete, and pointing at what exists."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fluid_build.sources.base import DeclaredForeignKey, Table


def unique_names(names: Iterable[str]) -> list[str]:
    """Return the names, in order, changed only where DuckDB could not tell two of them apart.

    Case twins get a number (``Id``, ``ID`` become ``Id``, ``ID_2``), and so does an empty name.
    """
    requested = [name or "column" for name in names]
    exact = {name.lower() for name in requested}
    used: set[str] = set()
    result: list[str] = []
    for name in requested:
        chosen, number = name, 1
        while chosen.lower() in used or (number > 1 and chosen.lower() in exact):
            number += 1
            chosen = f"{name}_{number}"
        used.add(chosen.lower())
        result.append(chosen)
    return result


def qualified(places: Sequence[tuple[str, str]]) -> list[str]:
    """Return names for tables at (schema, table).

    Bare where there is one schema, else qualified.
    """
    if len({schema for schema, _ in places}) <= 1:
        return [table for _, table in places]
    plain = [f"{schema}.{table}" for schema, table in places]
    return [
        name if plain.count(name) == 1 else f'"{schema}"."{table}"'
        for name, (schema, table) in zip(plain, places, strict=True)
    ]


def settle_foreign_keys(tables: Sequence[Table]) -> tuple[Table, ...]:
    """Leave out foreign keys to tables or columns that are not there, and say so in a note.

    Spelling is taken from the table that is referred to: SQLite ignores case in references.
    """
    by_name = {table.name: table for table in tables}
    by_lower = {table.name.lower(): table for table in reversed(tables)}
    settled = []
    for table in tables:
        resolved_keys: list[DeclaredForeignKey] = []
        notes: list[str] = []
        for key in table.foreign_keys:
            parent = by_name.get(key.to_table) or by_lower.get(key.to_table.lower())
            resolved = _resolve(key, table, parent)
            if resolved is None:
                what = ", ".join(key.columns)
                notes.append(
                    f"It declares a foreign key ({what}) to {key.to_table}, which wasn't read."
                    if parent is None
                    else f"It declares a foreign key ({what}) to missing columns of {parent.name}."
                )
            elif resolved not in resolved_keys:
                resolved_keys.append(resolved)
        settled.append(
            replace(table, foreign_keys=tuple(resolved_keys), notes=(*table.notes, *notes))
        )
    return tuple(settled)


def _resolve(
    key: DeclaredForeignKey, table: Table, parent: Table | None
) -> DeclaredForeignKey | None:
    if parent is None:
        return None
    child_columns = _spelled(key.columns, table)
    parent_columns = _spelled(key.to_columns or parent.primary_key, parent)
    if not child_columns or len(child_columns) != len(parent_columns):
        return None
    return DeclaredForeignKey(child_columns, parent.name, parent_columns)


def _spelled(names: Sequence[str], table: Table) -> tuple[str, ...]:
    """Return the names as the table spells them; empty if one of them is not its column."""
    exact = {column.name: column.name for column in table.columns}
    lower = {column.name.lower(): column.name for column in reversed(table.columns)}
    spelled = tuple(exact.get(name) or lower.get(name.lower()) or "" for name in names)
    return spelled if all(spelled) else ()
