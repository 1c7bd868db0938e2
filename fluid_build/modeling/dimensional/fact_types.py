"""Which kind of fact an event makes: one of its own, a state at a time, or one with milestones."""

from collections.abc import Sequence

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import is_date, is_record_stamp
from fluid_build.modeling.dimensional.elements import FactType
from fluid_build.modeling.dimensional.reference_graph import ReferenceGraph

_MEMBERS_A_DAY = 2
_DENSE = 0.2
_OPEN = 0.005


def fact_type(
    graph: ReferenceGraph,
    entity: Entity,
    dates: Sequence[Attribute],
    *,
    measured: bool,
    is_line: bool,
) -> tuple[FactType, str]:
    """The type of an entity's fact, and the sentence that says why."""
    key = set(graph.keys[entity.name])
    taken_on = next((one for one in dates if _is_dense(graph, entity, one)), None)
    if measured and taken_on is not None:
        return "periodic_snapshot", f"Many are measured at once, on each {taken_on.name}."
    open_ = next((one for one in dates[1:] if _is_reached_later(dates[0], one)), None)
    if open_ is not None:
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


def _is_dense(graph: ReferenceGraph, entity: Entity, taken_on: Attribute) -> bool:
    """Whether a member and the day identify a row, and many members have one for many days."""
    days = taken_on.evidence.distinct or 0
    # What lines refer to is an event, however regularly it comes.
    if graph.children[entity.name] or not days or entity.rows < _MEMBERS_A_DAY * days:
        return False
    referring = {name for one in graph.parents[entity.name] for name in one.from_attributes}
    for key in graph.unique[entity.name]:
        others = key - {taken_on.name}
        if taken_on.name not in key or not others or not others <= referring:
            continue
        members = max(entity.attribute(name).evidence.distinct or 0 for name in others)
        if entity.rows >= _DENSE * days * members:
            return True
    return False


def _is_reached_later(first: Attribute, later: Attribute) -> bool:
    """Whether a date is open in some rows, in more than the first one happens to be."""
    share = later.evidence.nulls / max(1, later.evidence.rows)
    return share >= _OPEN and later.evidence.nulls > 2 * first.evidence.nulls


def _is_state(graph: ReferenceGraph, entity: Entity, key: set[str]) -> bool:
    """Whether a row is named by what it refers to alone, or measures a state."""
    referring = {
        name
        for one in graph.parents[entity.name]
        if graph.entities[one.to_entity].rows <= entity.rows
        for name in one.from_attributes
    }
    if any(one.measure and one.measure.additivity == "semi-additive" for one in entity.attributes):
        return True
    dated = any(is_date(one) and not is_record_stamp(one) for one in entity.attributes)
    return bool(key) and key <= referring and len(key) > 1 and not dated
