"""Which type of fact an event makes: a transaction, a snapshot, or one without measures.

An accumulating snapshot follows a process through its milestones: dates that follow each other, the
later ones open until they're reached. Several dates that are all known once the row is written make
none, such as those of a measurement, nor does the end of what started, unless a status says how far
it has come. Nor does a date that few rows ever get: that's a remark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod

from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import (
    is_category,
    is_date,
    is_planned,
    is_record_stamp,
    is_status,
    tells_rows_apart,
)
from fluid_build.modeling.dimensional.elements import FactType
from fluid_build.modeling.dimensional.judging.date_roles import (
    OPEN_ROWS,
    is_step,
    observed_order,
    period_start,
    validity_start,
)
from fluid_build.modeling.dimensional.judging.reference_graph import AttributeNames, ReferenceGraph
from fluid_build.text import counted

_FEWEST_MEMBERS_A_DAY = 2
"""Rows a day on average that make it a day of measuring. With one, it's just a date."""
_MEASURED_DAYS = 0.2
"""Share of all pairs of a member and a day that must have a row. A snapshot measures each member
over and over; one in five leaves room for members that come and go."""
_MEASURED_COMBINATIONS = 0.1
"""The same of all combinations of a day and members of several sorts, of which many mean nothing:
not every account has figures in every department."""


@dataclass(frozen=True, slots=True)
class SnapshotIdentity:
    """What identifies a row of a snapshot: ``columns``, of which ``date`` is the day."""

    date: str
    columns: AttributeNames


def fact_type(
    graph: ReferenceGraph,
    entity: Entity,
    dates: Sequence[Attribute],
    *,
    identity: SnapshotIdentity | None,
    is_measured: bool,
    is_line: bool,
) -> tuple[FactType, str]:
    """Return the type of an entity's fact, and the sentence that says why.

    ``identity`` says what identifies its rows if it's a snapshot of one day after another.
    """
    if is_measured and identity is not None:
        return "periodic_snapshot", _measured_reason(entity, identity.date)
    milestone = _milestone(graph, entity, dates)
    if milestone:
        return "accumulating_snapshot", milestone
    if not is_measured:
        return "factless", "It has no measures, so its rows are counted."
    if not dates and not is_line and _is_state(graph, entity):
        reason = "None of its own columns is its date, so each row is read as a state."
        return "periodic_snapshot", reason
    return "transaction", "Each row is one event with its measures."


def snapshot_identity(
    graph: ReferenceGraph, entity: Entity, dates: Sequence[Attribute]
) -> SnapshotIdentity | None:
    """Return what identifies a row of a snapshot: the day and the member that it measures.

    Most members have many days. Rows that apply from one day to another record a change, however
    many there are, and what lines refer to is an event, however regularly it happens.
    """
    if graph.children[entity.name]:
        return None
    starts = [validity_start(end, entity) for end in filter(is_date, entity.attributes)]
    for date in dates:
        days = date.evidence.distinct or 0
        if date in starts or (is_record_stamp(date) and not tells_rows_apart(entity, date)):
            continue
        if not days or entity.rows < _FEWEST_MEMBERS_A_DAY * days:
            continue
        for columns in sorted(_identities(graph, entity), key=lambda names: (len(names), names)):
            members = [name for name in columns if name != date.name]
            if date.name in columns and members and _are_measured(graph, entity, members, date):
                return SnapshotIdentity(date.name, columns)
    return None


def _measured_reason(entity: Entity, date: str) -> str:
    evidence = entity.attribute(date).evidence
    about = "" if evidence.exact else "about "
    days = counted(evidence.distinct or 0, "value")
    return f"Its {counted(entity.rows, 'row')} measure members at {about}{days} of {date}."


def _identities(graph: ReferenceGraph, entity: Entity) -> set[AttributeNames]:
    """Return the sets of attributes that identify a row, each in the order of the entity."""
    observed = (
        frozenset(identity.columns)
        for identity in graph.observations.row_identities
        if identity.table == entity.name
    )
    return {
        tuple(a.name for a in entity.attributes if a.name in names)
        for names in (*graph.unique[entity.name], *observed)
    }


def _are_measured(
    graph: ReferenceGraph, entity: Entity, members: Sequence[str], date: Attribute
) -> bool:
    """Return whether columns say whose measures a row has, and each has a row on many days.

    Where the source has another key, rows may be events that never share a day by accident. So a
    fair share of all combinations must occur, and all that the row refers to must be among them:
    figures are of everything that they refer to, while a match is on a day between two teams.
    """
    attributes = [entity.attribute(name) for name in members]
    says_whose = all(
        graph.is_referring(entity.name, attribute.name)
        or (is_category(attribute) and not attribute.pii)
        for attribute in attributes
    )
    days = date.evidence.distinct or 0
    values = [attribute.evidence.distinct or 0 for attribute in attributes]
    if {*members, date.name} == set(graph.keys[entity.name]):
        return says_whose and entity.rows >= _MEASURED_DAYS * days * max(values)
    referring = {name for parent in graph.parents[entity.name] for name in parent.from_attributes}
    is_complete = referring <= {*members, date.name}
    is_dense = entity.rows >= _MEASURED_COMBINATIONS * days * prod(values)
    return says_whose and is_complete and is_dense


def _milestone(graph: ReferenceGraph, entity: Entity, dates: Sequence[Attribute]) -> str:
    """Return which date is filled in when the process reaches it; "" where none is."""
    happened = [date for date in dates if not is_planned(date)]
    # What every row is planned for begins the process, such as the departure of a flight.
    plans = [date for date in dates if is_planned(date) and date.required]
    has_status = any(map(is_status, entity.attributes))
    for earlier, later in [*permutations(happened, 2), *product(plans, happened)]:
        # The start and the end of one thing are how long it lasted, which is no process.
        if period_start(later, entity) == earlier and not has_status:
            continue
        if observed_order(graph, entity.name, earlier.name, later.name) is None:
            is_filled_later = earlier in happened[:1] and _may_be_open(earlier, later)
        else:
            order = observed_order(graph, entity.name, earlier.name, later.name)
            is_filled_later = order is not None and order.earlier == earlier.name and is_step(order)
        if is_filled_later:
            return (
                f"Its {len(dates)} dates are read as milestones: {later.name},"
                f" {_open_rows(later)}, comes after {earlier.name}."
            )
    return ""


def _open_rows(date: Attribute) -> str:
    if not date.evidence.rows:
        return "which may be null"
    return f"null in {date.evidence.nulls:,} of {counted(date.evidence.rows, 'row')}"


def _may_be_open(earlier: Attribute, later: Attribute) -> bool:
    """Return whether a date is null in clearly more rows than another; undecided without rows."""
    if not later.evidence.rows:
        return earlier.required and not later.required
    share = later.evidence.nulls / later.evidence.rows
    return share >= OPEN_ROWS and later.evidence.nulls > 2 * earlier.evidence.nulls


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
