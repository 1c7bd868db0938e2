"""What the schema of an expose promises: the table, its columns, their types, what is required."""

import re
from collections.abc import Iterator
from functools import partial

from fluid_build.contract.column_types import ValueType, holds_all, value_type
from fluid_build.contract.fluid import ContractColumn, DqRule, Expose
from fluid_build.contract.fluid.quality import DqSeverity
from fluid_build.contract.keys import column_names, columns_of_rule
from fluid_build.contract.live import queries
from fluid_build.contract.live.locating import LiveTable, exposed_columns
from fluid_build.contract.live.planned import Check, Figures, PlannedCheck, count
from fluid_build.contract.live.results import CheckResult, Status
from fluid_build.contract.rule_limits import UnclearLimitError, limit_of
from fluid_build.modeling.types import type_name
from fluid_build.profiling import checks
from fluid_build.profiling.checks import qualified_name
from fluid_build.sources.addresses.endings import BY_EXTENSION
from fluid_build.sources.base import Column, Source, Table
from fluid_build.sources.origin import InFiles
from fluid_build.text import counted

# Whether a live column has the promised type, or a narrower one that it holds.
# A source without types of its own (text files, SQLite) gives a column the type of whatever
# values it has today: there the values are judged. So are those of a table that the exposed one
# may be made of, where a column is still stored as text, or a date as a whole number.

_TEXT_FORMAT = re.compile(r"\(((?:%[YymdbBjHIMSp]|[-./ ,:]){1,24}|decimal (?:comma|point))\)\.")


def type_check(
    id_: str, promised: ContractColumn, column: Column, live: LiveTable, source: Source
) -> Check:
    """Return the check of one column's type."""
    result = partial(
        CheckResult,
        id_,
        "schema",
        "type",
        "error",
        columns=(promised.name,),
        expected=promised.type,
    )
    spelled = type_name(column.type)
    promised_type, live_type = value_type(promised.type), value_type(spelled)
    is_untyped = _is_untyped(source, live.table)
    if promised_type.kind == "text" and (live_type.kind == "text" or is_untyped):
        return _judge_text(result, spelled, promised_type, column)
    if holds_all(promised_type, live_type):
        return result(status="passed", observed=spelled)
    text_format = _text_format(promised)
    if is_untyped or (live.is_original and (live_type.kind == "text" or text_format)):
        sql = queries.misfits(column, live_type, promised_type, text_format)
        if sql is not None:
            aggregates = (queries.filled_rows((column,)), sql)
            return PlannedCheck(partial(_judge_values, result, spelled), aggregates=aggregates)
    return result(status="failed", observed=spelled)


def _is_untyped(source: Source, table: Table) -> bool:
    origin = table.origin
    is_text_file = isinstance(origin, InFiles) and origin.format not in ("parquet", *BY_EXTENSION)
    return is_text_file or source.kind == "sqlite"


def _judge_text(
    result: "partial[CheckResult]", spelled: str, promised_type: ValueType, column: Column
) -> Check:
    """Check a promised text: any value can be written as text, if it isn't too long."""
    if promised_type.length is None:
        return result(status="passed", observed=spelled)
    judge = partial(_judge_length, result, spelled, promised_type.length)
    return PlannedCheck(judge, aggregates=(queries.longest(column),))


def _judge_length(
    result: "partial[CheckResult]", spelled: str, most: int, figures: Figures
) -> CheckResult:
    if figures[0] is None:
        return result(status="passed", observed=f"{spelled}, no values")
    length = count(figures[0])
    observed = f"{spelled}, at most {counted(length, 'character')}"
    return result(status="passed" if length <= most else "failed", observed=observed)


def _text_format(promised: ContractColumn) -> str:
    """Return how a text column spells its dates or decimals, as the contract has it."""
    match = _TEXT_FORMAT.search((promised.labels or {}).get("type-reason", ""))
    return match[1] if match else ""


def _judge_values(result: "partial[CheckResult]", spelled: str, figures: Figures) -> CheckResult:
    filled, misfits = count(figures[0]), count(figures[1])
    if not filled:
        reason = f"the column is {spelled} and has no values to check"
        return result(status="not_checked", observed=spelled, reason=reason)
    if misfits:
        verb = "doesn't" if misfits == 1 else "don't"
        observed = f"{spelled}, but {misfits:,} of {filled:,} values {verb} fit"
        return result(status="failed", observed=observed, rows=filled, violations=misfits)
    observed = f"{spelled}, and every value fits"
    return result(status="passed", observed=observed, rows=filled, violations=0)


_NO_TABLES = frozenset({"api", "stream", "topic", "model", "vector", "graph", "feature_store"})


def missing_table(expose: Expose, source: Source) -> CheckResult:
    """Return the check of a table that is not at the source."""
    id_ = f"{expose.expose_id}.table"
    if expose.kind in _NO_TABLES or expose.contract.columns is None:
        reason = f"an expose of kind {expose.kind} isn't a database table"
        return CheckResult(id_, "schema", "table", "error", "not_checked", reason=reason)
    names = {expose.expose_id, expose.binding.location.table}
    skipped = next((each for each in source.skipped if each.name in names), None)
    observed = f"it couldn't be read: {skipped.reason}" if skipped else "missing"
    return CheckResult(
        id_, "schema", "table", "error", "failed", expected="a table", observed=observed
    )


def schema_checks(expose: Expose, live: LiveTable, source: Source) -> Iterator[Check]:
    """Return the checks of a table that is there, in the order of the contract's columns."""
    yield CheckResult(
        f"{expose.expose_id}.table",
        "schema",
        "table",
        "error",
        "passed",
        expected="a table",
        observed=live.table.name,
    )
    yield from _rows(expose)
    by_rule = _strictly_complete(expose)
    for promised in exposed_columns(expose):
        column = live.columns.get(promised.name)
        yield _presence(expose, promised, column)
        if column is not None:
            yield type_check(_id(expose, promised.name, "type"), promised, column, live, source)
            if promised.required and promised.name not in by_rule:
                yield _required(expose, promised, column, live)
    yield from _extra(expose, live)


def _id(expose: Expose, column: str, what: str) -> str:
    return f"{expose.expose_id}.{column}.{what}"


def _rows(expose: Expose) -> Iterator[Check]:
    """Check for rows where some are promised: an empty table keeps every rule.

    Contracts of earlier releases have the number of rows that were measured.
    """
    labels = expose.labels or {}
    promised = labels.get("min-rows") or labels.get("rows", "")
    if promised.isascii() and promised.isdigit() and promised.strip("0"):
        yield PlannedCheck(partial(_judge_rows, expose.expose_id), aggregates=("count(*)",))


def _judge_rows(expose_id: str, figures: Figures) -> CheckResult:
    rows = count(figures[0])
    return CheckResult(
        f"{expose_id}.rows",
        "schema",
        "rows",
        "warn",
        "passed" if rows else "failed",
        expected="at least one row",
        observed=f"{rows:,} rows" if rows != 1 else "1 row",
    )


def _presence(expose: Expose, promised: ContractColumn, column: Column | None) -> CheckResult:
    observed = "missing" if column is None else column.name
    status: Status = "failed" if column is None else "passed"
    return CheckResult(
        _id(expose, promised.name, "column"),
        "schema",
        "column",
        "error",
        status,
        (promised.name,),
        expected="a column",
        observed=observed,
    )


def _strictly_complete(expose: Expose) -> set[str]:
    """Return the columns with a strict completeness rule, which has the severity of a null."""
    complete: set[str] = set()
    names = column_names(expose)
    for rule in expose.rules:
        columns = columns_of_rule(rule, names)
        if rule.type == "completeness" and len(columns) == 1 and _is_strict(rule):
            complete.update(columns)
    return complete


def _is_strict(rule: DqRule) -> bool:
    try:
        return rule.window is None and limit_of(rule).is_strict
    except UnclearLimitError:
        return False


def _required(
    expose: Expose, promised: ContractColumn, column: Column, live: LiveTable
) -> PlannedCheck:
    result = partial(
        CheckResult,
        _id(expose, promised.name, "required"),
        "schema",
        "required",
        "error",
        columns=(promised.name,),
        expected="every row",
        sql=checks.null_rows(qualified_name(live.table), (column.name,)),
    )
    return PlannedCheck(
        partial(_judge_required, result), aggregates=("count(*)", queries.null_rows((column,)))
    )


def _judge_required(result: "partial[CheckResult]", figures: Figures) -> CheckResult:
    rows, nulls = count(figures[0]), count(figures[1])
    if not rows:
        return result(status="not_checked", reason="the table is empty")
    verb = "is" if nulls == 1 else "are"
    return result(
        status="failed" if nulls else "passed",
        observed=f"{nulls:,} of {rows:,} rows {verb} null",
        rows=rows,
        violations=nulls,
    )


def _extra(expose: Expose, live: LiveTable) -> Iterator[CheckResult]:
    """Yield the live columns that the contract doesn't have: not an error, but worth knowing."""
    if not exposed_columns(expose):
        return
    severity: DqSeverity = "info"
    promised = {column.name for column in live.columns.values()}
    for column in live.table.columns:
        if column.name not in promised:
            yield CheckResult(
                _id(expose, column.name, "extra_column"),
                "schema",
                "extra_column",
                severity,
                "failed",
                (column.name,),
                expected="no other column",
                observed=type_name(column.type),
            )
