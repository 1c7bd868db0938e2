"""Claims about how a column's text is read: checked on each of its values."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import DecisionEvidence, TextType
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.decisions.weighing.claims import Claims, not_measured, query_figures
from fluid_build.decisions.weighing.names import label
from fluid_build.profiling.codes import is_code
from fluid_build.profiling.column_stats import kind_of
from fluid_build.profiling.measured_types import (
    LEADING_ZERO,
    TYPE_PATTERNS,
    date_sql,
    spelled_sql,
)
from fluid_build.profiling.profile import ColumnProfile
from fluid_build.sources.conventions import (
    DECIMAL_COMMA,
    DECIMAL_POINT,
    DecimalMark,
    follows_mark,
    with_decimal_point,
)
from fluid_build.sources.sql import literal, quote
from fluid_build.text import counted

_DATE_FORMAT = re.compile(r"(?:%[YymdbBjHIMSp]|[-./ ,:]){1,24}")
"""Directives that every target understands, and the marks between them. ``fluid test`` finds such a
format in the contract."""
_YEAR = re.compile(r"%[Yy]")
_TIME = re.compile(r"%[HIMSp]")
_PATTERNS = {type_: pattern.pattern for type_, pattern in TYPE_PATTERNS}


@dataclass(frozen=True, slots=True)
class _Reading:
    """A way to read text: the type as a profile writes it, and SQL for one value.

    ``value`` is null where the text can't be read so. ``spelled`` writes the value as text again,
    and is None where that can't restore the text.
    """

    type: str
    value: str
    spelled: str | None = None


def weigh_reading(claims: Claims, decision: TextType) -> Verdict:
    """Return the verdict on a claim that all values of a column can be read as a type."""
    column = claims.table(decision.table).column(decision.column)
    name = label(decision.table, decision.column)
    if (refusal := _refusal(decision, column)) is not None:
        return refused(decision, f"{name} {refusal}")
    if keeps_stored_type(decision):
        return accepted(decision, f"{name} is read as it's stored.")
    if decision.table not in claims.tables:
        return not_measured(decision)
    evidence = _best(_measure(claims, decision, column))
    values = counted(evidence.rows, "value")
    if not evidence.violations:
        message = f"All {values} of {name} can be read as {evidence.measured_type}."
        return accepted(decision, message, evidence)
    message = (
        f"{evidence.violations:,} of {values} of {name} can't be read as {_described(decision)}."
    )
    if decision.despite_violations:
        # Values that have no place in the type would be lost.
        message += " The column stays as it is, even if a person insists."
    return refused(decision, message, evidence)


def _described(decision: TextType) -> str:
    """Return what a decision reads text as: ``a date (%d/%m/%Y)``."""
    if decision.decimal and decision.read_as == "number":
        return f"a number with a decimal {decision.decimal}"
    return f"a {decision.read_as}" + (f" ({decision.date_format})" if decision.date_format else "")


def keeps_stored_type(decision: TextType) -> bool:
    """Return whether a decision says that text stays text."""
    return decision.read_as == "text"


def _refusal(decision: TextType, column: ColumnProfile) -> str | None:
    """Return why a column can't be read so, whatever its values; None if it may be."""
    kind = kind_of(column.type)
    date_format = decision.date_format
    if kind != "text" and (kind != "integer" or decision.read_as == "text"):
        return f"isn't text: the source stores it as {column.type}."
    if kind == "integer" and not date_format:
        return f"isn't text: the source stores it as {column.type}. Give a date format."
    if decision.read_as != "text" and kind == "text" and is_code(column):
        return f"holds codes ({column.semantic_type or 'personal data'}), which stay text."
    if date_format is None:
        return None
    if decision.read_as not in {"date", "timestamp"}:
        return f"can't have a date format if it's read as {decision.read_as}."
    if not _DATE_FORMAT.fullmatch(date_format):
        return "can't be read with that date format: use directives such as %d/%m/%Y."
    if not _YEAR.search(date_format):
        return "can't be read as a date by a format without a year."
    if decision.read_as == "date" and _TIME.search(date_format):
        return "has a time in that format: read it as a timestamp."
    return None


def _measure(
    claims: Claims, decision: TextType, column: ColumnProfile
) -> Iterator[DecisionEvidence]:
    """Yield the figures of each way to read a column, the simplest first."""
    table = claims.tables[decision.table]
    text = _text(quote(table.aliases[column.name]), column)
    for reading in _readings(decision, text):
        misfit = _misfit(decision, reading, text)
        spelled = "FALSE" if reading.spelled is None else f"({reading.spelled}) = {text}"
        rows, distinct, violations, same = query_figures(
            claims,
            f"SELECT count({text}), count(DISTINCT {text}), count(*) FILTER (WHERE {misfit}),"
            f" count(*) FILTER (WHERE {spelled}) FROM {table.relation}",
        )
        yield DecisionEvidence(
            rows=rows,
            nulls=table.profile.rows - rows,
            distinct=distinct,
            violations=violations,
            measured_type=reading.type,
            reversible=same == rows and not violations,
            sql=_misfits_sql(decision, column, table.profile.sql, reading.type),
        )


def _best(figures: Iterator[DecisionEvidence]) -> DecisionEvidence:
    """Return the first way to read that all values allow, or else the one that fails least."""
    tried: list[DecisionEvidence] = []
    for evidence in figures:
        tried.append(evidence)
        if not evidence.violations:
            return evidence
    return min(tried, key=lambda evidence: evidence.violations)


def _misfits_sql(decision: TextType, column: ColumnProfile, table: str, type_: str) -> str:
    """Return a query for the values that can't be read so. It's DuckDB's SQL: others can't try."""
    text = _text(quote(column.name), column)
    reading = next(each for each in _readings(decision, text) if each.type == type_)
    return f"SELECT * FROM {table} WHERE {_misfit(decision, reading, text)}"


def _text(name: str, column: ColumnProfile) -> str:
    return name if kind_of(column.type) == "text" else f"CAST({name} AS VARCHAR)"


def _misfit(decision: TextType, reading: _Reading, text: str) -> str:
    """Return SQL for whether a value can't be read so."""
    misfit = f"{text} IS NOT NULL AND ({reading.value}) IS NULL"
    if decision.by == "person" or decision.read_as != "number":
        return misfit
    # As a number, a code loses its zeros. A person may know better.
    zeros = f"regexp_matches({text}, {literal(LEADING_ZERO.pattern)})"
    return f"{misfit} OR ({text} IS NOT NULL AND {zeros})"


def _readings(decision: TextType, text: str) -> Sequence[_Reading]:
    if decision.read_as == "number":
        return _number_readings(decision, text)
    type_ = "DATE" if decision.read_as == "date" else "TIMESTAMP"
    if decision.date_format is None:
        return (_patterned(type_, text),)
    spelled_type = f"{type_} ({decision.date_format})"
    value = date_sql(text, decision.date_format)
    return (_Reading(spelled_type, value, spelled_sql(spelled_type, value)),)


def _number_readings(decision: TextType, text: str) -> Sequence[_Reading]:
    """Return whole numbers before numbers with decimals, and these before grouped ones."""
    whole, decimals = _patterned("BIGINT", text), _patterned("DOUBLE", text)
    if decision.decimal == "comma":
        return whole, _marked(text, ",", DECIMAL_COMMA)
    if decision.decimal == "point":
        return whole, decimals, _marked(text, ".", DECIMAL_POINT)
    return whole, decimals


def _patterned(type_: str, text: str) -> _Reading:
    """Return a reading by a cast, of text that looks like the type: casts round and cut."""
    fits = f"regexp_matches({text}, {literal(_PATTERNS[type_])})"
    value = f"CASE WHEN {fits} THEN TRY_CAST(trim({text}) AS {type_}) END"
    return _Reading(type_, value, spelled_sql(type_, value))


def _marked(text: str, mark: DecimalMark, word: str) -> _Reading:
    trimmed = f"trim({text})"
    value = f"TRY_CAST({with_decimal_point(trimmed, mark)} AS DOUBLE)"
    return _Reading(f"DOUBLE ({word})", f"CASE WHEN {follows_mark(trimmed, mark)} THEN {value} END")
