"""Names of columns that name a weekday, in the languages of the Unicode CLDR that are most used."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from typing import Final, get_args

from fluid_build.lexicon import Weekday, fold, languages, words_of

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
    columns = {name: _words(name) for name in names}
    for language in map(_names, languages("monday")):
        found: dict[int, list[str]] = {}
        for column, words in columns.items():
            day = _weekday(words, language)
            if day:
                found.setdefault(day, []).append(column)
        if found.keys() >= _WORKING_DAYS and all(len(of_day) == 1 for of_day in found.values()):
            return {day: of_day[0] for day, of_day in sorted(found.items())}
    return {}


def _weekday(words: list[str], language: Mapping[str, int]) -> int:
    """Return the weekday that the words of a name say in a language; 0 if none or several."""
    candidates = {
        *words,
        *(f"{first}{second}" for first, second in pairwise(words)),
    }
    days = {language[word] for word in candidates if word in language}
    if not days:
        days = {
            day
            for name, day in language.items()
            for word in words
            if len(name) >= _FEWEST_LETTERS and (word.startswith(name) or word.endswith(name))
        }
    return days.pop() if len(days) == 1 else 0


@cache
def _names(language: str) -> Mapping[str, int]:
    """Return the weekdays by their names and abbreviations in a language."""
    days = enumerate(_DAYS, 1)
    return {name: number for number, day in days for name in words_of(day, language)}


def _words(name: str) -> list[str]:
    return _WORD.findall(fold(_NEW_WORD.sub(" ", name)).lower())
