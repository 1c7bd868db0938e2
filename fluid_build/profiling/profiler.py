"""The profiler: from a source to its profile, in four steps that report their progress."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain

import duckdb

from fluid_build.profiling.assembly import (
    assemble_candidates,
    assemble_foreign_keys,
    assemble_table,
)
from fluid_build.profiling.choose.calibration import CALIBRATION, Calibration
from fluid_build.profiling.choose.declared import check_declared_keys, check_declared_references
from fluid_build.profiling.choose.selection import select_keys
from fluid_build.profiling.column_meanings import column_meanings, with_tagged_columns
from fluid_build.profiling.evidence import note_other_normalizations
from fluid_build.profiling.keys.likelihood import key_likelihoods
from fluid_build.profiling.measure.candidate_keys import CandidateKeys, find_candidate_keys
from fluid_build.profiling.measure.compact_dates import adopt_notations, keep_references_comparable
from fluid_build.profiling.measure.figures import TableStats
from fluid_build.profiling.measure.schema import build_tables
from fluid_build.profiling.measure.tables import measure_table
from fluid_build.profiling.measure.value_cache import QueryFailedError, ValueCache
from fluid_build.profiling.profile import Candidate, ForeignKey, Profile, SkippedTable, TableProfile
from fluid_build.profiling.references.candidates import UNCOMPARED_KEYS
from fluid_build.profiling.references.inclusion import is_settled_by_bounds
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, Weights
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source, Table
from fluid_build.sources.combined import CombinedSource
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, READING_ERRORS, reason, unreadable
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.staged_views import stage_in_place


def profile_source(
    source: Source,
    *,
    on_progress: OnProgress = ignore,
    weights: Weights = DEFAULT_WEIGHTS,
    calibration: Calibration = CALIBRATION,
) -> Profile:
    """Measure a source: columns, keys and foreign keys, each with its evidence.

    A table on which a query fails is copied first if it's read from files in place. If it can't be
    copied, or a query fails on the copy too, it's left out and listed in ``skipped``; the other
    tables are profiled. Nothing is written to the source. Raises SourceUnreadableError if a query
    fails that isn't about a table.
    """
    try:
        with _without_garbage_collection():
            return _profile(source, on_progress, weights, calibration)
    except duckdb.InterruptException:
        raise
    except READING_ERRORS as error:
        raise unreadable(source.name, error) from error


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the collection of reference cycles, unless it's off already.

    A profile is millions of small values and next to no cycles. Looking for these again and again
    takes a quarter of the time with 1,000 tables, and frees nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(slots=True)
class _Measurements:
    """The figures and candidate keys of each table, by its name, and the tables that failed.

    ``likelihoods`` say how likely the columns of a table are to be part of its key.
    """

    stats: dict[str, TableStats] = field(default_factory=dict)
    likelihoods: dict[str, dict[str, float]] = field(default_factory=dict)
    keys: dict[str, CandidateKeys] = field(default_factory=dict)
    skipped: list[SkippedTable] = field(default_factory=list)

    def skip(self, name: str, why: str) -> None:
        """Leave a table out, and list it with the reason."""
        self.stats.pop(name, None)
        self.keys.pop(name, None)
        self.skipped.append(SkippedTable(name=name, reason=why))


def _profile(
    source: Source, on_progress: OnProgress, weights: Weights, calibration: Calibration
) -> Profile:
    measured = _Measurements()
    _measure_tables(source, measured, on_progress)
    _find_candidate_keys(source, measured, weights, on_progress)
    on_progress(Progress("relations", 0, 1))
    related = _relate_readable(source, measured, weights, calibration)
    on_progress(Progress("relations", 1, 1))
    profile = Profile(
        source_kind=source.kind,
        source_name=source.name,
        has_data=source.has_data,
        tables=related.tables,
        foreign_keys=related.foreign_keys,
        candidates=related.candidates,
        skipped=(
            *(SkippedTable(name=s.name, reason=s.reason) for s in source.skipped),
            *measured.skipped,
        ),
        notes=(*source.notes, *related.notes),
        catalog=None if source.catalog is None else source.catalog.facts,
    )
    return with_tagged_columns(profile)


def _measure_tables(source: Source, measured: _Measurements, on_progress: OnProgress) -> None:
    tables = source.tables
    for index, table in enumerate(tables):
        report = Progress("columns", index, len(tables), table.name)
        try:
            with following(source.connection, on_progress, report):
                measured.stats[table.name] = _measure_readable(source, table)
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            measured.skip(table.name, reason(error))
    on_progress(Progress("columns", len(tables), len(tables)))


def _measure_readable(source: Source, table: Table) -> TableStats:
    """Measure a table, on a copy of its files if DuckDB can't query them in place."""
    try:
        return measure_table(source.connection, table, source.conventions)
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS:
        copy = stage_in_place(source, table)
        if copy is None:
            raise
    return measure_table(source.connection, copy, source.conventions)


def _find_candidate_keys(
    source: Source, measured: _Measurements, weights: Weights, on_progress: OnProgress
) -> None:
    names = list(measured.stats)
    tables = build_tables(list(measured.stats.values()), weights.names)
    likelihoods = key_likelihoods(tables, weights.key_search)
    measured.likelihoods = dict(zip(names, likelihoods, strict=True))
    for index, name in enumerate(names):
        report = Progress("keys", index, len(names), name)
        try:
            with following(source.connection, on_progress, report):
                _find_keys(source.connection, measured, name)
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            if not _measure_copy(source, measured, name):
                measured.skip(name, reason(error))
    on_progress(Progress("keys", len(names), len(names)))


def _find_keys(connection: duckdb.DuckDBPyConnection, measured: _Measurements, name: str) -> None:
    stats = measured.stats[name]
    measured.keys[name] = find_candidate_keys(connection, stats, measured.likelihoods[name])
    for column in stats.columns:
        # With many tables, the sampled rows are most of the memory, and are no longer needed.
        column.codes.clear()


def _measure_copy(source: Source, measured: _Measurements, name: str) -> bool:
    """Replace the figures of a table that is read in place by those of a copy of its files.

    False if it isn't read in place, or if the copy fails too.
    """
    try:
        copy = stage_in_place(source, measured.stats[name].table)
        if copy is None:
            return False
        measured.stats[name] = measure_table(source.connection, copy, source.conventions)
        _find_keys(source.connection, measured, name)
    except duckdb.InterruptException:
        raise
    except DUCKDB_ERRORS:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _RelatedTables:
    tables: tuple[TableProfile, ...]
    foreign_keys: tuple[ForeignKey, ...]
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]


def _relate_readable(
    source: Source, measured: _Measurements, weights: Weights, calibration: Calibration
) -> _RelatedTables:
    """Relate the tables, starting over without a table on which a query fails, or with its copy."""
    while True:
        try:
            return _relate(source, measured, weights, calibration)
        except QueryFailedError as error:
            copies = [_measure_copy(source, measured, table.name) for table in error.tables]
            if not any(copies):
                measured.skip(error.tables[0].name, error.reason)


def _relate(
    source: Source, measured: _Measurements, weights: Weights, calibration: Calibration
) -> _RelatedTables:
    """Choose the keys and references of all tables; QueryFailedError if a query fails."""
    stats = list(measured.stats.values())
    adopt_notations(column for table in stats for column in table.columns)
    tables = build_tables(stats, weights.names)
    for table in tables:
        table.candidates = measured.keys[table.name]
    connection = source.connection
    cache = ValueCache(connection, keys=source.keys)
    selected = select_keys(cache, tables, weights)
    # A reference that was measured on every row counted its values. If the parent's bounds settled
    # it, the child has at most as many as the parent has keys.
    for reference in selected.references:
        child, parent = reference.child, reference.parent
        if not child.stats.distinct_exact and not parent.table.is_sampled:
            child.stats.distinct_exact = not is_settled_by_bounds(child, parent)
            child.stats.distinct = reference.inclusion.distinct
    declared_keys = [check_declared_keys(connection, table) for table in tables]
    declared_references = check_declared_references(cache, tables)
    foreign_keys = assemble_foreign_keys(tables, declared_references, selected, calibration)
    candidates = assemble_candidates(declared_references, selected, calibration)
    keep_references_comparable(
        foreign_keys,
        {(table.name, column.name): column.stats for table in tables for column in table.columns},
    )
    note_other_normalizations(connection, tables, foreign_keys)
    profiles = (
        assemble_table(connection, table, selected.primary.get(table.index), claims, meanings)
        for table, claims, meanings in zip(
            tables, declared_keys, column_meanings(connection, tables), strict=True
        )
    )
    notes = (UNCOMPARED_KEYS,) if selected.left_keys_out else ()
    return _RelatedTables(tuple(profiles), tuple(foreign_keys), tuple(candidates), notes)


def profile_combined(source: CombinedSource, *, on_progress: OnProgress = ignore) -> Profile:
    """Profile each of several sources, and return all of it as one profile.

    Names and habits are those of one source, so each is judged by its own. A column of one that
    holds keys of another is no foreign key: the two are compared by observations.
    """
    profiles = [profile_source(part, on_progress=on_progress) for part in source.parts]
    candidates = chain.from_iterable(profile.candidates for profile in profiles)
    return Profile(
        source_kind=source.kind,
        source_name=source.name,
        tables=tuple(chain.from_iterable(profile.tables for profile in profiles)),
        foreign_keys=tuple(chain.from_iterable(profile.foreign_keys for profile in profiles)),
        candidates=tuple(sorted(candidates, key=lambda candidate: -candidate.confidence)),
        skipped=tuple(chain.from_iterable(profile.skipped for profile in profiles)),
        notes=tuple(chain.from_iterable(profile.notes for profile in profiles)),
    )
