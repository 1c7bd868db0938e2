"""The tests of values for types that may be personal data, by how clearly the name speaks."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fluid_build.profiling.semantic_types import patterns
from fluid_build.profiling.semantic_types.name_grades import (
    Grade,
    describes_persons,
    grades,
    sibling_concepts,
)
from fluid_build.profiling.semantic_types.patterns import share
from fluid_build.profiling.semantic_types.prepared_column import PreparedColumn, number
from fluid_build.sources.personal_text import is_card


@dataclass(frozen=True, slots=True)
class Support:
    """The share of values that bear a type out, the share it takes, and what they are."""

    share: float
    needed: float
    what: str

    @property
    def suffices(self) -> bool:
        """Whether the values bear the type out."""
        return self.share >= self.needed


_NEVER: Final = 2.0


def _text(column: PreparedColumn) -> bool:
    return column.family == "text"


def _all(column: PreparedColumn, test: patterns.Test) -> float:
    return share(test, column.values)


def email(column: PreparedColumn, grade: Grade) -> Support:
    """Values with an at sign; a top-level domain is asked for only where the name is silent."""
    if not _text(column):
        return Support(0.0, _NEVER, "e-mail addresses")
    test = patterns.EMAIL.fullmatch if grade else patterns.EMAIL_STRICT.fullmatch
    return Support(_all(column, test), (0.8, 0.6, 0.5, 0.4)[grade], "e-mail addresses")


def ip_address(column: PreparedColumn, grade: Grade) -> Support:
    """IPv4 or IPv6 addresses, several to a value allowed; versions such as 1.0.2.3 are none."""
    if not _text(column):
        return Support(0.0, _NEVER, "IP addresses")
    found = _all(column, patterns.is_ip_list)
    if grade is Grade.SILENT and (
        "version" in column.name.concepts or _all(column, _SMALL_PARTS.fullmatch) > 0.5
    ):
        found = 0.0
    return Support(found, (0.9, 0.6, 0.5, 0.4)[grade], "IP addresses")


_SMALL_PARTS = re.compile(r"(?:[0-4]?\d\.){3}[0-4]?\d")


def card_number(column: PreparedColumn, grade: Grade) -> Support:
    """Twelve to nineteen digits; without a plain name also an issuer's prefix and check digit."""
    if column.family not in ("text", "integer"):
        return Support(0.0, _NEVER, "card numbers")
    formed = _all(column, patterns.CARD.fullmatch)
    masked = formed >= 0.5 and _all(column, _MASKED.search) > 0.5
    told = grade is Grade.PLAIN or (grade is Grade.LIKELY and (masked or _about_payment(column)))
    if told or formed < 0.5:
        return Support(formed, (_NEVER, _NEVER, 0.7, 0.5)[grade], "long enough for card numbers")
    right = _all(column, is_card)
    needed = (0.95, 0.8, 0.7, 0.5)[grade]
    if grade is Grade.SILENT and len(column.values) < 5:
        needed = _NEVER
    return Support(right, needed, "card numbers by issuer and check digit")


_MASKED = re.compile(r"[*xX•#]{4,}")


def _about_payment(column: PreparedColumn) -> bool:
    near = sibling_concepts(column.facts.siblings)
    return "credit" in column.table.concepts or bool(
        near & {"card_security", "card", "credit_card"}
    )


def national_id(column: PreparedColumn, grade: Grade) -> Support:
    """Numbers of a state for a person, by name and shape, or by check digits that are right."""
    if column.family not in ("text", "integer"):
        return Support(0.0, _NEVER, "national numbers")
    values = () if _is_serial(column) else column.values
    if grade >= Grade.LIKELY:
        formed = share(patterns.NATIONAL_SHAPE.fullmatch, values)
        return Support(formed, 0.6, "formed like national numbers")
    persons = describes_persons(column.table, column.facts.siblings)
    unique = column.facts.distinct >= 0.95 * (column.facts.rows - column.facts.nulls)
    if persons and unique and share(patterns.US_SSN.fullmatch, values) >= 0.95:
        return Support(1.0, 0.9, "formed like US social security numbers")
    if grade is Grade.HINT and persons and "party" not in column.table.concepts:
        formed = share(patterns.NATIONAL_SHAPE.fullmatch, values)
        return Support(formed, 0.8, "formed like national numbers")
    country, right = patterns.national_number(values, bare=grade is Grade.HINT)
    enough = 0.8 if len(values) >= 3 else _NEVER
    return Support(right, enough, f"national numbers by check digit ({country})")


def _is_serial(column: PreparedColumn) -> bool:
    """Whether the values are whole numbers that run on with hardly a gap, as surrogate keys do."""
    low, high = column.facts.min, column.facts.max
    if low is None or high is None or not (low.isdecimal() and high.isdecimal()):
        return False
    if len(high) > _LONGEST_KEY or len(low) > _LONGEST_KEY:
        return False
    return int(high) - int(low) < 2 * column.facts.distinct


_LONGEST_KEY: Final = 20


def credential(column: PreparedColumn, grade: Grade) -> Support:
    """Passwords, their hashes and salts, keys and tokens."""
    if not _text(column):
        pin = (
            grade is Grade.PLAIN
            and column.family == "integer"
            and "token" not in column.name.concepts
        )
        long = _all(column, lambda value: len(value) >= 4)
        return Support(long, 0.9 if pin else _NEVER, "long enough for passwords")
    if grade is Grade.PLAIN:
        return Support(_all(column, _SECRET.fullmatch), 0.5, "long enough for passwords")
    hashed = _all(column, patterns.CREDENTIAL.fullmatch)
    if grade is Grade.LIKELY and hashed < 0.5:
        opaque = _all(column, patterns.OPAQUE.fullmatch)
        return Support(opaque, 0.7, "opaque like keys and hashes")
    if grade is Grade.HINT and _beside_person_or_card(column):
        return Support(_all(column, _PIN.fullmatch), 0.9, "four to eight digits")
    return Support(hashed, 0.8, "hashes, keys or tokens by their marks")


def _beside_person_or_card(column: PreparedColumn) -> bool:
    near = sibling_concepts(column.facts.siblings)
    cards = {"card", "card_number", "credit_card_number", "credit_card", "account"}
    return bool(near & cards) or describes_persons(column.table, column.facts.siblings)


_SECRET = re.compile(
    r"(?!(?i:true|false|never|https?:.*)$)(?!\d{1,3}$)(?!\d{4}-\d\d-\d\d).{4,}", re.DOTALL
)
_PIN = re.compile(r"\d{4,8}")


def date_of_birth(column: PreparedColumn, grade: Grade) -> Support:
    """Dates, where the name speaks of birth and the table is not about things or animals."""
    what = "dates"
    of_things = "thing" in column.table.concepts and not column.table.concepts & _BORN
    if grade < Grade.LIKELY or (of_things and not _near_person(column)):
        return Support(0.0, _NEVER, what)
    if column.family == "date":
        return Support(1.0, 1.0, what)
    if column.family in ("text", "integer"):
        return Support(_all(column, patterns.DATE.fullmatch), 0.6, what)
    return Support(0.0, _NEVER, what)


_BORN: Final = frozenset({"person", "party", "user", "contact"})


def _near_person(column: PreparedColumn) -> bool:
    near = sibling_concepts(column.facts.siblings)
    return bool(near & {"given_name", "family_name", "full_name", "salutation", "national_id"})


def latitude(column: PreparedColumn, grade: Grade) -> Support:
    """Degrees from -90 to 90."""
    return _degrees(column, grade, limit=90, partner="longitude")


def longitude(column: PreparedColumn, grade: Grade) -> Support:
    """Degrees from -180 to 180."""
    return _degrees(column, grade, limit=180, partner="latitude")


def _degrees(column: PreparedColumn, grade: Grade, *, limit: int, partner: str) -> Support:
    what = f"within {limit} degrees"
    if grade < Grade.LIKELY or column.family not in ("text", "integer", "decimal"):
        return Support(0.0, _NEVER, what)
    if grade is Grade.LIKELY and not _beside(column, partner):
        return Support(0.0, _NEVER, what)
    inside = _all(column, lambda value: _within(value, limit))
    return Support(inside, 0.8, what)


def _beside(column: PreparedColumn, label: str) -> bool:
    return any(found == label for name in column.facts.siblings[:200] for found, _ in grades(name))


def _within(value: str, limit: int) -> bool:
    parsed = number(value)
    if parsed is None:
        return patterns.DEGREES.fullmatch(value) is not None
    micro = parsed.is_integer() and 100_000 < abs(parsed) <= limit * 10_000_000
    return abs(parsed) <= limit or micro


def postal_code(column: PreparedColumn, grade: Grade) -> Support:
    """Short codes with digits; a vague name needs digits alone and a city or street beside it."""
    what = "shaped like postal codes"
    if grade is Grade.SILENT or column.family not in ("text", "integer", "decimal"):
        return Support(0.0, _NEVER, what)
    if grade is Grade.HINT:
        near = sibling_concepts(column.facts.siblings)
        beside = near & {"city", "address", "street", "region"}
        return Support(
            _all(column, patterns.POSTCODE_STRICT.fullmatch), 0.8 if beside else _NEVER, what
        )
    if column.family != "text":
        return Support(_all(column, _POSTCODE_NUMBER.fullmatch), 0.8, what)
    return Support(_all(column, patterns.POSTCODE.fullmatch), 0.6, what)


_POSTCODE_NUMBER = re.compile(r"\d{3,9}(?:\.0+)?")


def phone(column: PreparedColumn, grade: Grade) -> Support:
    """Six to twenty digits and what people put between them; unnamed, in the forms of phones."""
    what = "shaped like phone numbers"
    if column.family in ("integer", "decimal"):
        found = _all(column, _PHONE_NUMBER.fullmatch)
        return Support(found, (_NEVER, _NEVER, 0.9, 0.7)[grade], what)
    if not _text(column):
        return Support(0.0, _NEVER, what)
    if grade is Grade.SILENT:
        dialled = _all(column, patterns.PHONE.fullmatch)
        written = _all(column, patterns.PHONE_FORMATTED.fullmatch)
        return Support(dialled * (written >= 0.5), 0.95, what)
    return Support(_all(column, patterns.PHONE.fullmatch), (_NEVER, 0.8, 0.7, 0.5)[grade], what)


_PHONE_NUMBER = re.compile(r"\d{6,15}(?:\.0+)?")


def username(column: PreparedColumn, grade: Grade) -> Support:
    """Single words without an at sign; unnamed, only written domain\\user."""
    what = "shaped like login names"
    if not _text(column):
        return Support(0.0, _NEVER, what)
    domain = _all(column, patterns.DOMAIN_LOGIN.fullmatch)
    if grade is Grade.SILENT or domain >= 0.9:
        return Support(domain, 0.9, "written as domain and login")
    test = patterns.LOGIN_WORD if grade is Grade.HINT else patterns.LOGIN
    return Support(_all(column, test.fullmatch), (_NEVER, 0.9, 0.8, 0.6)[grade], what)


def address(column: PreparedColumn, grade: Grade) -> Support:
    """Any text where the name is plain, else lines with a house number and a street word."""
    what = "worded like address lines"
    if not _text(column):
        return Support(0.0, _NEVER, what)
    values = column.values
    if grade is Grade.PLAIN:
        other = share(_NO_ADDRESS.fullmatch, values)
        return Support(share(_WORDED.search, values) * (other < 0.5), 0.3, what)
    lines = share(patterns.STREET_LINE.fullmatch, values)
    if grade is Grade.LIKELY:
        worded = share(_LINE.fullmatch, values)
        return Support(max(lines, worded), 0.6, what)
    if grade is Grade.HINT and _beside_address(column):
        return Support(max(lines, share(_NUMBERED.fullmatch, values)), 0.6, what)
    return Support(lines, 0.5 if grade else 0.6, "street lines with a house number")


def _beside_address(column: PreparedColumn) -> bool:
    return bool(sibling_concepts(column.facts.siblings) & {"address", "postcode", "city"})


_WORDED = re.compile(r"[^\W\d_]|#")
_LINE = re.compile(r"(?=.*[^\W\d_]{3})(?=.*\d).{6,}|[^\W\d_]{3,}(?: [^\W\d_]{2,}){1,5}", re.DOTALL)
_NUMBERED = re.compile(r"(?=.*[^\W\d_]{3})(?=.*\d).{5,}", re.DOTALL)
_NO_ADDRESS = re.compile(
    r"[^@\s]+@[^@\s]+|(?:https?://|www\.)\S+|0x[0-9a-fA-F]+|(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"
    r"|(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d+)?|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}"
    r"|bc1[a-z0-9]{20,}|(?i:y|n|yes|no|true|false|null)"
)


TESTS: Final[dict[str, Callable[[PreparedColumn, Grade], Support]]] = {
    "email": email,
    "ip_address": ip_address,
    "card_number": card_number,
    "national_id": national_id,
    "credential": credential,
    "date_of_birth": date_of_birth,
    "latitude": latitude,
    "longitude": longitude,
    "postal_code": postal_code,
    "phone": phone,
    "username": username,
    "address": address,
}

FAMILIES: Final[dict[str, frozenset[str]]] = {
    "email": frozenset({"text"}),
    "ip_address": frozenset({"text"}),
    "card_number": frozenset({"text", "integer"}),
    "national_id": frozenset({"text", "integer"}),
    "credential": frozenset({"text"}),
    "date_of_birth": frozenset({"text", "date"}),
    "latitude": frozenset({"text", "decimal"}),
    "longitude": frozenset({"text", "decimal"}),
    "postal_code": frozenset({"text", "integer"}),
    "phone": frozenset({"text", "integer"}),
    "username": frozenset({"text"}),
    "address": frozenset({"text"}),
    "person_name": frozenset({"text"}),
}
"""The types that a column without rows may have to be taken at its name's word."""
