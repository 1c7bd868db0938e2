"""How credible a foreign key is: names, values and orphans weighed in log odds.

What each sign is worth, and why, is in ``weights``.
"""

import math

from fluid_build.profiling.measure.schema import NAMED_AS_KEY
from fluid_build.profiling.references.features import CompositeFeatures, ReferenceFeatures
from fluid_build.profiling.weights import CompositeWeights, ReferenceWeights


def confidence(log_odds: float) -> float:
    """Return log odds as a probability."""
    return 1.0 / (1.0 + math.exp(-log_odds))


def score_reference(features: ReferenceFeatures, weights: ReferenceWeights) -> float:
    """Return the log odds that a column is meant to refer to another."""
    odds = weights.start + weights.name * features.name
    odds += _evidence_term(features, weights) + _coverage_term(features, weights)
    odds += weights.own_key * features.parent_own_key + _key_word_term(features, weights)
    odds += _parent_key_term(features, weights) + _child_key_term(features, weights)
    if features.parent_has_nulls:
        odds += weights.parent_nulls
    if features.counts and features.name < weights.counting_word_name:
        # A ``floor_count`` from 1 to 8 is a key of every dense list.
        odds += weights.counting_word
    if not features.within_table:
        # ``order_id`` of the orders is their own key, and no customer's.
        odds += weights.own_column * features.child_own_key * (1.0 - features.name)
    elif not features.is_hierarchical:
        # Any small number of a row is a key of some row there.
        odds += weights.not_hierarchical
    return odds - _orphan_cost(features, weights)


def _evidence_term(features: ReferenceFeatures, weights: ReferenceWeights) -> float:
    evidence, full = features.evidence, weights.evidence_full
    beyond = weights.evidence_log * math.log(max(evidence, full) / full)
    return weights.evidence * min(evidence, full) + min(weights.evidence_log_most, beyond)


def _key_word_term(features: ReferenceFeatures, weights: ReferenceWeights) -> float:
    """Weigh a word such as ``id``; in a sheet whose columns are ``f1`` to ``f9``, none has one."""
    if features.is_nameless:
        return 0.0 if features.within_table else weights.nameless
    if features.is_named_reference:
        return weights.named_reference
    return weights.key_word if features.has_key_word else weights.no_key_word


def _coverage_term(features: ReferenceFeatures, weights: ReferenceWeights) -> float:
    if features.child_is_primary and not _is_directed(features, weights):
        # Two keys of one grain cover each other, whichever of them refers.
        return 0.0
    full = weights.full_coverage if features.coverage == 1.0 else 0.0
    return weights.coverage * features.coverage + full


def _orphan_cost(features: ReferenceFeatures, weights: ReferenceWeights) -> float:
    """Return what orphans cost: the more, the less the names say.

    They cost less if the names are the same and chance can't explain the rows that do match.
    """
    cost = weights.orphans * (1.0 - features.share) * (weights.orphans_name - features.name)
    is_dirt = features.same_bare_name and features.evidence > weights.strong_evidence
    return cost * (weights.orphans_same_name if is_dirt else 1.0)


def _parent_key_term(features: ReferenceFeatures, weights: ReferenceWeights) -> float:
    """Weigh that the parent is no primary key: each name of a small table is unique by accident."""
    if not features.parent_is_primary and features.parent_may_be_primary:
        return weights.not_yet_primary
    if not features.parent_is_primary:
        is_key_like = features.has_key_word or features.is_nameless
        return weights.not_primary if is_key_like else weights.not_primary_no_key_word
    is_strong = features.evidence > weights.strong_evidence
    return weights.same_name_primary if is_strong and features.same_name else 0.0


def _child_key_term(features: ReferenceFeatures, weights: ReferenceWeights) -> float:
    """Weigh that the child is a key: 1 to 200 of one table are among 1 to 500 of another."""
    if features.child_is_primary and not _is_directed(features, weights):
        own = features.child_own_key
        return (
            weights.key_child
            + weights.key_child_own * own
            + (weights.key_child_plain if own > weights.key_child_plain_score else 0.0)
            + (weights.key_child_orphans if features.share < weights.subtype_share else 0.0)
            + _subtype_term(features, weights)
        )
    return weights.unique_no_key_word if features.child_is_attribute else 0.0


def _is_directed(features: ReferenceFeatures, weights: ReferenceWeights) -> bool:
    """Return whether a key plainly has the name of another table's key: it refers, then.

    While each client is in one group, ``client_id`` is unique in ``group_clients``, too.
    """
    return (
        features.parent_is_primary
        and features.share == 1.0
        and features.name >= weights.plain_name
        and features.child_own_key <= weights.key_child_plain_score
    )


def _subtype_term(features: ReferenceFeatures, weights: ReferenceWeights) -> float:
    """Weigh that all keys of a table are another's, by more than that both count their rows."""
    if not features.parent_is_primary or features.share < 1.0 or features.within_table:
        return 0.0
    is_parallel = features.coverage == 1.0 or features.child_own_key > weights.key_child_plain_score
    if features.shares_key_name and not is_parallel:
        return weights.subtype
    is_named = features.same_name or features.name >= weights.value_only
    if not features.holds_text or not is_named:
        return 0.0
    return weights.subtype * min(1.0, features.evidence / weights.strong_evidence)


def score_composite(features: CompositeFeatures, weights: CompositeWeights) -> float:
    """Return the log odds that columns are meant to refer, together, to a composite key."""
    odds = weights.start + weights.name * features.name + weights.orphans * (1.0 - features.share)
    odds += min(weights.evidence_most, weights.evidence * features.evidence)
    odds += _parent_name_term(features, weights) + _shared_grain_term(features, weights)
    odds += weights.date if features.has_date else 0.0
    odds += weights.single if features.has_single else 0.0
    return odds + weights.column_taken * features.taken_columns


def _parent_name_term(features: CompositeFeatures, weights: CompositeWeights) -> float:
    odds = 0.0 if features.has_own_column else weights.no_own_column
    if features.names_parent:
        return odds
    if features.shares_word and features.has_own_column:
        return odds + weights.related_parent
    return odds + (weights.bridge if _is_bridge(features, weights) else weights.unnamed_parent)


def _is_bridge(features: CompositeFeatures, weights: CompositeWeights) -> bool:
    """Return whether the parent is a bridge whose pairs the child's rows repeat, without orphans.

    Tables that describe the same pairs have about a row for each, and their names are related.
    """
    return (
        not features.has_own_column
        and not features.shares_word
        and features.share == 1.0
        and features.coverage >= weights.bridge_coverage
        and features.rows_a_tuple >= weights.bridge_rows
        and weights.evidence * features.evidence >= weights.evidence_most
    )


def _shared_grain_term(features: CompositeFeatures, weights: CompositeWeights) -> float:
    """Weigh that the columns are a key of the child as well, unless the names show a direction."""
    if not features.is_child_key or features.shows_direction:
        return 0.0
    if features.child_own_key >= NAMED_AS_KEY:
        return weights.child_own_key
    if features.coverage > weights.child_key_coverage:
        return weights.child_key
    is_same = features.name >= weights.same_names
    return weights.child_key_same_names if is_same else weights.child_key_subset
