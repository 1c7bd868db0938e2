"""How credible a reference is that somebody proposes, judged like those that profiling finds.

What profiling knows of the columns is read from the profile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fluid_build.profiling.measure.figures import ColumnStats, TableStats, kind_of
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable, key_kind_of
from fluid_build.profiling.names.key_names import own_key_score
from fluid_build.profiling.names.parsing import ParsedNames, parse_names
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile
from fluid_build.profiling.references.composites import name_score
from fluid_build.profiling.references.features import composite_features, reference_features
from fluid_build.profiling.references.inclusion import Inclusion
from fluid_build.profiling.references.scores import score_composite, score_reference
from fluid_build.profiling.weights import DEFAULT_WEIGHTS
from fluid_build.sources.base import Column, Table

Bounds = Mapping[str, tuple[int, int] | None]
"""The least and the greatest whole number of columns, by their names."""


@dataclass(frozen=True, slots=True)
class ProposedColumns:
    """Columns of a table at one end of a proposed reference."""

    table: str
    columns: tuple[str, ...]
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class ProposedReference:
    """How well names (0 to 1) and values (in nats) speak for a reference, and both in log odds.

    ``is_text_key`` says that it's to a primary key of text, ``is_own_row`` that it's to its own
    table and that no word such as ``parent`` says so.
    """

    name_score: float
    evidence: float
    log_odds: float
    is_text_key: bool = False
    is_own_row: bool = False


def judge_proposal(
    profile: Profile, child: ProposedColumns, parent: ProposedColumns, inclusion: Inclusion
) -> ProposedReference:
    """Return how credible it is that columns refer to others, which pair by position."""
    children, parents = _measured(profile, child), _measured(profile, parent)
    names = DEFAULT_WEIGHTS.names
    scores = [name_score(c, p, names) for c, p in zip(children, parents, strict=True)]
    if len(children) > 1:
        return _judge_composite(profile, children, parents, sum(scores) / len(scores), inclusion)
    score = max(scores[0], _voted_score(profile, children[0], parents[0]))
    weights = DEFAULT_WEIGHTS
    features = reference_features(children[0], parents[0], score, inclusion, weights.values)
    odds = score_reference(features, weights.reference)
    return ProposedReference(
        score,
        features.evidence,
        odds,
        is_text_key=parents[0].is_primary_key and parents[0].key_kind == "text",
        is_own_row=features.within_table and not features.is_hierarchical,
    )


def _judge_composite(
    profile: Profile,
    children: Sequence[MeasuredColumn],
    parents: Sequence[MeasuredColumn],
    score: float,
    inclusion: Inclusion,
) -> ProposedReference:
    ends = {(column.table.name, column.name): column for column in (*children, *parents)}
    singles = [key for key in profile.foreign_keys if len(key.from_columns) == 1]
    targets = {
        id(ends[key.from_table, key.from_columns[0]]): ends[key.to_table, key.to_columns[0]]
        for key in singles
        if {(key.from_table, key.from_columns[0]), (key.to_table, key.to_columns[0])} <= set(ends)
    }
    referring = {(key.from_table, column) for key in singles for column in key.from_columns}
    features = composite_features(
        children,
        parents,
        score,
        inclusion,
        targets,
        {id(column) for place, column in ends.items() if place in referring},
        frozenset(),
    )
    odds = score_composite(features, DEFAULT_WEIGHTS.composite)
    return ProposedReference(score, features.evidence, odds)


def _voted_score(profile: Profile, child: MeasuredColumn, parent: MeasuredColumn) -> float:
    """Return what it's worth that columns of the same name refer to the same key."""
    weights = DEFAULT_WEIGHTS.reference
    votes = sum(
        1
        for key in profile.foreign_keys
        if (key.to_table, key.to_columns) == (parent.table.name, (parent.name,))
        and key.from_columns[0].casefold() == child.name.casefold()
        and key.from_table != child.table.name
    )
    return (0.0, weights.voted_name_once, weights.voted_name)[min(votes, 2)]


def _measured(profile: Profile, end: ProposedColumns) -> list[MeasuredColumn]:
    """Return columns with their names parsed and the figures that the profile has of them."""
    schema = tuple((t.name, tuple(c.name for c in t.columns)) for t in profile.tables)
    place = next(i for i, table in enumerate(profile.tables) if table.name == end.table)
    table, names = profile.tables[place], _parsed_names(schema)[place]
    measured = _measured_table(table, names, place, end.bounds)
    return [measured.by_name[column] for column in end.columns]


@lru_cache(maxsize=2)  # A model proposes dozens of references on one schema.
def _parsed_names(schema: tuple[tuple[str, tuple[str, ...]], ...]) -> list[ParsedNames]:
    return parse_names(schema)


def _measured_table(
    table: TableProfile, names: ParsedNames, place: int, bounds: Bounds
) -> MeasuredTable:
    stats = [_figures(column, bounds.get(column.name)) for column in table.columns]
    source = Table(table.name, tuple(each.column for each in stats), relation="")
    measured = MeasuredTable(
        TableStats(source, table.rows, stats, is_complete=True), names.table, place
    )
    measured.candidates.keys.extend(table.candidate_keys)
    measured.primary_key = table.primary_key or ()
    measured.columns = [
        MeasuredColumn(
            measured,
            each,
            name,
            position,
            key_kind_of(each),
            own_key_score(name, names.table, DEFAULT_WEIGHTS.names),
        )
        for position, (each, name) in enumerate(zip(stats, names.columns, strict=True))
    ]
    return measured


def _figures(column: ColumnProfile, bounds: tuple[int, int] | None) -> ColumnStats:
    return ColumnStats(
        column=Column(column.name, column.type),
        kind=kind_of(column.type),
        rows=column.rows,
        nulls=column.nulls,
        distinct=column.distinct,
        distinct_exact=column.distinct_exact,
        avg_length=column.avg_length,
        values=[(each.value, each.count) for each in column.top_values],
        sample_rows=column.rows if column.sample is None else column.sample,
        is_integral=bounds is not None,
        measured_type=column.measured_type,
        bounds=bounds,
    )
