"""The columns of built relations, as the plan has them."""

from collections.abc import Iterable

from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.dimensional.elements import (
    Bridge,
    Dimension,
    DimensionReference,
    Fact,
    FactAttribute,
    Measure,
)
from fluid_build.modeling.element import Element, SourceColumn
from fluid_build.modeling.types import type_name
from fluid_build.transform.plan.dimensional.star import DATE_KEY_TYPE, KEY_TYPE, Star
from fluid_build.transform.plan.elements import PlanColumn


def technical(
    name: str,
    type_: str,
    description: str,
    *,
    tags: tuple[str, ...] = ("technical",),
    sources: tuple[SourceColumn, ...] = (),
    required: bool = True,
    reason: str = "",
) -> PlanColumn:
    """A column that the build adds."""
    return PlanColumn(
        name=name,
        type=type_,
        contract_type=type_name(type_),
        required=required,
        description=description,
        tags=tags,
        mapped_source_tables=tuple(dict.fromkeys(one.table for one in sources)),
        source_columns=sources,
        reason=reason or description,
    )


def of_attribute(
    star: Star,
    entity: str,
    attribute: Attribute,
    name: str,
    element: Element,
    *,
    required: bool,
    tags: tuple[str, ...] = (),
    is_measure: bool = False,
) -> PlanColumn:
    """A column that holds what an attribute holds."""
    type_ = star.type(entity, attribute.name)
    stays_text = attribute.conversion is not None and type_ == attribute.source_type
    return PlanColumn(
        name=name,
        type=type_,
        contract_type=type_name(type_) if stays_text else attribute.type,
        required=required,
        description=attribute.description,
        semantic_type=attribute.semantic_type,
        pii=attribute.pii,
        measure=attribute.measure if is_measure else None,
        tags=tags,
        mapped_source_tables=element.mapped_source_tables,
        source_columns=element.source_columns,
        reason=element.reason,
    )


def key_column(star: Star, owner: Fact | Bridge, one: DimensionReference) -> PlanColumn:
    """The key by which a fact or bridge refers to a dimension."""
    dimension = star.dimensions[one.dimension]
    joins = owner.joins if isinstance(owner, Fact) else ()
    entity = star.joined_entity(owner.entity_name, joins, one.source)
    role = f" as {one.role}" if one.role else ""
    return technical(
        one.key,
        key_type(dimension),
        f"The key of {one.dimension}{role}.",
        tags=("foreign-key",),
        sources=tuple(SourceColumn(table=entity, column=name) for name in one.columns),
        reason=one.reason,
    )


def key_type(dimension: Dimension) -> str:
    """DuckDB's type of a dimension's key."""
    return DATE_KEY_TYPE if is_generated(dimension) else KEY_TYPE


def is_generated(dimension: Dimension) -> bool:
    """Whether a dimension is the generated calendar."""
    return dimension.dimension_type == "date" and not dimension.entity_name


def kept_columns(
    star: Star,
    entity: str,
    attributes: Iterable[FactAttribute],
    degenerate: Iterable[str] = (),
) -> list[PlanColumn]:
    """The columns of a fact or bridge that are neither measure nor key."""
    numbers = set(degenerate)
    return [
        of_attribute(
            star,
            entity,
            star.attribute(entity, one.attribute),
            one.name,
            one,
            required=star.attribute(entity, one.attribute).required,
            tags=("degenerate-dimension",) if one.name in numbers else (),
        )
        for one in attributes
    ]


def measure_columns(star: Star, entity: str, measures: Iterable[Measure]) -> list[PlanColumn]:
    """The measures of a fact."""
    return [
        of_attribute(
            star,
            entity,
            star.attribute(entity, one.column),
            one.name,
            one,
            required=star.attribute(entity, one.column).required,
            tags=("measure",),
            is_measure=True,
        )
        for one in measures
    ]
