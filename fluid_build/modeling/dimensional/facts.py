"""Facts: an event's measures at its own grain, and every dimension that it can be grouped by.

A line also gets its header's dimensions and the header's number. The header's measures stay in the
header's own fact, since a line would add them up once per line.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.calendar import CALENDAR_DAY, GeneratedCalendar
from fluid_build.modeling.dimensional.column_purposes import event_dates, is_calendar, is_planned
from fluid_build.modeling.dimensional.derived_dimensions import (
    DerivedDimension,
    derived_dimensions,
)
from fluid_build.modeling.dimensional.dimension_references import reference_to_version
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionReference,
    Fact,
    FactDate,
    Join,
)
from fluid_build.modeling.dimensional.fact_columns import FactColumns
from fluid_build.modeling.dimensional.fact_types import fact_type
from fluid_build.modeling.dimensional.reference_graph import is_mandatory
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_alias, free_column, prefixed
from fluid_build.modeling.element import source_columns

_MOST_HEADERS = 2
"""Headers, one behind the other, whose dimensions a fact takes over: its own, and that one's. What
is further away has little to do with the event."""


@dataclass(frozen=True, slots=True)
class DescribedFact:
    """A fact, and the dimensions that are made of its own columns."""

    fact: Fact
    derived: tuple[DerivedDimension, ...]


def describe_facts(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    calendar: GeneratedCalendar,
    used_relations: set[str],
) -> tuple[DescribedFact, ...]:
    """Return the facts in the order of the source; ``dimensions`` are by entity."""
    facts = [name for name, role in layout.roles.items() if role.kind == "fact"]
    names = {name: free_column(f"fct_{layout.names.stem(name)}", used_relations) for name in facts}
    context = _FactContext(layout, dimensions, calendar, names, used_relations)
    return tuple(context.fact(name) for name in facts)


@dataclass
class _FactContext:
    """What all facts are made with, and those that have been made."""

    layout: StarLayout
    dimensions: Mapping[str, Dimension]
    calendar: GeneratedCalendar
    names: Mapping[str, str]
    used_relations: set[str]
    facts: dict[str, DescribedFact] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)

    def fact(self, entity: str) -> DescribedFact:
        """Return the fact of an entity, after the facts whose dimensions it takes over."""
        if entity not in self.facts:
            self.begun.add(entity)
            # Events that refer to each other in a circle: one that has begun can't be a header.
            references = [
                parent
                for parent in self.layout.graph.direct_parents(entity)
                if self.layout.roles[parent.to_entity].kind == "fact"
                and (parent.to_entity in self.facts or parent.to_entity not in self.begun)
            ]
            headers = [(reference, self.fact(reference.to_entity)) for reference in references]
            builder = _FactBuilder(self, self.layout.graph.entities[entity], headers)
            self.facts[entity] = builder.build()
        return self.facts[entity]


@dataclass
class _FactBuilder:
    """One fact in the making, with the names that are used in it."""

    context: _FactContext
    entity: Entity
    headers: list[tuple[Relationship, DescribedFact]]
    joins: list[Join] = field(default_factory=list)
    references: list[DimensionReference] = field(default_factory=list)
    used_columns: set[str] = field(default_factory=set)
    date_keys: dict[str, str] = field(default_factory=dict)
    """The calendar's key by date attribute: the day is the whole of it."""

    def build(self) -> DescribedFact:
        """Return the fact, with the dimensions of its own columns."""
        layout, entity = self.context.layout, self.entity
        derived = derived_dimensions(layout, entity, self.context.used_relations)
        self._refer_to_own_dimensions()
        self._refer_to_derived(derived)
        dates = self._refer_to_calendar()
        self._take_over_from_headers()
        in_derived = {name for dimension in derived for name in dimension.attributes}
        return DescribedFact(self._fact(dates, in_derived), derived)

    def _fact(self, dates: tuple[Attribute, ...], in_derived: Set[str]) -> Fact:
        """Return the fact itself, once all of its dimensions are known."""
        layout, entity = self.context.layout, self.entity
        header_columns = {name for header, _ in self.headers for name in header.from_attributes}
        columns = FactColumns(layout, entity, header_columns, self.used_columns)
        attributes = tuple(columns.attributes(in_derived | self.date_keys.keys()))
        measures = tuple(columns.measures())
        type_, type_reason = fact_type(
            layout.graph,
            entity,
            dates or self._source_calendar_columns(),
            is_measured=bool(measures),
            is_line=bool(self.headers),
        )
        return Fact(
            name=self.context.names[entity.name],
            entity_name=entity.name,
            description=entity.description,
            fact_type=type_,
            grain=columns.grain(),
            grain_columns=columns.grain_columns(
                {attribute.attribute: attribute.name for attribute in attributes} | self.date_keys
            ),
            joins=tuple(self.joins),
            measures=measures,
            dimensions=tuple(self.references),
            degenerate_dimensions=tuple(a.name for a in attributes if columns.is_degenerate(a)),
            attributes=attributes,
            dated_by=self._dated_by(dates),
            mapped_source_tables=tuple(
                dict.fromkeys((entity.name, *(join.entity for join in self.joins)))
            ),
            source_columns=source_columns(
                entity.name,
                layout.graph.keys[entity.name] or tuple(a.name for a in entity.attributes),
            ),
            reason=f"{layout.roles[entity.name].reason} {type_reason}",
        )

    def _refer_to_own_dimensions(self) -> None:
        layout, dimensions = self.context.layout, self.context.dimensions
        for parent in layout.graph.parents[self.entity.name]:
            if layout.roles[parent.to_entity].kind in {"dimension", "part"}:
                self.references.append(
                    reference_to_version(layout, dimensions, parent, self.used_columns)
                )

    def _refer_to_derived(self, derived: tuple[DerivedDimension, ...]) -> None:
        for own in derived:
            self.references.append(
                DimensionReference(
                    dimension=own.dimension.name,
                    columns=own.attributes,
                    key=free_column(own.dimension.surrogate_key, self.used_columns),
                    to_columns=own.dimension.natural_key_columns,
                    reason=own.dimension.reason,
                )
            )

    def _refer_to_calendar(self) -> tuple[Attribute, ...]:
        """Refer to the generated calendar by each date, and return the dates.

        Where the event refers to a calendar of the source, that one is used and no date returned.
        """
        if self._source_calendar_columns():
            return ()
        dates = event_dates(self.entity)
        for date in dates:
            role = self.context.layout.names.date_role(self.entity.name, date.name)
            key = free_column(f"{role}_key", self.used_columns)
            self.references.append(
                DimensionReference(
                    dimension=self.context.calendar.name,
                    role=role,
                    columns=(date.name,),
                    optional=not date.required,
                    key=key,
                    to_columns=(CALENDAR_DAY,),
                    reason=f"The {_day_of(date)} of {date.name}.",
                )
            )
            if date.type == "date":
                self.date_keys[date.name] = key
        return dates

    def _source_calendar_columns(self) -> tuple[Attribute, ...]:
        """Return the columns by which the event refers to a calendar of the source."""
        graph = self.context.layout.graph
        return tuple(
            self.entity.attribute(name)
            for parent in graph.parents[self.entity.name]
            if is_calendar(graph.entities[parent.to_entity])
            for name in parent.from_attributes
        )

    def _take_over_from_headers(self) -> None:
        """Take over the dimensions of headers, except for those that the event has itself.

        Calendars are taken over in any case: the date of the header is another date.
        """
        own = {reference.dimension for reference in self.references}
        calendars = {
            d.name for d in self.context.dimensions.values() if d.dimension_type == "date"
        } | {self.context.calendar.name}
        for header, described in self.headers:
            references = [
                reference
                for reference in described.fact.dimensions
                if reference.dimension not in own or reference.dimension in calendars
                if len(_join_path(described.fact, reference.source)) < _MOST_HEADERS
            ]
            if not references and not self._is_dated_by_header(described.fact):
                continue
            sources = {join for r in references for join in _join_path(described.fact, r.source)}
            aliases = self._join_header(header, described.fact, sources)
            for reference in references:
                self._take_over(reference, header, aliases)

    def _is_dated_by_header(self, header: Fact) -> bool:
        own_dates = [date for date in event_dates(self.entity) if not is_planned(date)]
        return header.dated_by is not None and not own_dates

    def _join_header(
        self, reference: Relationship, header: Fact, sources: Set[str]
    ) -> dict[str, str]:
        """Join a header with those of its sources; return the joins here by the header's joins."""
        names = self.context.layout.names
        alias = names.stem(reference.to_entity)
        aliases = {"": self._add_join(alias, reference.to_entity, reference.name, parent="")}
        for join in header.joins:
            if join.name in sources:
                parent = aliases[join.parent]
                aliases[join.name] = self._add_join(
                    join.name, join.entity, join.relationship, parent=parent
                )
        return aliases

    def _take_over(
        self, reference: DimensionReference, header: Relationship, aliases: Mapping[str, str]
    ) -> None:
        key = reference.key
        if key in self.used_columns:
            key = prefixed(self.context.layout.names.member(header.to_entity), key)
        self.references.append(
            reference.model_copy(
                update={
                    "key": free_column(key, self.used_columns),
                    "source": aliases[reference.source],
                    "optional": reference.optional or not is_mandatory(header),
                    "reason": f"Inherited from {header.to_entity}: each row belongs to one there.",
                }
            )
        )

    def _add_join(self, alias: str, entity: str, relationship: str, *, parent: str) -> str:
        """Join an entity and return the name of the join."""
        own_table = self.context.layout.names.sql.table(self.entity.name)
        name = free_alias(alias, {own_table, *(join.name for join in self.joins)})
        self.joins.append(Join(name=name, entity=entity, relationship=relationship, parent=parent))
        return name

    def _dated_by(self, dates: tuple[Attribute, ...]) -> FactDate | None:
        """Return the date that says which version of a member an event meets.

        The first that isn't planned and never null, else the first that isn't planned, else the
        header's, else a planned one.
        """
        actual = [date for date in dates if not is_planned(date)]
        if actual:
            first = next((date for date in actual if date.required), actual[0])
            return FactDate(attribute=first.name)
        for header, described in self.headers:
            joins = [join for join in self.joins if join.relationship == header.name]
            header_date = described.fact.dated_by
            if header_date is not None and not header_date.source and joins:
                return FactDate(source=joins[0].name, attribute=header_date.attribute)
        return FactDate(attribute=dates[0].name) if dates else None


def _join_path(fact: Fact, source: str) -> list[str]:
    """Return the joins that lead from a fact to one of its sources, the last one first."""
    parents = {join.name: join.parent for join in fact.joins}
    path = []
    while source:
        path.append(source)
        source = parents[source]
    return path


def _day_of(date: Attribute) -> str:
    """Return what a date names: a day, or the first day of a month (``202401``)."""
    is_month = date.conversion is not None and date.conversion.format.lower().endswith("%m")
    return "month's first day" if is_month else "day"
