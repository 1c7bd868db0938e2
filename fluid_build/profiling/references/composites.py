"""Foreign keys of several columns: which columns of a table refer, together, to a table's key.

A key's members pair up with columns by name, and columns of one role go together: ``base_source``
and ``base_code`` for ``source`` and ``code``. Where a member is called otherwise, the columns that
do pair up (a client, a version, an order) say within what it's looked for: there, its values are
judged as if it referred to a key of one column.
"""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import TypeAlias

from fluid_build.profiling.measure.schema import NAMED_AS_KEY, MeasuredColumn, MeasuredTable
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.names.key_names import (
    is_hierarchical,
    reference_score,
)
from fluid_build.profiling.references.candidates import score_names
from fluid_build.profiling.references.features import (
    CompositeFeatures,
    composite_features,
    own_columns,
    reference_features,
)
from fluid_build.profiling.references.inclusion import Inclusion, measure_inclusion
from fluid_build.profiling.references.key_repeats import KeyRepeats
from fluid_build.profiling.references.probing import Prober, probe_tuples
from fluid_build.profiling.references.scores import score_composite, score_reference
from fluid_build.profiling.references.shared_roles import SharedRole
from fluid_build.profiling.references.single_columns import ColumnReference
from fluid_build.profiling.weights import NameWeights, Weights

Match: TypeAlias = tuple[float, MeasuredColumn]
"""A column that may refer to one column of a key, with how well its name says so."""

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
_MOST_RENAMED = 2
"""Members with other names: of more, nothing says that they belong together."""
_LEAST_SHARE = 0.99
"""The share of rows that must match where only values speak: each that doesn't speaks against."""
_MOST_TABLES = 300
"""Tables that may share the other columns of a key: among more, each member fits many keys."""


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


def find_composite_references(
    cache: ValueCache,
    tables: Sequence[MeasuredTable],
    references: Sequence[ColumnReference],
    repeats: KeyRepeats,
    prober: Prober,
    weights: Weights,
) -> tuple[list[CompositeReference], list[CompositeReference]]:
    """Return the references to keys of several columns that are believed, and all that were judged.

    What has no reference by its names is looked at by its values.
    """
    targets = {id(reference.child): reference.parent for reference in references}
    keys = [key for table in tables for key in composite_keys(table, targets, repeats)]
    # Keys named for their tables first, for what refers to them is no other key's own column. Then
    # longer keys first: their columns count as taken for the shorter keys inside them.
    keys.sort(key=lambda key: (not _is_named(key), -len(key), key[0].table.index))
    matcher = _Matcher(cache, tables, targets, repeats, prober, weights)
    named = [reference for key in keys for reference in matcher.named(key)]
    chosen = without_reverse(_one_parent_each(named))
    matcher.taken = {id(column) for composite in chosen for column in composite.child}
    matcher.referring = set(targets)
    renamed = matcher.renamed(keys)
    matcher.judged += renamed
    least = weights.composite.accepted
    chosen += [reference for reference in renamed if reference.log_odds >= least]
    return chosen, matcher.judged


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


def _is_named(key: Iterable[MeasuredColumn]) -> bool:
    return any(column.own_key_score >= NAMED_AS_KEY for column in key)


@dataclass(slots=True)
class _Matcher:
    """The search for the groups of columns that refer to one composite key after the other.

    ``taken`` are the columns that a composite reference uses already, ``referring`` those that
    refer by themselves or with others, ``judged`` the references that were judged so far.
    """

    cache: ValueCache
    tables: Sequence[MeasuredTable]
    targets: Mapping[int, MeasuredColumn]
    repeats: KeyRepeats
    prober: Prober
    weights: Weights
    taken: set[int] = field(default_factory=set)
    referring: set[int] = field(init=False)
    judged: list[CompositeReference] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.referring = set(self.targets)

    def named(self, key: tuple[MeasuredColumn, ...]) -> Iterator[CompositeReference]:
        """Yield the references to a key by the names of their columns."""
        if key[0].table.is_sampled:
            return
        matches = [self.repeats.matches(column) for column in key]
        sharing = set.intersection(*map(set, matches))
        if len(sharing) > _MOST_SHARING and not _is_named(key):
            return
        in_roles: dict[int, list[SharedRole]] = defaultdict(list)
        for shared in self.repeats.roles.of(key):
            in_roles[shared.columns[0].table.index].append(shared)
        for index in sorted(sharing | set(in_roles)):
            if not _are_of_one_document(self.tables[index], key[0].table):
                options = [by_table.get(index, ()) for by_table in matches]
                yield from self._roles(options, key, in_roles[index])
        if any(id(column) not in self.targets for column in key):
            within = [_matches_within(c, self.targets, self.weights.names) for c in key]
            yield from self._roles(within, key)

    def _roles(
        self,
        matches: Sequence[Sequence[Match]],
        key: tuple[MeasuredColumn, ...],
        in_roles: Sequence[SharedRole] = (),
    ) -> list[CompositeReference]:
        """Return every group of a table's columns that refers to a key, the best first.

        Each group is a role of its own. Roles may share what the key refers to elsewhere, or what
        its own column depends on: the winner and the loser of one year.
        """
        roles: list[CompositeReference] = []
        for shared in in_roles:
            if shared.names(key[0].table):
                best = self._best([[(1.0, column) for column in shared.columns]], key)
                self._add(best, roles)
        while self._add(self._best_role(matches, key, roles, in_roles), roles):
            pass
        return roles

    def _add(self, best: CompositeReference | None, roles: list[CompositeReference]) -> bool:
        """Add a role, if there is one, and take its columns."""
        if best is not None:
            roles.append(best)
            self.taken.update(map(id, best.child))
            self.referring.update(map(id, best.child))
        return best is not None

    def _best_role(
        self,
        matches: Sequence[Sequence[Match]],
        key: tuple[MeasuredColumn, ...],
        roles: Sequence[CompositeReference],
        in_roles: Sequence[SharedRole],
    ) -> CompositeReference | None:
        """Return the best group with columns that no role has, or the best that shares some."""
        used = {id(column) for role in roles for column in role.child}
        unused = [[match for match in options if id(match[1]) not in used] for options in matches]
        best = self._best(_combinations(unused, in_roles), key)
        if best is not None or not roles:
            return best
        may_share = [self._may_be_shared(column, key) for column in key]
        shared = [
            [m for m in options if id(m[1]) not in used or (may and m[0] == 1.0 and m[1] in parts)]
            for may, options, *parts in zip(
                may_share, matches, *(role.child for role in roles), strict=True
            )
        ]
        together = _combinations(shared, in_roles)
        best = self._best([c for c in together if not {id(m[1]) for m in c} <= used], key)
        return best if best is not None and best.inclusion.orphans == 0 else None

    def _may_be_shared(self, column: MeasuredColumn, key: Sequence[MeasuredColumn]) -> bool:
        """Return whether several roles may agree in a key column: it isn't the key's own code."""
        if id(column) in self.targets or not column.parsed_name.has_key_word:
            return True
        return column.own_key_score < max(part.own_key_score for part in key)

    def _best(
        self, combinations: Iterable[Sequence[Match]], key: tuple[MeasuredColumn, ...]
    ) -> CompositeReference | None:
        """Return the best of the first combinations, if it is believed to refer to a key."""
        first = islice(combinations, _MOST_COMBINATIONS)
        judged = [reference for each in first if (reference := self._judge(each, key))]
        self.judged += judged
        best = max(judged, key=lambda reference: reference.log_odds, default=None)
        return best if best and best.log_odds >= self.weights.composite.accepted else None

    def renamed(self, keys: Iterable[tuple[MeasuredColumn, ...]]) -> list[CompositeReference]:
        """Return what is judged of the columns that no reference has yet, each with its best key.

        A column has one meaning: the odds of each of its parents are lowered by those of the
        others.
        """
        rivals: dict[frozenset[int], list[CompositeReference]] = defaultdict(list)
        for key in keys:
            for reference in self._in_unnamed_roles(key):
                rivals[frozenset(map(id, reference.child))].append(reference)
            for index, anchors, missing in self._anchored(key):
                for members, reference in self._by_values(index, key, anchors, missing):
                    rivals[members].append(reference)
        best = []
        for group in rivals.values():
            group.sort(key=lambda reference: -reference.log_odds)
            group[0].log_odds -= math.log1p(sum(math.exp(rival.log_odds) for rival in group[1:]))
            best.append(group[0])
        return best

    def _in_unnamed_roles(self, key: tuple[MeasuredColumn, ...]) -> Iterator[CompositeReference]:
        """Yield the references of columns that share a role, which names another table or none."""
        own = own_columns(key, self.targets, self.targets) or key
        places = [place for place, column in enumerate(key) if column in own]
        for shared in () if key[0].table.is_sampled else self.repeats.roles.of(key):
            if all(map(self._is_free, shared.columns)):
                pairs = zip(shared.columns, key, strict=True)
                scored = [(name_score(c, member, self.weights.names), c) for c, member in pairs]
                if reference := self._judge(scored, key, places):
                    yield reference

    def _anchored(
        self, key: tuple[MeasuredColumn, ...]
    ) -> Iterator[tuple[int, dict[int, Match], list[int]]]:
        """Yield the tables that have some of a key's columns: which, and the places of the rest."""
        if key[0].table.is_sampled or not all(column.key_kind for column in key):
            return
        own = own_columns(key, self.targets, self.targets)
        own = [column for column in own if column.own_key_score >= NAMED_AS_KEY] or own
        by_table: dict[int, dict[int, Match]] = defaultdict(dict)
        for place, column in enumerate(key):
            for index, named in self.repeats.matches(column).items():
                if named[0][0] >= self.weights.names.key_column_same_target:
                    by_table[index][place] = named[0]
        if len(by_table) > _MOST_TABLES:
            return
        by_table[key[0].table.index] = {
            place: (1.0, column) for place, column in enumerate(key) if column not in own
        }
        for index, anchors in by_table.items():
            missing = [place for place in range(len(key)) if place not in anchors]
            if not missing and len(own) == 1:
                missing = [key.index(own[0])]
            if 0 < len(missing) <= _MOST_RENAMED and len(missing) < len(key):
                yield index, anchors, missing

    def _by_values(
        self,
        index: int,
        key: tuple[MeasuredColumn, ...],
        anchors: Mapping[int, Match],
        missing: Sequence[int],
    ) -> Iterator[tuple[frozenset[int], CompositeReference]]:
        """Yield the references of a table with members that only their values tell."""
        # What names pair up with the key has been judged, or is one of the other columns.
        matches = (self.repeats.matches(column).get(index, ()) for column in key)
        named = {id(column) for options in matches for _, column in options}
        named.update(
            id(column) for shared in self.repeats.roles.of(key) for column in shared.columns
        )
        named.update(id(column) for _, column in anchors.values())
        options = [self._fitting(self.tables[index], key[place], named) for place in missing]
        for members in islice(product(*options), _MOST_COMBINATIONS):
            renamed = frozenset(id(column) for _, column in members)
            if len(renamed) == len(members):
                scored = {**anchors, **dict(zip(missing, members, strict=True))}
                reference = self._judge([scored[place] for place in range(len(key))], key, missing)
                if reference is not None:
                    yield renamed, reference

    def _fitting(
        self, table: MeasuredTable, key_column: MeasuredColumn, named: Container[int]
    ) -> list[Match]:
        """Return the columns without a reference whose values are among a key column's."""
        # Any number of a row may be in its own table, or among small keys.
        within_table = table is key_column.table
        fitting = [
            (score, column)
            for column in table.columns
            if column is not key_column and id(column) not in named and self._is_free(column)
            and column.key_kind == key_column.key_kind
            and column.stats.distinct <= key_column.stats.distinct
            and self.prober.share(column, key_column) >= self.weights.candidate.unnamed_share
            if (score := name_score(column, key_column, self.weights.names))
            or not (within_table or _needs_name(column))
        ]  # fmt: skip
        fitting.sort(key=lambda match: (-match[0], -match[1].stats.distinct, match[1].position))
        return fitting[:_MATCHES_COMBINED]

    def _is_free(self, column: MeasuredColumn) -> bool:
        """Return whether a column may still refer to something."""
        return (
            column.stats.present > 0
            and id(column) not in self.taken
            and id(column) not in self.targets
            and not column.is_primary_key
            and column.own_key_score < NAMED_AS_KEY
            and not column.is_measure
        )

    def _judge(
        self,
        pairs: Sequence[Match],
        key: tuple[MeasuredColumn, ...],
        renamed: Sequence[int] = (),
    ) -> CompositeReference | None:
        """Judge columns that pair up with a key; ``renamed`` are the places that values tell."""
        columns, weights = tuple(column for _, column in pairs), self.weights.composite
        if any(column.is_primary_key for column in columns):
            # Its own key identifies the row already; the other columns add nothing.
            return None
        if probe_tuples(self.cache.connection, columns, key) < weights.least_probed:
            return None
        inclusion = measure_inclusion(self.cache, columns, key)
        if inclusion.share < (_LEAST_SHARE if renamed else weights.least_share):
            return None
        name = sum(score for score, _ in pairs) / len(pairs)
        features = composite_features(
            columns, key, name, inclusion, self.targets, self.referring, self.taken
        )
        if renamed:
            odds = max(self._member_odds(pairs, key, place, renamed, inclusion, features.evidence)
                       for place in renamed)  # fmt: skip
        else:
            # Few rows may be unique in less than their key, so names that leave no doubt count.
            is_plain = features.names_parent and features.name >= weights.same_names
            if _has_own_key(columns) and not is_plain:
                return None
            odds = score_composite(features, weights)
        return CompositeReference(columns, key, features, inclusion, odds)

    def _member_odds(
        self,
        pairs: Sequence[Match],
        key: Sequence[MeasuredColumn],
        place: int,
        renamed: Sequence[int],
        inclusion: Inclusion,
        evidence: float,
    ) -> float:
        """Return the log odds of a member as if its key were one, within each scope.

        ``evidence`` is what it says that it fits the others, row by row.
        """
        (score, child), parent = pairs[place], key[place]
        anchors = (column for other, column in enumerate(key) if other not in renamed)
        scopes = math.prod(column.stats.distinct for column in anchors)
        within = replace(
            inclusion,
            distinct_matched=math.ceil(inclusion.distinct_matched / scopes),
            parent_distinct=math.ceil(inclusion.parent_distinct / scopes),
            parent_near=0,
        )
        features = reference_features(child, parent, score, within, self.weights.values)
        # A number among numbers of the same name counts nothing: it is one of them.
        is_number = child.parsed_name.bare[-1:] == parent.parsed_name.bare[-1:]
        features = replace(
            features,
            evidence=features.evidence + evidence,
            coverage=inclusion.coverage,
            parent_is_primary=True,
            counts=features.counts and not is_number,
        )
        return score_reference(features, self.weights.reference)


def _are_of_one_document(child: MeasuredTable, parent: MeasuredTable) -> bool:
    """Return whether two tables were split from the same documents.

    Their references are known, and positions in two of their lists only look alike.
    """
    splits = child.stats.table.split, parent.stats.table.split
    documents = [split.documents.table.name for split in splits if split]
    is_one = len(documents) == len(splits) and len(set(documents)) == 1
    return child is not parent and is_one


def name_score(child: MeasuredColumn, key: MeasuredColumn, weights: NameWeights) -> float:
    """Return how well a column's name says that it refers to a key, 0 to 1."""
    table = key.table.parsed_name
    score = reference_score(child.parsed_name, key.parsed_name, table, key.own_key_score, weights)
    return score_names(child, key, score, weights)


def _needs_name(column: MeasuredColumn) -> bool:
    """Return whether values alone tell nothing: of plain numbers, and of another table's name."""
    name = column.parsed_name
    return name.names_table or (column.key_kind == "integer" and not name.has_key_word)


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
        if (score := name_score(column, key_column, weights)) >= weights.key_column_least
    ]
    matches.sort(key=lambda match: (-match[0], match[1].position))
    return matches or [(1.0, key_column)] * is_reference


def _has_own_key(columns: Sequence[MeasuredColumn]) -> bool:
    """Return whether columns have their table's key and more, which seldom adds to it."""
    key = set(columns[0].table.primary_key)
    return bool(key) and key < {column.name for column in columns}


def _combinations(
    matches: Sequence[Sequence[Match]], in_roles: Sequence[SharedRole]
) -> list[tuple[Match, ...]]:
    """Return the combinations of different columns, one for each key column, best names first.

    A column that shares a role with others goes with all of them or with none.
    """
    groups = [set(shared.columns) for shared in in_roles]
    combinations = [
        combination
        for combination in product(*(options[:_MATCHES_COMBINED] for options in matches))
        if len(columns := {column for _, column in combination}) == len(combination)
        and all(group <= columns or group.isdisjoint(columns) for group in groups)
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
