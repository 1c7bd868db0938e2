"""Which columns may refer to a column of a composite key: by names and by what they refer to."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import merge
from itertools import groupby

from fluid_build.lexicon import terms
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.profiling.names.key_names import meant_words, reference_score
from fluid_build.profiling.names.name_shapes import KeyShape, NameShapes, could_mean, key_shape
from fluid_build.profiling.names.parsing import ParsedColumnName
from fluid_build.profiling.names.similarity import ending_similarity, synonyms
from fluid_build.profiling.names.words import Words, is_numbered
from fluid_build.profiling.weights import NameWeights

_END_LETTERS = 4
"""Names glued from others share at least so many last letters (see ``ending_similarity``)."""


def match_score(name: ParsedColumnName, key_column: MeasuredColumn, weights: NameWeights) -> float:
    """Return how well a name says that it refers to a column of another table's key; 0 to 1.

    It does if it is the same name, if it ends in the key column's, or if it refers to it like to a
    key of its own.
    """
    key = key_column.parsed_name
    if not name.full:
        return 0.0
    is_generic = terms("key_word").issuperset(key.bare)
    if name.squashed == key.squashed or name.bare_squashed == key.squashed:
        return 1.0
    if not is_generic and name.bare_squashed == key.bare_squashed:
        return 1.0
    best = 0.0
    if not is_generic and len(name.bare) > len(key.bare) and _ends_in(name.bare, key.bare):
        best = weights.key_column_tail
    if not is_generic and len(name.bare) > len(key.full) and _ends_in(name.bare, key.full):
        best = weights.key_column_tail
    # A role may follow a whole key: ``team id loser``.
    if name.full[:-1] == key.full and len(key.full) > 1 and key.full[-1] in terms("key_word"):
        best = max(best, weights.key_column_tail)
    entity_score = weights.key_column_entity
    if best < entity_score and not is_generic and key.entity:
        best = entity_score if ending_similarity(name.entity, key.entity) else best
    reference = reference_score(
        name, key, key_column.table.parsed_name, key_column.own_key_score, weights
    )
    return max(best, weights.key_column_reference * reference)


def _ends_in(phrase: Words, tail: Words) -> bool:
    return phrase[-len(tail) :] == tail


class KeyColumnSearch:
    """The columns of a schema, indexed by name so that only similar names are compared.

    In a schema with many composite keys, comparing each key column with every column would take
    longer than everything else. ``_index_marks`` and ``_search_marks`` follow the rules of
    ``match_score`` and of what it calls: names that reach ``key_column_least`` share a mark.
    ``targets`` are the columns that single columns refer to, by the referring column's id, and
    ``tables`` are in the order of their index.
    """

    def __init__(
        self,
        tables: Iterable[MeasuredTable],
        targets: Mapping[int, MeasuredColumn],
        weights: NameWeights,
    ) -> None:
        self.targets = targets
        self.weights = weights
        self.by_name: dict[tuple[str, int], list[MeasuredColumn]] = defaultdict(list)
        self.by_mark: dict[Hashable, list[ParsedColumnName]] = defaultdict(list)
        self.by_target: dict[tuple[str, int], list[MeasuredColumn]] = defaultdict(list)
        self.by_whole_name: dict[Hashable, dict[int, MeasuredColumn]] = defaultdict(dict)
        self.columns = [column for table in tables for column in table.columns]
        for column in self.columns:
            if column.key_kind and column.stats.present:
                self._add(column)

    def _add(self, column: MeasuredColumn) -> None:
        kind = column.key_kind
        if id(column) in self.targets:
            self.by_target[kind, id(self.targets[id(column)])].append(column)
        namesakes = self.by_name[kind, id(column.parsed_name)]
        if not namesakes:
            for mark in set(_index_marks(column.parsed_name)):
                self.by_mark[kind, mark].append(column.parsed_name)
        namesakes.append(column)
        for name in _whole_names(column):
            self.by_whole_name[kind, name].setdefault(column.table.index, column)

    def namesakes(self, key: Sequence[MeasuredColumn]) -> Iterator[tuple[MeasuredColumn, ...]]:
        """Yield the columns of other tables that have the very names of a key's, by their table.

        These are the matches of score 1. Thousands of tables may have a column of one name, and who
        asks wants a few of them.
        """
        groups = [
            [self.by_whole_name.get((column.key_kind, n), {}) for n in _searched_names(column)]
            for column in key
        ]
        fewest = min(groups, key=lambda found: sum(map(len, found)))
        for index, _ in groupby(merge(*fewest)):
            if index == key[0].table.index:
                continue
            named = [[found[index] for found in group if index in found] for group in groups]
            if all(named):
                yield tuple(min(columns, key=_position) for columns in named)

    def matches(self, key_column: MeasuredColumn) -> dict[int, list[tuple[float, MeasuredColumn]]]:
        """Return the columns that may refer to a key column, best first, by their table's index.

        Their names say so, or they refer to the same key elsewhere, or to the key column itself.
        """
        same_target = self.weights.key_column_same_target
        scores = {
            id(column): (same_target, column) for column in self._with_same_target(key_column)
        }
        for column, score in self._with_similar_name(key_column):
            known, _ = scores.get(id(column), (0.0, column))
            scores[id(column)] = (max(score, known), column)
        by_table: dict[int, list[tuple[float, MeasuredColumn]]] = defaultdict(list)
        for score, column in scores.values():
            if column.table is not key_column.table:
                by_table[column.table.index].append((score, column))
        for matches in by_table.values():
            matches.sort(key=lambda match: (-match[0], match[1].position))
        return by_table

    def _with_same_target(self, key_column: MeasuredColumn) -> Iterator[MeasuredColumn]:
        yield from self.by_target.get((key_column.key_kind, id(key_column)), ())
        if id(key_column) in self.targets:
            target = id(self.targets[id(key_column)])
            yield from self.by_target.get((key_column.key_kind, target), ())

    def _with_similar_name(
        self, key_column: MeasuredColumn
    ) -> Iterator[tuple[MeasuredColumn, float]]:
        kind = key_column.key_kind
        if not key_column.parsed_name.full:
            wordless = self.by_name[kind, id(key_column.parsed_name)]
            yield from ((column, 1.0) for column in wordless if _are_namesakes(column, key_column))
            return
        marks = set(_search_marks(key_column))
        near = {id(name): name for mark in marks for name in self.by_mark.get((kind, mark), ())}
        shape = key_shape(key_column.parsed_name, key_column.table.parsed_name)
        for name in near.values():
            if not self._could_match(name, key_column.parsed_name, shape):
                continue
            score = match_score(name, key_column, self.weights)
            if score >= self.weights.key_column_least:
                yield from ((column, score) for column in self.by_name[kind, id(name)])

    def _could_match(self, name: ParsedColumnName, key: ParsedColumnName, shape: KeyShape) -> bool:
        """Return whether ``match_score`` may be above 0; False is certain."""
        return (
            could_mean(self.name_shapes.of(name), shape)
            or name.bare_squashed.endswith((key.bare_squashed, key.squashed))
            or name.squashed.startswith(key.squashed)
        )

    @cached_property
    def name_shapes(self) -> NameShapes:
        """The shapes of names, where every column may be part of a key."""
        return NameShapes(
            key_shape(column.parsed_name, column.table.parsed_name) for column in self.columns
        )


def _are_namesakes(column: MeasuredColumn, key_column: MeasuredColumn) -> bool:
    """Return whether two names without words are equal; that both are column 3 means nothing."""
    return column.name == key_column.name and not is_numbered(column.name)


def _whole_names(column: MeasuredColumn) -> set[tuple[str, str]]:
    """Return what a column is called as a whole, with and without its table's prefix."""
    name = column.parsed_name
    if not name.full:
        return set() if is_numbered(column.name) else {("wordless", column.name)}
    return {("name", name.squashed), ("name", name.bare_squashed), ("bare", name.bare_squashed)}


def _searched_names(key_column: MeasuredColumn) -> list[tuple[str, str]]:
    """Return the whole names under which namesakes of a key column are (see ``match_score``)."""
    name = key_column.parsed_name
    if not name.full:
        return [("wordless", key_column.name)]
    is_generic = terms("key_word").issuperset(name.bare)
    return [("name", name.squashed), *([] if is_generic else [("bare", name.bare_squashed)])]


def _position(column: MeasuredColumn) -> int:
    return column.position


def _index_marks(name: ParsedColumnName) -> Iterator[Hashable]:
    """Yield where a name is indexed: as a whole, by its ends, and by its words' first letters."""
    yield "name", name.squashed
    yield "name", name.bare_squashed
    for start in range(1, len(name.bare)):
        yield "tail", name.bare[start:]
    yield "front", name.full[:-1]
    if name.entity:
        yield "first", name.entity[0][0]
        yield "end", "".join(name.entity)[-_END_LETTERS:]
    for back, word in enumerate(reversed(name.entity), 1):
        yield back, word[0]
    for word in meant_words(name):
        yield "meant", word


def _search_marks(key_column: MeasuredColumn) -> Iterator[Hashable]:
    """Yield the marks under which a name that refers to a key column must be indexed.

    Similar words begin with the same letter, except for synonyms, which are similar enough only at
    the end of a name; glued words share their ends.
    """
    name, table = key_column.parsed_name, key_column.table.parsed_name.entity
    yield "name", name.squashed
    yield "name", name.bare_squashed
    yield "tail", name.bare
    yield "tail", name.full
    yield "front", name.full
    for phrase in (name.entity, name.full_entity, table, key_column.table.parsed_name.head):
        if phrase:
            letter = phrase[0][0]
            yield from (("first", letter), (1, letter), (len(phrase), letter))
            yield "end", "".join(phrase)[-_END_LETTERS:]
    for synonym in synonyms(name.entity[0]) if name.entity else ():
        yield len(name.entity), synonym[0]
    for word in table:
        yield "first", word[0]
    for word in table[-1:]:
        yield "meant", word
