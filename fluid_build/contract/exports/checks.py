"""A quality rule as the check that ODCS and the Data Contract Specification share.

Both know five metrics (``nullValues``, ``missingValues``, ``invalidValues``, ``duplicateValues``,
``rowCount``), SQL that returns one number, checks of another engine, and plain text; and both
bound a figure by ``mustBe`` and its kin.
https://bitol-io.github.io/open-data-contract-standard/v3.1.0/data-quality/
"""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

from fluid_build.contract.exports.tracking import Json, is_finite
from fluid_build.contract.fluid import DqRule, Expose
from fluid_build.contract.keys import Columns, TableReference, columns_of_rule, names_of
from fluid_build.contract.row_scopes import rows_in, scope_of
from fluid_build.sources.sql import literal, quote, quote_all
from fluid_build.transform.plan.elements import EVERY_ROW, RowScope

METRICS = ("nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount")
OPERATORS = {
    "==": "mustBe",
    "!=": "mustNotBe",
    ">": "mustBeGreaterThan",
    ">=": "mustBeGreaterOrEqualTo",
    "<": "mustBeLessThan",
    "<=": "mustBeLessOrEqualTo",
}
BETWEEN = {"between": "mustBeBetween", "not-between": "mustNotBeBetween"}
_OF_SHARE = {None: "mustBeLessOrEqualTo", ">=": "mustBeLessOrEqualTo", ">": "mustBeLessThan"}


def check(
    rule: DqRule, expose: Expose, reference: TableReference | None, exposes: Sequence[Expose]
) -> Json:
    """The closest check, without the rule's name, description and severity.

    ``reference`` is what a reference rule is about. A rule that has no counterpart becomes
    ``type: text``.
    """
    columns = columns_of_rule(rule, expose)
    labels = rule.labels or {}
    found = _of_engine(labels) or _of_query(rule, labels) or _of_metric(rule, labels)
    if found is None:
        found = (
            _of_reference(rule, expose, reference, exposes)
            or _of_some_rows(rule, expose, columns)
            or _of_columns(rule, columns)
        )
    return found or {"type": "text"}


def _of_some_rows(rule: DqRule, expose: Expose, columns: Columns) -> Json | None:
    """A query of our own where a rule is about some of the rows: a metric counts all of them."""
    scope, limit = scope_of(rule), broken_limit(rule)
    if (
        scope is None
        or scope == EVERY_ROW
        or limit is None
        or limit["unit"] != "rows"
        or not columns
    ):
        return None
    rows = rows_in(table(expose), scope)
    filled = " AND ".join(f"{quote(name)} IS NOT NULL" for name in columns)
    if rule.type == "completeness":
        query = f"SELECT COUNT(*) AS broken FROM {rows} WHERE NOT ({filled})"
    elif rule.type == "uniqueness":
        query = (
            "SELECT COALESCE(SUM(n - 1), 0) AS broken FROM (SELECT COUNT(*) AS n FROM"
            f" {rows} WHERE {filled} GROUP BY {quote_all(columns)}) AS counted"
        )
    elif rule.type == "valid_values" and len(columns) == 1:
        values = names_of((rule.labels or {}).get("accepted-values"))
        listed = ", ".join(map(literal, values))
        text = f"CAST({quote(columns[0])} AS VARCHAR)"
        query = f"SELECT COUNT(*) AS broken FROM {rows} WHERE {text} NOT IN ({listed})"
    else:
        return None
    return {"type": "sql", "query": query, **limit}


def _of_columns(rule: DqRule, columns: Columns) -> Json | None:
    """A metric that counts the rows or values which break the rule."""
    limit = broken_limit(rule)
    metric = _metric(rule, columns)
    if limit is None or metric is None:
        return None
    return {"type": "library", **metric, **limit}


def _metric(rule: DqRule, columns: Columns) -> Json | None:
    labels = rule.labels or {}
    one = len(columns) == 1
    if rule.type == "uniqueness" and columns:
        many: Json = {} if one else {"arguments": {"properties": list(columns)}}
        return {"metric": "duplicateValues", **many}
    if rule.type == "completeness" and one:
        if "missing-values" not in labels:
            return {"metric": "nullValues"}
        missing = _json_list(labels["missing-values"])
        return {"metric": "missingValues", "arguments": {"missingValues": missing}}
    if rule.type == "valid_values" and one and "accepted-values" in labels:
        values = list(names_of(labels["accepted-values"]))
        return {"metric": "invalidValues", "arguments": {"validValues": values}}
    if rule.type == "valid_values" and one and "pattern" in labels:
        return {"metric": "invalidValues", "arguments": {"pattern": labels["pattern"]}}
    return None


def broken_limit(rule: DqRule) -> Json | None:
    """How many rows, or which percentage of them, may break a rule; None where it cannot be told.

    The label ``max-violations`` is a number of rows; else a threshold is the share that must hold.
    """
    most = (rule.labels or {}).get("max-violations", "")
    if most.isascii() and most.isdigit() and len(most) < 19:
        limit = {"mustBe": 0} if int(most) == 0 else {"mustBeLessOrEqualTo": int(most)}
        return {**limit, "unit": "rows"}
    share = 1 if rule.threshold is None else rule.threshold
    if share == 1 and rule.operator in (None, ">=", "=="):
        return {"mustBe": 0, "unit": "rows"}
    if rule.operator not in _OF_SHARE or not 0 <= share <= 1:
        return None
    # In decimals, as 1 - 0.99 has a long tail in binary.
    percent = 100 - Decimal(repr(share)) * 100
    return {_OF_SHARE[rule.operator]: float(percent), "unit": "percent"}


def _of_reference(
    rule: DqRule, expose: Expose, reference: TableReference | None, exposes: Sequence[Expose]
) -> Json | None:
    limit = broken_limit(rule)
    if reference is None or limit is None or limit["unit"] != "rows":
        return None
    parent = exposes[reference.expose]
    pairs = list(zip(reference.columns, reference.to_columns, strict=True))
    scope = scope_of(rule)
    if scope is None:
        return None
    match = " AND ".join(f"p.{quote(theirs)} = c.{quote(ours)}" for ours, theirs in pairs)
    filled = " AND ".join(f"c.{quote(ours)} IS NOT NULL" for ours, _ in pairs)
    query = (
        f"SELECT COUNT(*) AS orphans FROM {_child(expose, scope)} AS c "
        f"LEFT JOIN {table(parent)} AS p ON {match} "
        f"WHERE {filled} AND p.{quote(reference.to_columns[0])} IS NULL"
    )
    return {"type": "sql", "query": query, **limit}


def _child(expose: Expose, scope: RowScope) -> str:
    rows = rows_in(table(expose), scope)
    return rows if scope == EVERY_ROW else f"(SELECT * FROM {rows})"


def table(expose: Expose) -> str:
    """The exposed table, as SQL names it."""
    return quote_all([expose.binding.location.table or expose.expose_id])


def _of_query(rule: DqRule, labels: Mapping[str, str]) -> Json | None:
    bounds = _bounds(rule, labels)
    if "query" not in labels or bounds is None:
        return None
    return {"type": "sql", "query": labels["query"], **bounds}


def _of_metric(rule: DqRule, labels: Mapping[str, str]) -> Json | None:
    """A metric that is named as such, with bounds of its own."""
    bounds = _bounds(rule, labels)
    if labels.get("metric") not in METRICS or bounds is None:
        return None
    arguments = _json_mapping(labels.get("arguments", ""))
    given: Json = {"arguments": arguments} if arguments else {}
    unit: Json = {"unit": labels["unit"]} if "unit" in labels else {}
    return {"type": "library", "metric": labels["metric"], **given, **bounds, **unit}


def _of_engine(labels: Mapping[str, str]) -> Json | None:
    if "engine" not in labels or "implementation" not in labels:
        return None
    text = labels["implementation"]
    return {
        "type": "custom",
        "engine": labels["engine"],
        "implementation": _json_mapping(text) or text,
    }


def _bounds(rule: DqRule, labels: Mapping[str, str]) -> Json | None:
    """The bounds of a figure that the rule names itself."""
    for label, key in BETWEEN.items():
        pair = _json_list(labels.get(label, ""))
        if len(pair) == 2 and pair[0] != pair[1] and all(_is_number(item) for item in pair):
            return {key: pair}
    if rule.threshold is None or rule.operator is None:
        return None
    return {OPERATORS[rule.operator]: rule.threshold}


def _json_list(text: str) -> list[object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) and is_finite(value) else []


def _json_mapping(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and is_finite(value) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
