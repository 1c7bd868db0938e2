"""The decision on a column's meaning: its name proposes, its values dispose.

Every type of personal data is marked as such wherever it occurs. Whether an address, a postal code
or a position is a person's home can't be seen from a column, so places are marked too, and someone
who knows better may remove the mark.
"""

import re
from dataclasses import replace
from typing import Final

from fluid_build.profiling.semantic_types import patterns
from fluid_build.profiling.semantic_types.checked_numbers import (
    find_checked_number,
    find_personal_number,
)
from fluid_build.profiling.semantic_types.column_facts import (
    ColumnFacts,
    PreparedColumn,
    SemanticType,
    prepare,
)
from fluid_build.profiling.semantic_types.general_types import find_general_type
from fluid_build.profiling.semantic_types.name_grades import Grade, grades
from fluid_build.profiling.semantic_types.nested_values import (
    NestedField,
    classify_items,
    find_personal_fields,
)
from fluid_build.profiling.semantic_types.person_names import (
    MOST_VALUES,
    Claim,
    claim_of,
    confirms,
    login_share,
    measure_names,
    without_number,
)
from fluid_build.profiling.semantic_types.personal_types import (
    Support,
    is_near_person,
    may_be,
    tested,
)
from fluid_build.sources.text_values.personal_text import holds_personal, mentions_personal

_GRADE_REASONS: Final = {
    Grade.SILENT: "the name doesn't say so",
    Grade.HINT: "the name hints at it",
    Grade.LIKELY: "the name suggests it",
    Grade.PLAIN: "the name says so",
}
_GRADE_CONFIDENCE: Final = {Grade.SILENT: 0.1, Grade.HINT: 0.3, Grade.LIKELY: 0.5, Grade.PLAIN: 0.7}
"""The confidence by the name alone; the values make up for what is missing."""
_CLAIM_CONFIDENCE: Final = {
    Claim.EXPLICIT: 0.8,
    Claim.ROLE: 0.6,
    Claim.FULL_NAME: 0.4,
    Claim.PARTY: 0.4,
    Claim.BARE_PERSON: 0.5,
    Claim.BARE_PARTY: 0.4,
    Claim.MENTION_ROLE: 0.4,
    Claim.MENTION_PARTY: 0.3,
    Claim.BARE: 0.2,
    Claim.NONE: 0.1,
}
"""The same for names of people."""
_VALUE_CONFIDENCE: Final = 0.9
"""The confidence if all values pass and the name says nothing: shapes alone may deceive."""
_LEAST_KNOWN: Final = 0.3
"""The least share of known names that counts: uncommon names are names all the same."""
_MENTIONED_CONFIDENCE: Final = 0.6
"""One value that mentions a person is enough to protect a column, and little to know it by."""
_NAME_ALONE_CONFIDENCE: Final = 0.6
"""A plain name of a column without rows is right more often than not."""
_LEAST_LOGINS: Final = 0.6
"""The share of values that must be logins made of common names; other logins are words too."""


def classify(facts: ColumnFacts) -> SemanticType | None:
    """Return what a column means, by its name, its table, its neighbours and its values.

    None if nothing can be said, and for a column without a single value in a table with rows.
    """
    column = prepare(facts)
    if column.has_no_rows:
        return _by_name_alone(column)
    if not column.values:
        return None
    meaning = _by_items(column) or (
        _by_name(column)
        or _by_person_names(column)
        or find_personal_number(column)
        or _by_values(column)
        or _by_dates_of_people(column)
    )
    meaning = meaning or find_general_type(column) or find_checked_number(column)
    if meaning is not None and meaning.pii:
        return meaning
    return _by_personal_content(column, meaning) or meaning


def _by_items(column: PreparedColumn) -> SemanticType | None:
    """Return what the items of lists mean; JSON that holds lists stays JSON unless personal."""
    is_list = column.facts.type.endswith("]")
    if not is_list and not column.values[0].startswith("["):
        return None
    meaning = classify_items(column.facts, classify)
    if meaning is None or not (is_list or meaning.pii):
        return None
    return replace(meaning, reason=f"Items of the lists: {meaning.reason}")


def _by_name(column: PreparedColumn) -> SemanticType | None:
    """Return the clearest personal type that the name suggests and the values confirm."""
    for label, grade in grades(column.facts.column):
        support = tested(label, column, grade)
        if support is not None:
            return _personal_type(label, grade, support, column)
    return None


def _by_values(column: PreparedColumn) -> SemanticType | None:
    """Return the personal type that the values show by themselves."""
    named = {label for label, _ in grades(column.facts.column)}
    for label in _visible_types(column):
        support = None if label in named else tested(label, column, Grade.SILENT)
        if support is not None:
            return _personal_type(label, Grade.SILENT, support, column)
    return None


def _by_dates_of_people(column: PreparedColumn) -> SemanticType | None:
    """Return a date of birth where dates without a name of their own stand beside people's names.

    Nothing else of people goes back as far: who was hired or joined decades ago is no member now.
    """
    unknown = column.name.concepts - {"date"} or any(
        len(word) > _MOST_LETTERS for word in column.name.unknown
    )
    if unknown or not is_near_person(column):
        return None
    years = sorted(int(found[0]) for v in column.values if (found := _YEAR_OF_DATE.match(v)))
    if len(years) < max(_FEWEST_BORN, 0.9 * len(column.values)):
        return None
    if years[0] < _EARLIEST_BIRTH or not _LEAST_AGES <= years[-1] - years[0] <= _MOST_AGES:
        return None
    reason = (
        f"It stands beside names of people, and its dates are spread over {years[-1] - years[0]}"
        " years."
    )
    return SemanticType("date_of_birth", True, 0.6, reason)


_YEAR_OF_DATE: Final = re.compile(r"\d{4}(?=-\d\d-\d\d)")
_FEWEST_BORN: Final = 12
"""Dates; of fewer, the oldest and the youngest are apart by accident."""
_MOST_LETTERS: Final = 3
"""Of a word that says nothing: longer ones, such as hired, say what the date is about."""
_EARLIEST_BIRTH: Final = 1895
"""Nobody alive was born before; 1800-01-01 stands for a date that nobody knows."""
_LEAST_AGES, _MOST_AGES = 40, 120
"""Years between the oldest and the youngest; less may be the years of a firm."""


def _visible_types(column: PreparedColumn) -> list[str]:
    """Return the types that a first glance at a few values allows, since most tests are slow."""
    if column.family == "integer":
        return ["card_number"] if len(column.values[0]) >= 14 else []
    if column.family != "text":
        return []
    glance = column.values[:3]
    labels = ["email"] if any("@" in value for value in glance) else []
    if any("\\" in value for value in glance):
        labels.append("username")
    if not any(char.isdigit() for value in glance for char in value):
        return labels
    if any(value.count(".") >= 3 or value.count(":") >= 2 for value in glance):
        labels.append("ip_address")
    if any(patterns.PHONE.fullmatch(value) for value in glance):
        labels.append("phone")
    if any(len(value) >= 13 for value in glance):
        labels += ["card_number", "credential"]
    if any(9 <= len(value) <= 20 for value in glance):
        labels.append("national_id")
    if any(" " in value for value in glance):
        labels.append("address")
    return labels


def _personal_type(
    label: str, grade: Grade, support: Support, column: PreparedColumn
) -> SemanticType:
    total = len(column.values)
    doubt = 1 - _VALUE_CONFIDENCE * min(support.share, 1.0)
    confidence = 1 - (1 - _GRADE_CONFIDENCE[grade]) * doubt
    passing = round(support.share * total)
    reason = f"{passing} of {total} values are {support.what}; {_GRADE_REASONS[grade]}."
    return SemanticType(label, True, round(confidence, 2), reason)


def _by_person_names(column: PreparedColumn) -> SemanticType | None:
    if column.family != "text":
        return None
    claim = claim_of(column.name, column.table, column.facts.siblings)
    if claim is None or (claim is Claim.NONE and not _may_be_names(column)):
        return None
    # One or two letters are initials; le is a surname somewhere, and less or equal.
    is_initial = "middle" in column.name.concepts or claim is not Claim.EXPLICIT
    if is_initial and all(len(value) <= 2 and value.isascii() for value in column.values):
        return None
    values = column.values
    if claim in (Claim.EXPLICIT, Claim.ROLE):
        values = tuple(map(without_number, values))
    shares = measure_names(values)
    if confirms(shares, claim):
        total = min(len(column.values), MOST_VALUES)
        doubt = 1 - _VALUE_CONFIDENCE * max(shares.known, _LEAST_KNOWN)
        confidence = 1 - (1 - _CLAIM_CONFIDENCE[claim]) * doubt
        reason = (
            f"{round(shares.shaped * total)} of {total} values are shaped like a person's name and"
            f" {round(shares.given * total)} have a common given name; the column is {claim.value}."
        )
        return SemanticType("person_name", True, round(confidence, 2), reason)
    return _login(column) if claim in (Claim.MENTION_ROLE, Claim.MENTION_PARTY) else None


def _may_be_names(column: PreparedColumn) -> bool:
    """Return whether a column of any name is worth reading: several short values of two words."""
    glance = column.values[:5]
    return (
        column.facts.distinct >= 5
        and sum(" " in value and len(value) < 40 for value in glance) >= 3
    )


def _login(column: PreparedColumn) -> SemanticType | None:
    logins = login_share(column.values)
    if logins < _LEAST_LOGINS:
        return None
    total = min(len(column.values), MOST_VALUES)
    reason = f"{round(logins * total)} of {total} values are logins made of common names."
    return SemanticType("username", True, round(0.3 + logins / 2, 2), reason)


def _by_personal_content(
    column: PreparedColumn, meaning: SemanticType | None
) -> SemanticType | None:
    """Return the meaning of a column whose documents or texts contain personal data, else None."""
    fields = find_personal_fields(column.facts, classify)
    if fields:
        return _nested(column, fields, "nested" if meaning is None else meaning.name)
    values = column.facts.documents or column.facts.values
    if column.family != "text" and not column.facts.documents:
        return None
    # One search over all of them is much faster, and finds nothing in most columns.
    if not holds_personal("\n".join(values)):
        return None
    mentioning = sum(map(mentions_personal, values))
    if not mentioning:
        return None
    name = meaning.name if meaning is not None else "free_text"
    reason = (
        f"{mentioning} of {len(values)} values mention an e-mail address, a phone number or an"
        " account number."
    )
    return SemanticType(name, True, _MENTIONED_CONFIDENCE, reason)


_MOST_SHOWN_FIELDS: Final = 5
"""Fields that a reason lists; the surest are enough to find the others by."""


def _nested(column: PreparedColumn, fields: list[NestedField], otherwise: str) -> SemanticType:
    """Return the meaning of a column by its personal fields, named by the column if both agree."""
    within = {field.meaning.name for field in fields}
    named = (label for label, _ in grades(column.facts.column) if label in within)
    described = dict.fromkeys(f"`{field.path}` ({field.meaning.name})" for field in fields)
    more = len(described) - _MOST_SHOWN_FIELDS
    shown = ", ".join(list(described)[:_MOST_SHOWN_FIELDS])
    reason = f"Personal data in {shown}{f' and {more} more' if more > 0 else ''}."
    return SemanticType(next(named, otherwise), True, fields[0].meaning.confidence, reason)


def _by_name_alone(column: PreparedColumn) -> SemanticType | None:
    for label, grade in grades(column.facts.column):
        if grade is Grade.PLAIN and may_be(label, column):
            return SemanticType(
                label,
                True,
                _NAME_ALONE_CONFIDENCE,
                "The name says so; there are no rows to check it.",
            )
    claim = claim_of(column.name, column.table, column.facts.siblings)
    if column.family == "text" and claim in (Claim.EXPLICIT, Claim.ROLE):
        return SemanticType(
            "person_name",
            True,
            _NAME_ALONE_CONFIDENCE,
            f"The column is {claim.value}; there are no rows to check it.",
        )
    return None
