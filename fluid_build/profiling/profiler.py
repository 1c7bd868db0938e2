"""The profiler: from a source to its profile, in four steps that report as they go."""

from collections.abc import Sequence

import duckdb

from fluid_build.profiling.candidate_keys import CandidateKeys, find_candidate_keys
from fluid_build.profiling.column_stats import ColumnStats, TableStats, Value
from fluid_build.profiling.compact_dates import keep_references_comparable
from fluid_build.profiling.composite_foreign_keys import CompositeReference
from fluid_build.profiling.declared_keys import (
    check_declared_keys,
    check_declared_reference,
    is_unique,
    key_evidence,
    reference_evidence,
)
from fluid_build.profiling.foreign_keys import ColumnReference
from fluid_build.profiling.inclusion import is_settled_by_bounds, place_of
from fluid_build.profiling.key_selection import SelectedKeys, relate
from fluid_build.profiling.measured_tables import MeasuredTable, build_schema
from fluid_build.profiling.name_similarity import role
from fluid_build.profiling.profile import (
    ColumnProfile,
    ForeignKey,
    KeyClaim,
    Profile,
    SkippedTable,
    TableProfile,
    ValueCount,
)
from fluid_build.profiling.semantic_types import ColumnFacts, SemanticType, classify
from fluid_build.profiling.table_measurement import TOP_VALUES, measure_table, value_text
from fluid_build.profiling.value_cache import ValueCache
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source, Table
from fluid_build.sources.engine import DUCKDB_ERRORS, READING_ERRORS, reason, unreadable
from fluid_build.sources.personal_text import presentable
from fluid_build.sources.query_progress import following
from fluid_build.sources.staged_views import stage_in_place, staged_where_needed


def profile_source(source: Source, *, on_progress: OnProgress = ignore) -> Profile:
    """Measure a source: columns, keys and relations, each with its evidence.

    A table that can't be read is left out and listed in ``skipped``; the others go on. Files that
    DuckDB can't query where they lie are copied first. Nothing is written to the source. Raises
    SourceUnreadableError where reading fails for good.
    """
    try:
        return staged_where_needed(source, lambda: _profile(source, on_progress))
    except duckdb.InterruptException:
        raise
    except READING_ERRORS as error:
        raise unreadable(source.name, error) from error


def _profile(source: Source, on_progress: OnProgress) -> Profile:
    measured, unread = _measure(source, on_progress)
    skipped = [SkippedTable(name=s.name, reason=s.reason) for s in source.skipped]
    skipped.extend(unread)
    candidates = _find_keys(source.connection, measured, on_progress)
    entities = build_schema(measured, candidates)
    on_progress(Progress("relations", 0, 1))
    held = ValueCache(source.connection)
    relations = relate(held, entities)
    _settle_distinct(relations)
    claims = [check_declared_keys(source.connection, entity) for entity in entities]
    foreign_keys = _foreign_keys(held, entities, relations)
    keep_references_comparable(
        foreign_keys,
        {(table.table.name, one.name): one for table in measured for one in table.columns},
    )
    on_progress(Progress("relations", 1, 1))
    tables = [
        _table_profile(source.connection, entity, relations, claim)
        for entity, claim in zip(entities, claims, strict=True)
    ]
    return Profile(
        source_kind=source.kind,
        source_name=source.name,
        has_data=source.has_data,
        tables=tuple(tables),
        foreign_keys=tuple(foreign_keys),
        skipped=tuple(skipped),
        notes=source.notes,
    )


def _measure(
    source: Source, on_progress: OnProgress
) -> tuple[list[TableStats], list[SkippedTable]]:
    measured: list[TableStats] = []
    unread: list[SkippedTable] = []
    tables = source.tables
    for done, table in enumerate(tables):
        report = Progress("columns", done, len(tables), table.name)
        try:
            with following(source.connection, on_progress, report):
                measured.append(_measured(source, table))
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            unread.append(SkippedTable(name=table.name, reason=reason(error)))
    on_progress(Progress("columns", len(tables), len(tables)))
    return measured, unread


def _measured(source: Source, table: Table) -> TableStats:
    """Measure a table, on a copy of its files where DuckDB can't run a query on them."""
    try:
        return measure_table(source.connection, table, source.conventions)
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS:
        staged = stage_in_place(source, table)
        if staged is None:
            raise
    return measure_table(source.connection, staged, source.conventions)


def _find_keys(
    connection: duckdb.DuckDBPyConnection, measured: Sequence[TableStats], on_progress: OnProgress
) -> list[CandidateKeys]:
    found = []
    for done, stats in enumerate(measured):
        report = Progress("keys", done, len(measured), stats.table.name)
        with following(connection, on_progress, report):
            found.append(find_candidate_keys(connection, stats))
        for column in stats.columns:
            # Of many tables the sampled rows are most of the memory, and nothing needs them now.
            column.codes.clear()
    on_progress(Progress("keys", len(measured), len(measured)))
    return found


def _settle_distinct(relations: SelectedKeys) -> None:
    """Take the exact count of distinct values from where a reference was measured on every row.

    Where the parent's bounds settled it, a child can't have more values than the parent has keys.
    """
    for reference in relations.references:
        stats, inclusion = reference.child.stats, reference.inclusion
        if stats.distinct_exact:
            continue
        stats.distinct_exact = not is_settled_by_bounds(reference.child, reference.parent)
        stats.distinct = inclusion.distinct


def _foreign_keys(
    held: ValueCache, entities: Sequence[MeasuredTable], relations: SelectedKeys
) -> list[ForeignKey]:
    declared = _declared_references(held, entities)
    taken = {(key.from_table, frozenset(key.from_columns)) for key in declared}
    found = [
        key
        for key in (
            *(_reference(reference, relations) for reference in relations.references),
            *(_composite(reference, relations) for reference in relations.composites),
        )
        if (key.from_table, frozenset(key.from_columns)) not in taken
    ]
    position = {entity.name: entity.index for entity in entities}
    return sorted(
        [*declared, *found],
        key=lambda key: (position[key.from_table], key.from_columns, key.to_table),
    )


def _declared_references(held: ValueCache, entities: Sequence[MeasuredTable]) -> list[ForeignKey]:
    by_name = {entity.name: entity for entity in entities}
    found = []
    for entity in entities:
        for declared in entity.stats.table.foreign_keys:
            parent = by_name.get(declared.to_table)
            if parent is None or not set(declared.columns) <= set(entity.by_name):
                continue
            if set(declared.to_columns) <= set(parent.by_name):
                found.append(check_declared_reference(held, entity, declared, parent))
    return found


def _reference(reference: ColumnReference, relations: SelectedKeys) -> ForeignKey:
    child, parent = reference.child, reference.parent
    return ForeignKey(
        from_table=child.table.name,
        from_columns=(child.stats.name,),
        to_table=parent.table.name,
        to_columns=(parent.stats.name,),
        origin="measured",
        implied=relations.is_implied(reference),
        confidence=round(reference.confidence, 4),
        cardinality="one-to-one" if child.stats.unique else "many-to-one",
        role=role(child.name, parent.name, parent.table.names.table),
        evidence=reference_evidence(
            [child],
            [parent],
            reference.inclusion,
            "measured",
            reference.name_score,
            _reason(reference.name_score, reference.inclusion.share, reference.value_evidence),
        ),
    )


def _composite(reference: CompositeReference, relations: SelectedKeys) -> ForeignKey:
    child, parent = list(reference.child), list(reference.parent)
    return ForeignKey(
        from_table=child[0].table.name,
        from_columns=tuple(node.stats.name for node in child),
        to_table=parent[0].table.name,
        to_columns=tuple(node.stats.name for node in parent),
        origin="measured",
        implied=relations.is_implied(reference),
        confidence=round(reference.confidence, 4),
        cardinality="one-to-one" if is_unique(child) else "many-to-one",
        evidence=reference_evidence(
            child,
            parent,
            reference.inclusion,
            "measured",
            reference.name_score,
            _reason(reference.name_score, reference.inclusion.share, 0.0),
        ),
    )


def _reason(name_score: float, share: float, value_evidence: float) -> str:
    if name_score >= 0.85:
        names = "the names agree"
    elif name_score >= 0.4:
        names = "the names partly agree"
    else:
        names = "the names say nothing"
    values = "every value is found" if share == 1.0 else f"{share:.1%} of the rows match"
    if value_evidence >= 8.0:
        values += ", which chance does not explain"
    return f"{names}, and {values}"


def _table_profile(
    connection: duckdb.DuckDBPyConnection,
    entity: MeasuredTable,
    relations: SelectedKeys,
    claims: Sequence[KeyClaim],
) -> TableProfile:
    table = entity.stats.table
    choice = relations.keys.get(entity.index)
    declared = bool(table.primary_key) and choice is not None
    origin = "declared" if declared else "measured"
    return TableProfile(
        name=table.name,
        place=place_of(table),
        rows=entity.stats.rows,
        columns=tuple(_column_profile(entity, stats) for stats in entity.stats.columns),
        primary_key=choice.columns if choice else None,
        primary_key_origin=("declared" if declared else "measured") if choice else None,
        primary_key_reason=choice.reason if choice else _no_key(entity),
        primary_key_evidence=(
            key_evidence(connection, entity, choice.columns, origin) if choice else None
        ),
        candidate_keys=tuple(entity.candidates.keys),
        declared_keys=tuple(claims),
        comment=table.comment,
        notes=_notes(entity),
    )


def _notes(entity: MeasuredTable) -> tuple[str, ...]:
    """What was met in the table; what concerns one column stands with the column alone."""
    of_columns = {
        f"{column.name}: {note}" for column in entity.stats.table.columns for note in column.notes
    }
    of_table = (note for note in entity.stats.table.notes if note not in of_columns)
    return (*of_table, *entity.candidates.notes)


def _no_key(entity: MeasuredTable) -> str:
    if not entity.stats.rows:
        return "it holds no row, and a key shows only in rows"
    if entity.candidates.keys:
        return "no set of columns that is unique looks like a key"
    return "no set of up to four columns is unique"


def _column_profile(entity: MeasuredTable, stats: ColumnStats) -> ColumnProfile:
    meaning = _meaning(entity, stats)
    personal = meaning is not None and meaning.pii
    is_shown = stats.is_shown and not personal
    return ColumnProfile(
        name=stats.name,
        type=stats.column.type,
        declared_type=stats.column.declared_type,
        nullable=stats.column.nullable,
        rows=stats.rows,
        nulls=stats.nulls,
        distinct=stats.distinct,
        distinct_exact=stats.distinct_exact,
        min=_bound(stats, stats.low) if is_shown else None,
        max=_bound(stats, stats.high) if is_shown else None,
        min_length=stats.min_length,
        max_length=stats.max_length,
        avg_length=None if stats.avg_length is None else round(stats.avg_length, 2),
        top_values=_top_values(stats) if is_shown else (),
        sample=None if stats.sample_rows == stats.rows else stats.sample_rows,
        measured_type=stats.measured_type,
        reversible=stats.reversible,
        semantic_type=meaning.name if meaning else None,
        semantic_reason=meaning.reason if meaning else "",
        pii=personal,
        comment=stats.column.comment,
        notes=tuple(dict.fromkeys((*stats.column.notes, *stats.notes))),
    )


def _top_values(stats: ColumnStats) -> tuple[ValueCount, ...]:
    return tuple(
        ValueCount(value=value_text(value) or "", count=count)
        for value, count in stats.values[:TOP_VALUES]
        if stats.kind != "text" or presentable(value)
    )


def _bound(stats: ColumnStats, value: Value) -> str | None:
    """A bound as text, if it may be shown."""
    is_hidden = stats.kind == "text" and isinstance(value, str) and not presentable(value)
    return None if is_hidden else value_text(value)


def _meaning(entity: MeasuredTable, stats: ColumnStats) -> SemanticType | None:
    return classify(
        ColumnFacts(
            table=entity.name,
            column=stats.name,
            type=stats.column.type,
            rows=stats.rows,
            nulls=stats.nulls,
            distinct=stats.distinct,
            values=tuple(value for value, _ in stats.values),
            min=value_text(stats.low),
            max=value_text(stats.high),
            siblings=tuple(c.name for c in entity.stats.columns if c is not stats),
            documents=tuple(stats.documents),
        )
    )
