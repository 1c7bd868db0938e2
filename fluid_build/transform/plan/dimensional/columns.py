"""The columns of dimensions, facts and bridges, as the plan has them."""

from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionAttribute,
    DimensionReference,
    Fact,
    FactAttribute,
    Measure,
)
from fluid_build.modeling.dimensional.facts.snapshots import LEVEL, SNAPSHOT_DATE
from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.types import family, is_number
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.dimensional.mart_calls import grouped_attributes
from fluid_build.transform.plan.dimensional.star import (
    DATE_KEY_TYPE,
    DELETED,
    KEY_TYPE,
    FactOrBridge,
    Star,
    joins_of,
)
from fluid_build.transform.plan.elements import PlanColumn
from fluid_build.transform.plan.staging import by_value, staged_column


def attribute_column(
    star: Star,
    entity: str,
    attribute: str,
    element: DimensionAttribute | FactAttribute | Measure,
    *,
    column: str,
    required: bool,
    tags: tuple[str, ...] = (),
    is_measure: bool = False,
) -> PlanColumn:
    """Return a column that holds what an attribute holds; ``element`` says where it's from."""
    staged = staged_column(
        star.entities[entity], star.attribute(entity, attribute), star.names, by_value
    )
    return staged.model_copy(
        update={
            "name": column,
            "required": required,
            "description": element.description or staged.description,
            "measure": staged.measure if is_measure else None,
            "tags": tags,
            "mapped_source_tables": element.mapped_source_tables,
            "source_columns": element.source_columns,
            "reason": element.reason,
        }
    )


def dimension_columns(star: Star, dimension: Dimension) -> list[PlanColumn]:
    """Return the columns of a dimension that isn't the calendar."""
    sources = dimension.source_columns
    row = "a version of a member" if dimension.history else "a member"
    columns = [
        technical(
            dimension.surrogate_key,
            KEY_TYPE,
            f"The key of {row}, which facts refer to.",
            tags=("primary-key", "hash-key", "technical"),
            sources=sources,
        )
    ]
    if dimension.durable_key:
        columns.append(
            technical(
                dimension.durable_key,
                KEY_TYPE,
                "The key of the member, the same in all of its versions.",
                tags=("hash-key", "technical"),
                sources=sources,
            )
        )
    columns += [
        dimension_column(star, dimension, attribute) for attribute in grouped_attributes(dimension)
    ]
    columns += [
        technical(
            link.key,
            KEY_TYPE,
            f"The key of {link.dimension}{f' as {link.role}' if link.role else ''}.",
            tags=("foreign-key",),
            reason=link.reason,
        )
        for link in dimension.links
    ]
    if dimension.history:
        columns += [
            technical("valid_from", "TIMESTAMP", "When the version starts to be valid."),
            technical("valid_to", "TIMESTAMP", "When the version stops being valid, exclusive."),
            technical("is_current", "BOOLEAN", "Whether this version is valid now."),
        ]
    if star.is_kept(dimension):
        columns.append(technical(DELETED, "BOOLEAN", "Whether the source has deleted the member."))
    return columns


def dimension_column(star: Star, dimension: Dimension, attribute: DimensionAttribute) -> PlanColumn:
    """Return the column of one attribute of a dimension."""
    if not attribute.attribute:
        return technical(
            attribute.name,
            "BOOLEAN",
            attribute.description,
            tags=(),
            sources=attribute.source_columns,
            required=False,
            reason=attribute.reason,
        )
    is_key = not attribute.source and attribute.name in dimension.natural_key_columns
    return attribute_column(
        star,
        star.joined_entity(dimension.entity_name, dimension.joins, attribute.source),
        attribute.attribute,
        attribute,
        column=attribute.name,
        required=False,
        tags=("business-key",) if is_key else (),
    )


def reference_column(star: Star, owner: FactOrBridge, reference: DimensionReference) -> PlanColumn:
    """Return the key by which a fact or bridge refers to a dimension."""
    dimension = star.dimensions[reference.dimension]
    entity = star.joined_entity(owner.entity_name, joins_of(owner), reference.source)
    role = f" as {reference.role}" if reference.role else ""
    return technical(
        reference.key,
        DATE_KEY_TYPE if dimension.is_generated else KEY_TYPE,
        f"The key of {reference.dimension}{role}.",
        tags=("foreign-key",),
        sources=tuple(SourceColumn(table=entity, column=name) for name in reference.columns),
        reason=reference.reason,
    )


def own_value_columns(star: Star, owner: FactOrBridge) -> list[PlanColumn]:
    """Return the columns of a fact or bridge that aren't keys: what it keeps, and its measures.

    A row may have no header, and then nothing of it.
    """
    degenerate = owner.degenerate_dimensions if isinstance(owner, Fact) else ()
    columns = [
        attribute_column(
            star,
            entity := star.joined_entity(owner.entity_name, joins_of(owner), attribute.source),
            attribute.attribute,
            attribute,
            column=attribute.name,
            required=not attribute.source and star.attribute(entity, attribute.attribute).required,
            tags=("degenerate-dimension",) if attribute.name in degenerate else (),
        )
        for attribute in owner.attributes
    ]
    if isinstance(owner, Fact):
        columns += [_measure_column(star, owner, measure) for measure in owner.measures]
    return columns


def _measure_column(star: Star, fact: Fact, measure: Measure) -> PlanColumn:
    entity = fact.entity_name
    column = attribute_column(
        star,
        entity,
        measure.column,
        measure,
        column=measure.name,
        required=star.attribute(entity, measure.column).required,
        tags=("measure",),
        is_measure=True,
    )
    if not is_number(column.type):
        # What was a number at first has words among its values.
        return column.model_copy(update={"measure": None, "tags": ()})
    role = column.measure
    if role is None or role.additivity != measure.additivity:
        role = LEVEL.model_copy(
            update={"aggregation": measure.aggregation, "additivity": measure.additivity}
        )
    is_level = fact.fact_type == "periodic_snapshot" and role.additivity == "semi-additive"
    terms = {
        "weighted_by": measure.weighted_by,
        "within": measure.within,
        "day": _day_column(star, fact) if is_level else "",
    }
    return column.model_copy(update={"measure": role.model_copy(update=terms)})


def _day_column(star: Star, fact: Fact) -> str:
    """Return the column with the day of a fact's rows: the event's, or else its first."""
    if fact.snapshot_of:
        return SNAPSHOT_DATE
    days = {
        (reference.source, *reference.columns): reference.key
        for reference in fact.dimensions
        if star.dimensions[reference.dimension].dimension_type == "date"
    }
    days |= {
        (attribute.source, attribute.attribute): attribute.name
        for attribute in fact.attributes
        if (attribute.source, attribute.attribute) not in days
        and family(attribute.type) in {"date", "timestamp"}
    }
    dated = fact.dated_by
    event = (dated.source, dated.attribute) if dated is not None else ("", "")
    return days.get(event) or next(iter(days.values()), "")
