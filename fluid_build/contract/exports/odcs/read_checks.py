"""The quality checks of ODCS as FLUID's rules.

A check that a rule was written as comes back as that rule, unless somebody changed its native
part: then the change counts. A check that FLUID has no words for is kept as the label
``odcs-check``, from which it's written again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from fluid_build.contract.exports.checks import (
    BOUNDS,
    CHECK_LABEL,
    METRICS,
    NATIVE_KEYS,
    check,
)
from fluid_build.contract.exports.odcs.custom_properties import (
    KeptAsLabels,
    label_text,
    read_custom_properties,
)
from fluid_build.contract.exports.odcs.write_checks import DIMENSIONS, RULE_KEYS
from fluid_build.contract.exports.tracking import Json, TrackedMapping, without_none
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.quality import DqRuleType
from fluid_build.contract.keys import column_names, columns_of_rule, keys_of, names_label

_TYPES = {
    "nullValues": "completeness",
    "missingValues": "completeness",
    "invalidValues": "valid_values",
    "duplicateValues": "uniqueness",
    "rowCount": "completeness",
}
_METRICS_OF_3_0 = {
    "duplicateCount": "duplicateValues",
    "uniqueCheck": "duplicateValues",
    "nullCheck": "nullValues",
    "nullCount": "nullValues",
    "validValues": "invalidValues",
}
"""The names that 3.0 gave to the metrics, under the key ``rule``."""
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
_NATIVE_LABELS = (
    "max-violations",
    "accepted-values",
    "missing-values",
    "pattern",
    "columns",
    CHECK_LABEL,
)
"""Labels that repeat what the native part of a check says."""


@dataclass(frozen=True, slots=True)
class ReadCheck:
    """A check as a rule, with its native part; ``is_ours`` where FLUID's words came with it."""

    rule: Json
    native: Json
    column: str | None
    is_ours: bool


def read_check(
    item: TrackedMapping, column: str | None, fallback_id: str, kept: KeptAsLabels
) -> ReadCheck:
    """Take a check; ``fallback_id`` is its id where it has no name."""
    own, labels = read_custom_properties(item, RULE_KEYS)
    native = {key: item.take(key) for key in NATIVE_KEYS if key in item.value}
    is_ours = own.get("type") in get_args(DqRuleType)
    name = item.text("name")
    rule: Json = {
        "id": name if name is not None else str(item.take("id") or fallback_id),
        "description": item.text("description"),
        "severity": _read_severity(item),
        "tags": item.texts("tags"),
        "labels": labels,
    }
    if is_ours:
        rule |= own
    else:
        rule = _in_words_of_native(rule, native, column, str(item.peek("dimension")))
    if DIMENSIONS[str(rule["type"])] == item.peek("dimension"):
        item.take("dimension")
    labels = dict(_labels(rule))
    kept.keep_rest(item, labels)
    return ReadCheck(without_none({**rule, "labels": labels or None}), native, column, is_ours)


def prefer_native(contract: FluidContract, tables: Sequence[Sequence[ReadCheck]]) -> None:
    """Give each rule whose native part was changed since FLUID wrote it the words of that part.

    ``tables`` are the checks of each expose, in the order of its rules.
    """
    for expose, keys, checks in zip(contract.exposes, keys_of(contract), tables, strict=True):
        references = {reference.rule: reference for reference in keys.references}
        names = column_names(expose)
        for read, rule in zip(checks, expose.rules, strict=True):
            columns = columns_of_rule(rule, names)
            written = check(rule, columns, expose, references.get(rule.id), contract.exposes)
            if read.is_ours and written != read.native:
                words = _in_words_of_native(dict(read.rule), read.native, read.column)
                read.rule.clear()
                read.rule.update(without_none(words))


def _in_words_of_native(rule: Json, native: Json, column: str | None, dimension: str = "") -> Json:
    """Return the rule with FLUID's words for a native check, in place of any that it had."""
    labels = {name: text for name, text in _labels(rule).items() if name not in _NATIVE_LABELS}
    metric = str(native.get("metric") or native.get("rule"))
    metric = _METRICS_OF_3_0.get(metric, metric)
    columns, words, limit = _measure(native, metric, column)
    type_ = _TYPES.get(metric) or rule.get("type") or _OF_DIMENSION.get(dimension, "accuracy")
    if words is None or limit is None:
        if native and native != {"type": "text"}:
            known = {"metric": metric} if metric in METRICS else {}
            native_keys = {
                key: value for key, value in native.items() if key != "rule" or not known
            }
            labels[CHECK_LABEL] = label_text({"type": "library", **native_keys, **known})
        selector, words, limit = column or rule.get("selector"), {}, {}
    else:
        selector = ", ".join(columns)
    most = limit.pop("max-violations", None)
    if most is not None:
        words["max-violations"] = str(most)
    return {
        **rule,
        "type": type_,
        "selector": selector,
        "threshold": limit.get("threshold"),
        "operator": limit.get("operator"),
        "labels": {**labels, **words} or None,
    }


def _measure(
    native: Json, metric: str, column: str | None
) -> tuple[list[str], dict[str, str] | None, Json | None]:
    """Return the columns of a metric, the labels that say what it counts, and its limit."""
    arguments = native.get("arguments") or {}
    if metric not in METRICS or metric == "rowCount" or not isinstance(arguments, dict):
        return [], None, None
    columns = [column] if column else _texts(arguments.get("properties"))
    words = _argument_labels(metric, arguments) if columns else None
    if words is not None and len(columns) > 1:
        words["columns"] = names_label(columns)
    return columns, words, _limit(native)


def _argument_labels(metric: str, arguments: Json) -> dict[str, str] | None:
    """Return the labels for a metric's arguments; None where FLUID has none for them."""
    known = {key: value for key, value in arguments.items() if key != "properties"}
    if metric == "duplicateValues" or metric == "nullValues":
        return None if known else {}
    if metric == "missingValues" and set(known) == {"missingValues"}:
        return {"missing-values": json.dumps(known["missingValues"], ensure_ascii=False)}
    values = _texts(known.get("validValues"))
    if metric == "invalidValues" and set(known) == {"validValues"} and values:
        return {"accepted-values": names_label(values)}
    if (
        metric == "invalidValues"
        and set(known) == {"pattern"}
        and isinstance(known["pattern"], str)
    ):
        return {"pattern": known["pattern"]}
    return None


def _limit(native: Json) -> Json | None:
    """Return how much may break a rule, as threshold and operator or as ``max-violations``.

    None for other bounds than zero, a most number of rows or a most percentage of them.
    """
    bounds = [key for key in BOUNDS if key in native]
    value = native[bounds[0]] if len(bounds) == 1 else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if bounds == ["mustBe"]:
        return {"threshold": 1, "operator": ">="} if value == 0 else None
    operator = {"mustBeLessOrEqualTo": ">=", "mustBeLessThan": ">"}.get(bounds[0])
    if operator is None:
        return None
    if native.get("unit") == "percent":
        share = float((100 - Decimal(repr(value))) / 100)
        return {"threshold": share, "operator": operator} if 0 <= share <= 1 else None
    most = value if operator == ">=" else value - 1
    if most < 0 or most != int(most):
        return None
    return {"operator": ">=", "max-violations": int(most)}


def _read_severity(item: TrackedMapping) -> str:
    """Return FLUID's word for a severity; an error where none is known."""
    known = _SEVERITIES.get(str(item.peek("severity")).lower())
    if known is not None:
        item.take("severity")
    return known or "error"


def _labels(rule: Json) -> dict[str, str]:
    labels = rule.get("labels")
    return labels if isinstance(labels, dict) else {}


def _texts(value: object) -> list[str]:
    """Return a list of nothing but texts; an empty one for anything else."""
    is_texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return list(value) if is_texts and isinstance(value, list) else []
