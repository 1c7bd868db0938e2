"""Which columns may stand for a member of a composite key: by names and by what they refer to."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping

from fluid_build.profiling.measured_tables import MeasuredColumn, MeasuredTable
from fluid_build.profiling.name_similarity import (
    ACTING_WORDS,
    STAFF_WORDS,
    ends_with,
    refers,
    synonyms,
)
from fluid_build.profiling.names import KEY_WORDS, ParsedColumnName, Words

LEAST_ALIKE = 0.55
_SAME_TARGET = 0.85
_GLUED = 4


def name_likeness(own: ParsedColumnName, member: MeasuredColumn) -> float:
    """How well a name says that a column stands for a member of another table's key; 0 to 1.

    It does if it is the same name, if it ends in the member's, or if it refers to the member.
    """
    other = member.name
    generic = KEY_WORDS.issuperset(other.bare)
    if own.squashed == other.squashed or own.bare_squashed == other.squashed:
        return 1.0
    if not generic and own.bare_squashed == other.bare_squashed:
        return 1.0
    best = 0.0
    if not generic and len(own.bare) > len(other.bare) and _tail_equals(own.bare, other.bare):
        best = 0.8
    if len(own.bare) > len(other.full) and _tail_equals(own.bare, other.full):
        best = 0.8
    if best < 0.7 and not generic and other.entity and ends_with(own.entity, other.entity):
        best = 0.7
    return max(best, 0.9 * refers(own, other, member.table.names.table, member.self_explaining))


def _tail_equals(longer: Words, tail: Words) -> bool:
    return longer[-len(tail) :] == tail


class KeyColumnSearch:
    """The columns of a schema, their names filed so that only such as could be alike are compared.

    Of a schema with many composite keys, to compare each member with every column would take
    longer than all else. ``_marks`` and ``_looked_up`` follow the rules of ``name_likeness``
    and of what it calls: names that reach LEAST_ALIKE share a mark.
    """

    def __init__(
        self, entities: Iterable[MeasuredTable], targets: Mapping[int, MeasuredColumn]
    ) -> None:
        self.targets = targets
        self.named: dict[tuple[str, int], list[MeasuredColumn]] = defaultdict(list)
        self.filed: dict[Hashable, list[ParsedColumnName]] = defaultdict(list)
        self.referring: dict[tuple[str, int], list[MeasuredColumn]] = defaultdict(list)
        for entity in entities:
            for node in entity.nodes:
                if node.comparable and node.stats.present:
                    self._file(node)

    def _file(self, node: MeasuredColumn) -> None:
        kind = node.comparable
        if id(node) in self.targets:
            self.referring[kind, id(self.targets[id(node)])].append(node)
        namesakes = self.named[kind, id(node.name)]
        if not namesakes:
            for mark in set(_marks(node.name)):
                self.filed[kind, mark].append(node.name)
        namesakes.append(node)

    def alike(self, member: MeasuredColumn) -> dict[int, list[tuple[float, MeasuredColumn]]]:
        """The columns that may be meant by a member, best first, by the index of their table.

        Their names say so, or they refer to the same key elsewhere, or to the member itself.
        """
        scores = {id(node): (_SAME_TARGET, node) for node in self._same_target(member)}
        for node, score in self._named_alike(member):
            known, _ = scores.get(id(node), (0.0, node))
            scores[id(node)] = (max(score, known), node)
        found: dict[int, list[tuple[float, MeasuredColumn]]] = defaultdict(list)
        for score, node in scores.values():
            if node.table is not member.table:
                found[node.table.index].append((score, node))
        for choices in found.values():
            choices.sort(key=lambda choice: (-choice[0], choice[1].position))
        return found

    def _same_target(self, member: MeasuredColumn) -> Iterator[MeasuredColumn]:
        yield from self.referring.get((member.comparable, id(member)), ())
        if id(member) in self.targets:
            target = id(self.targets[id(member)])
            yield from self.referring.get((member.comparable, target), ())

    def _named_alike(self, member: MeasuredColumn) -> Iterator[tuple[MeasuredColumn, float]]:
        kind = member.comparable
        marks = set(_looked_up(member))
        near = {id(name): name for mark in marks for name in self.filed.get((kind, mark), ())}
        for name in near.values():
            score = name_likeness(name, member)
            if score >= LEAST_ALIKE:
                yield from ((node, score) for node in self.named[kind, id(name)])


def _marks(name: ParsedColumnName) -> Iterator[Hashable]:
    """Where a name is filed: as it is, by its ends, and by the letters its words begin with."""
    yield "name", name.squashed
    yield "name", name.bare_squashed
    for start in range(1, len(name.bare)):
        yield "tail", name.bare[start:]
    if name.entity:
        yield "first", name.entity[0][0]
        yield "end", "".join(name.entity)[-_GLUED:]
    for back, word in enumerate(reversed(name.entity), 1):
        yield back, word[0]
    if not ACTING_WORDS.isdisjoint(name.bare[-2:]):
        yield "acting"


def _looked_up(member: MeasuredColumn) -> Iterator[Hashable]:
    """Under what a name that stands for a member must be filed.

    Words that are alike begin with the same letter, but for synonyms, which are alike enough only
    at the end of a name; glued words share their ends.
    """
    name, table = member.name, member.table.names.table.entity
    yield "name", name.squashed
    yield "name", name.bare_squashed
    yield "tail", name.bare
    yield "tail", name.full
    for phrase in (name.entity, name.full_entity, table):
        if phrase:
            letter = phrase[0][0]
            yield from (("first", letter), (1, letter), (len(phrase), letter))
            yield "end", "".join(phrase)[-_GLUED:]
    for synonym in synonyms(name.entity[0]) if name.entity else ():
        yield len(name.entity), synonym[0]
    for word in table:
        yield "first", word[0]
    if not STAFF_WORDS.isdisjoint(table[-1:]):
        yield "acting"
