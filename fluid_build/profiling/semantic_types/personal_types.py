"""The value tests for types of personal data, stricter the less the name says.

A tuple indexed by ``Grade`` holds the share of values that must pass for a silent, hinting, likely
and plain name. Under a plain name about half is enough, since real columns hold typing errors,
placeholders and test data; under a silent one nearly all must pass. The shares are set by hand.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fluid_build.lexicon import meanings
from fluid_build.profiling.semantic_types import patterns
from fluid_build.profiling.semantic_types.checked_numbers import national_numbers
from fluid_build.profiling.semantic_types.column_facts import PreparedColumn, parse_number
from fluid_build.profiling.semantic_types.name_grades import (
    Grade,
    describes_people,
    grades,
    sibling_concepts,
)
from fluid_build.profiling.semantic_types.patterns import share
from fluid_build.profiling.semantic_types.person_names import measure_names
from fluid_build.sources.text_values.personal_text import is_card


@dataclass(frozen=True, slots=True)
class Support:
    """The share of values that confirm a type, the share that is required, and what they are."""

    share: float
    required: float
    what: str

    @property
    def suffices(self) -> bool:
        """Whether the values confirm the type."""
        return self.share >= self.required


_NEVER: Final = 2.0
"""A share that can't be reached: the values alone prove nothing."""


def _share(column: PreparedColumn, test: patterns.Test) -> float:
    return share(test, column.values)


def email(column: PreparedColumn, grade: Grade) -> Support:
    """Test for values with an at sign, and with a top-level domain if the name is silent."""
    if grade is Grade.PLAIN and _holds_mailboxes(column):
        return Support(1.0, 1.0, "mailbox names without a domain")
    test = patterns.EMAIL.fullmatch if grade else patterns.EMAIL_STRICT.fullmatch
    return Support(_share(column, test), (0.8, 0.6, 0.5, 0.4)[grade], "e-mail addresses")


def _holds_mailboxes(column: PreparedColumn) -> bool:
    """Return whether each person has a mailbox name of their own, without the common domain."""
    facts = column.facts
    return (
        facts.distinct >= 0.9 * (facts.rows - facts.nulls)
        and _share(column, _MAILBOX.fullmatch) >= 0.95
        and describes_people(column.table, facts.siblings)
    )


_MAILBOX = re.compile(r"[A-Za-z][\w.-]{2,30}")


def ip_address(column: PreparedColumn, grade: Grade) -> Support:
    """Test for IPv4 or IPv6 addresses, also several in a value, but not for versions (1.0.2.3)."""
    addresses = _share(column, patterns.is_ip_list)
    if grade is Grade.SILENT and (
        "version" in column.name.concepts or _share(column, _VERSION.fullmatch) > 0.5
    ):
        addresses = 0.0
    return Support(addresses, (0.9, 0.6, 0.5, 0.4)[grade], "IP addresses")


_VERSION = re.compile(r"(?:[0-4]?\d\.){3}[0-4]?\d")
"""A part of a version, such as 2.10.0.4, is seldom as high as those of most addresses."""


def card_number(column: PreparedColumn, grade: Grade) -> Support:
    """Test for 12 to 19 digits; without a plain name also an issuer's prefix and check digit."""
    shaped = _share(column, patterns.CARD.fullmatch)
    is_masked = shaped >= 0.5 and _share(column, _MASKED.search) > 0.5
    is_named = grade is Grade.PLAIN or (
        grade is Grade.LIKELY
        and (is_masked or "credit_card" in column.name.concepts or _is_about_payment(column))
    )
    is_named = is_named or _is_number_of_card(column)
    if is_named or shaped < 0.5:
        required = 0.9 if is_named and grade < Grade.LIKELY else (_NEVER, _NEVER, 0.7, 0.5)[grade]
        return Support(shaped, required, "long enough for card numbers")
    required = (0.95, 0.8, 0.7, 0.5)[grade]
    if grade is Grade.SILENT and len(column.values) < 5:
        required = _NEVER
    return Support(_share(column, is_card), required, "card numbers by issuer and check digit")


_MASKED = re.compile(r"[*xX•#]{4,}")


def _is_number_of_card(column: PreparedColumn) -> bool:
    """Return whether a number is that of its table's credit cards."""
    return column.name.concepts == {"number"} and "credit_card" in column.table.concepts


def _is_about_payment(column: PreparedColumn) -> bool:
    near = sibling_concepts(column.facts.siblings)
    return "credit" in column.table.concepts or bool(
        near & {"card_security", "card", "credit_card"}
    )


def national_id(column: PreparedColumn, grade: Grade) -> Support:
    """Test for numbers that a state gives people, by name and shape or by check digits."""
    values = () if _is_serial(column) else column.values
    if grade >= Grade.LIKELY:
        shape = _CODE_OR_NUMBER if grade is Grade.PLAIN else patterns.NATIONAL_SHAPE
        shaped = share(shape.fullmatch, values)
        return Support(shaped, 0.6, "shaped like national numbers")
    about_people = describes_people(column.table, column.facts.siblings)
    is_unique = column.facts.distinct >= 0.95 * (column.facts.rows - column.facts.nulls)
    if about_people and is_unique and share(patterns.US_SSN.fullmatch, values) >= 0.95:
        return Support(1.0, 0.9, "shaped like US social security numbers")
    is_party = "party" in column.table.concepts and not is_near_person(column)
    if grade is Grade.HINT and about_people and not is_party:
        shaped = share(patterns.NATIONAL_SHAPE.fullmatch, values)
        return Support(shaped, 0.8, "shaped like national numbers")
    kind, valid = national_numbers(values, bare=grade is Grade.HINT)
    required = 0.8 if len(values) >= 3 else _NEVER
    return Support(valid, required, kind)


_CODE_OR_NUMBER = re.compile(rf"{patterns.NATIONAL_SHAPE.pattern}|[A-Z\d]{{8,20}}")
"""Capital letters alone too, as generated test data has them."""


def _is_serial(column: PreparedColumn) -> bool:
    """Return whether the values are whole numbers with hardly a gap, as surrogate keys are."""
    low, high = column.facts.min, column.facts.max
    if low is None or high is None or not (low.isdecimal() and high.isdecimal()):
        return False
    if len(high) > _LONGEST_KEY or len(low) > _LONGEST_KEY:
        return False
    # The bounds of text are by its letters: 7 is above 10.
    return 0 <= int(high) - int(low) < 2 * column.facts.distinct


_LONGEST_KEY: Final = 20
"""Digits of a number that a database generates: 64 bits make 20."""


def credential(column: PreparedColumn, grade: Grade) -> Support:
    """Test for passwords, their hashes and salts, keys and tokens."""
    if column.family == "integer":
        is_pin = grade is Grade.PLAIN and "token" not in column.name.concepts
        long_enough = _share(column, lambda value: len(value) >= 4)
        return Support(long_enough, 0.9 if is_pin else _NEVER, "long enough for passwords")
    if grade is Grade.PLAIN or _is_pass_of_login(column):
        return Support(_share(column, _SECRET.fullmatch), 0.5, "long enough for passwords")
    hashed = _share(column, patterns.CREDENTIAL.fullmatch)
    if grade is Grade.LIKELY and hashed < 0.5:
        opaque = _share(column, patterns.OPAQUE.fullmatch)
        return Support(opaque, 0.7, "as opaque as keys and hashes")
    if grade is Grade.HINT and _is_near_person_or_card(column):
        return Support(_share(column, _PIN.fullmatch), 0.9, "four to eight digits")
    return Support(hashed, 0.8, "hashes, keys or tokens by their format")


def _is_pass_of_login(column: PreparedColumn) -> bool:
    """Return whether ``pass`` is next to a login: elsewhere it's an exam's or a season's."""
    near = sibling_concepts(column.facts.siblings)
    return "pass" in column.name.concepts and bool(near & {"login", "username", "salt"})


def _is_near_person_or_card(column: PreparedColumn) -> bool:
    near = sibling_concepts(column.facts.siblings)
    cards = {"card", "card_number", "credit_card_number", "credit_card", "account"}
    return bool(near & cards) or describes_people(column.table, column.facts.siblings)


_SECRET = re.compile(
    r"(?!(?i:true|false|never|https?:.*)$)(?!\d{1,3}$)(?!\d{4}-\d\d-\d\d).{4,}", re.DOTALL
)
_PIN = re.compile(r"\d{4,8}")


def date_of_birth(column: PreparedColumn, grade: Grade) -> Support:
    """Test for dates, if the name says birth and the table isn't about things or animals."""
    what = "dates"
    about_things = "thing" in column.table.concepts and not column.table.concepts & _PEOPLE
    if grade < Grade.LIKELY or (about_things and not is_near_person(column)):
        return Support(0.0, _NEVER, what)
    if column.family == "date":
        return Support(1.0, 1.0, what)
    return Support(_share(column, patterns.DATE.fullmatch), 0.6, what)


_PEOPLE: Final = frozenset({"person", "party", "user", "contact"})


def is_near_person(column: PreparedColumn) -> bool:
    """Return whether a column stands beside what only people have: names, titles, numbers."""
    near = sibling_concepts(column.facts.siblings)
    return bool(near & {"given_name", "family_name", "full_name", "salutation", "national_id"})


def latitude(column: PreparedColumn, grade: Grade) -> Support:
    """Test for degrees from -90 to 90."""
    return _degrees(column, grade, limit=90, partner="longitude")


def longitude(column: PreparedColumn, grade: Grade) -> Support:
    """Test for degrees from -180 to 180."""
    return _degrees(column, grade, limit=180, partner="latitude")


def _degrees(column: PreparedColumn, grade: Grade, *, limit: int, partner: str) -> Support:
    what = f"within {limit} degrees"
    if grade < Grade.LIKELY:
        return Support(0.0, _NEVER, what)
    # In Spanish, a thing's length is called longitude too.
    is_sure = grade is Grade.PLAIN and partner == "longitude"
    if not is_sure and not _has_sibling(column, partner):
        return Support(0.0, _NEVER, what)
    inside = _share(column, lambda value: _is_within(value, limit))
    return Support(inside, 0.8, what)


def _has_sibling(column: PreparedColumn, label: str) -> bool:
    siblings = column.facts.siblings[:_MOST_SIBLINGS]
    return any(meaning == label for name in siblings for meaning, _ in grades(name))


_MOST_SIBLINGS: Final = 200
"""Columns of a wide table whose names are read."""


def _is_within(value: str, limit: int) -> bool:
    degrees = parse_number(value)
    if degrees is None:
        return patterns.DEGREES.fullmatch(value) is not None
    # GPS devices write degrees times 10^6 or 10^7 as whole numbers.
    is_scaled = degrees.is_integer() and 100_000 < abs(degrees) <= limit * 10_000_000
    return abs(degrees) <= limit or is_scaled


def postal_code(column: PreparedColumn, grade: Grade) -> Support:
    """Test for short codes with digits; a vague name needs a strict format and a city nearby."""
    what = "shaped like postal codes"
    if grade is Grade.HINT:
        near = sibling_concepts(column.facts.siblings)
        near_place = near & {"city", "address", "street", "street_hint", "house_number", "region"}
        strict = _share(column, patterns.POSTCODE_STRICT.fullmatch)
        return Support(strict, 0.8 if near_place else _NEVER, what)
    if column.family != "text":
        return Support(_share(column, _POSTCODE_NUMBER.fullmatch), 0.8, what)
    return Support(_share(column, patterns.POSTCODE.fullmatch), 0.6, what)


_POSTCODE_NUMBER = re.compile(r"\d{3,9}(?:\.0+)?")


def phone(column: PreparedColumn, grade: Grade) -> Support:
    """Test for 6 to 20 digits and separators; with a silent name, for the usual formats only."""
    what = "shaped like phone numbers"
    if column.family != "text":
        digits = _share(column, _PHONE_NUMBER.fullmatch)
        return Support(digits, (_NEVER, _NEVER, 0.9, 0.7)[grade], what)
    if grade is Grade.SILENT:
        shaped = _share(column, patterns.PHONE.fullmatch)
        formatted = _share(column, patterns.PHONE_FORMATTED.fullmatch)
        return Support(shaped * (formatted >= 0.5), 0.95, what)
    dialled = _share(column, patterns.PHONE.fullmatch)
    if grade is Grade.PLAIN and describes_people(column.table, column.facts.siblings):
        dialled += _share(column, _EXTENSION.fullmatch)
    if grade is Grade.HINT:
        dialled = _share(column, _CONTACT_NUMBER.fullmatch)
    return Support(dialled, (_NEVER, 0.8, 0.7, 0.5)[grade], what)


_EXTENSION = re.compile(r"[x#]?\d{3,5}", re.IGNORECASE)
"""The number of a telephone inside an office."""
_CONTACT_NUMBER = re.compile(r"(?=(?:\D*\d){9,15}\D*$)[+(]{0,2}\d[\d\s().\-/]*")
"""Long enough not to be the key of a contact."""
_PHONE_NUMBER = re.compile(r"\d{6,15}(?:\.0+)?")


def username(column: PreparedColumn, grade: Grade) -> Support:
    """Test for single words without an at sign; with a silent name, for ``domain\\user`` only."""
    what = "shaped like login names"
    domain = _share(column, patterns.DOMAIN_LOGIN.fullmatch)
    if _is_other_alias(column):
        return Support(0.0, _NEVER, what)
    if grade is Grade.SILENT or domain >= 0.9:
        return Support(domain, 0.9, "written as domain and login name")
    has_password = "password" in sibling_concepts(column.facts.siblings)
    if column.facts.distinct < _FEWEST_LOGINS <= column.facts.rows and not has_password:
        return Support(0.0, _NEVER, what)
    test = patterns.LOGIN_WORD if grade is Grade.HINT and not has_password else patterns.LOGIN
    return Support(_share(column, test.fullmatch), (_NEVER, 0.9, 0.8, 0.6)[grade], what)


_FEWEST_LOGINS: Final = 3
"""One or two that changed all rows are programs and administrators, and tell nobody apart."""


def _is_other_alias(column: PreparedColumn) -> bool:
    """Return whether an alias is a thing's, or a nickname is what a person is called by friends."""
    concepts = column.name.concepts
    if "nickname" in concepts and measure_names(column.values).given >= _MOST_CALLED:
        return True
    if not concepts & {"handle", "nickname"} or concepts & {"user", "login", "social_media"}:
        return False
    return not describes_people(column.table, column.facts.siblings)


_MOST_CALLED: Final = 0.5
"""The share of nicknames that are given names (Jim, Mike) from which they aren't logins."""


def address(column: PreparedColumn, grade: Grade) -> Support:
    """Test for any text if the name is plain, else for a house number and a word for street."""
    what = "worded like address lines"
    values = column.values
    if _is_part_of_address(column):
        return Support(0.0, _NEVER, what)
    if grade is Grade.PLAIN:
        no_address = share(_NO_ADDRESS.fullmatch, values)
        return Support(share(_WORDED.search, values) * (no_address < 0.5), 0.3, what)
    lines = share(patterns.STREET_LINE.fullmatch, values)
    if grade is Grade.LIKELY:
        worded = share(_LINE.fullmatch, values)
        return Support(max(lines, worded), 0.6, what)
    if grade is Grade.HINT and _is_near_address(column):
        worded = share(_NUMBERED.fullmatch, values) + share(_STREET_NAME.fullmatch, values)
        return Support(max(lines, worded), 0.6, what)
    return Support(lines, 0.5 if grade else 0.6, "street lines with a house number")


def _is_part_of_address(column: PreparedColumn) -> bool:
    """Return whether the name speaks of an address's element or code instead of the address."""
    concepts = [meanings().get(word) for word in column.name.words]
    last = max((at for at, concept in enumerate(concepts) if concept == "address"), default=None)
    return last is not None and not {"thing", "code"}.isdisjoint(concepts[last + 1 :])


def _is_near_address(column: PreparedColumn) -> bool:
    near = sibling_concepts(column.facts.siblings)
    return bool(near & {"address", "postcode", "postcode_hint", "house_number", "city"})


_WORDED = re.compile(r"[^\W\d_]|#")
_LINE = re.compile(r"(?=.*[^\W\d_]{3})(?=.*\d).{6,}|[^\W\d_]{3,}(?: [^\W\d_]{2,}){1,5}", re.DOTALL)
_NUMBERED = re.compile(r"(?=.*[^\W\d_]{3})(?=.*\d).{5,}", re.DOTALL)
_STREET_NAME = re.compile(
    r"(?i:via|viale|corso|piazza|largo|vicolo|rue|avenue|chemin|all[eé]e|calle|avenida|paseo|plaza|rua"
    r"|travessa|ul\.?|ulica|aleja|al\.?) [^\W\d_][^\d]{2,50}"
)
"""A street without a house number, which has a column of its own."""
_NO_ADDRESS = re.compile(
    r"[^@\s]+@[^@\s]+|(?:https?://|www\.)\S+|0x[0-9a-fA-F]+|(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"
    r"|(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d+)?|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}"
    r"|bc1[a-z0-9]{20,}|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|(?i:y|n|yes|no|true|false|null)|[A-Z]{2,3}"
)


_TESTS: Final[dict[str, Callable[[PreparedColumn, Grade], Support]]] = {
    test.__name__: test
    for test in (
        *(email, ip_address, card_number, national_id, credential, date_of_birth),
        *(latitude, longitude, postal_code, phone, username, address),
    )
}

_FAMILIES: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(_TESTS, frozenset({"text"})),
    **dict.fromkeys(("card_number", "national_id", "credential"), frozenset({"text", "integer"})),
    **dict.fromkeys(
        ("latitude", "longitude", "postal_code", "phone"), frozenset({"text", "integer", "decimal"})
    ),
    "date_of_birth": frozenset({"text", "integer", "date"}),
}
"""The families of DuckDB types that each type of personal data may have."""


def may_be(label: str, column: PreparedColumn) -> bool:
    """Return whether a column's type is one that a type of personal data may have."""
    return column.family in _FAMILIES[label]


def tested(label: str, column: PreparedColumn, grade: Grade) -> Support | None:
    """Return how far the values are of a type; None where they aren't, or too few of them."""
    support = _TESTS[label](column, grade) if may_be(label, column) else None
    return support if support is not None and support.suffices else None
