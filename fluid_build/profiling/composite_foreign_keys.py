"""Foreign keys of several columns, matched to a parent's composite key column by column."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeAlias

from fluid_build.profiling.foreign_keys import ColumnReference
from fluid_build.profiling.inclusion import Inclusion, measure_inclusion, probe_tuples
from fluid_build.profiling.key_column_matches import KeyColumnSearch
from fluid_build.profiling.measured_tables import MeasuredColumn, MeasuredTable
from fluid_build.profiling.value_cache import ValueCache

Choices: TypeAlias = Sequence[tuple[float, MeasuredColumn]]

_TRIED_A_PAIR = 4
_LEAST_INCLUDED = 0.9
_LEAST_PROBED = 0.75
_ACCEPTED = 0.3
_TAKEN = 0.7
_SAME_NAMES = 0.95


@dataclass(slots=True, eq=False)
class CompositeReference:
    """Columns that refer, together, to a composite key; ``child`` and ``parent`` pair up."""

    child: tuple[MeasuredColumn, ...]
    parent: tuple[MeasuredColumn, ...]
    name_score: float
    inclusion: Inclusion
    log_odds: float

    @property
    def confidence(self) -> float:
        """The judgement as a probability."""
        return 1.0 / (1.0 + math.exp(-self.log_odds))


def find_composite_references(
    held: ValueCache,
    entities: Sequence[MeasuredTable],
    references: Sequence[ColumnReference],
) -> list[CompositeReference]:
    """Find the groups of columns that refer to a table's composite primary key."""
    targets = {id(r.child): r.parent for r in references}
    search = KeyColumnSearch(entities, targets)
    found: list[CompositeReference] = []
    taken: dict[int, set[int]] = defaultdict(set)
    parents = [entity for entity in entities if len(entity.primary_key) > 1]
    parents.sort(key=lambda entity: (-len(entity.primary_key), entity.index))
    for parent in parents:
        key = tuple(parent.by_name[name] for name in parent.primary_key)
        alike = [search.alike(member) if member.comparable else {} for member in key]
        for index in sorted(set.intersection(*map(set, alike))):
            choices = [columns[index] for columns in alike]
            for reference in list(_roles(held, choices, key, targets, taken[index])):
                found.append(reference)
                taken[index].update(map(id, reference.child))
    return _one_direction(_nearest(found))


def _roles(
    held: ValueCache,
    choices: Sequence[Choices],
    key: tuple[MeasuredColumn, ...],
    targets: Mapping[int, MeasuredColumn],
    taken: Collection[int],
) -> Iterator[CompositeReference]:
    """Every group of columns that refers to a key, each in a role of its own, the best first."""
    spent: set[int] = set()
    while best := _best_match(held, choices, key, targets, taken, spent):
        yield best
        spent.update(id(node) for node in best.child)


def _best_match(
    held: ValueCache,
    choices: Sequence[Choices],
    key: tuple[MeasuredColumn, ...],
    targets: Mapping[int, MeasuredColumn],
    taken: Collection[int],
    spent: Collection[int],
) -> CompositeReference | None:
    """The columns among the choices of a table that stand best for a key.

    Those not ``taken`` by a reference elsewhere win; those ``spent`` on this key are left out.
    """
    left = [[choice for choice in columns if id(choice[1]) not in spent] for columns in choices]
    best: CompositeReference | None = None
    for combination in islice(_combinations(left), _TRIED_A_PAIR):
        nodes = tuple(node for _, node in combination)
        score = sum(alike for alike, _ in combination) / len(combination)
        if probe_tuples(held.connection, nodes, key) < _LEAST_PROBED:
            continue
        inclusion = measure_inclusion(held, nodes, key)
        if inclusion.share < _LEAST_INCLUDED:
            continue
        odds = judge_composite(nodes, key, score, inclusion, targets)
        odds -= _TAKEN * sum(1 for node in nodes if id(node) in taken)
        if best is None or odds > best.log_odds:
            best = CompositeReference(nodes, key, score, inclusion, odds)
    return best if best is not None and best.log_odds >= _ACCEPTED else None


def _combinations(
    choices: Sequence[Choices],
) -> Iterator[tuple[tuple[float, MeasuredColumn], ...]]:
    every = [
        combination
        for combination in product(*(options[:3] for options in choices))
        if len({id(node) for _, node in combination}) == len(combination)
    ]
    every.sort(key=lambda c: (-sum(alike for alike, _ in c), [node.position for _, node in c]))
    yield from every


def judge_composite(
    child: Sequence[MeasuredColumn],
    parent: Sequence[MeasuredColumn],
    score: float,
    inclusion: Inclusion,
    targets: Mapping[int, MeasuredColumn],
) -> float:
    """Weigh a composite reference: names, dirt, chance, and whose the key is."""
    odds = -4.0 + 5.5 * score
    odds -= 25.0 * (1.0 - inclusion.share)
    space = math.prod(max(node.stats.distinct, 1) for node in parent)
    density = min(1.0, inclusion.parent_distinct / space)
    odds += min(3.0, 0.05 * inclusion.distinct_matched * -math.log(max(density, 1e-9)))
    own = [node for node in parent if id(node) not in targets]
    if not own:
        odds -= 0.5
    names = {node.stats.name for node in child}
    entity = child[0].table
    if not _directed(child, parent) and any(set(key) <= names for key in entity.candidates.keys):
        if inclusion.coverage > 0.95:
            odds -= 4.5
        else:
            odds -= 0.5 if score >= _SAME_NAMES else 1.5
    if any(node.comparable == "date" for node in parent):
        odds -= 1.5
    return odds


def _directed(child: Sequence[MeasuredColumn], parent: Sequence[MeasuredColumn]) -> bool:
    """Whether the child's names carry the parent's, so that they tell who refers to whom."""
    return any(
        one.name.bare_squashed == other.name.squashed and other.name.full != other.name.bare
        for one, other in zip(child, parent, strict=True)
        if other.name.bare_squashed != one.name.squashed
    )


def _nearest(found: Sequence[CompositeReference]) -> list[CompositeReference]:
    """Of the parents that one group of columns could have, the most credible."""
    best: dict[frozenset[int], CompositeReference] = {}
    for reference in found:
        group = frozenset(id(node) for node in reference.child)
        if group not in best or reference.log_odds > best[group].log_odds:
            best[group] = reference
    return list(best.values())


def _one_direction(found: Sequence[CompositeReference]) -> list[CompositeReference]:
    pairs = {(id(r.child[0].table), id(r.parent[0].table)): r for r in found}
    kept = []
    for reference in found:
        back = pairs.get((id(reference.parent[0].table), id(reference.child[0].table)))
        if back is not None and (back.log_odds, str(back.child[0])) > (
            reference.log_odds,
            str(reference.child[0]),
        ):
            continue
        kept.append(reference)
    return kept
