"""Inclusion: how many of a child's rows find their value among a parent's keys.

Values are first probed, a few of each column against a key, which prunes nearly all pairs; what is
left is measured on every row.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import duckdb

from fluid_build.profiling import checks
from fluid_build.profiling.measured_tables import MeasuredColumn
from fluid_build.profiling.value_cache import ValueCache, ValueCounts
from fluid_build.sources.base import Table
from fluid_build.sources.sql import quote

PROBES = 48
_TUPLES = 256
_USUAL_SCHEMAS = frozenset({"", "main", "public", "dbo"})
_PART = "\x1f"
_PROBE_TYPES = {"integer": "HUGEINT", "text": "VARCHAR", "uuid": "UUID", "date": "DATE"}


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Measured inclusion: ``rows`` without null = ``matched`` + orphans; distinct alike.

    ``parent_near`` counts the parent's keys within the child's bounds: if nearly every number
    there is a key, to be among them proves little.
    """

    rows: int
    matched: int
    distinct: int
    distinct_matched: int
    parent_distinct: int
    parent_near: int

    @property
    def orphans(self) -> int:
        """Rows whose value no parent key holds."""
        return self.rows - self.matched

    @property
    def share(self) -> float:
        """The part of rows that are matched; 0 where there are none."""
        return self.matched / self.rows if self.rows else 0.0

    @property
    def coverage(self) -> float:
        """The part of the parent's keys that some row refers to."""
        return self.distinct_matched / self.parent_distinct if self.parent_distinct else 0.0


def probes_of(node: MeasuredColumn) -> list[str]:
    """Some distinct values of a column, spread over those that were sampled, as text."""
    values = [value for value, _ in node.stats.values]
    if len(values) > PROBES:
        step = len(values) / PROBES
        values = [values[int(index * step)] for index in range(PROBES)]
    if node.comparable == "integer":
        return [_canonical(value) for value in values]
    return [value.lower() for value in values] if node.comparable == "uuid" else values


def _canonical(value: str) -> str:
    text = value.strip()
    if text.endswith(".0"):
        text = text[:-2]
    try:
        return str(int(text))
    except ValueError:
        return text


class Prober:
    """Sampled inclusion of columns in keys.

    The keys of small tables are at hand; for any other key one query tells of all columns.
    """

    def __init__(self, held: ValueCache, nodes: Sequence[MeasuredColumn]) -> None:
        self.held = held
        self.connection = held.connection
        self.probes = {id(node): probes_of(node) for node in nodes}
        self.numbers = {
            id(node): sorted(_numbers(self.probes[id(node)]))
            for node in nodes
            if node.comparable == "integer"
        }
        self.ids = dict(enumerate(nodes))
        self._loaded: set[str] = set()
        self._hits: dict[int, dict[int, int]] = {}

    def _load(self, kind: str) -> None:
        """Put the probes of one kind of value into a table, whole numbers as numbers."""
        self._loaded.add(kind)
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_probe_table(kind)}"
            f" (node INTEGER, value {_PROBE_TYPES[kind]})"
        )
        rows = [
            (str(number), value.replace(_PART, " "))
            for number, node in self.ids.items()
            if node.comparable == kind
            for value in self.probes[id(node)]
        ]
        if rows:
            # One string a column: DuckDB converts a list of parameters value by value, a
            # thousand times slower.
            self.connection.execute(
                f"INSERT INTO {_probe_table(kind)} SELECT"
                " unnest(string_split($1, $3))::INTEGER,"
                f" TRY_CAST(unnest(string_split($2, $3)) AS {_PROBE_TYPES[kind]})",
                [*(_PART.join(column) for column in zip(*rows, strict=True)), _PART],
            )

    def close(self) -> None:
        """Drop the probes."""
        while self._loaded:
            self.connection.execute(f"DROP TABLE IF EXISTS {_probe_table(self._loaded.pop())}")

    def share(self, child: MeasuredColumn, parent: MeasuredColumn) -> float:
        """The part of the child's probed values that are keys of the parent."""
        probes = self.probes[id(child)]
        if not probes:
            return 0.0
        if parent.dense:
            numbers = self.numbers[id(child)]
            return (
                bisect_right(numbers, parent.high or 0) - bisect_left(numbers, parent.low or 0)
            ) / len(probes)
        if not self.held.can_hold([parent]):
            return self._hits_in(parent).get(id(child), 0) / len(probes)
        keys = self.held.values([parent]).counts
        sought = self.numbers.get(id(child), probes)
        return len([value for value in sought if value in keys]) / len(probes)

    def _hits_in(self, parent: MeasuredColumn) -> dict[int, int]:
        if parent.comparable not in self._loaded:
            self._load(parent.comparable)
        if id(parent) not in self._hits:
            found = self.connection.execute(
                f"SELECT node, count(*) FROM {_probe_table(parent.comparable)} WHERE value IN"
                f" (SELECT CAST({parent.sql} AS {_PROBE_TYPES[parent.comparable]})"
                f" FROM {parent.table.stats.table.relation}) GROUP BY node"
            ).fetchall()
            self._hits[id(parent)] = {id(self.ids[node]): hits for node, hits in found}
        return self._hits[id(parent)]


def _probe_table(kind: str) -> str:
    return f"temp.main.fluid_probes_{kind}"


def _numbers(values: Iterable[str]) -> Iterable[int]:
    for value in values:
        with suppress(ValueError):
            yield int(value)


def measure_inclusion(
    held: ValueCache, child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn]
) -> Inclusion:
    """Measure on every row how the child's columns, taken together, occur in the parent's.

    Where the parent's integers are without gaps, the child's bounds alone settle it exactly.
    """
    if len(child) == 1 and is_settled_by_bounds(child[0], parent[0]):
        stats, keys = child[0].stats, parent[0].stats.distinct
        distinct = min(stats.distinct, keys)
        near = (child[0].high or 0) - (child[0].low or 0) + 1
        return Inclusion(stats.present, stats.present, distinct, distinct, keys, near)
    alike = all(
        one.comparable == other.comparable for one, other in zip(child, parent, strict=True)
    )
    if alike and held.can_hold(child) and held.can_hold(parent):
        return _compare(child[0], held.values(child), held.values(parent))
    return _join(held.connection, child, parent)


def _compare(child: MeasuredColumn, ours: ValueCounts, theirs: ValueCounts) -> Inclusion:
    keys = theirs.counts
    matched = [count for value, count in ours.counts.items() if value in keys]
    near = 0
    if child.low is not None and child.high is not None:
        near = bisect_right(theirs.firsts, child.high) - bisect_left(theirs.firsts, child.low)
    return Inclusion(ours.rows, sum(matched), len(ours.counts), len(matched), len(keys), near)


def _join(
    connection: duckdb.DuckDBPyConnection,
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
) -> Inclusion:
    columns = [f"v{index}" for index in range(len(child))]
    chosen, wanted = _aliased(child, columns), _aliased(parent, columns)
    present = " AND ".join(f"{node.sql} IS NOT NULL" for node in child)
    known = " AND ".join(f"{node.sql} IS NOT NULL" for node in parent)
    matches = " AND ".join(f"parent.{name} = child.{name}" for name in columns)
    row = connection.execute(
        f"WITH child AS (SELECT {chosen}, count(*) AS n"
        f" FROM {child[0].table.stats.table.relation} WHERE {present} GROUP BY ALL),"
        f" parent AS (SELECT {'' if parent[0].stats.unique else 'DISTINCT '}{wanted}"
        f" FROM {parent[0].table.stats.table.relation} WHERE {known}),"
        f" judged AS (SELECT n, EXISTS (FROM parent WHERE {matches}) AS found FROM child)"
        " SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (found), 0), count(*),"
        f" count(*) FILTER (found), {_keys(parent)}, {_near(child[0], parent)} FROM judged"
    ).fetchone()
    return Inclusion(*(int(figure) for figure in row or (0,) * 6))


def probe_tuples(
    connection: duckdb.DuckDBPyConnection,
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
) -> float:
    """The part of some of the child's rows whose columns occur together in the parent's.

    A few rows from the middle of the table tell most accidental pairs apart at the cost of one
    scan; 1 for a child too small to be worth it, or without such rows.
    """
    stats = child[0].table.stats
    if stats.complete:
        return 1.0
    columns = [f"v{index}" for index in range(len(child))]
    chosen, wanted = _aliased(child, columns), _aliased(parent, columns)
    names = ", ".join(columns)
    present = " AND ".join(f"{name} IS NOT NULL" for name in columns)
    row = connection.execute(
        f"WITH probes AS MATERIALIZED (SELECT DISTINCT {names} FROM (SELECT {chosen} FROM"
        f" (FROM {stats.table.relation} LIMIT {_TUPLES} OFFSET {stats.rows // 2}))"
        f" WHERE {present}) SELECT count(*), (SELECT count(*) FROM probes SEMI JOIN"
        f" (SELECT {wanted} FROM {parent[0].table.stats.table.relation}) USING ({names}))"
        " FROM probes"
    ).fetchone()
    probes, found = (int(figure) for figure in row or (0, 0))
    return found / probes if probes else 1.0


def _aliased(nodes: Sequence[MeasuredColumn], names: Sequence[str]) -> str:
    return ", ".join(f"{node.sql} AS {name}" for node, name in zip(nodes, names, strict=True))


def _keys(parent: Sequence[MeasuredColumn]) -> str:
    """SQL for the number of a parent's keys, which is known of a unique column that is compared."""
    if len(parent) == 1 and parent[0].stats.unique and parent[0].is_plain:
        return str(parent[0].stats.distinct)
    return "(SELECT count(*) FROM parent)"


def _near(child: MeasuredColumn, parent: Sequence[MeasuredColumn]) -> str:
    """SQL for the number of parent keys within a child's bounds; 0 where that means nothing."""
    if child.low is None or child.high is None:
        return "0"
    if len(parent) == 1 and parent[0].dense and parent[0].is_plain:
        low, high = max(child.low, parent[0].low or 0), min(child.high, parent[0].high or 0)
        return str(max(high - low + 1, 0))
    return f"(SELECT count(*) FROM parent WHERE v0 BETWEEN {child.low} AND {child.high})"


def is_settled_by_bounds(child: MeasuredColumn, parent: MeasuredColumn) -> bool:
    """Whether the parent is without gaps and the child within its bounds: all of it is included."""
    if not parent.dense or child.low is None or child.high is None:
        return False
    return child.low >= (parent.low or 0) and child.high <= (parent.high or 0)


def orphans_sql(child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn]) -> str:
    """A query, in any SQL dialect, for the rows whose parent is missing, compared as measured."""
    return checks.orphans(
        place_of(child[0].table.stats.table),
        tuple(node.stats.name for node in child),
        place_of(parent[0].table.stats.table),
        tuple(node.stats.name for node in parent),
        tuple(_forms(one, other) for one, other in zip(child, parent, strict=True)),
    )


def _forms(child: MeasuredColumn, parent: MeasuredColumn) -> tuple[checks.Form, checks.Form]:
    """How the columns of a pair are compared: text that is spelled as its type needs no cast."""
    nodes = (child, parent)
    if all(node.stats.kind == "text" and node.stats.reversible for node in nodes):
        return "plain", "plain"
    return _form(child, parent), _form(parent, child)


def _form(node: MeasuredColumn, other: MeasuredColumn) -> checks.Form:
    if "uuid" in (node.comparable, other.comparable):
        same = node.stats.kind == other.stats.kind == "uuid"
        return "plain" if same else "letters"
    return "number" if node.comparable == "integer" and node.stats.kind == "text" else "plain"


def repeats_sql(table: Table, columns: Iterable[str]) -> str:
    """A query, in any SQL dialect, for the values of some columns that repeat."""
    return checks.repeated_values(place_of(table), tuple(columns))


def place_of(table: Table) -> str:
    """Where a table is at its source, in SQL; its schema is named unless that is the usual one."""
    for prefix, end in ((f'"{table.schema}"."', -1), (f"{table.schema}.", None)):
        if table.schema and table.name.startswith(prefix):
            return f"{quote(table.schema)}.{quote(table.name[len(prefix) : end])}"
    usual = table.schema in _USUAL_SCHEMAS
    return quote(table.name) if usual else f"{quote(table.schema)}.{quote(table.name)}"


def group_by_kind(nodes: Iterable[MeasuredColumn]) -> dict[str, list[MeasuredColumn]]:
    """Columns by what they can be compared with; those that can't be keys are left out."""
    groups: dict[str, list[MeasuredColumn]] = defaultdict(list)
    for node in nodes:
        if node.comparable:
            groups[node.comparable].append(node)
    return groups
