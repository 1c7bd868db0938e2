"""Two queries compared row by row: which rows one side has more often than the other.

The result is that of ``EXCEPT ALL`` both ways. Large sides are first compared by their sums, which
needs no memory: the rows of each side are hashed, and the hashes added up. Equal sums are taken
for equal rows (``docs/proof.md`` says what chance of an error that leaves). Where they differ, and
for small sides, one hash aggregation, which DuckDB spills to disk if memory is short, counts the
rows of both sides together. Two rows are the same only if each value is stored the same. That's
stricter than DuckDB's ``=`` and ``EXCEPT ALL``, which call some different values equal:

- text is compared byte by byte, whatever collation its column declares,
- 0.0 and -0.0 differ (a NaN is a NaN),
- intervals are compared as months, days and time (30 days are not a month),
- nested values are compared by their text as well, for the same reasons one level down.

JSON is compared as text, TIMESTAMPTZ as the instant, which is all that it stores.
"""

import secrets
from dataclasses import dataclass
from functools import cache
from typing import Literal

import duckdb

from fluid_build.sources.sql import quote

Side = Literal["missing", "unexpected"]
Zeros = Literal["signed", "equal"]
Columns = tuple[tuple[str, str], ...]
"""Names of columns with DuckDB's names of their types."""

By = Literal["rows", "sums"]
"""What two queries were compared by: each row of them, or the sums of the hashes of their rows."""

_LOWER = "CAST(18446744073709551615 AS UHUGEINT)"
"""The lower half of a hash of 128 bits."""

_NESTED = ("STRUCT(", "MAP(", "UNION(", "VARIANT")


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows each side has, and how many of them the other side lacks."""

    original: int
    rebuilt: int
    missing: int
    unexpected: int
    by: By = "rows"


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that one side has ``times`` times more often than the other; values as text."""

    side: Side
    times: int
    values: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class RowComparison:
    """Two queries to compare: the rows of ``original`` and of ``rebuilt``.

    ``columns`` are names that both have, with the type on either side; values of columns whose
    types differ are compared as text. ``zeros`` says whether 0.0 and -0.0 are the same: a DuckDB
    file keeps one of them where both are in a column. Unless it's ``exact``, sums are compared
    first.
    """

    original: str
    rebuilt: str
    columns: tuple[tuple[str, str, str], ...]
    zeros: Zeros = "signed"
    exact: bool = True

    @property
    def types(self) -> tuple[str, ...]:
        """The type that each column is compared in."""
        return tuple(ours if ours == theirs else "VARCHAR" for _, ours, theirs in self.columns)


def describe(connection: duckdb.DuckDBPyConnection, query: str) -> Columns:
    """Return the columns of a query's result, in order."""
    rows = connection.execute(f"DESCRIBE {query}").fetchall()
    return tuple((str(name), str(type_)) for name, type_, *_ in rows)


def between(
    original: str, original_columns: Columns, rebuilt: str, rebuilt_columns: Columns
) -> RowComparison:
    """Return the comparison of two queries, on the columns that they share."""
    types = dict(rebuilt_columns)
    return RowComparison(
        original=original,
        rebuilt=rebuilt,
        columns=tuple(
            (name, type_, types[name]) for name, type_ in original_columns if name in types
        ),
    )


def count(connection: duckdb.DuckDBPyConnection, comparison: RowComparison) -> Counts:
    """Return the figures of a comparison."""
    if not comparison.exact:
        ours, theirs = (
            _sums(connection, comparison, side)
            for side in (comparison.original, comparison.rebuilt)
        )
        if ours == theirs:
            return Counts(ours[0], theirs[0], 0, 0, "sums")
    row = connection.execute(
        "SELECT coalesce(sum(ours), 0), coalesce(sum(theirs), 0),"
        " coalesce(sum(greatest(ours - theirs, 0)), 0),"
        f" coalesce(sum(greatest(theirs - ours, 0)), 0) FROM ({_tallied(comparison)})"
    ).fetchone()
    assert row is not None, "an aggregate without groups always gives a row"
    original, rebuilt, missing, unexpected = map(int, row)
    return Counts(original, rebuilt, missing, unexpected)


def first_differences(
    connection: duckdb.DuckDBPyConnection, comparison: RowComparison, limit: int
) -> tuple[Difference, ...]:
    """Up to ``limit`` rows of each side that the other lacks, in the order of their text."""
    differences: list[Difference] = []
    numbers = range(len(comparison.columns))
    shown = "".join(f", CAST(k{n} AS VARCHAR) AS t{n}" for n in numbers)
    order = ", ".join(f"t{n}" for n in numbers) or "times"
    sides: tuple[tuple[Side, str], ...] = (
        ("missing", "ours - theirs"),
        ("unexpected", "theirs - ours"),
    )
    for side, surplus in sides:
        rows = connection.execute(
            f"SELECT {surplus} AS times{shown} FROM ({_tallied(comparison)})"
            f" WHERE {surplus} > 0 ORDER BY {order} LIMIT {limit:d}"
        ).fetchall()
        differences.extend(Difference(side, int(times), tuple(values)) for times, *values in rows)
    return tuple(differences)


def _sums(
    connection: duckdb.DuckDBPyConnection, comparison: RowComparison, query: str
) -> tuple[int, int, int]:
    """Return how many rows a side has, and the sums of the upper and lower halves of their hashes.

    Each sum is a whole number that nothing was cut off from, so that rows which are there more
    than once count as often.
    """
    # The sort key of a row is the bytes of its values, with nulls and ends marked: two rows have
    # the same one only if all their values are. A secret in front keeps a source from being made
    # so that its hashes collide.
    order = "'ASC NULLS FIRST'"
    parts = ", ".join(f"{part}, {order}" for part in (_secret(), *_parts(comparison)))
    row = connection.execute(
        "SELECT count(*), coalesce(sum(CAST(h >> 64 AS UBIGINT)), 0),"
        f" coalesce(sum(CAST(h & {_LOWER} AS UBIGINT)), 0) FROM"
        f" (SELECT md5_number(create_sort_key({parts})) AS h FROM ({_side(comparison, query)}))"
    ).fetchone()
    assert row is not None, "an aggregate without groups always gives a row"
    rows, upper, lower = map(int, row)
    return rows, upper, lower


@cache
def _secret() -> str:
    return f"CAST({secrets.randbits(126)} AS HUGEINT)"


def _parts(comparison: RowComparison) -> list[str]:
    """Return what tells a row: each of its values, and what DuckDB's equality doesn't see."""
    columns = list(enumerate(comparison.types))
    distinguishing = (_distinguishing(n, type_, comparison.zeros) for n, type_ in columns)
    return [*(_exact(n, type_) for n, type_ in columns), *filter(None, distinguishing)]


def _tallied(comparison: RowComparison) -> str:
    """Return each different row once, with how often it occurs on each side.

    Column n of the row is ``k<n>``.
    """
    parts = _parts(comparison) or ["0"]
    selected = ", ".join(f"{part} AS k{n}" for n, part in enumerate(parts))
    groups = ", ".join(f"k{n}" for n in range(len(parts)))
    return (
        f"SELECT sum(ours) AS ours, sum(theirs) AS theirs, {groups} FROM"
        f" (SELECT ours, theirs, {selected} FROM"
        f" (SELECT 1 AS ours, 0 AS theirs, * FROM ({_side(comparison, comparison.original)})"
        f" UNION ALL SELECT 0, 1, * FROM ({_side(comparison, comparison.rebuilt)})))"
        f" GROUP BY {groups}"
    )


def _side(comparison: RowComparison, query: str) -> str:
    """Return one side with numbered columns, so that no name of the source clashes with ours."""
    if not comparison.columns:
        return f"SELECT 0 AS c FROM ({query}\n)"
    selected = ", ".join(
        f"{quote(name)} AS c{n}" if ours == theirs else f"CAST({quote(name)} AS VARCHAR) AS c{n}"
        for n, (name, ours, theirs) in enumerate(comparison.columns)
    )
    return f"SELECT {selected} FROM ({query}\n)"


def _exact(number: int, type_: str) -> str:
    return f"c{number} COLLATE C" if type_ == "VARCHAR" else f"c{number}"


def _distinguishing(number: int, type_: str, zeros: Zeros) -> str | None:
    """Return what tells apart values that DuckDB calls equal; None where there are none."""
    if type_ in {"FLOAT", "DOUBLE"}:
        if zeros == "equal":
            return None
        return f"c{number} = 0 AND signbit(c{number})"
    if type_ == "INTERVAL" or type_.endswith("]") or type_.startswith(_NESTED):
        return f"CAST(c{number} AS VARCHAR)"
    return None
