"""Which kind of fact an event makes: one of its own, a state at a time, or one with milestones."""

from collections.abc import Sequence

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional import FactType
from fluid_build.modeling.star.graph import Graph

_MEMBERS_A_DAY = 2
_DENSE = 0.2


def fact_type(
    graph: Graph, entity: Entity, dates: Sequence[Attribute], *, measured: bool, is_line: bool
) -> tuple[FactType, str]:
    """The type of an entity's fact, and the sentence that says why."""
    key = set(graph.keys[entity.name])
    taken_on = [one for one in dates if one.name in key]
    if measured and taken_on and _is_dense(graph, entity, taken_on[0]):
        return "periodic_snapshot", f"Many are measured at once, on each {taken_on[0].name}."
    if len(dates) > 1 and any(one.evidence.nulls for one in dates[1:]):
        open_ = next(one for one in dates[1:] if one.evidence.nulls)
        return (
            "accumulating_snapshot",
            f"It passes {len(dates)} milestones; {open_.name} is filled when it is reached.",
        )
    if len(dates) > 2:
        return "accumulating_snapshot", f"It passes {len(dates)} milestones."
    if not measured:
        return "factless", "It has no measure: that it happened is what is counted."
    if not dates and not is_line and _is_state(graph, entity, key):
        return "periodic_snapshot", "A state without a date: the one at the time of loading."
    return "transaction", "Each row is one event with its measures."


def _is_dense(graph: Graph, entity: Entity, taken_on: Attribute) -> bool:
    """Whether most members have a row for most of the days."""
    days = taken_on.evidence.distinct or 0
    others = [
        entity.attribute(name).evidence.distinct or 0
        for name in graph.keys[entity.name]
        if name != taken_on.name
    ]
    if not days or not others:
        return False
    members = max(others)
    return entity.rows >= _MEMBERS_A_DAY * days and entity.rows >= _DENSE * days * members


def _is_state(graph: Graph, entity: Entity, key: set[str]) -> bool:
    """Whether a row is named by what it refers to alone, or measures a state."""
    referring = {
        name
        for one in graph.parents[entity.name]
        if graph.entities[one.to_entity].rows <= entity.rows
        for name in one.from_attributes
    }
    if any(one.measure and one.measure.additivity == "semi-additive" for one in entity.attributes):
        return True
    dated = any(
        one.type in {"date"} or one.type.startswith("timestamp") for one in entity.attributes
    )
    return bool(key) and key <= referring and len(key) > 1 and not dated
