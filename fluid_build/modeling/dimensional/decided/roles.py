"""The roles that decisions give to tables of a star, as far as a star can carry them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fluid_build.decisions.language import Classify, Merge, Role
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import ConceptualModel, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import is_date
from fluid_build.modeling.dimensional.dimensions.merges import merge_obstacle, merge_reference
from fluid_build.modeling.dimensional.judging.entity_roles import (
    EntityRole,
    EntityRoleKind,
    EntityRoles,
    judged_roles,
)
from fluid_build.modeling.dimensional.judging.reference_graph import AttributeNames, ReferenceGraph
from fluid_build.modeling.element import Alternative
from fluid_build.text import counted

KINDS: Mapping[Role, EntityRoleKind] = {
    "fact": "fact",
    "dimension": "dimension",
    "bridge": "bridge",
    "date": "dimension",
}
"""What an entity with a decided role is in a star. The roles of a vault aren't among them."""
_ENDS_OF_BRIDGE = 2
_PHRASES: Mapping[EntityRoleKind, str] = {
    "fact": "a fact",
    "dimension": "a dimension",
    "bridge": "a bridge",
    "part": "a part of another dimension",
}
_FIRST_WORDS = frozenset({"Each", "It", "It's", "Its", "No", "Other"})
"""Words that reasons begin with, apart from names."""


def with_decided_calendars(
    graph: ReferenceGraph, decisions: Mapping[str, Classify]
) -> ReferenceGraph:
    """Return the graph with the calendars that were decided, and without those decided against."""
    events = {name for name, d in decisions.items() if d.role in {"fact", "bridge"}}
    decided = {
        name
        for name, decision in decisions.items()
        if decision.role == "date" and name in graph.entities and not _obstacle(graph, decision)
    }
    return replace(graph, calendars=graph.calendars - events | decided)


def roles_as_decided(
    graph: ReferenceGraph,
    conceptual: ConceptualModel,
    decisions: Mapping[str, Classify],
    merges: Sequence[Merge] = (),
) -> EntityRoles:
    """Return the role of every entity: the decided one where a star can carry it, else ours."""
    suggested = judged_roles(graph)
    decided = _merged_roles(graph, conceptual, merges, suggested)
    decided |= {
        name: _role(decision, suggested[name])
        for name, decision in decisions.items()
        if name in graph.entities and decision.role in KINDS and not _obstacle(graph, decision)
    }
    # Only the roles of its neighbours show whether the ends of a bridge have a key, and whether
    # what a table is merged into is a dimension. Each round refuses one decision at least.
    while True:
        roles = judged_roles(graph, decided) if decided else suggested
        broken = {name for name, role in decided.items() if _is_broken(graph, roles, name, role)}
        if not broken:
            return roles
        decided = {name: role for name, role in decided.items() if name not in broken}


def _is_broken(graph: ReferenceGraph, roles: EntityRoles, name: str, role: EntityRole) -> bool:
    ends = graph.direct_parents(name) if role.kind == "bridge" else ()
    return roles[name].kind != role.kind or any(
        roles[end.to_entity].kind == "bridge" for end in ends
    )


def _merged_roles(
    graph: ReferenceGraph,
    conceptual: ConceptualModel,
    merges: Sequence[Merge],
    suggested: EntityRoles,
) -> dict[str, EntityRole]:
    """Return the tables that merges make parts of others. No table becomes a part of itself."""
    roles: dict[str, EntityRole] = {}
    for merge in merges:
        reference = merge_reference(conceptual, merge)
        is_built = merge.table in graph.entities and merge.into_table in graph.entities
        if reference is None or not is_built or merge_obstacle(conceptual, merge):
            continue
        whole = merge.into_table
        while whole in roles:
            whole = roles[whole].whole
        if whole != merge.table:
            roles[merge.table] = _merged_role(merge, reference, suggested[merge.table])
    return roles


def _merged_role(merge: Merge, reference: Relationship, suggested: EntityRole) -> EntityRole:
    reason = f"{decided_reason(merge)} Each row belongs to one row of {merge.into_table}."
    lost = Alternative(choice=_PHRASES[suggested.kind], reason=_clause(suggested.reason))
    return EntityRole(
        "part",
        reason,
        whole=merge.into_table,
        by=reference.name,
        is_decided=True,
        alternatives=() if suggested.kind == "part" else (lost,),
    )


def obstacle(
    entity: Entity,
    role: Role,
    key: AttributeNames,
    parents: Sequence[Relationship],
    children: Sequence[Relationship],
) -> str:
    """Return why a star can't give an entity a role; "" where it can.

    ``parents`` are the entity's references to others, ``children`` those of others to it.
    """
    if role in {"dimension", "date"} and not key:
        rows = counted(entity.rows, "row")
        return f"`{entity.name}` can't be a dimension: no key identifies its {rows}."
    if role == "date":
        dates = [attribute for attribute in entity.attributes if is_date(attribute)]
        if not dates:
            return f"`{entity.name}` can't be a calendar: it has no column of dates."
        nearest = max(dates, key=lambda date: date.evidence.distinct or 0)
        # A calendar may have a row for "no date".
        days, dated = nearest.evidence.distinct or 0, entity.rows - min(nearest.evidence.nulls, 1)
        if days >= dated:
            return ""
        return (
            f"`{entity.name}` can't be a calendar: `{nearest.name}` has {counted(days, 'value')} in"
            f" {counted(dated, 'row')}, and each day of a calendar is there once."
        )
    if role == "bridge" and len(parents) != _ENDS_OF_BRIDGE:
        references = counted(len(parents), "reference")
        return (
            f"`{entity.name}` can't be a bridge: it has {references} to other tables, and a bridge"
            " has two."
        )
    if role == "bridge" and children:
        child = children[0].from_entity
        return f"`{entity.name}` can't be a bridge: `{child}` refers to it."
    return ""


def _obstacle(graph: ReferenceGraph, decision: Classify) -> str:
    name = decision.table
    parents, children = graph.direct_parents(name), graph.children[name]
    return obstacle(graph.entities[name], decision.role, graph.keys[name], parents, children)


def _role(decision: Classify, suggested: EntityRole) -> EntityRole:
    """Return a decided role; what we'd have chosen is its alternative."""
    kind, reason = KINDS[decision.role], decided_reason(decision)
    if kind == suggested.kind:
        return EntityRole(kind, f"{reason} {suggested.reason}", is_decided=True)
    lost = Alternative(choice=_PHRASES[suggested.kind], reason=_clause(suggested.reason))
    return EntityRole(kind, reason, is_decided=True, alternatives=(lost,))


def _clause(sentence: str) -> str:
    first, _, remainder = sentence.rstrip(".").partition(" ")
    return f"{first.lower() if first in _FIRST_WORDS else first} {remainder}"
