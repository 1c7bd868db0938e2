"""Whether a column holds people's names: by its name, its table and its values together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Final

from fluid_build.lexicon import fold, meanings, terms
from fluid_build.profiling.names import value_words
from fluid_build.profiling.names.concepts import NameConcepts, read_concepts
from fluid_build.profiling.semantic_types.name_grades import (
    ASPECTS,
    PERSONAL_TRAITS,
    sibling_concepts,
)

MOST_VALUES = 40
"""Values that are tested for names: word lists make it the slowest of all tests."""
_MOST_WORDS = 6
"""Words of a name, titles aside; longer text is something else."""
_LONGEST_NAME = 80
"""Characters of a name."""
_NEVER_IN_NAMES = frozenset("0123456789@#/\\_:;+=*<>[]{}|%$!?~^")


class Claim(Enum):
    """What the names of column and table promise, from the strongest claim to none."""

    EXPLICIT = "named like part of a person's name"
    ROLE = "named as a person's name"
    FULL_NAME = "named as a full name"
    PARTY = "named as a person's or a company's name"
    BARE_PERSON = "a name in a table about people"
    BARE_PARTY = "a name in a table about people or companies"
    MENTION_ROLE = "named after a person"
    MENTION_PARTY = "named after a person or a company"
    BARE = "a name of something"
    NONE = "not named after a person"


@dataclass(frozen=True, slots=True)
class NameShares:
    """The shares of values that look like people's names.

    ``shaped`` are shaped like a name, ``given`` have a common given name in front, ``full`` have
    one and two or more words, ``known`` have a common given name or surname, ``business`` name a
    business instead.
    """

    shaped: float
    given: float
    full: float
    known: float
    business: float


@dataclass(frozen=True, slots=True)
class _Bar:
    """The shares that confirm a claim: at least these, and at most ``business``."""

    shaped: float
    business: float
    given: float = 0.0
    full: float = 0.0
    known: float = 0.0


_PARTY_BARS: Final = (
    _Bar(shaped=0.6, business=0.2, given=0.4),
    _Bar(shaped=0.6, business=0.1, given=0.25, known=0.5),
    _Bar(shaped=0.9, business=0.0, known=0.6),
)
_BARS: Final[dict[Claim, tuple[_Bar, ...]]] = {
    Claim.EXPLICIT: (_Bar(shaped=0.55, business=0.35),),
    Claim.ROLE: (_Bar(shaped=0.6, business=0.25, known=0.1),),
    Claim.FULL_NAME: (_Bar(shaped=0.6, business=0.2, given=0.35, known=0.5),),
    Claim.PARTY: _PARTY_BARS,
    Claim.BARE_PERSON: (_Bar(shaped=0.6, business=0.2, known=0.25),),
    Claim.BARE_PARTY: _PARTY_BARS,
    Claim.MENTION_ROLE: (
        _Bar(shaped=0.7, business=0.15, given=0.15, known=0.4),
        _Bar(shaped=0.7, business=0.1, given=0.5),
        _Bar(shaped=0.9, business=0.0, known=0.3),
    ),
    Claim.MENTION_PARTY: (
        _Bar(shaped=0.7, business=0.15, given=0.4, full=0.4),
        _Bar(shaped=0.7, business=0.1, given=0.7),
    ),
    Claim.BARE: (_Bar(shaped=0.75, business=0.1, given=0.5, full=0.5),),
    Claim.NONE: (
        _Bar(shaped=0.8, business=0.05, given=0.65, full=0.65),
        _Bar(shaped=0.9, business=0.0, given=0.5, full=0.5, known=0.85),
    ),
}
"""What confirms each claim: one of its bars. The weaker the claim, the more values must have a
common given name and the fewer may name a business. Set by hand."""
_NOT_PERSONS: Final = frozenset(
    "thing city region country company currency language color job kind".split()
)
"""Concepts of a table whose names aren't people's names."""


def claim_of(column: NameConcepts, table: NameConcepts, siblings: tuple[str, ...]) -> Claim | None:
    """Return what the names claim; None if they say that the values aren't people's names."""
    concepts = column.concepts
    contradicting = concepts & _OTHER_MEANINGS
    if contradicting and not _ends_in_person(column, contradicting):
        return None
    if concepts & {"given_name", "family_name"}:
        return Claim.EXPLICIT
    if "nickname" in concepts:
        return Claim.MENTION_ROLE
    is_named = "name" in concepts or "full_name" in concepts
    if (not _RELATIVES.isdisjoint(column.words) and not _names_thing(column)) and (
        is_named or not column.unknown
    ):
        near = sibling_concepts(siblings)
        if near & {"given_name", "family_name", "full_name"}:
            return Claim.EXPLICIT
    if is_named and concepts & {"first", "last", "middle", "maiden", "full", "preferred", "birth"}:
        if _is_of_thing(column):
            return None
        return Claim.BARE if table.concepts & _NOT_PERSONS else Claim.EXPLICIT
    if "full_name" in concepts or (is_named and concepts & {"person", "contact"}):
        if _names_thing(column):
            return None
        if _is_about_people(column, table, siblings):
            return Claim.ROLE
        return _claim_of_thing(table) if table.concepts & _NOT_PERSONS else Claim.FULL_NAME
    if is_named and concepts & {"party", "parcel", "user", "by"}:
        if _names_thing(column):
            return None
        return Claim.ROLE if sibling_concepts(siblings) & PERSONAL_TRAITS else Claim.PARTY
    if is_named:
        return _claim_of_name(column, table, siblings)
    return _claim_of_mention(column)


def _is_of_thing(column: NameConcepts) -> bool:
    """Return whether a thing stands right before "name": the full product name is no person's."""
    concepts = [meanings().get(word) for word in column.words]
    return ("thing", "name") in pairwise(concepts)


_RELATIVES: Final = terms("relative")
"""People whose names stand beside somebody's: they are named as that one is."""


def _is_about_people(column: NameConcepts, table: NameConcepts, siblings: tuple[str, ...]) -> bool:
    """Return whether a full or display name is a person's: units and places have them too."""
    if column.concepts & {"person", "contact", "party", "user"} or table.concepts & _PARTIES:
        return True
    return bool(sibling_concepts(siblings) & _OF_PEOPLE)


_OF_PEOPLE: Final = PERSONAL_TRAITS | {"given_name", "family_name", "email", "password", "phone"}
"""Concepts of columns next to which a full name is a person's, since units and places lack them."""


_OTHER_MEANINGS: Final = ASPECTS | frozenset(
    """date code city region state country company url currency language color email phone postcode
    password salutation initial job number prefix age gender money percent timezone continent
    mime day month year""".split()
)
_PARTIES: Final = frozenset({"person", "contact", "party", "parcel", "user", "by", "full_name"})


def _names_thing(column: NameConcepts) -> bool:
    """Return whether a thing is named after the person: "customer segment", not "team captain"."""
    concepts = [meanings().get(word) for word in column.words]
    things = [index for index, concept in enumerate(concepts) if concept == "thing"]
    people = [index for index, concept in enumerate(concepts) if concept in _PARTIES]
    return bool(things) and (not people or things[-1] > people[-1])


_BEFORE_PERSON: Final = frozenset(
    {"text", "file", "maker", "title", "kind", "city", "region", "country", "company", "job"}
)
_BEFORE_BY: Final = _BEFORE_PERSON | {"measure", "time", "flag", "date"}


def _ends_in_person(column: NameConcepts, contradicting: frozenset[str]) -> bool:
    """Return whether a name ends in a role, or "by", after words that may precede one.

    "comment author" and "delivered by" mean people.
    """
    concepts = [meanings().get(word, "neutral") for word in column.words]
    specific = [concept for concept in concepts if concept not in {"neutral", "name"}]
    if not specific or specific[-1] not in _PARTIES:
        return False
    return contradicting <= (_BEFORE_BY if specific[-1] == "by" else _BEFORE_PERSON)


def _claim_of_name(
    column: NameConcepts, table: NameConcepts, siblings: tuple[str, ...]
) -> Claim | None:
    """Return the claim of a column called just ``name``, by its table and its neighbours."""
    if "thing" in column.concepts:
        return None
    if len(column.unknown) > 1:
        return Claim.BARE
    near = sibling_concepts(siblings)
    is_other_half = ("given_name" in near) != ("family_name" in near)
    # Beside a plain name, the name of something else isn't the missing half of somebody's.
    if is_other_half and not (column.unknown and any(map(_is_plain_name, siblings))):
        return Claim.EXPLICIT
    about = table.concepts
    if about & _NOT_PERSONS:
        return _claim_of_thing(table)
    if about & {"person", "user", "contact"} or near & PERSONAL_TRAITS:
        return Claim.BARE_PERSON
    return Claim.BARE_PARTY if "party" in about else Claim.BARE


def _is_plain_name(name: str) -> bool:
    read = read_concepts(name)
    return read.concepts == {"name"} and not read.unknown


def _claim_of_thing(table: NameConcepts) -> Claim | None:
    """Return the claim of a name in a table about things; places are often named after people.

    The stations "Franklin" and "Lincoln" are given names, and surnames too.
    """
    if table.concepts & _PARTIES:
        return Claim.BARE
    return None if table.concepts & {"city", "region", "country"} else Claim.NONE


def _claim_of_mention(column: NameConcepts) -> Claim | None:
    """Return the claim of a column that isn't called a name: ``author``, ``customer``."""
    concepts = column.concepts
    if concepts & {"person", "contact", "by"}:
        return None if _names_thing(column) else Claim.MENTION_ROLE
    if concepts & {"party", "user", "username", "handle"}:
        return None if _names_thing(column) else Claim.MENTION_PARTY
    if concepts & {"first", "last", "middle", "maiden", "full"} and concepts <= _NAME_PARTS:
        return Claim.ROLE if _ends_in_part(column) else None
    return None if concepts & {"thing", "address", "street", "job"} else Claim.NONE


def _ends_in_part(column: NameConcepts) -> bool:
    """Return whether only a prefix is unknown: ``c_last``, not ``last_four`` or ``first_seen``."""
    *before, last = column.words
    is_prefix = all(len(word) <= _LONGEST_PREFIX for word in before if word in column.unknown)
    return is_prefix and last not in column.unknown and not last.isdigit()


_LONGEST_PREFIX: Final = 4
_NAME_PARTS: Final = frozenset({"first", "last", "middle", "maiden", "full", "neutral"})


def confirms(shares: NameShares, claim: Claim) -> bool:
    """Return whether the values confirm what the names claim."""
    return any(
        shares.shaped >= bar.shaped
        and shares.given >= bar.given
        and shares.full >= bar.full
        and shares.known >= bar.known
        and shares.business <= bar.business
        for bar in _BARS[claim]
    )


def without_number(value: str) -> str:
    """Return a name without the number that generated test data puts after it: Anna58."""
    return _NUMBERED.sub("", value)


_NUMBERED: Final = re.compile(r"(?<=[^\W\d_]{2})\d{1,4}$")


def measure_names(values: Sequence[str]) -> NameShares:
    """Return how far values look like people's names, from the first forty of them."""
    sample = values[:MOST_VALUES]
    shaped = given = full = known = business = 0
    for written in sample:
        value = _first_person(written)
        if len(value) > _LONGEST_NAME or not _NEVER_IN_NAMES.isdisjoint(value):
            continue
        if _is_business(value):
            business += 1
            continue
        words = _name_words(value)
        if not words or len(words) > _MOST_WORDS:
            continue
        shaped += 1
        has_given, has_full, is_known = _known_words(words, value)
        given += has_given
        full += has_full
        known += is_known
    total = len(sample) or 1
    return NameShares(shaped / total, given / total, full / total, known / total, business / total)


def _first_person(value: str) -> str:
    """Return the first of several full names, without underscores and a remark in brackets."""
    if value.endswith("]"):
        value = value.partition("[")[0].rstrip()
    if "_" in value and _UNDERSCORED.fullmatch(value):
        return value.replace("_", " ")
    people = [part for part in _BETWEEN_PEOPLE.split(value) if part]
    return people[0] if len(people) > 1 and all(" " in person for person in people) else value


_UNDERSCORED: Final = re.compile(r"[^\W\d_]+(?:_[^\W\d_]+){1,3}")
_BETWEEN_PEOPLE: Final = re.compile(r"\s*[,;|]\s*(?:and\s+)?|\s+and\s+")


def _is_business(value: str) -> bool:
    words = value.lower().replace(".", "").replace(",", " ").split()
    return "&" in value or not value_words.BUSINESS.isdisjoint(words)


_LOGIN: Final = re.compile(r"[a-z][a-z._-]{3,24}\d{0,4}")


def login_share(values: Sequence[str]) -> float:
    """Return the share of values that are logins made of a common name: jsmith, anna.b2."""
    sample = values[:MOST_VALUES]
    return sum(map(_is_login, sample)) / len(sample) if sample else 0.0


def _is_login(value: str) -> bool:
    if not _LOGIN.fullmatch(value):
        return False
    letters = value.rstrip("0123456789")
    names = (value_words.given_names(), value_words.surnames())
    if any(letters[1:] in known or letters[:-1] in known for known in names):
        return True
    cuts = range(3, len(letters) - 2)
    return any(letters[:cut] in names[0] or letters[cut:] in names[1] for cut in cuts)


def _name_words(value: str) -> list[str]:
    """Return the words of a name in lower case and reading order, without titles."""
    text = fold(value).lower() if not value.isascii() else value.lower()
    if "," in text:
        last, _, first = text.partition(",")
        text = f"{first} {last}"
    words = [word.strip(".'-\u2019\"()") for word in text.replace(".", ". ").split()]
    untitled = [word for word in words if word and word not in value_words.TITLES]
    if any(
        not word.replace("-", "").replace("'", "").replace("\u2019", "").isalpha()
        for word in untitled
    ):
        return []
    return untitled


def _known_words(words: list[str], value: str) -> tuple[bool, bool, bool]:
    """Return whether a name has a common given name, that and more, or any common name."""
    if not value.isascii():
        in_other_script = _other_script(words)
        if in_other_script:
            return in_other_script
    given_names, surnames = value_words.given_names(), value_words.surnames()
    first = words[0]
    has_given = first in given_names or first.partition("-")[0] in given_names
    following = [word for word in words[1:] if word not in value_words.PARTICLES]
    surname = any(word in surnames or word.rpartition("-")[2] in surnames for word in words)
    is_reversed = first in surnames and any(word in given_names for word in following)
    has_initial = _INITIALS.match(value) is not None or (len(first) == 1 and surname)
    has_given = has_given or is_reversed or has_initial
    return has_given, has_given and bool(following), has_given or surname


_INITIALS: Final = re.compile(r"(?![a-z]\.[a-z])(?:[^\W\d_]\.[ -]?){1,3}[^\W\d_]{3,}[^.]*$")


_PLACE_ENDINGS: Final = frozenset("区區市町村县縣省州府道路街駅站港島湾院校園店課社司")
"""Characters for places, streets and firms, which begin like surnames as often as not."""
_SLAVIC_ENDING: Final = re.compile(r"(ов|ова|ев|ева|ёв|ин|ина|ский|ская|цкий|енко|вич|вна|чук|юк)$")


def _other_script(words: list[str]) -> tuple[bool, bool, bool] | None:
    """Return the same as ``_known_words`` for Chinese, Japanese, Korean, Cyrillic and others."""
    first = words[0]
    if "\u3040" <= first[0] <= "\u9fff" or "\uac00" <= first[0] <= "\ud7a3":
        name = "".join(words)
        known = first[0] in value_words.EAST_ASIAN_SURNAMES and 2 <= len(name) <= 5
        known = known and (len(name) < 3 or name[-1] not in _PLACE_ENDINGS)
        return known, known, known
    if "\u0400" <= first[0] <= "\u04ff":
        known = any(_SLAVIC_ENDING.search(word) for word in words)
        return known, known and len(words) > 1, known
    if first[0] >= "\u0370":
        return False, False, len(words) > 1
    return None
