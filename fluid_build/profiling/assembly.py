"""The profile, assembled from what was measured and chosen."""

import re
from collections.abc import Sequence

import duckdb

from fluid_build.profiling.checks import qualified_name
from fluid_build.profiling.choose.calibration import CALIBRATION, Calibration
from fluid_build.profiling.choose.selection import SelectedKeys
from fluid_build.profiling.choose.unchosen import (
    Reference,
    UnchosenReference,
    reference_columns,
    role_of,
)
from fluid_build.profiling.evidence import (
    are_unique,
    describe_measured,
    key_evidence,
    reference_evidence,
)
from fluid_build.profiling.keys.primary_keys import KeyChoice
from fluid_build.profiling.measure.figures import ColumnStats, Distribution, Value
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.profiling.measure.tables import TOP_VALUES, value_text
from fluid_build.profiling.names.key_names import role_name
from fluid_build.profiling.profile import (
    Candidate,
    ColumnProfile,
    ForeignKey,
    ForeignKeyEvidence,
    KeyClaim,
    Origin,
    TableProfile,
    TableSample,
    ValueCount,
)
from fluid_build.profiling.references.composites import CompositeReference
from fluid_build.profiling.semantic_types import SemanticType
from fluid_build.sources.base import Table
from fluid_build.sources.text_values.personal_text import presentable, quotable

_DIGIT = re.compile(r"\d")
_MOSTLY_NUMBERS = 0.9
"""The share of values with a digit from which a word is none of the column's."""


def assemble_foreign_keys(
    tables: Sequence[MeasuredTable],
    declared: Sequence[ForeignKey],
    selected: SelectedKeys,
    calibration: Calibration = CALIBRATION,
) -> list[ForeignKey]:
    """Return the foreign keys in the order of their tables; declared ones replace measured ones."""
    declared_columns = _child_columns(declared)
    references: list[Reference] = [*selected.references, *selected.composites]
    measured = [_foreign_key(reference, selected, calibration) for reference in references]
    undeclared = [
        key
        for key in measured
        if (key.from_table, frozenset(key.from_columns)) not in declared_columns
    ]
    position = {table.name: table.index for table in tables}
    return sorted(
        [*declared, *undeclared],
        key=lambda key: (position[key.from_table], key.from_columns, key.to_table),
    )


def assemble_candidates(
    declared: Sequence[ForeignKey], selected: SelectedKeys, calibration: Calibration = CALIBRATION
) -> list[Candidate]:
    """Return the references that aren't believed, most credible first.

    Columns with a declared reference raise no question.
    """
    declared_columns = _child_columns(declared)
    candidates = [_candidate(unchosen, calibration) for unchosen in selected.unchosen]
    return sorted(
        (
            candidate
            for candidate in candidates
            if (candidate.from_table, frozenset(candidate.from_columns)) not in declared_columns
        ),
        key=lambda c: (-c.confidence, c.from_table, c.from_columns, c.to_table),
    )


def _child_columns(keys: Sequence[ForeignKey]) -> set[tuple[str, frozenset[str]]]:
    return {(key.from_table, frozenset(key.from_columns)) for key in keys}


def _foreign_key(
    reference: Reference, selected: SelectedKeys, calibration: Calibration
) -> ForeignKey:
    child, parent = reference_columns(reference)
    is_composite = isinstance(reference, CompositeReference)
    confidence = calibration.confidence(role_of(reference), reference.log_odds)
    return ForeignKey(
        from_table=child[0].table.name,
        from_columns=tuple(column.name for column in child),
        to_table=parent[0].table.name,
        to_columns=tuple(column.name for column in parent),
        origin="measured",
        implied=selected.is_implied(reference),
        confidence=round(confidence, 4),
        cardinality="one-to-one" if are_unique(child) else "many-to-one",
        role="" if is_composite else _role_name(child[0], parent[0]),
        evidence=_evidence(reference),
    )


def _role_name(child: MeasuredColumn, parent: MeasuredColumn) -> str:
    return role_name(child.parsed_name, parent.parsed_name, parent.table.parsed_name)


def _candidate(unchosen: UnchosenReference, calibration: Calibration) -> Candidate:
    child, parent = reference_columns(unchosen.reference)
    confidence = calibration.confidence(unchosen.role, unchosen.reference.log_odds)
    return Candidate(
        from_table=child[0].table.name,
        from_columns=tuple(column.name for column in child),
        to_table=parent[0].table.name,
        to_columns=tuple(column.name for column in parent),
        confidence=round(confidence, 4),
        ruled_out=unchosen.is_ruled_out,
        reason=unchosen.reason,
        evidence=_evidence(unchosen.reference),
    )


def _evidence(reference: Reference) -> ForeignKeyEvidence:
    child, parent = reference_columns(reference)
    inclusion, name_score = reference.inclusion, reference.name_score
    is_composite = isinstance(reference, CompositeReference)
    value_evidence = 0.0 if is_composite else reference.features.evidence
    reason = describe_measured(child, parent, inclusion, name_score, value_evidence)
    return reference_evidence(child, parent, inclusion, "measured", name_score, reason)


def assemble_table(
    connection: duckdb.DuckDBPyConnection,
    table: MeasuredTable,
    choice: KeyChoice | None,
    declared_keys: Sequence[KeyClaim],
    meanings: Sequence[SemanticType | None],
) -> TableProfile:
    """Return the profile of a table; ``choice`` is its primary key, ``meanings`` its columns'."""
    source = table.stats.table
    origin: Origin = "declared" if source.primary_key else "measured"
    return TableProfile(
        name=source.name,
        place=qualified_name(source),
        source=source.source or None,
        sample=_sample(source),
        rows=table.stats.rows,
        columns=tuple(
            _column_profile(stats, meaning)
            for stats, meaning in zip(table.stats.columns, meanings, strict=True)
        ),
        primary_key=choice.columns if choice else None,
        primary_key_origin=origin if choice else None,
        primary_key_reason=choice.reason if choice else _describe_no_key(table),
        primary_key_evidence=(
            key_evidence(connection, table, choice.columns, origin) if choice else None
        ),
        candidate_keys=tuple(table.candidates.keys),
        declared_keys=tuple(declared_keys),
        comment=source.comment,
        notes=_table_notes(table),
    )


def _sample(table: Table) -> TableSample | None:
    part = table.sampled
    if part is None:
        return None
    return TableSample(rows=part.rows, total=part.total, is_estimate=part.is_estimate)


def _describe_no_key(table: MeasuredTable) -> str:
    if not table.stats.rows:
        return "the table has no rows to find a key in"
    if table.candidates.keys:
        return "no unique combination of columns looks like a key"
    return "no combination of up to four columns is unique"


def _table_notes(table: MeasuredTable) -> tuple[str, ...]:
    """Return the notes on a table, without those that its columns have themselves."""
    source = table.stats.table
    of_columns = {f"{column.name}: {note}" for column in source.columns for note in column.notes}
    of_table = (note for note in source.notes if note not in of_columns)
    return (*of_table, *table.candidates.notes)


def _column_profile(stats: ColumnStats, meaning: SemanticType | None) -> ColumnProfile:
    is_personal = meaning is not None and meaning.pii
    may_show = stats.may_show_values and not is_personal
    distribution = _shown_distribution(stats) if may_show else None
    return ColumnProfile(
        name=stats.name,
        type=stats.column.type,
        declared_type=stats.column.declared_type,
        nullable=stats.column.nullable,
        rows=stats.rows,
        nulls=stats.nulls,
        distinct=stats.distinct,
        distinct_exact=stats.distinct_exact,
        min=_bound(stats, stats.low) if may_show else None,
        max=_bound(stats, stats.high) if may_show else None,
        min_length=stats.min_length,
        max_length=stats.max_length,
        avg_length=None if stats.avg_length is None else round(stats.avg_length, 2),
        top_values=_top_values(stats) if may_show else (),
        sample=None if stats.sample_rows == stats.rows else stats.sample_rows,
        mean=distribution.mean if distribution else None,
        quantiles=distribution.quantiles if distribution else None,
        histogram=distribution.histogram if distribution else (),
        statistics_sample=distribution.sample if distribution else None,
        measured_type=stats.measured_type,
        reversible=stats.reversible,
        semantic_type=meaning.name if meaning else None,
        semantic_reason=meaning.reason if meaning else "",
        pii=is_personal,
        comment=stats.column.comment,
        notes=tuple(dict.fromkeys((*stats.column.notes, *stats.notes))),
    )


def _shown_distribution(stats: ColumnStats) -> Distribution | None:
    """Return the distribution if it's of the type that the values turned out to have.

    Of text, each value in it must be one that may be shown.
    """
    distribution = stats.distribution
    if distribution is None or distribution.measured_type != stats.measured_type:
        return None
    is_shown = stats.kind != "text" or all(map(presentable, distribution.values()))
    return distribution if is_shown else None


def _top_values(stats: ColumnStats) -> tuple[ValueCount, ...]:
    return tuple(
        ValueCount(value=value_text(value) or "", count=count)
        for value, count in stats.values[:TOP_VALUES]
        if stats.kind != "text"
        or (presentable(value) and not (count == 1 and _is_odd(stats, value)))
    )


def _bound(stats: ColumnStats, value: Value) -> str | None:
    """Return a bound as text, if it may be shown."""
    is_text = stats.kind == "text" and isinstance(value, str)
    is_hidden = is_text and (not presentable(str(value)) or _is_odd(stats, str(value)))
    return None if is_hidden else value_text(value)


def _is_odd(stats: ColumnStats, value: str) -> bool:
    """Return whether a value is a word among numbers: that may be somebody's, typed in astray."""
    if _DIGIT.search(value) or quotable(value, is_personal=None):
        return False
    numbers = sum(_DIGIT.search(str(other)) is not None for other, _ in stats.values)
    return numbers >= _MOSTLY_NUMBERS * len(stats.values)
