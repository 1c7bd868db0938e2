"""Claims about how a column's text is read: checked on each of its values."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.decisions.language import DecisionEvidence, TextType
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.decisions.weighing.claims import Claims, not_measured, query_figures
from fluid_build.decisions.weighing.names import label
from fluid_build.profiling.measure.figures import kind_of
from fluid_build.profiling.measure.text_types import TYPE_PATTERNS, date_sql, spelled_sql
from fluid_build.profiling.profile import ColumnProfile, is_code
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.canonical_text import comes_back, type_and_spelling
from fluid_build.sources.text_values.conventions import (
    DECIMAL_COMMA,
    DECIMAL_MARKS,
    DECIMAL_POINT,
    follows_mark,
    with_decimal_point,
)
from fluid_build.sources.text_values.exact_numbers import (
    CODE,
    EXACT_DIGITS,
    NUMBER,
    are_codes_sql,
    exact_type,
    facts_sql,
    read_facts,
)
from fluid_build.text import counted

_DATE_FORMAT = re.compile(r"(?:%[YymdbBjHIMSp]|[-./ ,:]){1,24}")
"""Directives that every target understands, and the marks between them. ``fluid test`` finds such a
format in the contract."""
_WHOLE = ("BIGINT", "HUGEINT")
_YEAR = re.compile(r"%[Yy]")
_TIME = re.compile(r"%[HIMSp]")
_PATTERNS = {
    type_: pattern.pattern for type_, pattern in TYPE_PATTERNS if type_ in ("DATE", "TIMESTAMP")
}


@dataclass(frozen=True, slots=True)
class _Reading:
    """A way to read text: the type as a profile writes it, such as ``DOUBLE (decimal comma)``."""

    type: str

    def value(self, text: str) -> str:
        """Return SQL for a value, null where it can't be read so, or wouldn't come back."""
        bare, spelling = type_and_spelling(self.type)
        mark = DECIMAL_MARKS.get(spelling)
        trimmed = f"trim({text})"
        if mark is not None:
            trimmed, fits = with_decimal_point(trimmed, mark), follows_mark(trimmed, mark)
        elif spelling:
            fits = f"{text} IS NOT NULL"
        elif bare in _PATTERNS:
            fits = f"regexp_matches({text}, {literal(_PATTERNS[bare])})"
        else:
            fits = f"regexp_full_match({trimmed}, {literal(NUMBER)})"
        is_date = spelling and mark is None
        read = date_sql(text, spelling) if is_date else f"TRY_CAST({trimmed} AS {bare})"
        return f"CASE WHEN {fits} AND {comes_back(bare, spelling, text, read)} THEN {read} END"

    def spelled(self, text: str) -> str:
        """Return SQL that writes a value as text again, null where that can't restore the text."""
        _, spelling = type_and_spelling(self.type)
        return "NULL" if spelling in DECIMAL_MARKS else spelled_sql(self.type, self.value(text))


def weigh_reading(claims: Claims, decision: TextType) -> Verdict:
    """Return the verdict on a claim that all values of a column can be read as a type."""
    column = claims.table(decision.table).column(decision.column)
    name = label(decision.table, decision.column)
    if (refusal := _refusal(decision, column)) is not None:
        return refused(decision, f"{name} {refusal}")
    known = column.measured_type
    if keeps_stored_type(decision):
        if decision.by == "model" and known is not None:
            return _asked(decision, name, known)
        return accepted(decision, f"{name} is read as it's stored.")
    if decision.table not in claims.tables:
        return not_measured(decision)
    evidence = _best(_measure(claims, decision, column))
    differs = known is not None and not is_same_reading(evidence.measured_type or "", known)
    if decision.by == "model" and known is not None and differs and not evidence.violations:
        return _asked(decision, name, known)
    values = counted(evidence.rows, "value")
    if not evidence.violations and (zeros := _zeros_of_codes(claims, decision, evidence)):
        message = (
            f"{name} holds codes: {zeros:,} of {values} have zeros that a number doesn't keep, as"
            " in the versions 1.1 and 1.10. A person may decide to read them as numbers."
        )
        return refused(decision, message, evidence.model_copy(update={"violations": zeros}))
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


def _asked(decision: TextType, name: str, known: str) -> Verdict:
    """Return the verdict on a model's claim that every value of a column already contradicts."""
    return Verdict(decision, "asked", f"{name} is read as {known}: all of its values are that.")


def is_same_reading(one: str, other: str) -> bool:
    """Return whether two types, as profiles write them, are of one kind and read text alike."""
    return _kind_and_spelling(one) == _kind_and_spelling(other)


def _kind_and_spelling(measured_type: str) -> tuple[str, str]:
    bare, spelling = type_and_spelling(measured_type)
    if kind_of(bare) in {"integer", "decimal", "float"}:
        return "number", spelling if spelling in DECIMAL_MARKS else ""
    return bare, "" if spelling == "%Y-%m-%d" else spelling


def reads_so(claim: TextType, measured_type: str | None) -> bool:
    """Return whether a column that is read as this type is read as a claim says."""
    if measured_type is None or claim.read_as == "text":
        return measured_type is None and claim.read_as == "text"
    kind, spelling = _kind_and_spelling(measured_type)
    if claim.read_as == "number":
        # Who names a mark says how decimals are written, which whole numbers have none of.
        return kind == "number" and (not spelling or f"decimal {claim.decimal}" in spelling)
    claimed = f"{claim.read_as.upper()} ({claim.date_format or ''})"
    return (kind, spelling) == _kind_and_spelling(claimed)


def described_reading(table: str, column: str, measured_type: str | None) -> TextType | None:
    """Return the decision that reads a column as a profile does; None where none can say it."""
    said: dict[str, object] = {"table": table, "column": column}
    if measured_type is None:
        return TextType.model_validate({**said, "read_as": "text"})
    kind, spelling = _kind_and_spelling(measured_type)
    if kind == "number":
        mark = {DECIMAL_COMMA: "comma", DECIMAL_POINT: "point"}.get(spelling)
        return TextType.model_validate({**said, "read_as": "number", "decimal": mark})
    if kind not in {"DATE", "TIMESTAMP"}:
        return None
    date_format = spelling or None
    said |= {"read_as": kind.lower(), "date_format": date_format}
    return TextType.model_validate(said)


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
    named = _text(quote(column.name), column)
    for reading in _readings(claims, decision, text):
        misfit = _misfit(decision, reading, text)
        rows, distinct, violations, same = query_figures(
            claims,
            f"SELECT count({text}), count(DISTINCT {text}), count(*) FILTER (WHERE {misfit}),"
            f" count(*) FILTER (WHERE ({reading.spelled(text)}) = {text}) FROM {table.relation}",
        )
        yield DecisionEvidence(
            rows=rows,
            nulls=table.profile.rows - rows,
            distinct=distinct,
            violations=violations,
            measured_type=reading.type,
            reversible=same == rows and not violations,
            # It's DuckDB's SQL: others can't try a cast.
            sql=f"SELECT * FROM {table.profile.sql} WHERE {_misfit(decision, reading, named)}",
        )


def _best(figures: Iterator[DecisionEvidence]) -> DecisionEvidence:
    """Return the first way to read that all values allow, or else the one that fails least."""
    tried: list[DecisionEvidence] = []
    for evidence in figures:
        tried.append(evidence)
        if not evidence.violations:
            return evidence
    return min(tried, key=lambda evidence: evidence.violations)


def _text(name: str, column: ColumnProfile) -> str:
    return name if kind_of(column.type) == "text" else f"CAST({name} AS VARCHAR)"


def _misfit(decision: TextType, reading: _Reading, text: str) -> str:
    """Return SQL for whether a value can't be read so."""
    misfit = f"{text} IS NOT NULL AND ({reading.value(text)}) IS NULL"
    if decision.by == "person" or decision.read_as != "number":
        return misfit
    # As a number, a code loses its zeros. A person may know better.
    is_code = f"regexp_full_match(trim({text}), {literal(CODE)})"
    return f"{misfit} OR ({text} IS NOT NULL AND {is_code})"


def _zeros_of_codes(claims: Claims, decision: TextType, evidence: DecisionEvidence) -> int:
    """Return how many values have zeros at their end that tell them apart from others; mostly 0.

    Each value alone is a number. A person may know that all of them are.
    """
    if decision.by == "person" or decision.read_as != "number":
        return 0
    table = claims.tables[decision.table]
    text = f"trim({quote(table.aliases[decision.column])})"
    mark = DECIMAL_MARKS.get(type_and_spelling(evidence.measured_type or "")[1], ".")
    ends_in_zero = f"regexp_matches({text}, {literal(f'[{mark}][0-9]*0$')})"
    (zeros,) = query_figures(
        claims,
        f"SELECT CASE WHEN {are_codes_sql(text, mark)} THEN count(*) FILTER (WHERE {ends_in_zero})"
        f" END FROM {table.relation}",
    )
    return zeros


def _readings(claims: Claims, decision: TextType, text: str) -> Sequence[_Reading]:
    if decision.read_as == "number":
        plain = _number_reading(claims, decision, text, "")
        if decision.decimal is None:
            return (plain,)
        if decision.decimal == "point":
            return plain, _number_reading(claims, decision, text, DECIMAL_POINT)
        marked = _number_reading(claims, decision, text, DECIMAL_COMMA)
        return (plain, marked) if plain.type in _WHOLE else (marked,)
    type_ = "DATE" if decision.read_as == "date" else "TIMESTAMP"
    return (_Reading(f"{type_} ({decision.date_format})" if decision.date_format else type_),)


def _number_reading(claims: Claims, decision: TextType, text: str, spelling: str) -> _Reading:
    """Return the reading that keeps the digits of all numbers of a column in that spelling."""
    number = f"trim({text})"
    if spelling:
        number = with_decimal_point(number, DECIMAL_MARKS[spelling])
    row = claims.connection.execute(
        f"SELECT {', '.join(facts_sql('number'))} FROM (SELECT {number} AS number"
        f" FROM {claims.tables[decision.table].relation})"
        f" WHERE regexp_full_match(number, {literal(NUMBER)})"
    ).fetchone()
    assert row is not None, "an aggregate without groups always gives a row"
    facts = read_facts(row)
    type_ = exact_type(facts) or "DOUBLE"
    if not spelling:
        return _Reading(type_)
    # Who names the mark of decimals expects some, though none may have come yet.
    is_short = type_ == "BIGINT" and facts.digits <= EXACT_DIGITS
    return _Reading(f"{'DOUBLE' if is_short else type_} ({spelling})")
