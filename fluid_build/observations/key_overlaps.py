"""Keys of different sources that have values in common, and whether these mean the same.

Numbers that are assigned in order agree by accident, so how close they lie is measured too, and
whether other columns agree in rows with the same key.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import duckdb

from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable
from fluid_build.profiling.name_similarity import ABBREVIATED, phrase_similarity
from fluid_build.profiling.parsed_names import ParsedColumnName, ParsedNames, parse_names
from fluid_build.profiling.profile import ColumnProfile
from fluid_build.sources.sql import quote

_SKETCH = 512
"""Hashes kept of a column: the least ones. Two columns that share a tenth of their values share
some fifty of them."""
_MOST_PAIRS = 200
"""Pairs of keys that are compared value by value, those with the most hashes in common first."""
_MOST_KEYS = 12
"""Unique columns of a table that are looked at: a wide table of few rows has many by accident."""
_MOST_ATTRIBUTES = 4
"""Pairs of other columns that are compared in rows with the same key."""
_TELLING = 0.5
"""Distinct values per row from which on a column tells rows apart: names do, statuses don't."""
_DENSE = 0.1
"""Share of the numbers between the least and the greatest key that are keys. Above it, every tenth
number of another source would be a key by accident."""
_WORLDWIDE = frozenset("bic card_number ean email iban isbn national_id uuid vin".split())
"""Meanings of values that one authority assigns for everybody: equal ones mean the same, however
close together they lie."""
_NEVER = "bool_or(FALSE)"
_LONGEST = 80
"""Characters of text on average; longer text is no key."""
_CLASSES = {
    "VARCHAR": "text", "UUID": "uuid",
    **dict.fromkeys(
        "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT".split(),
        "number",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two columns compared in the rows that have the same key and a value in both."""

    left_column: str
    right_column: str
    rows: int
    agreeing: int


@dataclass(frozen=True, slots=True)
class KeyOverlap:
    """Two unique columns of different sources, and how many of their values are in both.

    ``left_keys`` and ``right_keys`` count the values of each. ``is_dense`` says that they're
    numbers, or codes with numbers, that lie so close together that many would be in both by
    accident. ``average_length`` is that of their text. ``are_tables_alike`` and
    ``are_columns_alike`` compare names. ``sql`` counts the shared values.
    """

    left: str
    left_column: str
    right: str
    right_column: str
    left_keys: int
    right_keys: int
    shared: int
    is_dense: bool
    average_length: float
    are_tables_alike: bool
    are_columns_alike: bool
    agreements: tuple[Agreement, ...] = ()
    sql: str = ""

    @property
    def share(self) -> float:
        """The share of the shorter list of keys that's in the longer one."""
        return self.shared / min(self.left_keys, self.right_keys)


@dataclass(frozen=True, slots=True)
class _Key:
    """A unique column; ``source`` is the position of its source, ``names`` those of its table."""

    table: ObservedTable
    column: ColumnProfile
    name: ParsedColumnName
    names: ParsedNames
    kind: str
    is_identifier: bool

    @property
    def source(self) -> str | None:
        return self.table.profile.source

    def value(self, alias: str = "") -> str:
        """Return SQL for its values as a vault has them: text that can't be restored stays text."""
        name = quote(self.table.aliases[self.column.name])
        name = f"{alias}.{name}" if alias else name
        type_ = _vault_type(self.column)
        return name if type_ == self.column.type else f"TRY_CAST({name} AS {type_})"


def key_overlaps(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[ObservedTable]
) -> Iterator[KeyOverlap]:
    """Return the overlaps of unique columns of different sources; none where there's one source.

    One query for each unique column makes a sketch of its values, and one each compares the pairs
    whose sketches meet or whose names are alike.
    """
    if len({table.profile.source for table in tables}) < 2:
        return
    keys = list(_keys(tables))
    hits = _meeting(connection, keys)
    pairs = [
        (left, right)
        for left, right in combinations(range(len(keys)), 2)
        if _are_comparable(keys[left], keys[right])
        and (hits[left, right] or _may_mean_the_same(keys[left], keys[right]))
    ]
    pairs.sort(key=lambda pair: (-hits[pair], pair))
    for left, right in pairs[:_MOST_PAIRS]:
        with unless_unreadable():
            overlap = _measure(connection, keys[left], keys[right])
            if overlap.shared:
                yield overlap


def _keys(tables: Sequence[ObservedTable]) -> Iterator[_Key]:
    by_source: dict[str | None, list[ObservedTable]] = defaultdict(list)
    for table in tables:
        by_source[table.profile.source].append(table)
    for of_source in by_source.values():
        names = parse_names(
            [(t.profile.name, [c.name for c in t.profile.columns]) for t in of_source]
        )
        for table, parsed in zip(of_source, names, strict=True):
            yield from list(_keys_of(table, parsed))[:_MOST_KEYS]


def _keys_of(table: ObservedTable, names: ParsedNames) -> Iterator[_Key]:
    profile = table.profile
    declared = [claim.columns for claim in profile.declared_keys if claim.holds]
    identifying = {*profile.candidate_keys, *declared, profile.primary_key}
    for column, name in zip(profile.columns, names.columns, strict=True):
        kind = _CLASSES.get(_vault_type(column).partition("(")[0], "")
        is_identifier = (column.name,) in identifying
        present = column.rows - column.nulls
        is_unique = is_identifier or (column.distinct_exact and column.distinct == present > 1)
        if kind and is_unique and (column.avg_length or 0) <= _LONGEST:
            yield _Key(table, column, name, names, kind, is_identifier)


def _vault_type(column: ColumnProfile) -> str:
    if column.reversible and column.measured_type and "(" not in column.measured_type:
        return column.measured_type
    return column.type


def _meeting(
    connection: duckdb.DuckDBPyConnection, keys: Sequence[_Key]
) -> Counter[tuple[int, int]]:
    """Return how many hashes two keys have in common, by their positions."""
    by_hash: dict[tuple[str, int], list[int]] = defaultdict(list)
    for position, key in enumerate(keys):
        with unless_unreadable():
            for value in _sketch(connection, key):
                by_hash[key.kind, value].append(position)
    hits: Counter[tuple[int, int]] = Counter()
    for positions in by_hash.values():
        hits.update(combinations(positions, 2))
    return hits


def _sketch(connection: duckdb.DuckDBPyConnection, key: _Key) -> list[int]:
    if key.kind == "number" and _is_dense_by_bounds(key.column):
        # Such numbers meet those of every other table, which says nothing.
        return []
    rows = connection.execute(
        f"SELECT hash(CAST({key.value()} AS VARCHAR)) AS hashed FROM {key.table.relation}"
        f" WHERE {key.value()} IS NOT NULL ORDER BY hashed LIMIT {_SKETCH}"
    ).fetchall()
    return [int(value) for (value,) in rows]


def _is_dense_by_bounds(column: ColumnProfile) -> bool:
    try:
        low, high = int(column.min or ""), int(column.max or "")
    except ValueError:
        return False
    return column.distinct > _DENSE * (high - low + 1)


def _are_comparable(left: _Key, right: _Key) -> bool:
    return left.source != right.source and left.kind == right.kind


def _may_mean_the_same(left: _Key, right: _Key) -> bool:
    """Return whether names alone are a reason to compare two keys."""
    if not _are_tables_alike(left, right):
        return False
    both_identify = left.is_identifier and right.is_identifier
    return both_identify or _are_columns_alike(left, right)


def _are_tables_alike(left: _Key, right: _Key) -> bool:
    return phrase_similarity(left.names.table.entity, right.names.table.entity) >= ABBREVIATED


def _are_columns_alike(left: _Key, right: _Key) -> bool:
    return _mean_the_same(left.column, left.name, right.column, right.name)


def _mean_the_same(
    left: ColumnProfile,
    left_name: ParsedColumnName,
    right: ColumnProfile,
    right_name: ParsedColumnName,
) -> bool:
    if left.semantic_type and left.semantic_type == right.semantic_type:
        return True
    return left_name.full == right_name.full or (
        left_name.bare == right_name.bare and not left_name.is_generic
    )


def _measure(connection: duckdb.DuckDBPyConnection, left: _Key, right: _Key) -> KeyOverlap:
    pairs = list(_attribute_pairs(left, right))[:_MOST_ATTRIBUTES]
    compared = "".join(
        f", count(l.a{n} || r.a{n}), count(*) FILTER (WHERE l.a{n} = r.a{n})"
        for n in range(len(pairs))
    )
    are_worldwide = {left.column.semantic_type, right.column.semantic_type} <= _WORLDWIDE
    dense = _NEVER if are_worldwide else _dense_sql(left.kind)
    row = connection.execute(
        f"WITH fluid_left AS ({_rows(left, [pair[0] for pair in pairs])}),"
        f" fluid_right AS ({_rows(right, [pair[1] for pair in pairs])})"
        f" SELECT (SELECT count(*) FROM fluid_left), (SELECT count(*) FROM fluid_right),"
        f" (SELECT {dense} FROM fluid_left), (SELECT {dense} FROM fluid_right),"
        " (SELECT avg(length(CAST(v AS VARCHAR))) FROM fluid_left), count(*)"
        f"{compared} FROM fluid_left AS l JOIN fluid_right AS r ON l.v = r.v"
    ).fetchone()
    left_keys, right_keys, left_dense, right_dense, length, shared, *agreeing = row or (0,) * 6
    agreements = (
        Agreement(a.name, b.name, rows, equal)
        for (a, b), rows, equal in zip(pairs, agreeing[::2], agreeing[1::2], strict=True)
        if rows
    )
    return KeyOverlap(
        left=left.table.profile.name,
        left_column=left.column.name,
        right=right.table.profile.name,
        right_column=right.column.name,
        left_keys=left_keys,
        right_keys=right_keys,
        shared=shared,
        is_dense=bool(left_dense or right_dense),
        average_length=length or 0.0,
        are_tables_alike=_are_tables_alike(left, right),
        are_columns_alike=_are_columns_alike(left, right),
        agreements=tuple(agreements),
        sql=_counting(left, right),
    )


def _rows(key: _Key, attributes: Sequence[ColumnProfile]) -> str:
    others = "".join(
        f", lower(trim(CAST({quote(key.table.aliases[column.name])} AS VARCHAR))) AS a{n}"
        for n, column in enumerate(attributes)
    )
    return (
        f"SELECT {key.value()} AS v{others} FROM {key.table.relation}"
        f" WHERE {key.value()} IS NOT NULL"
    )


def _dense_sql(kind: str) -> str:
    """Return SQL for whether keys are numbers that lie close together, as those in order do."""
    if kind == "uuid":
        return _NEVER
    if kind == "number":
        return f"count(*) > {_DENSE} * (CAST(max(v) AS DOUBLE) - CAST(min(v) AS DOUBLE) + 1)"
    # In codes such as INV-0042, the last number counts, and all else is the same.
    number = "TRY_CAST(regexp_extract(v, '([0-9]+)[^0-9]*$', 1) AS DOUBLE)"
    return (
        "coalesce(count(DISTINCT regexp_replace(v, '[0-9]+', '#', 'g')) = 1"
        f" AND count(*) > {_DENSE} * (max({number}) - min({number}) + 1), FALSE)"
    )


def _attribute_pairs(left: _Key, right: _Key) -> Iterator[tuple[ColumnProfile, ColumnProfile]]:
    """Return pairs of columns that mean the same by name, and tell rows apart, except the keys."""
    for column, name in zip(left.table.profile.columns, left.names.columns, strict=True):
        if column == left.column or not _is_telling(column):
            continue
        for other, other_name in zip(right.table.profile.columns, right.names.columns, strict=True):
            if other == right.column or not _is_telling(other):
                continue
            if _mean_the_same(column, name, other, other_name):
                yield column, other
                break


def _is_telling(column: ColumnProfile) -> bool:
    return column.distinct > max(_TELLING * (column.rows - column.nulls), 1) and (
        _vault_type(column) == "VARCHAR" or column.semantic_type is not None
    )


def _counting(left: _Key, right: _Key) -> str:
    return (
        f"SELECT COUNT(*) AS shared_keys FROM {left.table.profile.sql} AS l"
        f" JOIN {right.table.profile.sql} AS r ON {left.value('l')} = {right.value('r')}"
    )
