"""Word lists in ``values/*.txt``: the words that values consist of.

A file holds words separated by spaces, in sections headed by ``[name]``; a line that starts with
``#`` is a comment.
"""

from functools import cache
from importlib.resources import files
from typing import Final


def _sections(name: str) -> dict[str, tuple[str, ...]]:
    text = (files(__package__) / "values" / name).read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {"": []}
    section = sections[""]
    for line in text.splitlines():
        if line.startswith("["):
            section = sections.setdefault(line[1:-1], [])
        elif not line.startswith("#"):
            section.extend(line.split())
    return {heading: tuple(words) for heading, words in sections.items()}


@cache
def given_names() -> frozenset[str]:
    """Return common given names of some sixty languages, lower case, without accents."""
    return frozenset(_sections("given_names.txt")[""])


@cache
def surnames() -> frozenset[str]:
    """Return common surnames of some sixty languages, lower case, without accents."""
    return frozenset(_sections("surnames.txt")[""])


_VALUES: Final = {
    heading: frozenset(word.replace("_", " ") for word in words)
    for heading, words in _sections("value_words.txt").items()
}
TITLES: Final = _VALUES["titles"]
PARTICLES: Final = _VALUES["particles"]
BUSINESS: Final = _VALUES["business"]
EAST_ASIAN_SURNAMES: Final = _VALUES["han_hangul_surnames"]
COUNTRIES: Final = _VALUES["countries"]
COUNTRY_CODES: Final = _VALUES["country_codes"]
CURRENCIES: Final = _VALUES["currencies"]
LANGUAGES: Final = _VALUES["languages"]
COLORS: Final = _VALUES["colors"]
GENDERS: Final = _VALUES["genders"]
