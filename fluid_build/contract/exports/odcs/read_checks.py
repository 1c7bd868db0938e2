"""The quality checks of ODCS as FLUID's rules.

A check that FLUID wrote comes back as it was, unless somebody changed its native part: then that
counts. Of every other check, FLUID's words are found for what it asks.
"""

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import get_args

from fluid_build.contract.evidence_labels import names_label
from fluid_build.contract.exports.checks import BETWEEN, METRICS, OPERATORS
from fluid_build.contract.exports.odcs.custom_properties import read_custom
from fluid_build.contract.exports.odcs.rules import KEPT
from fluid_build.contract.exports.tracking import Json, TrackedMapping, said
from fluid_build.contract.fluid.quality import DqRuleType

NATIVE = (
    "type",
    "metric",
    "rule",
    "arguments",
    *OPERATORS.values(),
    *BETWEEN.values(),
    "unit",
    "query",
    "engine",
    "implementation",
)
_TYPES = {
    "nullValues": "completeness",
    "missingValues": "completeness",
    "invalidValues": "valid_values",
    "duplicateValues": "uniqueness",
    "rowCount": "completeness",
}
_OF_3_0 = {
    "duplicateCount": "duplicateValues",
    "uniqueCheck": "duplicateValues",
    "nullCheck": "nullValues",
    "nullCount": "nullValues",
    "validValues": "invalidValues",
}
"""What library checks were called as ``rule`` in 3.0."""
_OF_DIMENSION = {
    "timeliness": "freshness",
    "completeness": "completeness",
    "coverage": "completeness",
    "uniqueness": "uniqueness",
    "conformity": "valid_values",
}
_SEVERITIES = {
    "critical": "critical",
    "blocker": "critical",
    "error": "error",
    "high": "error",
    "major": "error",
    "warn": "warn",
    "warning": "warn",
    "medium": "warn",
    "minor": "warn",
    "info": "info",
    "low": "info",
}
_LABELS = {
    "businessImpact": "business-impact",
    "method": "method",
    "schedule": "schedule",
    "scheduler": "scheduler",
    "id": "id",
}
_OF_NATIVE = (
    "max-violations",
    "accepted-values",
    "missing-values",
    "pattern",
    "metric",
    "arguments",
    "unit",
    "query",
    "engine",
    "implementation",
    *BETWEEN,
)
"""Labels that say what the native part of a check says."""


@dataclass(frozen=True, slots=True)
class ReadCheck:
    """A check as a rule, with what stood natively; ``is_ours`` where FLUID wrote it."""

    rule: Json
    native: Json
    column: str | None
    is_ours: bool
    position: int | None = None


def read_check(item: TrackedMapping, column: str | None, fallback: str) -> ReadCheck:
    """Take a check; ``fallback`` is its id where it has no name."""
    custom = read_custom(item, (*KEPT, "position"))
    native = {key: item.take(key) for key in NATIVE if key in item.value}
    dimension = item.text("dimension")
    rule: Json = {"id": _id(item, fallback), "description": item.text("description")}
    rule["severity"] = _severity(item)
    rule["tags"] = item.texts("tags")
    labels = {**_words(item), **(custom.labels or {})}
    position = custom.own.pop("position", None)
    if custom.own.get("type") in get_args(DqRuleType):
        rule |= custom.own
        rule["labels"] = labels or custom.labels
        known = position if isinstance(position, int) else None
        return ReadCheck(said(rule), native, column, is_ours=True, position=known)
    rule["labels"] = labels or custom.labels
    return ReadCheck(said(retold(rule, native, column, dimension)), native, column, is_ours=False)


def retold(rule: Json, native: Json, column: str | None, dimension: str | None = None) -> Json:
    """The rule with FLUID's words for a native check, in place of any that it had."""
    asked = asked_by(native, column)
    old = rule.get("labels")
    labels = {k: v for k, v in old.items() if k not in _OF_NATIVE} if isinstance(old, dict) else {}
    type_ = rule.get("type") or asked.type or _OF_DIMENSION.get(dimension or "", "accuracy")
    return {
        **rule,
        "type": type_,
        "selector": asked.selector if asked.selector is not None else rule.get("selector"),
        "threshold": asked.threshold,
        "operator": asked.operator,
        "labels": {**labels, **asked.labels} or None,
    }


def _id(item: TrackedMapping, fallback: str) -> str:
    name = item.text("name")
    return name if name is not None else item.text("id") or fallback


def _severity(item: TrackedMapping) -> str:
    """FLUID's word for a severity; an error where none is given or known."""
    known = _SEVERITIES.get(str(item.peek("severity")).lower())
    if known is not None:
        item.take("severity")
    return known or "error"


def _words(item: TrackedMapping) -> dict[str, str]:
    """What is said of a check beside the check itself, as labels."""
    found = {label: item.text(key) for key, label in _LABELS.items() if not item.touched(key)}
    return {label: text for label, text in found.items() if text is not None}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a check asks for, in FLUID's words."""

    type: str | None = None
    selector: str | None = None
    threshold: object = None
    operator: str | None = None
    labels: dict[str, str] = field(default_factory=dict)


def asked_by(native: Json, column: str | None) -> Asked:
    """What the native part of a check asks for."""
    if "query" in native:
        return _of_figure(native, {"query": str(native["query"])}, None, column)
    if "engine" in native:
        labels = {"engine": str(native["engine"])}
        labels["implementation"] = _text(native.get("implementation"))
        return Asked(selector=column, labels=labels)
    name = str(native.get("metric") or native.get("rule"))
    metric = _OF_3_0.get(name, name)
    if metric in METRICS:
        return _of_metric(native, metric, column)
    return _of_figure(native, {"odcs-rule": name} if "rule" in native else {}, None, column)


def _of_metric(native: Json, metric: str, column: str | None) -> Asked:
    given = native.get("arguments")
    arguments = given if isinstance(given, dict) else {}
    columns = [column] if column else _texts(arguments.get("properties"))
    bound = _bound_of_broken(native)
    words = _argument_labels(metric, arguments)
    if metric == "rowCount" or bound is None or words is None or not columns:
        labels = {"metric": metric}
        if arguments:
            labels["arguments"] = _text(arguments)
        return _of_figure(native, labels, _TYPES[metric], column)
    if len(columns) > 1:
        words["columns"] = names_label(columns)
    return Asked(
        type=_TYPES[metric],
        selector=", ".join(columns),
        threshold=bound.threshold,
        operator=bound.operator,
        labels={**words, **bound.labels},
    )


def _argument_labels(metric: str, arguments: Json) -> dict[str, str] | None:
    """The arguments as labels of a rule; None where FLUID has no words for them."""
    if metric == "duplicateValues" and set(arguments) <= {"properties"}:
        return {}
    if metric == "nullValues" and not arguments:
        return {}
    if metric == "missingValues" and set(arguments) == {"missingValues"}:
        return {"missing-values": _text(arguments["missingValues"])}
    if metric == "invalidValues" and set(arguments) == {"validValues"}:
        values = _texts(arguments["validValues"])
        return {"accepted-values": names_label(values)} if values else None
    if metric == "invalidValues" and isinstance(arguments.get("pattern"), str):
        return {"pattern": str(arguments["pattern"])} if len(arguments) == 1 else None
    return None


def _bound_of_broken(native: Json) -> Asked | None:
    """How many rows, or which percentage of them, may break a rule; None for other bounds."""
    bounds = [key for key in (*OPERATORS.values(), *BETWEEN.values()) if key in native]
    value = native[bounds[0]] if len(bounds) == 1 else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if bounds == ["mustBe"] and value == 0:
        return Asked(threshold=1, operator=">=")
    operator = {"mustBeLessOrEqualTo": ">=", "mustBeLessThan": ">"}.get(bounds[0])
    if native.get("unit") == "percent":
        share = float((100 - Decimal(repr(value))) / 100)
        return Asked(threshold=share, operator=operator) if operator and 0 <= share <= 1 else None
    most = value if operator == ">=" else value - 1
    if operator is None or most < 0 or most != int(most):
        return None
    return Asked(operator=">=", labels={"max-violations": str(int(most))})


def _of_figure(
    native: Json, labels: dict[str, str], type_: str | None, column: str | None
) -> Asked:
    """A check that compares a figure of its own with a bound."""
    found = dict(labels)
    if isinstance(native.get("unit"), str):
        found["unit"] = str(native["unit"])
    for label, key in BETWEEN.items():
        if key in native:
            found[label] = _text(native[key])
    for operator, key in OPERATORS.items():
        value = native.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Asked(type_, column, value, operator, found)
        if key in native:
            found["must-be" if key == "mustBe" else "must-not-be"] = _text(value)
    return Asked(type_, column, labels=found)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _texts(value: object) -> list[str]:
    """A list of nothing but texts; empty for anything else."""
    is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return list(value) if is_texts and isinstance(value, list) else []
