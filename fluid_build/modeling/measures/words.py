"""The word classes that names of numeric columns are read by, from ``quantity_words.toml``."""

import tomllib
from importlib.resources import files

_DATA: dict[str, dict[str, str]] = tomllib.loads(
    (files(__package__) / "quantity_words.toml").read_text(encoding="utf-8")
)


def _words(word_class: str) -> frozenset[str]:
    """Return the words of a class in all languages."""
    return frozenset(word for text in _DATA[word_class].values() for word in text.split())


COUNTS = _words("count")
LEADING_COUNTS = _words("leading_count")
COUNTED = _words("counted")
QUANTITIES = _words("quantity")
MONEY = _words("money")
DURATIONS = _words("duration")
EXTENTS = _words("extent")
BODIES = _words("body")
PRICES = _words("price")
ONE_UNIT = _words("one_unit")
ALL_UNITS = _words("all_units")
SALES = _words("sale")
RATIOS = _words("ratio")
INTENSITIES = _words("intensity")
READINGS = _words("reading")
LEVELS = _words("level")
PAY_LEVELS = _words("pay_level")
CUMULATIVE = _words("cumulative")
EXTREMES = _words("extreme")
SHARES_OF_MONEY = _words("share_of_money")
CODES = _words("code")
LEADING_CODES = _words("leading_code")
IDENTIFYING = _words("identifying")
POSITIONS = _words("position")
CLOCKS = _words("clock")
LEVEL_WORDS = _words("level_word")
FLOWS = _words("flow")
MOVEMENTS = _words("movement")
LAST_MOVEMENTS = _words("last_movement")
STATE_TABLES = _words("state_table")
MOVEMENT_TABLES = _words("movement_table")
SALE_TABLES = _words("sale_table")
MATCH_SIDES = _words("match_side")
MATCH_SCORES = _words("match_score")
STANDING_TABLES = _words("standing_table")
ADDABLE = COUNTED | QUANTITIES | MONEY | DURATIONS | EXTENTS | COUNTS
"""Words for what adds up."""
KNOWN = (
    ADDABLE | PRICES | RATIOS | INTENSITIES | READINGS | LEVELS | PAY_LEVELS | CUMULATIVE
    | EXTREMES | SHARES_OF_MONEY | CODES | POSITIONS | LEVEL_WORDS
)  # fmt: skip
"""All words that aren't split."""
_SHORTEST_GLUED = 5
"""Letters of a word that is split off wherever a name ends in it; shorter ones are listed."""
_LONG_GLUED = frozenset(
    word
    for word in ADDABLE | PRICES | RATIOS | LEVELS | PAY_LEVELS | SHARES_OF_MONEY | INTENSITIES
    if len(word) >= _SHORTEST_GLUED
)


def _longest_first(glued: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(glued, key=lambda word: (-len(word), word)))


GLUED = _longest_first(_words("glued") | _LONG_GLUED)
"""Endings that are written together with the word before."""
SHORT_GLUED = _longest_first(_words("short_glued"))
"""Endings that are split off only from a word that is known or a plural."""
BEGINNINGS = _longest_first(_words("beginning"))
"""Beginnings that are split off any word."""
QUALIFIERS = _longest_first(
    frozenset(word for word in EXTREMES | ONE_UNIT | ALL_UNITS | CUMULATIVE if len(word) > 2)
)
"""Beginnings that change what is measured."""
BEHIND_PLURALS = _words("behind_plural") | FLOWS
