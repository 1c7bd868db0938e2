"""Probes: a few values of each column looked up in a key, to rule out nearly all pairs cheaply."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress

import duckdb

from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.measure.value_cache import ValueCache, reading
from fluid_build.profiling.references.inclusion import aliased_columns

PROBES = 48
"""Values of a column that are looked up: a column that has half of its values among a key's by
chance passes a test of 85 % less than once in a million."""
_TUPLES = 256
"""Rows looked up for columns together. Neighbouring rows often repeat, so they are more."""
_SEPARATOR = "\x1f"
_PROBE_TYPES = {"integer": "HUGEINT", "text": "VARCHAR", "uuid": "UUID", "date": "DATE"}


def probes_of(column: MeasuredColumn) -> list[str]:
    """Return some distinct values of a column as text, spread over those that were sampled."""
    values = [value for value, _ in column.stats.values]
    if len(values) > PROBES:
        step = len(values) / PROBES
        values = [values[int(index * step)] for index in range(PROBES)]
    if column.key_kind == "integer":
        return [_canonical_integer(value) for value in values]
    return [value.lower() for value in values] if column.key_kind == "uuid" else values


def _canonical_integer(value: str) -> str:
    text = value.strip()
    if text.endswith(".0"):
        text = text[:-2]
    try:
        return str(int(text))
    except ValueError:
        return text


class Prober:
    """The share of a column's probes that are keys of another column.

    The keys of small tables come from the cache; for any other key, one query answers for all
    columns.
    """

    def __init__(self, cache: ValueCache, columns: Sequence[MeasuredColumn]) -> None:
        self.cache = cache
        self.connection = cache.connection
        self.probes = {id(column): probes_of(column) for column in columns}
        self.numbers = {
            id(column): sorted(_integers(self.probes[id(column)]))
            for column in columns
            if column.key_kind == "integer"
        }
        self.columns = list(columns)
        self._loaded_kinds: set[str] = set()
        self._hits: dict[int, dict[int, int]] = {}

    def probe_again(self, column: MeasuredColumn) -> None:
        """Replace the probes of a column that is compared in another form now."""
        self.probes[id(column)] = probes_of(column)
        self.numbers.pop(id(column), None)
        # What was looked up before was so without the column.
        self.close()
        self._hits.clear()

    def share(self, child: MeasuredColumn, parent: MeasuredColumn) -> float:
        """Return the share of the child's probes that are keys of the parent."""
        probes = self.probes[id(child)]
        if not probes:
            return 0.0
        if parent.is_dense:
            numbers = self.numbers[id(child)]
            return (
                bisect_right(numbers, parent.high or 0) - bisect_left(numbers, parent.low or 0)
            ) / len(probes)
        if not self.cache.can_hold([parent]):
            return self._hits_in(parent).get(id(child), 0) / len(probes)
        keys = self.cache.values([parent]).counts
        values = self.numbers.get(id(child), probes)
        return len([value for value in values if value in keys]) / len(probes)

    def share_as_text(self, child: MeasuredColumn, parent: MeasuredColumn) -> float:
        """Return the share of a number's probes that are texts of the parent; 0 if it's large."""
        if not self.probes[id(child)] or not self.cache.can_hold([parent]):
            return 0.0
        keys = self.cache.values([parent]).counts
        return sum(value in keys for value in self.probes[id(child)]) / len(self.probes[id(child)])

    def close(self) -> None:
        """Drop the tables of probes."""
        while self._loaded_kinds:
            table = _probe_table(self._loaded_kinds.pop())
            self.connection.execute(f"DROP TABLE IF EXISTS {table}")

    def _hits_in(self, parent: MeasuredColumn) -> dict[int, int]:
        """Return how many probes of each column are keys of the parent."""
        if parent.key_kind not in self._loaded_kinds:
            self._load(parent.key_kind)
        if id(parent) not in self._hits:
            with reading(self.connection, [parent]):
                rows = self.connection.execute(
                    f"SELECT column_index, count(*) FROM {_probe_table(parent.key_kind)}"
                    f" WHERE value IN (SELECT {_probed_value(parent)} FROM {parent.table.relation})"
                    " GROUP BY column_index"
                ).fetchall()
            self._hits[id(parent)] = {id(self.columns[index]): hits for index, hits in rows}
        return self._hits[id(parent)]

    def _load(self, key_kind: str) -> None:
        """Write the probes of one kind of key into a table, whole numbers as numbers."""
        self._loaded_kinds.add(key_kind)
        table, probe_type = _probe_table(key_kind), _PROBE_TYPES[key_kind]
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {table} (column_index INTEGER, value {probe_type})"
        )
        rows = [
            (str(index), value.replace(_SEPARATOR, " "))
            for index, column in enumerate(self.columns)
            if column.key_kind == key_kind
            for value in self.probes[id(column)]
        ]
        if rows:
            # One string for each column of the table: DuckDB converts a list of parameters value by
            # value, a thousand times slower.
            self.connection.execute(
                f"INSERT INTO {table} SELECT unnest(string_split($1, $3))::INTEGER,"
                f" TRY_CAST(unnest(string_split($2, $3)) AS {probe_type})",
                [*(_SEPARATOR.join(values) for values in zip(*rows, strict=True)), _SEPARATOR],
            )


def _probed_value(parent: MeasuredColumn) -> str:
    """Return SQL for a key as its probes are stored; null beyond that type's range."""
    value = parent.sql
    if parent.stats.column.type == "BIGNUM":
        # DuckDB's own conversion raises an error, TRY_CAST or not.
        value = f"CAST({value} AS VARCHAR)"
    return f"TRY_CAST({value} AS {_PROBE_TYPES[parent.key_kind]})"


def _probe_table(key_kind: str) -> str:
    return f"temp.main.fluid_probes_{key_kind}"


def _integers(values: Iterable[str]) -> Iterable[int]:
    for value in values:
        with suppress(ValueError):
            yield int(value)


def probe_tuples(
    connection: duckdb.DuckDBPyConnection,
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
) -> float:
    """Return the share of some child rows whose columns occur together in the parent's.

    A few rows from the middle of the table rule out most accidental pairs at the cost of one scan.
    It's 1 for a child too small to be worth it, or without such rows.
    """
    stats = child[0].table.stats
    if stats.is_complete:
        return 1.0
    names = [f"v{index}" for index in range(len(child))]
    listed = ", ".join(names)
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    child_columns, parent_columns = aliased_columns(child, parent, names)
    with reading(connection, child, parent):
        row = connection.execute(
            f"WITH fluid_probes AS MATERIALIZED (SELECT DISTINCT {listed}"
            f" FROM (SELECT {child_columns} FROM"
            f" (FROM {child[0].table.relation} LIMIT {_TUPLES} OFFSET {stats.rows // 2}))"
            f" WHERE {present}) SELECT count(*), (SELECT count(*) FROM fluid_probes SEMI JOIN"
            f" (SELECT {parent_columns} FROM {parent[0].table.relation})"
            f" USING ({listed})) FROM fluid_probes"
        ).fetchone()
    probes, hits = (int(figure) for figure in row or (0, 0))
    return hits / probes if probes else 1.0
