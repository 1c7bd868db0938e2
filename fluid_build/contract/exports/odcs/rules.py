"""Quality rules as the quality checks of ODCS: what is checked natively, the rest beside it.

A check on one column stands at its property, every other one at the table. FLUID's own words (type,
selector, threshold …) and the evidence stay with each check as custom properties.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.contract.exports.checks import check
from fluid_build.contract.exports.odcs.custom_properties import custom_properties
from fluid_build.contract.exports.tracking import Json, TrackedMapping, labels_of, said
from fluid_build.contract.fluid import DqRule, Expose
from fluid_build.contract.keys import Keys, columns_of_rule

DIMENSIONS = {
    "freshness": "timeliness",
    "completeness": "completeness",
    "uniqueness": "uniqueness",
    "valid_values": "conformity",
    "accuracy": "accuracy",
    "schema": "conformity",
    "anomaly_detection": "consistency",
    "drift_detection": "consistency",
}
KEPT = ("type", "selector", "threshold", "operator", "window")
EXPRESSION = "fluid-expression"


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of one table: at the table, and at each of its columns by name."""

    table: list[Json]
    columns: dict[str, list[Json]]


def checks_of(promise: TrackedMapping, index: int, exposes: Sequence[Expose], keys: Keys) -> Checks:
    """The checks of an expose; takes its rules and quality expressions."""
    expose = exposes[index]
    references = {reference.rule: reference for reference in keys.references}
    rules = (expose.contract.dq.rules or []) if expose.contract.dq is not None else []
    places = [_place(rule, expose) for rule in rules]
    order = reading_order(places, [column.name for column in expose.contract.columns or ()])
    is_plain = order == list(range(len(rules)))
    found = Checks([], {})
    read = promise.part("dq").parts("rules") if rules else []
    for position, (rule, part, place) in enumerate(zip(rules, read, places, strict=True)):
        native = check(rule, expose, references.get(rule.id), exposes)
        document = _document(part, native, None if is_plain else position)
        target = found.table if place is None else found.columns.setdefault(place, [])
        target.append(document)
    if promise.peek("quality"):
        found.table.extend(_expression(part) for part in promise.parts("quality"))
    return found


def reading_order(places: Sequence[str | None], columns: Sequence[str]) -> list[int]:
    """The order in which whoever reads the document meets the rules of these places."""
    first = {name: index for index, name in reversed(list(enumerate(columns)))}
    return sorted(
        range(len(places)),
        key=lambda at: len(columns) if places[at] is None else first[places[at] or ""],
    )


def _place(rule: DqRule, expose: Expose) -> str | None:
    """The column at which a rule stands; None for the table."""
    columns = columns_of_rule(rule, expose)
    return columns[0] if len(columns) == 1 else None


def _document(rule: TrackedMapping, native: Json, position: int | None) -> Json:
    kind = rule.peek("type")
    name, description, severity = rule.text("id"), rule.text("description"), rule.text("severity")
    tags, labels = rule.texts("tags"), labels_of(rule)
    own = {key: rule.take(key) for key in KEPT}
    document = {
        "name": name,
        "description": description,
        "dimension": DIMENSIONS[str(kind)],
        "severity": severity,
        **native,
        "tags": tags,
        "customProperties": custom_properties({**own, "position": position}, labels),
    }
    return said(document)


def _expression(expression: TrackedMapping) -> Json:
    """A rule that is written as an expression: a check of an engine of its own."""
    name, severity = expression.text("rule"), expression.text("severity")
    text = expression.text("expression")
    own = expression.rest()
    document = {
        "name": name,
        "severity": severity,
        "type": "custom",
        "engine": EXPRESSION,
        "implementation": text,
        "customProperties": custom_properties({"more": own}) if own else None,
    }
    return said(document)
