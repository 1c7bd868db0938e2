"""Foreign keys of one column: names rank the candidates, the data has the veto.

For every column that could refer to something, the keys that could be meant are found by name and
by value, their inclusion is measured, and one parent at most is chosen. The judgement adds up in
log odds; the weights were set by reasoning and checked by leaving out each database in turn.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.profiling.inclusion import Inclusion, Prober, group_by_kind, measure_inclusion
from fluid_build.profiling.likeness import is_hierarchical, refers
from fluid_build.profiling.schema import Entity, Node, self_explaining

_COUNTING_WORDS = frozenset("number no nr num nbr count cnt".split())
MEASURED_A_CHILD = 6
ACCEPTED = 0.55
_SUBTYPE_SHARE = 0.98


@dataclass(slots=True, eq=False)
class Reference:
    """A column that may refer to a key of another (or its own) table."""

    child: Node
    parent: Node
    name_score: float
    inclusion: Inclusion
    value_evidence: float
    log_odds: float

    @property
    def confidence(self) -> float:
        """The judgement as a probability."""
        return 1.0 / (1.0 + math.exp(-self.log_odds))


def find_references(
    connection: duckdb.DuckDBPyConnection, entities: Sequence[Entity]
) -> list[Reference]:
    """Find the columns that refer to a key, at most one parent each."""
    nodes = [node for entity in entities for node in entity.nodes if node.comparable]
    prober = Prober(connection, nodes)
    keys = group_by_kind(_possible_parents(entities))
    judged: dict[int, list[Reference]] = {}
    for child in nodes:
        if not _could_refer(child):
            continue
        candidates = _candidates(child, keys.get(child.comparable, []), prober)
        judged[id(child)] = _judge_all(connection, child, candidates)
    prober.close()
    chosen = [best for found in judged.values() if (best := _choose(found)) is not None]
    return _one_direction(chosen)


def _possible_parents(entities: Iterable[Entity]) -> Iterable[Node]:
    for entity in entities:
        for node in entity.nodes:
            if node.comparable and node.stats.unique and node.stats.present > 0:
                yield node


def _could_refer(child: Node) -> bool:
    return child.stats.present > 0 and child.stats.kind not in {"decimal", "boolean"}


def _candidates(
    child: Node, parents: Sequence[Node], prober: Prober
) -> list[tuple[float, float, Node]]:
    found = []
    for parent in parents:
        if parent is child or not _bounds_overlap(child, parent):
            continue
        name_score = refers(
            child.name,
            child.table.names.table,
            parent.name,
            parent.table.names.table,
            own=child.table is parent.table,
        )
        share = prober.share(child, parent)
        if share < _least_share(name_score):
            continue
        guess = _guess(child, parent, share)
        evidence = value_evidence(child, parent, guess)
        odds = judge(child, parent, name_score, guess, evidence)
        if odds > -1.0:
            found.append((odds, name_score, parent))
    found.sort(key=lambda item: (-item[0], str(item[2])))
    return found


def _least_share(name_score: float) -> float:
    """How much of the probes must be keys for a pair to be worth measuring."""
    if name_score >= 0.5:
        return 0.4
    return 0.85 if name_score >= 0.4 else 0.999


def _bounds_overlap(child: Node, parent: Node) -> bool:
    if child.comparable != "integer":
        return True
    low, high = parent.low, parent.high
    if low is None or high is None or child.low is None or child.high is None:
        return True
    return child.low <= high and child.high >= low


def _guess(child: Node, parent: Node, share: float) -> Inclusion:
    stats = child.stats
    matched = round(stats.distinct * share)
    return Inclusion(
        stats.present,
        round(stats.present * share),
        stats.distinct,
        matched,
        parent.stats.distinct,
        0,
    )


def _judge_all(
    connection: duckdb.DuckDBPyConnection,
    child: Node,
    candidates: Sequence[tuple[float, float, Node]],
) -> list[Reference]:
    judged = []
    for _, name_score, parent in candidates[:MEASURED_A_CHILD]:
        inclusion = measure_inclusion(connection, [child], [parent])
        evidence = value_evidence(child, parent, inclusion)
        odds = judge(child, parent, name_score, inclusion, evidence)
        judged.append(Reference(child, parent, name_score, inclusion, evidence, odds))
    return judged


def value_evidence(child: Node, parent: Node, inclusion: Inclusion) -> float:
    """How unlikely the match is by chance, in nats.

    Values of a key without gaps prove little: any small number is among them. What counts there is
    how well the child fills the parent's range. Strings and sparse numbers count one by one.
    """
    matched = inclusion.distinct_matched
    if not matched:
        return 0.0
    if parent.comparable == "text":
        length = parent.stats.avg_length or 0.0
        return matched * min(4.0, max(0.2, 0.8 * (length - 0.5)))
    if parent.comparable in {"uuid", "date"}:
        return matched * (20.0 if parent.comparable == "uuid" else 0.5)
    low, high = parent.low, parent.high
    if low is None or high is None or child.low is None or child.high is None:
        return 0.0
    if inclusion.parent_near:
        width = min(high, child.high) - max(low, child.low) + 1
        density = min(1.0, inclusion.parent_near / max(width, 1))
    else:
        density = min(1.0, inclusion.parent_distinct / (high - low + 1))
    sparse = matched * (-math.log(density) if density < 0.95 else 0.0)
    offset = matched * min(3.0, math.log1p(low / (high - low + 1))) if low > 1 else 0.0
    return sparse + offset + _range_fit(child, low, high, matched)


def _range_fit(child: Node, low: int, high: int, matched: int) -> float:
    """Evidence that a column spans just the range of a dense key; up to 4 nats."""
    if matched < 3 or child.high is None or child.low is None:
        return 0.0
    span = high - low + 1
    missing = (max(0, high - child.high) + max(0, child.low - low)) / span
    expected = 1.0 / (matched + 1)
    if missing > 4 * expected + 0.02:
        return 0.0
    return min(4.0, 0.8 * math.log(matched))


def judge(
    child: Node, parent: Node, name_score: float, inclusion: Inclusion, evidence: float
) -> float:
    """Weigh names, values and dirt to log odds that the reference is meant."""
    owned = self_explaining(parent)
    odds = -4.2 + 6.5 * name_score
    odds += 0.35 * min(evidence, 12.0)
    odds += 0.8 * inclusion.coverage + (0.4 if inclusion.coverage == 1.0 else 0.0)
    odds += 0.6 * owned
    odds += 0.5 if child.name.keyed else -0.8
    odds -= _dirt(child, parent, name_score, inclusion, evidence)
    if parent.stats.nulls:
        odds -= 0.8
    if (parent.stats.name,) != parent.table.primary_key:
        odds -= 1.6 if child.name.keyed else 3.0
    elif evidence > 30.0 and child.name.squashed == parent.name.squashed:
        odds += 1.5
    if name_score < 0.2 and child.name.bare and child.name.bare[-1] in _COUNTING_WORDS:
        odds -= 2.0
    own = self_explaining(child)
    if child.table is not parent.table:
        odds -= 2.0 * own * (1.0 - name_score)
    if child.table.primary_key == (child.stats.name,):
        odds -= 1.0 + 2.5 * own + (4.0 if inclusion.share < _SUBTYPE_SHARE else 0.0)
    elif child.stats.is_key and not child.name.keyed:
        odds -= 0.5
    if child.table is parent.table and not is_hierarchical(child.name, parent.table.names.table):
        odds -= 1.5
    return odds


def _dirt(
    child: Node, parent: Node, name_score: float, inclusion: Inclusion, evidence: float
) -> float:
    """What orphans cost: the less the names say, the more, unless chance can't explain the rest."""
    missing = 1.0 - inclusion.share
    cost = 40.0 * missing * (1.12 - name_score)
    same_name = child.name.bare_squashed == parent.name.bare_squashed
    return cost * (0.4 if same_name and evidence > 30.0 else 1.0)


def _choose(found: Sequence[Reference]) -> Reference | None:
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


def _more_specific(one: Reference, other: Reference) -> bool:
    """Whether ``one`` names a small part of what ``other`` names, too small to hit by chance."""
    if one is other or one.inclusion.share < other.inclusion.share:
        return False
    if one.parent.name.squashed != other.parent.name.squashed:
        return False
    small, large = one.inclusion.parent_distinct, other.inclusion.parent_distinct
    if not small or large < 2 * small:
        return False
    return one.inclusion.distinct_matched * math.log(large / small) > 5.0


def _one_direction(references: Sequence[Reference]) -> list[Reference]:
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
