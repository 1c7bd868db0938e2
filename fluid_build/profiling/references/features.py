"""What is known of a possible foreign key, apart from what it is worth.

The features of a pair of columns are computed here; ``foreign_key_scores`` judges them.
"""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from fluid_build.lexicon import terms
from fluid_build.profiling.measure.schema import NAMED_AS_KEY, MeasuredColumn
from fluid_build.profiling.names.key_names import extends_name, is_hierarchical
from fluid_build.profiling.names.similarity import phrase_similarity, word_similarity
from fluid_build.profiling.references.inclusion import Inclusion
from fluid_build.profiling.weights import ValueWeights

_SMALLEST_DENSITY = 1e-9
"""Keys spread thinner count as if they were this dense, which keeps the logarithm finite."""


@dataclass(frozen=True, slots=True)
class ReferenceFeatures:
    """What speaks for or against one column being meant to refer to another.

    ``name`` is what the names say (0 to 1), ``evidence`` what the values say, in nats; ``share``
    and ``coverage`` are the inclusion's. The other features are about the names and the roles of
    the two columns in their own tables.
    """

    name: float
    evidence: float
    share: float
    coverage: float
    has_key_word: bool
    is_named_reference: bool
    is_nameless: bool
    counts: bool
    same_name: bool
    same_bare_name: bool
    within_table: bool
    is_hierarchical: bool
    child_is_primary: bool
    child_is_attribute: bool
    child_own_key: float
    parent_is_primary: bool
    parent_may_be_primary: bool
    parent_has_nulls: bool
    parent_own_key: float
    holds_text: bool
    shares_key_name: bool


def reference_features(
    child: MeasuredColumn,
    parent: MeasuredColumn,
    name_score: float,
    inclusion: Inclusion,
    weights: ValueWeights,
) -> ReferenceFeatures:
    """Return the features of a pair of columns, given the keys that are chosen so far."""
    name, key = child.parsed_name, parent.parsed_name
    within_table = child.table is parent.table
    bare = name.bare
    return ReferenceFeatures(
        name=name_score,
        evidence=value_evidence(child, parent, inclusion, weights),
        share=inclusion.share,
        coverage=inclusion.coverage,
        has_key_word=name.has_key_word,
        is_named_reference=name.is_reference,
        is_nameless=not name.full,
        # ``page_count`` and ``last_step`` are small numbers, which every dense key holds.
        counts=bool(bare)
        and (bare[-1] in terms("counting") or bare[0] in terms("one_key_of_many")),
        same_name=name.squashed == key.squashed,
        same_bare_name=name.bare_squashed == key.bare_squashed,
        within_table=within_table,
        is_hierarchical=within_table and is_hierarchical(name, parent.table.parsed_name),
        child_is_primary=child.is_primary_key,
        child_is_attribute=child.stats.is_key and not name.has_key_word,
        child_own_key=child.own_key_score,
        parent_is_primary=parent.is_primary_key,
        parent_may_be_primary=not parent.table.primary_key,
        parent_has_nulls=parent.stats.nulls > 0,
        parent_own_key=parent.own_key_score,
        holds_text=child.key_kind in {"text", "uuid"},
        shares_key_name=bool(name.full)
        and name.bare_squashed == key.bare_squashed
        and not name.is_generic,
    )


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
    """Return the evidence in a column that spans just the range of a dense key.

    A survey's answer codes 1 to 5 are among the keys 1 to 5,000 of any table; that they end where
    a list of five ends says something.
    """
    if matched < weights.range_least or child.high is None or child.low is None:
        return 0.0
    span = high - low + 1
    missing = (max(0, high - child.high) + max(0, child.low - low)) / span
    expected_gap = 1.0 / (matched + 1)
    if missing == 0.0 and matched >= weights.span_covered * span and not child.stats.is_unique:
        return weights.exact_span * math.log(matched)
    if missing > weights.range_gaps * expected_gap + weights.range_slack:
        return 0.0
    return min(weights.range_most, weights.range_match * math.log(matched))


@dataclass(frozen=True, slots=True)
class CompositeFeatures:
    """What speaks for or against several columns referring, together, to a composite key.

    ``evidence`` is how thinly the keys fill their space, in nats, times the matching tuples.
    ``has_own_column`` says that a column of the key refers nowhere else. ``names_parent`` says that
    the parent's name occurs in such a column, is in the child's name as a whole, or is made of the
    key's columns; ``shares_word`` that the two tables' names have a word in common.
    ``names_parent`` also if a column of the child refers, by itself, to its key column, which
    ``has_single`` says. ``child_own_key`` says how well a column is named for the child itself.
    ``rows_a_tuple`` are the child's rows for each of its tuples. ``taken_columns`` are the child's
    columns that another composite reference uses already; a tenant, which isn't the key's own or
    has a single value, is part of every key and doesn't count.
    """

    name: float
    evidence: float
    share: float
    coverage: float
    has_own_column: bool
    names_parent: bool
    shares_word: bool
    has_date: bool
    has_single: bool
    is_child_key: bool
    child_own_key: float
    shows_direction: bool
    rows_a_tuple: float
    taken_columns: int


def composite_features(
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
    name_score: float,
    inclusion: Inclusion,
    targets: Mapping[int, MeasuredColumn],
    referring: Container[int],
    taken: Container[int],
) -> CompositeFeatures:
    """Return the features of columns that pair up with those of a composite key.

    ``targets`` are the columns that single columns refer to, by the referring column's id;
    ``referring`` are the ids of columns that refer to a key, by themselves or with others.
    """
    own = own_columns(parent, targets, referring)
    child_own_key = max(column.own_key_score for column in child)
    names = {column.name for column in child}
    has_single = any(targets.get(id(c)) is key for c, key in zip(child, parent, strict=True))
    # One match proves the more, the fewer of all possible combinations are keys: every pair of a
    # year and a month exists, but few of an order and a product.
    combinations = math.prod(max(key.stats.distinct, 1) for key in parent)
    density = min(1.0, inclusion.parent_distinct / combinations)
    return CompositeFeatures(
        name=name_score,
        evidence=inclusion.distinct_matched * -math.log(max(density, _SMALLEST_DENSITY)),
        share=inclusion.share,
        coverage=inclusion.coverage,
        has_own_column=bool(own),
        names_parent=has_single or len(own) == len(parent) or _names_parent(child, parent, own),
        shares_word=bool(
            set(parent[0].table.parsed_name.entity) & set(child[0].table.parsed_name.entity)
        ),
        has_date=any(key.key_kind == "date" for key in parent),
        has_single=has_single,
        is_child_key=any(set(key) <= names for key in child[0].table.candidates.keys),
        child_own_key=child_own_key,
        shows_direction=_show_direction(child, parent)
        or max(column.own_key_score for column in parent) > child_own_key,
        rows_a_tuple=inclusion.rows / max(inclusion.distinct, 1),
        taken_columns=sum(
            1
            for column, key in zip(child, parent, strict=True)
            if id(column) in taken and column.stats.distinct > 1 and (key in own or not own)
        ),
    )


def own_columns(
    key: Sequence[MeasuredColumn], targets: Mapping[int, MeasuredColumn], referring: Container[int]
) -> list[MeasuredColumn]:
    """Return the columns of a composite key that are its table's own.

    The others say within what these are unique: an order, a tenant. The ``id`` of a currency is its
    own, even if another table's numbers happen to hold it.
    """
    return [c for c in key if id(c) not in referring or _is_own(c, targets.get(id(c)))]


def _is_own(column: MeasuredColumn, target: MeasuredColumn | None) -> bool:
    if column.own_key_score < NAMED_AS_KEY:
        return False
    entity = column.parsed_name.entity
    return not (target and entity and phrase_similarity(entity, target.table.parsed_name.entity))


def _names_parent(
    child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn], own: Iterable[MeasuredColumn]
) -> bool:
    """Return whether the names say that a composite key is its table's, and not its parents'.

    Two daily tables of one grain (store, day) agree without referring to each other. An
    ``order_line_tax`` means the ``order_line``, and a key of ``flight`` and ``seat`` the
    ``flight_seats``.
    """
    if any(column.own_key_score > 0.0 for column in own):
        return True
    table = parent[0].table.parsed_name.entity
    if table and set(table) <= set(child[0].table.parsed_name.entity):
        return True
    named = [word for key in parent for word in key.parsed_name.entity]
    return bool(table) and (
        all(any(word_similarity(word, part) for part in named) for word in table)
        or any(phrase_similarity(table, tuple(order)) for order in permutations(named, 2))
    )


def _show_direction(child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn]) -> bool:
    """Return whether the child's names carry the parent's prefix: the child refers, then.

    So it does if its table's name begins with the parent's: the splits of a team.
    """
    table, parent_table = child[0].table.parsed_name, parent[0].table.parsed_name
    if extends_name(table, parent_table) and not extends_name(parent_table, table):
        return True
    pairs = ((c.parsed_name, p.parsed_name) for c, p in zip(child, parent, strict=True))
    return any(
        name.bare_squashed == key.squashed
        and key.full != key.bare
        and key.bare_squashed != name.squashed
        for name, key in pairs
    )
