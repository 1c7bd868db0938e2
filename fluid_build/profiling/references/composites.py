"""Foreign keys of several columns, matched to a parent's composite key column by column."""

import math
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeAlias

from fluid_build.profiling.measure.schema import NAMED_AS_KEY, MeasuredColumn, MeasuredTable
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.names.key_names import hierarchy_score, is_hierarchical
from fluid_build.profiling.references.features import CompositeFeatures, composite_features
from fluid_build.profiling.references.inclusion import Inclusion, measure_inclusion
from fluid_build.profiling.references.key_repeats import KeyRepeats
from fluid_build.profiling.references.probing import probe_tuples
from fluid_build.profiling.references.scores import score_composite
from fluid_build.profiling.references.single_columns import ColumnReference
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, CompositeWeights, NameWeights, Weights

Matches: TypeAlias = Sequence[tuple[float, MeasuredColumn]]
"""The columns of one table that may refer to one column of a key, with scores, best first."""

_MOST_COMBINATIONS = 4
"""Combinations of columns that are measured for one key in one table, the best names first: each
costs a join, and the right one is hardly ever further down."""
_MOST_SHARING = 20
"""Tables that may share the columns of a key that nothing names for its table. Of more, which one
the others refer to can't be told, and each of them would be compared with all others."""
_MATCHES_COMBINED = 3
"""Columns that are combined for each column of a key, so that wide tables stay cheap."""
_MOST_ALTERNATIVES = 20
"""Keys of several columns that are looked at next to a surrogate key."""
_FEWEST_REPEATS = 2
"""Tables that must repeat such a key: it is a rare thing to refer to."""


@dataclass(slots=True, eq=False)
class CompositeReference:
    """Columns that refer, together, to a composite key; ``child`` and ``parent`` pair up."""

    child: tuple[MeasuredColumn, ...]
    parent: tuple[MeasuredColumn, ...]
    features: CompositeFeatures
    inclusion: Inclusion
    log_odds: float

    @property
    def name_score(self) -> float:
        """How well the names speak for the reference, 0 to 1."""
        return self.features.name


@dataclass(frozen=True, slots=True)
class CompositeReferences:
    """The composite references that are believed, and all that were judged."""

    chosen: list[CompositeReference]
    judged: list[CompositeReference]


def find_composite_references(
    cache: ValueCache,
    tables: Sequence[MeasuredTable],
    references: Sequence[ColumnReference],
    repeats: KeyRepeats,
    weights: Weights = DEFAULT_WEIGHTS,
) -> CompositeReferences:
    """Find the groups of columns that refer to a table's key of several columns."""
    targets = {id(reference.child): reference.parent for reference in references}
    matcher = _KeyMatcher(cache, targets, weights.composite)
    composites: list[CompositeReference] = []
    keys = [key for table in tables for key in composite_keys(table, targets, repeats)]
    # Keys named for their tables first, for what refers to them is no other key's own column. Then
    # longer keys first: their columns count as taken for the shorter keys inside them.
    keys.sort(key=lambda key: (not _is_named(key), -len(key), key[0].table.index))
    for key in keys:
        matches = [repeats.matches(column) for column in key]
        sharing = sorted(set.intersection(*map(set, matches)))
        if len(sharing) > _MOST_SHARING and not _is_named(key):
            continue
        for index in sharing:
            # References of tables that were split from the same documents are known, and positions
            # in two of their lists only look alike.
            child, parent = tables[index], key[0].table
            splits = child.stats.table.split, parent.stats.table.split
            documents = [split.documents.table.name for split in splits if split]
            if child is not parent and len(documents) == len(splits) and len(set(documents)) == 1:
                continue
            composites += matcher.references(index, [by_table[index] for by_table in matches], key)
        within = [_matches_within(column, targets, weights.names) for column in key]
        if any(id(column) not in targets for column in key):
            composites += matcher.references(key[0].table.index, within, key)
    return CompositeReferences(without_reverse(_one_parent_each(composites)), matcher.judged)


def composite_keys(
    table: MeasuredTable, targets: Container[int], repeats: KeyRepeats
) -> Iterator[tuple[MeasuredColumn, ...]]:
    """Yield the keys of several columns that may be referred to.

    That is the primary key; or else, next to a surrogate key, the one that most tables repeat, if
    it is named for the table and made of codes and references.
    """
    if len(table.primary_key) > 1:
        yield tuple(table.by_name[name] for name in table.primary_key)
        return
    alternatives = [
        key
        for names in table.candidates.keys[:_MOST_ALTERNATIVES]
        if len(names) > 1 and table.primary_key
        if _is_named(key := tuple(table.by_name[name] for name in names))
        if all(id(c) in targets or c.own_key_score or c.parsed_name.has_key_word for c in key)
    ]
    counted = [(repeats.count(key), key) for key in alternatives]
    most, key = max(counted, key=lambda choice: choice[0], default=(0, ()))
    if most >= _FEWEST_REPEATS:
        yield key


def _matches_within(
    key_column: MeasuredColumn, targets: Mapping[int, MeasuredColumn], weights: NameWeights
) -> list[tuple[float, MeasuredColumn]]:
    """Return the columns by which rows may refer to others of their own table, best first.

    A row shares what its key refers to with the other, such as the tenant, unless a column says
    that of the other row.
    """
    table, is_reference = key_column.table, id(key_column) in targets
    matches = [
        (score, column)
        for column in table.columns
        if column is not key_column and column.key_kind == key_column.key_kind
        if column.stats.present and is_hierarchical(column.parsed_name, table.parsed_name)
        if targets.get(id(column)) is targets.get(id(key_column))
        if (score := _role_score(column, key_column, weights)) >= weights.key_column_least
    ]
    matches.sort(key=lambda match: (-match[0], match[1].position))
    return matches or [(1.0, key_column)] * is_reference


def _role_score(column: MeasuredColumn, key_column: MeasuredColumn, weights: NameWeights) -> float:
    name, key, table = column.parsed_name, key_column.parsed_name, key_column.table.parsed_name
    return hierarchy_score(name, key, table, weights)


def _is_named(key: Iterable[MeasuredColumn]) -> bool:
    return any(column.own_key_score >= NAMED_AS_KEY for column in key)


class _KeyMatcher:
    """The search for the groups of columns that refer to one composite key after the other.

    ``taken`` are the columns that a composite reference uses already, by their table's index,
    ``judged`` the references that were judged so far.
    """

    def __init__(
        self, cache: ValueCache, targets: Mapping[int, MeasuredColumn], weights: CompositeWeights
    ) -> None:
        self.cache = cache
        self.targets = targets
        self.weights = weights
        self.taken: dict[int, set[int]] = defaultdict(set)
        self.referring = set(targets)
        self.judged: list[CompositeReference] = []

    def references(
        self, table_index: int, matches: Sequence[Matches], key: tuple[MeasuredColumn, ...]
    ) -> list[CompositeReference]:
        """Return every group of a table's columns that refers to a key, the best first.

        Each group is a role of its own. Roles may share what the key refers to elsewhere, or what
        its own column depends on: the winner and the loser of one year.
        """
        roles: list[CompositeReference] = []
        taken = self.taken[table_index]
        while best := self._best_role(matches, key, taken, roles):
            roles.append(best)
            taken.update(map(id, best.child))
            self.referring.update(map(id, best.child))
        return roles

    def _best_role(
        self,
        matches: Sequence[Matches],
        key: tuple[MeasuredColumn, ...],
        taken: Collection[int],
        roles: Sequence[CompositeReference],
    ) -> CompositeReference | None:
        """Return the best group with columns that no role has, or the best that shares some."""
        used = {id(column) for role in roles for column in role.child}
        unused = [[match for match in options if id(match[1]) not in used] for options in matches]
        best = self._best_match(_combinations(unused), key, taken)
        if best is not None or not roles:
            return best
        may_share = [self._may_be_shared(column, key) for column in key]
        shared = [
            [m for m in options if id(m[1]) not in used or (may and m[0] == 1.0 and m[1] in parts)]
            for may, options, *parts in zip(
                may_share, matches, *(role.child for role in roles), strict=True
            )
        ]
        combinations = [c for c in _combinations(shared) if not {id(m[1]) for m in c} <= used]
        best = self._best_match(combinations, key, taken)
        return best if best is not None and best.inclusion.orphans == 0 else None

    def _may_be_shared(self, column: MeasuredColumn, key: Sequence[MeasuredColumn]) -> bool:
        """Return whether several roles may agree in a key column: it isn't the key's own code."""
        if id(column) in self.targets or not column.parsed_name.has_key_word:
            return True
        return column.own_key_score < max(part.own_key_score for part in key)

    def _best_match(
        self,
        combinations: Iterable[tuple[tuple[float, MeasuredColumn], ...]],
        key: tuple[MeasuredColumn, ...],
        taken: Collection[int],
    ) -> CompositeReference | None:
        """Return the best of the first combinations, if it refers to a key.

        None where only a part of the keys was read.
        """
        best: CompositeReference | None = None
        if key[0].table.is_sampled:
            return None
        for combination in islice(combinations, _MOST_COMBINATIONS):
            columns = tuple(column for _, column in combination)
            if any(column.is_primary_key for column in columns):
                # Its own key identifies the row already; the other columns add nothing.
                continue
            score = sum(score for score, _ in combination) / len(combination)
            if probe_tuples(self.cache.connection, columns, key) < self.weights.least_probed:
                continue
            inclusion = measure_inclusion(self.cache, columns, key)
            if inclusion.share < self.weights.least_share:
                continue
            features = composite_features(
                columns, key, score, inclusion, self.targets, self.referring, taken
            )
            # Few rows may be unique in less than their key, so names that leave no doubt count.
            is_plain = features.names_parent and features.name >= self.weights.same_names
            if _has_own_key(columns) and not is_plain:
                continue
            odds = score_composite(features, self.weights)
            reference = CompositeReference(columns, key, features, inclusion, odds)
            self.judged.append(reference)
            if best is None or odds > best.log_odds:
                best = reference
        return best if best is not None and best.log_odds >= self.weights.accepted else None


def _has_own_key(columns: Sequence[MeasuredColumn]) -> bool:
    """Return whether columns have their table's key and more, which seldom adds to it."""
    key = set(columns[0].table.primary_key)
    return bool(key) and key < {column.name for column in columns}


def _combinations(matches: Sequence[Matches]) -> list[tuple[tuple[float, MeasuredColumn], ...]]:
    """Return the combinations of different columns, one for each key column, best names first."""
    combinations = [
        combination
        for combination in product(*(options[:_MATCHES_COMBINED] for options in matches))
        if len({id(column) for _, column in combination}) == len(combination)
    ]
    combinations.sort(
        key=lambda c: (-sum(score for score, _ in c), [column.position for _, column in c])
    )
    return combinations


def _one_parent_each(composites: Sequence[CompositeReference]) -> list[CompositeReference]:
    """Keep the most credible of the parents that one group of columns could have."""
    best: dict[frozenset[int], CompositeReference] = {}
    for reference in composites:
        group = frozenset(map(id, reference.child))
        if group not in best or reference.log_odds > best[group].log_odds:
            best[group] = reference
    return list(best.values())


def without_reverse(composites: Sequence[CompositeReference]) -> list[CompositeReference]:
    """Keep the references between two tables in the direction of the most credible one."""
    best: dict[tuple[int, int], tuple[float, str]] = {}
    for reference in composites:
        tables = _tables(reference)
        best[tables] = max(_credibility(reference), best.get(tables, _credibility(reference)))
    return [
        reference
        for reference in composites
        for child, parent in [_tables(reference)]
        if child == parent or best[child, parent] >= best.get((parent, child), (-math.inf, ""))
    ]


def _tables(reference: CompositeReference) -> tuple[int, int]:
    return reference.child[0].table.index, reference.parent[0].table.index


def _credibility(reference: CompositeReference) -> tuple[float, str]:
    return reference.log_odds, str(reference.child[0])
