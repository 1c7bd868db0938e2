"""How facts and bridges refer to dimensions: by which key, in which role."""

from collections.abc import Mapping

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.dimensional.elements import Dimension, DimensionReference
from fluid_build.modeling.dimensional.judging.reference_graph import is_mandatory
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_column, prefixed


def reference_to_version(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    reference: Relationship,
    used_columns: set[str],
) -> DimensionReference:
    """Return how the child of a reference refers to the version of the day of its parent."""
    dimension = dimensions[layout.whole(reference.to_entity)]
    return _reference(layout, dimension, dimension.surrogate_key, reference, used_columns)


def reference_to_member(
    layout: StarLayout,
    dimensions: Mapping[str, Dimension],
    reference: Relationship,
    used_columns: set[str],
) -> DimensionReference:
    """Return how the child of a reference refers to its parent, whatever the version."""
    dimension = dimensions[layout.whole(reference.to_entity)]
    return _reference(layout, dimension, dimension.member_key, reference, used_columns)


def _reference(
    layout: StarLayout,
    dimension: Dimension,
    dimension_key: str,
    reference: Relationship,
    used_columns: set[str],
) -> DimensionReference:
    names = layout.names
    role = names.role(reference)
    if not role and reference.to_entity != layout.whole(reference.to_entity):
        role = names.member(reference.to_entity)
    child = layout.graph.entities[reference.from_entity]
    if not role and _is_one_of_several(layout, reference):
        role = names.role_by_columns(reference, child)
    key = prefixed(role, dimension_key) if role else dimension_key
    if key in used_columns:
        role = names.role_by_columns(reference, child)
        key = prefixed(role, dimension_key)
    columns = {a.attribute: a.name for a in dimension.attributes if not a.source}
    return DimensionReference(
        dimension=dimension.name,
        role=role,
        columns=reference.from_attributes,
        optional=not is_mandatory(reference),
        key=free_column(key, used_columns),
        to_columns=tuple(columns[name] for name in layout.target_in_whole(reference)),
        reason=reference.reason,
    )


def _is_one_of_several(layout: StarLayout, reference: Relationship) -> bool:
    """Return whether the child refers to the same dimension by other columns as well."""
    whole = layout.whole(reference.to_entity)
    return any(
        sibling.name != reference.name
        and layout.roles[sibling.to_entity].kind in {"dimension", "part"}
        and layout.whole(sibling.to_entity) == whole
        for sibling in layout.graph.parents[reference.from_entity]
    )
