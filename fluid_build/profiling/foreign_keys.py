"""Foreign keys of one column: names rank the candidates, the data has the veto.

For every column that could refer to something, the keys that could be meant are found by name and
by value, their inclusion is measured, and one parent at most is chosen. The judgement adds up in
log odds.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fluid_build.profiling.foreign_key_scores import judge, value_evidence
from fluid_build.profiling.inclusion import Inclusion, Prober, group_by_kind, measure_inclusion
from fluid_build.profiling.measured_tables import MeasuredColumn, MeasuredTable
from fluid_build.profiling.parent_candidates import ParentCandidate, ParentSearch
from fluid_build.profiling.value_cache import ValueCache

MEASURED_A_CHILD = 6
ACCEPTED = 0.55
_FAR_AHEAD = 2.5


@dataclass(slots=True, eq=False)
class ColumnReference:
    """A column that may refer to a key of another (or its own) table."""

    child: MeasuredColumn
    parent: MeasuredColumn
    name_score: float
    inclusion: Inclusion
    value_evidence: float
    log_odds: float

    @property
    def confidence(self) -> float:
        """The judgement as a probability."""
        return 1.0 / (1.0 + math.exp(-self.log_odds))


def find_references(held: ValueCache, entities: Sequence[MeasuredTable]) -> list[ColumnReference]:
    """Find the columns that refer to a key, at most one parent each."""
    nodes = [node for entity in entities for node in entity.nodes if node.comparable]
    prober = Prober(held, nodes)
    keys = group_by_kind(_possible_parents(entities))
    searches = {kind: ParentSearch(parents, prober) for kind, parents in keys.items()}
    chosen = []
    for child in nodes:
        if not _could_refer(child) or child.comparable not in searches:
            continue
        candidates = searches[child.comparable].candidates(child)
        best = _choose(_judge_all(held, child, candidates))
        if best is not None:
            chosen.append(best)
    prober.close()
    return _one_direction(chosen)


def _possible_parents(entities: Iterable[MeasuredTable]) -> Iterable[MeasuredColumn]:
    for entity in entities:
        for node in entity.nodes:
            unique = node.stats.unique and node.stats.present > 0
            if node.comparable and unique and not node.is_measure:
                yield node


def _could_refer(child: MeasuredColumn) -> bool:
    unfit = child.stats.kind in {"decimal", "boolean"} or child.is_measure
    return child.stats.present > 0 and not unfit


def _judge_all(
    held: ValueCache,
    child: MeasuredColumn,
    candidates: Sequence[ParentCandidate],
) -> list[ColumnReference]:
    judged: list[ColumnReference] = []
    for candidate in candidates[:MEASURED_A_CHILD]:
        parent, name_score = candidate.parent, candidate.name_score
        if _beyond_reach(judged, candidate):
            break
        inclusion = measure_inclusion(held, [child], [parent])
        evidence = value_evidence(child, parent, inclusion)
        odds = judge(child, parent, name_score, inclusion, evidence)
        judged.append(ColumnReference(child, parent, name_score, inclusion, evidence, odds))
    return judged


def _beyond_reach(judged: Sequence[ColumnReference], candidate: ParentCandidate) -> bool:
    """Whether a candidate can't win any more against those that were measured."""
    return any(
        reference.log_odds > candidate.guess + _FAR_AHEAD
        and reference.inclusion.orphans == 0
        and reference.parent.name.squashed != candidate.parent.name.squashed
        for reference in judged
    )


def _choose(found: Sequence[ColumnReference]) -> ColumnReference | None:
    accepted = [reference for reference in found if reference.confidence >= ACCEPTED]
    if not accepted:
        return None
    clean = [reference for reference in accepted if reference.inclusion.orphans == 0]
    best = max(clean or accepted, key=lambda reference: reference.log_odds)
    for reference in found:
        if _more_specific(reference, best):
            reference.log_odds = max(reference.log_odds, best.log_odds)
            best = reference
    return best


def _more_specific(one: ColumnReference, other: ColumnReference) -> bool:
    """Whether ``one`` names a small part of what ``other`` names, too small to hit by chance."""
    if one is other or one.inclusion.share < other.inclusion.share:
        return False
    if one.parent.name.squashed != other.parent.name.squashed:
        return False
    small, large = one.inclusion.parent_distinct, other.inclusion.parent_distinct
    if not small or large < 2 * small:
        return False
    return one.inclusion.distinct_matched * math.log(large / small) > 5.0


def _one_direction(references: Sequence[ColumnReference]) -> list[ColumnReference]:
    """Of two references that point at each other's columns, keep the more credible one."""
    by_pair = {(id(r.child), id(r.parent)): r for r in references}
    kept = []
    for reference in references:
        back = by_pair.get((id(reference.parent), id(reference.child)))
        if back is not None and (back.log_odds, str(back.child)) > (
            reference.log_odds,
            str(reference.child),
        ):
            continue
        kept.append(reference)
    return kept
