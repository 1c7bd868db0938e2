"""Which keys a column could refer to: those its name points at, and those its values fit.

Every column is compared with the few keys that share the beginning of a word with it. Only if no
name is convincing are keys searched by values alone, and then only primary keys whose values say
something: text, sparse numbers, numbers far from 1, or a range that the column just fills.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fluid_build.lexicon import terms
from fluid_build.profiling.measure.schema import (
    NAMED_AS_KEY,
    MeasuredColumn,
    group_by_table,
)
from fluid_build.profiling.names.key_names import (
    extends_name,
    hierarchy_score,
    is_same_name,
    meant_words,
    reference_score,
    score_between,
)
from fluid_build.profiling.names.name_shapes import NameShapes, could_mean, key_shape
from fluid_build.profiling.names.parsing import ParsedColumnName
from fluid_build.profiling.names.similarity import synonyms
from fluid_build.profiling.references.features import reference_features
from fluid_build.profiling.references.inclusion import Inclusion
from fluid_build.profiling.references.probing import Prober
from fluid_build.profiling.references.scores import score_reference
from fluid_build.profiling.weights import CandidateWeights, NameWeights, Weights

_LABEL_WORDS = terms("label")
_LONG_WORD = 6
"""A word of so many letters isn't an abbreviation, so that its first three letters are sure."""
_FEWEST_GLUED_LETTERS = 4
"""Shorter names end too many others by accident."""
_MOST_SHARED_START = 150
"""A word start that more keys share says too little to compare a column with all of them."""
_MOST_OWN = 100
"""Unique columns of a table up to which each may refer to each other. A sheet of thousands has
millions of such pairs, and a row that means another of its own table has its key."""
UNCOMPARED_KEYS = (
    "So many keys have similar names or the same values, or are in one table, that not every column"
    " was compared with all of them. Some relationships may be missing: `fluid decide` adds them."
)
_MOST_ALIKE = 8
"""Keys of the same name and values that are looked at: they get the same estimate, no more than six
candidates of a column are measured, and copies of a file would be compared each with each."""


@dataclass(frozen=True, slots=True)
class ParentCandidate:
    """A key that a column may refer to, with the log odds by its name and a few values."""

    parent: MeasuredColumn
    name_score: float
    estimate: float


class ParentSearch:
    """The keys of one kind in a schema, indexed by name."""

    def __init__(self, parents: Sequence[MeasuredColumn], prober: Prober, weights: Weights) -> None:
        self.prober = prober
        self.weights = weights
        self.names = _NameIndex(parents)
        self.key_shapes = {
            id(parent): key_shape(parent.parsed_name, parent.table.parsed_name)
            for parent in parents
        }
        self.name_shapes = NameShapes(self.key_shapes.values())
        self.of_table = group_by_table(parents)
        self.near_home = {
            table: own if len(own) <= _MOST_OWN else [key for key in own if key.is_primary_key]
            for table, own in self.of_table.items()
        }
        primary = [parent for parent in parents if parent.is_primary_key]
        whole = [parent for parent in primary if not parent.table.is_sampled]
        few = _few_of_each(whole, prober)
        own_left_out = any(len(self.near_home[t]) < len(own) for t, own in self.of_table.items())
        self._leaves_out = own_left_out or len(few) < len(whole)
        self.own_primary = {parent.table.index: parent for parent in whole}
        self.sparse_primary = [parent for parent in few if not parent.is_dense]
        self.dense_primary = [parent for parent in few if parent.is_dense]
        self.generic_primary: dict[str, list[MeasuredColumn]] = defaultdict(list)
        for parent in primary:
            if parent.parsed_name.is_generic:
                self.generic_primary[parent.parsed_name.squashed].append(parent)
        self._by_name: dict[int, list[tuple[MeasuredColumn, float]]] = {}

    @property
    def left_keys_out(self) -> bool:
        """Whether some keys were too many of a kind to compare each column with all of them."""
        return self._leaves_out or self.names.left_out

    def candidates(self, child: MeasuredColumn) -> list[ParentCandidate]:
        """Return the keys worth measuring, most credible first."""
        by_id = {
            id(parent): candidate
            for parent, score in self._named(child)
            if (candidate := self._estimate(child, parent, score))
        }
        convincing = self.weights.candidate.convincing
        if not any(
            candidate.estimate > convincing and not is_twin(child, candidate.parent)
            for candidate in by_id.values()
        ):
            for parent in self._fitting(child):
                if id(parent) not in by_id and (unnamed := self._estimate(child, parent, 0.0)):
                    by_id[id(parent)] = unnamed
        return sorted(by_id.values(), key=lambda c: (-c.estimate, str(c.parent)))

    def named_elsewhere(self, child: MeasuredColumn) -> list[tuple[MeasuredColumn, float]]:
        """Return the keys of other tables that a column's name may mean, with how well it does."""
        return [(key, score) for key, score in self._named(child) if key.table is not child.table]

    def _named(self, child: MeasuredColumn) -> Iterable[tuple[MeasuredColumn, float]]:
        """Yield the keys that a column's name may point at, with their name scores."""
        weights = self.weights.candidate
        scored = [(parent, 0.0) for parent in self.near_home.get(child.table.index, ())]
        scored += [
            near for near in self._named_by(child.parsed_name) if near[0].table is not child.table
        ]
        scored += [(parent, 0.0) for parent in self._extended(child)]
        for parent, score_by_name in scored:
            if parent is child or not (parent.table.is_sampled or _bounds_overlap(child, parent)):
                continue
            score = score_names(child, parent, score_by_name, self.weights.names)
            if score >= (weights.name if parent.is_primary_key else weights.attribute_name):
                yield parent, score

    def _extended(self, child: MeasuredColumn) -> Iterable[MeasuredColumn]:
        """Yield the primary keys of a generic name in tables whose name the child's extends.

        ``status_texts(code)`` refers to ``status(code)``, though any table may have a ``code``.
        """
        name, table = child.parsed_name, child.table.parsed_name
        if not name.is_generic or child.stats.is_unique:
            return
        for parent in self.generic_primary.get(name.squashed, ()):
            if parent.table is not child.table and extends_name(table, parent.table.parsed_name):
                yield parent

    def _named_by(self, name: ParsedColumnName) -> list[tuple[MeasuredColumn, float]]:
        """Return the keys that a name may point at, computed once for all columns of that name."""
        if id(name) not in self._by_name:
            shape = self.name_shapes.of(name)
            scored = (
                (
                    parent,
                    reference_score(
                        name,
                        parent.parsed_name,
                        parent.table.parsed_name,
                        parent.own_key_score,
                        self.weights.names,
                    ),
                )
                for parent in self.names.near(name)
                if could_mean(shape, self.key_shapes[id(parent)])
            )
            self._by_name[id(name)] = [
                (parent, score)
                for parent, score in scored
                if score >= self.weights.candidate.name or is_same_name(name, parent.parsed_name)
            ]
        return self._by_name[id(name)]

    def _estimate(
        self, child: MeasuredColumn, parent: MeasuredColumn, name_score: float
    ) -> ParentCandidate | None:
        """Score a pair by its probes; None if it isn't worth measuring."""
        if parent.table.is_sampled:
            # A value may be among the keys that weren't read, so only the names can propose it.
            inclusion = Inclusion(0, 0, 0, 0, parent.stats.distinct, 0, is_measured=False)
        else:
            share = self.prober.share(child, parent)
            if share < _least_share(name_score, self.weights.candidate):
                return None
            stats = child.stats
            inclusion = Inclusion(
                rows=stats.present,
                matched=round(stats.present * share),
                distinct=stats.distinct,
                distinct_matched=round(stats.distinct * share),
                parent_distinct=parent.stats.distinct,
                parent_near=0,
            )
        features = reference_features(child, parent, name_score, inclusion, self.weights.values)
        odds = score_reference(features, self.weights.reference)
        if odds <= self.weights.candidate.least_odds:
            return None
        return ParentCandidate(parent, name_score, odds)

    def _fitting(self, child: MeasuredColumn) -> Iterable[MeasuredColumn]:
        """Yield primary keys that may hold a column's values for another reason than chance."""
        if child.stats.is_key and child.is_primary_key:
            # Two keys that count share their values, and two lists share names. Codes and other
            # texts that are all another table's are those of a subtype, if a name says so, too.
            name = child.parsed_name.bare[-1:]
            is_code = bool(name) and _LABEL_WORDS.isdisjoint(name)
            if child.key_kind in {"text", "uuid"} and is_code:
                yield from (parent for parent in self.sparse_primary if parent is not child)
            return
        own = [self.own_primary[child.table.index]] if child.table.index in self.own_primary else []
        for parent in (*self.sparse_primary, *(key for key in own if not key.is_dense)):
            if parent is not child and _is_within_bounds(child, parent):
                yield parent
        low, high = child.low, child.high
        if low is None or high is None:
            return
        slack = self.weights.candidate.range_slack
        for parent in (*self.dense_primary, *(key for key in own if key.is_dense)):
            first, last = parent.low or 0, parent.high or 0
            if parent is child or low < first or high > last:
                continue
            if first > 1 or last - high <= slack * (last - first + 1):
                yield parent


class _NameIndex:
    """Keys by the beginnings of the words that name them, and by their names in one word."""

    def __init__(self, parents: Sequence[MeasuredColumn]) -> None:
        self.left_out = False
        self.by_start: dict[str, list[MeasuredColumn]] = defaultdict(list)
        self.by_glued_name: dict[str, list[MeasuredColumn]] = defaultdict(list)
        for parent in parents:
            words = {
                *parent.table.parsed_name.entity,
                *parent.parsed_name.entity,
                *parent.parsed_name.full,
            }
            starts = {word[:3] for word in words}
            for start in starts | {word[:1] + "*" for word in words if not word.isdigit()}:
                self.by_start[start].append(parent)
            for phrase in (parent.table.parsed_name.entity, parent.parsed_name.entity):
                if len(glued := "".join(phrase)) >= _FEWEST_GLUED_LETTERS:
                    self.by_glued_name[glued].append(parent)

    def near(self, name: ParsedColumnName) -> Iterable[MeasuredColumn]:
        """Return the keys that a column's name could mean.

        Of the many keys that share a common beginning, only those whose whole name ends the
        column's name are found.
        """
        words = {*name.entity, *name.bare, *name.full, *meant_words(name)}
        near: dict[int, MeasuredColumn] = {}
        for start in _searched_starts({*words, *(s for word in words for s in synonyms(word))}):
            parents = self.by_start.get(start, ())
            if len(parents) > _MOST_SHARED_START:
                self.left_out = True
            else:
                near.update((id(parent), parent) for parent in parents)
        glued = "".join(name.entity)
        for cut in range(len(glued) - _FEWEST_GLUED_LETTERS + 1):
            parents = self.by_glued_name.get(glued[cut:], ())
            if len(parents) > _MOST_SHARED_START:
                parents = [parent for parent in parents if parent.is_primary_key]
            near.update((id(parent), parent) for parent in parents[:_MOST_SHARED_START])
        return near.values()


def _few_of_each(parents: Iterable[MeasuredColumn], prober: Prober) -> list[MeasuredColumn]:
    """Return keys without those that are like too many before them but for their table.

    Sixty monthly copies of a file have sixty keys of the same name and values.
    """
    alike: dict[tuple[object, ...], int] = defaultdict(int)
    few = []
    for parent in sorted(parents, key=str):
        stats = parent.stats
        figures = (stats.distinct, stats.present, stats.nulls, stats.avg_length, stats.bounds)
        values = tuple(prober.probes[id(parent)])
        likeness = (parent.parsed_name.squashed, parent.own_key_score, figures, values)
        alike[likeness] += 1
        if alike[likeness] <= _MOST_ALIKE:
            few.append(parent)
    return few


def _searched_starts(words: Iterable[str]) -> set[str]:
    """Return where a column searches; of a possible abbreviation, only the first letter is sure."""
    return {
        word[:1] + "*" if len(word) < _LONG_WORD and not word.isdigit() else word[:3]
        for word in words
    }


def is_twin(child: MeasuredColumn, parent: MeasuredColumn) -> bool:
    """Return whether a key only has the child's name and isn't named for its own table.

    While each client has one address, ``client_id`` is unique among the addresses, too.
    """
    same_name = child.parsed_name.bare_squashed == parent.parsed_name.bare_squashed
    return same_name and child.table is not parent.table and parent.own_key_score < NAMED_AS_KEY


def score_names(
    child: MeasuredColumn, parent: MeasuredColumn, score_by_name: float, weights: NameWeights
) -> float:
    """Return how well a column's name says that it refers to another column.

    ``score_by_name`` is what the names alone say (``reference_score``). Within one table, or if the
    child's table extends the parent's name, there is more to know.
    """
    if child.table is parent.table:
        table = parent.table.parsed_name
        return hierarchy_score(child.parsed_name, parent.parsed_name, table, weights)
    same_name = child.parsed_name.squashed == parent.parsed_name.squashed
    if (same_name or is_same_name(child.parsed_name, parent.parsed_name)) and extends_name(
        child.table.parsed_name, parent.table.parsed_name
    ):
        score_by_name = max(score_by_name, weights.extended_table)
    return score_between(
        score_by_name, child.parsed_name, child.table.parsed_name, parent.table.parsed_name, weights
    )


def _least_share(name_score: float, weights: CandidateWeights) -> float:
    """Return the share of probes that must be keys for a pair to be worth measuring."""
    if name_score >= weights.plain_name:
        return weights.plain_share
    return weights.vague_share if name_score >= weights.name else weights.unnamed_share


def _bounds_overlap(child: MeasuredColumn, parent: MeasuredColumn) -> bool:
    if child.key_kind != "integer":
        return True
    low, high = parent.low, parent.high
    if low is None or high is None or child.low is None or child.high is None:
        return True
    return child.low <= high and child.high >= low


def _is_within_bounds(child: MeasuredColumn, parent: MeasuredColumn) -> bool:
    if child.key_kind != "integer":
        return True
    if None in (child.low, child.high, parent.low, parent.high):
        return True
    return (child.low or 0) >= (parent.low or 0) and (child.high or 0) <= (parent.high or 0)
