"""Quality rules as the quality checks of ODCS: the native check, and FLUID's own words with it.

A check on one column stands at its property, every other one at the table. A rule's type, selector,
threshold, operator and window, and its evidence, stay with the check as custom properties.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fluid_build.contract.exports.checks import check
from fluid_build.contract.exports.odcs.custom_properties import custom_properties
from fluid_build.contract.exports.tracking import Json, TrackedMapping, without_none
from fluid_build.contract.fluid import Expose
from fluid_build.contract.keys import Keys, column_names, columns_of_rule

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
RULE_KEYS = ("type", "selector", "threshold", "operator", "window")
EXPRESSION = "fluid-expression"
"""The engine of a check that is an expression of FLUID's."""


@dataclass(frozen=True, slots=True)
class TableChecks:
    """The checks of one table: at the table, and at each of its columns by name."""

    table: list[Json] = field(default_factory=list)
    columns: dict[str, list[Json]] = field(default_factory=dict)


def table_checks(
    promise: TrackedMapping, index: int, exposes: Sequence[Expose], keys: Keys
) -> TableChecks:
    """Return the checks of an expose; takes its rules and quality expressions."""
    expose = exposes[index]
    names = column_names(expose)
    references = {reference.rule: reference for reference in keys.references}
    parts = promise.part("dq").parts("rules") if expose.rules else []
    checks = TableChecks()
    for rule, part in zip(expose.rules, parts, strict=True):
        columns = columns_of_rule(rule, names)
        native = check(rule, columns, expose, references.get(rule.id), exposes)
        if len(columns) == 1:
            checks.columns.setdefault(columns[0], []).append(_document(part, native))
        else:
            checks.table.append(_document(part, native))
    checks.table.extend(map(_expression, promise.parts("quality")))
    return checks


def _document(rule: TrackedMapping, native: Json) -> Json:
    type_ = str(rule.peek("type"))
    own = {key: rule.take(key) for key in RULE_KEYS}
    document = {
        "name": rule.text("id"),
        "description": rule.text("description"),
        "dimension": DIMENSIONS[type_],
        "severity": rule.text("severity"),
        **native,
        "tags": rule.texts("tags"),
        "customProperties": custom_properties(own, rule.labels()),
    }
    return without_none(document)


def _expression(expression: TrackedMapping) -> Json:
    """Return a rule that is written as an expression, as a check of an engine of its own."""
    document: Json = {
        "name": expression.text("rule"),
        "severity": expression.text("severity"),
        "type": "custom",
        "engine": EXPRESSION,
        "implementation": expression.text("expression"),
    }
    own = expression.take_untouched()
    document["customProperties"] = custom_properties({"more": own}) if own else None
    return without_none(document)
