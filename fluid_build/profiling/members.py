"""Which columns may stand for a member of a composite key: by names and by what they refer to."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping

from fluid_build.profiling.likeness import ACTING_WORDS, STAFF_WORDS, ends_with
from fluid_build.profiling.names import KEY_WORDS, Words
from fluid_build.profiling.schema import Entity, Node, name_refers

LEAST_ALIKE = 0.55
_GLUED = 4


def member_likeness(node: Node, member: Node, targets: Mapping[int, Node]) -> float:
    """How well a column stands for a member of another table's composite key; 0 to 1.

    It does if it has the same name, if its name ends in the member's, or if both refer to the
    same key elsewhere.
    """
    scores = [0.0]
    own, other = node.name, member.name
    generic = all(word in KEY_WORDS for word in other.bare)
    if own.squashed == other.squashed or own.bare_squashed == other.squashed:
        scores.append(1.0)
    if not generic and own.bare_squashed == other.bare_squashed:
        scores.append(1.0)
    if not generic and len(own.bare) > len(other.bare) and _tail_equals(own.bare, other.bare):
        scores.append(0.8)
    if len(own.bare) > len(other.full) and _tail_equals(own.bare, other.full):
        scores.append(0.8)
    if not generic and other.entity and ends_with(own.entity, other.entity):
        scores.append(0.7)
    scores.append(0.9 * name_refers(node, member))
    if id(node) in targets and (
        targets[id(node)] is targets.get(id(member)) or targets[id(node)] is member
    ):
        scores.append(0.85)
    return max(scores)


def _tail_equals(longer: Words, tail: Words) -> bool:
    return longer[-len(tail) :] == tail


class MemberSearch:
    """The columns of a schema, filed so that only those that could be alike are compared.

    Of a schema with many composite keys, to compare each member with every column would take
    longer than all else. ``_marks`` and ``_looked_up`` follow the rules of ``member_likeness``
    and of what it calls: a pair that reaches LEAST_ALIKE shares a mark.
    """

    def __init__(self, entities: Iterable[Entity], targets: Mapping[int, Node]) -> None:
        self.targets = targets
        self.filed: dict[Hashable, list[Node]] = defaultdict(list)
        for entity in entities:
            for node in entity.nodes:
                if node.comparable and node.stats.present:
                    for mark in set(_marks(node, targets)):
                        self.filed[node.comparable, mark].append(node)

    def alike(self, member: Node) -> dict[int, list[tuple[float, Node]]]:
        """The columns that may be meant by a member, best first, by the index of their table."""
        marks = set(_looked_up(member, self.targets))
        near = {id(n): n for mark in marks for n in self.filed.get((member.comparable, mark), ())}
        found: dict[int, list[tuple[float, Node]]] = defaultdict(list)
        for node in near.values():
            if node.table is member.table:
                continue
            score = member_likeness(node, member, self.targets)
            if score >= LEAST_ALIKE:
                found[node.table.index].append((score, node))
        for choices in found.values():
            choices.sort(key=lambda choice: (-choice[0], choice[1].position))
        return found


def _marks(node: Node, targets: Mapping[int, Node]) -> Iterator[Hashable]:
    """Where a column is filed: its names, their ends, and the letters its words begin with."""
    name = node.name
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
    if id(node) in targets:
        yield "to", id(targets[id(node)])


def _looked_up(member: Node, targets: Mapping[int, Node]) -> Iterator[Hashable]:
    """Under what a column that stands for a member must be filed.

    Words that are alike begin with the same letter, mere synonyms not being alike enough; glued
    words share their ends.
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
    for word in table:
        yield "first", word[0]
    if not STAFF_WORDS.isdisjoint(table[-1:]):
        yield "acting"
    yield "to", id(member)
    if id(member) in targets:
        yield "to", id(targets[id(member)])
