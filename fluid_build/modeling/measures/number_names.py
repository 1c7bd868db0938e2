"""What the name of a numeric column says about its values.

A name of a number has a head: the last word in Germanic languages (``order_count``), the first one
or the one before a preposition in Romance and Slavic ones (``numero_de_orden``). The head says
whether the number identifies, classifies or places something, and is no measure then, or what it
measures. The most restrictive word wins: a mean of prices is a mean, a price of stock is a price.

- *Counts* (``order_count``, ``num_pages``, a plural such as ``goals``), *quantities*, *amounts of
  money*, *durations* and *extents* (distance, weight) add up.
- *Prices* are for one unit, and don't. Those for all units (``total_price``) are amounts; those at
  which something was sold (``sale_price``) are where each row is a single piece.
- *Ratios*, *intensities* (temperature, score, age) and *extremes* (min, max, avg) don't add up.
- *Levels* (balance, stock, population) and *running totals* (year to date) add up across
  everything except time.
- *Readings* (``value``, ``result``) may be of different units, and don't add up.
- A name that says none of this is *unknown*, and the values decide.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from fluid_build.modeling.measures.words import (
    ADDABLE,
    ALL_UNITS,
    BEGINNINGS,
    BEHIND_PLURALS,
    BODIES,
    CLOCKS,
    CODES,
    COUNTED,
    COUNTS,
    CUMULATIVE,
    DURATIONS,
    EXTENTS,
    EXTREMES,
    FLOWS,
    GLUED,
    INTENSITIES,
    KNOWN,
    LEADING_CODES,
    LEADING_COUNTS,
    LEVEL_WORDS,
    LEVELS,
    MONEY,
    ONE_UNIT,
    PAY_LEVELS,
    POSITIONS,
    PRICES,
    QUALIFIERS,
    RATIOS,
    READINGS,
    SALES,
    SHARES_OF_MONEY,
    SHORT_GLUED,
)
from fluid_build.profiling.names import Words, has_key_word, singular, words
from fluid_build.profiling.vocabulary import COMMON_WORDS, PLAIN_WORDS, PREPOSITIONS

Meaning = Literal[
    "code", "count", "addable", "price", "sale_price", "ratio", "intensity", "reading", "level",
    "pay", "cumulative", "extreme", "share_of_money", "unknown",
]  # fmt: skip
_SHORTEST_HEAD = 2
"""Letters that must precede a glued word, so that ``rate`` in ``prate`` isn't one."""
_CERTAIN_BEGINNING = 5
"""Letters of a qualifier that is no beginning of another word; ``min`` is one of ``mineral``."""
_SHORTEST_PLURAL = 4
"""Letters of a plural; shorter words in ``s`` are mostly abbreviations (``pos``, ``gs``)."""
_KEY_MARKS = frozenset("fk pk sk id".split())
"""Marks of keys, which are codes whatever follows."""
_CLOCK_UNITS = frozenset("time hr hour min minute".split())
_COORDINATES = frozenset("lat lon lng latitude longitude geogr gps".split())
_CERTAIN_CODES = frozenset("code cod codigo codice kod nro rang rank is has".split())
"""First words of codes and flags, whatever follows: the code of a sale."""
_MEASURED = ADDABLE | PRICES | PAY_LEVELS | LEVELS | READINGS | RATIOS | INTENSITIES
"""Words behind a period or the like that are measured: ``month_sales``."""
_SPANS = frozenset("last this prev previous prior current next to".split())
"""Words between an amount and the period that it's of: ``sales_last_year``."""
_NUMBER_OR_COUNT = frozenset({"num", "numero"})
"""First words that count in some languages, and number in all."""
_PERIODS = frozenset("day week month quarter year hour visit q w d m y".split())
"""Words that say with a number behind them when something was measured: ``day7_score``."""


@dataclass(frozen=True, slots=True)
class NumberName:
    """What a name says about a number, and the word that says it."""

    meaning: Meaning
    word: str = ""


@lru_cache(maxsize=65_536)
def read_number_name(name: str) -> NumberName:
    """Return what a column's name says about its numbers."""
    parts = name_words(name)
    if not parts:
        return NumberName("unknown")
    return _counted(parts) or _code(parts) or _quantity(parts)


def name_words(name: str) -> Words:
    """Return the words that columns of one meaning share: without numbers and periods."""
    return _without_numbering(split_words(name))


@lru_cache(maxsize=65_536)
def split_words(name: str) -> Words:
    """Return the words of a name, with those split that are written together."""
    return tuple(part for word in words(name) for part in _split(word))


def is_plural(word: str) -> bool:
    """Return whether a word is a plural in ``s``, as in English and most Romance languages."""
    return len(word) >= _SHORTEST_PLURAL and singular(word) != word


def _split(word: str) -> Words:
    """Return the words that one is glued from: standard and cost of ``standardcost``."""
    if word in KNOWN | FLOWS | PLAIN_WORDS or word.isdigit():
        return (word,)
    share = word.removesuffix("per")
    if share != word and share in SHARES_OF_MONEY:
        return (share, "per")
    # The longest ending counts: a percentage is no age.
    for ending in GLUED:
        head = word.removesuffix(ending)
        if head != word and len(head) >= _SHORTEST_HEAD and not _is_participle(head, ending):
            return (*_split_beginning(head), ending)
    for ending in SHORT_GLUED:
        head = word.removesuffix(ending)
        if head != word and (is_plural(head) or head in KNOWN | COMMON_WORDS):
            return (head, ending)
    return _split_beginning(word)


def _is_participle(head: str, ending: str) -> bool:
    """Return whether a word in "rate" is an Italian or English participle: lavorate, separate."""
    return ending == "rate" and head[-1] in "aeiou" and head not in KNOWN | COMMON_WORDS


def _split_beginning(head: str) -> Words:
    """Return what a head begins with, if that changes what is measured: min, standard, last."""
    if head in KNOWN:
        return (head,)
    for beginning in (*QUALIFIERS, *BEGINNINGS):
        rest = head.removeprefix(beginning)
        is_certain = len(beginning) >= _CERTAIN_BEGINNING or beginning in BEGINNINGS
        if rest != head and rest == "s" and is_certain:
            return (beginning,)
        if rest != head and (rest in KNOWN | COMMON_WORDS or (is_certain and len(rest) > 1)):
            return (beginning, *_split(rest))
    return (head,)


def _without_numbering(parts: Words) -> Words:
    """Return a name without the numbers that tell columns of one meaning apart, and periods."""
    while len(parts) > 2 and parts[0] in _PERIODS and parts[1].isdigit():
        parts = parts[2:]
    without_numbers = tuple(part for part in parts if not part.isdigit()) or parts
    if len(without_numbers) < 2:
        return without_numbers
    *first, last = without_numbers
    # A single letter at the end says the type or which of several columns: amount_n, seats_b.
    return tuple(first) if len(last) == 1 and last not in POSITIONS else without_numbers


def _counted(parts: Words) -> NumberName | None:
    """Return the count that a name says; None where it doesn't count."""
    first, last = parts[0], parts[-1]
    if set(parts) & EXTREMES:
        return None
    if last in COUNTS:
        return _count_of(last, parts[:-1])
    rest = parts[1:]
    if not rest:
        return None
    if first in COUNTS:
        return _count_of(first, rest)
    if first in LEADING_COUNTS and last not in CODES:
        counted = [part for part in rest if is_plural(part) or part in COUNTED]
        if counted or (first == "number" and rest[0] == "of"):
            return _count_of((counted or rest)[-1], rest)
        # Without an s, a plural can't be recognised: numero_curve. The values decide.
        is_noun = first in _NUMBER_OR_COUNT and rest[0] not in PREPOSITIONS
        if is_noun and last not in KNOWN:
            return NumberName("unknown")
    return None


def _count_of(word: str, counted: Words) -> NumberName:
    """Return a count, or a level where what is counted is there at a moment: employees."""
    level = next((part for part in counted if {part, f"{part}s"} & LEVELS), "")
    if level and not set(counted) & FLOWS:
        return NumberName("level", level)
    return NumberName("count", word)


def _code(parts: Words) -> NumberName | None:
    """Return the code that a name says; None where it may be a quantity."""
    first, last = parts[0], parts[-1]
    before, present = set(parts[:-1]), set(parts)
    if "id" in parts or (first in _KEY_MARKS and len(parts) > 1):
        return NumberName("code", first if first in _KEY_MARKS else "id")
    if (before & ADDABLE and before & (_SPANS | BEHIND_PLURALS)) or "per" in before:
        return None
    if first in _CERTAIN_CODES and len(parts) > 1:
        return NumberName("code", first)
    if last in LEVEL_WORDS:
        return None
    if last in CODES | POSITIONS:
        return NumberName("code", last)
    if last in _CLOCK_UNITS and before & CLOCKS:
        return NumberName("code", last)
    if present & _COORDINATES:
        return NumberName("code", "position")
    if first in LEADING_CODES and not present & _MEASURED:
        return NumberName("code", first)
    if len(parts) > 1 and parts[1] in PREPOSITIONS and first in CODES:
        return NumberName("code", first)
    if last not in KNOWN and has_key_word(parts) and first not in COUNTS | LEADING_COUNTS:
        return NumberName("code", last)
    return None


def _quantity(parts: Words) -> NumberName:
    """Return what a name measures."""
    present = set(parts)
    last = parts[-1]

    def word(candidates: frozenset[str]) -> str:
        return next(part for part in reversed(parts) if part in candidates)

    if present & EXTREMES and not (last == "min" and present & DURATIONS):
        return NumberName("extreme", word(EXTREMES))
    if present & RATIOS:
        return NumberName("ratio", word(RATIOS))
    if last in SHARES_OF_MONEY:
        meaning: Meaning = "addable" if present & ALL_UNITS else "share_of_money"
        return NumberName(meaning, last)
    if present & CUMULATIVE:
        return NumberName("cumulative", word(CUMULATIVE))
    if present & PRICES:
        return _price(parts, word(PRICES))
    if present & SHARES_OF_MONEY:
        meaning = "addable" if present & (ALL_UNITS | MONEY) else "share_of_money"
        return NumberName(meaning, word(SHARES_OF_MONEY))
    if present & BODIES and present & EXTENTS:
        return NumberName("intensity", word(EXTENTS))
    if present & INTENSITIES and last not in MONEY:
        return NumberName("intensity", word(INTENSITIES))
    if present & ONE_UNIT and present & (MONEY | READINGS) and not present & (ALL_UNITS | CODES):
        return NumberName("price", word(ONE_UNIT))
    if present & LEVELS and not (present & FLOWS and _is_counted_level(word(LEVELS))):
        return NumberName("level", word(LEVELS))
    if {"on", "order"} <= present:
        return NumberName("level", "order")
    if present & PAY_LEVELS:
        return NumberName("pay", word(PAY_LEVELS))
    if present & ADDABLE:
        return NumberName("addable", word(ADDABLE))
    if present & READINGS:
        meaning = "addable" if present & ALL_UNITS else "reading"
        return NumberName(meaning, word(READINGS))
    if last in LEVEL_WORDS:
        return NumberName("intensity", last)
    return _plural(parts) or NumberName("unknown")


def _is_counted_level(word: str) -> bool:
    """Return whether new, gained and lost ones of a level are counted: members, not balances."""
    return is_plural(word) or word in {"population", "membership", "headcount"}


def _plural(parts: Words) -> NumberName | None:
    """Return the count that a plural says: the last word, or before words that say which."""
    for position in range(len(parts) - 1, -1, -1):
        if is_plural(parts[position]):
            behind = parts[position + 1 : position + 2]
            says_which = not behind or behind[0] in BEHIND_PLURALS or behind[0].endswith("ed")
            return NumberName("count", parts[position]) if says_which else None
    return None


def _price(parts: Words, word: str) -> NumberName:
    """Return an amount for a price of all units, else a price."""
    present = set(parts)
    if present & ALL_UNITS:
        return NumberName("addable", word)
    return NumberName("sale_price" if present & SALES - ONE_UNIT else "price", word)
