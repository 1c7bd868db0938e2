"""Candidate keys: every minimal set of up to four columns whose values never repeat.

Where none of them is among the first columns of a table, the first that are unique together are a
candidate, however many: people put keys first.

Two rows that agree in a set of columns prove that no subset of it is a key: every key needs one of
the columns in which they differ. The candidate keys are the minimal hitting sets of all those
differences. Candidates are tried on the sample first and on the whole table last; each one that
fails yields a new pair of rows, which excludes many others (Birnick et al., "Hitting Set
Enumeration with Partial Information for Unique Column Combination Discovery", 2020). Sets of
columns are bit masks here.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise, takewhile
from operator import eq, itemgetter
from typing import TypeAlias

import duckdb

from fluid_build.profiling.measure.figures import ColumnStats, TableStats
from fluid_build.profiling.measure.key_forms import key_form
from fluid_build.sources.sql import quote, quote_all

MAX_COLUMNS = 4
"""Columns of a key that any columns may make up. Wider ones are rare but for a table's first
columns, and the combinations grow with each column."""
MAX_SEARCHED = 24
"""Columns among which composite keys are searched: 12,950 combinations of up to four."""
MAX_KEYS = 100
"""Candidate keys that are listed, so that random data doesn't fill the profile."""
PIVOTED_ROWS = 100_000
"""Rows from which one query that learns from many pairs of rows pays for itself."""
_MAX_OPEN = 1500
"""Candidates that are kept open at once, which bounds the time of excluding subsets."""
_CHECKED_ROWS = 12_000_000
"""Rows that checks on a whole table may read in total: about a second."""
_MOST_FIRST = 3
"""Numbers of first columns that are counted: what the sample doesn't contradict mostly holds."""
_FEWEST_CHECKS = 2
"""Checks on the whole table that even the largest one gets."""
_PACKED_BITS = 400_000_000
"""Bits of the largest bit string for packed numbers: 50 MB."""
_BITS_A_ROW = 64
"""Bits of that string for each row at most; beyond, grouping the rows is as fast."""
_PAIRS = 1_500_000
"""Pairs of rows that one query compares: about a second."""
_MOST_PAIRS = 8 * _PAIRS
"""Pairs at which a query stops if the values turn out less even than assumed."""
_LEARNT_AT_ONCE = 400
"""Agreements taken from such a query; each excludes many candidates, and more add little."""
_SORTED_ROWS = 400
"""Sampled rows that are sorted by every column to find the first agreements."""
_FIRST_AGREEMENTS = 60
"""Agreements that the search starts from; the largest exclude most."""
_REPEATS = 24
"""Repeats that are read of a candidate that fails; the largest agreements are among them soon."""
_ESTIMATE_SLACK = 1.3
"""How much larger an approximate distinct count may be in truth; DuckDB's is off by some 10 %."""
_FEWEST_PLAUSIBLE = 0.5
"""The form of a key that a column of a large table needs to be searched: what is left out is prose,
decimals and booleans."""
_NARROW_INTEGERS = frozenset("TINYINT SMALLINT UTINYINT USMALLINT".split())
"""Types that can't hold the difference of two of their values."""
_BITS = tuple(1 << index for index in range(MAX_SEARCHED))

Row: TypeAlias = tuple[int, ...]


@dataclass(slots=True)
class CandidateKeys:
    """The keys of one table, fewest columns first; ``notes`` say where the search was cut short."""

    keys: list[tuple[str, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def find_candidate_keys(
    connection: duckdb.DuckDBPyConnection,
    stats: TableStats,
    likelihood: Mapping[str, float] | None = None,
) -> CandidateKeys:
    """Find every minimal candidate key of up to four columns, the likeliest first.

    ``likelihood`` says how likely each column is to be part of the key, by default its form
    alone; of too many columns, the likeliest are searched.
    """
    if likelihood is None:
        likelihood = {column.name: key_form(column) for column in stats.columns}
    candidates = CandidateKeys()
    if stats.rows == 0:
        return candidates
    candidates.keys.extend((column.name,) for column in stats.columns if column.is_key)
    is_large = stats.rows > PIVOTED_ROWS
    eligible = [
        column
        for column in stats.columns
        if column.nulls == 0
        and not column.is_key
        and column.distinct > 1
        and column.kind not in {"nested", "binary"}
        and (not is_large or key_form(column) >= _FEWEST_PLAUSIBLE)
    ]
    searched = sorted(eligible, key=lambda column: -likelihood[column.name])[:MAX_SEARCHED]
    if len(searched) < len(eligible):
        candidates.notes.append(
            f"The search for composite keys only covered the {MAX_SEARCHED} most likely columns."
        )
    if stats.rows > 1 and len(searched) > 1:
        search = _Search(connection, stats, searched, [likelihood[c.name] for c in searched])
        candidates.keys.extend(search.run())
        candidates.notes.extend(search.notes)
    first = _first_columns(connection, stats, candidates.keys)
    if first:
        candidates.keys.insert(0, first)
    if len(candidates.keys) > MAX_KEYS:
        candidates.notes.append(
            f"There are more than {MAX_KEYS} candidate keys; the most likely are listed."
        )
        del candidates.keys[MAX_KEYS:]
    return candidates


def _first_columns(
    connection: duckdb.DuckDBPyConnection, stats: TableStats, known: Sequence[tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the first columns of a table that are unique, if these are more than are searched.

    One query counts the values of those numbers of columns that the sample doesn't contradict.
    """
    columns = [column for column in takewhile(_may_lead, stats.columns) if column.distinct > 1]
    names = [column.name for column in columns]
    ends = [max(map(names.index, key)) for key in known if set(key) <= set(names)]
    sizes = [
        size
        for size in range(MAX_COLUMNS + 1, min([len(columns), *ends]) + 1)
        if len(set(zip(*(column.codes for column in columns[:size]), strict=True)))
        == len(columns[0].codes)
    ][: max(1, min(_MOST_FIRST, _CHECKED_ROWS // stats.rows))]
    if not sizes:
        return ()
    counts = ", ".join(
        f"count(DISTINCT ({quote_all(column.column.alias for column in columns[:size])}))"
        for size in sizes
    )
    row = connection.execute(f"SELECT {counts} FROM {stats.table.relation}").fetchone() or ()
    unique = [size for size, count in zip(sizes, row, strict=True) if count == stats.rows]
    return tuple(names[: unique[0]]) if unique else ()


def _may_lead(column: ColumnStats) -> bool:
    """Return whether a column may be one of the first of a wide key: no text, no amount."""
    return column.nulls == 0 and not column.is_key and key_form(column) >= _FEWEST_PLAUSIBLE


class _Search:
    """The search for composite keys in one table.

    ``open`` holds the candidates that nothing contradicts yet, ``verified`` those that hold on the
    whole table. ``pivots`` are the columns whose pairs of rows were compared, ``settled`` those of
    them for which all pairs were, so that every open candidate with such a column holds.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        stats: TableStats,
        columns: Sequence[ColumnStats],
        likelihood: Sequence[float],
    ) -> None:
        self.connection = connection
        self.stats = stats
        self.columns = columns
        self.all_columns = (1 << len(columns)) - 1
        self.rows: list[Row] = list(zip(*(column.codes for column in columns), strict=True))
        self.likelihood = likelihood
        self.open: set[int] = {0}
        self.verified: set[int] = set()
        self.checks = max(_FEWEST_CHECKS, _CHECKED_ROWS // max(stats.rows, 1))
        self.notes: list[str] = []
        self.settled: set[int] = set()
        self.pivots: set[int] = set()
        self._ranks: dict[int, tuple[int, float, int]] = {}

    def run(self) -> list[tuple[str, ...]]:
        """Return the composite keys that hold, as names in table order."""
        self._learn(self._sampled_agreements())
        # Candidates come in the order of the list; one more than it holds shows that it's cut.
        while len(self.verified) <= MAX_KEYS and (mask := self._next_candidate()) is not None:
            agreements = self._repeats(mask)
            if agreements is None:
                self.open.discard(mask)
            elif agreements:
                self._learn(agreements)
            else:
                self.verified.add(mask)
        return self._column_names(self.verified)

    def _next_candidate(self) -> int | None:
        waiting = [mask for mask in self.open if mask not in self.verified]
        return min(waiting, key=self._rank) if waiting else None

    def _rank(self, mask: int) -> tuple[int, float, int]:
        if mask not in self._ranks:
            likelihood = sum(self.likelihood[index] for index in _bits(mask))
            self._ranks[mask] = mask.bit_count(), -likelihood, mask
        return self._ranks[mask]

    def _column_names(self, masks: set[int]) -> list[tuple[str, ...]]:
        order = {column.name: index for index, column in enumerate(self.stats.columns)}
        return [
            tuple(sorted((self.columns[i].name for i in _bits(mask)), key=order.__getitem__))
            for mask in sorted(masks, key=self._rank)
        ]

    def _learn(self, agreements: Iterable[int]) -> None:
        """Exclude what two rows contradict: no subset of the columns they agree in is a key."""
        for agreed in agreements:
            self._exclude_subsets(agreed)
        if len(self.open) > _MAX_OPEN:
            self.open = set(sorted(self.open, key=self._rank)[:_MAX_OPEN])
            self._note(
                "There are too many combinations of columns; only the most likely were checked."
            )

    def _exclude_subsets(self, agreed: int) -> None:
        """Replace the candidates within ``agreed`` by minimal ones with one more column."""
        difference = self.all_columns & ~agreed
        remaining = {mask for mask in self.open if mask & difference}
        grown = set(remaining)
        for mask in self.open - remaining:
            if mask.bit_count() >= MAX_COLUMNS:
                continue
            for bit in _bits(difference):
                wider = mask | (1 << bit)
                if not any(smaller & wider == smaller for smaller in remaining):
                    grown.add(wider)
        self.open = grown

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _sampled_agreements(self) -> list[int]:
        """Return agreements of neighbouring sampled rows, sorted by each column in turn."""
        step = max(1, len(self.rows) // _SORTED_ROWS)
        rows = self.rows[::step]
        agreements: set[int] = set()
        for lead in range(len(self.columns)):
            for row, neighbour in pairwise(sorted(rows, key=itemgetter(lead))):
                if row[lead] == neighbour[lead]:
                    agreements.add(_agreement(row, neighbour))
        return _maximal(agreements)[:_FIRST_AGREEMENTS]

    def _repeats(self, mask: int) -> list[int] | None:
        """Return agreements of rows that repeat in ``mask``; None if it wasn't checked."""
        if not mask:
            return [_agreement(self.rows[0], self.rows[1])]
        if self._combinations(mask) < self.stats.rows:
            return [mask]
        agreements = self._repeats_in_sample(mask)
        if agreements or self.stats.is_complete:
            return agreements
        if self.stats.rows > PIVOTED_ROWS:
            learnt = self._learn_from_pivot(mask)
            if learnt or any(mask >> pivot & 1 for pivot in self.settled):
                return learnt
        if self.checks == 0:
            self._note(
                "Some wider column combinations are unique in a sample. They weren't checked on the"
                " whole table and aren't listed."
            )
            return None
        self.checks -= 1
        if self._packs_without_repeat(mask):
            return []
        return self._repeats_in(self.stats.table.relation, mask)

    def _packs_without_repeat(self, mask: int) -> bool:
        """Return whether whole numbers of narrow ranges, packed into one, set a bit for every row.

        Several times faster than grouping. False says nothing: the ranges may be too wide.
        """
        packed, span = "0", 1
        for index in _bits(mask):
            column = self.columns[index]
            if column.kind != "integer" or column.bounds is None:
                return False
            low, high = column.bounds
            width = high - low + 1
            number = quote(column.column.alias)
            if column.column.type in _NARROW_INTEGERS:
                number = f"CAST({number} AS BIGINT)"
            packed = f"({packed} * {width} + ({number} - {low}))"
            span *= width
        if span > min(_PACKED_BITS, _BITS_A_ROW * self.stats.rows):
            return False
        row = self.connection.execute(
            f"SELECT bit_count(bitstring_agg(CAST({packed} AS BIGINT), 0, {span - 1}))"
            f" FROM {self.stats.table.relation}"
        ).fetchone()
        return row is not None and row[0] == self.stats.rows

    def _combinations(self, mask: int) -> float:
        """Return how many different values the columns could have together, at most."""
        product = 1.0
        for index in _bits(mask):
            column = self.columns[index]
            product *= column.distinct * (1.0 if column.distinct_exact else _ESTIMATE_SLACK)
        return product

    def _repeats_in_sample(self, mask: int) -> list[int]:
        keys = list(zip(*(self.columns[index].codes for index in _bits(mask)), strict=True))
        if len(set(keys)) == len(keys):
            return []
        first_rows: dict[Row, Row] = {}
        agreements: set[int] = set()
        for key, row in zip(keys, self.rows, strict=True):
            first = first_rows.setdefault(key, row)
            if first is not row:
                agreements.add(_agreement(first, row))
                if len(agreements) >= _REPEATS:
                    break
        return _maximal(agreements)

    def _repeats_in(self, relation: str, mask: int) -> list[int]:
        names = quote_all(self.columns[index].column.alias for index in _bits(mask))
        selected = ", ".join(_python_value(column) for column in self.columns)
        rows = self.connection.execute(
            f"SELECT {selected} FROM {relation} JOIN ("
            f"SELECT {names} FROM {relation} GROUP BY {names} HAVING count(*) > 1 LIMIT {_REPEATS}"
            f") USING ({names}) LIMIT {_REPEATS * 8}"
        ).fetchall()
        indices = list(_bits(mask))
        groups: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
        for row in rows:
            groups.setdefault(tuple(row[index] for index in indices), []).append(row)
        agreements = {
            mask | _agreement(row, next_row)
            for group in groups.values()
            for row, next_row in pairwise(group)
        }
        return _maximal(agreements) if agreements else [mask] * bool(rows)

    def _learn_from_pivot(self, mask: int) -> list[int]:
        """Learn, once, from all pairs of rows that share a value of the mask's widest column.

        If each value has few rows, all such pairs of the table are compared, which settles every
        candidate with that column. Otherwise the pairs of a part of the values are: whole groups,
        so that no repeat within them is missed. Returns what contradicts ``mask``.
        """
        pivot = max(_bits(mask), key=lambda index: (self.columns[index].distinct, -index))
        if pivot in self.pivots:
            return []
        self.pivots.add(pivot)
        distinct = max(self.columns[pivot].distinct, 1)
        parts = math.ceil(self.stats.rows * max(self.stats.rows / distinct, 1.0) / _PAIRS)
        # With fewer than four values a part, groups are too large to be worth comparing.
        if parts > max(distinct // 4, 1):
            return []
        masks, is_complete = self._pair_agreements(pivot, parts)
        if is_complete and parts == 1:
            self.settled.add(pivot)
        largest = _maximal(masks)
        against = [agreed for agreed in largest if agreed & mask == mask]
        self._learn(agreed for agreed in largest if agreed & mask != mask)
        return against

    def _pair_agreements(self, pivot: int, parts: int) -> tuple[list[int], bool]:
        """Return the distinct agreements of rows that share the pivot's value, the largest first.

        Second, whether these are all of them.
        """
        names = [quote(column.column.alias) for column in self.columns]
        part = f" WHERE hash({names[pivot]}) % {parts} = 0" if parts > 1 else ""
        # By number, so that no column of the source can have the name of one of ours.
        selected = ", ".join(f"{name} AS c{index}" for index, name in enumerate(names))
        agreed = " + ".join(
            f"(CAST(a.c{index} = b.c{index} AS BIGINT) << {index})" for index in range(len(names))
        )
        rows = self.connection.execute(
            f"WITH part AS MATERIALIZED (SELECT {selected}, row_number() OVER () AS fluid_row"
            f" FROM {self.stats.table.relation}{part}),"
            f" pairs AS (SELECT {agreed} AS agreed FROM part AS a JOIN part AS b"
            f" ON a.c{pivot} = b.c{pivot} AND a.fluid_row < b.fluid_row LIMIT {_MOST_PAIRS})"
            " SELECT agreed, sum(n) OVER () FROM (SELECT agreed, count(*) AS n FROM pairs"
            f" GROUP BY agreed) ORDER BY bit_count(agreed) DESC, agreed LIMIT {_LEARNT_AT_ONCE + 1}"
        ).fetchall()
        pairs = int(rows[0][1]) if rows else 0
        is_complete = len(rows) <= _LEARNT_AT_ONCE and pairs < _MOST_PAIRS
        return [int(mask) for mask, _ in rows], is_complete


def _python_value(column: ColumnStats) -> str:
    """Return SQL for a column in a form that Python can hold: not years after 9999, nor zones."""
    name = quote(column.column.alias)
    return f"CAST({name} AS VARCHAR)" if column.kind == "temporal" else name


def _agreement(row: Sequence[object], second: Sequence[object]) -> int:
    """Return the columns in which two rows agree."""
    return sum(compress(_BITS, map(eq, row, second)))


def _maximal(masks: Iterable[int]) -> list[int]:
    """Return the masks that no other mask contains, largest first."""
    maximal: list[int] = []
    for mask in sorted(masks, key=lambda mask: (-mask.bit_count(), mask)):
        if not any(mask & larger == mask for larger in maximal):
            maximal.append(mask)
    return maximal


def _bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits that are set."""
    index = 0
    while mask:
        if mask & 1:
            yield index
        mask >>= 1
        index += 1
