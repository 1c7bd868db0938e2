"""Types beyond people's contact data: places, links, codes, numbers of things, amounts, text."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from fluid_build.lexicon import fold
from fluid_build.profiling.names import value_words
from fluid_build.profiling.semantic_types import patterns
from fluid_build.profiling.semantic_types.column_facts import PreparedColumn, SemanticType
from fluid_build.profiling.semantic_types.patterns import share
from fluid_build.sources.text_values.personal_text import is_iban

Concepts = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A type with the concepts that name it, as ``words``, and a test for its values.

    ``named`` is the share of values that must pass if the name says so, ``alone`` the share if it
    doesn't (None: the name has to), and then of at least ``fewest`` values. ``unless`` lists
    concepts that change the name's meaning. ``known`` is a test that one value must pass where the
    name has a word that we don't know: the use of land, not a country. ``what`` describes the
    values that pass. A test that much else passes too (words, short codes) needs more of the values
    than one that little else passes (UUIDs, names of countries).
    """

    name: str
    what: str
    test: patterns.Test
    words: str
    named: float = 0.5
    alone: float | None = None
    fewest: int = 1
    unless: Concepts = frozenset()
    known: patterns.Test | None = None
    pii: bool = False
    concepts: Concepts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "concepts", frozenset(self.words.split()))


_ASPECTS: Final = frozenset({"flag", "measure", "time", "text", "file"})
"""Concepts of a property instead of the thing itself: the time of a language change."""
_CODES: Final = _ASPECTS | {"id", "kind"}
"""The same, and codes for the thing: ``currency_id`` holds no currency."""


def _is_one_of(words: frozenset[str]) -> Callable[[str], bool]:
    return lambda value: fold(value).lower().strip(". ") in words


_LETTERS = re.compile(r"(?=.*[^\W\d_]).{1,80}")


def _is_country_code(value: str) -> bool:
    return value.isupper() and value.lower() in value_words.COUNTRY_CODES


def _is_language_code(value: str) -> bool:
    language = value.replace("_", "-").partition("-")[0]
    return language in value_words.LANGUAGES and _LANGUAGE.fullmatch(value) is not None


_SHORT = re.compile(r"[A-Za-z0-9]{1,3}(?:-[A-Za-z0-9]{1,3})?")
_ISO_COUNTRY = re.compile(r"[A-Za-z]{2,3}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d{2}(?:\.0)?")
_ISBN = re.compile(r"(?:97[89][- ]?)?\d{1,5}[- ]?\d+[- ]?\d+[- ]?[\dX]")
_IBAN_SHAPE = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z\d]){11,30}", re.IGNORECASE | re.ASCII)
_EAN = re.compile(r"\d{8}|\d{12,14}")
_PLATE = re.compile(r"[A-Z0-9][A-Z0-9 \-·]{2,9}")
_HOUSE = re.compile(
    r"#?\d+[\w/ -]{0,6}|(?:suite|apt|unit|flat|no|nr)?\.?\s?[\w-]{1,6}", re.IGNORECASE
)
_SALUTATION = re.compile(r"[^\W\d_]{1,12}\.?(?: [^\W\d_]{1,6}\.?)?")
_INITIALS = re.compile(r"(?:[^\W\d_]\.? ?){1,3}")

_NAMED_PLACE: Final = _CODES | {"phone", "postcode", "birth", "company", "money", "percent"}

_TEXT_RULES: Final[tuple[_Rule, ...]] = (
    _Rule("uuid", "UUIDs", patterns.UUID.fullmatch, "uuid", 0.9, 0.9),
    _Rule("mac_address", "MAC addresses", patterns.MAC.fullmatch, "mac", 0.5, 0.9, pii=True),
    _Rule("iban", "shaped like IBANs", _IBAN_SHAPE.fullmatch, "iban", 0.5, pii=True),
    _Rule("iban", "IBANs with the right check digits", is_iban, "account", 0.5, 0.8, pii=True),
    _Rule("url", "web addresses", patterns.URL.match, "url", 0.5, 0.8),
    _Rule("mime_type", "MIME types", patterns.MIME.fullmatch, "mime", 0.5, 0.9),
    _Rule("json", "JSON", patterns.JSON.fullmatch, "json", 0.8, 0.9),
    _Rule("xml", "markup", patterns.XML.fullmatch, "xml", 0.8, 0.9),
    _Rule("coordinates", "pairs of coordinates", patterns.POINT.fullmatch, "coordinates", 0.5, 0.9),
    _Rule("time_zone", "time zones", patterns.TIMEZONE.fullmatch, "timezone", 0.5, 0.9),
    _Rule("hash", "hexadecimal digests", patterns.HASH.fullmatch, "hash", 0.8),
    _Rule("uuid", "UUIDs", patterns.HEX_32.fullmatch, "uuid id", 0.9),
    _Rule("uuid", "UUIDs", patterns.UUID_DIGITS.fullmatch, "", alone=0.9, fewest=5),
    _Rule("hash", "hexadecimal digests", patterns.HASH.fullmatch, "", alone=0.9),
    _Rule("percentage", "percentages", patterns.PERCENT.fullmatch, "percent", 0.8, 0.9),
    _Rule("file_path", "paths", patterns.PATH.fullmatch, "file", 0.8, 0.9),
    _Rule("file_name", "file names", patterns.FILE.fullmatch, "file", 0.6),
    _Rule("file_name", "file names", patterns.is_file, "", alone=0.95),
    _Rule("bic", "bank codes (BIC)", patterns.BIC.fullmatch, "bic", 0.8),
    _Rule("vin", "vehicle numbers", patterns.VIN.fullmatch, "vin", 0.7, pii=True),
    _Rule("isbn", "book numbers", _ISBN.fullmatch, "isbn", 0.7),
    _Rule("ean", "article numbers", _EAN.fullmatch, "ean", 0.7),
    _Rule(
        "license_plate", "licence plates", _PLATE.fullmatch, "plate", 0.6, unless=_CODES, pii=True
    ),
    _Rule("color", "colours", patterns.HEX_COLOR.fullmatch, "color", 0.6),
    _Rule("color", "colours", _is_one_of(value_words.COLORS), "color", 0.3, 0.9),
    _Rule("gender", "genders", _is_one_of(value_words.GENDERS), "gender", 0.8),
    _Rule("currency_code", "currencies", _is_one_of(value_words.CURRENCIES), "currency", 0.6, 0.95),
    _Rule("currency", "words", _LETTERS.fullmatch, "currency", 0.8, unless=_CODES),
    _Rule("language_code", "languages", _LANGUAGE.fullmatch, "language", 0.8),
    _Rule("language_code", "languages", _is_language_code, "", alone=0.95, fewest=5),
    _Rule("language", "words", _LETTERS.fullmatch, "language", 0.8, unless=_CODES),
    _Rule(
        *("country_code", "ISO codes", _ISO_COUNTRY.fullmatch, "country", 0.9),
        unless=_NAMED_PLACE,
        known=lambda value: value.lower() in value_words.COUNTRY_CODES,
    ),
    _Rule("country_code", "ISO codes of countries", _is_country_code, "", alone=0.95, fewest=8),
    _Rule("country", "country names", _is_one_of(value_words.COUNTRIES), "country", 0.3, 0.8),
    _Rule(
        *("country", "words", _LETTERS.fullmatch, "country", 0.9),
        unless=_NAMED_PLACE,
        known=_is_one_of(value_words.COUNTRIES),
    ),
    _Rule("city", "words", _LETTERS.fullmatch, "city", 0.8, unless=_NAMED_PLACE),
    _Rule("region_code", "short codes", _SHORT.fullmatch, "region", 0.9, unless=_ASPECTS),
    _Rule("region", "words", _LETTERS.fullmatch, "region", 0.8, unless=_NAMED_PLACE),
    _Rule("salutation", "forms of address", _SALUTATION.fullmatch, "salutation", 0.8),
    _Rule("initials", "initials", _INITIALS.fullmatch, "initial middle", 0.8),
    _Rule("job_title", "words", _LETTERS.fullmatch, "job", 0.8, unless=_CODES),
    _Rule("marital_status", "words", _LETTERS.fullmatch, "marital", 0.8),
    _Rule("company_name", "words", _LETTERS.fullmatch, "company", 0.8, unless=_CODES),
    _Rule("house_number", "numbers", _HOUSE.fullmatch, "house_number", 0.6),
    _Rule("year", "years", _YEAR.fullmatch, "year", 0.8),
    _Rule("boolean", "yes or no", patterns.YES_NO.fullmatch, "flag", 1.0, None),
)
_NUMBER_RULES: Final[tuple[_Rule, ...]] = (
    _Rule("year", "years", _YEAR.fullmatch, "year", 0.9),
    _Rule("isbn", "book numbers", _ISBN.fullmatch, "isbn", 0.9),
    _Rule("ean", "article numbers", _EAN.fullmatch, "ean", 0.9),
    _Rule("percentage", "numbers", bool, "percent", 0.9, unless=_CODES),
    _Rule("money", "numbers", bool, "money", 0.9, unless=frozenset({"id", "kind", "flag", "date"})),
)


def find_general_type(column: PreparedColumn) -> SemanticType | None:
    """Return the first type whose values, with or without the name, pass its rule."""
    if column.family == "boolean":
        return SemanticType("boolean", False, 1.0, "The column is declared as boolean.")
    if column.family == "uuid":
        return SemanticType("uuid", False, 1.0, "The column is declared as UUID.")
    if not column.values or column.family in ("date", "other"):
        return None
    rules = _TEXT_RULES if column.family == "text" else _NUMBER_RULES
    for rule in rules:
        meaning = _apply(rule, column)
        if meaning:
            return meaning
    return _free_text(column) if column.family == "text" else None


_GLANCE: Final = 3
"""Values of which one must pass before all are tested, if the name says nothing."""


def _apply(rule: _Rule, column: PreparedColumn) -> SemanticType | None:
    concepts = column.name.concepts
    is_named = bool(concepts & rule.concepts) and not concepts & rule.unless
    required = rule.named if is_named else rule.alone
    if required is None:
        return None
    if not is_named and (
        len(column.values) < rule.fewest or not any(map(rule.test, column.values[:_GLANCE]))
    ):
        return None
    if is_named and rule.known and column.name.unknown and not any(map(rule.known, column.values)):
        return None
    passing = share(rule.test, column.values)
    if passing < required:
        return None
    total = len(column.values)
    counted = f"{round(passing * total)} of {total} values are {rule.what}"
    reason = f"{counted}, and the name says so." if is_named else f"{counted}."
    confidence = round(min(0.99, 0.3 + 0.4 * passing + 0.25 * is_named), 2)
    return SemanticType(rule.name, rule.pii, confidence, reason)


_SENTENCE = re.compile(r"(?:\S+\s+){5,}\S+.*", re.DOTALL)
"""Six words and more: names and labels are shorter."""


def _free_text(column: PreparedColumn) -> SemanticType | None:
    sentences = share(_SENTENCE.match, column.values)
    if sentences < 0.5 or column.facts.distinct < 3:
        return None
    total = len(column.values)
    reason = f"{round(sentences * total)} of {total} values have six words or more."
    return SemanticType("free_text", False, round(0.4 + sentences / 2, 2), reason)
