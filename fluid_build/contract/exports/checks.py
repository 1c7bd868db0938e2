"""A quality rule as the check that ODCS and the Data Contract Specification share.

Both have five metrics (``nullValues``, ``missingValues``, ``invalidValues``, ``duplicateValues``,
``rowCount``), SQL that returns one number, checks of another engine, and plain text; and both
limit a figure by ``mustBe`` and the like.
https://bitol-io.github.io/open-data-contract-standard/v3.1.0/data-quality/
"""

import json
from collections.abc import Sequence
from decimal import Decimal
from functools import cache

import jsonschema_rs

from fluid_build.contract.exports.official import definitions_of
from fluid_build.contract.exports.tracking import Json, is_finite
from fluid_build.contract.fluid import DqRule, Expose
from fluid_build.contract.keys import Columns, TableReference, names_of
from fluid_build.contract.row_scopes import scope_of
from fluid_build.sources.sql import literal, quote, quote_all
from fluid_build.transform.plan.elements import EVERY_ROW, RowScope
from fluid_build.transform.plan.scoped_rows import rows_in

METRICS = ("nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount")
BOUNDS = (
    "mustBe",
    "mustNotBe",
    "mustBeGreaterThan",
    "mustBeGreaterOrEqualTo",
    "mustBeLessThan",
    "mustBeLessOrEqualTo",
    "mustBeBetween",
    "mustNotBeBetween",
)
NATIVE_KEYS = (
    "type",
    "metric",
    "rule",
    "arguments",
    *BOUNDS,
    "unit",
    "query",
    "engine",
    "implementation",
)
"""The keys of a check that say what is checked."""
CHECK_LABEL = "odcs-check"
"""The label of a rule with a check in JSON that FLUID has no words for."""
_OF_SHARE = {None: "mustBeLessOrEqualTo", ">=": "mustBeLessOrEqualTo", ">": "mustBeLessThan"}


def check(
    rule: DqRule,
    columns: Columns,
    expose: Expose,
    reference: TableReference | None,
    exposes: Sequence[Expose],
) -> Json:
    """Return the closest check, without the rule's name, description and severity.

    ``columns`` are those that the rule is about, and ``reference`` is what a reference rule is
    about. A rule that has no counterpart becomes ``type: text``.
    """
    return (
        _check_of_label((rule.labels or {}).get(CHECK_LABEL, ""))
        or _check_of_reference(rule, expose, reference, exposes)
        or _check_of_some_rows(rule, expose, columns)
        or _check_of_columns(rule, columns)
        or {"type": "text"}
    )


def _check_of_label(text: str) -> Json | None:
    """Return the check that a label holds, if both formats allow it."""
    try:
        native = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(native, dict) or "type" not in native or not is_finite(native):
        return None
    is_check = set(native) <= set(NATIVE_KEYS) and native["type"] != "text"
    return native if is_check and all(v.is_valid(native) for v in _check_validators()) else None


@cache
def _check_validators() -> tuple[jsonschema_rs.Validator, ...]:
    """Return the official schema of a single check in each format."""
    packages = (
        ("open_data_contract_standard", "DataQuality"),
        ("datacontract_specification", "Quality"),
    )
    return tuple(
        jsonschema_rs.validator_for(
            {
                **definitions_of(package),
                "allOf": [{"$ref": f"#/$defs/{definition}"}],
                # The model of DCS takes numbers alone, and its schema doesn't say so.
                "properties": {key: {"type": "number"} for key in ("mustBe", "mustNotBe")},
            }
        )
        for package, definition in packages
    )


def _check_of_some_rows(rule: DqRule, expose: Expose, columns: Columns) -> Json | None:
    """Return a query where a rule is about some of the rows: a metric counts all of them."""
    scope, limit = scope_of(rule), broken_limit(rule)
    if scope is None or scope == EVERY_ROW or limit is None or not columns:
        return None
    rows = rows_in(table(expose), scope)
    filled = " AND ".join(f"{quote(name)} IS NOT NULL" for name in columns)
    if rule.type == "completeness":
        query = f"SELECT {_broken(f'NOT ({filled})', limit)} AS broken FROM {rows}"
    elif rule.type == "uniqueness" and limit["unit"] == "rows":
        query = (
            "SELECT COALESCE(SUM(n - 1), 0) AS broken FROM (SELECT COUNT(*) AS n FROM"
            f" {rows} WHERE {filled} GROUP BY {quote_all(columns)}) AS counted"
        )
    elif rule.type == "valid_values" and len(columns) == 1:
        values = names_of((rule.labels or {}).get("accepted-values"))
        listed = ", ".join(map(literal, values))
        others = f"CAST({quote(columns[0])} AS VARCHAR) NOT IN ({listed})"
        query = f"SELECT {_broken(others, limit)} AS broken FROM {rows} WHERE {filled}"
    else:
        return None
    return {"type": "sql", "query": query, **limit}


def _check_of_columns(rule: DqRule, columns: Columns) -> Json | None:
    """Return a metric that counts the rows or values which break the rule."""
    limit = broken_limit(rule)
    metric = _metric(rule, columns)
    if limit is None or metric is None:
        return None
    return {"type": "library", **metric, **limit}


def _metric(rule: DqRule, columns: Columns) -> Json | None:
    labels = rule.labels or {}
    is_single = len(columns) == 1
    if rule.type == "uniqueness" and columns:
        many: Json = {} if is_single else {"arguments": {"properties": list(columns)}}
        return {"metric": "duplicateValues", **many}
    if rule.type == "completeness" and is_single:
        if "missing-values" not in labels:
            return {"metric": "nullValues"}
        missing = _json_list(labels["missing-values"])
        return {"metric": "missingValues", "arguments": {"missingValues": missing}}
    if rule.type == "valid_values" and is_single and "accepted-values" in labels:
        values = list(names_of(labels["accepted-values"]))
        return {"metric": "invalidValues", "arguments": {"validValues": values}}
    if rule.type == "valid_values" and is_single and "pattern" in labels:
        return {"metric": "invalidValues", "arguments": {"pattern": labels["pattern"]}}
    return None


def broken_limit(rule: DqRule) -> Json | None:
    """Return how many rows, or which percentage, may break a rule; None where that's unclear.

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


def _check_of_reference(
    rule: DqRule, expose: Expose, reference: TableReference | None, exposes: Sequence[Expose]
) -> Json | None:
    limit = broken_limit(rule)
    if reference is None or limit is None:
        return None
    parent = exposes[reference.expose]
    pairs = list(zip(reference.columns, reference.to_columns, strict=True))
    scope = scope_of(rule)
    if scope is None:
        return None
    match = " AND ".join(f"p.{quote(theirs)} = c.{quote(ours)}" for ours, theirs in pairs)
    filled = " AND ".join(f"c.{quote(ours)} IS NOT NULL" for ours, _ in pairs)
    orphan = f"p.{quote(reference.to_columns[0])} IS NULL"
    query = (
        f"SELECT {_broken(orphan, limit)} AS orphans FROM {_child(expose, scope)} AS c "
        f"LEFT JOIN {table(parent)} AS p ON {match} WHERE {filled}"
    )
    return {"type": "sql", "query": query, **limit}


def _broken(condition: str, limit: Json) -> str:
    """Return what counts the rows that meet a condition, in the unit of a limit."""
    if limit["unit"] == "rows":
        return f"COUNT(CASE WHEN {condition} THEN 1 END)"
    return f"COALESCE(AVG(CASE WHEN {condition} THEN 100.0 ELSE 0 END), 0)"


def _child(expose: Expose, scope: RowScope) -> str:
    rows = rows_in(table(expose), scope)
    return rows if scope == EVERY_ROW else f"(SELECT * FROM {rows})"


def table(expose: Expose) -> str:
    """Return the exposed table, as SQL names it."""
    return quote_all([expose.binding.location.table or expose.expose_id])


def _json_list(text: str) -> list[object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) and is_finite(value) else []
