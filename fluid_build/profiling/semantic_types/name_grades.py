"""How clearly a column's name says what it holds."""

from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import Final

from fluid_build.profiling.names.concepts import NameConcepts, read_concepts

Concepts = frozenset[str]


class Grade(IntEnum):
    """How clearly a name says that a column holds something."""

    SILENT = 0
    HINT = 1
    LIKELY = 2
    PLAIN = 3


ASPECTS: Final = frozenset(
    {"id", "key", "kind", "flag", "measure", "time", "text", "file", "maker", "version", "title"}
)
"""Concepts of a property instead of the thing itself: the type, count or date of an address."""

_DATE_PARTS: Final = frozenset({"year", "month", "day", "age"})
_PLACES: Final = frozenset({"city", "region", "state", "country", "continent", "timezone"})
_OTHER_ADDRESSES: Final = frozenset({"ip", "mac", "url", "otherplace", "email"})


def _has_all(concepts: Concepts, *required: str) -> bool:
    return concepts.issuperset(required)


def _email(concepts: Concepts) -> Grade:
    if "email" in concepts or _has_all(concepts, "mail", "electronic"):
        return Grade.HINT if concepts & ASPECTS else Grade.PLAIN
    return Grade.LIKELY if "mail" in concepts else Grade.SILENT


def _phone(concepts: Concepts) -> Grade:
    if concepts & ASPECTS or "prefix" in concepts or "code" in concepts:
        return Grade.SILENT
    if "phone" in concepts:
        return Grade.PLAIN
    if "mobile" in concepts or ("number" in concepts and concepts & {"contact", "call"}):
        return Grade.LIKELY
    return Grade.HINT if "contact" in concepts and "name" not in concepts else Grade.SILENT


def _postcode(concepts: Concepts) -> Grade:
    if concepts & ASPECTS:
        return Grade.SILENT
    if "postcode" in concepts or _has_all(concepts, "postal", "code"):
        return Grade.PLAIN
    if _has_all(concepts, "postal", "number"):
        return Grade.LIKELY
    if "postal" in concepts and not concepts & {"address", "street", "street_hint", *_PLACES}:
        return Grade.LIKELY
    hinted = "postcode_hint" in concepts or _has_all(concepts, "pin", "code")
    return Grade.HINT if hinted else Grade.SILENT


def _address(concepts: Concepts) -> Grade:
    if concepts & (_OTHER_ADDRESSES | _PLACES | (ASPECTS - {"text"})):
        return Grade.SILENT
    if concepts & {"postcode", "phone", "latitude", "longitude", "lat", "lon", "network"}:
        return Grade.SILENT
    if "address" in concepts:
        return Grade.LIKELY if concepts & {"mail", "number", "text", "web"} else Grade.PLAIN
    if "street" in concepts:
        return Grade.HINT if concepts & {"number", "text", "code", "house_number"} else Grade.PLAIN
    return Grade.HINT if concepts & {"street_hint", "coordinates"} else Grade.SILENT


def _birth(concepts: Concepts) -> Grade:
    if concepts & _DATE_PARTS and "date" not in concepts:
        return Grade.SILENT
    if concepts & (_PLACES | {"name", "flag", "measure", "kind", "id", "number", "text"}):
        return Grade.SILENT
    if "dob" in concepts or _has_all(concepts, "birth", "date"):
        return Grade.PLAIN
    return Grade.LIKELY if "birth" in concepts else Grade.SILENT


def _credential(concepts: Concepts) -> Grade:
    if concepts & {"flag", "measure", "time", "date", "kind", "url"}:
        return Grade.SILENT
    if (
        "password" in concepts
        or _has_all(concepts, "secret", "key")
        or _has_all(concepts, "access", "key")
    ):
        return Grade.PLAIN
    if _has_all(concepts, "security", "answer"):
        return Grade.PLAIN
    if _has_all(concepts, "access", "token") or concepts & {"secret", "pass"}:
        return Grade.LIKELY
    if concepts & {"token", "salt"} and not concepts & {"id", "thing"}:
        return Grade.LIKELY
    return Grade.HINT if "pin" in concepts else Grade.SILENT


_USER_ID_CONCEPTS: Final = frozenset({"user", "id", "neutral", "code"})
_LOGINS: Final = frozenset({"login", "handle", "nickname", "social_media"})
_USER_CONCEPTS: Final = frozenset({"user", "neutral", "name", "system"})


def _username(concepts: Concepts) -> Grade:
    if concepts & {"flag", "measure", "time", "kind", "url", "ip", "text", "file"}:
        return Grade.SILENT
    if concepts & {"password", "date"}:
        return Grade.SILENT
    if (
        "username" in concepts
        or _has_all(concepts, "login", "name")
        or _has_all(concepts, "login", "id")
    ):
        return Grade.PLAIN
    if "social_media" in concepts and concepts & {"id", "number", "company"}:
        return Grade.SILENT
    if concepts & _LOGINS or ("user" in concepts and concepts <= _USER_CONCEPTS):
        return Grade.LIKELY
    return Grade.HINT if {"user", "id"} <= concepts <= _USER_ID_CONCEPTS else Grade.SILENT


def _national_id(concepts: Concepts) -> Grade:
    if concepts & {"flag", "measure", "time", "kind", "date", "country", "text", "file", "state"}:
        return Grade.SILENT
    if "national_id" in concepts or _has_all(concepts, "social", "security"):
        return Grade.PLAIN
    numbered = concepts & {"number", "id", "code", "card"}
    if numbered and concepts & {"national", "social"}:
        return Grade.PLAIN
    if (numbered and concepts & {"identity"}) or _has_all(concepts, "driving", "licence"):
        return Grade.LIKELY
    if "id" in concepts and ("card_number" in concepts or _has_all(concepts, "card", "number")):
        return Grade.LIKELY
    if concepts & {"number", "code"} and concepts & {"personal", "licence", "id"}:
        return Grade.HINT
    if (numbered and concepts & {"tax", "document"}) or "national_id_hint" in concepts:
        return Grade.HINT
    return Grade.SILENT


def _card_number(concepts: Concepts) -> Grade:
    if concepts & (
        ASPECTS | {"club", "card_security", "identity", "name", "person", "month", "year"}
    ):
        return Grade.SILENT
    if "credit_card_number" in concepts:
        return Grade.PLAIN
    if "card_number" in concepts or _has_all(concepts, "card", "number"):
        return Grade.PLAIN if "credit" in concepts else Grade.LIKELY
    if "credit_card" in concepts:
        return Grade.PLAIN if "number" in concepts else Grade.LIKELY
    if _has_all(concepts, "card", "credit") or _has_all(concepts, "credit", "number"):
        return Grade.LIKELY
    return Grade.HINT if concepts & {"card", "pan"} else Grade.SILENT


def _ip_address(concepts: Concepts) -> Grade:
    if "ip" in concepts:
        return Grade.HINT if concepts & (ASPECTS - {"id"}) else Grade.PLAIN
    return Grade.HINT if _has_all(concepts, "network", "address") else Grade.SILENT


def _degrees(name: str, other: str) -> Callable[[Concepts], Grade]:
    """Return what grades a latitude or a longitude, which its first three letters stand for."""

    def grade(concepts: Concepts) -> Grade:
        if concepts & (ASPECTS | {other, other[:3]}):
            return Grade.SILENT
        if name in concepts:
            return Grade.PLAIN
        return Grade.LIKELY if name[:3] in concepts else Grade.SILENT

    return grade


GRADERS: Final[dict[str, Callable[[Concepts], Grade]]] = {
    "email": _email,
    "ip_address": _ip_address,
    "card_number": _card_number,
    "national_id": _national_id,
    "credential": _credential,
    "date_of_birth": _birth,
    "latitude": _degrees("latitude", "longitude"),
    "longitude": _degrees("longitude", "latitude"),
    "postal_code": _postcode,
    "phone": _phone,
    "username": _username,
    "address": _address,
}


@lru_cache(maxsize=65536)
def grades(column: str) -> tuple[tuple[str, Grade], ...]:
    """Return what a name may mean, the clearest first; ``person_names`` judges names of people."""
    concepts = read_concepts(column).concepts
    if not concepts:
        return ()
    graded = [(label, grader(concepts)) for label, grader in GRADERS.items()]
    return tuple(sorted((item for item in graded if item[1]), key=lambda item: -item[1]))


PERSONAL_TRAITS: Final = frozenset(
    {"dob", "birth", "gender", "salutation", "national_id", "marital"}
)
_PERSON_CONCEPTS: Final = PERSONAL_TRAITS | {"given_name", "family_name"}
"""Concepts of columns that only people have."""


def describes_people(table: NameConcepts, siblings: tuple[str, ...]) -> bool:
    """Return whether a table's rows are people: its name says so, or its other columns do."""
    if "thing" not in table.concepts and table.concepts & {"person", "user", "contact"}:
        return True
    return bool(sibling_concepts(siblings) & _PERSON_CONCEPTS)


_MOST_SIBLINGS = 100
"""Columns of a wide table whose names are read."""


def sibling_concepts(siblings: tuple[str, ...]) -> frozenset[str]:
    """Return the concepts of a table's other columns, of the first hundred in a wide table."""
    return frozenset().union(*(read_concepts(name).concepts for name in siblings[:_MOST_SIBLINGS]))
