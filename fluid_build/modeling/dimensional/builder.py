"""The star of a profile: first the roles of entities, then dimensions, facts and bridges."""

from collections.abc import Collection, Mapping, Sequence, Set

from fluid_build.decisions.model_decisions import NO_DECISIONS, ModelDecisions
from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.dimensional.calendars.calendar import (
    WIDE_CALENDAR_COLUMNS,
    GeneratedCalendar,
    calendar_dimensions,
)
from fluid_build.modeling.dimensional.calendars.service_days import service_days_facts
from fluid_build.modeling.dimensional.calendars.time_of_day import (
    WIDE_TIME_COLUMNS,
    time_of_day_dimensions,
)
from fluid_build.modeling.dimensional.decided.roles import roles_as_decided, with_decided_calendars
from fluid_build.modeling.dimensional.dimensions.bridges import describe_bridges
from fluid_build.modeling.dimensional.dimensions.choice import choose_dimensions
from fluid_build.modeling.dimensional.dimensions.hierarchies import describe_hierarchies
from fluid_build.modeling.dimensional.dimensions.scd_types import with_scd_types
from fluid_build.modeling.dimensional.elements import (
    DEFAULT_CALENDAR,
    CalendarSettings,
    Dimension,
    DimensionalModel,
    DimensionReference,
    Fact,
    LeftOut,
    Variant,
)
from fluid_build.modeling.dimensional.facts.facts import describe_facts
from fluid_build.modeling.dimensional.facts.snapshots import describe_snapshots, recorded_attributes
from fluid_build.modeling.dimensional.judging.reference_graph import reference_graph
from fluid_build.modeling.dimensional.star_layout import (
    StarLayout,
    star_or_galaxy,
    suggested_variant,
)
from fluid_build.modeling.dimensional.star_names import StarNames, free_column, prefixed
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.sql_names import sql_names
from fluid_build.observations.aggregates import Aggregate
from fluid_build.observations.observe import NO_OBSERVATIONS, Observations
from fluid_build.profiling.profile import Profile
from fluid_build.text import listed

_WIDE_COLUMNS = frozenset((*WIDE_CALENDAR_COLUMNS, *WIDE_TIME_COLUMNS))


def _widened(fact: Fact, dimensions: Mapping[str, Dimension]) -> Fact:
    """Return the fact with the columns of its dimensions, which are given by name."""
    used_columns = {reference.key for reference in fact.dimensions}
    used_columns |= {attribute.name for attribute in fact.attributes}
    used_columns |= {measure.name for measure in fact.measures}
    return fact.model_copy(
        update={
            "dimensions": tuple(
                _with_carried_columns(
                    reference,
                    dimensions[reference.dimension],
                    _columns_in_fact(fact, reference),
                    used_columns,
                )
                for reference in fact.dimensions
            )
        }
    )


def _columns_in_fact(fact: Fact, reference: DimensionReference) -> set[str]:
    """Return the columns of a dimension whose values the fact has as its own attributes."""
    if reference.source:
        return set()
    attributes = {attribute.attribute for attribute in fact.attributes if not attribute.source}
    pairs = zip(reference.columns, reference.to_columns, strict=True)
    return {to_column for column, to_column in pairs if column in attributes}


def _with_carried_columns(
    reference: DimensionReference, dimension: Dimension, skipped: set[str], used_columns: set[str]
) -> DimensionReference:
    names = [
        attribute.name
        for attribute in dimension.attributes
        if attribute.name not in skipped
        and (not dimension.is_generated or attribute.name in _WIDE_COLUMNS)
    ]
    # The key without its last word is the member in its role: ship_customer of ship_customer_key.
    stem = reference.key.rsplit("_", 1)[0]
    carried = tuple((name, free_column(prefixed(stem, name), used_columns)) for name in names)
    return reference.model_copy(update={"carried": carried})


# Tables that a star leaves out, since all that they hold is computed from another.
# A table of totals answers the same questions as the fact that it sums up, only fewer, and two
# relations with the same figures soon differ. It's left out only if each of its rows was computed
# from the details, so that nothing is lost: the way back computes it again.

_MOST_NAMES = 6


def tables_left_out(
    observations: Observations, classified: Collection[str] = ()
) -> tuple[LeftOut, ...]:
    """Return the tables of totals that are exact in every row.

    Those that a decision classified are built all the same.
    """
    totals = [
        aggregate
        for aggregate in observations.aggregates
        if aggregate.is_exact and aggregate.table not in classified
    ]
    names = {aggregate.table for aggregate in totals}
    return tuple(_left_out(total) for total in totals if not names & _read_by(total))


def without(conceptual: ConceptualModel, left_out: Sequence[LeftOut]) -> ConceptualModel:
    """Return a conceptual model without these tables and what they refer to."""
    names = {table.name for table in left_out}
    return conceptual.model_copy(
        update={
            "entities": tuple(e for e in conceptual.entities if e.name not in names),
            "relationships": tuple(
                r for r in conceptual.relationships if not names & {r.from_entity, r.to_entity}
            ),
        }
    )


def _read_by(aggregate: Aggregate) -> set[str]:
    """Return the tables that totals are computed from."""
    hops = [hop for column in aggregate.columns if column.of for hop in column.of.path]
    return {aggregate.detail, *(hop.to_table for hop in hops)}


def _left_out(aggregate: Aggregate) -> LeftOut:
    groups = [column.column for column in aggregate.columns if column.function == "group"]
    totals = [column.column for column in aggregate.columns if column.function != "group"]
    return LeftOut(
        name=aggregate.table,
        detail=aggregate.detail,
        columns=aggregate.columns,
        part=aggregate.part,
        query=aggregate.query,
        mapped_source_tables=(aggregate.table,),
        source_columns=source_columns(
            aggregate.table, tuple(column.column for column in aggregate.columns)
        ),
        reason=(
            f"An aggregate of {aggregate.summed} by {_listed(groups)}: all {aggregate.rows:,} rows"
            f" have the computed {_listed(totals)}, so it isn't built. The proof computes it again."
        ),
    )


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more"
    return listed(list(names))


def star(
    profile: Profile,
    conceptual: ConceptualModel,
    observations: Observations = NO_OBSERVATIONS,
    requested: Variant | None = None,
    settings: CalendarSettings = DEFAULT_CALENDAR,
    event_dates: Mapping[str, str] | None = None,
    decisions: ModelDecisions = NO_DECISIONS,
    versioned: Set[str] = frozenset(),
) -> DimensionalModel:
    """Build the dimensional model of a profile, in the requested variant or the suggested one.

    ``settings`` are those of the generated calendar. ``event_dates`` are the dates that the user
    chose for events, by table. ``decisions`` overrule what we'd choose, as far as a star
    can carry them. Of ``versioned`` tables, history is of use though no fact refers to them yet.
    """
    names = StarNames(sql_names(conceptual))
    classified = decisions.star_roles
    left_out = tables_left_out(observations, classified)
    graph = with_decided_calendars(
        reference_graph(profile, without(conceptual, left_out), observations), classified
    )
    roles = roles_as_decided(graph, conceptual, classified, decisions.merges)
    suggested, reason = suggested_variant(graph, roles)
    layout, dimensions = choose_dimensions(graph, roles, names, requested or suggested)
    used_relations = set(layout.dimensions.values())
    calendar = GeneratedCalendar(
        free_column("dim_date", used_relations),
        "date_key",
        settings,
        free_column("dim_time_of_day", used_relations),
    )
    described = describe_facts(
        layout, dimensions, calendar, used_relations, event_dates or {}, decisions
    )
    facts = [description.fact for description in described]
    snapshots = describe_snapshots(layout, dimensions, facts, calendar, used_relations)
    used = {r.dimension for fact in (*facts, *snapshots) for r in fact.dimensions}
    used |= {layout.dimensions[entity] for entity in versioned & layout.dimensions.keys()}
    dimensions = _with_history(layout, dimensions, snapshots, used, used_relations)
    service_days = service_days_facts(layout, dimensions, facts, calendar, used_relations)
    all_facts = [*facts, *snapshots, *service_days]
    if suggested == "star" and all_facts:
        suggested, reason = star_or_galaxy(all_facts, {calendar.name, calendar.times})
    if requested not in {None, suggested}:
        reason = (
            f"You requested this variant; for this source, the default would be {suggested}:"
            f" {reason}"
        )
    fact_names = {fact.entity_name: fact.name for fact in facts}
    bridges = (
        *describe_bridges(layout, dimensions, fact_names, used_relations),
        *describe_hierarchies(layout, dimensions, used_relations),
    )
    all_dimensions = [
        *dimensions.values(),
        *(derived.dimension for description in described for derived in description.derived),
        *calendar_dimensions(calendar, all_facts),
        *time_of_day_dimensions(calendar.times, all_facts),
    ]
    if layout.variant == "wide":
        by_name = {dimension.name: dimension for dimension in all_dimensions}
        facts = [_widened(fact, by_name) for fact in facts]
    facts += [*snapshots, *service_days]
    return DimensionalModel(
        variant=requested or suggested,
        variant_reason=reason,
        facts=tuple(facts),
        dimensions=tuple(_with_uses(dimension, facts) for dimension in all_dimensions),
        bridges=bridges,
        left_out=left_out,
    )


def _with_history(
    layout: StarLayout,
    dimensions: dict[str, Dimension],
    snapshots: Sequence[Fact],
    used: Set[str],
    used_relations: set[str],
) -> dict[str, Dimension]:
    """Return the dimensions with the SCD type of each attribute; ``used`` ones have history."""
    return {
        entity: with_scd_types(
            layout.graph,
            layout.names,
            dimension,
            used_relations,
            is_used=dimension.name in used,
            recorded=recorded_attributes(snapshots, dimension),
        )
        for entity, dimension in dimensions.items()
    }


def _with_uses(dimension: Dimension, facts: Sequence[Fact]) -> Dimension:
    """Return the dimension with the roles that facts use it in, and whether several do."""
    uses = [
        (fact.name, reference)
        for fact in facts
        for reference in fact.dimensions
        if reference.dimension == dimension.name
    ]
    return dimension.model_copy(
        update={
            "conformed": len({fact for fact, _ in uses}) > 1,
            "roles": tuple(dict.fromkeys(r.role for _, r in uses if r.role)),
        }
    )
