"""Names of columns that name a weekday, in the languages of the Unicode CLDR that are most used."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

# One line for each language, Monday first: the name, then its abbreviations, without accents.
_NAMES: Final = Path(__file__).with_name("weekday_names.txt").read_text(encoding="utf-8")
_LANGUAGES: Final[tuple[Mapping[str, int], ...]] = tuple(
    {name: day for day, names in enumerate(line.split("|"), 1) for name in names.split()}
    for line in _NAMES.splitlines()
)
_WORKING_DAYS: Final = frozenset(range(1, 6))
_FEWEST_LETTERS = 5
"""Letters of a name that is found inside a longer word, too: ``ismonday``, ``mondayflag``."""
_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_PLAIN = str.maketrans(
    {"ł": "l", "\N{LATIN SMALL LETTER DOTLESS I}": "i", "ø": "o", "æ": "ae", "ß": "ss"}
)


def weekday_columns(names: Iterable[str]) -> dict[int, str]:
    """Return columns by the weekday that each names, 1 for Monday to 7; empty without such.

    One language must name Monday to Friday at least, each weekday in one column.
    """
    columns = {name: _words(name) for name in names}
    for language in _LANGUAGES:
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


def _words(name: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", _NEW_WORD.sub(" ", name).lower().translate(_PLAIN))
    plain = "".join(letter for letter in folded if not unicodedata.combining(letter))
    return _WORD.findall(unicodedata.normalize("NFC", plain))
