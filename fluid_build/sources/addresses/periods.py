"""Periods in names of files and tables: ``sales_2024_01`` and ``sales_2024_02`` are one table."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TypeVar

import duckdb

from fluid_build.sources.sql import literal, quote

Item = TypeVar("Item")

FILE_NAME = "fluid_file"
"""The column that DuckDB adds for the file of a row while a table is read."""

_GAP = "[-_. ]"
_MONTH_WORDS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH = r"(?P<month>0[1-9]|1[0-2])"
_DAY = r"(?P<day>0[1-9]|[12]\d|3[01])"
_WORD = rf"(?<![a-z])(?P<word>{_MONTH_WORDS})(?![a-z])"
_CLOCK = rf"(?:(?:{_GAP}|t)(?P<clock>[0-2]\d[0-5]\d(?:[0-5]\d)?)z?(?!{_GAP}?\d))?"
_SHAPES = tuple(
    re.compile(rf"(?<!\d){shape}(?!\d)", re.IGNORECASE)
    for shape in (
        rf"{_YEAR}{_GAP}?{_MONTH}{_GAP}?{_DAY}{_CLOCK}",
        rf"{_DAY}{_GAP}{_MONTH}{_GAP}{_YEAR}",
        rf"{_YEAR}{_GAP}?{_MONTH}",
        rf"{_YEAR}{_GAP}(?P<month>[1-9])",
        rf"{_MONTH}{_GAP}{_YEAR}",
        rf"(?:{_DAY}{_GAP}?)?{_WORD}{_GAP}?{_YEAR}",
        rf"{_YEAR}{_GAP}?{_WORD}(?:{_GAP}?{_DAY})?",
        rf"{_YEAR}{_GAP}?q(?P<quarter>[1-4])",
        rf"(?<![a-z])q(?P<quarter>[1-4]){_GAP}?{_YEAR}",
        rf"{_YEAR}{_GAP}?h(?P<half>[12])",
        rf"{_YEAR}{_GAP}?w(?P<week>0[1-9]|[1-4]\d|5[0-3])",
        # A short number after a year may number anything.
        rf"{_YEAR}(?!{_GAP}\d{{1,2}}(?!\d))",
    )
)
"""Periods as people and programs write them, the longest first."""
_UNTIL = re.compile(rf"(?:{_GAP})+(?:(?:to|until|bis)(?:{_GAP})+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Period:
    """The period in a name: what is around it, its text, and its first and next moment.

    ``kind`` says what is written of it: the year alone, year and month, from one day to another.
    """

    before: str
    text: str
    after: str
    kind: frozenset[str]
    start: datetime
    end: datetime

    @property
    def table(self) -> str:
        """The name without the period; empty where that was all."""
        return "_".join(filter(None, (self.before, self.after)))


@dataclass(frozen=True, slots=True)
class PeriodColumn:
    """A column with the period in a file's name; ``pattern`` finds it in DuckDB and in Python."""

    name: str
    pattern: str

    def text(self, path: Path) -> str:
        """Return the period in the name of a file; empty where it has none."""
        match = re.search(self.pattern, path.name)
        return match[1] if match else ""

    @property
    def select_list(self) -> str:
        """What to select from a relation with ``FILE_NAME``, to have this column instead."""
        period = f"regexp_extract({FILE_NAME}, {literal(self.pattern)}, 1)"
        return f"* EXCLUDE ({FILE_NAME}), {period} AS {quote(self.name)}"


@dataclass(frozen=True, slots=True)
class PartNames:
    """What tells the parts of a table apart: the ``texts`` in their names, and what is around them.

    ``periods`` are these texts where all of them are periods, and empty elsewhere.
    """

    before: str
    texts: tuple[str, ...]
    after: str
    periods: Mapping[str, Period]

    @property
    def noun(self) -> str:
        """What the texts name."""
        return "period" if self.periods else "part"

    def free_column(self, used_names: Sequence[str]) -> str:
        """Return what the column with the texts is called next to the columns that there are."""
        lower, noun = {name.lower() for name in used_names}, self.noun
        numbered = (f"{noun}_{n}" for n in range(2, 10_000))
        names = (noun, f"file_{noun}", f"{noun}_of_file", *numbered)
        return next(name for name in names if name not in lower)

    def column(self, used_names: Sequence[str]) -> PeriodColumn:
        """Return the column for the texts in the names of files.

        The pattern fits all of them, whatever their separators and case.
        """
        before = rf"{_escaped(self.before)}[-_. ]*" if self.before else ""
        after = rf"[-_. ]*{_escaped(self.after)}" if self.after else ""
        # The name ends where the endings of format and compression begin.
        pattern = rf"(?i)(?:^|[/\\]){before}([^/\\]+?){after}(?:\.[a-z]+)+$"
        return PeriodColumn(self.free_column(used_names), pattern)


def names_of_periods(periods: Sequence[Period]) -> PartNames:
    """Return what tells names apart that differ in a period."""
    texts = tuple(period.text for period in periods)
    by_text = {period.text: period for period in periods}
    return PartNames(periods[0].before, texts, periods[0].after, by_text)


def part_names(names: Sequence[str]) -> PartNames:
    """Return what tells different names apart: their periods, or else what they don't share."""
    periods = [period for name in names if (period := period_of(name))]
    is_whole = len({period.text for period in periods}) == len(names)
    if is_whole and len({period.table.lower() for period in periods}) == 1:
        return names_of_periods(periods)
    before = _shared_start(names)
    rest = [name[len(before) :] for name in names]
    after = _shared_start([name[::-1] for name in rest])[::-1]
    texts = tuple(name[: len(name) - len(after)] for name in rest)
    if not all(texts):
        before, texts, after = "", tuple(names), ""
    return PartNames(before.rstrip("-_. "), texts, after.lstrip("-_. "), {})


def _shared_start(names: Sequence[str]) -> str:
    """Return what all names begin with, up to its last separator."""
    alike = takewhile(lambda letters: len({*letters}) == 1, zip(*names, strict=False))
    start = "".join(letters[0] for letters in alike)
    return start[: max(map(start.rfind, "-_. ")) + 1]


def period_of(stem: str) -> Period | None:
    """Return the period that a name, a file's without endings, has; None where it has none."""
    for shape in _SHAPES:
        matches = list(shape.finditer(stem))
        if not matches:
            continue
        first, last = matches[0], matches[-1]
        if len(matches) > 2 or (first is not last and not _is_range(stem, first, last)):
            return None
        try:
            start, end = _bounds(first)[0], _bounds(last)[1]
        except ValueError:
            # There is no such day.
            continue
        return Period(
            before=stem[: first.start()].rstrip("-_. "),
            text=stem[first.start() : last.end()],
            after=stem[last.end() :].lstrip("-_. "),
            kind=_written(first) | ({"until"} if first is not last else set()),
            start=start,
            end=end,
        )
    return None


def by_period(
    named: Iterable[tuple[Hashable, str, Item]],
) -> list[tuple[tuple[Item, ...], tuple[Period, ...]]]:
    """Return the items of one place each whose names differ only in a period, earliest first.

    Each item has a place and a name. Periods with a moment in common make no group, and neither do
    years among other numbers: ``t_1999`` beside ``t_1`` is the 1,999th table. Nor do a year and a
    month of another one: what covers years says something else than what covers months.
    """
    groups: dict[tuple[Hashable, str], list[tuple[Item, Period]]] = {}
    others: dict[Hashable, list[str]] = {}
    for place, name, item in named:
        period = period_of(name)
        if period is None:
            others.setdefault(place, []).append(name)
        else:
            groups.setdefault((place, period.table.lower()), []).append((item, period))
    found = []
    for (place, _), members in groups.items():
        members.sort(key=lambda member: member[1].start)
        items, periods = zip(*members, strict=True)
        is_of_one_kind = len({period.kind for period in periods}) == 1
        is_group = len(items) > 1 and is_of_one_kind and not overlap(periods)
        if is_group and not _are_numbers(periods, others.get(place, ())):
            found.append((items, periods))
    return found


def _are_numbers(periods: Sequence[Period], others: Iterable[str]) -> bool:
    """Return whether periods are years that other names beside them continue with other numbers."""
    if not all(re.fullmatch(r"\d{4}", period.text) for period in periods):
        return False
    before, after = re.escape(periods[0].before), re.escape(periods[0].after)
    numbered = re.compile(rf"{before}{_GAP}?\d+{_GAP}?{after}", re.IGNORECASE)
    return any(numbered.fullmatch(name) for name in others)


def columns_in_common(shapes: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the columns of parts that have the same ones; empty where they haven't.

    Some parts may lack columns that came later, or that are gone: at most half of them. Two parts
    that each have a column of their own are two tables.
    """
    if not shapes:
        return ()
    fewest, *wider = sorted((set(shape) for shape in shapes), key=len)
    every = tuple(dict.fromkeys(name for shape in shapes for name in shape))
    is_nested = all(narrow <= wide for narrow, wide in pairwise((fewest, *wider)))
    return every if is_nested and 2 * len(fewest) >= len(every) else ()


def overlap(periods: Sequence[Period]) -> bool:
    """Return whether two of the periods have a moment in common, as a year and its months have."""
    ordered = sorted(periods, key=lambda period: period.start)
    return any(later.start < earlier.end for earlier, later in pairwise(ordered))


def date_in_period(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    types: Mapping[str, str],
    column: str,
    periods: Mapping[str, Period],
) -> str | None:
    """Return which date column has a value in the row's period, in every row; the first of them.

    ``types`` are those of the relation's columns, in order. ``column`` has the text of the period,
    by which ``periods`` are known. Where there is such a
    date, the rows say themselves which period they are from. Raises duckdb.Error where the rows
    can't be read.
    """
    dates = [name for name, type_ in types.items() if type_.startswith(("DATE", "TIMESTAMP"))]
    if not dates or not periods:
        return None
    tests = ", ".join(
        f"bool_and(coalesce(CAST({quote(date)} AS TIMESTAMP) >= period.first"
        f" AND CAST({quote(date)} AS TIMESTAMP) < period.next, false))"
        for date in dates
    )
    bounds = ", ".join(
        f"({literal(text)}, TIMESTAMP {literal(str(period.start))},"
        f" TIMESTAMP {literal(str(period.end))})"
        for text, period in periods.items()
    )
    row = connection.execute(
        f"SELECT {tests} FROM {relation} AS t"
        f" LEFT JOIN (VALUES {bounds}) AS period(text, first, next)"
        f" ON t.{quote(column)} = period.text"
    ).fetchone()
    return next((date for date, holds in zip(dates, row or (), strict=False) if holds), None)


def _escaped(text: str) -> str:
    return re.escape(text).replace("/", "[/]")


def _is_range(stem: str, first: re.Match[str], last: re.Match[str]) -> bool:
    return _UNTIL.fullmatch(stem[first.end() : last.start()]) is not None


def _written(match: re.Match[str]) -> frozenset[str]:
    """Return the parts of a period that are written; a month's word is a month."""
    parts = {part for part, text in match.groupdict().items() if text}
    return frozenset("month" if part == "word" else part for part in parts)


def _bounds(match: re.Match[str]) -> tuple[datetime, datetime]:
    """Return the first moment of a period, and the first one after it."""
    parts = match.groupdict()
    year = int(parts["year"])
    if parts.get("week"):
        monday = date.fromisocalendar(year, int(parts["week"]), 1)
        return _midnight(monday), _midnight(monday + timedelta(days=7))
    if parts.get("quarter"):
        return _months(year, 3 * int(parts["quarter"]) - 2, 3)
    if parts.get("half"):
        return _months(year, 6 * int(parts["half"]) - 5, 6)
    word = parts.get("word")
    month = _month(word) if word else int(parts.get("month") or 0)
    if not month:
        return _months(year, 1, 12)
    if not parts.get("day"):
        return _months(year, month, 1)
    day = datetime(year, month, int(parts["day"]))
    clock = parts.get("clock")
    if not clock:
        return day, day + timedelta(days=1)
    moment = day.replace(hour=int(clock[:2]), minute=int(clock[2:4]), second=int(clock[4:] or 0))
    return moment, moment + timedelta(seconds=1)


def _month(word: str) -> int:
    return _MONTH_WORDS.split("|").index(_full(word)) + 1


def _full(word: str) -> str:
    return next(name for name in _MONTH_WORDS.split("|")[:12] if name.startswith(word[:3].lower()))


def _months(year: int, first: int, count: int) -> tuple[datetime, datetime]:
    years, month = divmod(first - 1 + count, 12)
    return datetime(year, first, 1), datetime(year + years, month + 1, 1)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)
