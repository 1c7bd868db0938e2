"""The decision: a column's name proposes, its values dispose.

Every type of personal data is marked as such wherever it stands. Whether an address, a postal code
or a position is a person's home can't be told from a column, so places are marked too, and who
knows better may take the mark away.
"""

from typing import Final

from fluid_build.profiling.semantic_types import patterns
from fluid_build.profiling.semantic_types.column_facts import ColumnFacts, SemanticType
from fluid_build.profiling.semantic_types.general_types import everyday_type
from fluid_build.profiling.semantic_types.name_grades import Grade, grades
from fluid_build.profiling.semantic_types.nested_values import personal_leaf
from fluid_build.profiling.semantic_types.person_names import (
    Claim,
    NameShares,
    accepts,
    claim_of,
    measure_names,
    share_of_logins,
)
from fluid_build.profiling.semantic_types.personal_types import FAMILIES, TESTS, Support
from fluid_build.profiling.semantic_types.prepared_column import PreparedColumn, lay_out
from fluid_build.sources.personal_text import holds_personal, mentions_personal

_SAYS: Final = {
    Grade.SILENT: "the name does not say so",
    Grade.HINT: "the name hints at it",
    Grade.LIKELY: "the name speaks for it",
    Grade.PLAIN: "the name says so",
}
_TRUST: Final = {Grade.SILENT: 0.1, Grade.HINT: 0.3, Grade.LIKELY: 0.5, Grade.PLAIN: 0.7}
_CLAIM_TRUST: Final = {
    Claim.EXPLICIT: 0.8,
    Claim.ROLE: 0.6,
    Claim.PARTY: 0.4,
    Claim.BARE_PERSON: 0.5,
    Claim.BARE_PARTY: 0.4,
    Claim.MENTION_ROLE: 0.4,
    Claim.MENTION_PARTY: 0.3,
    Claim.BARE: 0.2,
    Claim.NONE: 0.1,
}


def classify(facts: ColumnFacts) -> SemanticType | None:
    """What a column means, from its name, its table, its neighbours and its values.

    None where nothing can be told, and for a column without a single value in a table with rows.
    """
    column = lay_out(facts)
    if column.unseen:
        return _by_name_alone(column)
    if not column.values:
        return None
    found = _named(column) or _person(column) or _silent(column) or everyday_type(column)
    return found if found is not None and found.pii else _held(column, found) or found


def _held(column: PreparedColumn, found: SemanticType | None) -> SemanticType | None:
    """The meaning of a column whose documents or texts hold personal data; None if none does."""
    name = found.name if found is not None else "nested"
    inside = personal_leaf(column.facts, classify)
    if inside is not None:
        reason = f"The values are nested, and in them are values of the type {inside.name}."
        return SemanticType(name, True, inside.confidence, reason)
    values = column.facts.documents or column.facts.values
    if column.family != "text" and not column.facts.documents:
        return None
    # One look at all of them is much quicker, and finds nothing in most columns.
    if not holds_personal("\n".join(values)):
        return None
    mentioning = sum(map(mentions_personal, values))
    if not mentioning:
        return None
    reason = (
        f"{mentioning} of {len(values)} values mention an e-mail address, a phone or"
        " an account number."
    )
    return SemanticType(
        found.name if found is not None else "free_text", True, _MENTIONED_CONFIDENCE, reason
    )


_MENTIONED_CONFIDENCE: Final = 0.6
"""One value that mentions a person is enough to protect a column, and little to know it by."""


def _named(column: PreparedColumn) -> SemanticType | None:
    for label, grade in grades(column.facts.column):
        support = TESTS[label](column, grade)
        if support.suffices:
            return _personal(label, grade, support, column)
    return None


def _silent(column: PreparedColumn) -> SemanticType | None:
    """Types that values show on their own, tested only where a first glance allows."""
    tried = {label for label, _ in grades(column.facts.column)}
    for label in _glance(column):
        if label in tried:
            continue
        support = TESTS[label](column, Grade.SILENT)
        if support.suffices:
            return _personal(label, Grade.SILENT, support, column)
    return None


def _glance(column: PreparedColumn) -> list[str]:
    if column.family == "integer":
        return ["card_number"] if len(column.values[0]) >= 14 else []
    if column.family != "text":
        return []
    seen = column.values[:3]
    labels = ["email"] if any("@" in value for value in seen) else []
    if any("\\" in value for value in seen):
        labels.append("username")
    if not any(char.isdigit() for value in seen for char in value):
        return labels
    if any(value.count(".") >= 3 or value.count(":") >= 2 for value in seen):
        labels.append("ip_address")
    if any(patterns.PHONE.fullmatch(value) for value in seen):
        labels.append("phone")
    if any(len(value) >= 13 for value in seen):
        labels += ["card_number", "credential"]
    if any(9 <= len(value) <= 20 for value in seen):
        labels.append("national_id")
    if any(" " in value for value in seen):
        labels.append("address")
    return labels


def _person(column: PreparedColumn) -> SemanticType | None:
    if column.family != "text":
        return None
    claim = claim_of(column.name, column.table, column.facts.siblings)
    if claim is None or (claim is Claim.NONE and not _worth_reading(column)):
        return None
    if "middle" in column.name.concepts and max(map(len, column.values)) <= 2:
        return None
    shares = measure_names(column.values)
    if accepts(claim, shares):
        return _person_name(claim, shares, column)
    return _login(column) if claim in (Claim.MENTION_ROLE, Claim.MENTION_PARTY) else None


def _login(column: PreparedColumn) -> SemanticType | None:
    logins = share_of_logins(column.values)
    if logins < _LOGINS_NEEDED:
        return None
    read = min(len(column.values), 40)
    reason = f"{round(logins * read)} of {read} values are logins made of common names."
    return SemanticType("username", True, round(0.3 + logins / 2, 2), reason)


_LOGINS_NEEDED: Final = 0.6


def _worth_reading(column: PreparedColumn) -> bool:
    seen = column.values[:5]
    return (
        column.facts.distinct >= 5 and sum(" " in value and len(value) < 40 for value in seen) >= 3
    )


def _person_name(claim: Claim, shares: NameShares, column: PreparedColumn) -> SemanticType:
    read = min(len(column.values), 40)
    confidence = 1 - (1 - _CLAIM_TRUST[claim]) * (1 - 0.9 * max(shares.known, 0.3))
    reason = (
        f"{round(shares.shaped * read)} of {read} values are shaped like a person's name and"
        f" {round(shares.given * read)} have a common given name; the column is {claim.value}."
    )
    return SemanticType("person_name", True, round(confidence, 2), reason)


def _personal(label: str, grade: Grade, support: Support, column: PreparedColumn) -> SemanticType:
    looked = len(column.values)
    confidence = 1 - (1 - _TRUST[grade]) * (1 - 0.9 * min(support.share, 1.0))
    reason = (
        f"{round(support.share * looked)} of {looked} values are {support.what}; {_SAYS[grade]}."
    )
    return SemanticType(label, True, round(confidence, 2), reason)


_UNSEEN_CONFIDENCE: Final = 0.6


def _by_name_alone(column: PreparedColumn) -> SemanticType | None:
    for label, grade in grades(column.facts.column):
        if grade is Grade.PLAIN and column.family in FAMILIES[label]:
            return SemanticType(
                label,
                True,
                _UNSEEN_CONFIDENCE,
                "The name says so; there are no rows to check it on.",
            )
    claim = claim_of(column.name, column.table, column.facts.siblings)
    if column.family == "text" and claim in (Claim.EXPLICIT, Claim.ROLE):
        return SemanticType(
            "person_name",
            True,
            _UNSEEN_CONFIDENCE,
            f"The column is {claim.value}; there are no rows to check it on.",
        )
    return None
