"""What people write around a number: currencies, percent signs, minus signs and parentheses.

``€ 12,50``, ``12,50 EUR``, ``(1,234.00)``, ``12,50-`` and ``7,5 %`` are numbers with something
around them. A column is read without it where every value is such a number, all in one currency,
and all or none of them with a percent sign.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.sources.files.delimited.first_values import first_values
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.text_classes import NULL_WORDS, SPACES

_BLANKS = " \\t\u00a0\u202f"
_BLANK = f"[{_BLANKS}]*"
_LONG_MINUS = "[\u2212\u2013]"
_MINUS = "[-\u2212\u2013]"
_SIGNS = "R\\$|[$€£¥₹₽₺₩₪₫₴₦฿]|z\u0142|K\u010d|kr[.]?|Fr[.]|Rs[.]?"
# The codes of the currencies most traded; three capital letters may be anything else.
_CODES = (
    "AED AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HRK HUF IDR ILS INR ISK JPY KRW"
    " MXN MYR NOK NZD PHP PLN RON RSD RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR"
)
_CURRENCY = f"(?:{_SIGNS}|{_CODES.replace(' ', '|')})"
_ABBREVIATED = "(kr|Fr|Rs)[.]"
"""Currencies with a point behind them, which is none of their numbers: Rs.500 are five hundred."""
_CORE = f"(?:[0-9.,](?:[0-9.,{SPACES}]*[0-9])?)"
_PLUS_OR_MINUS = f"(?:[+]|{_MINUS})?"
_SHAPES = (
    f"{_MINUS}?{_BLANK}{_CORE}{_BLANK}{_MINUS}?",
    # Whole numbers with a plus are as likely the codes of countries.
    "[+][0-9]{1,3}(?:[.,][0-9]+)+",
    f"{_PLUS_OR_MINUS}{_BLANK}{_CURRENCY}{_BLANK}{_PLUS_OR_MINUS}{_BLANK}{_CORE}{_MINUS}?",
    f"{_PLUS_OR_MINUS}{_BLANK}{_CORE}{_MINUS}?{_BLANK}(?:{_CURRENCY}|%){_BLANK}{_MINUS}?",
)
_BRACKETED = (
    f"{_CURRENCY}?{_BLANK}[(]{_BLANK}{_CURRENCY}?{_BLANK}{_CORE}{_BLANK}{_CURRENCY}?{_BLANK}[)]"
    f"{_BLANK}{_CURRENCY}?"
)
_NUMBER = f"{_BLANK}(?:{'|'.join((*_SHAPES, _BRACKETED))}){_BLANK}"
_NUMBER_PATTERN = re.compile(_NUMBER)
_NEGATIVE = f"^[^0-9.,]*(?:{_MINUS}|[(])|{_MINUS}[^0-9]*$"
_MINUS_AFTER = f"[0-9]{_BLANK}(?:{_CURRENCY}|%)?{_BLANK}{_MINUS}{_BLANK}$"
_LONGEST = 100
"""Characters of the longest number with affixes that is looked for: a price takes thirty. Python
takes the square of a value's length where blanks could belong to several parts of the pattern."""
_PER_QUERY = 20


@dataclass(frozen=True, slots=True)
class Affixes:
    """What surrounds the numbers of a column: a currency, or percent signs, or only blanks.

    ``minus_after`` says that negative numbers have their sign behind them, ``in_brackets`` that
    some are in parentheses, and ``long_minus`` that some have another sign than a hyphen.
    """

    currency: str = ""
    percent: bool = False
    minus_after: bool = False
    in_brackets: bool = False
    long_minus: bool = False

    @property
    def note(self) -> str:
        """A sentence on what was left out of the values; empty where that says nothing."""
        notes = []
        if self.currency:
            notes.append(f"The currency ({self.currency}) was left out of the numbers.")
        if self.percent:
            notes.append("The numbers are percentages; 7 % is read as 7.")
        if self.minus_after:
            notes.append("Numbers with a minus after them are negative: 7- is read as -7.")
        if self.in_brackets:
            notes.append("Numbers in parentheses are negative: (7) is read as -7.")
        if self.long_minus:
            notes.append("A minus that is no hyphen was read as one: \u22127 is -7.")
        return " ".join(notes)


def bare_number(column: str) -> str:
    """Return SQL for the number in a text, with a minus before it if it's negative.

    Text that isn't a number with affixes stays as it is.
    """
    pointless = _without_points_of_currencies(column)
    core = f"regexp_extract({pointless}, {literal(_CORE)})"
    sign = f"CASE WHEN regexp_matches({pointless}, {literal(_NEGATIVE)}) THEN '-' ELSE '' END"
    fits = f"regexp_full_match({column}, {literal(_NUMBER)})"
    return f"(CASE WHEN {fits} THEN {sign} || {core} ELSE {column} END)"


def _without_points_of_currencies(text: str) -> str:
    return f"regexp_replace({text}, {literal(_ABBREVIATED)}, '\\1')"


def find_affixes(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> dict[str, Affixes]:
    """Return the columns of text that hold only numbers with affixes, each with these."""
    likely = [
        name
        for name, values in first_values(connection, relation, columns)
        if all(map(is_number, values))
    ]
    return dict(_with_affixes(connection, relation, likely))


def is_number(value: str) -> bool:
    """Return whether a text is a number with affixes, and not too long for one."""
    inner = value.strip(_BLANKS)
    return len(inner) <= _LONGEST and _NUMBER_PATTERN.fullmatch(inner) is not None


def _with_affixes(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> Iterator[tuple[str, Affixes]]:
    for first in range(0, len(columns), _PER_QUERY):
        some = columns[first : first + _PER_QUERY]
        figures = ", ".join(_figures(quote(name)) for name in some)
        row = connection.execute(f"SELECT {figures} FROM {relation}").fetchone() or ()
        for name, cells in zip(some, zip(*[iter(row)] * 8, strict=True), strict=True):
            all_fit, currencies, percents, is_plain, after, before, brackets, long = cells
            one_way = not (after and before)
            is_uniform = len(currencies) <= 1 and percents in (True, False) and one_way
            if all_fit and is_plain and is_uniform:
                currency = currencies[0] if currencies else ""
                yield name, Affixes(currency, percents, after, brackets, long)


def _figures(column: str) -> str:
    """Return SQL: whether all values fit, their currencies, whether all or none are percentages
    (null where only some are), whether some value isn't in parentheses, and whether some have a
    minus after the number, some a sign of a negative number before it, some parentheses, and some a
    minus that is no hyphen.
    """
    words = ", ".join(literal(word) for word in NULL_WORDS)
    value = f"(CASE WHEN {column} NOT IN ({words}) THEN {column} END)"
    percent = f"contains({value}, '%')"
    currency = f"nullif(regexp_extract({value}, {literal(_CURRENCY)}), '')"
    after = f"regexp_matches({value}, {literal(_MINUS_AFTER)})"
    before = (
        f"regexp_matches({_without_points_of_currencies(value)},"
        f" {literal(f'^[^0-9.,]*(?:{_MINUS}|[(])')})"
    )
    return (
        f"coalesce(bool_and(regexp_full_match({value}, {literal(_NUMBER)})), false),"
        f" coalesce(list(DISTINCT {currency}) FILTER ({currency} IS NOT NULL), []),"
        f" CASE WHEN bool_and({percent}) THEN true WHEN NOT bool_or({percent}) THEN false END,"
        f" coalesce(bool_or(NOT contains({value}, '(')), false),"
        f" coalesce(bool_or({after}), false), coalesce(bool_or({before}), false),"
        f" coalesce(bool_or(contains({value}, '(')), false),"
        f" coalesce(bool_or(regexp_matches({value}, {literal(_LONG_MINUS)})), false)"
    )
