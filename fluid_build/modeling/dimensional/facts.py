"""Facts: an event's measures at its own grain, and every dimension it can be looked at by.

A line carries what its header is looked at by, and the header's number; what is measured of the
header stays in the header's own fact, so that nothing is added up twice.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.column_purposes import (
    event_dates,
    is_calendar,
    is_date,
    is_distinctive,
    is_numbering,
    is_planned,
)
from fluid_build.modeling.dimensional.derived_dimensions import Derived, derived_dimensions
from fluid_build.modeling.dimensional.dimensions import StarLayout
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionReference,
    Fact,
    FactAttribute,
    FactDate,
    Join,
    Measure,
)
from fluid_build.modeling.dimensional.fact_types import fact_type
from fluid_build.modeling.dimensional.reference_graph import Names, may_miss
from fluid_build.modeling.dimensional.star_names import free_alias, free_column, prefixed
from fluid_build.modeling.element import SourceColumn

CALENDAR_DAY = "full_date"
_MOST_STEPS = 2
"""Events whose dimensions an event takes over, one behind the other: its header, and that one's."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """The calendar that is generated: the name of the dimension and of its key."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A fact, and the dimensions that are made of its own columns."""

    fact: Fact
    derived: tuple[Derived, ...]


def draw_facts(
    layout: StarLayout, dimensions: Mapping[str, Dimension], calendar: Calendar, taken: set[str]
) -> tuple[Drawn, ...]:
    """The facts in the order of the source; ``taken`` are the names of relations so far."""
    facts = [name for name, role in layout.roles.items() if role.kind == "fact"]
    names = {name: free_column(f"fct_{layout.names.stem(name)}", taken) for name in facts}
    drawing = _Drawing(layout, dimensions, calendar, names, taken)
    return tuple(drawing.drawn(name) for name in facts)


@dataclass
class _Drawing:
    layout: StarLayout
    dimensions: Mapping[str, Dimension]
    calendar: Calendar
    names: Mapping[str, str]
    taken: set[str]
    done: dict[str, Drawn] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)

    def drawn(self, entity: str) -> Drawn:
        """The fact of an entity, after the facts whose dimensions it takes over."""
        if entity not in self.done:
            self.begun.add(entity)
            headers = [
                one
                for one in self.layout.graph.parents[entity]
                if self.layout.roles[one.to_entity].kind == "fact"
                and not one.implied
                and (one.to_entity in self.done or one.to_entity not in self.begun)
            ]
            above = [(one, self.drawn(one.to_entity)) for one in headers]
            self.done[entity] = _Draft(self, self.layout.graph.entities[entity], above).draw()
        return self.done[entity]


@dataclass
class _Draft:
    drawing: _Drawing
    entity: Entity
    headers: list[tuple[Relationship, Drawn]]
    joins: list[Join] = field(default_factory=list)
    references: list[DimensionReference] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    columns_of_keys: dict[str, str] = field(default_factory=dict)

    def draw(self) -> Drawn:
        layout, entity = self.drawing.layout, self.entity
        derived = derived_dimensions(layout, entity, self.drawing.taken)
        self._direct()
        self._derived(derived)
        dates = self._dates()
        self._inherit()
        attributes = tuple(self._attributes(derived))
        measures = tuple(self._measures())
        type_, why = fact_type(
            layout.graph,
            entity,
            dates or self._calendar_days(),
            measured=bool(measures),
            is_line=bool(self.headers),
        )
        return Drawn(
            Fact(
                name=self.drawing.names[entity.name],
                entity_name=entity.name,
                description=entity.description,
                fact_type=type_,
                grain=self._grain(),
                grain_columns=self._grain_columns(attributes),
                joins=tuple(self.joins),
                measures=measures,
                dimensions=tuple(self.references),
                degenerate_dimensions=tuple(
                    one.name for one in attributes if self._is_degenerate(one)
                ),
                attributes=attributes,
                dated_by=self._dated_by(dates),
                mapped_source_tables=tuple(
                    dict.fromkeys((entity.name, *(one.entity for one in self.joins)))
                ),
                source_columns=tuple(
                    SourceColumn(table=entity.name, column=one)
                    for one in layout.graph.keys[entity.name] or _all(entity)
                ),
                reason=f"{layout.roles[entity.name].reason} {why}",
            ),
            derived,
        )

    def _direct(self) -> None:
        """Refer to the dimensions that the event itself refers to."""
        layout = self.drawing.layout
        for one in layout.graph.parents[self.entity.name]:
            if layout.roles[one.to_entity].kind not in {"dimension", "part"}:
                continue
            self.references.append(refer(layout, self.drawing.dimensions, one, self.taken))

    def _derived(self, derived: tuple[Derived, ...]) -> None:
        for one in derived:
            key = free_column(one.dimension.surrogate_key, self.taken)
            self.references.append(
                DimensionReference(
                    dimension=one.dimension.name,
                    columns=one.attributes,
                    key=key,
                    to_columns=one.dimension.natural_key_columns,
                    reason=one.dimension.reason,
                )
            )

    def _dates(self) -> tuple[Attribute, ...]:
        """Refer to the generated calendar by each date, unless the source's own is referred to."""
        if self._has_calendar():
            return ()
        dates = event_dates(self.entity)
        names = self.drawing.layout.names
        for one in dates:
            role = names.moment(self.entity.name, one.name)
            key = free_column(f"{role}_key", self.taken)
            self.references.append(
                DimensionReference(
                    dimension=self.drawing.calendar.name,
                    role=role,
                    columns=(one.name,),
                    optional=not one.required,
                    key=key,
                    to_columns=(CALENDAR_DAY,),
                    reason=f"The day of {one.name}.",
                )
            )
            if one.type == "date":
                self.columns_of_keys[one.name] = key
        return dates

    def _calendar_days(self) -> tuple[Attribute, ...]:
        """The columns by which the event refers to a calendar of the source's own."""
        layout = self.drawing.layout
        return tuple(
            self.entity.attribute(name)
            for one in layout.graph.parents[self.entity.name]
            if is_calendar(layout.graph.entities[one.to_entity])
            for name in one.from_attributes
        )

    def _has_calendar(self) -> bool:
        layout = self.drawing.layout
        return any(
            is_calendar(layout.graph.entities[one.to_entity])
            for one in layout.graph.parents[self.entity.name]
        )

    def _inherit(self) -> None:
        """Take over what the header is looked at by, unless the event has that itself."""
        own = {one.dimension for one in self.references}
        calendars = {
            one.name for one in self.drawing.dimensions.values() if one.dimension_type == "date"
        } | {self.drawing.calendar.name}
        for header, drawn in self.headers:
            wanted = [
                one
                for one in drawn.fact.dimensions
                if one.dimension not in own or one.dimension in calendars
                if len(_way(drawn.fact, one.source)) < _MOST_STEPS
            ]
            if not wanted and not self._dated_by_header(drawn):
                continue
            sources = {step for one in wanted for step in _way(drawn.fact, one.source)}
            places = self._join_header(header, drawn, sources)
            for one in wanted:
                self._take_over(one, header, places)

    def _dated_by_header(self, drawn: Drawn) -> bool:
        own = [one for one in event_dates(self.entity) if not is_planned(one)]
        return drawn.fact.dated_by is not None and not own

    def _join_header(self, header: Relationship, drawn: Drawn, sources: Set[str]) -> dict[str, str]:
        """Join a header with those of its sources; the names of its joins here, by those there."""
        names = self.drawing.layout.names
        places = {"": self._join(names.stem(header.to_entity), header.to_entity, header.name, "")}
        for one in drawn.fact.joins:
            if one.name not in sources:
                continue
            parent = places[one.parent]
            places[one.name] = self._join(one.name, one.entity, one.relationship, parent)
        return places

    def _take_over(
        self, one: DimensionReference, header: Relationship, places: Mapping[str, str]
    ) -> None:
        key = one.key
        if key in self.taken:
            key = prefixed(self.drawing.layout.names.member(header.to_entity), key)
        self.references.append(
            one.model_copy(
                update={
                    "key": free_column(key, self.taken),
                    "source": places[one.source],
                    "optional": one.optional or may_miss(header),
                    "reason": f"Taken over from {header.to_entity}, to which each row belongs.",
                }
            )
        )

    def _join(self, wanted: str, entity: str, relationship: str, parent: str) -> str:
        base = self.drawing.layout.names.sql.table(self.entity.name)
        name = free_alias(wanted, {base, *(one.name for one in self.joins)})
        self.joins.append(Join(name=name, entity=entity, relationship=relationship, parent=parent))
        return name

    def _attributes(self, derived: tuple[Derived, ...]) -> Iterator[FactAttribute]:
        """What is neither measured nor found again in a dimension."""
        in_derived = {name for one in derived for name in one.attributes}
        for one in self.entity.attributes:
            if one.measure is not None or one.name in in_derived:
                continue
            if one.name in self.columns_of_keys:
                continue
            yield self._kept(one)

    def _kept(self, one: Attribute) -> FactAttribute:
        names = self.drawing.layout.names
        return FactAttribute(
            name=free_column(names.column(self.entity.name, one.name), self.taken),
            type=one.type,
            attribute=one.name,
            description=one.description,
            mapped_source_tables=(self.entity.name,),
            source_columns=(SourceColumn(table=self.entity.name, column=one.name),),
            reason=self._why_kept(one),
        )

    def _why_kept(self, one: Attribute) -> str:
        layout = self.drawing.layout
        if one.name in layout.graph.keys[self.entity.name]:
            return "It identifies the event, and there is nothing else to say of it."
        if any(one.name in header.from_attributes for header, _ in self.headers):
            return "The number of the header that it belongs to."
        if layout.graph.is_referring(self.entity.name, one.name):
            return "What it refers by: a value that comes to lead nowhere is not forgotten."
        if is_date(one):
            return "The moment itself, beside its day in the calendar."
        return "It says something of this event alone."

    def _measures(self) -> Iterator[Measure]:
        names = self.drawing.layout.names
        for one in self.entity.attributes:
            if one.measure is None:
                continue
            yield Measure(
                name=free_column(names.column(self.entity.name, one.name), self.taken),
                column=one.name,
                aggregation=one.measure.aggregation,
                additivity=one.measure.additivity,
                description=one.description,
                mapped_source_tables=(self.entity.name,),
                source_columns=(SourceColumn(table=self.entity.name, column=one.name),),
                reason=f"{one.measure.additivity.capitalize()}: {one.measure.reason}.",
            )

    def _is_degenerate(self, kept: FactAttribute) -> bool:
        layout = self.drawing.layout
        one = self.entity.attribute(kept.attribute)
        return (
            one.name in layout.graph.keys[self.entity.name]
            or any(one.name in header.from_attributes for header, _ in self.headers)
            or (is_numbering(one) and is_distinctive(one, self.entity))
        )

    def _grain(self) -> str:
        layout = self.drawing.layout
        member = layout.names.member(self.entity.name).replace("_", " ")
        key = layout.graph.keys[self.entity.name]
        if not key:
            return f"One row for each row of {self.entity.name}; nothing identifies it."
        return f"One row for each {member}: {', '.join(key)}."

    def _grain_columns(self, attributes: tuple[FactAttribute, ...]) -> Names:
        named = {one.attribute: one.name for one in attributes} | self.columns_of_keys
        key = self.drawing.layout.graph.keys[self.entity.name]
        found = tuple(dict.fromkeys(named[one] for one in key if one in named))
        return found if all(one in named for one in key) else ()

    def _dated_by(self, dates: tuple[Attribute, ...]) -> FactDate | None:
        happened = [one for one in dates if not is_planned(one)]
        if happened:
            first = next((one for one in happened if one.required), happened[0])
            return FactDate(attribute=first.name)
        for header, drawn in self.headers:
            joined = [one for one in self.joins if one.relationship == header.name]
            if drawn.fact.dated_by is not None and not drawn.fact.dated_by.source and joined:
                return FactDate(source=joined[0].name, attribute=drawn.fact.dated_by.attribute)
        return FactDate(attribute=dates[0].name) if dates else None


def _all(entity: Entity) -> Names:
    return tuple(one.name for one in entity.attributes)


def refer(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    one: Relationship,
    taken: set[str],
    *,
    by_member: bool = False,
) -> DimensionReference:
    """How the child of a relationship refers to the dimension that its parent belongs to.

    With ``by_member`` to the member whatever its version, else to the version of the day.
    """
    whole = layout.whole(one.to_entity)
    dimension = dimensions[whole]
    wanted = dimension.member_key if by_member else dimension.surrogate_key
    names = layout.names
    role = names.role(one)
    if not role and one.to_entity != whole:
        role = names.member(one.to_entity)
    if not role and _is_one_of_several(layout, one):
        role = names.spoken_role(one, layout.graph.entities[one.from_entity])
    key = prefixed(role, wanted) if role else wanted
    if key in taken:
        role = names.spoken_role(one, layout.graph.entities[one.from_entity])
        key = prefixed(role, wanted)
    return DimensionReference(
        dimension=dimension.name,
        role=role,
        columns=one.from_attributes,
        optional=may_miss(one),
        key=free_column(key, taken),
        to_columns=_columns_in(layout, dimension, one),
        reason=one.reason,
    )


def _is_one_of_several(layout: StarLayout, one: Relationship) -> bool:
    """Whether the child refers to the same dimension by other columns as well."""
    whole = layout.whole(one.to_entity)
    return any(
        other.name != one.name
        and layout.roles[other.to_entity].kind in {"dimension", "part"}
        and layout.whole(other.to_entity) == whole
        for other in layout.graph.parents[one.from_entity]
    )


def _columns_in(layout: StarLayout, dimension: Dimension, one: Relationship) -> Names:
    """The dimension's columns that hold what a relationship points at."""
    named = {one.attribute: one.name for one in dimension.attributes if not one.source}
    return tuple(named[name] for name in layout.in_whole(one))


def _way(fact: Fact, source: str) -> list[str]:
    """The joins that lead from a fact to one of its sources."""
    parents = {one.name: one.parent for one in fact.joins}
    way = []
    while source:
        way.append(source)
        source = parents[source]
    return way
