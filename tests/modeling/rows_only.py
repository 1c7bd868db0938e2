"""What rows alone can do to a source of any shape: its structure stays as it is."""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb

from fluid_build.profiling.profile import ForeignKey, Profile
from fluid_build.sources.sql import quote
from tests.modeling.evolved import designed, difference, unwritten


def changes_of_rows(profile: Profile, chance: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Yield what can happen to the rows of a source by what it is, each with its statements.

    A column is named by its table and itself. What one thing did is there when the next happens.
    """
    for key in profile.foreign_keys:
        if len(key.from_columns) == 1:
            yield from _changes_of_reference(key)
    for table in profile.tables:
        name = quote(table.name)
        identified = set(table.primary_key or ())
        others = [column for column in table.columns if column.name not in identified]
        for column in chance.sample(others, min(2, len(others))):
            which, owned = f"{table.name}.{column.name}", quote(column.name)
            some = f"UPDATE {name} SET {owned} = {{}} WHERE rowid % 7 = 3"
            yield f"{which} is null in some rows", [some.format("NULL")]
            one = f"(SELECT max({owned}) FROM {name})"
            yield f"{which} repeats a value", [some.format(one)]
            every = f"UPDATE {name} SET {owned} = {one} WHERE {owned} IS NULL"
            yield f"{which} is in every row again", [every]
            if column.type == "VARCHAR":
                longer = f"{owned} || ' and much more than that'"
                yield f"{which} has longer values", [some.format(longer)]
    emptied = chance.choice(profile.tables)
    yield f"{emptied.name} has no rows", [f"DELETE FROM {quote(emptied.name)}"]


def _changes_of_reference(key: ForeignKey) -> Iterator[tuple[str, list[str]]]:
    child, parent = quote(key.from_table), quote(key.to_table)
    column, of = quote(key.from_columns[0]), quote(key.to_columns[0])
    which = f"{key.from_table}.{key.from_columns[0]}"
    used = f"(SELECT min({column}) FROM {child})"
    other = f"(SELECT max({column}) FROM {child})"
    unused = f"(SELECT max({of}) FROM {parent} WHERE {of} NOT IN (SELECT {column} FROM {child}"
    unused += f" WHERE {column} IS NOT NULL))"
    yield (
        f"a parent of {which} loses its last child",
        [f"UPDATE {child} SET {column} = {other} WHERE {column} = {used}"],
    )
    yield (
        f"a parent of {which} gains its first child",
        [f"UPDATE {child} SET {column} = COALESCE({unused}, {column}) WHERE rowid % 11 = 5"],
    )
    yield (
        f"{which} is null in some rows",
        [f"UPDATE {child} SET {column} = NULL WHERE rowid % 5 = 2"],
    )
    yield (
        f"{which} is in every row again",
        [f"UPDATE {child} SET {column} = {other} WHERE {column} IS NULL"],
    )


def run_as_allowed(database: Path, statements: Iterable[str]) -> None:
    """Run statements on a DuckDB file; what a constraint forbids doesn't happen."""
    with duckdb.connect(str(database)) as connection:
        for statement in statements:
            try:
                connection.execute(statement)
            except duckdb.Error as error:
                assert "onstraint" in str(error), error


def changed_by_rows(database: Path, technique: str, count: int, seed: int) -> list[str]:
    """Return what changes of rows, so many in turn, make of the relations that a model has."""
    chance = random.Random(seed)
    before, found = designed(database, technique), []
    happens = list(changes_of_rows(before.basis.profile, chance))
    for what, statements in chance.sample(happens, min(count, len(happens))):
        run_as_allowed(database, statements)
        after = designed(database, technique, before.basis)
        of = difference(before, after)
        found += [f"{what}: {each}" for each in (*of.lost, *of.new_columns.items())]
        found += [f"{what}: {each} isn't migrated" for each in unwritten(before, after)]
        before = after
    return found
