"""How credible a foreign key is: names, values and orphans weighed in log odds.

What each sign is worth, and why, is in ``weights.py``.
"""

import math
from collections.abc import Mapping, Sequence

from fluid_build.profiling.inclusion import Inclusion
from fluid_build.profiling.measured_tables import MeasuredColumn
from fluid_build.profiling.name_similarity import is_hierarchical
from fluid_build.profiling.weights import CompositeWeights, ReferenceWeights, ValueWeights

_COUNTING_WORDS = frozenset("number no nr num nbr count cnt".split())
"""Last words of names that count or number something of their own row."""
_SMALLEST_DENSITY = 1e-9
"""Keys spread thinner count as if they were this dense, which keeps the logarithm finite."""


def confidence(log_odds: float) -> float:
    """Return log odds as a probability."""
    return 1.0 / (1.0 + math.exp(-log_odds))


def value_evidence(
    child: MeasuredColumn, parent: MeasuredColumn, inclusion: Inclusion, weights: ValueWeights
) -> float:
    """Return how unlikely the match is by chance, in nats.

    Values of a key without gaps prove little, since any small number is among them; what counts is
    how well the child fills the parent's range. Text and sparse numbers count value by value.
    """
    matched = inclusion.distinct_matched
    if not matched:
        return 0.0
    if parent.key_kind == "text":
        letters = (parent.stats.avg_length or 0.0) - weights.text_free_letters
        each = max(weights.text_least, weights.text_letter * letters)
        return matched * min(weights.text_most, each)
    if parent.key_kind in {"uuid", "date"}:
        return matched * (weights.uuid if parent.key_kind == "uuid" else weights.date)
    return _integer_evidence(child, parent, inclusion, weights)


def _integer_evidence(
    child: MeasuredColumn, parent: MeasuredColumn, inclusion: Inclusion, weights: ValueWeights
) -> float:
    low, high = parent.low, parent.high
    if low is None or high is None or child.low is None or child.high is None:
        return 0.0
    matched = inclusion.distinct_matched
    span = high - low + 1
    if inclusion.parent_near:
        width = min(high, child.high) - max(low, child.low) + 1
        density = min(1.0, inclusion.parent_near / max(width, 1))
    else:
        density = min(1.0, inclusion.parent_distinct / span)
    sparse = matched * (-math.log(density) if density < weights.full_density else 0.0)
    offset = matched * min(weights.offset_most, math.log1p(low / span)) if low > 1 else 0.0
    return sparse + offset + _range_evidence(child, low, high, matched, weights)


def _range_evidence(
    child: MeasuredColumn, low: int, high: int, matched: int, weights: ValueWeights
) -> float:
    """Return the evidence in a column that spans just the range of a dense key."""
    if matched < weights.range_least or child.high is None or child.low is None:
        return 0.0
    span = high - low + 1
    missing = (max(0, high - child.high) + max(0, child.low - low)) / span
    expected_gap = 1.0 / (matched + 1)
    if missing > weights.range_gaps * expected_gap + weights.range_slack:
        return 0.0
    return min(weights.range_most, weights.range_match * math.log(matched))


def score_reference(
    child: MeasuredColumn,
    parent: MeasuredColumn,
    name_score: float,
    inclusion: Inclusion,
    evidence: float,
    weights: ReferenceWeights,
) -> float:
    """Return the log odds that a column is meant to refer to another.

    ``name_score`` is what the names say (0 to 1), ``evidence`` what the values say, in nats.
    """
    odds = weights.start + weights.name * name_score
    for term in (
        _evidence_term(evidence, weights),
        _coverage_term(inclusion, weights),
        weights.own_key * parent.own_key_score,
        weights.suffix if child.parsed_name.has_key_word else weights.no_suffix,
        -_orphan_cost(child, parent, name_score, inclusion, evidence, weights),
        weights.parent_nulls if parent.stats.nulls else 0.0,
        _parent_key_term(child, parent, evidence, weights),
        _counting_term(child, name_score, weights),
        _own_column_term(child, parent, name_score, weights),
        _child_key_term(child, inclusion, weights),
        _hierarchy_term(child, parent, weights),
    ):
        odds += term
    return odds


def _evidence_term(evidence: float, weights: ReferenceWeights) -> float:
    full = weights.evidence_full
    beyond = weights.evidence_log * math.log(max(evidence, full) / full)
    return weights.evidence * min(evidence, full) + min(weights.evidence_log_most, beyond)


def _coverage_term(inclusion: Inclusion, weights: ReferenceWeights) -> float:
    full = weights.full_coverage if inclusion.coverage == 1.0 else 0.0
    return weights.coverage * inclusion.coverage + full


def _orphan_cost(
    child: MeasuredColumn,
    parent: MeasuredColumn,
    name_score: float,
    inclusion: Inclusion,
    evidence: float,
    weights: ReferenceWeights,
) -> float:
    """Return what orphans cost: the more, the less the names say.

    They cost less if the names are the same and chance can't explain the rows that do match.
    """
    cost = weights.orphans * (1.0 - inclusion.share) * (weights.orphans_name - name_score)
    same_name = child.parsed_name.bare_squashed == parent.parsed_name.bare_squashed
    is_dirt = same_name and evidence > weights.strong_evidence
    return cost * (weights.orphans_same_name if is_dirt else 1.0)


def _parent_key_term(
    child: MeasuredColumn, parent: MeasuredColumn, evidence: float, weights: ReferenceWeights
) -> float:
    if not parent.is_primary_key:
        has_suffix = child.parsed_name.has_key_word
        return weights.not_primary if has_suffix else weights.not_primary_no_suffix
    same_name = child.parsed_name.squashed == parent.parsed_name.squashed
    is_strong = evidence > weights.strong_evidence
    return weights.same_name_primary if is_strong and same_name else 0.0


def _counting_term(child: MeasuredColumn, name_score: float, weights: ReferenceWeights) -> float:
    bare = child.parsed_name.bare
    counts = bool(bare) and bare[-1] in _COUNTING_WORDS
    return weights.counting_word if counts and name_score < weights.counting_word_name else 0.0


def _own_column_term(
    child: MeasuredColumn, parent: MeasuredColumn, name_score: float, weights: ReferenceWeights
) -> float:
    if child.table is parent.table:
        return 0.0
    return weights.own_column * child.own_key_score * (1.0 - name_score)


def _child_key_term(
    child: MeasuredColumn, inclusion: Inclusion, weights: ReferenceWeights
) -> float:
    if child.is_primary_key:
        own = child.own_key_score
        return (
            weights.key_child
            + weights.key_child_own * own
            + (weights.key_child_plain if own > weights.key_child_plain_score else 0.0)
            + (weights.key_child_orphans if inclusion.share < weights.subtype_share else 0.0)
        )
    is_attribute = child.stats.is_key and not child.parsed_name.has_key_word
    return weights.unique_no_suffix if is_attribute else 0.0


def _hierarchy_term(
    child: MeasuredColumn, parent: MeasuredColumn, weights: ReferenceWeights
) -> float:
    if child.table is not parent.table:
        return 0.0
    is_named = is_hierarchical(child.parsed_name, parent.table.parsed_name)
    return 0.0 if is_named else weights.not_hierarchical


def score_composite(
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
    name_score: float,
    inclusion: Inclusion,
    targets: Mapping[int, MeasuredColumn],
    weights: CompositeWeights,
) -> float:
    """Return the log odds that columns are meant to refer, together, to a composite key.

    ``targets`` are the columns that single columns refer to, by the referring column's id.
    """
    odds = weights.start + weights.name * name_score
    for term in (
        weights.orphans * (1.0 - inclusion.share),
        _tuple_term(parent, inclusion, weights),
        0.0 if any(id(key) not in targets for key in parent) else weights.no_own_column,
        _shared_grain_term(child, parent, name_score, inclusion, weights),
        weights.date if any(key.key_kind == "date" for key in parent) else 0.0,
    ):
        odds += term
    return odds


def _tuple_term(
    parent: Sequence[MeasuredColumn], inclusion: Inclusion, weights: CompositeWeights
) -> float:
    """Weigh the matching tuples by how few of the possible combinations are keys."""
    combinations = math.prod(max(key.stats.distinct, 1) for key in parent)
    density = min(1.0, inclusion.parent_distinct / combinations)
    nats = -math.log(max(density, _SMALLEST_DENSITY))
    return min(weights.evidence_most, weights.evidence * inclusion.distinct_matched * nats)


def _shared_grain_term(
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
    name_score: float,
    inclusion: Inclusion,
    weights: CompositeWeights,
) -> float:
    """Weigh that the columns are a key of the child as well, unless the names show a direction."""
    names = {column.name for column in child}
    is_key = any(set(key) <= names for key in child[0].table.candidates.keys)
    if not is_key or _names_show_direction(child, parent):
        return 0.0
    if inclusion.coverage > weights.child_key_coverage:
        return weights.child_key
    is_same = name_score >= weights.same_names
    return weights.child_key_same_names if is_same else weights.child_key_subset


def _names_show_direction(
    child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn]
) -> bool:
    """Return whether the child's names carry the parent's prefix: the child refers, then."""
    pairs = ((c.parsed_name, p.parsed_name) for c, p in zip(child, parent, strict=True))
    return any(
        name.bare_squashed == key.squashed
        and key.full != key.bare
        and key.bare_squashed != name.squashed
        for name, key in pairs
    )
