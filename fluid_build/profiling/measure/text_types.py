"""The type that values really have, checked on each: what text holds, and dates in numbers.

A type is taken only if every value comes back from it: its canonical spelling (``canonical_text``)
is that of the text, and numbers keep what tells them apart (``exact_numbers``).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import duckdb

from fluid_build.lexicon import leading, terms
from fluid_build.profiling.measure.compact_dates import COMPACT_FORMATS, is_credible
from fluid_build.profiling.measure.figures import ColumnStats, TableStats
from fluid_build.profiling.names.words import words
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.canonical_text import (
    FALSE_WORDS,
    TRUE_WORDS,
    comes_back,
    type_and_spelling,
)
from fluid_build.sources.text_values.conventions import (
    DATE_QUESTION,
    MOMENT_SPELLINGS_NOTE,
    NO_ANSWERS,
    NUMBER_QUESTION,
    SPELLINGS_NOTE,
    TRUTHS_NOTE,
    UNDECIDED,
    VERSIONS_NOTE,
    Conventions,
)
from fluid_build.sources.text_values.exact_numbers import (
    CODE,
    NUMBER,
    NUMBER_TYPES,
    NumberFacts,
    are_versions,
    exact_type,
    facts_sql,
    read_facts,
)
from fluid_build.sources.text_values.text_classes import ONE_POINT

_TRUTH = re.compile(rf"^\s*({'|'.join((*TRUE_WORDS, *FALSE_WORDS))})\s*$", re.IGNORECASE)
MOST_SPELLINGS = 64
"""More than all the ways to write the words of a pair in capitals and small letters."""

_PAIRS = tuple({true, false} for true, false in zip(TRUE_WORDS, FALSE_WORDS, strict=True))
_LETTERS = {"t", "f"}
_OTHER_MEANINGS = terms("no_flag")


def are_truths(name: str, spellings: Collection[str]) -> bool:
    """Return whether the distinct spellings of a column's values, all of them, say true and false.

    ``NO`` is Norway and Norwegian, ``F`` female, ``T`` any code. Only two words that say the
    opposite of each other, and nothing else, make a column of truths. ``name`` is the column's.
    """
    parts = words(name)
    said = {spelling.strip().lower() for spelling in spellings}
    if set(parts) & _OTHER_MEANINGS:
        return False
    if said != _LETTERS:
        return said in _PAIRS
    # PostgreSQL writes truths as t and f.
    are_small = all(spelling == spelling.lower() for spelling in spellings)
    is_flag = bool(parts) and (parts[0] in leading("truth") or bool(set(parts) & terms("truth")))
    return are_small or is_flag


TYPE_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("BIGINT", re.compile(r"^\s*[-+]?\d+\s*$")),
    ("DOUBLE", re.compile(rf"^\s*{NUMBER}\s*$")),
    ("DATE", re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}\s*$")),
    ("TIMESTAMP", re.compile(r"^\s*\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*$")),
    ("BOOLEAN", _TRUTH),
    ("UUID", re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")),
)
_CODE = re.compile(CODE)
_NUMBERS = ("BIGINT", "DOUBLE")
"""The types that numbers are first taken for; what they are says ``exact_numbers``."""
_BIT_STRING = re.compile(r"\s*(?:var)?bit\b", re.IGNORECASE)
"""A declared type whose values are ones and zeros that make no number: ``bit(8)``, ``varbit``."""
_DATE_FORMATS = (
    ("%d/%m/%Y", re.compile(r"^\d{1,2}/\d{1,2}/\d{4}$")),
    ("%m/%d/%Y", re.compile(r"^\d{1,2}/\d{1,2}/\d{4}$")),
    ("%d.%m.%Y", re.compile(r"^\d{1,2}\.\d{1,2}\.\d{4}$")),
    ("%d-%m-%Y", re.compile(r"^\d{1,2}-\d{1,2}-\d{4}$")),
    ("%m-%d-%Y", re.compile(r"^\d{1,2}-\d{1,2}-\d{4}$")),
    *COMPACT_FORMATS.items(),
    ("%d-%b-%Y", re.compile(r"^\d{1,2}-[A-Za-z]{3}-\d{4}$")),
    ("%Y/%m/%d", re.compile(r"^\d{4}/\d{1,2}/\d{1,2}$")),
)
_AMBIGUOUS_DATES = {
    "dmy": ("DATE (%d/%m/%Y)", "DATE (%d-%m-%Y)"),
    "mdy": ("DATE (%m/%d/%Y)", "DATE (%m-%d-%Y)"),
}
_FIRST_YEAR = 1000
"""``strptime`` takes a year of two digits for the year 24; no source means that."""

_UUID_SPELLINGS_NOTE = (
    "Read as text: it has a UUID in capitals and in small letters, which would become one value."
)
_LONGEST_TRUTH = 6
"""One letter more than any word for true or false has."""

_FITS, _SAME = 1, 2
"""A value is of a type, or is even spelled as the type's values are."""


@dataclass(frozen=True, slots=True)
class _TypeGuess:
    """A type that the values of a column may have, and the outcome of checking it on each.

    ``same_spelling`` says that converting back restores the text, ``fits_both`` that every point in
    the numbers could also separate thousands.
    """

    stats: ColumnStats
    type: str
    same_spelling: bool = False
    bounds: tuple[object, object] = (None, None)
    fits_both: bool = False

    @property
    def text(self) -> str:
        """SQL for a value as text."""
        name = quote(self.stats.column.alias)
        return name if self.stats.kind == "text" else f"CAST({name} AS VARCHAR)"

    @property
    def reading(self) -> str:
        """SQL that converts a value, null where it has no place in the type."""
        bare, date_format = type_and_spelling(self.type)
        if date_format:
            return date_sql(self.text, date_format)
        return f"TRY_CAST(trim({self.text}) AS {bare})"


def find_measured_types(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, answers: Conventions = NO_ANSWERS
) -> None:
    """Find the type that every value of a text column has, and dates in whole numbers.

    Values that fit two conventions follow the answers, or else the table's other text columns, or
    stay text with a note.
    """
    guesses = [
        _TypeGuess(stats, type_name)
        for stats in measured.columns
        if stats.kind in {"text", "integer"}
        for type_name in _guess_types(stats)
    ]
    if not guesses:
        return
    by_column: dict[int, list[_TypeGuess]] = {}
    for guess in _confirmed(connection, measured, _fitting(connection, measured, guesses)):
        by_column.setdefault(id(guess.stats), []).append(guess)
    settled = {
        fits[0].type for fits in by_column.values() if len(fits) == 1 and not fits[0].fits_both
    }
    for fits in by_column.values():
        chosen = _choose(fits, answers, settled)
        if chosen is not None:
            stats = chosen.stats
            stats.measured_type, stats.reversible = chosen.type, chosen.same_spelling
            if chosen.type == "BIGINT":
                low, high = chosen.bounds
                stats.bounds = (int(str(low)), int(str(high)))


def _fitting(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, guesses: Sequence[_TypeGuess]
) -> Iterator[_TypeGuess]:
    """Yield the guesses that all values fit, numbers with the type that keeps their digits."""
    aggregates = [_aggregates(guess) for guess in guesses]
    row = connection.execute(
        f"SELECT {', '.join(chain.from_iterable(aggregates))} FROM {measured.table.relation}"
    ).fetchone()
    figures = iter(row or ())
    for guess, some in zip(guesses, aggregates, strict=True):
        fit, low, high, fits_both, *facts = islice(figures, len(some))
        type_: str | None = guess.type
        if fit < _FITS:
            continue
        if guess.type == "BOOLEAN" and not are_truths(guess.stats.name, facts[0] or ()):
            continue
        if guess.type in _NUMBERS:
            type_ = _number_type(guess.stats, read_facts(tuple(facts)))
        if type_ is None:
            continue
        yield replace(
            guess,
            type=type_,
            same_spelling=fit == _SAME and type_ == guess.type,
            bounds=(low, high),
            fits_both=bool(fits_both) and type_ != "BIGINT",
        )


def _number_type(stats: ColumnStats, facts: NumberFacts) -> str | None:
    """Return the type of a column of numbers; None for codes, and for more digits than any has."""
    if are_versions(facts):
        stats.notes.append(VERSIONS_NOTE)
        return None
    return None if facts.has_codes else exact_type(facts)


def _aggregates(guess: _TypeGuess) -> list[str]:
    """Return SQL for how well all values fit a guess, and for what else decides about its type."""
    name = guess.text
    first = [f"coalesce(min({_fit_sql(guess)}), {_SAME})", *_bounds_sql(guess)]
    if guess.type in _NUMBERS:
        return [*first, _fits_both_sql(name), *facts_sql(f"trim({name})")]
    if guess.type == "BOOLEAN":
        # What's left out by the limit doesn't fit, or else the column has all spellings.
        spellings = f"list(DISTINCT left(trim({name}), {_LONGEST_TRUTH}))"
        given = f"({spellings} FILTER (WHERE {name} IS NOT NULL))"
        return [*first, "FALSE", f"{given}[:{MOST_SPELLINGS}]"]
    return [*first, "FALSE"]


def _fit_sql(guess: _TypeGuess) -> str:
    """Return SQL for how well a value fits the type."""
    name = guess.text
    # A value in the usual spelling has no spaces around it: most are converted once, untrimmed.
    usual = spelled_sql(guess.type, guess.reading.replace(f"trim({name})", name))
    if guess.type in _NUMBERS:
        fits = f"regexp_full_match(trim({name}), {literal(NUMBER)})"
    else:
        fits = f"{guess.reading} IS NOT NULL"
    return (
        f"CASE WHEN {name} IS NULL OR {usual} = {name} THEN {_SAME} WHEN {fits} THEN {_FITS}"
        " ELSE 0 END"
    )


def _confirmed(
    connection: duckdb.DuckDBPyConnection, measured: TableStats, guesses: Iterable[_TypeGuess]
) -> Iterator[_TypeGuess]:
    """Yield the guesses by which each value comes back, those of different spelling after a check.

    Different texts must stay different: ``5`` beside ``5.0`` may be two codes. Truths needn't, for
    ``True`` beside ``true`` means nothing.
    """
    fitting = list(guesses)
    open_ = [guess for guess in fitting if not guess.same_spelling]
    outcomes: dict[int, list[bool]] = {}
    if open_:
        checks = [
            f"{_all_come_back_sql(guess)}, {_all_differ_sql(guess)}, {_same_sql(guess)}"
            for guess in open_
        ]
        row = connection.execute(
            f"SELECT {', '.join(checks)} FROM {measured.table.relation}"
        ).fetchone()
        figures = row or ()
        outcomes = {
            id(guess): outcome
            for guess, *outcome in zip(
                open_, figures[::3], figures[1::3], figures[2::3], strict=True
            )
        }
    for guess in fitting:
        all_come_back, all_differ, same = outcomes.get(id(guess), (True, True, True))
        if not all_come_back:
            continue
        is_truth = guess.type == "BOOLEAN"
        if all_differ or is_truth:
            yield replace(guess, same_spelling=same)
        if not all_differ:
            note = TRUTHS_NOTE if is_truth else _note_on_spellings(guess.type)
            guess.stats.notes += [note] if note not in guess.stats.notes else []


def _note_on_spellings(type_: str) -> str:
    if type_.startswith(NUMBER_TYPES):
        return SPELLINGS_NOTE
    return _UUID_SPELLINGS_NOTE if type_ == "UUID" else MOMENT_SPELLINGS_NOTE


def _all_come_back_sql(guess: _TypeGuess) -> str:
    """Return SQL for whether each value says in the type what its text says."""
    name, reading = guess.text, guess.reading
    said = comes_back(*type_and_spelling(guess.type), name, reading)
    return f"coalesce(bool_and({name} IS NULL OR {said}), TRUE)"


def _all_differ_sql(guess: _TypeGuess) -> str:
    """Return SQL for whether different texts stay different values."""
    return f"count(DISTINCT trim({guess.text})) = count(DISTINCT {guess.reading})"


def _same_sql(guess: _TypeGuess) -> str:
    name = guess.text
    return f"coalesce(bool_and({spelled_sql(guess.type, guess.reading)} = {name}), TRUE)"


def _choose(
    fits: Sequence[_TypeGuess], answers: Conventions, settled: Collection[str]
) -> _TypeGuess | None:
    """Return the type that holds; of two orders of day and month, the one that is settled."""
    first = fits[0]
    if first.fits_both:
        has_point = any(type_.startswith(("DOUBLE", "DECIMAL")) for type_ in settled)
        if answers.decimal == "." or (answers.decimal is None and has_point):
            return first
        if answers.decimal is None:
            first.stats.notes.append(NUMBER_QUESTION)
        return None
    if len(fits) == 1 or not _date_order(first.type):
        return first
    for guess in fits:
        is_answered = answers.date_order == _date_order(guess.type)
        if is_answered or (answers.date_order is None and _is_settled(guess, fits, settled)):
            return guess
    first.stats.notes.append(DATE_QUESTION)
    return None


def _is_settled(guess: _TypeGuess, fits: Sequence[_TypeGuess], settled: Collection[str]) -> bool:
    """Return whether all other dates of the table in the same notation have this order."""
    rivals = {rival.type for rival in fits if rival is not guess}
    return guess.type in settled and not rivals & set(settled)


def _date_order(type_name: str) -> str:
    """Return the order of day and month in a date's format if the reverse is possible, or ""."""
    return next((order for order, formats in _AMBIGUOUS_DATES.items() if type_name in formats), "")


def _fits_both_sql(name: str) -> str:
    """Return SQL for whether every point in the numbers could separate thousands as well."""
    fits = f"regexp_full_match(trim({name}), {literal(ONE_POINT)})"
    return f"coalesce(bool_and({fits}) FILTER (contains({name}, '.')), FALSE)"


def _bounds_sql(guess: _TypeGuess) -> tuple[str, str]:
    """Return SQL for the bounds of whole numbers in text, which sorts differently from numbers."""
    if guess.type != "BIGINT":
        return "NULL", "NULL"
    return f"min({guess.reading})", f"max({guess.reading})"


def spelled_sql(type_name: str, reading: str) -> str:
    """Return SQL that spells a converted value again."""
    bare, date_format = type_and_spelling(type_name)
    if date_format:
        return f"strftime({reading}, {literal(date_format)})"
    return f"CAST(CAST({reading} AS {bare}) AS VARCHAR)"


def _guess_types(stats: ColumnStats) -> list[str]:
    """Return the types that all sampled values fit."""
    values = [value for value, _ in stats.values]
    if not values:
        return []
    if _BIT_STRING.match(stats.column.declared_type):
        return []
    if set(UNDECIDED) & set(stats.column.notes):
        return []
    formats = [
        fmt
        for fmt, pattern in _DATE_FORMATS
        if _all_match(values, pattern) and is_credible(stats, fmt)
    ]
    if formats or stats.kind == "integer":
        return [f"DATE ({fmt})" for fmt in formats]
    type_ = next((name for name, pattern in TYPE_PATTERNS if _all_match(values, pattern)), None)
    if type_ is None or (type_ in _NUMBERS and any(map(_CODE.fullmatch, values))):
        return []
    return [type_]


def reading_sql(stats: ColumnStats) -> str:
    """Return SQL for a column's value, of its measured type if it has one."""
    if stats.measured_type is None:
        return quote(stats.column.alias)
    guess = _TypeGuess(stats, stats.measured_type)
    _, date_format = type_and_spelling(guess.type)
    return f"CAST({guess.reading} AS DATE)" if date_format else guess.reading


def date_sql(name: str, date_format: str) -> str:
    """Return SQL for the date in a text, null for a year of two digits."""
    parsed = f"try_strptime(trim({name}), {literal(date_format)})"
    return f"CASE WHEN year({parsed}) >= {_FIRST_YEAR} THEN {parsed} END"


def _all_match(values: Iterable[str], pattern: re.Pattern[str]) -> bool:
    return all(pattern.match(value) for value in values)
