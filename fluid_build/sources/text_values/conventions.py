"""Which of two conventions a file's numbers and dates follow: a point or a comma before the
decimals, the day or the month first.

The rule. A value settles a convention where only one reading makes a number or a date of it:

- 46,88 and 1.234,56 and 1.234.567 settle a decimal comma; 12.5, 0.125, 1234.567 (no thousands are
  written so), 1,234.56, 1,234,567 and 12,34,567 a decimal point; 25/12/2024 settles the day first.
- 654.159 and 654,159 (one to three digits, no leading zero, a mark, three digits) and 01/02/2024
  fit both conventions and settle nothing; nor do 12, -0 and 1e+5, which have no mark.

A column follows its own values where they settle it, and is text where they contradict each other.
A column whose values all fit both conventions follows the user's answer; else the other columns of
its file, where these all agree, for one program wrote them all; else it stays text, and a note
asks. Every value may disagree, those of text columns too: 46,88 in a column that some "n/a" keeps
text still says that 654.159 may be over a thousand. A column is open as well if another column
contradicts it and few of its own values settle its convention. Digits that are all grouped alike,
such as 123.456.789, are codes as often as amounts: they are numbers only beside another number of
the column, or where the file or the user says so. Digits grouped by spaces or apostrophes fit
either convention.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from fluid_build.sources.sql import literal
from fluid_build.sources.text_values.exact_numbers import (
    EXACT_DIGITS,
    are_unevenly_spaced_sql,
    coincide_sql,
)
from fluid_build.sources.text_values.text_classes import (
    NULL_WORDS,
    SPACES,
    bits,
    decimals_of,
    filled,
    values_of,
)
from fluid_build.stated_options import Flag

DecimalMark: TypeAlias = Literal[".", ","]
DateOrder: TypeAlias = Literal["dmy", "mdy"]

NUMBER_QUESTION = (
    "Read as text: values such as 1.234 could mean 1.234 or 1234, and nothing else in the table"
    ' tells which. Pass --decimal "." or --decimal ",".'
)
NUMBER_CONFLICT = (
    "Read as text: values such as 1.234 could mean 1.234 or 1234, and the table has numbers of both"
    ' conventions. Pass --decimal "." or --decimal ",".'
)
DATE_QUESTION = (
    "Read as text: dates such as 01/02/2024 could be in January or in February, and nothing else"
    " in the table tells which. Pass --date-order dmy or --date-order mdy."
)
SHORT_YEAR_QUESTION = (
    "Read as text: dates such as 03.04.24 have years of two digits. `fluid review` asks how they"
    " are to be read."
)
_CONTRADICTORY_NUMBERS = (
    "Read as text: some values have a comma as the decimal mark, others a point."
)
_CONTRADICTORY_DATES = "Read as text: some dates are only valid day first, others only month first."
UNDECIDED = (
    NUMBER_QUESTION, NUMBER_CONFLICT, DATE_QUESTION, SHORT_YEAR_QUESTION,
    _CONTRADICTORY_NUMBERS, _CONTRADICTORY_DATES,
)  # fmt: skip
"""Notes on columns whose text isn't to be read as numbers or dates unless a person says how."""
VERSIONS_NOTE = (
    "Read as text: zeros at the end of its decimals tell values apart, as in the versions 1.1 and"
    " 1.10."
)
SPELLINGS_NOTE = (
    "Read as text: it has numbers in two spellings, such as 5 and 5.0 or 1 000 and 1000, which"
    " would become one value."
)
OFFSET_NOTE = "Its moments are kept in UTC. The offset that all are written with isn't."
MOMENT_SPELLINGS_NOTE = (
    "Read as text: it has dates or times in two spellings, such as 10:00 and 10:00:00 or 1/2/2024"
    " and 01/02/2024, which would become one value."
)
TRUTHS_NOTE = "It has true or false in several spellings, such as TRUE and true: each is one value."
OFFSETS_NOTE = "Read as text: its moments are written with several offsets from UTC."
_BY_ANOTHER = "based on another column of the table"


@dataclass(frozen=True, slots=True)
class Conventions:
    """The user's answers where a file leaves it open; None where there is none."""

    decimal: Annotated[
        DecimalMark | None,
        Flag(
            "--decimal",
            "The decimal mark, . or , if numbers in text such as 1.234 are ambiguous.",
            "MARK",
            noun="a decimal mark",
            hint='Use --decimal "." or --decimal ",".',
        ),
    ] = None
    date_order: Annotated[
        DateOrder | None,
        Flag(
            "--date-order",
            "dmy or mdy, if dates in text such as 01/02/2024 are ambiguous.",
            "ORDER",
            noun="an order of day and month",
            hint="Use --date-order dmy or --date-order mdy.",
        ),
    ] = None


NO_ANSWERS = Conventions()


@dataclass(frozen=True, slots=True)
class Reading:
    """How the values of a column are read: its type, and the SQL for one value.

    ``spelling`` is the convention that its text follows: a decimal mark, the format of a date, or
    "" where the text is spelled as DuckDB itself would. ``written`` is the SQL of a test that a
    value is written like the others, "" where it doesn't matter, and ``usual`` that of a quick one
    that shows most values to be so.
    """

    type: str
    classes: int
    template: str
    spelling: str = ""
    written: str = ""
    usual: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a column: its reading (None for text), and a sentence where one is due.

    ``open`` says that its values fit several readings, so that others or the user must decide.
    ``settled_by`` is the position of another column that decided, and None where none did.
    """

    reading: Reading | None = None
    note: str = ""
    open: bool = False
    settled_by: int | None = None


_MARKED = {
    ".": bits(
        "fraction", "commas", "commas and point", "lakhs", "lakhs and point", "spaces and point"
    ),
    ",": bits("comma fraction", "points", "points and comma", "spaces and comma"),
}
"""Classes that settle a decimal mark."""
_EITHER = bits("unmarked", "one point", "one comma", "spaces")
_INTEGERS = bits("integer", "long integer")
_NUMBERS = {mark: _INTEGERS | _EITHER | settling for mark, settling in _MARKED.items()}
_ALL_NUMBERS = _NUMBERS["."] | _NUMBERS[","]
_FRACTIONS = {
    ".": bits(
        "unmarked",
        "fraction",
        "one point",
        "commas and point",
        "lakhs and point",
        "spaces and point",
    ),
    ",": bits("unmarked", "comma fraction", "one comma", "points and comma", "spaces and comma"),
}
_ALL_GROUPED_ALIKE = tuple(bits(name) for name in ("points", "commas", "spaces"))
_SPACED = bits("spaces", "spaces and comma", "spaces and point")
_TWO_READINGS = bits("one point", "one comma")
_UNMARKED = _INTEGERS | bits("unmarked")
_PLAIN = _UNMARKED | bits("one point", "fraction")

_ORDERED = {
    mark: {"dmy": bits(f"day first {mark}"), "mdy": bits(f"month first {mark}")} for mark in "/-"
}
"""Classes that settle the order of day and month, by what parts a date."""
_EITHER_FIRST = {mark: bits(f"either first {mark}") for mark in _ORDERED}
_DATES = {mark: _EITHER_FIRST[mark] | sum(some.values()) for mark, some in _ORDERED.items()}
DATE_FORMATS = {"dmy": ("%d/%m/%Y", "%d-%m-%Y"), "mdy": ("%m/%d/%Y", "%m-%d-%Y")}
"""The spellings of dates in which day and month may be taken for each other, by their order."""
_MOMENTS = {
    bits("offset"): OFFSET_NOTE,
    bits("date", "timestamp"): "Dates without a time are read as midnight.",
}
"""What isn't kept of how dates and times are written, by their classes."""
_ONE_WORD = (bits("true"), bits("false"))
"""One word alone says nothing: a truth has an opposite."""
_SHORT_YEARS = bits("short dotted", "short /")
_SPOKEN = {"dmy": "day", "mdy": "month", ".": "point", ",": "comma"}


def _cast(type_: str) -> str:
    return f"CAST({{c}} AS {type_})"


def _dated(mark: str, order: str) -> Reading:
    format_ = next(format_ for format_ in DATE_FORMATS[order] if mark in format_)
    template = f"CAST(strptime({{c}}, {literal(format_)}) AS DATE)"
    return Reading("DATE", _EITHER_FIRST[mark] | _ORDERED[mark][order], template, format_)


_OTHERS = (
    Reading("DATE", bits("date"), _cast("DATE")),
    # Alone, so that a later date among them is noticed.
    Reading("TIMESTAMP", bits("timestamp"), _cast("TIMESTAMP")),
    Reading("TIMESTAMP", bits("date", "timestamp"), _cast("TIMESTAMP")),
    Reading("TIMESTAMP WITH TIME ZONE", bits("utc"), _cast("TIMESTAMPTZ")),
    Reading("TIMESTAMP WITH TIME ZONE", bits("offset"), _cast("TIMESTAMPTZ")),
    Reading("TIME", bits("time"), _cast("TIME")),
    Reading("BOOLEAN", bits("true", "false"), _cast("BOOLEAN")),
    Reading("DATE", bits("dotted"), "CAST(strptime({c}, '%d.%m.%Y') AS DATE)", "%d.%m.%Y"),
    Reading(
        "DATE",
        bits("dotted", "date"),
        "CASE WHEN contains({c}, '.') THEN CAST(strptime({c}, '%d.%m.%Y') AS DATE)"
        " ELSE CAST({c} AS DATE) END",
        "%d.%m.%Y",
    ),
)


def decide_alone(classes: int) -> Decision:
    """Return what the values of one column say by themselves, by the sum of their classes' bits."""
    values = values_of(classes)
    if not values:
        return Decision()
    if not values & ~_ALL_NUMBERS:
        return _number_alone(classes)
    if mark := _date_mark(values):
        return _date_alone(values, mark)
    if not values & ~_SHORT_YEARS:
        return Decision(note=SHORT_YEAR_QUESTION)
    if values in _ONE_WORD:
        return Decision()
    if values == bits("utc", "offset"):
        return Decision(note=OFFSETS_NOTE)
    reading = next((reading for reading in _OTHERS if not values & ~reading.classes), None)
    return Decision(reading, _MOMENTS.get(values, ""))


def decide(
    columns: Sequence[int], answers: Conventions, outvoted: Collection[int] = ()
) -> list[Decision]:
    """Decide on all columns of a file, each given as the sum of its values' classes.

    ``outvoted`` are the contested columns (see ``contested``) that few of their own values settle.
    """
    alone = [
        Decision(open=True) if i in outvoted else decide_alone(classes)
        for i, classes in enumerate(columns)
    ]
    typed = [
        0 if decision.reading is None else classes
        for classes, decision in zip(columns, alone, strict=True)
    ]
    orders = {mark: _agreed_convention(some, typed, columns) for mark, some in _ORDERED.items()}
    decimal = _agreed_convention(_MARKED, typed, columns)
    return [
        decision if not decision.open else _decide_open(classes, answers, decimal, orders)
        for classes, decision in zip(columns, alone, strict=True)
    ]


NUMBERS_CLEARLY = 9
"""So many times as many numbers that settle a decimal mark as fit both settle it against another
column: coordinates among amounts do. A few 1.5 among 654.159 are as likely to be mistyped."""
DATES_CLEARLY = 1 / 9
"""The same of dates. Three in five have a day above 12, and only mistyped ones are rarer than one
in ten."""


@dataclass(frozen=True, slots=True)
class Contest:
    """A column whose convention another column contradicts, by its own values' classes.

    Those of ``settling`` settle it and those of ``either`` fit both. It follows its own values
    where the first are ``clearly`` times as many as the others.
    """

    settling: int
    either: int
    clearly: float


def contested(columns: Sequence[int]) -> dict[int, Contest]:
    """Return the columns whose own convention another one contradicts, by position."""
    found: dict[int, Contest] = {}
    for settling, all_, either, clearly in (
        (_MARKED, _ALL_NUMBERS, _TWO_READINGS, NUMBERS_CLEARLY),
        *((_ORDERED[mark], _DATES[mark], _EITHER_FIRST[mark], DATES_CLEARLY) for mark in _ORDERED),
    ):
        settled = [_settled(classes, settling, all_) for classes in columns]
        for i, own in enumerate(settled):
            if len(own) == 1 and columns[i] & either and set().union(*settled) - own:
                (name,) = own
                found[i] = Contest(columns[i] & settling[name], columns[i] & either, clearly)
    return found


def _settled(classes: int, settling: Mapping[str, int], all_: int) -> set[str]:
    """Return the conventions that a column's values settle, if they're all of these classes."""
    if values_of(classes) & ~all_:
        return set()
    return {name for name, some in settling.items() if classes & some}


@dataclass(frozen=True, slots=True)
class _Agreed:
    """A convention that other columns of a file settle, and the position of the first of them.

    ``is_disputed`` says that there's none because values of the file have different ones.
    """

    convention: str = ""
    column: int | None = None
    is_disputed: bool = False


def _agreed_convention(
    settling: Mapping[str, int], typed: Sequence[int], columns: Sequence[int]
) -> _Agreed:
    """Return the only convention that columns settle; none where they differ.

    Those that have a type settle it; any value of any column may contradict.
    """
    seen = {name for classes in columns for name, some in settling.items() if classes & some}
    if len(seen) != 1:
        return _Agreed(is_disputed=bool(seen))
    name = seen.pop()
    first = next((i for i, classes in enumerate(typed) if classes & settling[name]), None)
    return _Agreed() if first is None else _Agreed(name, first)


def _number_alone(classes: int) -> Decision:
    values = values_of(classes)
    if values & _MARKED["."] and values & _MARKED[","]:
        return Decision(note=_CONTRADICTORY_NUMBERS)
    if values == bits("spaces"):
        return Decision()
    if values in _ALL_GROUPED_ALIKE:
        return Decision(open=True)
    if not values & ~(_UNMARKED | bits("spaces")):
        return _numbers(classes, ".")
    for mark, settling in _MARKED.items():
        if values & settling:
            return _numbers(classes, mark)
    return Decision(open=True)


_SHORT_INTEGER = f"(strlen({{c}}) <= {EXACT_DIGITS} OR contains({{c}}, '.'))"
"""The test for a whole number that a DOUBLE keeps, or one with decimals, which has its own test."""


def _numbers(classes: int, mark: str, note: str = "", settled_by: int | None = None) -> Decision:
    """Return the decision to read numbers by a decimal mark; versions stay text."""
    if decimals_of(classes, mark).are_versions:
        return Decision(note=VERSIONS_NOTE)
    if classes & _FRACTIONS[mark] and classes & bits("long integer"):
        # A DOUBLE doesn't keep so many digits, and BIGINT no decimals.
        return Decision()
    return Decision(_number(classes, mark), note, settled_by=settled_by)


def _date_mark(values: int) -> str:
    """Return what parts the dates of a column, if these are all its values; else empty."""
    return next((mark for mark, classes in _DATES.items() if not values & ~classes), "")


def _date_alone(values: int, mark: str) -> Decision:
    orders = [order for order, settling in _ORDERED[mark].items() if values & settling]
    if len(orders) == 1:
        return Decision(_dated(mark, orders[0]))
    return Decision(note=_CONTRADICTORY_DATES) if orders else Decision(open=True)


def _decide_open(
    classes: int, answers: Conventions, decimal: _Agreed, orders: Mapping[str, _Agreed]
) -> Decision:
    """Return the decision on a column that is open.

    The user's answer, else what the file agrees on.
    """
    values = values_of(classes)
    if mark := _date_mark(values):
        chosen = answers.date_order or orders[mark].convention
        if not chosen:
            return Decision(note=DATE_QUESTION)
        why = "as --date-order says" if answers.date_order else _BY_ANOTHER
        note = f"Dates such as 01/02/2024 are read {_SPOKEN[chosen]} first, {why}."
        settled_by = None if answers.date_order else orders[mark].column
        return Decision(_dated(mark, chosen), note, settled_by=settled_by)
    # 1.234 beside 1,234 is no single convention's writing: only the user can know.
    mixed = values & bits("one point") and values & bits("one comma")
    chosen = answers.decimal or ("" if mixed else decimal.convention)
    if not chosen or values & ~_NUMBERS[chosen]:
        return Decision(note=NUMBER_CONFLICT if mixed or decimal.is_disputed else NUMBER_QUESTION)
    why = "as --decimal says" if answers.decimal else _BY_ANOTHER
    mark = _SPOKEN[chosen]
    note = f"Numbers such as 1.234 or 1,234 are read with a {mark} as the decimal mark, {why}."
    settled_by = None if answers.decimal else decimal.column
    return _numbers(classes, chosen, note, settled_by)


_MOMENT_TYPES = ("TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_GROUPED = _SPACED | bits(
    "one point", "one comma", "points", "commas", "points and comma", "commas and point",
    "lakhs", "lakhs and point",
)  # fmt: skip


def may_coincide(classes: int, reading: Reading) -> bool:
    """Return whether values may be spelled in two ways that become one.

    5 and 5.0 may, 1 000 and 1000, moments such as 10:00 and 10:00:00, and TRUE and true. DuckDB's
    own spelling of a date is the only one that is read as such.
    """
    if reading.type == "BOOLEAN":
        return True
    if reading.spelling not in _MARKED:
        return reading.type in _MOMENT_TYPES or bool(reading.type == "DATE" and reading.spelling)
    decimals = decimals_of(classes, reading.spelling)
    is_fraction = reading.type == "DOUBLE" and decimals.may_coincide
    is_mixed = bool(classes & _GROUPED and values_of(classes) & ~_GROUPED)
    return is_fraction or is_mixed or bool(classes & (_SPACED | bits("unmarked")))


def coincidence(text: str, reading: Reading) -> tuple[str, str]:
    """Return an SQL aggregate, whether values coincide that may, and the note if they do."""
    words = ", ".join(literal(word) for word in NULL_WORDS)
    given = f"(CASE WHEN {text} NOT IN ({words}) THEN {text} END)"
    template = re.sub(r"\b(?=CAST\()", "TRY_", reading.template)
    read = filled(re.sub(r"\b(?=strptime\()", "try_", template), given)
    merged = f"count(DISTINCT {given}) > count(DISTINCT {read})"
    if reading.spelling in _MARKED:
        spaced = are_unevenly_spaced_sql(text)
        return f"({coincide_sql(text, reading.spelling)} OR {spaced} OR {merged})", SPELLINGS_NOTE
    if reading.classes & bits("offset"):
        offsets = f"count(DISTINCT regexp_extract({text}, '[-+][0-9:]*$')) > 1"
        return f"({offsets} OR {merged})", OFFSETS_NOTE
    return merged, TRUTHS_NOTE if reading.type == "BOOLEAN" else MOMENT_SPELLINGS_NOTE


def sole_spellings(reading: Reading) -> tuple[str, ...]:
    """Return tests that no two values of a date, a moment or a truth pass which become one.

    Another is that all have their digits and marks in the same places.
    """
    if reading.type == "BOOLEAN":
        return ("{c} = lower({c})", "{c} = upper({c})", "regexp_full_match({c}, '[TF][a-z]+')")
    if reading.template.startswith("CAST({c} "):
        return (f"CAST(TRY_{reading.template} AS VARCHAR) = {{c}}",)
    return ("NOT regexp_matches({c}, '(^|[^0-9])0')",) if reading.spelling else ()


def is_spelled_in_two_ways(classes: int, reading: Reading) -> bool:
    """Return whether a reading of these values is worth evidence.

    That is if some fit two conventions, or the convention isn't DuckDB's own.
    """
    unusual = reading.spelling == "," or reading.spelling in (
        *DATE_FORMATS["dmy"],
        *DATE_FORMATS["mdy"],
    )
    return unusual or (reading.spelling == "." and bool(classes & _TWO_READINGS))


def settling_classes(reading: Reading) -> int:
    """Return the classes of values that allow no other reading than this; 0 where all do."""
    if reading.spelling in _MARKED:
        return _MARKED[reading.spelling]
    for mark, orders in _ORDERED.items():
        for order, classes in orders.items():
            if reading.spelling in DATE_FORMATS[order] and mark in reading.spelling:
                return classes
    return 0


def _number(classes: int, mark: str) -> Reading:
    """Numbers with a decimal mark; whole where no value has decimals."""
    values = values_of(classes)
    type_ = "DOUBLE" if values & _FRACTIONS[mark] else "BIGINT"
    if not values & ~_INTEGERS:
        return Reading(type_, _INTEGERS, _cast(type_))
    if mark == "." and not values & ~_PLAIN:
        # The test for a fraction takes in the others as well.
        decimals = decimals_of(classes, mark)
        written = f"{decimals.test(mark)} AND {_SHORT_INTEGER}"
        numbers = bits("integer", "fraction")
        return Reading(type_, numbers, _cast(type_), mark, written, decimals.usual(mark))
    groups = SPACES + ("," if mark == "." else ".")
    bare = f"translate({{c}}, {literal(groups)}, '')"
    read = bare if mark == "." else f"replace({bare}, ',', '.')"
    # What a later value can't mean here must not lose its marks and become a number all the same.
    fits = f"regexp_full_match({{c}}, {literal(_written(mark, groups))})"
    template = f"CAST(CASE WHEN {fits} THEN {read} ELSE {{c}} END AS {type_})"
    return Reading(type_, values, template, mark, decimals_of(classes, mark).test(mark))


DECIMAL_COMMA = "decimal comma"
DECIMAL_POINT = "decimal point"
"""How a measured type says by which mark its text separates decimals, as ``DOUBLE (decimal comma)``
does. A point needs no word where nothing separates thousands."""
DECIMAL_MARKS: Mapping[str, DecimalMark] = {DECIMAL_COMMA: ",", DECIMAL_POINT: "."}


def with_decimal_point(text: str, mark: DecimalMark) -> str:
    """Return SQL for a number in a text as a cast reads it: with a point, and without groups.

    Text that isn't a number of that convention stays as it is.
    """
    groups = "," if mark == "." else "."
    bare = f"replace({text}, {literal(groups)}, '')"
    read = bare if mark == "." else f"replace({bare}, ',', '.')"
    return f"CASE WHEN {follows_mark(text, mark)} THEN {read} ELSE {text} END"


def follows_mark(text: str, mark: DecimalMark) -> str:
    """Return SQL for whether a text is a number with this decimal mark, grouped or not."""
    pattern = _written(mark, "," if mark == "." else ".")
    return f"regexp_matches({text}, {literal(f'^{pattern}$')})"


def _written(mark: str, groups: str) -> str:
    """Return the pattern of a number with a decimal mark, with or without group separators."""
    lakhs = "|[0-9]{1,2}(,[0-9]{2})+,[0-9]{3}" if mark == "." else ""
    whole = f"([0-9]{{1,3}}([{groups}][0-9]{{3}})+{lakhs}|[0-9]*)"
    return f"-?{whole}([{mark}][0-9]+)?([eE][-+]?[0-9]+)?"
