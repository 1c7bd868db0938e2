"""The tools that measure a source: its profile, a table, a key, a relationship."""

from __future__ import annotations

import math
from collections.abc import Iterable

from fluid_build.assistants.arguments import (
    MOST_COLUMNS,
    MOST_TABLES,
    CheckKeyArguments,
    CheckRelationshipArguments,
    DescribeTableArguments,
    ProfileSourceArguments,
)
from fluid_build.assistants.desk import Desk
from fluid_build.assistants.jobs import Job
from fluid_build.assistants.open_sources import MeasuredSource
from fluid_build.assistants.results import (
    BrokenKey,
    ColumnDescription,
    KeyCheck,
    KeyFigures,
    Question,
    Relationship,
    RelationshipCheck,
    RelationshipFigures,
    Skipped,
    SourceProfile,
    TableDescription,
    TableSummary,
)
from fluid_build.assistants.row_values import orphan_values, repeated_values, shared_values
from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    DecisionEvidence,
    SetKey,
)
from fluid_build.decisions.verdicts import Verdict
from fluid_build.decisions.weighing import weigh
from fluid_build.decisions.weighing.names import UnknownNameError, source_names, with_exact_names
from fluid_build.errors import UsageError
from fluid_build.profiling.profile import ColumnProfile, ForeignKey, TableProfile
from fluid_build.text import clip

_MOST_RELATIONSHIPS = 100
_MOST_QUESTIONS = 30
_MOST_KEYS = 10
_LONGEST_SQL = 2_000
"""Bounds of an answer, which a conversation carries for many turns: at most some 25,000 tokens."""


_OF_A_SAMPLE = "Only a sample of the rows was read, so that nothing is proven of the others."


def profile_source(desk: Desk, arguments: ProfileSourceArguments, job: Job) -> SourceProfile:
    """Measure a source, and return its tables, keys and relationships."""
    place = desk.workspace.source(arguments.source)
    with desk.sources.measured(place, job, refresh=arguments.refresh) as measured:
        profile = measured.profile
        chosen = {_table(measured, table).name for table in arguments.tables}
    tables = [table for table in profile.tables if not chosen or table.name in chosen]
    keys = [
        key for key in profile.foreign_keys if not chosen or {key.from_table, key.to_table} & chosen
    ]
    questions = [
        candidate
        for candidate in profile.candidates
        if not candidate.ruled_out and (not chosen or candidate.from_table in chosen)
    ]
    return SourceProfile(
        source=place.shown,
        kind=profile.source_kind,
        has_data=profile.has_data,
        measured_at=measured.measured_at,
        tables=[_summary(desk, measured, table) for table in tables[:MOST_TABLES]],
        more_tables=max(0, len(tables) - MOST_TABLES),
        relationships=[_relationship(desk, key) for key in keys[:_MOST_RELATIONSHIPS]],
        more_relationships=max(0, len(keys) - _MOST_RELATIONSHIPS),
        questions=[
            Question(
                from_table=desk.name(candidate.from_table),
                from_columns=desk.names(candidate.from_columns),
                to_table=desk.name(candidate.to_table),
                to_columns=desk.names(candidate.to_columns),
                confidence=_confidence(candidate.confidence),
                why_not=desk.prose(candidate.reason),
            )
            for candidate in questions[:_MOST_QUESTIONS]
        ],
        skipped=[
            Skipped(name=desk.name(table.name), reason=desk.prose(table.reason))
            for table in profile.skipped[:_MOST_QUESTIONS]
        ],
        notes=desk.notes(profile.notes),
    )


def describe_table(desk: Desk, arguments: DescribeTableArguments, job: Job) -> TableDescription:
    """Return a table's columns with their figures, its keys and its relationships."""
    place = desk.workspace.source(arguments.source)
    with desk.sources.measured(place, job) as measured:
        profile = measured.profile
        table = _table(measured, arguments.table)
    columns = _columns(table, arguments.columns)
    keys = [key for key in profile.foreign_keys if table.name in (key.from_table, key.to_table)]
    other_keys = [key for key in table.candidate_keys if key != table.primary_key]
    return TableDescription(
        source=place.shown,
        table=desk.name(table.name),
        rows=table.rows,
        comment=desk.prose(table.comment),
        primary_key=desk.names(table.primary_key or ()),
        primary_key_origin=table.primary_key_origin,
        primary_key_reason=desk.prose(table.primary_key_reason),
        other_keys=[desk.names(key) for key in other_keys[:_MOST_KEYS]],
        broken_keys=[
            BrokenKey(
                columns=desk.names(key.columns),
                repeated_rows=key.evidence.violations,
                null_rows=key.evidence.nulls,
            )
            for key in table.declared_keys
            if not key.holds
        ],
        columns=[_column(desk, column) for column in columns[:MOST_COLUMNS]],
        more_columns=max(0, len(columns) - MOST_COLUMNS),
        relationships=[_relationship(desk, key) for key in keys[:_MOST_RELATIONSHIPS]],
        notes=desk.notes(table.notes),
        is_sample=_is_sample(measured, table.name),
        values_shared=desk.settings.share_values,
    )


def check_key(desk: Desk, arguments: CheckKeyArguments, job: Job) -> KeyCheck:
    """Count on every row whether columns are unique and never null."""
    place = desk.workspace.source(arguments.source)
    with desk.sources.measured(place, job) as measured:
        claim = SetKey(by="model", table=arguments.table, columns=arguments.columns)
        exact = _exact_key(measured, claim)
        verdict = _weigh(measured, exact)
        figures = _key_figures(verdict.evidence)
        is_sample = _is_sample(measured, exact.table)
        repeats = desk.settings.share_values and figures is not None and figures.repeated_rows
        examples = repeated_values(measured, exact) if repeats else None
    is_broken = figures is None or figures.repeated_rows or figures.null_rows
    return KeyCheck(
        source=place.shown,
        table=desk.name(exact.table),
        columns=desk.names(exact.columns),
        holds=not is_broken and figures is not None and figures.rows > 0,
        finding=_finding(desk, verdict, is_sample),
        is_sample=is_sample,
        figures=figures,
        sql=_sql(verdict.evidence),
        repeated_values=examples,
    )


def check_relationship(
    desk: Desk, arguments: CheckRelationshipArguments, job: Job
) -> RelationshipCheck:
    """Count on every row whether columns of one table refer to another."""
    if len(arguments.from_columns) != len(arguments.to_columns):
        raise UsageError(
            "from_columns and to_columns have different lengths.",
            hint="They pair by position: name as many of one as of the other.",
        )
    place = desk.workspace.source(arguments.source)
    with desk.sources.measured(place, job) as measured:
        claim = AddRelationship(
            from_table=arguments.from_table,
            from_columns=arguments.from_columns,
            to_table=arguments.to_table,
            to_columns=arguments.to_columns,
        )
        exact = _exact_relationship(measured, claim)
        verdict = _weigh(measured, exact)
        figures = _relationship_figures(verdict.evidence)
        is_sample = _is_sample(measured, exact.from_table, exact.to_table)
        has_orphans = figures is not None and bool(figures.orphans)
        is_shown = desk.settings.share_values and has_orphans
        examples = orphan_values(measured, exact) if is_shown else None
    return RelationshipCheck(
        source=place.shown,
        from_table=desk.name(exact.from_table),
        from_columns=desk.names(exact.from_columns),
        to_table=desk.name(exact.to_table),
        to_columns=desk.names(exact.to_columns),
        holds=figures is not None and bool(figures.rows) and not figures.orphans,
        finding=_finding(desk, verdict, is_sample),
        is_sample=is_sample,
        figures=figures,
        sql=_sql(verdict.evidence),
        orphan_values=examples,
    )


def _table(measured: MeasuredSource, requested: str) -> TableProfile:
    try:
        return source_names(measured.source, measured.profile).table(requested)
    except UnknownNameError as error:
        raise _unknown(error) from None


def _columns(table: TableProfile, requested: Iterable[str]) -> list[ColumnProfile]:
    by_name = {column.name.casefold(): column for column in table.columns}
    by_name |= {column.name: column for column in table.columns}
    names = [*requested]
    unknown = [name for name in names if name not in by_name and name.casefold() not in by_name]
    if unknown:
        raise UsageError(
            f"{clip(table.name, 100)} has no column {clip(unknown[0], 100)!r}.",
            hint="Leave columns out to see them all.",
        )
    chosen = [by_name.get(name) or by_name[name.casefold()] for name in names]
    return chosen or [*table.columns]


def _exact_key(measured: MeasuredSource, claim: SetKey) -> SetKey:
    exact = _with_exact_names(measured, claim)
    assert isinstance(exact, SetKey)
    return exact


def _exact_relationship(measured: MeasuredSource, claim: AddRelationship) -> AddRelationship:
    exact = _with_exact_names(measured, claim)
    assert isinstance(exact, AddRelationship)
    return exact


def _with_exact_names(measured: MeasuredSource, claim: AnyDecision) -> AnyDecision:
    try:
        return with_exact_names(claim, source_names(measured.source, measured.profile))
    except UnknownNameError as error:
        raise _unknown(error) from None


def _unknown(error: UnknownNameError) -> UsageError:
    return UsageError(str(error), hint="Call profile_source to see the tables.")


def _weigh(measured: MeasuredSource, claim: AnyDecision) -> Verdict:
    (verdict,) = weigh(measured.source, measured.profile, [claim])
    return verdict


def _key_figures(evidence: DecisionEvidence | None) -> KeyFigures | None:
    if evidence is None or evidence.distinct is None:
        return None
    return KeyFigures(
        rows=evidence.rows + evidence.nulls,
        null_rows=evidence.nulls,
        distinct=evidence.distinct,
        repeated_rows=evidence.violations - evidence.nulls,
    )


def _relationship_figures(evidence: DecisionEvidence | None) -> RelationshipFigures | None:
    if evidence is None:
        return None
    if evidence.matched is None:
        # Values that repeat in the parent are counted first, and nothing after them.
        return RelationshipFigures(
            is_parent_unique=not evidence.violations,
            rows=None,
            null_rows=None,
            matched=None,
            orphans=None,
            coverage=None,
        )
    return RelationshipFigures(
        is_parent_unique=True,
        rows=evidence.rows,
        null_rows=evidence.nulls,
        matched=evidence.matched,
        orphans=evidence.violations,
        coverage=evidence.coverage,
    )


def _is_sample(measured: MeasuredSource, *names: str) -> bool:
    return any(table.sampled for table in measured.source.tables if table.name in names)


def _finding(desk: Desk, verdict: Verdict, is_sample: bool) -> str:
    finding = desk.prose(verdict.message)
    return f"{finding} {_OF_A_SAMPLE}" if is_sample else finding


def _sql(evidence: DecisionEvidence | None) -> str:
    return "" if evidence is None else clip(evidence.sql, _LONGEST_SQL)


def _summary(desk: Desk, measured: MeasuredSource, table: TableProfile) -> TableSummary:
    return TableSummary(
        name=desk.name(table.name),
        rows=table.rows,
        columns=len(table.columns),
        primary_key=desk.names(table.primary_key or ()),
        primary_key_origin=table.primary_key_origin,
        personal_columns=sum(column.pii for column in table.columns),
        is_sample=_is_sample(measured, table.name),
    )


def _relationship(desk: Desk, key: ForeignKey) -> Relationship:
    return Relationship(
        from_table=desk.name(key.from_table),
        from_columns=desk.names(key.from_columns),
        to_table=desk.name(key.to_table),
        to_columns=desk.names(key.to_columns),
        origin=key.origin,
        confidence=_confidence(key.confidence),
        is_implied=key.implied,
        rows=key.evidence.rows,
        orphans=key.evidence.orphans,
    )


def _confidence(confidence: float) -> float:
    """Return a confidence with two digits; only what is certain is 1."""
    return math.floor(100 * confidence) / 100


def _column(desk: Desk, column: ColumnProfile) -> ColumnDescription:
    return ColumnDescription(
        name=desk.name(column.name),
        type=_type(desk, column),
        holds=column.measured_type,
        nulls=column.nulls,
        distinct=column.distinct,
        is_distinct_exact=column.distinct_exact,
        meaning=column.semantic_type,
        is_personal=column.pii,
        comment=desk.prose(column.comment),
        notes=desk.notes(column.notes),
        values=shared_values(column) if desk.settings.share_values else None,
    )


def _type(desk: Desk, column: ColumnProfile) -> str:
    """Return a column's type; the values of an enum are values of rows."""
    is_enum = column.type.upper().startswith("ENUM")
    return "ENUM" if is_enum and not desk.settings.share_values else desk.name(column.type)
