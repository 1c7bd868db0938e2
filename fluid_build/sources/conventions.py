"""Which of two conventions a file's numbers and dates follow: a point or a comma before the
decimals, the day or the month first.

The rule. A value settles a convention where only one reading makes a number or a date of it:

- 46,88 and 1.234,56 and 1.234.567 settle a decimal comma; 12.5, 0.125, 1234.567 (no thousands are
  written so), 1,234.56 and 1,234,567 a decimal point; 25/12/2024 settles the day first.
- 654.159 and 654,159 (one to three digits, no leading zero, a mark, three digits) and 01/02/2024
  fit both conventions and settle nothing; nor do 12, -0 and 1e5, which have no mark.

A column follows its own values where they settle it, and is text where they contradict each other.
A column whose values all fit both conventions follows the user's answer; else the other columns of
its file, where these all agree, for one program wrote them all; else it stays text, and a note
asks. Digits that are all grouped alike, such as 123.456.789, are codes as often as amounts: they
are numbers only beside another number of the column, or where the file or the user says so. Digits
grouped by spaces or apostrophes fit either convention.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fluid_build.sources.sql import literal
from fluid_build.sources.text_classes import NULL_WORD, SPACES, bits

DecimalMark: TypeAlias = Literal[".", ","]
DateOrder: TypeAlias = Literal["dmy", "mdy"]

NUMBER_QUESTION = (
    "Read as text: values such as 1.234 could mean 1.234 or 1234, and nothing else in the table"
    ' tells which. Pass --decimal "." or --decimal ",".'
)
DATE_QUESTION = (
    "Read as text: dates such as 01/02/2024 could be in January or in February, and nothing else"
    " in the table tells which. Pass --date-order dmy or --date-order mdy."
)
_CONTRADICTORY_NUMBERS = (
    "Read as text: some values have a comma as the decimal mark, others a point."
)
_CONTRADICTORY_DATES = "Read as text: some dates are only valid day first, others only month first."
_BY_ANOTHER = "based on another column of the table"


@dataclass(frozen=True, slots=True)
class Conventions:
    """The user's answers where a file leaves it open; None where there is none."""

    decimal: DecimalMark | None = None
    date_order: DateOrder | None = None


NO_ANSWERS = Conventions()


@dataclass(frozen=True, slots=True)
class Reading:
    """How the values of a column are read: its type, and the SQL for one value.

    ``spelling`` is the convention that its text follows: a decimal mark, the format of a date, or
    "" where the text is spelled as DuckDB itself would.
    """

    type: str
    classes: int
    template: str
    spelling: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a column: its reading (None for text), and a sentence where one is due.

    ``open`` says that its values fit several readings, so that others or the user must decide.
    """

    reading: Reading | None = None
    note: str = ""
    open: bool = False


_MARKED = {
    ".": bits("fraction", "commas", "commas and point", "spaces and point"),
    ",": bits("comma fraction", "points", "points and comma", "spaces and comma"),
}
"""Classes that settle a decimal mark."""
_EITHER = bits("unmarked", "one point", "one comma", "spaces")
_NUMBERS = {mark: bits("integer") | _EITHER | settling for mark, settling in _MARKED.items()}
_ALL_NUMBERS = _NUMBERS["."] | _NUMBERS[","]
_FRACTIONS = {
    ".": bits("unmarked", "fraction", "one point", "commas and point", "spaces and point"),
    ",": bits("unmarked", "comma fraction", "one comma", "points and comma", "spaces and comma"),
}
_ALL_GROUPED_ALIKE = tuple(bits(name) for name in ("points", "commas", "spaces"))
_UNMARKED = bits("integer", "unmarked")
_PLAIN = _UNMARKED | bits("one point", "fraction")

_ORDERED = {
    mark: {"dmy": bits(f"day first {mark}"), "mdy": bits(f"month first {mark}")} for mark in "/-"
}
"""Classes that settle the order of day and month, by what parts a date."""
_EITHER_FIRST = {mark: bits(f"either first {mark}") for mark in _ORDERED}
_DATES = {mark: _EITHER_FIRST[mark] | sum(some.values()) for mark, some in _ORDERED.items()}
DATE_FORMATS = {"dmy": ("%d/%m/%Y", "%d-%m-%Y"), "mdy": ("%m/%d/%Y", "%m-%d-%Y")}
"""The spellings of dates in which day and month may be taken for each other, by their order."""
_SPOKEN = {"dmy": "day", "mdy": "month", ".": "point", ",": "comma"}


def _cast(type_: str) -> str:
    return f"CAST({{c}} AS {type_})"


def _dated(mark: str, order: str) -> Reading:
    format_ = next(format_ for format_ in DATE_FORMATS[order] if mark in format_)
    template = f"CAST(strptime({{c}}, {literal(format_)}) AS DATE)"
    return Reading("DATE", _EITHER_FIRST[mark] | _ORDERED[mark][order], template, format_)


_OTHERS = (
    Reading("DATE", bits("date"), _cast("DATE")),
    Reading("TIMESTAMP", bits("date", "timestamp"), _cast("TIMESTAMP")),
    Reading("TIMESTAMP WITH TIME ZONE", bits("zoned"), _cast("TIMESTAMPTZ")),
    Reading("TIME", bits("time"), _cast("TIME")),
    Reading("BOOLEAN", bits("boolean"), _cast("BOOLEAN")),
    Reading("DATE", bits("dotted"), "CAST(strptime({c}, '%d.%m.%Y') AS DATE)", "%d.%m.%Y"),
)


def decide_alone(classes: int) -> Decision:
    """Return what the values of one column say by themselves, by the sum of their classes' bits."""
    values = classes & ~NULL_WORD
    if not values:
        return Decision()
    if not values & ~_ALL_NUMBERS:
        return _number_alone(values)
    if mark := _date_mark(values):
        return _date_alone(values, mark)
    return Decision(next((reading for reading in _OTHERS if not values & ~reading.classes), None))


def decide(columns: Sequence[int], answers: Conventions) -> list[Decision]:
    """Decide on all columns of a file, each given as the sum of its values' classes."""
    alone = [decide_alone(classes) for classes in columns]
    settled = [
        classes
        for classes, decision in zip(columns, alone, strict=True)
        if decision.reading is not None
    ]
    orders = {mark: _agreed_convention(some, settled) for mark, some in _ORDERED.items()}
    decimal = _agreed_convention(_MARKED, settled)
    return [
        decision
        if not decision.open
        else _decide_open(classes & ~NULL_WORD, answers, decimal, orders)
        for classes, decision in zip(columns, alone, strict=True)
    ]


def _agreed_convention(settling: Mapping[str, int], columns: Iterable[int]) -> str:
    """Return the only convention that columns settle.

    Empty where none does, or where they differ.
    """
    conventions = {name for classes in columns for name, some in settling.items() if classes & some}
    return conventions.pop() if len(conventions) == 1 else ""


def _number_alone(values: int) -> Decision:
    if values & _MARKED["."] and values & _MARKED[","]:
        return Decision(note=_CONTRADICTORY_NUMBERS)
    if values == bits("spaces"):
        return Decision()
    if values in _ALL_GROUPED_ALIKE:
        return Decision(open=True)
    if not values & ~(_UNMARKED | bits("spaces")):
        return Decision(_number(values, "."))
    for mark, settling in _MARKED.items():
        if values & settling:
            return Decision(_number(values, mark))
    return Decision(open=True)


def _date_mark(values: int) -> str:
    """Return what parts the dates of a column, if these are all its values; else empty."""
    return next((mark for mark, classes in _DATES.items() if not values & ~classes), "")


def _date_alone(values: int, mark: str) -> Decision:
    orders = [order for order, settling in _ORDERED[mark].items() if values & settling]
    if len(orders) == 1:
        return Decision(_dated(mark, orders[0]))
    return Decision(note=_CONTRADICTORY_DATES) if orders else Decision(open=True)


def _decide_open(
    values: int, answers: Conventions, decimal: str, orders: Mapping[str, str]
) -> Decision:
    """Return the decision on a column that is open.

    The user's answer, else what the file agrees on.
    """
    if mark := _date_mark(values):
        chosen = answers.date_order or orders[mark]
        if not chosen:
            return Decision(note=DATE_QUESTION)
        why = "as --date-order says" if answers.date_order else _BY_ANOTHER
        note = f"Dates such as 01/02/2024 are read {_SPOKEN[chosen]} first, {why}."
        return Decision(_dated(mark, chosen), note)
    # 1.234 beside 1,234 is no single convention's writing: only the user can know.
    mixed = values & bits("one point") and values & bits("one comma")
    chosen = answers.decimal or ("" if mixed else decimal)
    if not chosen or values & ~_NUMBERS[chosen]:
        return Decision(note=NUMBER_QUESTION)
    why = "as --decimal says" if answers.decimal else _BY_ANOTHER
    mark = _SPOKEN[chosen]
    note = f"Numbers such as 1.234 or 1,234 are read with a {mark} as the decimal mark, {why}."
    return Decision(_number(values, chosen), note)


def _number(values: int, mark: str) -> Reading:
    """Numbers with a decimal mark; whole where no value has decimals."""
    type_ = "DOUBLE" if values & _FRACTIONS[mark] else "BIGINT"
    if values == bits("integer"):
        return Reading(type_, values, _cast(type_))
    if mark == "." and not values & ~_PLAIN:
        # The test for a fraction takes in the others as well.
        return Reading(type_, bits("integer", "fraction"), _cast(type_), mark)
    groups = SPACES + ("," if mark == "." else ".")
    bare = f"translate({{c}}, {literal(groups)}, '')"
    read = bare if mark == "." else f"replace({bare}, ',', '.')"
    # What a later value can't mean here must not lose its marks and become a number all the same.
    fits = f"regexp_full_match({{c}}, {literal(_written(mark, groups))})"
    return Reading(
        type_, values, f"CAST(CASE WHEN {fits} THEN {read} ELSE {{c}} END AS {type_})", mark
    )


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
    whole = f"([0-9]{{1,3}}([{groups}][0-9]{{3}})+|[0-9]*)"
    return f"-?{whole}([{mark}][0-9]+)?([eE][-+]?[0-9]+)?"
