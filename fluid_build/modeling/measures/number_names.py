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

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from fluid_build.lexicon import leading, terms, trailing
from fluid_build.modeling.measures.name_words import is_plural, name_words
from fluid_build.profiling.names.words import (
    Words,
    has_key_word,
    strip_key_words,
    words,
)

Meaning = Literal[
    "code", "count", "addable", "price", "sale_price", "ratio", "intensity", "reading", "level",
    "pay", "cumulative", "extreme", "share_of_money", "unknown",
]  # fmt: skip
_NUMBER_OR_COUNT = frozenset({"num", "numero"})
"""First words that count in some languages, and number in all."""
_MEASURED_IN_UNITS = terms("extent", "intensity") | {"volume", "vol"}
"""Words before units that make them the code of a unit of measure: ``weight_units``."""
_WITHOUT_TAX = frozenset({"ht"})
"""French for without tax, of amounts and prices alone; otherwise it's short for a height."""
_TAXED = terms("amount", "share_of_money") - {"actual"}
_STANDARD = frozenset({"std"})
"""Standard of what something costs, and standard deviation of anything else."""


@dataclass(frozen=True, slots=True)
class NumberName:
    """What a name says about a number, and the word that says it.

    ``movement`` is the word that says what moved during a period: in, sold, returned.
    """

    meaning: Meaning
    word: str = ""
    movement: str = ""


@lru_cache(maxsize=65_536)
def read_number_name(name: str) -> NumberName:
    """Return what a column's name says about its numbers."""
    parts = name_words(name)
    if not parts:
        return NumberName("unknown")
    number = _counted(parts) or _code(parts) or _quantity(parts)
    return replace(number, movement=_movement(parts))


def _counted(parts: Words) -> NumberName | None:
    """Return the count that a name says; None where it doesn't count."""
    first, last = parts[0], parts[-1]
    if set(parts) & terms("extreme"):
        return None
    if last in terms("count"):
        return _count_of(last, parts[:-1])
    rest = parts[1:]
    if not rest:
        return None
    if first in terms("count"):
        return _count_of(first, rest)
    if first in leading("count") and last not in terms("coded"):
        counted = [part for part in rest if is_plural(part) or part in terms("counted")]
        if counted or (first == "number" and rest[0] == "of"):
            return _count_of((counted or rest)[-1], rest)
        # Without an s, a plural can't be recognised: numero_curve. The values decide.
        is_noun = first in _NUMBER_OR_COUNT and rest[0] not in terms("preposition")
        if is_noun and last not in terms("known_number"):
            return NumberName("unknown")
    return None


def _count_of(word: str, counted: Words) -> NumberName:
    """Return a count, or a level where what is counted is there at a moment: employees."""
    level = next((part for part in counted if {part, f"{part}s"} & terms("level")), "")
    if level and not set(counted) & terms("flow"):
        return NumberName("level", level)
    return NumberName("count", word)


def _code(parts: Words) -> NumberName | None:
    """Return the code that a name says; None where it may be a quantity."""
    first, last = parts[0], parts[-1]
    before, present = set(parts[:-1]), set(parts)
    if "id" in parts or (first in terms("key_mark") and len(parts) > 1):
        return NumberName("code", first if first in terms("key_mark") else "id")
    if _is_of_period(parts) or "per" in before:
        return None
    if first in terms("certain_code") and len(parts) > 1:
        return NumberName("code", first)
    if last in terms("level_word"):
        return None
    if last in terms("coded", "placing"):
        return NumberName("code", last)
    if last in terms("clock_unit") and before & terms("clock"):
        return NumberName("code", last)
    if last in terms("unit") and before and before <= _MEASURED_IN_UNITS:
        return NumberName("code", last)
    if present & terms("place_on_earth"):
        return NumberName("code", "position")
    if first in leading("coded") and not present & terms("measured"):
        return NumberName("code", first)
    if len(parts) > 1 and parts[1] in terms("preposition") and first in terms("coded"):
        return NumberName("code", first)
    says_code = has_key_word(parts) or "cd" in before
    if (
        last not in terms("known_number")
        and says_code
        and first not in terms("count") | leading("count")
    ):
        return NumberName("code", last)
    return None


def _is_of_period(parts: Words) -> bool:
    """Return whether an amount of a period ends like a code: sales of last year, units on order."""
    amount = next((i for i, part in enumerate(parts) if part in terms("addable")), len(parts))
    behind = parts[amount + 1 : -1]
    return bool(terms("span") & set(behind)) or (behind[-1:] == ("on",) and parts[-1] == "order")


def _quantity(parts: Words) -> NumberName:
    """Return what a name measures; the most restrictive word wins."""
    return (
        _comparison(parts)
        or _match_score(parts)
        or _money(parts)
        or _scale(parts)
        or _level(parts)
        or _amount(parts)
        or NumberName("unknown")
    )


def _comparison(parts: Words) -> NumberName | None:
    """Return the bound, mean or ratio that a name says."""
    are_minutes = parts[-1] == "min" and terms("duration") & set(parts)
    extremes = (
        terms("extreme") - _STANDARD
        if set(parts) & (terms("amount", "price"))
        else terms("extreme")
    )
    if (word := _last_of(extremes, parts)) and not are_minutes:
        return NumberName("extreme", word)
    if word := _last_of(terms("ratio"), parts):
        return NumberName("ratio", word)
    return None


def _match_score(parts: Words) -> NumberName | None:
    """Return the points of one side of a match; a score of anything else is on a scale."""
    is_of_side = len(parts) == 2 and terms("match_side") & set(parts)
    word = _last_of(terms("match_score"), parts)
    return NumberName("addable", word) if is_of_side and word else None


def _money(parts: Words) -> NumberName | None:
    """Return the price, share of money or running total that a name says."""
    present = set(parts)
    of_all = bool(present & terms("all_units"))
    if parts[-1] in terms("share_of_money"):
        return NumberName("addable" if of_all else "share_of_money", parts[-1])
    if word := _last_of(terms("cumulative"), parts):
        return NumberName("cumulative", word)
    if word := _last_of(terms("price"), parts):
        is_paid = present & terms("sold") - terms("one_unit")
        return NumberName("addable" if of_all else "sale_price" if is_paid else "price", word)
    if word := _last_of(terms("share_of_money"), parts):
        return NumberName(
            "addable" if of_all or present & terms("amount") else "share_of_money", word
        )
    word = _last_of(terms("one_unit"), parts)
    if (
        word
        and present & (terms("amount", "reading"))
        and not of_all
        and not present & terms("coded")
    ):
        return NumberName("price", word)
    return None


def _scale(parts: Words) -> NumberName | None:
    """Return the scale that a name says something is measured on."""
    if set(parts) & terms("body") and (word := _last_of(terms("extent"), parts)):
        return NumberName("intensity", word)
    if (word := _last_of(terms("ranking"), parts)) and terms("points") & set(parts):
        return NumberName("intensity", word)
    is_money = parts[-1] in terms("amount") or (parts[-1] in _WITHOUT_TAX and set(parts) & _TAXED)
    if not is_money and (word := _last_of(terms("intensity"), parts)):
        return NumberName("intensity", word)
    return None


def _level(parts: Words) -> NumberName | None:
    """Return the level that a name says, of stock, people or pay."""
    present = set(parts)
    # What a counter shows, in units of what it counts: reading_kwh.
    if "reading" in parts[:-1] and parts[-1] in terms("addable"):
        return NumberName("level", "reading")
    word = _last_of(terms("level"), parts)
    movement = _movement(parts)
    if word and movement and movement not in terms("still_level"):
        return NumberName("addable", movement)
    if word and not (
        present & terms("flow")
        and (is_plural(word) or word in {"population", "membership", "headcount"})
    ):
        return NumberName("level", word)
    if {"on", "order"} <= present:
        return NumberName("level", "order")
    if word := _last_of(terms("pay_level"), parts):
        return NumberName("pay", word)
    return None


def _amount(parts: Words) -> NumberName | None:
    """Return the amount, reading or plural that a name says."""
    if word := _last_of(terms("addable"), parts):
        return NumberName("addable", word)
    if word := _last_of(terms("reading"), parts):
        return NumberName("addable" if set(parts) & terms("all_units") else "reading", word)
    if parts[-1] in terms("level_word"):
        return NumberName("intensity", parts[-1])
    for position in range(len(parts) - 1, -1, -1):
        if is_plural(parts[position]):
            behind = parts[position + 1 : position + 2]
            says_which = (
                not behind
                or behind[0] in terms("behind_plural", "flow")
                or behind[0].endswith("ed")
            )
            return NumberName("count", parts[position]) if says_which else None
    return None


def _last_of(candidates: frozenset[str], parts: Words) -> str:
    """Return the last word of a name that is one of the candidates; "" where none is."""
    return next((part for part in reversed(parts) if part in candidates), "")


def _movement(parts: Words) -> str:
    """Return the word that says what moved during a period; "" where none does."""
    if len(parts) > 1 and parts[-1] in trailing("movement"):
        return parts[-1]
    return _last_of(terms("movement"), parts)


def currency_owner(name: str) -> Words:
    """Return what a column's name says to be in its currency: ``declared`` of ``declared_ccy``.

    () where the name says no currency, or that of the whole row.
    """
    parts = strip_key_words(words(name))
    return parts[:-1] if parts and parts[-1] in terms("currency") else ()


def is_category_name(name: str) -> bool:
    """Return whether a column's name says that its values are codes of a short list."""
    parts = words(name)
    return bool(parts) and (parts[-1] in terms("category_name") or parts[0] in leading("truth"))


def is_quantity_name(name: str) -> bool:
    """Return whether a column's name says that it counts, weighs or prices something."""
    return read_number_name(name).meaning not in {"unknown", "code", "reading", "intensity"}


def holds_names(name: str) -> bool:
    """Return whether a column's name says that its values are names or text, an open domain."""
    parts = words(name)
    return (
        bool(parts) and parts[-1] in terms("open_text") and not terms("calendar_word") & set(parts)
    )
