"""The classes that a text may belong to, as a number, a date or the like, and their SQL.

Each text belongs to one class, the first whose test it passes. A column is judged by the classes
that its values have, as a sum of bits. Further bits say how many decimals its numbers have.
"""

from collections.abc import Collection
from dataclasses import dataclass

from fluid_build.sources.sql import literal
from fluid_build.sources.text_values.exact_numbers import EXACT_DIGITS, MOST_DECIMALS

DUMPED_NULL = "\\N"
_ERRORS = ("#N/A", "#NV", "#DIV/0!", "#REF!", "#VALUE!", "#WERT!", "#NAME?", "#NUM!", "#NULL!")
"""What spreadsheets show where a formula has no result. A dash isn't among the words: it's how
they show a zero."""
NULL_WORDS = (DUMPED_NULL, "NULL", "null", "NA", "N/A", "n/a", "NaN", "nan", *_ERRORS)
"""Words that stand for a missing value where every other value of the column has a type."""

SPACES = " '\u00a0\u202f\u2019"
"""What parts thousands and is never a decimal mark: spaces and apostrophes."""

ONE_POINT = "-?[1-9][0-9]{0,2}[.][0-9]{3}"
"""A number such as 654.159, which is a thousand times more where the point parts thousands."""

_ONE_COMMA = "-?[1-9][0-9]{0,2},[0-9]{3}"
_EXPONENT = "([eE][-+]?[0-9]{1,2})?"
"""With three digits, a DOUBLE may be zero or infinite."""
_SIGNED_EXPONENT = "([eE][-+][0-9]{1,2})?"
_UNMARKED = f"-?(0|[1-9][0-9]*){_SIGNED_EXPONENT}"
"""Without a sign, an exponent after whole digits is a letter of a code: 61E8."""
_FRACTION = f"-?(0|[1-9][0-9]*)?[.][0-9]*{_EXPONENT}|{_UNMARKED}"
_COMMA_FRACTION = f"-?(0|[1-9][0-9]*)?,[0-9]+{_EXPONENT}"
_ISO_DATE = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)-[0-9]{2}-[0-9]{2}"
"""A date of any year but 0, which DuckDB takes for the first one before Christ."""
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
"""A time of a day: DuckDB reads 24:00 as the day after."""
_MOMENT = f"{_ISO_DATE}[ T]{_CLOCK}"
_UTC = " *(Z|[+-]00(:?00)?)"
_OFFSET = " *[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?"


@dataclass(frozen=True, slots=True)
class Class:
    """A class of values: its bit, the test that a text belongs to it, and what to call it."""

    bit: int
    test: str
    phrase: str


def _like(pattern: str) -> str:
    return f"regexp_full_match({{c}}, {literal(pattern)})"


def _exact(pattern: str) -> str:
    """Return the test for a number of no more digits than a DOUBLE keeps."""
    digits = "length(regexp_replace({c}, '[eE].*|[^0-9]', '', 'g'))"
    # What is that short has no more digits, and counting them costs more than all else.
    few = f"CASE WHEN strlen({{c}}) <= {EXACT_DIGITS} THEN TRUE ELSE {digits} <= {EXACT_DIGITS} END"
    return f"{_like(pattern)} AND {few}"


def _grouped(marks: str, least: int, ending: str = "") -> str:
    """Digits in groups of three: at least that many marks, and few enough for a BIGINT."""
    return f"-?[1-9][0-9]{{0,2}}([{marks}][0-9]{{3}}){{{least},5}}{ending}"


_LAKHS = "-?[1-9][0-9]?(,[0-9]{2}){1,5},[0-9]{3}"
"""Digits as they're grouped in India: 12,34,567."""


def _date(format_: str, mark: str, *, unlike: str = "") -> str:
    """Return the test for a date with a year of four digits: strptime takes 24 for the year 24."""
    pattern = f"[0-9]{{1,2}}[{mark}][0-9]{{1,2}}[{mark}][0-9]{{4}}"
    other = f" AND try_strptime({{c}}, {literal(unlike)}) IS NULL" if unlike else ""
    return f"{_like(pattern)} AND try_strptime({{c}}, {literal(format_)}) IS NOT NULL{other}"


def _short_date(format_: str, mark: str) -> str:
    """Return the test for a date with a year of two digits; a version such as 1.2.10 isn't one."""
    pattern = f"[0-9]{{2}}[{mark}][0-9]{{2}}[{mark}][0-9]{{2}}"
    return f"({_like(pattern)} AND try_strptime({{c}}, {literal(format_)}) IS NOT NULL)"


_TESTS = (
    (
        "long integer",
        f"strlen({{c}}) > {EXACT_DIGITS} AND length(ltrim({{c}}, '-')) > {EXACT_DIGITS}"
        " AND CAST(TRY_CAST({c} AS BIGINT) AS VARCHAR) IS NOT DISTINCT FROM {c}",
        "a whole number",
    ),
    # Only the canonical spelling counts: 007 and +7 are text.
    (
        "integer",
        "CAST(TRY_CAST({c} AS BIGINT) AS VARCHAR) IS NOT DISTINCT FROM {c}",
        "a whole number",
    ),
    ("unmarked", f"{_exact(_UNMARKED)} AND TRY_CAST({{c}} AS DOUBLE) IS NOT NULL", "a number"),
    ("one point", _like(ONE_POINT), "a number"),
    ("fraction", f"{_exact(_FRACTION)} AND TRY_CAST({{c}} AS DOUBLE) IS NOT NULL", "a number"),
    ("date", "CAST(TRY_CAST({c} AS DATE) AS VARCHAR) IS NOT DISTINCT FROM {c}", "a date"),
    (
        "timestamp",
        # The usual spelling comes back as it is, which is cheaper to see than to match.
        "CASE WHEN strlen({c}) = 19 AND CAST(TRY_CAST({c} AS TIMESTAMP) AS VARCHAR) = {c} THEN TRUE"
        f" ELSE {_like(_MOMENT)} AND TRY_CAST({{c}} AS TIMESTAMP) IS NOT NULL END",
        "a date and time",
    ),
    *(
        (
            name,
            f"{_like(_MOMENT + zone)} AND TRY_CAST({{c}} AS TIMESTAMPTZ) IS NOT NULL",
            "a date and time",
        )
        for name, zone in (("utc", _UTC), ("offset", _OFFSET))
    ),
    ("time", f"{_like(_CLOCK)} AND TRY_CAST({{c}} AS TIME) IS NOT NULL", "a time"),
    ("true", "lower({c}) = 'true'", "true or false"),
    ("false", "lower({c}) = 'false'", "true or false"),
    *(
        class_
        for mark, day_first, month_first in (
            ("/", "%d/%m/%Y", "%m/%d/%Y"),
            ("-", "%d-%m-%Y", "%m-%d-%Y"),
        )
        for class_ in (
            (f"day first {mark}", _date(day_first, mark, unlike=month_first), "a date"),
            (f"month first {mark}", _date(month_first, mark, unlike=day_first), "a date"),
            (f"either first {mark}", _date(month_first, mark), "a date"),
        )
    ),
    ("dotted", _date("%d.%m.%Y", "."), "a date"),
    ("short dotted", _short_date("%d.%m.%y", "."), "a date"),
    ("short /", f"({_short_date('%d/%m/%y', '/')} OR {_short_date('%m/%d/%y', '/')})", "a date"),
    ("one comma", _like(_ONE_COMMA), "a number"),
    ("comma fraction", _exact(_COMMA_FRACTION), "a number"),
    ("points", _like(_grouped(".", 2)), "a number"),
    ("commas", _like(_grouped(",", 2)), "a number"),
    ("points and comma", _exact(_grouped(".", 1, ",[0-9]+")), "a number"),
    ("commas and point", _exact(_grouped(",", 1, "[.][0-9]+")), "a number"),
    ("lakhs", _like(_LAKHS), "a number"),
    ("lakhs and point", _exact(f"{_LAKHS}[.][0-9]+"), "a number"),
    ("spaces", _like(_grouped(SPACES, 1)), "a number"),
    ("spaces and comma", _exact(_grouped(SPACES, 1, ",[0-9]+")), "a number"),
    ("spaces and point", _exact(_grouped(SPACES, 1, "[.][0-9]+")), "a number"),
)
CLASSES = {name: Class(1 << i, test, phrase) for i, (name, test, phrase) in enumerate(_TESTS)}
NULL_WORD, TEXT = 1 << len(CLASSES), 2 << len(CLASSES)
_VALUES = (1 << len(CLASSES)) - 1 | TEXT


def bits(*names: str) -> int:
    """Return the bits of some classes together."""
    return sum(CLASSES[name].bit for name in names)


def values_of(classes: int) -> int:
    """Return the bits of values alone: without missing ones, and without how they're written."""
    return classes & _VALUES


_MARKED = {".": ("fraction", "one point"), ",": ("comma fraction", "one comma")}
"""Classes of numbers with decimals that could be versions: nothing parts their thousands."""
_COUNTS = {
    mark: 4 << len(CLASSES) + place * (MOST_DECIMALS + 1) for place, mark in enumerate(_MARKED)
}
"""The bit of numbers with one decimal, by their mark. Those of more decimals follow."""
_PADDED = {mark: first << MOST_DECIMALS for mark, first in _COUNTS.items()}
"""The bit of numbers with more decimals than one, the last of which is a zero."""
_AFTER_COUNTS = 4 << len(CLASSES) + len(_MARKED) * (MOST_DECIMALS + 1)
_ROUND = {mark: _AFTER_COUNTS << place for place, mark in enumerate(_MARKED)}
"""The bit of numbers with nothing but zeros after their mark."""
_LOOSE = {mark: _AFTER_COUNTS << len(_MARKED) + place for place, mark in enumerate(_MARKED)}
"""The bit of numbers with an exponent, or without digits on one side of their mark: 1.5e3, .5."""


@dataclass(frozen=True, slots=True)
class Decimals:
    """How the numbers of a column are written: how many decimals they have.

    ``is_padded`` says that some end in a zero which the value wouldn't need, ``has_round`` that
    some have only zeros after the mark, ``has_whole`` that some have no mark, and ``has_loose``
    that some have an exponent, or no digits on one side of the mark.
    """

    counts: tuple[int, ...]
    is_padded: bool
    has_round: bool
    has_whole: bool
    has_loose: bool

    @property
    def are_versions(self) -> bool:
        """Whether zeros tell values apart, as in 1.1 and 1.10."""
        return self.is_padded and len(self.counts) > 1

    @property
    def may_coincide(self) -> bool:
        """Whether two of them may be one number, as 5 and 5.0 are, or .5 and 0.5."""
        return (self.has_round and self.has_whole) or self.has_loose

    @property
    def _every(self) -> int:
        """How many decimals every number has that has any; 0 where they differ, or are but one."""
        is_uniform = len(self.counts) == 1 and self.counts[0] in range(2, MOST_DECIMALS)
        return self.counts[0] if is_uniform else 0

    def test(self, mark: str) -> str:
        """Return the test that a value is written like these, so that zeros tell nothing.

        Values of a column are whole, or have only zeros after the mark, but not the one and the
        other, unless these have both. None has an exponent or lacks digits, unless some of these
        do.
        """
        is_whole = f"NOT contains({{c}}, {literal(mark)})"
        if self._every:
            written = f"({{c}}[-{self._every + 1}] = {literal(mark)} OR {is_whole})"
        else:
            padded = f"regexp_matches({{c}}, {literal(f'[{mark}][0-9]+0([eE]|$)')})"
            written = f"NOT ((suffix({{c}}, '0') OR contains(lower({{c}}), 'e')) AND {padded})"
        if not self.has_loose:
            written += f" AND NOT {_is_loose(mark, '{c}')}"
        if not self.has_whole:
            return f"{written} AND NOT ({is_whole})"
        if not self.has_round:
            return f"{written} AND NOT regexp_matches({{c}}, {literal(f'[{mark}]0*$')})"
        return written

    def usual(self, mark: str) -> str:
        """Return a quick test that most values pass: short, without exponents, written like these.

        What passes it passes ``test`` as well, and that of numbers with a decimal mark.
        """
        every = self._every
        if self.has_round or not self.has_whole:
            decimals = f"[0-9]{{{every}}}" if every else "(?:[0-9]|[0-9]*[1-9])"
        else:
            endings = (f"[0-9]{{{every - 1 - i}}}[1-9]0{{{i}}}" for i in range(every))
            decimals = f"(?:{'|'.join(endings)})" if every else "[0-9]*[1-9]"
        optional = "?" if self.has_whole else ""
        pattern = f"-?(?:0|[1-9][0-9]*)(?:[{mark}]{decimals}){optional}"
        return f"strlen({{c}}) <= {EXACT_DIGITS} AND {_like(pattern)}"


def decimals_of(classes: int, mark: str) -> Decimals:
    """Return how a column's numbers with that decimal mark are written."""
    counts = (
        count for count in range(1, MOST_DECIMALS + 1) if classes & _COUNTS[mark] << (count - 1)
    )
    has_whole = bool(classes & bits("integer", "long integer", "unmarked"))
    return Decimals(
        tuple(counts),
        bool(classes & _PADDED[mark]),
        bool(classes & _ROUND[mark]),
        has_whole,
        bool(classes & _LOOSE[mark]),
    )


def _is_loose(mark: str, column: str) -> str:
    """Return the test for a number with an exponent, or without digits on one side of its mark."""
    at = literal(mark)
    # Plain functions take a fraction of a pattern's time.
    return (
        f"(suffix({column}, {at}) OR prefix(ltrim({column}, '-'), {at})"
        f" OR (contains(lower({column}), 'e') AND contains({column}, {at})))"
    )


def _decimals_sql(mark: str, column: str) -> str:
    """Return the bits that say how a number's decimals are written."""
    decimals = f"length(split_part(split_part(lower({column}), 'e', 1), {literal(mark)}, 2))"
    count = f"least(greatest({decimals}, 1), {MOST_DECIMALS})"
    is_padded = f"regexp_matches({column}, {literal(f'[{mark}][0-9]+0([eE]|$)')})"
    padded = f"CASE WHEN {is_padded} THEN {_PADDED[mark]} ELSE 0 END"
    is_round = f"regexp_matches({column}, {literal(f'[{mark}]0*$')})"
    round_ = f"CASE WHEN {is_round} THEN {_ROUND[mark]} ELSE 0 END"
    loose = f"CASE WHEN {_is_loose(mark, column)} THEN {_LOOSE[mark]} ELSE 0 END"
    return f"(CAST({_COUNTS[mark]} AS BIGINT) << ({count} - 1)) + {padded} + {round_} + {loose}"


_MAYBE = f"[-0-9.,][-+0-9.,:/eETZ{SPACES}]*|[tTfF][a-zA-Z]{{3,4}}"
"""The characters of all classes: numbers, dates and times, or true and false."""


def class_sql(column: str, among: Collection[str] = tuple(CLASSES)) -> str:
    """Return the bit of the class that a value belongs to; ``column`` is SQL.

    What is of none of the classes ``among`` is text.
    """
    written = {
        name: _decimals_sql(mark, column) for mark, names in _MARKED.items() for name in names
    }
    arms = " ".join(
        f"WHEN {filled(class_.test, column)} THEN {class_.bit} + {written.get(name, 0)}"
        for name, class_ in CLASSES.items()
        if name in among
    )
    return _case(column, arms, TEXT)


UNDECIDED = -1
"""What ``common_class_sql`` says of a value where only ``class_sql`` can tell: every bit."""
_COMMON = ("long integer", "integer", "date")
"""What most values are; no value of these fits a class before theirs but one of these."""


def common_class_sql(column: str) -> str:
    """Return the bit of a common class that a value belongs to, or UNDECIDED.

    DuckDB takes a fifth of the time to prepare this that it takes for ``class_sql``.
    """
    arms = " ".join(
        f"WHEN {filled(CLASSES[name].test, column)} THEN {CLASSES[name].bit}" for name in _COMMON
    )
    return _case(column, arms, UNDECIDED)


def _case(column: str, arms: str, otherwise: int) -> str:
    words = ", ".join(literal(word) for word in NULL_WORDS)
    # Most text shows by its characters that it can be nothing else.
    plain = f"WHEN NOT regexp_full_match({column}, {literal(_MAYBE)}) THEN {TEXT}"
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN {column} IN ({words}) THEN {NULL_WORD}"
        f" {plain} {arms} ELSE {otherwise} END"
    )


def filled(template: str, column: str) -> str:
    """Return a template of SQL with the column in the place of ``{c}``."""
    return template.replace("{c}", column)
