"""The profiler: from a source to its profile, in four steps that report their progress."""

from collections.abc import Sequence

import duckdb

from fluid_build.profiling.candidate_keys import CandidateKeys, find_candidate_keys
from fluid_build.profiling.column_stats import TableStats
from fluid_build.profiling.compact_dates import keep_references_comparable
from fluid_build.profiling.declared_keys import check_declared_keys, check_declared_references
from fluid_build.profiling.inclusion import is_settled_by_bounds
from fluid_build.profiling.key_selection import SelectedKeys, select_keys
from fluid_build.profiling.measured_tables import build_tables
from fluid_build.profiling.profile import Profile, SkippedTable
from fluid_build.profiling.profile_assembly import assemble_foreign_keys, assemble_table
from fluid_build.profiling.table_measurement import measure_table
from fluid_build.profiling.value_cache import ValueCache
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, Weights
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source, Table
from fluid_build.sources.engine import DUCKDB_ERRORS, READING_ERRORS, reason, unreadable
from fluid_build.sources.query_progress import following
from fluid_build.sources.staged_views import stage_in_place, staged_where_needed


def profile_source(
    source: Source, *, on_progress: OnProgress = ignore, weights: Weights = DEFAULT_WEIGHTS
) -> Profile:
    """Measure a source: columns, keys and foreign keys, each with its evidence.

    A table that can't be read is left out and listed in ``skipped``; the others are profiled. Files
    that DuckDB can't query in place are copied first. Nothing is written to the source. Raises
    SourceUnreadableError if reading fails for good.
    """
    try:
        return staged_where_needed(source, lambda: _profile(source, on_progress, weights))
    except duckdb.InterruptException:
        raise
    except READING_ERRORS as error:
        raise unreadable(source.name, error) from error


def _profile(source: Source, on_progress: OnProgress, weights: Weights) -> Profile:
    connection = source.connection
    measured, unreadable_tables = _measure_tables(source, on_progress)
    candidates = _find_candidate_keys(connection, measured, on_progress)
    tables = build_tables(measured, candidates, weights.names)
    on_progress(Progress("relations", 0, 1))
    cache = ValueCache(connection)
    selected = select_keys(cache, tables, weights)
    _set_exact_distinct(selected)
    declared_keys = [check_declared_keys(connection, table) for table in tables]
    declared_references = check_declared_references(cache, tables)
    foreign_keys = assemble_foreign_keys(tables, declared_references, selected)
    keep_references_comparable(
        foreign_keys,
        {(table.table.name, column.name): column for table in measured for column in table.columns},
    )
    on_progress(Progress("relations", 1, 1))
    return Profile(
        source_kind=source.kind,
        source_name=source.name,
        has_data=source.has_data,
        tables=tuple(
            assemble_table(connection, table, selected.primary.get(table.index), claims)
            for table, claims in zip(tables, declared_keys, strict=True)
        ),
        foreign_keys=tuple(foreign_keys),
        skipped=(
            *(SkippedTable(name=s.name, reason=s.reason) for s in source.skipped),
            *unreadable_tables,
        ),
        notes=source.notes,
    )


def _measure_tables(
    source: Source, on_progress: OnProgress
) -> tuple[list[TableStats], list[SkippedTable]]:
    measured: list[TableStats] = []
    unreadable_tables: list[SkippedTable] = []
    tables = source.tables
    for index, table in enumerate(tables):
        report = Progress("columns", index, len(tables), table.name)
        try:
            with following(source.connection, on_progress, report):
                measured.append(_measure_readable(source, table))
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            unreadable_tables.append(SkippedTable(name=table.name, reason=reason(error)))
    on_progress(Progress("columns", len(tables), len(tables)))
    return measured, unreadable_tables


def _measure_readable(source: Source, table: Table) -> TableStats:
    """Measure a table, on a copy of its files if DuckDB can't query them in place."""
    try:
        return measure_table(source.connection, table, source.conventions)
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS:
        staged = stage_in_place(source, table)
        if staged is None:
            raise
    return measure_table(source.connection, staged, source.conventions)


def _find_candidate_keys(
    connection: duckdb.DuckDBPyConnection, measured: Sequence[TableStats], on_progress: OnProgress
) -> list[CandidateKeys]:
    candidates = []
    for index, stats in enumerate(measured):
        report = Progress("keys", index, len(measured), stats.table.name)
        with following(connection, on_progress, report):
            candidates.append(find_candidate_keys(connection, stats))
        for column in stats.columns:
            # With many tables, the sampled rows are most of the memory, and are no longer needed.
            column.codes.clear()
    on_progress(Progress("keys", len(measured), len(measured)))
    return candidates


def _set_exact_distinct(selected: SelectedKeys) -> None:
    """Set the exact count of distinct values of columns whose reference was measured on every row.

    If the parent's bounds settled it, the child has at most as many values as the parent has keys.
    """
    for reference in selected.references:
        stats = reference.child.stats
        if stats.distinct_exact:
            continue
        stats.distinct_exact = not is_settled_by_bounds(reference.child, reference.parent)
        stats.distinct = reference.inclusion.distinct
