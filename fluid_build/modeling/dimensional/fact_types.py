"""Which type of fact an event makes: a transaction, a snapshot, or one without measures."""

from collections.abc import Sequence

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import is_date, is_record_stamp
from fluid_build.modeling.dimensional.elements import FactType
from fluid_build.modeling.dimensional.reference_graph import ReferenceGraph

_FEWEST_MEMBERS_A_DAY = 2
"""Rows a day on average that make it a day of measuring. With one, it's just a date."""
_MEASURED_DAYS = 0.2
"""Share of all pairs of a member and a day that must have a row. A snapshot measures each member
over and over; one in five leaves room for members that come and go."""
_OPEN_ROWS = 0.005
"""Share of rows in which a milestone must still be open, so that a few nulls by accident don't make
one."""


def fact_type(
    graph: ReferenceGraph,
    entity: Entity,
    dates: Sequence[Attribute],
    *,
    is_measured: bool,
    is_line: bool,
) -> tuple[FactType, str]:
    """Return the type of an entity's fact, and the sentence that says why."""
    snapshot_date = next((d for d in dates if _is_snapshot_date(graph, entity, d)), None)
    if is_measured and snapshot_date is not None:
        return "periodic_snapshot", f"Many members have measures for each {snapshot_date.name}."
    milestone = next((date for date in dates[1:] if _is_milestone(dates[0], date)), None)
    if milestone is not None:
        return (
            "accumulating_snapshot",
            f"It has {len(dates)} milestones; {milestone.name} is filled in once it's reached.",
        )
    if len(dates) > 2:
        return "accumulating_snapshot", f"It has {len(dates)} milestones."
    if not is_measured:
        return "factless", "It has no measures, so its rows are counted."
    if not dates and not is_line and _is_state(graph, entity):
        reason = "Each row is a state without a date of its own, so it counts as of load time."
        return "periodic_snapshot", reason
    return "transaction", "Each row is one event with its measures."


def _is_snapshot_date(graph: ReferenceGraph, entity: Entity, date: Attribute) -> bool:
    """Return whether a member and the day identify a row, and most members have many days."""
    days = date.evidence.distinct or 0
    # What lines refer to is an event, however regularly it happens.
    if graph.children[entity.name] or not days or entity.rows < _FEWEST_MEMBERS_A_DAY * days:
        return False
    referring = {name for parent in graph.parents[entity.name] for name in parent.from_attributes}
    for key in graph.unique[entity.name]:
        member_columns = key - {date.name}
        if date.name not in key or not member_columns or not member_columns <= referring:
            continue
        members = max(entity.attribute(name).evidence.distinct or 0 for name in member_columns)
        if entity.rows >= _MEASURED_DAYS * days * members:
            return True
    return False


def _is_milestone(first: Attribute, later: Attribute) -> bool:
    """Return whether a date is still open in some rows, in clearly more than the first one is."""
    share = later.evidence.nulls / max(1, later.evidence.rows)
    return share >= _OPEN_ROWS and later.evidence.nulls > 2 * first.evidence.nulls


def _is_state(graph: ReferenceGraph, entity: Entity) -> bool:
    """Return whether a row measures a level, or is identified by its references alone."""
    if any(
        attribute.measure and attribute.measure.additivity == "semi-additive"
        for attribute in entity.attributes
    ):
        return True
    key = set(graph.keys[entity.name])
    # With fewer rows than its parent, a table hardly holds a state of each member.
    referring = {
        name
        for parent in graph.parents[entity.name]
        if graph.entities[parent.to_entity].rows <= entity.rows
        for name in parent.from_attributes
    }
    is_dated = any(is_date(a) and not is_record_stamp(a) for a in entity.attributes)
    return len(key) > 1 and key <= referring and not is_dated
