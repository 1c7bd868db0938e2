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
    is_distinctive,
    is_month,
    is_numbering,
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
    Measure,
)
from fluid_build.modeling.dimensional.facts.event_date_choice import (
    DateCandidate,
    DateChoice,
    choose_event_date,
    dates_by_fact,
    of_header,
    own_candidates,
)
from fluid_build.modeling.dimensional.facts.grain import (
    StatedGrain,
    believable_grain,
    decided_grain,
)
from fluid_build.modeling.dimensional.facts.types import (
    SnapshotIdentity,
    fact_type,
    snapshot_identity,
)
from fluid_build.modeling.dimensional.judging.date_roles import DateRoles, date_roles
from fluid_build.modeling.dimensional.judging.reference_graph import AttributeNames, is_mandatory
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_alias, free_column, prefixed
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.metric_terms import currency_of, price_weights, stated_additivity


@dataclass(frozen=True, slots=True)
class FactColumns:
    """What the columns of one fact are named and explained by.

    ``headers`` are what the event belongs to, and ``header_columns`` refer to them.
    ``used_columns`` are the names of the fact's columns so far.
    """

    layout: StarLayout
    entity: Entity
    headers: tuple[Entity, ...]
    header_columns: Set[str]
    used_columns: set[str]

    def attributes(self, elsewhere: Set[str]) -> Iterator[FactAttribute]:
        """Return the attributes that are no measures and aren't found elsewhere in the star."""
        for attribute in self.entity.attributes:
            if attribute.measure is None and attribute.name not in elsewhere:
                yield FactAttribute(
                    name=self._free_name(attribute),
                    type=attribute.type,
                    attribute=attribute.name,
                    description=attribute.description,
                    mapped_source_tables=(self.entity.name,),
                    source_columns=source_columns(self.entity.name, (attribute.name,)),
                    reason=self._attribute_reason(attribute),
                )

    def measures(self, elsewhere: Set[str]) -> Iterator[Measure]:
        """Return the measures that aren't found elsewhere in the star, in the source's order."""
        names = {
            attribute.name: self._free_name(attribute)
            for attribute in self.entity.attributes
            if attribute.measure is not None and attribute.name not in elsewhere
        }
        weights = price_weights(self.entity, self._products())
        for attribute in self.entity.attributes:
            if attribute.measure is not None and attribute.name in names:
                role = attribute.measure
                within = currency_of(self.entity, attribute, self.headers)
                yield Measure(
                    name=names[attribute.name],
                    column=attribute.name,
                    aggregation=role.aggregation,
                    additivity=role.additivity,
                    weighted_by=names.get(weights.get(attribute.name, ""), ""),
                    within=within,
                    description=attribute.description,
                    mapped_source_tables=(self.entity.name,),
                    source_columns=source_columns(self.entity.name, (attribute.name,)),
                    reason=stated_additivity(role, within),
                    alternatives=role.alternatives,
                )

    def _products(self) -> Iterator[tuple[str, str]]:
        """Yield the factors of amounts of the row."""
        for formula in self.layout.graph.observations.row_formulas:
            if formula.table == self.entity.name and formula.operation == "product":
                yield formula.operands

    def is_degenerate(self, column: FactAttribute) -> bool:
        """Return whether a column is a degenerate dimension: it numbers the event or its header."""
        attribute = self.entity.attribute(column.attribute)
        return (
            attribute.name in self.layout.graph.keys[self.entity.name]
            or attribute.name in self.header_columns
            or (is_numbering(attribute) and is_distinctive(attribute, self.entity))
        )

    def grain(self, grain: StatedGrain) -> str:
        """Return what one row is, in a sentence, with what is to be said of its columns."""
        member = self.layout.names.member(self.entity.name).replace("_", " ")
        if grain.columns:
            sentence = f"One row for each {member}: {', '.join(grain.columns)}."
        elif grain.remark:
            sentence = f"One row for each row of {self.entity.name}."
        else:
            sentence = f"One row for each row of {self.entity.name}, which has no key."
        return f"{sentence} {grain.remark}".rstrip()

    def grain_columns(self, key: AttributeNames, columns: Mapping[str, str]) -> AttributeNames:
        """Return the columns of the key; none where the fact lacks one of them."""
        if not all(name in columns for name in key):
            return ()
        return tuple(dict.fromkeys(columns[name] for name in key))

    def _free_name(self, attribute: Attribute) -> str:
        column = self.layout.names.column(self.entity.name, attribute.name)
        return free_column(column, self.used_columns)

    def _attribute_reason(self, attribute: Attribute) -> str:
        graph = self.layout.graph
        if attribute.name in graph.keys[self.entity.name]:
            return "It identifies the event: a degenerate dimension."
        if attribute.name in self.header_columns:
            return "The key of the header row that it belongs to: a degenerate dimension."
        if (self.entity.name, attribute.name) in graph.record_keeping.authors:
            return "It says who wrote or changed the record, and not who took part in the event."
        if graph.is_referring(self.entity.name, attribute.name):
            return "The original foreign key, kept so that orphaned values aren't lost."
        if is_date(attribute) and attribute.type != "date":
            return "The full timestamp; a date key would hold only the day."
        return "It describes this event alone."


_MOST_HEADERS = 2
"""Headers, one behind the other, whose dimensions a fact takes over: its own, and that one's. What
is further away has little to do with the event."""


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
        dated_by = self._event_date(date, aliases) if date else None
        in_derived = {name for dimension in derived for name in dimension.attributes}
        return DescribedFact(self._fact(dated_by, identity, in_derived), derived, date)

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
        own = {reference.dimension for reference in self.references}
        is_dated = date is not None and not (date.candidate.header or date.candidate.is_planned)
        calendars = {
            d.name for d in self.context.dimensions.values() if d.dimension_type == "date"
        } | {self.context.calendar.name, self.context.calendar.times}
        joined: dict[str, dict[str, str]] = {}
        for header, described in self.headers:
            references = [
                reference
                for reference in described.fact.dimensions
                if len(_join_path(described.fact, reference.source)) < _MOST_HEADERS
                if (
                    not is_dated or self._is_event_date(described.fact, reference)
                    if reference.dimension in calendars
                    else reference.dimension not in own
                )
            ]
            sources = {join for r in references for join in _join_path(described.fact, r.source)}
            dated_by = described.fact.dated_by
            if dated_by is not None and date is not None and date.candidate.header is header:
                sources.update(_join_path(described.fact, dated_by.source))
            elif not references:
                continue
            aliases = joined[header.name] = self._join_header(header, described.fact, sources)
            for reference in references:
                self._take_over(reference, header, aliases)
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

    def _take_over(
        self, reference: DimensionReference, header: Relationship, aliases: Mapping[str, str]
    ) -> None:
        key, role = reference.key, reference.role
        member = self.context.layout.names.member(header.to_entity)
        if key in self.used_columns:
            key = prefixed(member, key)
        used_roles = {r.role for r in self.references if r.dimension == reference.dimension}
        if role in used_roles:
            source = self.context.layout.names.role(header) or member
            role = free_column(prefixed(source, role or member), used_roles)
        self.references.append(
            reference.model_copy(
                update={
                    "key": free_column(key, self.used_columns),
                    "role": role,
                    "source": aliases[reference.source],
                    "optional": reference.optional or not is_mandatory(header),
                    "reason": f"Inherited from {header.to_entity}, by the reference to it.",
                }
            )
        )

    def _add_join(self, alias: str, entity: str, relationship: str, *, parent: str) -> str:
        """Join an entity and return the name of the join."""
        own_table = self.context.layout.names.sql.table(self.entity.name)
        name = free_alias(alias, {own_table, *(join.name for join in self.joins)})
        self.joins.append(Join(name=name, entity=entity, relationship=relationship, parent=parent))
        return name


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
    return "month's first day" if is_month(date) else "day"
