"""Facts: an event's measures at its own grain, and every dimension that it can be grouped by.

A line also gets its header's dimensions and the header's number. The header's measures stay in the
header's own fact, since a line would add them up once per line.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from fluid_build.decisions.model_decisions import NO_DECISIONS, ModelDecisions
from fluid_build.modeling.conceptual import Attribute, Entity, Relationship
from fluid_build.modeling.dimensional.calendars.calendar import CALENDAR_DAY, GeneratedCalendar
from fluid_build.modeling.dimensional.calendars.conformed_dates import (
    ConformedDate,
    conformed_date,
    days_of_event,
)
from fluid_build.modeling.dimensional.calendars.time_of_day import (
    TIME_OF_DAY,
    reason_for_time,
)
from fluid_build.modeling.dimensional.column_purposes import (
    calendar_day,
    is_date,
    is_month,
)
from fluid_build.modeling.dimensional.dimensions.derived_dimensions import (
    DerivedDimension,
    derived_dimensions,
    split_dimensions,
)
from fluid_build.modeling.dimensional.dimensions.handed_on import HandedOn, handed_on, own_date
from fluid_build.modeling.dimensional.dimensions.references import reference_to_version
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionReference,
    Fact,
    FactAttribute,
    FactDate,
    Join,
)
from fluid_build.modeling.dimensional.facts.event_date_choice import (
    DateCandidate,
    DateChoice,
    choose_event_date,
    dates_by_fact,
    of_header,
    own_candidates,
)
from fluid_build.modeling.dimensional.facts.fact_columns import FactColumns
from fluid_build.modeling.dimensional.facts.grain import (
    StatedGrain,
    believable_grain,
    decided_grain,
)
from fluid_build.modeling.dimensional.facts.headers import (
    HeaderColumns,
    join_path,
    reference_taken_over,
    with_telling_roles,
    within_reach,
)
from fluid_build.modeling.dimensional.facts.types import (
    SnapshotIdentity,
    fact_type,
    snapshot_identity,
)
from fluid_build.modeling.dimensional.judging.date_roles import DateRoles, date_roles
from fluid_build.modeling.dimensional.judging.reference_graph import AttributeNames
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_alias, free_column, prefixed
from fluid_build.modeling.element import source_columns


@dataclass(frozen=True, slots=True)
class DescribedFact:
    """A fact, the dimensions that are made of its own columns, and why it has its date."""

    fact: Fact
    derived: tuple[DerivedDimension, ...]
    date: DateChoice | None


def describe_facts(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    calendar: GeneratedCalendar,
    used_relations: set[str],
    event_dates: Mapping[str, str],
    decisions: ModelDecisions = NO_DECISIONS,
) -> tuple[DescribedFact, ...]:
    """Return the facts in the order of the source; ``dimensions`` are by entity.

    ``event_dates`` are the dates that a user chose, by entity. ``decisions`` say what a row of a
    fact is, and which of its columns make a dimension. Raise UsageError where one of them
    isn't of a fact or isn't a date of it.
    """
    facts = [name for name, role in layout.roles.items() if role.kind == "fact"]
    event_dates = dates_by_fact(layout.graph, facts, event_dates)
    names = {name: free_column(f"fct_{layout.names.stem(name)}", used_relations) for name in facts}
    context = _FactContext(
        layout, dimensions, calendar, names, used_relations, event_dates, decisions
    )
    return tuple(context.fact(name) for name in facts)


@dataclass
class _FactContext:
    """What all facts are made with, and those that have been made."""

    layout: StarLayout
    dimensions: Mapping[str, Dimension]
    calendar: GeneratedCalendar
    names: Mapping[str, str]
    used_relations: set[str]
    event_dates: Mapping[str, str]
    decisions: ModelDecisions
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
                if self._is_header(parent.to_entity)
                and (parent.to_entity in self.facts or parent.to_entity not in self.begun)
            ]
            headers = [(reference, self.fact(reference.to_entity)) for reference in references]
            described = self.layout.graph.entities[entity]
            roles = (
                date_roles(self.layout.graph, described)
                if self.layout.roles[entity].kind == "fact"
                else DateRoles(tuple(filter(None, [own_date(described)])))
            )
            self.facts[entity] = _FactBuilder(self, described, headers, roles).build()
        return self.facts[entity]

    def _is_header(self, entity: str) -> bool:
        """Return whether facts take over the references of an entity, or some of them."""
        is_fact = self.layout.roles[entity].kind == "fact"
        return is_fact or self.handed_on(entity) != "nothing"

    def handed_on(self, entity: str) -> HandedOn:
        """Return what the dimension of an entity hands on to facts; nothing where it's a fact."""
        return handed_on(self.layout.graph, self.layout.roles, entity)


@dataclass
class _FactBuilder:
    """One fact in the making, with the names that are used in it."""

    context: _FactContext
    entity: Entity
    headers: list[tuple[Relationship, DescribedFact]]
    roles: DateRoles
    joins: list[Join] = field(default_factory=list)
    references: list[DimensionReference] = field(default_factory=list)
    used_columns: set[str] = field(default_factory=set)
    date_keys: dict[str, str] = field(default_factory=dict)
    """The calendar's key by date attribute: the day is the whole of it."""

    def build(self) -> DescribedFact:
        """Return the fact, with the dimensions of its own columns."""
        layout, entity = self.context.layout, self.entity
        is_fact = layout.roles[entity.name].kind == "fact"
        identity = self._snapshot_identity()
        derived = self._derived_dimensions(identity) if is_fact else ()
        if self.context.handed_on(entity.name) != "date":
            self._refer_to_own_dimensions()
        self._refer_to_derived(derived)
        self._refer_to_calendar()
        date = choose_event_date(
            list(self._date_candidates()), self.context.event_dates.get(entity.name), entity.name
        )
        if date is not None and identity is None:
            self._refer_to_time_of_day(date.candidate)
        aliases = self._take_over_from_headers(date)
        self._name_roles()
        dated_by = self._event_date(date, aliases) if date else None
        in_derived = {name for dimension in derived for name in dimension.attributes}
        fact = self._fact(dated_by, identity, in_derived)
        return DescribedFact(self._with_header_columns(fact, aliases), derived, date)

    def _derived_dimensions(
        self, identity: SnapshotIdentity | None
    ) -> tuple[DerivedDimension, ...]:
        """Return the dimensions of the event's own columns: first the decided ones, then ours."""
        decision = self.context.decisions.grains.get(self.entity.name)
        in_grain = (
            *(identity.columns if identity else ()),
            *(decision.columns if decision else ()),
        )
        layout, used_relations = self.context.layout, self.context.used_relations
        splits = [s for s in self.context.decisions.splits if s.table == self.entity.name]
        decided = split_dimensions(layout, self.entity, splits, used_relations, in_grain)
        in_decided = {name for dimension in decided for name in dimension.attributes}
        elsewhere = (*in_grain, *in_decided)
        return (*decided, *derived_dimensions(layout, self.entity, used_relations, elsewhere))

    def _grain(self, identity: SnapshotIdentity | None, own_date: str | None) -> StatedGrain:
        """Return what identifies a row: what was decided, what a snapshot measures, or the key."""
        own = (
            StatedGrain(identity.columns)
            if identity
            else believable_grain(self.context.layout.graph, self.entity, own_date)
        )
        decision = self.context.decisions.grains.get(self.entity.name)
        return decided_grain(decision, self.entity.rows, own) if decision else own

    def _snapshot_identity(self) -> SnapshotIdentity | None:
        """Return what identifies a row if the fact measures its members day by day."""
        if not any(attribute.measure for attribute in self.entity.attributes):
            return None
        return snapshot_identity(self.context.layout.graph, self.entity, self._days())

    def _fact(
        self, dated_by: FactDate | None, identity: SnapshotIdentity | None, in_derived: Set[str]
    ) -> Fact:
        """Return the fact itself, once all of its dimensions are known."""
        layout, entity = self.context.layout, self.entity
        headers = [h for h, _ in self.headers if layout.roles[h.to_entity].kind == "fact"]
        header_columns = {name for header in headers for name in header.from_attributes}
        of_headers = tuple(layout.graph.entities[header.to_entity] for header in headers)
        columns = FactColumns(layout, entity, of_headers, header_columns, self.used_columns)
        attributes = tuple(
            self._with_reason_of_date(attribute)
            for attribute in columns.attributes(in_derived | self.date_keys.keys())
        )
        measures = tuple(columns.measures(in_derived))
        own_date = dated_by.attribute if dated_by and not dated_by.source else None
        grain = self._grain(identity, own_date)
        type_, type_reason = fact_type(
            layout.graph,
            entity,
            self._days(),
            identity=identity,
            is_measured=bool(measures),
            is_line=bool(headers),
        )
        return Fact(
            name=self.context.names.get(entity.name, ""),
            entity_name=entity.name,
            description=entity.description,
            fact_type=type_,
            grain=columns.grain(grain),
            grain_columns=columns.grain_columns(
                grain.identifying,
                {measure.column: measure.name for measure in measures}
                | {attribute.attribute: attribute.name for attribute in attributes}
                | self.date_keys,
            ),
            joins=tuple(self.joins),
            measures=measures,
            dimensions=tuple(self.references),
            degenerate_dimensions=tuple(a.name for a in attributes if columns.is_degenerate(a)),
            attributes=attributes,
            dated_by=dated_by,
            mapped_source_tables=tuple(
                dict.fromkeys((entity.name, *(join.entity for join in self.joins)))
            ),
            source_columns=source_columns(
                entity.name,
                layout.graph.keys[entity.name] or tuple(a.name for a in entity.attributes),
            ),
            reason=f"{layout.roles[entity.name].reason} {type_reason}",
            alternatives=layout.roles[entity.name].alternatives,
        )

    def _refer_to_own_dimensions(self) -> None:
        layout, dimensions = self.context.layout, self.context.dimensions
        for parent in layout.graph.parents[self.entity.name]:
            is_date_with_role = parent.to_entity in layout.graph.calendars and any(
                parent.from_attributes == (date.name,) for date in self.roles.dates
            )
            is_dimension = layout.roles[parent.to_entity].kind in {"dimension", "part"}
            if is_dimension and not is_date_with_role:
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

    def _refer_to_calendar(self) -> None:
        """Refer to a calendar in each role that a date of the event has.

        It's the source's own where that has every day of the date, or else the generated one.
        Where keys lead to a calendar of the source, what that doesn't cover has no role.
        """
        graph = self.context.layout.graph
        days = self._days()
        by_key = not all(map(is_date, days))
        for date in days:
            conformed = conformed_date(graph, self.entity, date)
            if conformed is not None and conformed.calendar not in self.context.dimensions:
                conformed = None
            if not is_date(date) or (by_key and conformed is None):
                continue
            reference = self._reference_to_day(date, conformed)
            self.references.append(reference)
            if conformed is None and date.type == "date":
                self.date_keys[date.name] = reference.key

    def _reference_to_day(
        self, date: Attribute, conformed: ConformedDate | None
    ) -> DimensionReference:
        """Return how the event refers to a day: in the calendar that it conforms to, or ours."""
        role = self.context.layout.names.date_role(self.entity, date.name)
        calendar, day = self.context.calendar.name, CALENDAR_DAY
        reason = f"The {_day_of(date)} of {date.name}."
        if conformed is not None:
            dimension = self.context.dimensions[conformed.calendar]
            calendar = dimension.name
            day = next(
                column.name
                for column in dimension.attributes
                if not column.source and column.attribute == conformed.day
            )
            reason = f"{reason} {conformed.reason}".rstrip()
        return DimensionReference(
            dimension=calendar,
            role=role,
            columns=(date.name,),
            optional=not date.required,
            key=free_column(f"{role}_key", self.used_columns),
            to_columns=(day,),
            reason=reason,
        )

    def _refer_to_time_of_day(self, date: DateCandidate) -> None:
        """Refer to the time of the event beside its day, where times say something.

        The other dates of a row say how far it has come, and nobody groups them by hour.
        """
        times = next(
            (
                times
                for times in self.context.layout.graph.observations.times_of_day
                if (times.table, times.column) == (self.entity.name, date.attribute)
            ),
            None,
        )
        if times is None or date.header is not None or date.calendar is not None:
            return
        day = self.context.layout.names.date_role(self.entity, date.attribute)
        role = "_".join((*day.removesuffix("date").strip("_").split("_"), "time")).strip("_")
        places = [n for n, r in enumerate(self.references, 1) if r.columns == (date.attribute,)]
        self.references.insert(
            places[0] if places else len(self.references),
            DimensionReference(
                dimension=self.context.calendar.times,
                role=role,
                columns=(date.attribute,),
                optional=not self.entity.attribute(date.attribute).required,
                key=free_column(f"{role}_key", self.used_columns),
                to_columns=(TIME_OF_DAY,),
                reason=reason_for_time(times),
            ),
        )

    def _days(self) -> tuple[Attribute, ...]:
        """Return what says on which days the event happened: keys of calendars, and its dates."""
        return days_of_event(self.context.layout.graph, self.entity, self.roles.dates)

    def _with_reason_of_date(self, attribute: FactAttribute) -> FactAttribute:
        """Return the attribute, with why it has no role in the calendar if it's a date."""
        reason = self.roles.reasons.get(attribute.attribute)
        return attribute.model_copy(update={"reason": reason}) if reason else attribute

    def _date_candidates(self) -> Iterator[DateCandidate]:
        """Return what the event may be dated by: its own dates, then those of headers."""
        for candidate in own_candidates(self.context.layout.graph, self.entity, self.roles):
            yield candidate if self._is_line() else replace(candidate, is_about_record=False)
        key = self.context.layout.graph.keys[self.entity.name]
        for header, described in self.headers:
            if described.date is not None:
                yield of_header(described.date.candidate, header, key)

    def _is_line(self) -> bool:
        """Return whether rows are written with a header: there are more of them than of it.

        What comes at most once for each, such as the charge of an invoice, happens by itself, when
        its record is written.
        """
        entities = self.context.layout.graph.entities
        return not self.headers or any(
            self.entity.rows > entities[header.to_entity].rows for header, _ in self.headers
        )

    def _event_date(self, choice: DateChoice, aliases: Mapping[str, dict[str, str]]) -> FactDate:
        """Return the chosen date, with the join that leads to it.

        ``aliases`` has, by header, the joins here by the header's joins.
        """
        chosen, layout = choice.candidate, self.context.layout
        source, attribute = "", chosen.attribute
        if chosen.header is not None:
            of_header = self.context.fact(chosen.header.to_entity).fact.dated_by
            assert of_header is not None, "only a header with a date is a candidate"
            source = aliases[chosen.header.name][of_header.source]
            attribute = of_header.attribute
        elif chosen.calendar is not None:
            calendar = layout.graph.entities[chosen.calendar.to_entity]
            day = calendar_day(calendar)
            assert day is not None, "only a calendar with a day is a candidate"
            alias = prefixed(layout.names.role(chosen.calendar), layout.names.stem(calendar.name))
            source = self._add_join(alias, calendar.name, chosen.calendar.name, parent="")
            attribute = day.name
        return FactDate(
            source=source,
            attribute=attribute,
            reason=choice.reason,
            alternatives=choice.alternatives,
        )

    def _take_over_from_headers(self, date: DateChoice | None) -> dict[str, dict[str, str]]:
        """Take over the dimensions of headers, except for those that the event has itself.

        A calendar is taken over in any case: the date of the header is another date. An event with
        a date of its own takes over only the date of the header's event, not what else the header
        went through. Return by header the joins here by the header's joins.
        """
        layout = self.context.layout
        own = {reference.dimension for reference in self.references}
        is_dated = date is not None and not (date.candidate.header or date.candidate.is_planned)
        calendars = self._calendars()
        reach = within_reach(layout.graph, [(h, described.fact) for h, described in self.headers])
        joined: dict[str, dict[str, str]] = {}
        for header, described in self.headers:
            fact, of_header = described.fact, HeaderColumns(layout, header, described.fact)
            references = [
                reference
                for reference in fact.dimensions
                if reference.source in reach[header.name]
                if (
                    not is_dated or self._is_event_date(fact, reference)
                    if reference.dimension in calendars
                    else reference.dimension not in own
                )
            ]
            sources = {join for r in references for join in join_path(fact, r.source)}
            if fact.dated_by is not None and date is not None and date.candidate.header is header:
                sources.update(join_path(fact, fact.dated_by.source))
            elif not references and not of_header.attributes():
                continue
            aliases = joined[header.name] = self._join_header(header, fact, sources)
            for reference in references:
                self.references.append(
                    reference_taken_over(
                        layout,
                        reference,
                        header,
                        aliases[reference.source],
                        self.references,
                        self.used_columns,
                    )
                )
        return joined

    def _is_event_date(self, fact: Fact, reference: DimensionReference) -> bool:
        """Return whether a fact refers to the day of its event by a reference to a calendar."""
        dated = fact.dated_by
        if dated is None:
            return False
        join = next((join for join in fact.joins if join.name == dated.source), None)
        source = dated.source
        columns: AttributeNames = (dated.attribute,)
        if join is not None and join.entity in self.context.layout.graph.calendars:
            relationship = self.context.layout.graph.relationship(join.relationship)
            source, columns = join.parent, relationship.from_attributes
        return (reference.source, reference.columns) == (source, columns)

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

    def _calendars(self) -> set[str]:
        """Return the dimensions of days, and that of the times of a day."""
        of_source = {d.name for d in self.context.dimensions.values() if d.dimension_type == "date"}
        return of_source | {self.context.calendar.name, self.context.calendar.times}

    def _name_roles(self) -> None:
        """Give each reference a role that tells it apart from the others to its dimension."""
        before = self.references
        self.references = with_telling_roles(
            self.context.layout,
            self.entity,
            self.joins,
            before,
            self._calendars(),
            self.used_columns,
        )
        keys = {old.key: new.key for old, new in zip(before, self.references, strict=True)}
        self.date_keys = {date: keys[key] for date, key in self.date_keys.items()}

    def _with_header_columns(self, fact: Fact, aliases: Mapping[str, Mapping[str, str]]) -> Fact:
        """Return the fact with the numbers and states of its headers, to filter its rows by."""
        of_headers = tuple(
            attribute
            for header, described in self.headers
            if header.name in aliases
            for attribute in HeaderColumns(self.context.layout, header, described.fact).taken_over(
                aliases[header.name][""], self.used_columns
            )
        )
        degenerate = tuple(attribute.name for attribute in of_headers)
        return fact.model_copy(
            update={
                "attributes": (*fact.attributes, *of_headers),
                "degenerate_dimensions": (*fact.degenerate_dimensions, *degenerate),
            }
        )

    def _add_join(self, alias: str, entity: str, relationship: str, *, parent: str) -> str:
        """Join an entity and return the name of the join."""
        own_table = self.context.layout.names.sql.table(self.entity.name)
        name = free_alias(alias, {own_table, *(join.name for join in self.joins)})
        self.joins.append(Join(name=name, entity=entity, relationship=relationship, parent=parent))
        return name


def _day_of(date: Attribute) -> str:
    """Return what a date names: a day, or the first day of a month (``202401``)."""
    return "month's first day" if is_month(date) else "day"
