"""Testing live data against a contract: find its tables, query them, judge the figures."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial

import duckdb

from fluid_build.contract.fluid import Expose, FluidContract
from fluid_build.contract.live.locating import (
    LiveTable,
    column_named,
    live_tables,
    table_named,
)
from fluid_build.contract.live.planned import Check, Figure, Figures, PlannedCheck
from fluid_build.contract.live.results import CheckResult, ExposeResult, LiveResult
from fluid_build.contract.live.rules import (
    RuleContext,
    not_checked,
    rule_check,
    schema_rule,
    unrun_checks,
)
from fluid_build.contract.live.schema_checks import missing_table, schema_checks
from fluid_build.errors import SourceUnreadableError, UsageError
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Column, Source, Table
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason

_AGGREGATES_A_QUERY = 200


def check_live(
    contract: FluidContract,
    source: Source,
    *,
    now: datetime,
    on_progress: OnProgress = ignore,
) -> LiveResult:
    """Check every promise of a contract on the source's data.

    ``now`` is the moment that freshness is judged at, in UTC and without a zone. One query reads
    what can be counted in a pass of a table; each key and each reference has one of its own.
    Raises SourceNotFoundError where the source holds no table of the contract, UsageError where
    it holds no data or a name fits several tables, and SourceUnreadableError where it cannot be
    read to the end.
    """
    if not source.has_data:
        raise UsageError(
            f"{source.name} has a structure and no data to test.",
            hint="Pass a database or files with --uri.",
        )
    tables = live_tables(contract, source)
    parent = partial(_parent, contract, source, tables)
    results = []
    for number, (expose, live) in enumerate(zip(contract.exposes, tables, strict=True)):
        on_progress(Progress("testing", number, len(tables), expose.expose_id))
        if live is None:
            results.append(_missing_expose(expose, source))
        else:
            context = RuleContext(expose, live, parent, now)
            results.append(_test_expose(context, source))
    return LiveResult(
        contract_id=contract.id,
        contract_name=contract.name,
        source_name=source.name,
        source_kind=source.kind,
        exposes=tuple(results),
    )


def _missing_expose(expose: Expose, source: Source) -> ExposeResult:
    reason_ = "its table doesn't exist"
    rules = [not_checked(rule, expose, reason_) for rule in expose.rules]
    checks = (missing_table(expose, source), *rules, *unrun_checks(expose))
    return ExposeResult(expose.expose_id, None, None, checks)


def _test_expose(context: RuleContext, source: Source) -> ExposeResult:
    expose, live = context.expose, context.live
    schema = list(schema_checks(expose, live, source))
    rules = [rule_check(rule, context) for rule in expose.rules if rule.type != "schema"]
    rows, settled = _run_checks([*schema, *rules], live.table, source)
    of_schema, of_rules = settled[: len(schema)], iter(settled[len(schema) :])
    in_order = [
        schema_rule(rule, expose, of_schema) if rule.type == "schema" else next(of_rules)
        for rule in expose.rules
    ]
    checks = (*of_schema, *in_order, *unrun_checks(expose))
    return ExposeResult(expose.expose_id, live.table.name, rows, checks)


def _parent(
    contract: FluidContract,
    source: Source,
    tables: Sequence[LiveTable | None],
    to_table: str,
    to_columns: Sequence[str],
) -> tuple[Table, tuple[Column, ...]] | None:
    """Return what a reference leads to: an expose by its id or source table, or a live table."""
    for expose, live in zip(contract.exposes, tables, strict=True):
        names = (expose.expose_id, (expose.labels or {}).get("source-table"))
        if to_table in names and live is not None:
            live_columns = [live.columns.get(name) for name in to_columns]
            return _if_complete(live.table, live_columns)
    table = table_named(to_table, source)
    if table is None:
        return None
    return _if_complete(table, [column_named(name, table) for name in to_columns])


def _if_complete(
    table: Table, columns: Sequence[Column | None]
) -> tuple[Table, tuple[Column, ...]] | None:
    there = tuple(column for column in columns if column is not None)
    return (table, there) if len(there) == len(columns) else None


def _run_checks(
    checks: Sequence[Check], table: Table, source: Source
) -> tuple[int, list[CheckResult]]:
    """Measure the checks of a table; return its rows and the results."""
    aggregates = ["count(*)"]
    for check in checks:
        if isinstance(check, PlannedCheck):
            aggregates.extend(check.aggregates)
    distinct = list(dict.fromkeys(aggregates))
    measured = dict(zip(distinct, _aggregates(distinct, table, source), strict=True))
    rows = measured["count(*)"]
    if not isinstance(rows, int):
        raise TypeError("count(*) gave no number")
    return rows, list(_judge_checks(checks, measured, table, source))


def _judge_checks(
    checks: Sequence[Check], measured: dict[str, Figure], table: Table, source: Source
) -> Iterator[CheckResult]:
    for check in checks:
        if isinstance(check, CheckResult):
            yield check
        elif check.query:
            yield check.judge(_row(check.query, table, source))
        else:
            yield check.judge(tuple(measured[sql] for sql in check.aggregates))


def _aggregates(aggregates: Sequence[str], table: Table, source: Source) -> Iterator[Figure]:
    for start in range(0, len(aggregates), _AGGREGATES_A_QUERY):
        part = aggregates[start : start + _AGGREGATES_A_QUERY]
        yield from _row(f"SELECT {', '.join(part)} FROM {table.relation}", table, source)


def _row(sql: str, table: Table, source: Source) -> Figures:
    try:
        row = source.connection.execute(sql).fetchone()
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS as error:
        raise SourceUnreadableError(
            f"The table {table.name} couldn't be read completely: {reason(error)}",
            hint="Check that it still exists and that you have permission to read it.",
        ) from error
    return () if row is None else tuple(row)
