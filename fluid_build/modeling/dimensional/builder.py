"""From a profile to a star: roles, then dimensions, facts and bridges, then what ties them."""

from collections.abc import Iterable

from fluid_build.modeling.conceptual import ConceptualModel
from fluid_build.modeling.dimensional.bridges import draw_bridges
from fluid_build.modeling.dimensional.dimensions import StarLayout, draw_dimensions, layout_of
from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionalModel,
    DimensionAttribute,
    DimensionReference,
    Fact,
    Variant,
)
from fluid_build.modeling.dimensional.entity_roles import entity_roles
from fluid_build.modeling.dimensional.facts import CALENDAR_DAY, Calendar, draw_facts
from fluid_build.modeling.dimensional.reference_graph import reference_graph
from fluid_build.modeling.dimensional.scd_types import with_history
from fluid_build.modeling.dimensional.star_names import StarNames, free_column, prefixed
from fluid_build.modeling.dimensional.variants import constellation, recommended
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.sql_names import sql_names
from fluid_build.profiling.profile import Profile

_CALENDAR_COLUMNS: tuple[tuple[str, str, str], ...] = (
    (CALENDAR_DAY, "date", "The day."),
    ("year_number", "integer", "The year."),
    ("quarter_number", "integer", "The quarter of the year, 1 to 4."),
    ("month_number", "integer", "The month of the year, 1 to 12."),
    ("month_name", "string", "The month's English name."),
    ("day_of_month", "integer", "The day of the month."),
    ("day_of_week", "integer", "The day of the week, 1 for Monday to 7 for Sunday."),
    ("day_name", "string", "The day's English name."),
    ("week_start_date", "date", "The Monday of the week."),
    ("is_weekend", "boolean", "Whether it is a Saturday or Sunday."),
)
_CARRIED_OF_A_DAY = (CALENDAR_DAY, "year_number", "month_number")


def star(
    profile: Profile, conceptual: ConceptualModel, asked: Variant | None = None
) -> DimensionalModel:
    """Build the dimensional model of a profile, in the variant asked for or else by its shape."""
    graph = reference_graph(profile, conceptual)
    roles = entity_roles(graph, profile)
    shape, reason = recommended(graph, roles)
    layout = layout_of(graph, roles, StarNames(sql_names(conceptual)), asked or shape)
    relations = set(layout.kept.values())
    calendar = Calendar(free_column("dim_date", relations), "date_key")
    dimensions = draw_dimensions(layout)
    drawn = draw_facts(layout, dimensions, calendar, relations)
    facts = [one.fact for one in drawn]
    dimensions = _historised(layout, dimensions, facts, relations)
    if shape == "star":
        shape, reason = constellation(facts, calendar.name) or (shape, reason)
    if asked not in {None, shape}:
        reason = f"Asked for. By its shape it would be a {shape}: {reason}"
    named = {one.entity_name: one.name for one in facts}
    bridges = draw_bridges(layout, dimensions, named, relations)
    whole = [
        *dimensions.values(),
        *(derived.dimension for one in drawn for derived in one.derived),
        *_calendar(calendar, facts),
    ]
    if layout.variant == "wide":
        facts = [_widened(fact, whole) for fact in facts]
    return DimensionalModel(
        variant=asked or shape,
        variant_reason=reason,
        facts=tuple(facts),
        dimensions=tuple(_shared(dimension, facts) for dimension in whole),
        bridges=bridges,
    )


def _historised(
    layout: StarLayout, dimensions: dict[str, Dimension], facts: list[Fact], relations: set[str]
) -> dict[str, Dimension]:
    """The dimensions with the type of each attribute; ``relations`` are the names taken."""
    dated = {
        reference.dimension
        for fact in facts
        if fact.dated_by is not None
        for reference in fact.dimensions
    }
    return {
        entity: with_history(layout.graph, layout.names, one, one.name in dated, relations)
        for entity, one in dimensions.items()
    }


def _calendar(calendar: Calendar, facts: list[Fact]) -> Iterable[Dimension]:
    """The generated calendar, where any fact has a date."""
    dates: dict[tuple[str, str], None] = {}
    for fact in facts:
        entities = {"": fact.entity_name} | {one.name: one.entity for one in fact.joins}
        for reference in fact.dimensions:
            if reference.dimension == calendar.name:
                dates[(entities[reference.source], reference.columns[0])] = None
    if not dates:
        return ()
    return (
        Dimension(
            name=calendar.name,
            entity_name="",
            description="Every day of each year in which something happened.",
            dimension_type="date",
            surrogate_key=calendar.key,
            natural_key_columns=(CALENDAR_DAY,),
            attributes=tuple(
                DimensionAttribute(
                    name=name,
                    type=type_,
                    scd_type=0,
                    description=description,
                    reason="A property of the day, which never changes.",
                )
                for name, type_, description in _CALENDAR_COLUMNS
            ),
            mapped_source_tables=tuple(dict.fromkeys(table for table, _ in dates)),
            source_columns=tuple(SourceColumn(table=t, column=c) for t, c in dates),
            reason="Facts are grouped by day, month and year: one calendar for all of them.",
        ),
    )


def _shared(dimension: Dimension, facts: list[Fact]) -> Dimension:
    """The dimension with the number of facts that share it, and in which roles."""
    references = [
        (fact.name, one)
        for fact in facts
        for one in fact.dimensions
        if one.dimension == dimension.name
    ]
    return dimension.model_copy(
        update={
            "conformed": len({fact for fact, _ in references}) > 1,
            "roles": tuple(dict.fromkeys(one.role for _, one in references if one.role)),
        }
    )


def _widened(fact: Fact, dimensions: list[Dimension]) -> Fact:
    """The fact with the columns of its dimensions in it: one wide table."""
    by_name = {one.name: one for one in dimensions}
    taken = {one.key for one in fact.dimensions}
    taken |= {one.name for one in fact.attributes} | {one.name for one in fact.measures}
    return fact.model_copy(
        update={
            "dimensions": tuple(
                _carrying(one, by_name[one.dimension], _held(fact, one), taken)
                for one in fact.dimensions
            )
        }
    )


def _held(fact: Fact, one: DimensionReference) -> set[str]:
    """The columns of a dimension that say what the fact says by its own."""
    own = {kept.attribute for kept in fact.attributes}
    pairs = zip(one.columns, one.to_columns, strict=True)
    return set() if one.source else {theirs for ours, theirs in pairs if ours in own}


def _carrying(
    reference: DimensionReference, dimension: Dimension, held: set[str], taken: set[str]
) -> DimensionReference:
    generated = dimension.dimension_type == "date" and not dimension.entity_name
    names = [
        one.name
        for one in dimension.attributes
        if one.name not in held and (not generated or one.name in _CARRIED_OF_A_DAY)
    ]
    stem = reference.key.rsplit("_", 1)[0]
    carried = tuple((name, free_column(prefixed(stem, name), taken)) for name in names)
    return reference.model_copy(update={"carried": carried})
