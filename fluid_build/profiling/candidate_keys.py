"""Candidate keys: every minimal set of up to four columns whose values never repeat.

Two rows that agree in a set of columns prove that no subset of it is a key. So each pair of rows
seen to agree gives a set of columns, one of which every key must have, and the candidate keys are
the minimal hitting sets of those. Candidates are tried on the sample first and on the whole table
last; each that fails yields a new pair of rows and prunes many others (the idea of Birnick et al.,
"Hitting Set Enumeration with Partial Information for Unique Column Combination Discovery", 2020).
Sets of columns are bit masks here.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise
from operator import eq, itemgetter
from typing import TypeAlias

import duckdb

from fluid_build.profiling.column_stats import ColumnStats, TableStats
from fluid_build.sources.sql import quote, quote_all

MAX_COLUMNS = 4
MAX_SEARCHED = 24
MAX_KEYS = 100
PIVOTED_ROWS = 100_000
_MAX_OPEN = 1500
_CHECKED_ROWS = 12_000_000
_FEWEST_CHECKS = 2
_PACKED_BITS = 400_000_000
_PAIRS = 1_500_000
_LEARNT_AT_ONCE = 400
_SORTED_ROWS = 400
_FIRST_AGREEMENTS = 60
_REPEATS = 24
_BITS = tuple(1 << index for index in range(MAX_SEARCHED))

Row: TypeAlias = tuple[int, ...]


@dataclass(slots=True)
class CandidateKeys:
    """The keys of one table, fewest columns first; ``notes`` say where the search was cut short."""

    keys: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def find_candidate_keys(connection: duckdb.DuckDBPyConnection, stats: TableStats) -> CandidateKeys:
    """Find every minimal candidate key of up to four columns, in order of plausibility."""
    found = CandidateKeys()
    if stats.rows == 0:
        return found
    found.keys.extend((column.name,) for column in stats.columns if column.is_key)
    eligible = _eligible_columns(stats)
    searched = _most_like_keys(eligible)
    if len(searched) < len(eligible):
        found.notes.append(
            f"Composite keys were sought among the {MAX_SEARCHED} columns most like keys only."
        )
    if stats.rows > 1 and len(searched) > 1:
        search = _Search(connection, stats, searched)
        found.keys.extend(search.run())
        found.notes.extend(search.notes)
    if len(found.keys) > MAX_KEYS:
        found.notes.append(
            f"{len(found.keys)} candidate keys hold; the {MAX_KEYS} most plausible are listed."
        )
        del found.keys[MAX_KEYS:]
    return found


def plausibility(column: ColumnStats) -> float:
    """How much a column looks like part of a key, by type and width alone; 0 to 1."""
    if column.kind in {"float", "binary", "nested"}:
        return 0.0
    if column.kind == "decimal":
        return 0.1
    if column.kind == "text":
        length = column.avg_length or 0.0
        if reads_like_prose(column):
            return 0.1
        return 0.8 if length <= 12 else 0.5 if length <= 40 else 0.1
    if column.kind == "boolean":
        return 0.2
    return {"integer": 1.0, "uuid": 0.9, "temporal": 0.6}[column.kind]


def reads_like_prose(column: ColumnStats) -> bool:
    """Whether most of a column's values are three words or more: free text, not a key."""
    seen = [value for value, _ in column.values[:20]]
    return bool(seen) and sum(value.count(" ") >= 2 for value in seen) > len(seen) / 2


def _eligible_columns(stats: TableStats) -> list[ColumnStats]:
    large = stats.rows > PIVOTED_ROWS
    return [
        column
        for column in stats.columns
        if column.nulls == 0
        and not column.is_key
        and column.distinct > 1
        and column.kind not in {"nested", "binary"}
        and (not large or plausibility(column) >= 0.5)
    ]


def _most_like_keys(eligible: list[ColumnStats]) -> list[ColumnStats]:
    """The columns to search, most plausible first; of too many, those with the most values."""
    kept = sorted(eligible, key=lambda column: (-plausibility(column), -column.distinct))
    chosen = {column.name for column in kept[:MAX_SEARCHED]}
    return sorted(
        (column for column in eligible if column.name in chosen),
        key=lambda column: -plausibility(column),
    )


class _Search:
    """The search for composite keys in one table."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        stats: TableStats,
        columns: Sequence[ColumnStats],
    ) -> None:
        self.connection = connection
        self.stats = stats
        self.columns = columns
        self.everything = (1 << len(columns)) - 1
        self.rows: list[Row] = list(zip(*(column.codes for column in columns), strict=True))
        self.plausible = [plausibility(column) for column in columns]
        self.open: set[int] = {0}
        self.verified: set[int] = set()
        self.checks = max(_FEWEST_CHECKS, _CHECKED_ROWS // max(stats.rows, 1))
        self.notes: list[str] = []
        self.settled: set[int] = set()
        self.pivots: set[int] = set()

    def run(self) -> list[tuple[str, ...]]:
        """The composite keys that hold, as names in table order."""
        self._learn(self._sampled_agreements())
        while (mask := self._next_candidate()) is not None:
            agreements = self._repeats(mask)
            if agreements is None:
                self.open.discard(mask)
            elif agreements:
                self._learn(agreements)
            else:
                self.verified.add(mask)
        return self._named(self.verified)

    def _next_candidate(self) -> int | None:
        waiting = [mask for mask in self.open if mask not in self.verified]
        return min(waiting, key=self._rank) if waiting else None

    def _rank(self, mask: int) -> tuple[int, float, int]:
        members = list(_bits(mask))
        return len(members), -sum(self.plausible[i] for i in members), mask

    def _named(self, masks: set[int]) -> list[tuple[str, ...]]:
        order = {column.name: index for index, column in enumerate(self.stats.columns)}
        return [
            tuple(sorted((self.columns[i].name for i in _bits(mask)), key=order.__getitem__))
            for mask in sorted(masks, key=self._rank)
        ]

    def _learn(self, agreements: Iterable[int]) -> None:
        """Take in the sets of columns in which some two rows agree: no subset of one is a key."""
        for agreed in agreements:
            self._exclude_subsets(agreed)
        if len(self.open) > _MAX_OPEN:
            self.open = set(sorted(self.open, key=self._rank)[:_MAX_OPEN])
            self._note("Too many column combinations to try them all; the most plausible were.")

    def _exclude_subsets(self, agreed: int) -> None:
        difference = self.everything & ~agreed
        hit = {mask for mask in self.open if mask & difference}
        grown = set(hit)
        for mask in self.open - hit:
            if mask.bit_count() >= MAX_COLUMNS:
                continue
            for bit in _bits(difference):
                wider = mask | (1 << bit)
                if not any(other & wider == other for other in hit):
                    grown.add(wider)
        self.open = grown

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _sampled_agreements(self) -> list[int]:
        """Agreements of neighbouring sampled rows, sorted by each column in turn."""
        step = max(1, len(self.rows) // _SORTED_ROWS)
        rows = self.rows[::step]
        seen: set[int] = set()
        for lead in range(len(self.columns)):
            for one, other in pairwise(sorted(rows, key=itemgetter(lead))):
                if one[lead] == other[lead]:
                    seen.add(_agreement(one, other))
        return _maximal(seen)[:_FIRST_AGREEMENTS]

    def _repeats(self, mask: int) -> list[int] | None:
        """Agreements of rows that repeat in ``mask``; empty if none do; None if not looked for."""
        if not mask:
            return [_agreement(self.rows[0], self.rows[1])]
        if self._combinations(mask) < self.stats.rows:
            return [mask]
        agreements = self._repeats_in_sample(mask)
        if agreements or self.stats.complete:
            return agreements
        if self.stats.rows > PIVOTED_ROWS:
            learnt = self._learn_from_pivot(mask)
            if learnt or any(mask >> pivot & 1 for pivot in self.settled):
                return learnt
        if self.checks == 0:
            self._note(
                "Some wider column combinations held in a sample, were not checked on the whole"
                " table, and are not listed."
            )
            return None
        self.checks -= 1
        if self._packs_without_repeat(mask):
            return []
        return self._repeats_in(self.stats.table.relation, mask)

    def _packs_without_repeat(self, mask: int) -> bool:
        """Whether whole numbers of narrow ranges, packed into one, set a bit for every row.

        Several times faster than grouping; False tells nothing.
        """
        packed, span = "0", 1
        for index in _bits(mask):
            column = self.columns[index]
            if column.kind != "integer" or column.bounds is None:
                return False
            low, high = column.bounds
            width = high - low + 1
            packed = f"({packed} * {width} + ({quote(column.column.alias)} - {low}))"
            span *= width
        if span > min(_PACKED_BITS, 64 * self.stats.rows):
            return False
        row = self.connection.execute(
            f"SELECT bit_count(bitstring_agg(CAST({packed} AS BIGINT), 0, {span - 1}))"
            f" FROM {self.stats.table.relation}"
        ).fetchone()
        return row is not None and row[0] == self.stats.rows

    def _combinations(self, mask: int) -> float:
        """How many different values the columns could have together, at most."""
        product = 1.0
        for index in _bits(mask):
            column = self.columns[index]
            product *= column.distinct * (1.0 if column.distinct_exact else 1.3)
        return product

    def _repeats_in_sample(self, mask: int) -> list[int]:
        keys = list(zip(*(self.columns[index].codes for index in _bits(mask)), strict=True))
        if len(set(keys)) == len(keys):
            return []
        seen: dict[Row, Row] = {}
        agreements: set[int] = set()
        for key, row in zip(keys, self.rows, strict=True):
            other = seen.setdefault(key, row)
            if other is not row:
                agreements.add(_agreement(other, row))
                if len(agreements) >= _REPEATS:
                    break
        return _maximal(agreements)

    def _repeats_in(self, relation: str, mask: int) -> list[int]:
        names = quote_all(self.columns[index].column.alias for index in _bits(mask))
        wanted = ", ".join(_readable(column) for column in self.columns)
        rows = self.connection.execute(
            f"SELECT {wanted} FROM {relation} JOIN ("
            f"SELECT {names} FROM {relation} GROUP BY {names} HAVING count(*) > 1 LIMIT {_REPEATS}"
            f") USING ({names}) LIMIT {_REPEATS * 8}"
        ).fetchall()
        members = list(_bits(mask))
        groups: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
        for row in rows:
            groups.setdefault(tuple(row[index] for index in members), []).append(row)
        agreements = {
            mask | _agreement(one, other)
            for group in groups.values()
            for one, other in pairwise(group)
        }
        return _maximal(agreements) if agreements else [mask] * bool(rows)

    def _learn_from_pivot(self, mask: int) -> list[int]:
        """Learn, once, from all pairs of rows that share a value of the mask's widest column.

        If there are few rows a value, every pair of the table is seen, which settles all
        candidates that hold the column. Otherwise the pairs of a part of the values are: whole
        groups, so that no repeat within them is missed. Gives what speaks against ``mask``.
        """
        pivot = max(_bits(mask), key=lambda index: (self.columns[index].distinct, -index))
        if pivot in self.pivots:
            return []
        self.pivots.add(pivot)
        distinct = max(self.columns[pivot].distinct, 1)
        parts = math.ceil(self.stats.rows * max(self.stats.rows / distinct, 1.0) / _PAIRS)
        if parts > max(distinct // 4, 1):
            return []
        masks, complete = self._pair_agreements(pivot, parts)
        if complete and parts == 1:
            self.settled.add(pivot)
        largest = _maximal(masks)
        against = [agreed for agreed in largest if agreed & mask == mask]
        self._learn(agreed for agreed in largest if agreed & mask != mask)
        return against

    def _pair_agreements(self, pivot: int, parts: int) -> tuple[list[int], bool]:
        """Distinct agreements of row pairs that share the pivot's value, the largest first."""
        names = [quote(column.column.alias) for column in self.columns]
        part = f" WHERE hash({names[pivot]}) % {parts} = 0" if parts > 1 else ""
        # By number, so that no stranger's name meets one of ours.
        wanted = ", ".join(f"{name} AS c{index}" for index, name in enumerate(names))
        agreed = " + ".join(
            f"(CAST(a.c{index} = b.c{index} AS BIGINT) << {index})" for index in range(len(names))
        )
        rows = self.connection.execute(
            f"WITH part AS MATERIALIZED (SELECT {wanted}, row_number() OVER () AS fluid_row"
            f" FROM {self.stats.table.relation}{part}),"
            f" pairs AS (SELECT {agreed} AS agreed FROM part AS a JOIN part AS b"
            f" ON a.c{pivot} = b.c{pivot} AND a.fluid_row < b.fluid_row LIMIT {8 * _PAIRS})"
            " SELECT agreed, sum(n) OVER () FROM (SELECT agreed, count(*) AS n FROM pairs"
            f" GROUP BY agreed) ORDER BY bit_count(agreed) DESC, agreed LIMIT {_LEARNT_AT_ONCE + 1}"
        ).fetchall()
        seen = int(rows[0][1]) if rows else 0
        complete = len(rows) <= _LEARNT_AT_ONCE and seen < 8 * _PAIRS
        return [int(mask) for mask, _ in rows], complete


def _readable(column: ColumnStats) -> str:
    """A column in a form that Python can hold: it knows no late years and no zones."""
    name = quote(column.column.alias)
    return f"CAST({name} AS VARCHAR)" if column.kind == "temporal" else name


def _agreement(one: Sequence[object], other: Sequence[object]) -> int:
    """The columns in which two rows agree."""
    return sum(compress(_BITS, map(eq, one, other)))


def _maximal(masks: Iterable[int]) -> list[int]:
    """The masks that no other mask contains, largest first."""
    kept: list[int] = []
    for mask in sorted(masks, key=lambda mask: (-mask.bit_count(), mask)):
        if not any(mask & other == mask for other in kept):
            kept.append(mask)
    return kept


def _bits(mask: int) -> Iterator[int]:
    index = 0
    while mask:
        if mask & 1:
            yield index
        mask >>= 1
        index += 1
