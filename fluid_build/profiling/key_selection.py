"""Keys and foreign keys chosen together, then what follows from what."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fluid_build.profiling.candidate_keys import plausibility
from fluid_build.profiling.composite_foreign_keys import (
    CompositeReference,
    find_composite_references,
)
from fluid_build.profiling.foreign_keys import ColumnReference, find_references
from fluid_build.profiling.measured_tables import MeasuredColumn, MeasuredTable
from fluid_build.profiling.primary_keys import (
    CLEAR_COMPOSITE,
    KeyChoice,
    choose_composite,
    choose_single,
)
from fluid_build.profiling.value_cache import ValueCache

_CLEAR_SINGLE = 1.2
_FAIR_SINGLE = 0.6


@dataclass(slots=True)
class SelectedKeys:
    """The outcome: a key a table (by its index), references, and those that others imply."""

    keys: dict[int, KeyChoice] = field(default_factory=dict)
    references: list[ColumnReference] = field(default_factory=list)
    composites: list[CompositeReference] = field(default_factory=list)
    implied: set[int] = field(default_factory=set)

    def is_implied(self, reference: ColumnReference | CompositeReference) -> bool:
        """Whether a reference follows from others."""
        return id(reference) in self.implied


def relate(held: ValueCache, entities: Sequence[MeasuredTable]) -> SelectedKeys:
    """Choose primary keys and foreign keys of a whole schema.

    Keys of one column that are clear by their names come first, for references need parents;
    tables without one get their key once it is known which of their columns refer elsewhere.
    """
    found = SelectedKeys()
    for entity in entities:
        choice = _declared(entity) or choose_single(entity)
        if choice is not None and choice.score >= _CLEAR_SINGLE:
            _settle(found, entity, choice)
    found.references = find_references(held, entities)
    for entity in entities:
        if not entity.primary_key:
            choice = _late_choice(entity, _referring(found, entity))
            if choice is not None:
                _settle(found, entity, choice)
    found.composites = find_composite_references(held, entities, found.references)
    _take_keys_from_references(found)
    found.implied = _implied(found)
    return found


def _declared(entity: MeasuredTable) -> KeyChoice | None:
    key = entity.stats.table.primary_key
    if not key or not set(key) <= set(entity.by_name):
        return None
    return KeyChoice(key, math.inf, "declared by the source")


def _settle(found: SelectedKeys, entity: MeasuredTable, choice: KeyChoice) -> None:
    entity.primary_key = choice.columns
    found.keys[entity.index] = choice


def _late_choice(entity: MeasuredTable, referring: set[str]) -> KeyChoice | None:
    """The better of the best keys of one and of several columns, if it is good enough.

    The only candidate that a table has need not look like a key, just not unlike one.
    """
    single = choose_single(entity)
    composite = choose_composite(entity, referring)
    if len(entity.candidates.keys) == 1:
        only = single or composite
        return only if only is not None and _may_be_key(entity, only) else None
    clear = composite is not None and composite.score >= CLEAR_COMPOSITE
    if composite is not None and clear and (single is None or single.score < composite.score):
        return composite
    return single if single is not None and single.score >= _FAIR_SINGLE else None


def _may_be_key(entity: MeasuredTable, choice: KeyChoice) -> bool:
    return all(plausibility(entity.by_name[name].stats) >= 0.5 for name in choice.columns)


def _take_keys_from_references(found: SelectedKeys) -> None:
    """Prefer, for a table without a declared or single key, the key that is a whole reference.

    A return refers to the sale's line with the very columns that identify the return.
    """
    for composite in found.composites:
        entity = composite.child[0].table
        key = tuple(sorted((n.stats.name for n in composite.child), key=_position(entity)))
        if len(entity.primary_key) < 2 or entity.stats.table.primary_key:
            continue
        if not all(name in _referring(found, entity) for name in entity.primary_key):
            continue
        if key != entity.primary_key and key in entity.candidates.keys:
            old = found.keys[entity.index]
            parent = composite.parent[0].table.name
            _settle(
                found, entity, KeyChoice(key, old.score, f"unique, and refers whole to {parent}")
            )


def _referring(found: SelectedKeys, entity: MeasuredTable) -> set[str]:
    return {r.child.stats.name for r in found.references if r.child.table is entity}


def _position(entity: MeasuredTable) -> Callable[[str], int]:
    return lambda name: entity.by_name[name].position


def _implied(found: SelectedKeys) -> set[int]:
    """References that follow from others.

    One does if its column is part of a composite reference whose matching key column refers to the
    same key; or if it leads to an attribute of a table that another column already refers to.
    """
    implied: set[int] = set()
    direct = {id(r.child): r for r in found.references}
    for composite in found.composites:
        for child, member in zip(composite.child, composite.parent, strict=True):
            single = direct.get(id(child))
            onward = direct.get(id(member))
            if single is None:
                continue
            if (onward is not None and onward.parent is single.parent) or _through_composite(
                found, member, single.parent
            ):
                implied.add(id(single))
    implied.update(id(c) for c in found.composites if _composite_implied(c, found))
    for reference in found.references:
        if _copies_attribute(reference, found.references):
            implied.add(id(reference))
    return implied


def _through_composite(found: SelectedKeys, member: MeasuredColumn, target: MeasuredColumn) -> bool:
    """Whether a key's column reaches ``target`` along composite references."""
    for composite in found.composites:
        for child, parent in zip(composite.child, composite.parent, strict=True):
            if child is member and (
                parent is target
                or any(r.child is parent and r.parent is target for r in found.references)
                or (parent.table is not member.table and _through_composite(found, parent, target))
            ):
                return True
    return False


def _composite_implied(composite: CompositeReference, found: SelectedKeys) -> bool:
    """Whether a wider composite reference, followed by another, says the same."""
    pairs = dict(zip(map(id, composite.child), composite.parent, strict=True))
    for first in found.composites:
        if first is composite or first.child[0].table is not composite.child[0].table:
            continue
        step = {id(c): p for c, p in zip(first.child, first.parent, strict=True)}
        if not set(pairs) <= set(step):
            continue
        for second in found.composites:
            if second.child[0].table is not first.parent[0].table:
                continue
            onward = {id(c): p for c, p in zip(second.child, second.parent, strict=True)}
            if all(onward.get(id(step[child])) is parent for child, parent in pairs.items()):
                return True
    return False


def _copies_attribute(reference: ColumnReference, references: Sequence[ColumnReference]) -> bool:
    """Whether a reference goes to another column of a table whose key the child holds already."""
    key = reference.parent.table.primary_key
    if key == (reference.parent.stats.name,):
        return False
    return any(
        other is not reference
        and other.child.table is reference.child.table
        and other.parent.table is reference.parent.table
        and key == (other.parent.stats.name,)
        for other in references
    )
