"""Types that are no data of a person by themselves: places, links, codes, amounts, text."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fluid_build.profiling.semantic_types import lexicons, patterns
from fluid_build.profiling.semantic_types.column_facts import SemanticType
from fluid_build.profiling.semantic_types.name_concepts import without_accents
from fluid_build.profiling.semantic_types.patterns import share
from fluid_build.profiling.semantic_types.prepared_column import PreparedColumn
from fluid_build.sources.personal_text import is_iban

Concepts = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A type: the concept that names it, the test of its values, and the shares they must reach.

    ``named`` is the share where the name says so, ``alone`` where the values alone speak (None:
    never). ``unless`` lists concepts that turn the name's meaning.
    """

    name: str
    what: str
    test: patterns.Test
    concepts: Concepts
    named: float = 0.5
    alone: float | None = None
    unless: Concepts = frozenset()
    pii: bool = False


_ASPECTS: Final = frozenset({"flag", "measure", "time", "text", "file"})
_CODED: Final = _ASPECTS | {"id", "kind"}


def _in(words: frozenset[str]) -> Callable[[str], bool]:
    return lambda value: without_accents(value).lower().strip(". ") in words


_LETTERS = re.compile(r"(?=.*[^\W\d_]).{1,80}")
_SHORT = re.compile(r"[A-Za-z0-9]{1,3}(?:-[A-Za-z0-9]{1,3})?")
_ISO_COUNTRY = re.compile(r"[A-Za-z]{2,3}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?")
_CURRENCY = re.compile(r"[A-Z]{3}")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d{2}(?:\.0)?")
_ISBN = re.compile(r"(?:97[89][- ]?)?\d{1,5}[- ]?\d+[- ]?\d+[- ]?[\dX]")
_EAN = re.compile(r"\d{8}|\d{12,14}")
_PLATE = re.compile(r"[A-Z0-9][A-Z0-9 \-·]{2,9}")
_HOUSE = re.compile(
    r"#?\d+[\w/ -]{0,6}|(?:suite|apt|unit|flat|no|nr)?\.?\s?[\w-]{1,6}", re.IGNORECASE
)
_SALUTATION = re.compile(r"[^\W\d_]{1,12}\.?(?: [^\W\d_]{1,6}\.?)?")
_INITIALS = re.compile(r"(?:[^\W\d_]\.? ?){1,3}")

_NAMED_PLACE: Final = _CODED | {"phone", "postcode", "birth", "company", "money", "percent"}

_TEXT_KINDS: Final[tuple[_Kind, ...]] = (
    _Kind("uuid", "UUIDs", patterns.UUID.fullmatch, frozenset({"uuid"}), 0.9, 0.9),
    _Kind(
        "mac_address",
        "MAC addresses",
        patterns.MAC.fullmatch,
        frozenset({"mac"}),
        0.5,
        0.9,
        pii=True,
    ),
    _Kind(
        "iban",
        "IBANs by check digit",
        is_iban,
        frozenset({"iban", "account"}),
        0.5,
        0.8,
        pii=True,
    ),
    _Kind("url", "web addresses", patterns.URL.match, frozenset({"url"}), 0.5, 0.8),
    _Kind("mime_type", "MIME types", patterns.MIME.fullmatch, frozenset({"mime"}), 0.5, 0.9),
    _Kind("json", "JSON", patterns.JSON.fullmatch, frozenset({"json"}), 0.8, 0.9),
    _Kind("xml", "markup", patterns.XML.fullmatch, frozenset({"xml"}), 0.8, 0.9),
    _Kind(
        "coordinates",
        "pairs of coordinates",
        patterns.POINT.fullmatch,
        frozenset({"coordinates"}),
        0.5,
        0.9,
    ),
    _Kind(
        "time_zone",
        "time zones",
        patterns.TIMEZONE.fullmatch,
        frozenset({"timezone"}),
        0.5,
        0.9,
    ),
    _Kind("hash", "hexadecimal digests", patterns.HASH.fullmatch, frozenset({"hash"}), 0.8, 0.9),
    _Kind("percentage", "per cent", patterns.PERCENT.fullmatch, frozenset({"percent"}), 0.8, 0.9),
    _Kind("file_path", "paths", patterns.PATH.fullmatch, frozenset({"file"}), 0.8, 0.9),
    _Kind("file_name", "file names", patterns.FILE.fullmatch, frozenset({"file"}), 0.6),
    _Kind("file_name", "file names", patterns.is_file, frozenset(), alone=0.95),
    _Kind("bic", "bank codes", patterns.BIC.fullmatch, frozenset({"bic"}), 0.8),
    _Kind("vin", "vehicle numbers", patterns.VIN.fullmatch, frozenset({"vin"}), 0.7, pii=True),
    _Kind("isbn", "book numbers", _ISBN.fullmatch, frozenset({"isbn"}), 0.7),
    _Kind("ean", "article numbers", _EAN.fullmatch, frozenset({"ean"}), 0.7),
    _Kind(
        "license_plate",
        "plates",
        _PLATE.fullmatch,
        frozenset({"plate"}),
        0.6,
        unless=_CODED,
        pii=True,
    ),
    _Kind("color", "colours", patterns.HEX_COLOR.fullmatch, frozenset({"color"}), 0.6),
    _Kind("color", "colours", _in(lexicons.COLORS), frozenset({"color"}), 0.3, 0.9),
    _Kind("gender", "genders", _in(lexicons.GENDERS), frozenset({"gender"}), 0.8),
    _Kind(
        "currency_code", "currencies", _in(lexicons.CURRENCIES), frozenset({"currency"}), 0.6, 0.95
    ),
    _Kind("currency", "words", _LETTERS.fullmatch, frozenset({"currency"}), 0.8, unless=_CODED),
    _Kind("language_code", "languages", _LANGUAGE.fullmatch, frozenset({"language"}), 0.8),
    _Kind("language", "words", _LETTERS.fullmatch, frozenset({"language"}), 0.8, unless=_CODED),
    _Kind(
        "country_code",
        "ISO codes",
        _ISO_COUNTRY.fullmatch,
        frozenset({"country"}),
        0.9,
        unless=_NAMED_PLACE,
    ),
    _Kind("country", "country names", _in(lexicons.COUNTRIES), frozenset({"country"}), 0.3, 0.8),
    _Kind("country", "words", _LETTERS.fullmatch, frozenset({"country"}), 0.9, unless=_NAMED_PLACE),
    _Kind("city", "words", _LETTERS.fullmatch, frozenset({"city"}), 0.8, unless=_NAMED_PLACE),
    _Kind(
        "region_code", "short codes", _SHORT.fullmatch, frozenset({"region"}), 0.9, unless=_ASPECTS
    ),
    _Kind("region", "words", _LETTERS.fullmatch, frozenset({"region"}), 0.8, unless=_NAMED_PLACE),
    _Kind("salutation", "forms of address", _SALUTATION.fullmatch, frozenset({"salutation"}), 0.8),
    _Kind("initials", "initials", _INITIALS.fullmatch, frozenset({"initial", "middle"}), 0.8),
    _Kind("job_title", "words", _LETTERS.fullmatch, frozenset({"job"}), 0.8, unless=_CODED),
    _Kind("marital_status", "words", _LETTERS.fullmatch, frozenset({"marital"}), 0.8),
    _Kind("company_name", "words", _LETTERS.fullmatch, frozenset({"company"}), 0.8, unless=_CODED),
    _Kind("house_number", "numbers", _HOUSE.fullmatch, frozenset({"house_number"}), 0.6),
    _Kind("year", "years", _YEAR.fullmatch, frozenset({"year"}), 0.8),
    _Kind("boolean", "yes or no", patterns.YES_NO.fullmatch, frozenset({"flag"}), 1.0, None),
)
_NUMBER_KINDS: Final[tuple[_Kind, ...]] = (
    _Kind("year", "years", _YEAR.fullmatch, frozenset({"year"}), 0.9),
    _Kind("isbn", "book numbers", _ISBN.fullmatch, frozenset({"isbn"}), 0.9),
    _Kind("ean", "article numbers", _EAN.fullmatch, frozenset({"ean"}), 0.9),
    _Kind("percentage", "numbers", bool, frozenset({"percent"}), 0.9, unless=_CODED),
    _Kind(
        "money",
        "numbers",
        bool,
        frozenset({"money"}),
        0.9,
        unless=frozenset({"id", "kind", "flag", "date"}),
    ),
)


def everyday_type(column: PreparedColumn) -> SemanticType | None:
    """The type that the values have, or that the name says and the values allow; None if none."""
    if column.family == "boolean":
        return SemanticType("boolean", False, 1.0, "The column is declared to be true or false.")
    if column.family == "uuid":
        return SemanticType("uuid", False, 1.0, "The column is declared to hold UUIDs.")
    if not column.values or column.family in ("date", "other"):
        return None
    kinds = _TEXT_KINDS if column.family == "text" else _NUMBER_KINDS
    for kind in kinds:
        found = _judge(column, kind)
        if found:
            return found
    return _free_text(column) if column.family == "text" else None


_GLANCE: Final = 3


def _judge(column: PreparedColumn, kind: _Kind) -> SemanticType | None:
    concepts = column.name.concepts
    named = bool(concepts & kind.concepts) and not concepts & kind.unless
    needed = kind.named if named else kind.alone
    if needed is None:
        return None
    if not named and not any(map(kind.test, column.values[:_GLANCE])):
        return None
    found = share(kind.test, column.values)
    if found < needed:
        return None
    counted = f"{round(found * len(column.values))} of {len(column.values)} values are {kind.what}"
    reason = f"{counted}, and the name says so." if named else f"{counted}."
    return SemanticType(
        kind.name, kind.pii, round(min(0.99, 0.3 + 0.4 * found + 0.25 * named), 2), reason
    )


_SENTENCE = re.compile(r"(?:\S+\s+){5,}\S+.*", re.DOTALL)


def _free_text(column: PreparedColumn) -> SemanticType | None:
    found = share(_SENTENCE.match, column.values)
    if found < 0.5 or column.facts.distinct < 3:
        return None
    count = f"{round(found * len(column.values))} of {len(column.values)} values"
    return SemanticType(
        "free_text", False, round(0.4 + found / 2, 2), f"{count} run to six words and more."
    )
