"""References to a composite key of which a member is called otherwise than in the key.

The columns whose names pair up (a client, a version, an order) say within what the others are
looked for: there, these are judged as if they referred to a key of one column.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from fluid_build.profiling.measure.schema import NAMED_AS_KEY, MeasuredColumn, MeasuredTable
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.names.key_names import reference_score
from fluid_build.profiling.references.candidates import score_names
from fluid_build.profiling.references.composites import CompositeReference, composite_keys
from fluid_build.profiling.references.features import (
    composite_features,
    own_columns,
    reference_features,
)
from fluid_build.profiling.references.inclusion import Inclusion, measure_inclusion
from fluid_build.profiling.references.key_repeats import KeyRepeats
from fluid_build.profiling.references.probing import Prober, probe_tuples
from fluid_build.profiling.references.scores import score_reference
from fluid_build.profiling.references.single_columns import ColumnReference
from fluid_build.profiling.weights import Weights

_MOST_RENAMED = 2
"""Members with other names: of more, nothing says that they belong together."""
_MOST_FITTING = 3
"""Columns that are tried for a member: where more hold its values, they are no sign of anything."""
_MOST_COMBINATIONS = 4
"""Combinations that are measured for one key in one table: each costs a join."""
_LEAST_SHARE = 0.99
"""The share of rows that must match: where only values speak, each that doesn't speaks against."""
_MOST_TABLES = 300
"""Tables that may share the other columns of a key: among more, each member fits many keys."""


def find_renamed_members(
    cache: ValueCache,
    tables: Sequence[MeasuredTable],
    references: Sequence[ColumnReference],
    found: Sequence[CompositeReference],
    repeats: KeyRepeats,
    prober: Prober,
    weights: Weights,
) -> list[CompositeReference]:
    """Return what is judged of the columns that no reference has yet, each with its best parent.

    A column has one meaning: the odds of each of its parents are lowered by those of the others.
    """
    search = _Search(cache, tables, references, found, repeats, prober, weights)
    rivals: dict[frozenset[int], list[_Renamed]] = defaultdict(list)
    for table in tables:
        for key in composite_keys(table, search.targets, repeats):
            for renamed in search.references(key):
                rivals[frozenset(map(id, renamed.members))].append(renamed)
    best = []
    for group in rivals.values():
        group.sort(key=lambda renamed: -renamed.reference.log_odds)
        total = sum(math.exp(renamed.reference.log_odds) for renamed in group[1:])
        group[0].reference.log_odds -= math.log1p(total)
        best.append(group[0].reference)
    return best


@dataclass(frozen=True, slots=True)
class _Renamed:
    """A reference, and those of its columns that only their values tell."""

    reference: CompositeReference
    members: tuple[MeasuredColumn, ...]


class _Search:
    """The search for the columns that may be a member of each key."""

    def __init__(
        self,
        cache: ValueCache,
        tables: Sequence[MeasuredTable],
        references: Sequence[ColumnReference],
        found: Sequence[CompositeReference],
        repeats: KeyRepeats,
        prober: Prober,
        weights: Weights,
    ) -> None:
        self.cache = cache
        self.repeats = repeats
        self.prober = prober
        self.weights = weights
        self.targets = {id(reference.child): reference.parent for reference in references}
        taken = {id(column) for composite in found for column in composite.child}
        self.taken = taken
        self.free = {
            table.index: [
                column
                for column in table.columns
                if column.key_kind and column.stats.present and id(column) not in taken
                if id(column) not in self.targets and not column.is_primary_key
                if column.own_key_score < NAMED_AS_KEY
                if not column.is_measure
            ]
            for table in tables
        }

    def references(self, key: Sequence[MeasuredColumn]) -> Iterator[_Renamed]:
        """Yield what may refer to a key, of every table that has some of its columns."""
        if key[0].table.is_sampled or not all(column.key_kind for column in key):
            return
        own = own_columns(key, self.targets, self.targets)
        own = [column for column in own if column.own_key_score >= NAMED_AS_KEY] or own
        matches = [self.repeats.matches(column) for column in key]
        least = self.weights.names.key_column_same_target
        by_table: dict[int, dict[int, tuple[float, MeasuredColumn]]] = defaultdict(dict)
        for place, by_index in enumerate(matches):
            for index, named in by_index.items():
                if named[0][0] >= least:
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
                yield from self._judged(index, key, matches, anchors, missing)

    def _judged(
        self,
        index: int,
        key: Sequence[MeasuredColumn],
        matches: Sequence[Mapping[int, Sequence[tuple[float, MeasuredColumn]]]],
        anchors: Mapping[int, tuple[float, MeasuredColumn]],
        missing: Sequence[int],
    ) -> Iterator[_Renamed]:
        # What names pair up with the key has been judged, or is one of the other columns.
        named = {id(column) for by_table in matches for _, column in by_table.get(index, ())}
        named.update(id(column) for _, column in anchors.values())
        options = [self._fitting(index, key[place], named) for place in missing]
        if not all(options):
            return
        for members in islice(product(*options), _MOST_COMBINATIONS):
            if len({id(column) for _, column in members}) < len(members):
                continue
            scored = {**anchors, **dict(zip(missing, members, strict=True))}
            renamed = tuple(column for _, column in members)
            reference = self._judge([scored[place] for place in range(len(key))], key, missing)
            if reference is not None:
                yield _Renamed(reference, renamed)

    def _fitting(
        self, index: int, key_column: MeasuredColumn, named: set[int]
    ) -> list[tuple[float, MeasuredColumn]]:
        """Return the free columns of a table whose values are among a key column's."""
        fitting = [
            (self._name_score(column, key_column), column)
            for column in self.free[index]
            if column is not key_column and id(column) not in named
            and column.key_kind == key_column.key_kind
            and column.stats.distinct <= key_column.stats.distinct
            and self.prober.share(column, key_column) >= self.weights.candidate.unnamed_share
        ]  # fmt: skip
        # Any number of a row may be in its own table, or among small keys.
        within_table = index == key_column.table.index
        fitting = [
            (score, column)
            for score, column in fitting
            if score or not (within_table or _needs_name(column))
        ]
        fitting.sort(key=lambda match: (-match[0], -match[1].stats.distinct, match[1].position))
        return fitting[:_MOST_FITTING]

    def _name_score(self, child: MeasuredColumn, key: MeasuredColumn) -> float:
        table, weights = key.table.parsed_name, self.weights.names
        score = reference_score(
            child.parsed_name, key.parsed_name, table, key.own_key_score, weights
        )
        return score_names(child, key, score, weights)

    def _judge(
        self,
        scored: Sequence[tuple[float, MeasuredColumn]],
        key: Sequence[MeasuredColumn],
        missing: Sequence[int],
    ) -> CompositeReference | None:
        """Judge a reference by its most telling member."""
        columns = tuple(column for _, column in scored)
        if any(column.is_primary_key for column in columns):
            # Its own key identifies the row already; the other columns add nothing.
            return None
        if probe_tuples(self.cache.connection, columns, key) < self.weights.composite.least_probed:
            return None
        inclusion = measure_inclusion(self.cache, columns, key)
        if inclusion.share < _LEAST_SHARE:
            return None
        name = sum(score for score, _ in scored) / len(scored)
        features = composite_features(
            columns, key, name, inclusion, self.targets, self.targets, self.taken
        )
        scopes = math.prod(
            column.stats.distinct for place, column in enumerate(key) if place not in missing
        )
        odds = max(
            self._odds(*scored[place], key[place], inclusion, features.evidence, scopes)
            for place in missing
        )
        return CompositeReference(columns, tuple(key), features, inclusion, odds)

    def _odds(
        self,
        score: float,
        child: MeasuredColumn,
        key: MeasuredColumn,
        inclusion: Inclusion,
        evidence: float,
        scopes: int,
    ) -> float:
        """Return the log odds of a member as if its key were one, within each scope.

        ``evidence`` is what it says that it fits the others, row by row.
        """
        within = replace(
            inclusion,
            distinct_matched=math.ceil(inclusion.distinct_matched / scopes),
            parent_distinct=math.ceil(inclusion.parent_distinct / scopes),
            parent_near=0,
        )
        features = reference_features(child, key, score, within, self.weights.values)
        # A number among numbers of the same name counts nothing: it is one of them.
        is_number = child.parsed_name.bare[-1:] == key.parsed_name.bare[-1:]
        features = replace(
            features,
            evidence=features.evidence + evidence,
            coverage=inclusion.coverage,
            parent_is_primary=True,
            counts=features.counts and not is_number,
        )
        return score_reference(features, self.weights.reference)


def _needs_name(column: MeasuredColumn) -> bool:
    """Return whether values alone tell nothing: of plain numbers, and of another table's name."""
    name = column.parsed_name
    return name.names_table or (column.key_kind == "integer" and not name.has_key_word)
