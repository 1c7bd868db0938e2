"""References that the rows contradict: two tables that only number their rows alike.

Where a whole key was found in another table's key and nobody declared it, each row would extend a
row of the other table. Numbers that are assigned from 1 on are found in each other by chance, and
their names are often alike. Then the two rows have nothing else in common: what both tables refer
to, and what both call a name, isn't the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.lexicon import terms
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling import checks
from fluid_build.profiling.names.naming_words import NAME_WORDS, naming_word
from fluid_build.profiling.names.words import singular, strip_key_words, words
from fluid_build.profiling.profile import (
    Candidate,
    ColumnProfile,
    ForeignKey,
    Profile,
    TableProfile,
)
from fluid_build.sources.sql import quote
from fluid_build.text import listed

_MOST_REFERENCES = 50
"""References that are checked; each is one query."""
_MOST_ROWS = 20_000_000
"""Rows of either table: a join holds those of one side in memory. Numbers that are in another
table's key by accident are mostly those of small tables."""
_MOST_COLUMNS = 6
"""Columns that are compared; one that agrees or doesn't is enough, more make it certain."""
_AGREEING = 0.95
"""Share of compared values that must agree: a few may have been corrected in one place only."""


@dataclass(frozen=True, slots=True)
class ContradictedReference:
    """A reference of a whole key to another, and the columns of both tables that disagree.

    Of ``values``, those that both rows have in ``columns``, ``agreeing`` are the same. ``sql`` runs
    on the source and returns the rows that disagree.
    """

    table: str
    columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    compared: tuple[str, ...]
    values: int
    agreeing: int
    sql: str


def contradicted_references(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    foreign_keys: Sequence[ForeignKey],
) -> Iterator[ContradictedReference]:
    """Return the undeclared references between whole keys that other columns contradict."""
    doubtful = [
        (key, columns)
        for key in foreign_keys
        if {key.from_table, key.to_table} <= tables.keys()
        and max(tables[name].profile.rows for name in (key.from_table, key.to_table)) <= _MOST_ROWS
        and _may_be_chance(key, tables[key.from_table].profile, tables[key.to_table].profile)
        and (columns := _comparable(key, tables, foreign_keys))
    ]
    for key, columns in doubtful[:_MOST_REFERENCES]:
        with unless_unreadable():
            child, parent = tables[key.from_table], tables[key.to_table]
            values, agreeing = _compare(connection, key, child, parent, columns)
            if values and agreeing < _AGREEING * values:
                yield ContradictedReference(
                    key.from_table,
                    key.from_columns,
                    key.to_table,
                    key.to_columns,
                    compared=columns,
                    values=values,
                    agreeing=agreeing,
                    sql=checks.disagreeing_rows(
                        (child.profile.sql, parent.profile.sql),
                        (key.from_columns, key.to_columns),
                        columns,
                    ),
                )


def without_contradicted(
    profile: Profile, contradicted: Sequence[ContradictedReference]
) -> Profile:
    """Return a profile in which each contradicted foreign key is only a candidate.

    What followed from such a key doesn't any more.
    """
    by_key = {(c.table, c.columns, c.to_table, c.to_columns): c for c in contradicted}
    if not by_key:
        return profile
    tables = {each.table for each in contradicted}
    foreign_keys, candidates = [], []
    for key in profile.foreign_keys:
        found = by_key.get((key.from_table, key.from_columns, key.to_table, key.to_columns))
        if found is not None:
            candidates.append(_candidate(key, found))
        elif key.implied and key.from_table in tables:
            foreign_keys.append(key.model_copy(update={"implied": False}))
        else:
            foreign_keys.append(key)
    candidates = sorted((*profile.candidates, *candidates), key=lambda c: -c.confidence)
    return profile.model_copy(
        update={"foreign_keys": tuple(foreign_keys), "candidates": tuple(candidates)}
    )


def _candidate(key: ForeignKey, contradicted: ContradictedReference) -> Candidate:
    """Return a contradicted foreign key as a candidate; the share that agrees is its confidence."""
    reason = (
        f"Each row would extend a row of {key.to_table}, but in the rows of the same key only"
        f" {contradicted.agreeing:,} of {contradicted.values:,} values of"
        f" {listed(contradicted.compared)} agree: the two tables only number their rows alike."
    )
    return Candidate(
        from_table=key.from_table,
        from_columns=key.from_columns,
        to_table=key.to_table,
        to_columns=key.to_columns,
        confidence=contradicted.agreeing / contradicted.values,
        ruled_out=True,
        reason=reason,
        evidence=key.evidence.model_copy(update={"sql": contradicted.sql}),
    )


def _may_be_chance(key: ForeignKey, child: TableProfile, parent: TableProfile) -> bool:
    """Return whether a reference is of one whole key to another whose column has its own name.

    A column named for the parent and not for its own table, such as ``person_id`` of an employee,
    was put there to refer.
    """
    if key.origin != "measured" or child.name == parent.name or len(key.from_columns) != 1:
        return False
    if (child.primary_key, parent.primary_key) != (key.from_columns, key.to_columns):
        return False
    stem = "".join(map(singular, strip_key_words(words(key.from_columns[0]))))
    return stem in "".join(map(singular, words(child.name)))


def _comparable(
    key: ForeignKey, tables: Mapping[str, ObservedTable], foreign_keys: Sequence[ForeignKey]
) -> tuple[str, ...]:
    """Return the columns of both tables by which rows about the same would agree.

    ``city_id`` and ``name`` of a customer are those of the person that it extends. A table of
    translations has other names in each row by nature, so there only references count.
    """
    child, parent = tables[key.from_table].profile, tables[key.to_table].profile
    shared = {column.name for column in parent.columns} - {*key.from_columns, *key.to_columns}
    references = _references(foreign_keys, child.name) & _references(foreign_keys, parent.name)
    referring = {name for name, _, _ in references}
    is_translated = "".join(words(child.name)).startswith("".join(words(parent.name)))
    return tuple(
        column.name
        for column in child.columns
        if column.name in shared
        and _varies(column, parent.column(column.name))
        and (column.name in referring or (not is_translated and _is_name(column)))
    )[:_MOST_COLUMNS]


def _references(
    foreign_keys: Sequence[ForeignKey], table: str
) -> frozenset[tuple[str, str, tuple[str, ...]]]:
    """Return what a table refers to with one column, without who wrote the row and hierarchies.

    ``created_by`` differs between two rows about the same, and so does ``parent_id``.
    """
    return frozenset(
        (key.from_columns[0], key.to_table, key.to_columns)
        for key in foreign_keys
        if key.from_table == table and key.to_table != table and len(key.from_columns) == 1
        if not (terms("acting") | terms("structure")) & set(words(key.from_columns[0]))
    )


def _is_name(column: ColumnProfile) -> bool:
    return column.type == "VARCHAR" and naming_word(column.name) in NAME_WORDS


def _varies(*columns: ColumnProfile) -> bool:
    """Return whether columns have several values: a single one agrees by chance."""
    return any(column.distinct > 1 for column in columns)


def _compare(
    connection: duckdb.DuckDBPyConnection,
    key: ForeignKey,
    child: ObservedTable,
    parent: ObservedTable,
    columns: Sequence[str],
) -> tuple[int, int]:
    """Return how many values both rows of the joined tables have, and how many are the same."""
    pairs = [(_text("c", child, name), _text("p", parent, name)) for name in columns]
    both = " + ".join(f"count({ours} = {theirs})" for ours, theirs in pairs)
    same = " + ".join(f"count(*) FILTER (WHERE {ours} = {theirs})" for ours, theirs in pairs)
    (ours,), (theirs,) = key.from_columns, key.to_columns
    row = connection.execute(
        f"SELECT {both}, {same} FROM {child.relation} AS c JOIN {parent.relation} AS p"
        f" ON {_text('c', child, ours)} = {_text('p', parent, theirs)}"
    ).fetchone()
    values, agreeing = row or (0, 0)
    return int(values), int(agreeing)


def _text(side: str, table: ObservedTable, column: str) -> str:
    """Return SQL for a column as text, since the two tables may have typed it differently."""
    return f"CAST({side}.{quote(table.aliases[column])} AS VARCHAR)"
