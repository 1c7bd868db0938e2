"""What each entity is in a star: an event to count, a thing to count by, or a tie between two.

The graph decides first (who refers to whom, and how many rows lean on one), then what the columns
hold (dates, numbers that add up, names), and never a name alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    has_few_values,
    is_calendar,
    is_date,
    is_descriptive,
    is_distinctive,
    is_flag,
    is_naming,
    is_own_name,
    is_record_stamp,
    is_weak_measure,
)
from fluid_build.modeling.dimensional.reference_graph import ReferenceGraph, is_filled, is_mandatory
from fluid_build.profiling.profile import Profile
from fluid_build.text import listed

RoleKind = Literal["fact", "dimension", "bridge", "part"]
_MOST_LINES = 50
"""Rows that refer to one row of a header, on average: beyond that it is a thing that is used."""
_ROWS_TO_MERGE = 20


@dataclass(frozen=True, slots=True)
class EntityRole:
    """What an entity is, and the sentence that says why.

    A ``part`` belongs to the dimension of ``whole``, row by row, by the reference ``by``.
    """

    kind: RoleKind
    reason: str
    whole: str = ""
    by: str = ""


EntityRoles = Mapping[str, EntityRole]


def entity_roles(graph: ReferenceGraph, profile: Profile) -> EntityRoles:
    """The role of every entity."""
    judge = _Judge(graph, profile)
    roles = {name: judge.first_view(entity) for name, entity in graph.entities.items()}
    _follow_facts(graph, roles)
    _settle_parts(graph, roles)
    if not any(role.kind == "fact" for role in roles.values()):
        _promote(graph, roles)
    return roles


@dataclass(frozen=True, slots=True)
class _Judge:
    graph: ReferenceGraph
    profile: Profile

    def first_view(self, entity: Entity) -> EntityRole:
        """The role by the entity's own columns and neighbours."""
        if not self.graph.keys[entity.name]:
            return EntityRole(
                "fact", "Nothing identifies its rows, so that nothing can refer to one."
            )
        if self._is_blank(entity):
            return EntityRole(
                "dimension", "It holds neither a row nor a key, so nothing shows an event."
            )
        if self._is_tie(entity):
            return EntityRole("bridge", "It only ties rows of two entities together, many to many.")
        part = self._part_of(entity)
        if part is not None:
            reason = f"Each row belongs to one of {part.to_entity}: it only says more about it."
            return EntityRole("part", reason, whole=part.to_entity, by=part.name)
        event = self._event(entity)
        if event:
            return EntityRole("fact", event)
        return EntityRole("dimension", self._thing(entity))

    def _is_blank(self, entity: Entity) -> bool:
        is_keyed = entity.primary_key is not None and entity.primary_key.holds
        is_referred_to = bool(self.graph.children[entity.name])
        return self.profile.has_data and not (entity.rows or is_keyed or is_referred_to)

    def _is_tie(self, entity: Entity) -> bool:
        references = [one for one in self.graph.parents[entity.name] if not one.implied]
        if len(references) != 2 or self.graph.children[entity.name]:
            return False
        ends = {column for one in references for column in one.from_attributes}
        if len(ends) != sum(len(one.from_attributes) for one in references):
            return False
        if not all(is_filled(one) for one in references):
            return False
        key = self.graph.keys[entity.name]
        own_number = set(key) if len(key) == 1 and not set(key) & ends else set()
        rest = [one for one in entity.attributes if one.name not in ends | own_number]
        return set(key) <= ends | own_number and all(self._adds_little(entity, one) for one in rest)

    def _adds_little(self, entity: Entity, attribute: Attribute) -> bool:
        if is_record_stamp(attribute) or is_flag(attribute) or has_few_values(attribute):
            return True
        return is_weak_measure(attribute, *self._bounds(entity, attribute))

    def _part_of(self, entity: Entity) -> Relationship | None:
        """The reference by which every row belongs to just one row of another entity."""
        key = frozenset(self.graph.keys[entity.name])
        if self._brings_together(entity):
            return None
        for one in self.graph.parents[entity.name]:
            if not is_mandatory(one) or one.implied:
                continue
            if frozenset(one.from_attributes) == key and not self._mutual(one):
                return one
            if self._is_undeclared_part(entity, one):
                return one
        return None

    def _brings_together(self, entity: Entity) -> bool:
        """Whether an entity is made of references, or dates them, though its key is one of them.

        In few rows each value of a reference may happen to occur but once.
        """
        if len([one for one in self.graph.parents[entity.name] if not one.implied]) < 2:
            return False
        says_more = any(
            one.measure is not None or (self._describes(entity, one) and not has_few_values(one))
            for one in entity.attributes
        )
        return bool(event_dates(entity)) or not says_more

    def _is_undeclared_part(self, entity: Entity, one: Relationship) -> bool:
        alone = not self.graph.children[entity.name] and len(self.graph.parents[entity.name]) == 1
        return (
            alone
            and entity.rows >= _ROWS_TO_MERGE
            and self.graph.is_unique(entity.name, one.from_attributes)
            and not event_dates(entity)
            and not any(attribute.measure for attribute in entity.attributes)
        )

    def _mutual(self, one: Relationship) -> bool:
        """Whether two entities are a part of each other; the one with more rows is the whole."""
        back = [
            other
            for other in self.graph.parents[one.to_entity]
            if other.to_entity == one.from_entity
            and frozenset(other.from_attributes) == frozenset(self.graph.keys[one.to_entity])
        ]
        if not back:
            return False
        child, parent = self.graph.entities[one.from_entity], self.graph.entities[one.to_entity]
        return (child.rows, child.name) >= (parent.rows, parent.name)

    def _event(self, entity: Entity) -> str:
        parents = [one for one in self.graph.parents[entity.name] if not one.implied]
        if not parents and not self.graph.children[entity.name]:
            return self._lonely_event(entity)
        if self._names_itself(entity) or is_calendar(entity):
            return ""
        if self.graph.children[entity.name]:
            return self._header(entity, parents)
        return self._leaf(entity, parents)

    def _lonely_event(self, entity: Entity) -> str:
        dates, strong = event_dates(entity), self._additive(entity)
        if dates and strong and not self._names_itself(entity):
            return f"It measures ({strong[0].name}) what happened on a date ({dates[0].name})."
        named = any(is_naming(one) and is_distinctive(one, entity) for one in entity.attributes)
        if strong and not named:
            return f"It measures {strong[0].name}, and names no thing."
        if len(self.graph.keys[entity.name]) > 1 and not named:
            return "Several columns together identify a row, and none of them names a thing."
        return ""

    def _header(self, entity: Entity, parents: list[Relationship]) -> str:
        """Why an entity that others refer to is an event all the same: a header of lines."""
        if self._lines(entity) > _MOST_LINES:
            return ""
        dates, strong = event_dates(entity), self._additive(entity)
        if dates and strong and not parents:
            return f"It is dated ({dates[0].name}) and measured ({strong[0].name})."
        firm = [one for one in parents if is_filled(one)]
        if not firm:
            return ""
        days = [one for one in parents if is_calendar(self.graph.entities[one.to_entity])]
        if days and strong:
            return f"It is dated by {_listed(days)} and measured ({strong[0].name})."
        named = any(is_naming(one) and is_distinctive(one, entity) for one in entity.attributes)
        if dates and (strong or not named):
            return (
                f"It is dated ({dates[0].name}), refers to {_listed(firm)}, and at most "
                f"{_MOST_LINES} rows on average refer to one of its rows: an event with lines."
            )
        bare = not any(self._describes(entity, one) for one in entity.attributes)
        whole = len({one.to_entity for one in parents}) > 1 and all(map(is_mandatory, parents))
        if whole and (strong or bare) and not named:
            return f"It brings {_listed(firm)} together and says little else."
        return ""

    def _leaf(self, entity: Entity, parents: list[Relationship]) -> str:
        firm = [one for one in parents if is_filled(one)]
        if not firm:
            return ""
        dates = event_dates(entity)
        measured = [one for one in entity.attributes if one.measure is not None]
        if dates:
            return f"Nothing refers to it; it is dated ({dates[0].name}) and has {_listed(firm)}."
        named = any(is_naming(one) and is_distinctive(one, entity) for one in entity.attributes)
        if measured and not named:
            return f"Nothing refers to it, and it measures {measured[0].name} by {_listed(firm)}."
        if len({one.to_entity for one in firm}) > 1 and not named:
            return f"Nothing refers to it, and it brings {_listed(firm)} together."
        if len(self.graph.keys[entity.name]) > 1:
            return f"Nothing refers to it, and {_listed(firm)} is but a part of what identifies it."
        return ""

    def _thing(self, entity: Entity) -> str:
        children = {one.from_entity for one in self.graph.children[entity.name]}
        if is_calendar(entity):
            return "Each row is a day: a calendar."
        if children:
            return (
                f"{_listed_names(children)} refer to it."
                if len(children) > 1
                else (f"{_listed_names(children)} refers to it.")
            )
        return "It describes things, and neither dates nor measures what happens."

    def _names_itself(self, entity: Entity) -> bool:
        # An event may well hold the address that somebody wrote from.
        dated = bool(event_dates(entity))
        return any(
            is_own_name(one, entity)
            and is_distinctive(one, entity)
            and not (dated and one.semantic_type == "email")
            for one in entity.attributes
        )

    def _describes(self, entity: Entity, attribute: Attribute) -> bool:
        if not is_descriptive(attribute) or is_date(attribute):
            return False
        if self.graph.is_referring(entity.name, attribute.name):
            return False
        return attribute.name not in self.graph.keys[entity.name]

    def _lines(self, entity: Entity) -> float:
        children = [
            self.graph.entities[one.from_entity].rows for one in self.graph.children[entity.name]
        ]
        return max(children) / entity.rows if entity.rows else 0.0

    def _additive(self, entity: Entity) -> list[Attribute]:
        return [
            one
            for one in entity.attributes
            if one.measure is not None
            and one.measure.additivity != "non-additive"
            and not is_weak_measure(one, *self._bounds(entity, one))
        ] + [
            one
            for one in entity.attributes
            if one.measure is not None
            and one.measure.additivity == "additive"
            and is_weak_measure(one, *self._bounds(entity, one))
        ]

    def _bounds(self, entity: Entity, attribute: Attribute) -> tuple[float, float]:
        column = self.profile.table(entity.name).column(attribute.name)
        try:
            return float(column.min or "nan"), float(column.max or "nan")
        except ValueError:
            return float("nan"), float("nan")


def _follow_facts(graph: ReferenceGraph, roles: dict[str, EntityRole]) -> None:
    """Whatever tells of an event, and is referred to by events alone, is an event itself."""
    changed = True
    while changed:
        changed = False
        for name, role in roles.items():
            if role.kind == "fact" or (
                role.kind == "bridge" and not _ties_facts(graph, roles, name)
            ):
                continue
            event = next(_told_events(graph, roles, name), None)
            if event is None or not _is_told_of_by_events_alone(graph, roles, name):
                continue
            roles[name] = EntityRole("fact", f"It tells of {event}, which is an event itself.")
            changed = True


def _told_events(graph: ReferenceGraph, roles: EntityRoles, name: str) -> Iterator[str]:
    for one in graph.parents[name]:
        if is_filled(one) and not one.implied and roles[one.to_entity].kind == "fact":
            yield one.to_entity


def _ties_facts(graph: ReferenceGraph, roles: EntityRoles, name: str) -> bool:
    """Whether a tie is between events, or numbers its rows as the lines of an event."""
    ends = [one for one in graph.parents[name] if not one.implied]
    numbered = not any(graph.is_referring(name, column) for column in graph.keys[name])
    return numbered or all(roles[one.to_entity].kind == "fact" for one in ends)


def _is_told_of_by_events_alone(graph: ReferenceGraph, roles: EntityRoles, name: str) -> bool:
    if roles[name].kind == "part" and roles[roles[name].whole].kind == "fact":
        return True
    return not graph.children[name]


def _settle_parts(graph: ReferenceGraph, roles: dict[str, EntityRole]) -> None:
    """A part that others refer to stands alone where its whole is nothing by itself."""
    for name, role in list(roles.items()):
        if role.kind != "part":
            continue
        if not graph.children[name]:
            continue
        by = frozenset(graph.relationship(role.by).from_attributes)
        if any(frozenset(one.to_attributes) != by for one in graph.children[name]):
            roles[name] = EntityRole("dimension", "Others refer to it by a number of its own.")
            continue
        if _is_abstract(graph, role.whole) or not _is_used(graph, roles, role.whole):
            roles[name] = EntityRole(
                "dimension",
                f"Others refer to it and not to {role.whole}, of which it is one kind.",
            )
    for name, role in list(roles.items()):
        whole = role.whole
        while whole and roles[whole].kind == "part":
            whole = roles[whole].whole
        if role.kind == "part" and roles[whole].kind != "dimension":
            roles[name] = EntityRole("fact", f"Each row says more about one of {whole}, an event.")


def _is_abstract(graph: ReferenceGraph, name: str) -> bool:
    """Whether an entity says nothing of its own but a number."""
    return not any(
        is_descriptive(one) and one.name not in graph.keys[name]
        for one in graph.entities[name].attributes
    )


def _is_used(graph: ReferenceGraph, roles: EntityRoles, name: str) -> bool:
    return any(roles[one.from_entity].kind in {"fact", "bridge"} for one in graph.children[name])


def _promote(graph: ReferenceGraph, roles: dict[str, EntityRole]) -> None:
    """Where nothing looks like an event: the table that measures most, and nothing refers to."""
    measured = [
        (sum(one.measure is not None for one in entity.attributes), entity.rows, name)
        for name, entity in graph.entities.items()
        if not graph.children[name] and roles[name].kind == "dimension"
    ]
    count, _, name = max(measured, default=(0, 0, ""))
    if count:
        roles[name] = EntityRole(
            "fact", f"Nothing here is dated or counted; of all tables it measures most ({count})."
        )


def _listed(references: list[Relationship]) -> str:
    return _listed_names({one.to_entity for one in references})


def _listed_names(names: set[str]) -> str:
    return listed(sorted(names))
