"""Inclusion: how many of a child's rows find their value among a parent's keys, on every row."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.measure.value_cache import ValueCache, ValueCounts, reading
from fluid_build.sources.servers.keys import MOST_VALUES, PLAIN_TEXT
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.personal_text import ABSENT

NO_KEYS = frozenset({"0", "-1", *ABSENT})
"""Values, in lower case, that stand for no parent at all where no parent has them as its key."""
_FILLERS = r"-?9{2,}|0{2,}|[0-]{36}|(0001|1900)-?01-?01|9999-?12-?31"
"""Other such values: only where each other value is a key, so that a list hasn't lost its 99."""
_HARD_TO_CONVERT = frozenset({"UHUGEINT", "BIGNUM"})
"""Types of whole numbers too large for the others: converting them raises an error."""


@dataclass(frozen=True, slots=True)
class Inclusion:
    """An inclusion dependency as measured; ``rows`` are those that have a value in the columns.

    ``standing_for_none`` are other rows, whose value says that there is no parent: 0, -1, a word
    for nothing, and what no parent has as its key. They are as good as null.
    ``distinct`` counts the child's values, ``distinct_matched`` those among the parent's keys.
    ``parent_near`` counts the parent's keys within the child's bounds: if nearly every number
    there is a key, being among them proves little. ``is_measured`` is False where only a part of
    the parent was read and its server couldn't be asked: then nothing is known of the rows.
    """

    rows: int
    matched: int
    distinct: int
    distinct_matched: int
    parent_distinct: int
    parent_near: int
    is_measured: bool = True
    standing_for_none: int = 0

    @property
    def orphans(self) -> int:
        """Rows whose value isn't a key of the parent."""
        return self.rows - self.matched

    @property
    def share(self) -> float:
        """The share of rows that match; 0 if there are none, and 1 if nobody knows."""
        if not self.is_measured:
            return 1.0
        return self.matched / self.rows if self.rows else 0.0

    @property
    def coverage(self) -> float:
        """The share of the parent's keys that some row refers to."""
        return self.distinct_matched / self.parent_distinct if self.parent_distinct else 0.0


def measure_inclusion(
    cache: ValueCache, child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn]
) -> Inclusion:
    """Measure on every row how the child's columns, taken together, occur in the parent's.

    If the parent's integers have no gaps, the child's bounds alone settle it exactly. If only a
    part of the parent was read, its server is asked.
    """
    if parent[0].table.is_sampled:
        return measure_at_server(cache, child, parent)
    if len(child) == 1 and is_settled_by_bounds(child[0], parent[0]):
        stats, keys = child[0].stats, parent[0].stats.distinct
        distinct = min(stats.distinct, keys)
        near = (child[0].high or 0) - (child[0].low or 0) + 1
        return Inclusion(stats.present, stats.present, distinct, distinct, keys, near)
    same_kinds = all(
        column.key_kind == key.key_kind for column, key in zip(child, parent, strict=True)
    )
    if same_kinds and cache.can_hold(child) and cache.can_hold(parent):
        return _compare(child[0], cache.values(child), cache.values(parent))
    return _join(cache.connection, child, parent)


def measure_at_server(
    cache: ValueCache, child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn]
) -> Inclusion:
    """Measure on some of the child's values how they occur among all of the parent's at its server.

    The rows are those with these values. Nothing is measured of several columns together, or where
    the two aren't compared as the server has them.
    """
    unmeasured = Inclusion(0, 0, 0, 0, _known_keys(parent[0]), 0, is_measured=False)
    if (
        cache.keys is None
        or len(child) > 1
        or not (parent[0].is_plain and child[0].key_kind == parent[0].key_kind)
    ):
        return unmeasured
    text = f"CAST({child[0].sql} AS VARCHAR)"
    relation = child[0].table.relation
    with reading(cache.connection, child):
        values = f"""
            SELECT value FROM (SELECT DISTINCT {text} AS value FROM {relation})
            WHERE regexp_full_match(value, {literal(PLAIN_TEXT)})
            ORDER BY hash(value), value LIMIT {MOST_VALUES}"""
        matching = cache.keys.matching(parent[0].table.name, parent[0].name, values)
        if matching is None:
            return unmeasured
        row = cache.connection.execute(
            f"WITH fluid_asked AS ({values}), fluid_counted AS ("
            f" SELECT {text} AS value, count(*) AS n FROM {relation} SEMI JOIN fluid_asked"
            f" ON {text} = fluid_asked.value GROUP BY ALL)"
            ", fluid_found AS (SELECT n, value IN (SELECT unnest($1)) AS is_key FROM fluid_counted)"
            " SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (is_key), 0), count(*),"
            " count(*) FILTER (is_key) FROM fluid_found",
            [sorted(matching)],
        ).fetchone()
    rows, matched, distinct, distinct_matched = (int(figure) for figure in row or (0,) * 4)
    return Inclusion(rows, matched, distinct, distinct_matched, _known_keys(parent[0]), 0)


def rows_that_refer_to_themselves(
    connection: duckdb.DuckDBPyConnection, child: MeasuredColumn, parent: MeasuredColumn
) -> float:
    """Return the share of rows of a table in which a column has the value of the row's own key."""
    with reading(connection, [child, parent]):
        row = connection.execute(
            f"SELECT avg(CAST({child.sql} = {parent.sql} AS INTEGER)) FROM {child.table.relation}"
        ).fetchone()
    return float(row[0] or 0.0) if row else 0.0


def _known_keys(parent: MeasuredColumn) -> int:
    """Return how many keys a sampled parent has: as many as rows, as far as they're known."""
    sampled = parent.table.stats.table.sampled
    return (sampled.total if sampled else None) or max(parent.stats.distinct, 1)


def is_settled_by_bounds(child: MeasuredColumn, parent: MeasuredColumn) -> bool:
    """Return whether all rows match because the child is within a parent's bounds without gaps."""
    if not parent.is_dense or child.low is None or child.high is None:
        return False
    return child.low >= (parent.low or 0) and child.high <= (parent.high or 0)


def _compare(child: MeasuredColumn, values: ValueCounts, keys: ValueCounts) -> Inclusion:
    parent_counts = keys.counts
    matched = [count for value, count in values.counts.items() if value in parent_counts]
    orphans = [value for value in values.counts if value not in parent_counts]
    none = [value for value in orphans if _stands_for_none(str(value), is_alone=len(orphans) == 1)]
    rows_of_none = sum(values.counts[value] for value in none)
    near = 0
    if child.low is not None and child.high is not None:
        firsts = keys.sorted_firsts
        near = bisect_right(firsts, child.high) - bisect_left(firsts, child.low)
    return Inclusion(
        rows=values.rows - rows_of_none,
        matched=sum(matched),
        distinct=len(values.counts) - len(none),
        distinct_matched=len(matched),
        parent_distinct=len(parent_counts),
        parent_near=near,
        standing_for_none=rows_of_none,
    )


def _stands_for_none(value: str, *, is_alone: bool) -> bool:
    """Return whether a value without a parent says so; ``is_alone`` where no other has none."""
    bare = value.strip().lower()
    return bare in NO_KEYS or (is_alone and re.fullmatch(_FILLERS, bare) is not None)


def _join(
    connection: duckdb.DuckDBPyConnection,
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
) -> Inclusion:
    names = [f"v{index}" for index in range(len(child))]
    child_columns, parent_columns = aliased_columns(child, parent, names)
    child_present = " AND ".join(f"{column.sql} IS NOT NULL" for column in child)
    parent_present = " AND ".join(f"{column.sql} IS NOT NULL" for column in parent)
    matches = " AND ".join(f"fluid_parent.{name} = fluid_child.{name}" for name in names)
    distinct = "" if parent[0].stats.is_unique else "DISTINCT "
    listed = ", ".join(map(literal, sorted(NO_KEYS)))
    is_none, is_filler = "false", "false"
    if len(child) == 1:
        bare = "lower(trim(CAST(v0 AS VARCHAR)))"
        is_none = f"{bare} IN ({listed})"
        is_filler = f"regexp_full_match({bare}, {literal(_FILLERS)})"
    with reading(connection, child, parent):
        row = connection.execute(
            f"WITH fluid_child AS (SELECT {child_columns}, count(*) AS n"
            f" FROM {child[0].table.relation} WHERE {child_present} GROUP BY ALL),"
            f" fluid_parent AS (SELECT {distinct}{parent_columns}"
            f" FROM {parent[0].table.relation} WHERE {parent_present}),"
            f" fluid_judged AS (SELECT n, EXISTS (FROM fluid_parent WHERE {matches}) AS is_key,"
            f" {is_none} AS is_word, {is_filler} AS is_filler FROM fluid_child)"
            " SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER (is_key), 0), count(*),"
            f" count(*) FILTER (is_key), {_count_keys(parent)}, {_count_near(child[0], parent)},"
            " coalesce(sum(n) FILTER (NOT is_key AND is_word), 0),"
            " count(*) FILTER (NOT is_key AND is_word),"
            " coalesce(sum(n) FILTER (NOT is_key AND is_filler), 0),"
            " count(*) FILTER (NOT is_key AND is_filler) FROM fluid_judged"
        ).fetchone()
    rows, matched, values, values_matched, keys, near, *nones = map(int, row or (0,) * 10)
    of_words, of_fillers = tuple(nones[:2]), tuple(nones[2:])
    is_alone = values - values_matched == 1
    none, none_values = of_fillers if is_alone and of_fillers[1] else of_words
    return Inclusion(
        rows=rows - none,
        matched=matched,
        distinct=values - none_values,
        distinct_matched=values_matched,
        parent_distinct=keys,
        parent_near=near,
        standing_for_none=none,
    )


def aliased_columns(
    child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn], names: Sequence[str]
) -> tuple[str, str]:
    """Return the SELECT lists of child and parent columns, in the form they are compared in.

    The names that they get are the same for both.
    """
    pairs = [_compared_forms(column, key) for column, key in zip(child, parent, strict=True)]
    return (
        ", ".join(f"{form} AS {name}" for (form, _), name in zip(pairs, names, strict=True)),
        ", ".join(f"{form} AS {name}" for (_, form), name in zip(pairs, names, strict=True)),
    )


def _compared_forms(child: MeasuredColumn, parent: MeasuredColumn) -> tuple[str, str]:
    """Return SQL for both columns of a pair, as text if DuckDB can't convert one to the other."""
    if _is_compared_as_text(child, parent):
        return _as_text(child), _as_text(parent)
    return child.sql, parent.sql


def _as_text(column: MeasuredColumn) -> str:
    """Return SQL for a column as text: as it's stored where it holds text, ``007`` and not 7."""
    is_stored = column.stats.kind == "text"
    return f"CAST({quote(column.stats.column.alias) if is_stored else column.sql} AS VARCHAR)"


def _is_compared_as_text(child: MeasuredColumn, parent: MeasuredColumn) -> bool:
    types = {child.stats.column.type, parent.stats.column.type}
    if len(types) > 1 and not types.isdisjoint(_HARD_TO_CONVERT):
        return True
    # A word in a column that is declared to refer to a number is no number, and no error.
    are_text = {_is_text(child), _is_text(parent)}
    return len(are_text) > 1


def _is_text(column: MeasuredColumn) -> bool:
    return column.stats.kind == "text" and column.is_plain


def _count_keys(parent: Sequence[MeasuredColumn]) -> str:
    """Return SQL for the number of a parent's keys, known for a unique column compared as it is."""
    if len(parent) == 1 and parent[0].stats.is_unique and parent[0].is_plain:
        return str(parent[0].stats.distinct)
    return "(SELECT count(*) FROM fluid_parent)"


def _count_near(child: MeasuredColumn, parent: Sequence[MeasuredColumn]) -> str:
    """Return SQL for the number of parent keys within a child's bounds; 0 if it has no bounds."""
    if child.low is None or child.high is None:
        return "0"
    if len(parent) == 1 and parent[0].is_dense and parent[0].is_plain:
        low, high = max(child.low, parent[0].low or 0), min(child.high, parent[0].high or 0)
        return str(max(high - low + 1, 0))
    number = "TRY_CAST(v0 AS DOUBLE)" if _is_compared_as_text(child, parent[0]) else "v0"
    near = f"{number} BETWEEN {child.low} AND {child.high}"
    return f"(SELECT count(*) FROM fluid_parent WHERE {near})"
