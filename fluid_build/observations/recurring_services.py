"""Tables that say on which weekdays something runs between two dates, with their exceptions.

Timetables, rosters and subscriptions are kept so: a flag for each weekday, a first and a last day,
and another table of days that are added or left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, permutations
from typing import Final, get_args

import duckdb

from fluid_build.lexicon import Weekday, fold, languages, terms, words_of
from fluid_build.observations.observed_tables import ObservedTable, unless_unreadable, value_type
from fluid_build.profiling.names.words import words
from fluid_build.profiling.profile import ColumnProfile, ForeignKey, Profile
from fluid_build.sources.sql import literal

_DAYS: Final = get_args(Weekday)
_WORKING_DAYS: Final = frozenset(range(1, 6))
_FEWEST_LETTERS = 5
"""Letters of a name that is found inside a longer word, too: ``ismonday``, ``mondayflag``."""
_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")


def weekday_columns(names: Iterable[str]) -> dict[int, str]:
    """Return columns by the weekday that each names, 1 for Monday to 7; empty without such.

    One language must name Monday to Friday at least, each weekday in one column.
    """
    columns = {name: _WORD.findall(fold(_NEW_WORD.sub(" ", name)).lower()) for name in names}
    for language in map(_names, languages("monday")):
        found: dict[int, list[str]] = {}
        for column, parts in columns.items():
            day = _weekday(parts, language)
            if day:
                found.setdefault(day, []).append(column)
        if found.keys() >= _WORKING_DAYS and all(len(of_day) == 1 for of_day in found.values()):
            return {day: of_day[0] for day, of_day in sorted(found.items())}
    return {}


def _weekday(parts: list[str], language: Mapping[str, int]) -> int:
    """Return the weekday that the words of a name say in a language; 0 if none or several."""
    candidates = {*parts, *(f"{first}{second}" for first, second in pairwise(parts))}
    days = {language[word] for word in candidates if word in language}
    if not days:
        days = {
            day
            for name, day in language.items()
            for word in parts
            if len(name) >= _FEWEST_LETTERS and (word.startswith(name) or word.endswith(name))
        }
    return days.pop() if len(days) == 1 else 0


@cache
def _names(language: str) -> Mapping[str, int]:
    """Return the weekdays by their names and abbreviations in a language."""
    days = enumerate(_DAYS, 1)
    return {name: number for number, day in days for name in words_of(day, language)}


MOST_DAYS = 3650
"""Days from the first to the last of a service, about ten years. What is longer has an end that
means none (9999-12-31), and its days can't be listed."""
_MOST_ROWS = 5_000_000
"""Days of all services together: more would be the largest table of most warehouses."""
_MOST_DATES = 6
"""Columns of dates that are compared in pairs; a service has a first and a last day, and a few more
at most say when its record was written."""
_MOST_EFFECTS = 3
"""Values of a column that says whether a day is added or left out: these two, and one for unknown.
"""
_SEPARATION = 0.5
"""How much more often what is left out would have run than what is added, as shares of rows. In
clean data it's 1 and 0; holidays are often entered for services that wouldn't have run anyway."""
_YES = frozenset("1 y yes t true x j ja si s sim o oui tak d da".split())
_NO = frozenset(("", *"0 - n no f false nein non nao nie nu nee nej".split()))


@dataclass(frozen=True, slots=True)
class WeekdayFlag:
    """A column that says whether a service runs on a weekday, 1 for Monday to 7.

    ``yes`` are the spellings of a text that mean it does; () where it's a boolean, or 1 and 0.
    """

    weekday: int
    column: str
    yes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceExceptions:
    """A table of days on which a service runs, or doesn't, though its weekdays say otherwise.

    ``columns`` refer to ``to_columns`` of the service. ``effect`` is the column with the values, as
    text, by which a day is ``added`` or ``removed``; "" where all days are removed.
    """

    table: str
    columns: tuple[str, ...]
    to_columns: tuple[str, ...]
    date: str
    effect: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecurringService:
    """A table of services that run on weekdays from ``start`` to ``end``, both included.

    ``days`` counts the days of all services by their weekdays alone.
    """

    table: str
    flags: tuple[WeekdayFlag, ...]
    start: str
    end: str
    days: int
    exceptions: ServiceExceptions | None = None


def recurring_services(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, ObservedTable], profile: Profile
) -> Iterator[RecurringService]:
    """Return the recurring services of a source: one query for each, and one for its exceptions."""
    for table in tables.values():
        flags = _flags(table)
        if not flags:
            continue
        with unless_unreadable():
            service = _measure(connection, table, flags)
            if service is not None:
                yield _with_exceptions(connection, service, tables, profile.foreign_keys)


def _flags(table: ObservedTable) -> tuple[WeekdayFlag, ...]:
    """Return the flags of a table; a text has the spellings of yes that any of its flags has."""
    columns = {column.name: column for column in table.profile.columns if _is_flag(column)}
    days = weekday_columns(columns)
    flags = {day: columns[name] for day, name in days.items()}
    yes = tuple(sorted({value for c in flags.values() for value in _values(c) if _is_yes(value)}))
    if not yes and any(map(_is_text, flags.values())):
        return ()
    return tuple(WeekdayFlag(d, c.name, yes if _is_text(c) else ()) for d, c in flags.items())


def _is_flag(column: ColumnProfile) -> bool:
    if value_type(column) == "BOOLEAN":
        return True
    values = _values(column)
    if not values or not column.distinct_exact or len(values) != column.distinct:
        return False
    if _is_text(column):
        return {value.strip().lower() for value in values} <= _YES | _NO
    return set(values) <= {"0", "1", "0.0", "1.0"}


def _is_text(column: ColumnProfile) -> bool:
    return value_type(column) == "VARCHAR"


def _is_yes(value: str) -> bool:
    return value.strip().lower() in _YES


def _values(column: ColumnProfile) -> list[str]:
    return [value.value for value in column.top_values]


def _measure(
    connection: duckdb.DuckDBPyConnection, table: ObservedTable, flags: tuple[WeekdayFlag, ...]
) -> RecurringService | None:
    """Return the service of a table whose rows each have a first and a last day."""
    dates = [c.name for c in table.profile.columns if _is_date(c) and not c.nulls][:_MOST_DATES]
    pairs = list(permutations(dates, 2))
    named = [pair for pair in pairs if _says_period(pair)]
    flagged = [f"{_is_set(table, flag)} AS runs_{flag.weekday}" for flag in flags]
    days = " + ".join(_occurrences(flag.weekday) for flag in flags)
    # Of three dates without telling names, any two could be the first and the last day.
    for start, end in named or (pairs if len(dates) == 2 else ()):
        period = [f"{_day(table, start)} AS first_day", f"{_day(table, end)} AS last_day"]
        services = f"SELECT {', '.join((*flagged, *period))} FROM {table.relation}"
        row = connection.execute(
            f"SELECT count(*) FILTER (WHERE first_day > last_day),"
            f" max(date_diff('day', first_day, last_day)), sum({days}) FROM ({services})"
        ).fetchone()
        inverted, longest, number = row or (1, None, None)
        is_bounded = longest is not None and 0 < longest < MOST_DAYS and number <= _MOST_ROWS
        if not inverted and is_bounded:
            return RecurringService(table.profile.name, flags, start, end, int(number))
    return None


def _says_period(pair: tuple[str, str]) -> bool:
    start, end = (set(words(name)) for name in pair)
    is_start = start & terms("start", "since", "from_word", "first")
    return bool(is_start and end & terms("end", "until", "last"))


def _is_date(column: ColumnProfile) -> bool:
    return value_type(column) in {"DATE", "TIMESTAMP"}


def _day(table: ObservedTable, column: str) -> str:
    return f"CAST({table.value(column)} AS DATE)"


def _is_set(table: ObservedTable, flag: WeekdayFlag) -> str:
    """Return SQL for whether a flag is set; a null isn't."""
    if flag.yes:
        spelled = ", ".join(map(literal, flag.yes))
        return f"coalesce(CAST({table.value(flag.column)} AS VARCHAR) IN ({spelled}), FALSE)"
    return f"coalesce(CAST({table.value(flag.column)} AS BOOLEAN), FALSE)"


def _occurrences(weekday: int) -> str:
    """Return SQL for how often a weekday is in a period, 0 where its flag isn't set."""
    to_first = f"({weekday} - isodow(first_day) + 7) % 7"
    weeks = f"(date_diff('day', first_day, last_day) - {to_first} + 7) // 7"
    return f"CASE WHEN runs_{weekday} THEN greatest({weeks}, 0) ELSE 0 END"


def _with_exceptions(
    connection: duckdb.DuckDBPyConnection,
    service: RecurringService,
    tables: Mapping[str, ObservedTable],
    references: Sequence[ForeignKey],
) -> RecurringService:
    """Return the service with the first table of exceptions that refers to it."""
    referred_to = {key.to_table for key in references}
    for key in references:
        is_leaf = key.from_table in tables and key.from_table not in referred_to
        if key.to_table != service.table or key.from_table == service.table or not is_leaf:
            continue
        date = _date_of_exception(tables[key.from_table], key)
        if date:
            with unless_unreadable():
                exceptions = _exceptions(connection, service, tables, key, date)
                if exceptions is not None:
                    return replace(service, exceptions=exceptions)
    return service


def _date_of_exception(table: ObservedTable, key: ForeignKey) -> str:
    """Return the date that, with the service, identifies a row; "" without one.

    Trips of a service have dates too, and several on a day; exceptions have one row for each.
    """
    profile = table.profile
    keys = {frozenset(columns) for columns in (*profile.candidate_keys, profile.primary_key or ())}
    for column in profile.columns:
        if _is_date(column) and {*key.from_columns, column.name} in keys:
            return column.name
    return ""


def _exceptions(
    connection: duckdb.DuckDBPyConnection,
    service: RecurringService,
    tables: Mapping[str, ObservedTable],
    key: ForeignKey,
    date: str,
) -> ServiceExceptions | None:
    """Return what a table of days says of a service, by whether it would have run on them.

    Where no column separates what is added from what is left out, names must say that the days are
    exceptions: a service also has days on which something happened.
    """
    columns = tables[key.from_table].profile.columns
    exceptions = ServiceExceptions(key.from_table, key.from_columns, key.to_columns, date)
    days = _ExceptionDays(connection, service, tables[service.table], tables[key.from_table], key)
    names = {word for name in (key.from_table, *(c.name for c in columns)) for word in words(name)}
    is_named = bool(names & terms("exception_day"))
    for column in columns:
        is_other = column.name not in {*key.from_columns, date} and not _is_date(column)
        if not is_other or not column.distinct_exact or not 0 < column.distinct <= _MOST_EFFECTS:
            continue
        shares = days.running_shares(date, column.name)
        least, most = min(shares.values(), default=0.0), max(shares.values(), default=0.0)
        says_kind = bool(set(words(column.name)) & terms("exception_day", "exception_kind"))
        if most - least >= _SEPARATION:
            limit = (most + least) / 2
        elif is_named and says_kind and len(shares) == 1:
            limit = _SEPARATION
        else:
            continue
        return replace(
            exceptions,
            effect=column.name,
            added=tuple(sorted(value for value, share in shares.items() if share < limit)),
            removed=tuple(sorted(value for value, share in shares.items() if share >= limit)),
        )
    is_removed = is_named and days.running_shares(date, "").get("", 0.0) >= _SEPARATION
    return exceptions if is_removed else None


@dataclass(frozen=True, slots=True)
class _ExceptionDays:
    """The rows of a table that refers to services by ``key``."""

    connection: duckdb.DuckDBPyConnection
    service: RecurringService
    services: ObservedTable
    days: ObservedTable
    key: ForeignKey

    def running_shares(self, date: str, effect: str) -> dict[str, float]:
        """Return the share of days on which the service would have run, by values of a column.

        Without a column, it's the share of all days, under "".
        """
        value = f"CAST({self.days.value(effect)} AS VARCHAR)" if effect else "''"
        flags = " OR ".join(
            f"(isodow(excepted_day) = {flag.weekday} AND runs_{flag.weekday})"
            for flag in self.service.flags
        )
        services = [
            *(self._key_parts(self.services, self.key.to_columns, "referred")),
            *(f"{_is_set(self.services, f)} AS runs_{f.weekday}" for f in self.service.flags),
            f"{_day(self.services, self.service.start)} AS first_day",
            f"{_day(self.services, self.service.end)} AS last_day",
        ]
        days = [
            *(self._key_parts(self.days, self.key.from_columns, "referring")),
            f"{_day(self.days, date)} AS excepted_day",
            f"{value} AS effect",
        ]
        same = (f"referred_{n} = referring_{n}" for n in range(len(self.key.to_columns)))
        rows = self.connection.execute(
            f"SELECT effect, avg(CASE WHEN ({flags})"
            " AND excepted_day BETWEEN first_day AND last_day THEN 1 ELSE 0 END)"
            f" FROM (SELECT {', '.join(services)} FROM {self.services.relation})"
            f" JOIN (SELECT {', '.join(days)} FROM {self.days.relation}) ON {' AND '.join(same)}"
            " WHERE effect IS NOT NULL GROUP BY effect"
        ).fetchall()
        return {str(value): float(share) for value, share in rows}

    def _key_parts(self, table: ObservedTable, columns: Sequence[str], alias: str) -> Iterator[str]:
        for number, column in enumerate(columns):
            yield f"{table.value(column)} AS {alias}_{number}"
