"""Whether a live column has the promised type, or a narrower one that it holds.

A source without types of its own (text files, SQLite) gives a column the type of whatever values
it has today: there the values are judged. So are those of a table that the exposed one may be
made of, where a column is still stored as text, or a date as a whole number.
"""

import re
from functools import partial

from fluid_build.contract.column_types import ValueType, holds_all, value_type
from fluid_build.contract.fluid import ContractColumn
from fluid_build.contract.live import queries
from fluid_build.contract.live.locating import LiveTable
from fluid_build.contract.live.planned import Check, Figures, PlannedCheck, count
from fluid_build.contract.live.results import CheckResult
from fluid_build.modeling.types import type_name
from fluid_build.sources.addresses.endings import BY_EXTENSION
from fluid_build.sources.base import Column, Source, Table
from fluid_build.sources.origin import InFiles
from fluid_build.text import counted

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
