"""Tables that are the totals of another: each column is a group or a sum, count or average of it.

A table of totals tells nothing that its details don't. It's recognised by computing it: the details
are grouped by the columns that both have (directly, over a reference, or as a part of a date), and
every other column must be the same sum, count, average, least or greatest value in each group. A
column that isn't derived makes a table of its own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product

import duckdb

from fluid_build.lexicon import terms
from fluid_build.observations.aggregate_candidates import (
    AggregateColumn,
    DatePart,
    DetailColumn,
    DetailIndex,
    Hop,
    Part,
    Reach,
    computations,
    computed_sql,
    group_options,
    is_addend,
    is_float,
    is_number,
    is_whole_number,
    may_be_total,
    parts,
    reaches,
)
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable, value_type
from fluid_build.profiling.names.words import words
from fluid_build.profiling.profile import ColumnProfile, ForeignKey, Profile
from fluid_build.sources.sql import quote

_PART_SQL: Mapping[DatePart, str] = {
    "": "{}",
    "day": "CAST({} AS DATE)",
    "week": "date_trunc('week', {})",
    "month": "date_trunc('month', {})",
    "quarter": "date_trunc('quarter', {})",
    "year": "date_trunc('year', {})",
    "month_number": "month({})",
    "quarter_number": "quarter({})",
    "year_number": "year({})",
}


@dataclass(frozen=True, slots=True)
class DetailRows:
    """Rows of a table with those that they refer to: a FROM clause, and SQL for their columns.

    ``aliases`` names the table at the end of each path, the detailed table itself by ().
    """

    from_clause: str
    aliases: Mapping[tuple[Hop, ...], str]

    def column(self, of: DetailColumn) -> str:
        """Return SQL for a column's values, or for a part of its dates."""
        return _PART_SQL[of.part].format(f"{self.aliases[of.path]}.{quote(of.column)}")


def detail_rows(
    table: str,
    columns: Iterable[DetailColumn],
    relation: Callable[[str], str],
    part: Part | None = None,
) -> DetailRows:
    """Return the rows of a table, or of a part of it, with those that these columns need.

    ``relation`` returns what may follow FROM for a table, with columns named as at the source.
    """
    starts = (of.path[:length] for of in columns for length in range(1, len(of.path) + 1))
    aliases: dict[tuple[Hop, ...], str] = {(): "d"}
    for path in starts:
        aliases.setdefault(path, f"d{len(aliases)}")
    clauses = [f"{relation(table)} AS d"]
    for path, alias in aliases.items():
        if path:
            hop, before = path[-1], aliases[path[:-1]]
            conditions = " AND ".join(
                f"{before}.{quote(ours)} = {alias}.{quote(theirs)}"
                for ours, theirs in zip(hop.from_columns, hop.to_columns, strict=True)
            )
            clauses.append(f"LEFT JOIN {relation(hop.to_table)} AS {alias} ON {conditions}")
    if part is not None:
        clauses.append(f"WHERE {part.condition}")
    return DetailRows("\n".join(clauses), aliases)


_FEWEST_ROWS = 3
"""Rows of totals below which equal figures prove little."""
_FEWEST_DETAILS = 1.2
"""Rows of detail for each row of totals. A copy of a table has as many, and isn't its total."""
_MOST_DETAILS = 50_000_000
"""Rows of detail that are summed; a pass over more would take longer than the profile."""
_MOST_ATTEMPTS = 4
"""Choices of groups that are tried for two tables: names put the right one first, or nearly so."""
_MOST_COMPARISONS = 500
"""Choices of groups that are computed for all tables together. Names and bounds leave far fewer in
most sources; where hundreds of tables look alike, the coarsest tables come first."""
_MOST_COLUMNS = 40
"""Columns of a table of totals; a wider one describes something by itself."""
_MOST_DECIMALS = 6
"""Digits behind the point that are tried; a value with more wasn't rounded."""
_MATCHING_SHARE = 0.95  # A few were corrected, or the details of the first months are gone.
"""Share of rows from which on a table is reported as a total, even if it isn't one to the last."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A table that holds totals of ``detail``, with how each of its columns is computed.

    They're of all its rows, or of a ``part`` of them.
    Of its ``rows``, ``matched`` have exactly the computed values. ``missing`` counts the groups of
    the detail that it has no row for. ``query`` computes it on the source.
    """

    table: str
    detail: str
    columns: tuple[AggregateColumn, ...]
    rows: int
    matched: int
    missing: int
    query: str
    part: Part | None = None

    @property
    def summed(self) -> str:
        """The rows that it sums up, in words: the detail, and the part of it."""
        where = f" where {self.part.column} is {self.part.value}" if self.part else ""
        return f"{self.detail}{where}"

    @property
    def is_exact(self) -> bool:
        """Whether the table is what the query returns, row for row."""
        return self.matched == self.rows and not self.missing


def aggregates(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, ObservedTable], profile: Profile
) -> Iterator[Aggregate]:
    """Return the tables that are totals of another, of the most detailed one that they sum up.

    A table that others refer to by an identifier has an identity of its own, whatever it sums up.
    Any other inferred reference may come of the totals: each day's month is in the totals by month.
    """
    # Two names that differ in case alone are one name in a query.
    plain = {name: t for name, t in tables.items() if all(a == c for c, a in t.aliases.items())}
    by_rows = sorted(plain, key=lambda name: (-plain[name].profile.rows, name))
    referred = {r.to_table for r in profile.foreign_keys if _is_by_identifier(r)}
    totals: set[str] = set()
    turns = iter(range(_MOST_COMPARISONS))
    reached = reaches(profile, plain, totals)
    index = DetailIndex(reached)
    # The coarsest first, since no column is looked up in totals.
    for name in reversed(by_rows):
        if name in referred or not _may_be_totals(reached[name]):
            continue
        possible = index.details(reached[name])
        for detail in by_rows:
            if detail not in possible or detail in totals:
                continue
            if not _may_detail(reached[detail], reached[name]):
                continue
            observed = _observed(connection, plain, reached[name], reached[detail], turns)
            if observed is not None:
                totals.add(name)
                reached = reaches(profile, plain, totals)
                index = DetailIndex(reached)
                yield observed
                break


def _is_by_identifier(reference: ForeignKey) -> bool:
    """Return whether a reference to another table is declared or by a column named like a key."""
    if reference.from_table == reference.to_table:
        return False
    is_named_key = bool(set(words(reference.to_columns[0])[-1:]) & terms("key_word"))
    return reference.origin == "declared" or (len(reference.to_columns) == 1 and is_named_key)


def _may_be_totals(coarse: Reach) -> bool:
    table = coarse.table
    return (
        table.rows >= _FEWEST_ROWS
        and len(table.columns) <= _MOST_COLUMNS
        and any(may_be_total(coarse, column) for column in table.columns)
    )


def _may_detail(detail: Reach, coarse: Reach) -> bool:
    return (
        coarse.table.name != detail.table.name
        and coarse.table.rows * _FEWEST_DETAILS <= detail.table.rows <= _MOST_DETAILS
    )


def _observed(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, ObservedTable],
    coarse: Reach,
    detail: Reach,
    turns: Iterator[int],
) -> Aggregate | None:
    """Return how a table sums up another, or a part of it; None where it doesn't.

    No more is tried than there are turns.
    """
    for rows in chain((detail,), parts(coarse, detail)):
        if not _may_detail(rows, coarse):
            continue
        for groups in islice(_groupings(coarse, rows), _MOST_ATTEMPTS):
            comparison = _Comparison(connection, tables, coarse, rows, groups)
            if not comparison.may_match() or next(turns, None) is None:
                continue
            with unless_unreadable():
                aggregate = comparison.measure()
                if aggregate is not None:
                    return aggregate
    return None


def _groupings(coarse: Reach, detail: Reach) -> Iterator[dict[str, DetailColumn]]:
    """Return the choices of groups: columns of totals by which each row is one group."""
    options = {
        column.name: choices
        for column in coarse.table.columns
        if (choices := group_options(coarse, column, detail))
        and not is_addend(coarse, column, detail)
    }
    # With amounts in it, a key is one by accident; few keys of totals are wider than four columns.
    widest = {name: choices[0] for name, choices in options.items()}
    seen: list[dict[str, DetailColumn]] = [widest] if widest else []
    yield from seen
    for key in coarse.table.candidate_keys:
        if key and set(key) <= options.keys():
            for chosen in islice(product(*(options[name] for name in key)), _MOST_ATTEMPTS):
                groups = dict(zip(key, chosen, strict=True))
                if groups not in seen:
                    seen.append(groups)
                    yield groups


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One table compared with what the rows of another add up to, grouped in one way."""

    connection: duckdb.DuckDBPyConnection
    tables: Mapping[str, ObservedTable]
    coarse: Reach
    detail: Reach
    groups: Mapping[str, DetailColumn]

    def measure(self) -> Aggregate | None:
        """Return the aggregate; None where rows differ from what the details add up to."""
        if not self._has_groups():
            return None
        chosen = self._matching(self._candidates())
        if not any(self._is_proper(column) for column in chosen):
            return None
        rows, matched, missing = self._count(chosen)
        if matched < _MATCHING_SHARE * rows:
            return None
        columns = {column.column: column for column in chosen}
        columns |= {name: AggregateColumn(name, "group", of) for name, of in self.groups.items()}
        ordered = tuple(columns[column.name] for column in self.coarse.table.columns)
        name, detail = self.coarse.table.name, self.detail.table.name
        query = self._query(ordered)
        return Aggregate(name, detail, ordered, rows, matched, missing, query, self.detail.part)

    def may_match(self) -> bool:
        """Return whether each column may be computed in some way, by names and bounds."""
        is_any_proper = False
        for column in self.coarse.table.columns:
            if column.name in self.groups:
                continue
            # The first column that nothing computes settles it: most pairs of tables end here.
            ways = computations(column, self.coarse, self.detail, 0)
            first = next(ways, None)
            if first is None:
                return False
            is_any_proper = is_any_proper or any(map(self._is_proper, chain((first,), ways)))
        return is_any_proper

    def _has_groups(self) -> bool:
        """Return whether rows and groups of the details nearly coincide; this costs no sums."""
        rows, matched, missing = self._count([])
        return matched >= _MATCHING_SHARE * rows and missing <= (1 - _MATCHING_SHARE) * rows

    def _is_proper(self, column: AggregateColumn) -> bool:
        """Return whether a column adds up, counts or averages, with more than a few values."""
        is_total = column.function in {"sum", "avg", "count", "count_distinct"}
        return is_total and may_be_total(self.coarse, self.coarse.table.column(column.column))

    def _candidates(self) -> dict[str, list[AggregateColumn]]:
        """Return the ways in which each column that isn't grouped by may be computed."""
        columns = [c for c in self.coarse.table.columns if c.name not in self.groups]
        digits = self._digits([column for column in columns if is_number(column)])
        return {
            column.name: list(
                computations(column, self.coarse, self.detail, digits.get(column.name))
            )
            for column in columns
        }

    def _digits(self, columns: Sequence[ColumnProfile]) -> dict[str, int | None]:
        """Return the digits behind the point that all values of each column fit into."""
        known: dict[str, int | None] = {}
        inexact = []
        for column in columns:
            scale = re.search(r",\s*(\d+)\)", value_type(column))
            if scale or is_whole_number(column):
                known[column.name] = int(scale[1]) if scale else 0
            else:
                inexact.append(column.name)
        if not inexact:
            return known
        coarse = self.tables[self.coarse.table.name]
        fits = ", ".join(
            f"coalesce(bool_and({value} = round({value}, {digits})), FALSE)"
            for value in map(coarse.value, inexact)
            for digits in range(_MOST_DECIMALS)
        )
        flags = iter(self._row(f"SELECT {fits} FROM {coarse.relation}"))
        for name in inexact:
            fitting = [digits for digits in range(_MOST_DECIMALS) if next(flags)]
            known[name] = fitting[0] if fitting else None
        return known

    def _matching(
        self, candidates: Mapping[str, Sequence[AggregateColumn]]
    ) -> list[AggregateColumn]:
        """Return for each column the computation that most rows agree with; [] if one has none.

        Columns are compared one by one, since a table of its own differs at the first.
        """
        chosen = []
        for ways in sorted(candidates.values(), key=len):
            if not ways:
                return []
            agreeing = (f"count(*) FILTER ({self._agrees(n, c)})" for n, c in enumerate(ways))
            sql = f"SELECT count(*), {', '.join(agreeing)} FROM {self._joined(ways)}"
            rows, *matches = self._row(sql)
            best = max(range(len(matches)), key=matches.__getitem__)
            if matches[best] < _MATCHING_SHARE * rows:
                return []
            chosen.append(ways[best])
        return chosen

    def _count(self, columns: Sequence[AggregateColumn]) -> tuple[int, int, int]:
        """Return the rows, those that agree in every column, and the groups without a row."""
        all_agree = " AND ".join(
            ("computed.is_group", *(self._agrees(n, column) for n, column in enumerate(columns)))
        )
        # Two rows of one group are more than a sum: the group counts once.
        group = ", ".join(f"computed.g{number}" for number in range(len(self.groups)))
        rows, matched, missing = self._row(
            f"""
            SELECT
              count(coarse.is_row),
              count(DISTINCT row({group})) FILTER (coarse.is_row AND {all_agree}),
              count(*) FILTER (coarse.is_row IS NULL)
            FROM {self._joined(columns, "FULL JOIN")}
            """
        )
        return rows, matched, missing

    def _joined(self, columns: Sequence[AggregateColumn], how: str = "LEFT JOIN") -> str:
        """Return the table, joined with what the details add up to as t0, t1 and so on."""
        used = [*self.groups.values(), *(column.of for column in columns if column.of)]
        details = detail_rows(self.detail.table.name, used, self._typed, self.detail.part)
        selected = [
            f"TRY_CAST({details.column(of)} AS {self._type(name)}) AS g{number}"
            for number, (name, of) in enumerate(self.groups.items())
        ]
        totals = [(self._computed(c, details), self._type(c.column)) for c in columns]
        selected += [f"TRY_CAST({t} AS {type_}) AS t{n}" for n, (t, type_) in enumerate(totals)]
        conditions = " AND ".join(
            f"{self._own(name)} IS NOT DISTINCT FROM computed.g{number}"
            for number, name in enumerate(self.groups)
        )
        return f"""
            {self._coarse_rows()} AS coarse
            {how} (
              SELECT {", ".join(selected)}, TRUE AS is_group
              FROM {details.from_clause}
              GROUP BY {", ".join(str(number + 1) for number in range(len(self.groups)))}
            ) AS computed ON {conditions}
            """

    def _coarse_rows(self) -> str:
        """Return the table with its columns numbered, so that no name is one of this query."""
        observed = self.tables[self.coarse.table.name]
        values = ", ".join(
            f"{observed.value(column.name)} AS c{number}"
            for number, column in enumerate(self.coarse.table.columns)
        )
        return f"(SELECT {values}, TRUE AS is_row FROM {observed.relation})"

    def _own(self, column: str) -> str:
        """Return SQL for a column of the table as joined."""
        names = [profiled.name for profiled in self.coarse.table.columns]
        return f"coarse.c{names.index(column)}"

    def _agrees(self, number: int, column: AggregateColumn) -> str:
        own = self._own(column.column)
        return f"coarse.is_row AND {own} IS NOT DISTINCT FROM computed.t{number}"

    def _computed(self, column: AggregateColumn, details: DetailRows) -> str:
        is_exact = column.of is None or not is_float(_profiled(column.of, self.detail))
        return computed_sql(
            column.function,
            details.column(column.of) if column.of else "",
            column.decimals,
            is_exact=is_exact,
        )

    def _query(self, columns: Sequence[AggregateColumn]) -> str:
        """Return the query that computes the table on the source."""
        used = [column.of for column in columns if column.of]
        details = detail_rows(
            self.detail.table.name,
            used,
            lambda table: self.tables[table].profile.sql,
            self.detail.part,
        )
        selected = ",\n  ".join(
            f"{self._computed(column, details)} AS {quote(column.column)}" for column in columns
        )
        return f"SELECT\n  {selected}\nFROM {details.from_clause}\nGROUP BY ALL"

    def _typed(self, table: str) -> str:
        """Return a table with its values as measured."""
        observed = self.tables[table]
        values = ", ".join(
            f"{observed.value(column.name)} AS {quote(column.name)}"
            for column in observed.profile.columns
        )
        return f"(SELECT {values} FROM {observed.relation})"

    def _type(self, column: str) -> str:
        return value_type(self.coarse.table.column(column))

    def _row(self, sql: str) -> tuple[int, ...]:
        return self.connection.execute(sql).fetchone() or ()


def _profiled(of: DetailColumn, detail: Reach) -> ColumnProfile:
    return next(profiled for column, profiled in detail.columns if column == replace(of, part=""))
