"""Whether a column holds names of persons: by its name, its table and its values together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from fluid_build.profiling.semantic_types import lexicons
from fluid_build.profiling.semantic_types.lexicons import CONCEPT_OF
from fluid_build.profiling.semantic_types.name_concepts import NameConcepts, without_accents
from fluid_build.profiling.semantic_types.name_grades import ASPECTS, sibling_concepts

_READ = 40
_MOST_WORDS = 6
_NEVER_IN_NAMES = frozenset("0123456789@#/\\_:;+=*<>[]{}|%$!?~^")


class Claim(Enum):
    """What the names of column and table let expect, from the strongest to none at all."""

    EXPLICIT = "named as a part of a person's name"
    ROLE = "named after a person's role"
    PARTY = "named after a party, person or company"
    BARE_PERSON = "a name in a table about persons"
    BARE_PARTY = "a name in a table about parties"
    MENTION_ROLE = "named after a person"
    MENTION_PARTY = "named after somebody"
    BARE = "a name of something"
    NONE = "not named as a person"


@dataclass(frozen=True, slots=True)
class NameShares:
    """Shares of values: shaped like a name of a person; with a common given name in front; of two
    and more words with one; with a common given name or surname; that name a business.
    """

    shaped: float
    given: float
    full: float
    known: float
    business: float


@dataclass(frozen=True, slots=True)
class _Needed:
    shaped: float
    business: float
    given: float = 0.0
    full: float = 0.0
    known: float = 0.0


_PARTY_NEEDS: Final = (
    _Needed(shaped=0.6, business=0.2, given=0.4),
    _Needed(shaped=0.6, business=0.1, given=0.25, known=0.5),
)
_NEEDED: Final[dict[Claim, tuple[_Needed, ...]]] = {
    Claim.EXPLICIT: (_Needed(shaped=0.55, business=0.35),),
    Claim.ROLE: (_Needed(shaped=0.6, business=0.25, known=0.1),),
    Claim.PARTY: _PARTY_NEEDS,
    Claim.BARE_PERSON: (_Needed(shaped=0.6, business=0.2, known=0.25),),
    Claim.BARE_PARTY: _PARTY_NEEDS,
    Claim.MENTION_ROLE: (
        _Needed(shaped=0.7, business=0.15, given=0.15, known=0.4),
        _Needed(shaped=0.7, business=0.1, given=0.5),
    ),
    Claim.MENTION_PARTY: (
        _Needed(shaped=0.7, business=0.15, given=0.4, full=0.4),
        _Needed(shaped=0.7, business=0.1, given=0.7),
    ),
    Claim.BARE: (_Needed(shaped=0.75, business=0.1, given=0.5, full=0.5),),
    Claim.NONE: (_Needed(shaped=0.8, business=0.05, given=0.65, full=0.65),),
}
_NOT_PERSONS: Final = frozenset(
    "thing city region country company currency language color job kind".split()
)
"""Concepts of a table whose names are not names of persons."""


def claim_of(column: NameConcepts, table: NameConcepts, siblings: tuple[str, ...]) -> Claim | None:
    """What the names claim; None where they say that the values are no persons' names."""
    concepts = column.concepts
    refusing = concepts & _REFUSING
    if refusing and not _ends_on_somebody(column, refusing):
        return None
    if concepts & {"given_name", "family_name"}:
        return Claim.EXPLICIT
    named = "name" in concepts or "full_name" in concepts
    if named and concepts & {"first", "last", "middle", "maiden", "full", "preferred", "birth"}:
        return Claim.BARE if table.concepts & _NOT_PERSONS else Claim.EXPLICIT
    if "full_name" in concepts or (named and concepts & {"person", "contact"}):
        return None if _speaks_of_thing(column) else Claim.ROLE
    if named and concepts & {"party", "parcel", "user"}:
        if _speaks_of_thing(column):
            return None
        return Claim.ROLE if sibling_concepts(siblings) & _BODILY else Claim.PARTY
    if named:
        return _bare(column, table, siblings)
    return _mention(column)


_REFUSING: Final = ASPECTS | frozenset(
    """date code city region state country company url currency language color email phone postcode
    password salutation initial job number prefix age gender money percent timezone continent
    mime""".split()
)
_SOMEBODY: Final = frozenset({"person", "contact", "party", "parcel", "user", "by", "full_name"})


def _speaks_of_thing(column: NameConcepts) -> bool:
    """Whether a thing is named after the person: "customer segment", unlike "team captain"."""
    concepts = [CONCEPT_OF.get(word) for word in column.words]
    things = [at for at, concept in enumerate(concepts) if concept == "thing"]
    persons = [at for at, concept in enumerate(concepts) if concept in _SOMEBODY]
    return bool(things) and (not persons or things[-1] > persons[-1])


_PRECEDING: Final = frozenset(
    {"text", "file", "maker", "title", "kind", "city", "region", "country", "company", "job"}
)
_DOING: Final = _PRECEDING | {"measure", "time", "flag", "date"}


def _ends_on_somebody(column: NameConcepts, before: frozenset[str]) -> bool:
    """Whether the last telling word is a role, or "by": "comment author", "delivered to"."""
    concepts = [CONCEPT_OF.get(word, "neutral") for word in column.words]
    telling = [concept for concept in concepts if concept not in {"neutral", "name"}]
    if not telling or telling[-1] not in _SOMEBODY:
        return False
    return before <= (_DOING if telling[-1] == "by" else _PRECEDING)


def _bare(column: NameConcepts, table: NameConcepts, siblings: tuple[str, ...]) -> Claim | None:
    if "thing" in column.concepts:
        return None
    if len(column.unknown) > 1:
        return Claim.BARE
    near = sibling_concepts(siblings)
    if "given_name" in near and "family_name" not in near:
        return Claim.EXPLICIT
    if "family_name" in near and "given_name" not in near:
        return Claim.EXPLICIT
    about = table.concepts
    if about & _NOT_PERSONS:
        return Claim.BARE if about & _SOMEBODY else None
    if about & {"person", "user", "contact"} or near & _BODILY:
        return Claim.BARE_PERSON
    return Claim.BARE_PARTY if "party" in about else Claim.BARE


_BODILY: Final = frozenset({"dob", "birth", "gender", "salutation", "national_id", "marital"})


def _mention(column: NameConcepts) -> Claim | None:
    concepts = column.concepts
    if concepts & {"person", "contact", "by"}:
        return None if _speaks_of_thing(column) else Claim.MENTION_ROLE
    if concepts & {"party", "user", "username", "handle"}:
        return None if _speaks_of_thing(column) else Claim.MENTION_PARTY
    if concepts & {"first", "last", "middle", "maiden", "full"} and concepts <= _PARTS:
        return Claim.ROLE if _ends_on_part(column) else None
    return None if concepts & {"thing", "address", "street", "job"} else Claim.NONE


def _ends_on_part(column: NameConcepts) -> bool:
    """Whether only a prefix is unknown: ``c_last``, but not ``last_four`` or ``first_seen``."""
    *before, last = column.words
    prefixed = all(len(word) <= _LONGEST_PREFIX for word in before if word in column.unknown)
    return prefixed and last not in column.unknown and not last.isdigit()


_LONGEST_PREFIX: Final = 4
_PARTS: Final = frozenset({"first", "last", "middle", "maiden", "full", "neutral"})


def accepts(claim: Claim, shares: NameShares) -> bool:
    """Whether the values bear out what the names claim."""
    return any(
        shares.shaped >= needed.shaped
        and shares.given >= needed.given
        and shares.full >= needed.full
        and shares.known >= needed.known
        and shares.business <= needed.business
        for needed in _NEEDED[claim]
    )


def measure_names(values: Sequence[str]) -> NameShares:
    """How far values look like names of persons, from the first forty of them."""
    sample = values[:_READ]
    shaped = given = full = known = business = 0
    for value in sample:
        if len(value) > 80 or not _NEVER_IN_NAMES.isdisjoint(value):
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


def _is_business(value: str) -> bool:
    words = value.lower().replace(".", "").replace(",", " ").split()
    return "&" in value or not lexicons.BUSINESS.isdisjoint(words)


_LOGIN: Final = re.compile(r"[a-z][a-z._-]{3,24}\d{0,4}")


def share_of_logins(values: Sequence[str]) -> float:
    """The share of values that are a login made of a common name and more: jsmith, anna.b2."""
    sample = values[:_READ]
    return sum(map(_is_login, sample)) / len(sample) if sample else 0.0


def _is_login(value: str) -> bool:
    if not _LOGIN.fullmatch(value):
        return False
    letters = value.rstrip("0123456789")
    names = (lexicons.given_names(), lexicons.surnames())
    if any(letters[1:] in known or letters[:-1] in known for known in names):
        return True
    cuts = range(3, len(letters) - 2)
    return any(letters[:cut] in names[0] or letters[cut:] in names[1] for cut in cuts)


def _name_words(value: str) -> list[str]:
    """The words of a name in lower case, without titles and particles; "Last, First" turned."""
    text = without_accents(value).lower() if not value.isascii() else value.lower()
    if "," in text:
        last, _, first = text.partition(",")
        text = f"{first} {last}"
    words = [word.strip(".'-\u2019\"()") for word in text.replace(".", ". ").split()]
    kept = [word for word in words if word and word not in lexicons.TITLES]
    if any(
        not word.replace("-", "").replace("'", "").replace("\u2019", "").isalpha() for word in kept
    ):
        return []
    return kept


def _known_words(words: list[str], value: str) -> tuple[bool, bool, bool]:
    if not value.isascii():
        foreign = _other_script(words)
        if foreign:
            return foreign
    given_names, surnames = lexicons.given_names(), lexicons.surnames()
    first = words[0]
    has_given = first in given_names or first.partition("-")[0] in given_names
    rest = [word for word in words[1:] if word not in lexicons.PARTICLES]
    surname = any(word in surnames or word.rpartition("-")[2] in surnames for word in words)
    turned = first in surnames and any(word in given_names for word in rest)
    initialled = _INITIALLED.match(value) is not None or (len(first) == 1 and surname)
    has_given = has_given or turned or initialled
    return has_given, has_given and bool(rest), has_given or surname


_INITIALLED: Final = re.compile(r"(?:[^\W\d_]\.[ -]?){1,3}[^\W\d_]{3,}[^.]*$")


_SLAVIC_ENDING: Final = re.compile(r"(ов|ова|ев|ева|ёв|ин|ина|ский|ская|цкий|енко|вич|вна|чук|юк)$")


def _other_script(words: list[str]) -> tuple[bool, bool, bool] | None:
    first = words[0]
    if "\u3040" <= first[0] <= "\u9fff" or "\uac00" <= first[0] <= "\ud7a3":
        known = first[0] in lexicons.EAST_ASIAN_SURNAMES and 2 <= len("".join(words)) <= 5
        return known, known, known
    if "\u0400" <= first[0] <= "\u04ff":
        known = any(_SLAVIC_ENDING.search(word) for word in words)
        return known, known and len(words) > 1, known
    if first[0] >= "\u0370":
        return False, False, len(words) > 1
    return None
