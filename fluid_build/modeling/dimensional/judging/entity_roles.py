"""What each entity is in a star: an event to count, a dimension to count by, or a bridge.

The references decide first (who refers to whom, and how many rows depend on one), then what the
columns hold (dates, numbers that add up, names), and never a name alone.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import (
    has_few_values,
    is_category,
    is_creation,
    is_date,
    is_descriptive,
    is_flag,
    is_person,
    is_record_stamp,
    is_share,
    is_weak_measure,
)
from fluid_build.modeling.dimensional.judging.date_roles import validity_start
from fluid_build.modeling.dimensional.judging.event_rules import (
    describes,
    dimension_reason,
    event_reason,
)
from fluid_build.modeling.dimensional.judging.reference_graph import (
    ReferenceGraph,
    bridge_ends,
    is_filled,
    is_mandatory,
)
from fluid_build.modeling.element import Alternative
from fluid_build.text import listed

EntityRoleKind = Literal["fact", "dimension", "bridge", "part"]
_ENDS_OF_BRIDGE = 2
_FEWEST_ROWS_OF_PART = 20
"""Rows in which an undeclared reference must be unique to make a part. In fewer, many are."""


@dataclass(frozen=True, slots=True)
class EntityRole:
    """What an entity is in a star, and the sentence that says why.

    A ``part`` belongs to the dimension of ``whole``, row by row, by the reference ``by``. The
    neighbours of an entity don't change a role that ``is_decided``.
    """

    kind: EntityRoleKind
    reason: str
    whole: str = ""
    by: str = ""
    is_decided: bool = False
    alternatives: tuple[Alternative, ...] = ()


_FEWEST_SISTERS = 3
"""Tables that refer to the same entities from which on most of them decide for the others."""
EntityRoles = Mapping[str, EntityRole]
_NOTHING_DECIDED: EntityRoles = {}


def judged_roles(graph: ReferenceGraph, decided: EntityRoles = _NOTHING_DECIDED) -> EntityRoles:
    """Return the role of every entity: the decided one, or else our judgement.

    Each entity is judged by its own columns and neighbours first. Then the roles of the neighbours
    may change it.
    """
    roles = _roles(graph, decided)
    if not any(role.kind == "fact" for role in roles.values()):
        _make_most_measured_fact(graph, roles)
    return roles


def judged_events(graph: ReferenceGraph) -> frozenset[str]:
    """Return the entities that record events, which none does where nothing looks like one."""
    roles = _roles(graph, _NOTHING_DECIDED)
    return frozenset(name for name, role in roles.items() if role.kind == "fact")


def _roles(graph: ReferenceGraph, decided: EntityRoles) -> dict[str, EntityRole]:
    roles = {
        name: decided.get(name) or _first_role(graph, entity)
        for name, entity in graph.entities.items()
    }
    _agree_with_sisters(graph, roles)
    _break_circles_of_parts(roles)
    _make_details_of_events_facts(graph, roles)
    _separate_parts(graph, roles)
    _make_parts_of_events_facts(roles)
    return roles


def _first_role(graph: ReferenceGraph, entity: Entity) -> EntityRole:
    """Return the role by the entity's own columns and neighbours."""
    # A calendar may refer to periods and lists, and is neither a pair of them nor an event.
    if entity.name in graph.calendars and graph.keys[entity.name]:
        return EntityRole("dimension", dimension_reason(graph, entity))
    closure = _closure_reason(graph, entity)
    if closure:
        return EntityRole("bridge", closure)
    if not graph.keys[entity.name]:
        return EntityRole("fact", "No key identifies its rows, so no table can refer to them.")
    has_key = entity.primary_key is not None and entity.primary_key.holds
    is_referred_to = bool(graph.children[entity.name])
    if graph.has_data and not (entity.rows or has_key or is_referred_to):
        return EntityRole(
            "dimension", "It has no rows and no key, so nothing shows that it records events."
        )
    shares = _sharing_reason(graph, entity)
    if shares:
        return EntityRole("bridge", shares)
    if _is_bridge(graph, entity):
        return EntityRole("bridge", "It only links rows of two entities, many to many.")
    totals = next((a for a in graph.observations.aggregates if a.table == entity.name), None)
    if totals is not None and not is_referred_to:
        # Nearly all: what is a total in every row isn't built.
        return EntityRole("fact", f"Nearly all of its rows are totals of {totals.summed}.")
    part = _reference_to_whole(graph, entity)
    if part is not None:
        reason = f"Each row belongs to one row of {part.to_entity} and extends it."
        return EntityRole("part", reason, whole=part.to_entity, by=part.name)
    event = event_reason(graph, entity)
    if event:
        return EntityRole("fact", event)
    return EntityRole("dimension", dimension_reason(graph, entity))


def _closure_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity is a bridge over the levels of a hierarchy; "" where it isn't."""
    closure = next((c for c in graph.observations.closures if c.table == entity.name), None)
    if closure is None or len(graph.direct_parents(entity.name)) != _ENDS_OF_BRIDGE:
        return ""
    hierarchy = f"{closure.members}.{closure.parent}" if closure.parent else closure.members
    return (
        f"It pairs each {closure.descendant} with every {closure.ancestor} above it: all"
        f" {closure.rows:,} rows are the closure of the hierarchy {hierarchy}."
    )


def _sharing_reason(graph: ReferenceGraph, entity: Entity) -> str:
    """Return why an entity is a bridge that shares its members out; "" where it isn't.

    Percentages of an employee's cost by cost center weight what is counted of the employee. Since
    when they hold is no event, but anything else that the row measures is.
    """
    shares = next((s for s in graph.observations.whole_shares if s.table == entity.name), None)
    ends = bridge_ends(graph, entity.name)
    if shares is None or len(ends) != _ENDS_OF_BRIDGE or graph.children[entity.name]:
        return ""
    columns = {name for end in ends for name in end.from_attributes}
    besides = [a for a in entity.attributes if a.name not in {*columns, shares.share}]
    is_of_ends = columns <= {*graph.keys[entity.name]} and all(map(is_mandatory, ends))
    if not is_of_ends or not all(is_date(a) or _adds_little(graph, entity, a) for a in besides):
        return ""
    matches = f"{shares.matches:,} of " if shares.matches < shares.parents else "all "
    return (
        f"It shares out each {listed(list(shares.columns))}: {shares.share} adds up to"
        f" {shares.whole} in {matches}{shares.parents:,} with several rows."
    )


def _is_bridge(graph: ReferenceGraph, entity: Entity) -> bool:
    """Return whether an entity is made of two references, and of little else.

    (film, actor) is; (film, actor, fee, day) happened, and (film, customer, day) with a number too.
    """
    references = graph.direct_parents(entity.name)
    if len(references) != _ENDS_OF_BRIDGE or graph.children[entity.name]:
        return False
    ends = {column for reference in references for column in reference.from_attributes}
    if len(ends) != sum(len(reference.from_attributes) for reference in references):
        return False
    if not all(map(is_filled, references)):
        return False
    key = set(graph.keys[entity.name])
    row_number = key if len(key) == 1 and not key & ends else set()
    # An association of a pair is timeless; each row with a number and a date happened once.
    if (row_number and graph.event_dates(entity)) or _is_act(graph, entity, references):
        return False
    besides = [a for a in entity.attributes if a.name not in ends | row_number]
    # Rows of one entity may be related in several ways, and a rule for a pair isn't an event.
    is_loop = len({reference.to_entity for reference in references}) == 1
    return (is_loop or key <= ends | row_number) and all(
        _adds_little(graph, entity, a) or (is_loop and _qualifies(entity, a, key)) for a in besides
    )


def _is_act(graph: ReferenceGraph, entity: Entity, references: Sequence[Relationship]) -> bool:
    """Return whether a pair came about when a person did something: a reaction, a subscription.

    It says when, and no row is ever changed. Where rows say when they were changed too, a framework
    stamps all tables alike.
    """
    stamps = [a for a in entity.attributes if is_date(a)]
    is_once = [is_creation(stamp) and stamp.evidence.distinct != 1 for stamp in stamps] == [True]
    return is_once and any(is_person(graph.entities[r.to_entity]) for r in references)


def _qualifies(entity: Entity, attribute: Attribute, key: Set[str]) -> bool:
    """Return whether an attribute says how two rows of one entity are related, or how long.

    Each kind of relation is in the key: one term maps to another, and is a part of it too.
    """
    if is_date(attribute):
        dates = filter(is_date, entity.attributes)
        periods = ((validity_start(end, entity), end) for end in dates)
        return any(start is not None and attribute in (start, end) for start, end in periods)
    return _is_rule(attribute) or (attribute.name in key and is_category(attribute))


def _is_rule(attribute: Attribute) -> bool:
    """Return whether an attribute is a measure that can't be added up, such as a least time."""
    measure = attribute.measure
    return measure is not None and measure.additivity == "non-additive"


def _adds_little(graph: ReferenceGraph, entity: Entity, attribute: Attribute) -> bool:
    """Return whether an attribute may come along with a bridge: a flag, a rank, a share."""
    if is_record_stamp(attribute) or is_flag(attribute) or has_few_values(attribute):
        return True
    bounds = graph.bounds[entity.name, attribute.name]
    return is_weak_measure(attribute, *bounds) or is_share(attribute, *bounds)


def _reference_to_whole(graph: ReferenceGraph, entity: Entity) -> Relationship | None:
    """Return the reference by which every row belongs to just one row of another entity."""
    key = frozenset(graph.keys[entity.name])
    if _relates_several(graph, entity):
        return None
    for reference in graph.direct_parents(entity.name):
        if not is_mandatory(reference):
            continue
        if frozenset(reference.from_attributes) == key and not _is_whole(graph, reference):
            return reference
        # Each store has one row of opening hours, with a number of its own that says nothing.
        if (
            not graph.children[entity.name]
            and len(graph.parents[entity.name]) == 1
            and entity.rows >= _FEWEST_ROWS_OF_PART
            and graph.is_unique(entity.name, reference.from_attributes)
            and not graph.event_dates(entity)
            and not any(attribute.measure for attribute in entity.attributes)
        ):
            return reference
    return None


def _relates_several(graph: ReferenceGraph, entity: Entity) -> bool:
    """Return whether an entity only relates or dates others, though its key is one reference.

    In few rows, each value of a reference may occur just once by accident.
    """
    if len(graph.direct_parents(entity.name)) < 2:
        return False
    has_content = any(
        a.measure is not None or (describes(graph, entity, a) and not has_few_values(a))
        for a in entity.attributes
    )
    return bool(graph.event_dates(entity)) or not has_content


def _is_whole(graph: ReferenceGraph, reference: Relationship) -> bool:
    """Return whether the child is the whole of two entities that are parts of each other.

    The one with more rows is: it has rows that the other one says nothing about.
    """
    is_mutual = any(
        back.to_entity == reference.from_entity
        and frozenset(back.from_attributes) == frozenset(graph.keys[reference.to_entity])
        for back in graph.parents[reference.to_entity]
    )
    child, parent = graph.entities[reference.from_entity], graph.entities[reference.to_entity]
    return is_mutual and (child.rows, child.name) >= (parent.rows, parent.name)


def _agree_with_sisters(graph: ReferenceGraph, roles: dict[str, EntityRole]) -> None:
    """Make a dated table a fact where most tables that refer to the same entities are.

    Diagnoses, treatments and allergies are of a patient, a code and a visit: a short list of them
    isn't something else because its texts happen to be unique.
    """
    sisters: dict[tuple[str, ...], list[str]] = {}
    for name, entity in graph.entities.items():
        references = [r for r in graph.direct_parents(name) if is_filled(r)]
        targets = tuple(sorted(reference.to_entity for reference in references))
        if len(set(targets)) > 1 and graph.event_dates(entity) and not graph.children[name]:
            sisters.setdefault(targets, []).append(name)
    for targets, names in sisters.items():
        facts = [name for name in names if roles[name].kind == "fact"]
        if len(names) < _FEWEST_SISTERS or 2 * len(facts) <= len(names):
            continue
        reason = f"It has a date and refers to {listed(list(targets))}, as {listed(facts)} do."
        for name in names:
            if roles[name].kind == "dimension" and not roles[name].is_decided:
                roles[name] = EntityRole("fact", reason)


def _break_circles_of_parts(roles: dict[str, EntityRole]) -> None:
    """Make what we'd judge a part of its own parts a dimension, where those were decided.

    Somebody merged the customers into the persons that we'd have made a part of the customers.
    """
    for name, role in roles.items():
        path = [name]
        while roles[path[-1]].kind == "part" and roles[path[-1]].whole not in path:
            path.append(roles[path[-1]].whole)
        if roles[path[-1]].kind == "part" and not role.is_decided:
            roles[name] = EntityRole("dimension", "Other tables are merged into it.")


def _make_details_of_events_facts(graph: ReferenceGraph, roles: dict[str, EntityRole]) -> None:
    """Make what refers to an event, and only events refer to, an event itself."""
    has_changed = True
    while has_changed:
        has_changed = False
        for name, role in roles.items():
            if (
                role.is_decided
                or role.kind == "fact"
                or name in graph.calendars
                or (role.kind == "bridge" and not _relates_events(graph, roles, name))
            ):
                continue
            event = next(_parent_events(graph, roles, name), None)
            if event is None or not _is_detail_only(graph, roles, name):
                continue
            roles[name] = EntityRole("fact", f"It adds details to {event}, which records events.")
            has_changed = True


def _parent_events(graph: ReferenceGraph, roles: EntityRoles, name: str) -> Iterator[str]:
    for parent in graph.direct_parents(name):
        if is_filled(parent) and roles[parent.to_entity].kind == "fact":
            yield parent.to_entity


def _relates_events(graph: ReferenceGraph, roles: EntityRoles, name: str) -> bool:
    """Return whether a bridge is between events, or numbers its rows as lines of an event.

    Which payment settles which invoice is a detail of both; which actor is in which film isn't.
    """
    is_numbered = not any(graph.is_referring(name, column) for column in graph.keys[name])
    return is_numbered or all(
        roles[parent.to_entity].kind == "fact" for parent in graph.direct_parents(name)
    )


def _is_detail_only(graph: ReferenceGraph, roles: EntityRoles, name: str) -> bool:
    if roles[name].kind == "part" and roles[roles[name].whole].kind == "fact":
        return True
    return not graph.children[name]


def _separate_parts(graph: ReferenceGraph, roles: dict[str, EntityRole]) -> None:
    """Make a part that others refer to a dimension where its whole can't stand for it."""
    for name, role in list(roles.items()):
        if role.kind != "part" or role.is_decided or not graph.children[name]:
            continue
        by = frozenset(graph.relationship(role.by).from_attributes)
        if any(frozenset(child.to_attributes) != by for child in graph.children[name]):
            roles[name] = EntityRole("dimension", "Other tables refer to it by its own key.")
        elif not any(
            is_descriptive(attribute) and attribute.name not in graph.keys[role.whole]
            for attribute in graph.entities[role.whole].attributes
        ) or not any(
            roles[c.from_entity].kind in {"fact", "bridge"} for c in graph.children[role.whole]
        ):
            reason = f"It's a subtype of {role.whole}, but other tables refer to it directly."
            roles[name] = EntityRole("dimension", reason)


def _make_parts_of_events_facts(roles: dict[str, EntityRole]) -> None:
    for name, role in list(roles.items()):
        whole = role.whole
        while whole and roles[whole].kind == "part":
            whole = roles[whole].whole
        if role.kind == "part" and roles[whole].kind != "dimension":
            reason = f"Each row extends one row of {whole}, which records events."
            roles[name] = EntityRole("fact", reason)


def _make_most_measured_fact(graph: ReferenceGraph, roles: dict[str, EntityRole]) -> None:
    """Make the table that measures most a fact, where no table looks like an event.

    A single table of passengers with their fares is there to be analysed.
    """
    candidates = [
        (sum(a.measure is not None for a in entity.attributes), entity.rows, name)
        for name, entity in graph.entities.items()
        if not graph.children[name]
        and name not in graph.calendars
        and roles[name].kind == "dimension"
        and not roles[name].is_decided
    ]
    measures, _, name = max(candidates, default=(0, 0, ""))
    if measures:
        reason = f"No table looks like an event, and this one has the most measures ({measures})."
        roles[name] = EntityRole("fact", reason)
