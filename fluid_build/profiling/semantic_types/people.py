"""Whether a column holds names of persons: by its name, its table and its values together."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from fluid_build.profiling.semantic_types import lexicons
from fluid_build.profiling.semantic_types.naming import sibling_concepts
from fluid_build.profiling.semantic_types.words import Name, without_accents

_READ = 40
_MOST_WORDS = 6
_NEVER_IN_NAMES = frozenset("0123456789@#/\\_:;+=*<>[]{}|%$!?~^")
_FIELD_BREAKS = str.maketrans({",": " , ", ".": ". ", "(": " ", ")": " ", '"': " ", "`": "'"})


class Claim(Enum):
    """What the names of column and table let expect, from the strongest to none at all."""

    EXPLICIT = "named as a part of a person's name"
    ROLE = "named after a person's role"
    PARTY = "named after a party, person or company"
    BARE_PERSON = "a name in a table about persons"
    BARE_PARTY = "a name in a table about parties"
    MENTION = "named after somebody"
    BARE = "a name of something"
    NONE = "not named as a person"


@dataclass(frozen=True, slots=True)
class NameShares:
    """Shares of values: shaped like a name of a person; with a common given name in front; of two
    and more words with one; with a common surname; that name a business.
    """

    shaped: float
    given: float
    full: float
    surname: float
    business: float


@dataclass(frozen=True, slots=True)
class _Needed:
    shaped: float
    given: float
    business: float
    full: float = 0.0


_NEEDED: Final[dict[Claim, tuple[_Needed, ...]]] = {
    Claim.EXPLICIT: (_Needed(0.55, 0.0, 0.35),),
    Claim.ROLE: (_Needed(0.6, 0.15, 0.25),),
    Claim.PARTY: (_Needed(0.6, 0.4, 0.2), _Needed(0.6, 0.25, 0.1, 0.25)),
    Claim.BARE_PERSON: (_Needed(0.6, 0.3, 0.2),),
    Claim.BARE_PARTY: (_Needed(0.6, 0.4, 0.2), _Needed(0.6, 0.25, 0.1, 0.25)),
    Claim.MENTION: (_Needed(0.7, 0.4, 0.15, 0.4), _Needed(0.7, 0.7, 0.1)),
    Claim.BARE: (_Needed(0.75, 0.5, 0.1, 0.5),),
    Claim.NONE: (_Needed(0.8, 0.65, 0.05, 0.65),),
}


def claim_of(column: Name, table: Name, siblings: tuple[str, ...]) -> Claim | None:
    """What the names claim; None where they say that the values are no persons' names."""
    concepts = column.concepts
    if concepts & _REFUSING:
        return None
    if concepts & {"given_name", "family_name"}:
        return Claim.EXPLICIT
    named = "name" in concepts or "full_name" in concepts
    if named and concepts & {"first", "last", "middle", "maiden", "full", "preferred", "birth"}:
        return Claim.EXPLICIT if "thing" not in table.concepts else Claim.BARE
    if "full_name" in concepts or (named and concepts & {"person", "contact"}):
        return Claim.ROLE if "thing" not in concepts else None
    if named and "party" in concepts:
        return Claim.PARTY
    if named:
        return _bare(column, table, siblings)
    return _mention(column)


_REFUSING: Final = frozenset(
    ["id", "kind", "flag", "measure", "time", "text", "file", "maker", "version", "title", "date", "code", "city", "region", "state", "country", "company", "url", "currency", "language", "color", "username", "email", "phone", "postcode", "password", "salutation", "initial", "job", "number", "prefix", "age", "gender", "money", "percent", "timezone", "continent", "mime"]
)


def _bare(column: Name, table: Name, siblings: tuple[str, ...]) -> Claim | None:
    if "thing" in column.concepts or len(column.unknown) > 1:
        return None if "thing" in column.concepts else Claim.BARE
    near = sibling_concepts(siblings)
    if "given_name" in near and "family_name" not in near:
        return Claim.EXPLICIT
    if "family_name" in near and "given_name" not in near:
        return Claim.EXPLICIT
    about = table.concepts
    if "thing" in about and not about & {"person", "party"}:
        return None
    if ("thing" not in about and "person" in about) or near & _BODILY:
        return Claim.BARE_PERSON
    return Claim.BARE_PARTY if "party" in about and "thing" not in about else Claim.BARE


_BODILY: Final = frozenset({"dob", "birth", "gender", "salutation", "national_id", "marital"})


def _mention(column: Name) -> Claim | None:
    concepts = column.concepts
    if concepts & {"person", "party", "by", "contact"}:
        return Claim.MENTION if "thing" not in concepts else None
    if concepts & {"first", "last", "middle", "maiden", "full"} and concepts <= _PARTS:
        return Claim.ROLE if all(len(word) <= 4 for word in column.unknown) else None
    return None if concepts & {"thing", "address", "street", "job"} else Claim.NONE


_PARTS: Final = frozenset({"first", "last", "middle", "maiden", "full", "neutral"})


def accepts(claim: Claim, shares: NameShares) -> bool:
    """Whether the values bear out what the names claim."""
    return any(
        shares.shaped >= needed.shaped
        and shares.given >= needed.given
        and shares.full >= needed.full
        and shares.business <= needed.business
        for needed in _NEEDED[claim]
    )


def measure_names(values: Sequence[str]) -> NameShares:
    """How far values look like names of persons, from the first forty of them."""
    sample = values[:_READ]
    shaped = given = full = surname = business = 0
    for value in sample:
        if len(value) > 80 or not _NEVER_IN_NAMES.isdisjoint(value):
            continue
        if lexicons.BUSINESS.search(value):
            business += 1
            continue
        words = _name_words(value)
        if not words or len(words) > _MOST_WORDS:
            continue
        shaped += 1
        has_given, has_full, has_surname = _known_words(words, value)
        given += has_given
        full += has_full
        surname += has_surname
    total = len(sample) or 1
    return NameShares(shaped / total, given / total, full / total, surname / total, business / total)


def _name_words(value: str) -> list[str]:
    """The words of a name in lower case, without titles and particles; "Last, First" turned."""
    text = without_accents(value).lower() if not value.isascii() else value.lower()
    if "," in text:
        last, _, first = text.partition(",")
        text = f"{first} {last}"
    words = [word.strip(".'-’\"()") for word in text.replace(".", ". ").split()]
    kept = [word for word in words if word and word not in lexicons.TITLES]
    if any(not word.replace("-", "").replace("'", "").replace("’", "").isalpha() for word in kept):
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
    has_surname = words[-1] in surnames or words[-1].rpartition("-")[2] in surnames
    turned = first in surnames and any(word in given_names for word in rest)
    initials = len(first) == 1 and bool(rest) and words[-1] in surnames
    return has_given or turned or initials, bool(rest) and (has_given or turned), has_surname


def _other_script(words: list[str]) -> tuple[bool, bool, bool] | None:
    first = words[0]
    if "\u3040" <= first[0] <= "\u9fff" or "\uac00" <= first[0] <= "\ud7a3":
        known = first[0] in lexicons.CHINESE_SURNAMES and 2 <= len("".join(words)) <= 5
        return known, known, known
    if "\u0400" <= first[0] <= "\u04ff":
        known = any(lexicons.SLAVIC_ENDING.search(word) for word in words)
        return known, known and len(words) > 1, known
    return None
