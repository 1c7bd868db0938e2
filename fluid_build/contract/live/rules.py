"""Quality rules of an expose as checks that can be measured, or the reason why one cannot.

Only a rule's structure is read: type, columns, limit, window and the labels ``accepted-values``,
``to-table`` and ``to-columns``. SQL that a contract holds is a stranger's, and is never run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from fluid_build.contract.durations import age_text, moment_before
from fluid_build.contract.fluid import DqRule, Expose
from fluid_build.contract.keys import column_names, columns_of_rule, names_of
from fluid_build.contract.live import queries
from fluid_build.contract.live.locating import LiveTable, exposed_columns
from fluid_build.contract.live.planned import Check, Figures, PlannedCheck, count
from fluid_build.contract.live.results import CheckResult
from fluid_build.contract.printable import escaped
from fluid_build.contract.row_scopes import columns_of_scope, scope_of
from fluid_build.contract.rule_limits import RuleLimit, UnclearLimitError, limit_of, percent
from fluid_build.errors import UsageError
from fluid_build.profiling import checks
from fluid_build.profiling.checks import qualified_name
from fluid_build.sources.base import Column, Table
from fluid_build.transform.plan.scoped_rows import rows_in

Parent = Callable[[str, Sequence[str]], tuple[Table, tuple[Column, ...]] | None]
"""The live table and columns behind a rule's ``to-table`` and ``to-columns``."""

_DATED = ("DATE", "TIMESTAMP", "VARCHAR")
_NEEDS_HISTORY = "it compares with earlier runs, and a single run has no history"
_PERSONAL = frozenset({"confidential", "restricted", "pii", "phi"})


class NotCheckableError(ValueError):
    """A rule that cannot be checked; the text says why, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class RuleContext:
    """What the rules of one expose are checked with; ``now`` is in UTC, without a zone."""

    expose: Expose
    live: LiveTable
    parent: Parent
    now: datetime


def rule_check(rule: DqRule, context: RuleContext) -> Check:
    """Return the check of a rule, of any type but ``schema``: for that one see ``schema_rule``."""
    try:
        return _MAKERS[rule.type](rule, context)
    except (NotCheckableError, UnclearLimitError) as error:
        return not_checked(rule, context.expose, str(error))


def not_checked(rule: DqRule, expose: Expose, reason: str) -> CheckResult:
    """Return the result of a rule that was not checked."""
    return _result(rule, _selected(rule, expose))(status="not_checked", reason=reason)


def unrun_checks(expose: Expose) -> list[CheckResult]:
    """Return the promises in expressions, which are listed and never run."""
    checks_ = [
        CheckResult(
            f"{expose.expose_id}.{quality.rule}",
            "rule",
            "expression",
            "warn" if quality.severity == "warning" else quality.severity,
            "not_checked",
            reason="it's an expression, and code from a contract is never run",
        )
        for quality in expose.contract.quality or ()
    ]
    checks_ += [
        CheckResult(
            f"{expose.expose_id}.{column.name}.validation_{number}",
            "rule",
            f"validation {rule.type or 'rule'}",
            "error",
            "not_checked",
            (column.name,),
            reason="FLUID doesn't define how a validation rule's constraint is written",
            description=rule.message or "",
        )
        for column in exposed_columns(expose)
        for number, rule in enumerate(column.validation_rules or (), start=1)
    ]
    return checks_


def schema_rule(rule: DqRule, expose: Expose, schema: Sequence[CheckResult]) -> CheckResult:
    """Return the result of a ``schema`` rule: the share of columns that are as promised."""
    names = set(_selected(rule, expose))
    checks_ = [
        check
        for check in schema
        if check.type in ("column", "type") and (not names or set(check.columns) <= names)
    ]
    result = _result(rule, tuple(sorted(names)))
    columns = {check.columns for check in checks_}
    if rule.selector is not None and not names:
        return result(status="not_checked", reason=_no_columns(rule))
    broken = {check.columns for check in checks_ if check.status == "failed"}
    try:
        limit = limit_of(rule)
    except UnclearLimitError as error:
        return result(status="not_checked", reason=str(error))
    is_kept = limit.allows(len(columns), len(broken))
    undecided = any(check.status == "not_checked" for check in checks_)
    if not columns or (is_kept and undecided):
        return result(status="not_checked", reason="the type of a column couldn't be checked")
    return result(
        status="passed" if is_kept else "failed",
        expected=limit.text.replace("row", "column"),
        observed=f"{len(broken):,} of {len(columns):,} columns differ",
    )


def _completeness(rule: DqRule, context: RuleContext) -> PlannedCheck:
    columns = _columns(rule, context)
    names = tuple(column.name for column in columns)
    sql = checks.null_rows(qualified_name(context.live.table), names)
    aggregates = ("count(*)", queries.null_rows(columns))
    return _aggregated(rule, context, sql, aggregates)


def _uniqueness(rule: DqRule, context: RuleContext) -> PlannedCheck:
    columns = _columns(rule, context)
    names = tuple(column.name for column in columns)
    sql = checks.repeated_values(qualified_name(context.live.table), names)
    return _counted(rule, context, sql, query=queries.repeats(_scoped(rule, context), columns))


def _valid_values(rule: DqRule, context: RuleContext) -> PlannedCheck:
    values = names_of((rule.labels or {}).get("accepted-values"))
    if not values:
        raise NotCheckableError("its label accepted-values is empty")
    columns = _columns(rule, context)
    if len(columns) != 1:
        raise NotCheckableError("it names several columns, but accepted values apply to one")
    sql = checks.other_values(qualified_name(context.live.table), columns[0].name, values)
    aggregates = (queries.filled_rows(columns), queries.other_values(columns[0], values))
    return _aggregated(rule, context, sql, aggregates)


def _accuracy(rule: DqRule, context: RuleContext) -> PlannedCheck:
    labels = rule.labels or {}
    to_table, to_columns = labels.get("to-table"), names_of(labels.get("to-columns"))
    if to_table is None or not to_columns:
        raise NotCheckableError(
            "it doesn't say what to compare with (labels to-table and to-columns)"
        )
    columns = _columns(rule, context)
    if len(columns) != len(to_columns):
        raise NotCheckableError(
            "it has a different number of columns than the key that it refers to"
        )
    try:
        parent = context.parent(to_table, to_columns)
    except UsageError:
        raise NotCheckableError("several tables match its label to-table") from None
    if parent is None:
        raise NotCheckableError("the table or a column that it refers to doesn't exist")
    table, parent_columns = parent
    sql = checks.orphans(
        qualified_name(context.live.table),
        tuple(column.name for column in columns),
        qualified_name(table),
        tuple(column.name for column in parent_columns),
    )
    query = queries.orphans(_scoped(rule, context), columns, table, parent_columns)
    return _counted(rule, context, sql, query=query)


def _freshness(rule: DqRule, context: RuleContext) -> PlannedCheck:
    if rule.window is None:
        raise NotCheckableError("it has no window, so the maximum age of the data is unknown")
    if rule.threshold is not None:
        raise NotCheckableError(
            "it has both a threshold and a window, and FLUID defines no unit for the threshold"
        )
    columns = _selected(rule, context.expose)
    column = context.live.columns.get(columns[0]) if len(columns) == 1 else None
    if column is None:
        raise NotCheckableError("it doesn't name a column with dates or timestamps")
    if not column.type.startswith(_DATED):
        raise NotCheckableError("its column doesn't hold dates or timestamps")
    judge = partial(_judge_age, rule, context, column.type == "DATE")
    return PlannedCheck(judge, aggregates=(queries.newest(column, context.now),))


def _judge_age(rule: DqRule, context: RuleContext, is_date: bool, figures: Figures) -> CheckResult:
    columns = _selected(rule, context.expose)
    result = _result(rule, columns)
    newest = figures[0]
    if not isinstance(newest, datetime):
        return result(status="not_checked", reason="its column has no date or time in any row")
    # A date without a time means its whole day.
    moment = _end_of_day(newest) if is_date else newest
    oldest = moment_before(context.now, rule.window or "")
    fresh = oldest is None or moment >= oldest
    age = age_text(context.now - moment)
    if _is_personal(context.expose, columns[0]):
        age = "new enough" if fresh else "older"
    return result(
        status="passed" if fresh else "failed",
        expected=f"newest row within {escaped(rule.window or '')}",
        observed=age,
    )


def _history(_rule: DqRule, _context: RuleContext) -> Check:
    raise NotCheckableError(_NEEDS_HISTORY)


def _aggregated(
    rule: DqRule, context: RuleContext, sql: str, aggregates: tuple[str, str]
) -> PlannedCheck:
    """Return a check of two aggregates, in a query of its own if it's about some rows."""
    table = _scoped(rule, context)
    if table == context.live.table:
        return _counted(rule, context, sql, aggregates=aggregates)
    query = f"SELECT {', '.join(aggregates)} FROM {table.relation}"
    return _counted(rule, context, sql, query=query)


def _scoped(rule: DqRule, context: RuleContext) -> Table:
    """Return the table as the rows that a rule is about."""
    scope = scope_of(rule)
    if scope is None:
        raise NotCheckableError("its label scope doesn't say which rows it applies to")
    live = context.live
    aliases = {name: column.alias for name, column in live.columns.items()}
    missing = [name for name in columns_of_scope(scope) if aliases.get(name) != name]
    if missing:
        raise NotCheckableError(f"the table has no column {missing[0]}")
    return replace(live.table, relation=rows_in(live.table.relation, scope))


def _counted(
    rule: DqRule,
    context: RuleContext,
    sql: str,
    *,
    aggregates: tuple[str, ...] = (),
    query: str = "",
) -> PlannedCheck:
    """Return a check of two figures: the rows in scope, and those that break the rule."""
    if rule.window is not None:
        raise NotCheckableError("it doesn't name the column that its window applies to")
    result = _result(rule, _selected(rule, context.expose), sql)
    judge = partial(_judge_counts, result, limit_of(rule))
    return PlannedCheck(judge, aggregates=aggregates, query=query)


def _judge_counts(
    result: "partial[CheckResult]", limit: RuleLimit, figures: Figures
) -> CheckResult:
    rows, violations = count(figures[0]), count(figures[1])
    if not rows:
        return result(status="not_checked", expected=limit.text, reason="no row is in its scope")
    share = percent((rows - violations) / rows)
    verb = "violates" if violations == 1 else "violate"
    observed = f"{violations:,} of {rows:,} rows {verb} the rule ({share} satisfy it)"
    return result(
        status="passed" if limit.allows(rows, violations) else "failed",
        expected=limit.text,
        observed=observed if violations else f"all {rows:,} rows satisfy the rule",
        rows=rows,
        violations=violations,
    )


def _result(rule: DqRule, columns: tuple[str, ...], sql: str = "") -> "partial[CheckResult]":
    return partial(
        CheckResult,
        rule.id,
        "rule",
        rule.type,
        rule.severity,
        columns=columns,
        description=rule.description or "",
        sql=sql,
    )


def _selected(rule: DqRule, expose: Expose) -> tuple[str, ...]:
    return columns_of_rule(rule, column_names(expose))


def _columns(rule: DqRule, context: RuleContext) -> tuple[Column, ...]:
    """Return the live columns of a rule, all of them there."""
    names = _selected(rule, context.expose)
    if not names:
        raise NotCheckableError(_no_columns(rule))
    missing = [name for name in names if name not in context.live.columns]
    if missing:
        raise NotCheckableError(f"the table has no column {missing[0]}")
    return tuple(context.live.columns[name] for name in names)


def _no_columns(rule: DqRule) -> str:
    if rule.selector is None:
        return "it names no column"
    return "its selector isn't a list of the contract's columns"


def _is_personal(expose: Expose, name: str) -> bool:
    return any(
        column.sensitivity in _PERSONAL or "pii" in (column.tags or ())
        for column in exposed_columns(expose)
        if column.name == name
    )


def _end_of_day(moment: datetime) -> datetime:
    return moment.replace(hour=23, minute=59, second=59, microsecond=999_999)


_MAKERS: Mapping[str, Callable[[DqRule, RuleContext], Check]] = {
    "completeness": _completeness,
    "uniqueness": _uniqueness,
    "valid_values": _valid_values,
    "accuracy": _accuracy,
    "freshness": _freshness,
    "anomaly_detection": _history,
    "drift_detection": _history,
}
