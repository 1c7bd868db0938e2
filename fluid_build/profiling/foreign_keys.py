"""Foreign keys of one column: names rank the candidates, the data has the veto.

For every column that could refer to something, the keys that it could mean are found by name and
by value, their inclusion is measured, and at most one parent is chosen.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fluid_build.profiling.foreign_key_scores import confidence, score_reference, value_evidence
from fluid_build.profiling.inclusion import Inclusion, measure_inclusion
from fluid_build.profiling.measured_tables import (
    MeasuredColumn,
    MeasuredTable,
    group_by_key_kind,
)
from fluid_build.profiling.parent_candidates import ParentCandidate, ParentSearch
from fluid_build.profiling.probing import Prober
from fluid_build.profiling.value_cache import ValueCache
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, ReferenceWeights, Weights

_MEASURED_CANDIDATES = 6
"""Candidates of a column that are measured at most: the right one is hardly ever further down, and
each may cost a join."""


@dataclass(slots=True, eq=False)
class ColumnReference:
    """A column that refers to a key of another (or its own) table, as judged."""

    child: MeasuredColumn
    parent: MeasuredColumn
    name_score: float
    inclusion: Inclusion
    value_evidence: float
    log_odds: float

    @property
    def confidence(self) -> float:
        """The judgement as a probability."""
        return confidence(self.log_odds)


def find_references(
    cache: ValueCache, tables: Sequence[MeasuredTable], weights: Weights = DEFAULT_WEIGHTS
) -> list[ColumnReference]:
    """Find the columns that refer to a key, at most one parent each."""
    columns = [column for table in tables for column in table.columns if column.key_kind]
    prober = Prober(cache, columns)
    keys = group_by_key_kind(_possible_parents(tables))
    searches = {kind: ParentSearch(parents, prober, weights) for kind, parents in keys.items()}
    references = []
    for child in columns:
        if not _could_refer(child) or child.key_kind not in searches:
            continue
        candidates = searches[child.key_kind].candidates(child)
        measured = _measure_candidates(cache, child, candidates, weights)
        best = _best_reference(measured, weights.reference)
        if best is not None:
            references.append(best)
    prober.close()
    return _without_reverse(references)


def _possible_parents(tables: Iterable[MeasuredTable]) -> Iterable[MeasuredColumn]:
    for table in tables:
        for column in table.columns:
            if column.key_kind and column.stats.is_unique and not column.is_measure:
                yield column


def _could_refer(child: MeasuredColumn) -> bool:
    unfit = child.stats.kind in {"decimal", "boolean"} or child.is_measure
    return child.stats.present > 0 and not unfit


def _measure_candidates(
    cache: ValueCache,
    child: MeasuredColumn,
    candidates: Sequence[ParentCandidate],
    weights: Weights,
) -> list[ColumnReference]:
    measured: list[ColumnReference] = []
    for candidate in candidates[:_MEASURED_CANDIDATES]:
        if _is_beaten(candidate, measured, weights.reference):
            break
        parent, name_score = candidate.parent, candidate.name_score
        inclusion = measure_inclusion(cache, [child], [parent])
        evidence = value_evidence(child, parent, inclusion, weights.values)
        odds = score_reference(child, parent, name_score, inclusion, evidence, weights.reference)
        measured.append(ColumnReference(child, parent, name_score, inclusion, evidence, odds))
    return measured


def _is_beaten(
    candidate: ParentCandidate, measured: Sequence[ColumnReference], weights: ReferenceWeights
) -> bool:
    """Return whether a candidate can't win any more against those that were measured."""
    return any(
        reference.log_odds > candidate.estimate + weights.far_ahead
        and reference.inclusion.orphans == 0
        and reference.parent.parsed_name.squashed != candidate.parent.parsed_name.squashed
        for reference in measured
    )


def _best_reference(
    measured: Sequence[ColumnReference], weights: ReferenceWeights
) -> ColumnReference | None:
    accepted = [reference for reference in measured if reference.confidence >= weights.accepted]
    if not accepted:
        return None
    clean = [reference for reference in accepted if reference.inclusion.orphans == 0]
    best = max(clean or accepted, key=lambda reference: reference.log_odds)
    for reference in measured:
        if _is_more_specific(reference, best, weights):
            reference.log_odds = max(reference.log_odds, best.log_odds)
            best = reference
    return best


def _is_more_specific(
    reference: ColumnReference, rival: ColumnReference, weights: ReferenceWeights
) -> bool:
    """Return whether a parent is a part of its namesake that is too small to hit by chance."""
    if reference is rival or reference.inclusion.share < rival.inclusion.share:
        return False
    if reference.parent.parsed_name.squashed != rival.parent.parsed_name.squashed:
        return False
    small, large = reference.inclusion.parent_distinct, rival.inclusion.parent_distinct
    if not small or large < weights.part_size * small:
        return False
    nats = reference.inclusion.distinct_matched * math.log(large / small)
    return nats > weights.part_evidence


def _without_reverse(references: Sequence[ColumnReference]) -> list[ColumnReference]:
    """Keep the more credible of two references that point at each other's columns."""
    by_pair = {(id(r.child), id(r.parent)): r for r in references}
    remaining = []
    for reference in references:
        reverse = by_pair.get((id(reference.parent), id(reference.child)))
        if reverse is None or (reverse.log_odds, str(reverse.child)) <= (
            reference.log_odds,
            str(reference.child),
        ):
            remaining.append(reference)
    return remaining
