"""Nights in which the rows of a source change, and its structure doesn't."""

import random
from pathlib import Path

import duckdb

from fluid_build.sources.sql import quote
from tests.modeling.evolved import designed, relations

_MOST_CHANGED = 0.05
"""Share of a table's rows that a night inserts, updates and deletes, each."""


def spend_a_night(database: Path, chance: random.Random) -> None:
    """Insert, update and delete rows of every table of a DuckDB file, as far as it allows that."""
    with duckdb.connect(str(database)) as connection:
        tables = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY 1"
        ).fetchall()
        for (table,) in tables:
            for statement in _changes(connection, str(table), chance):
                try:
                    connection.execute(statement)
                except duckdb.Error as error:
                    # What a constraint forbids doesn't happen in this night.
                    assert "onstraint" in str(error), error


def _changes(connection: duckdb.DuckDBPyConnection, table: str, chance: random.Random) -> list[str]:
    name = quote(table)
    described = connection.execute(f"DESCRIBE {name}").fetchall()
    (rows,) = connection.execute(f"SELECT COUNT(*) FROM {name}").fetchall()[0]
    count = chance.randint(0, max(1, int(rows * _MOST_CHANGED)))
    if not rows or not count:
        return []
    seed = chance.randint(1, 1_000_000)
    some = f"SELECT rowid FROM {name} ORDER BY hash(rowid + {seed}) LIMIT {count}"
    columns = [(str(row[0]), str(row[1])) for row in described]
    keys = {str(row[0]) for row in described if row[3] == "PRI"} or {columns[0][0]}
    inserted = ", ".join(_inserted(name, column, type_, keys) for column, type_ in columns)
    changes = [f"INSERT INTO {name} SELECT {inserted} FROM {name} WHERE rowid IN ({some})"]
    others = [column for column, _ in columns if column not in keys]
    if others:
        column = quote(chance.choice(others))
        # Another value that occurs, or none.
        value = "NULL" if chance.random() < 0.2 else f"(SELECT any_value({column}) FROM {name})"
        changes.append(f"UPDATE {name} SET {column} = {value} WHERE rowid IN ({some})")
    changes.append(f"DELETE FROM {name} WHERE rowid IN ({some.replace(str(seed), str(seed + 1))})")
    return changes


def _inserted(table: str, column: str, type_: str, keys: set[str]) -> str:
    """Return a value of a new row: that of another one, but for a new key."""
    name = quote(column)
    if column not in keys or len(keys) > 1:
        return name
    if "INT" in type_:
        return f"{name} + (SELECT max({name}) FROM {table})"
    # Digits stay digits: a type that becomes wider is a change of the structure.
    return f"{name} || '0'" if type_ == "VARCHAR" else name


def nights_that_changed(database: Path, technique: str, nights: int, seed: int) -> list[str]:
    """Return what nights changed in a model: relations that are lost, or have lost a column."""
    chance = random.Random(seed)
    first = designed(database, technique)
    before, basis, found = relations(first), first.basis, []
    for night in range(1, nights + 1):
        spend_a_night(database, chance)
        later = designed(database, technique, basis)
        after, basis = relations(later), later.basis
        found += [
            f"night {night}: {name} has {after.get(name)}, and had {columns}"
            for name, columns in before.items()
            if [column for column in after.get(name, ()) if column in columns] != columns
        ]
    return found
