"""Hierarchies of unequal depth: employees by their manager, categories by their parent.

No query without recursion finds all that is below a member, and not every tool can write one. So
the pairs of each member and all that are above it are a bridge, the map of Ralph Kimball and Margy
Ross, "The Data Warehouse Toolkit", chapters 7 and 9. Levels and paths are there too: as columns of
the dimension, a change at the top would give each member below it a version of its own.
"""

from collections.abc import Iterator, Mapping

from fluid_build.modeling.dimensional.column_purposes import is_own_name, is_person
from fluid_build.modeling.dimensional.elements import (
    Bridge,
    Dimension,
    DimensionLink,
    DimensionReference,
    HierarchyPairs,
)
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import free_column, prefixed
from fluid_build.modeling.element import Alternative, source_columns
from fluid_build.observations.hierarchies import Hierarchy

_FEWEST_LEVELS = 3
"""With two levels, the parent's key is all that there is to know."""
_MOST_CIRCULAR = 0.5
"""Share of the rows with a parent that lead into a circle. A hierarchy has few by mistake; where
most do, the rows are partners of each other."""


def describe_hierarchies(
    layout: StarLayout, dimensions: Mapping[str, Dimension], used_relations: set[str]
) -> tuple[Bridge, ...]:
    """Return a bridge for each hierarchy of a dimension; ``dimensions`` are by entity."""
    return tuple(
        _bridge(layout, dimension, link, relationship, hierarchy, used_relations)
        for dimension in dimensions.values()
        for link, relationship, hierarchy in _hierarchies(layout, dimension)
    )


def _hierarchies(
    layout: StarLayout, dimension: Dimension
) -> Iterator[tuple[DimensionLink, str, Hierarchy]]:
    """Yield the links to a parent, each with its relationship and its levels."""
    entity = dimension.entity_name
    observations = layout.graph.observations
    observed = {(each.table, each.columns): each for each in observations.hierarchies}
    relationships = {joined.name: joined.relationship for joined in dimension.joins}
    loops = {loop.name: loop for loop in layout.graph.loops[entity]}
    for link in dimension.links:
        loop = loops.get(relationships[link.source])
        if link.dimension != dimension.name or loop is None:
            continue
        hierarchy = observed.get((entity, loop.from_attributes))
        if hierarchy is None or not _is_tree(hierarchy):
            continue
        if not _has_own_closure(layout, entity, loop.from_attributes):
            yield link, loop.name, hierarchy


def _is_tree(hierarchy: Hierarchy) -> bool:
    """Return whether rows have several levels below each other, and some have several children."""
    children = hierarchy.rows - hierarchy.roots
    return (
        hierarchy.levels >= _FEWEST_LEVELS
        and hierarchy.parents < children
        and hierarchy.circular < _MOST_CIRCULAR * children
    )


def _has_own_closure(layout: StarLayout, entity: str, columns: tuple[str, ...]) -> bool:
    """Return whether a table of the source has the pairs already, and is a bridge of the star."""
    return any(
        closure.members == entity
        and closure.parent in {"", *columns}
        and layout.roles[closure.table].kind == "bridge"
        for closure in layout.graph.observations.closures
        if closure.table in layout.roles
    )


def _bridge(
    layout: StarLayout,
    dimension: Dimension,
    link: DimensionLink,
    relationship: str,
    hierarchy: Hierarchy,
    used_relations: set[str],
) -> Bridge:
    entity = dimension.entity_name
    member = layout.names.member(entity)
    is_only = len(layout.graph.loops[entity]) == 1
    stem = layout.names.stem(entity)
    stem = stem if is_only else prefixed(link.role, stem)
    used_columns: set[str] = set()
    references = tuple(
        _end(dimension, role, used_columns, hierarchy) for role in ("ancestor", "descendant")
    )
    key = dimension.source_columns
    own = tuple(column.column for column in key)
    return Bridge(
        name=free_column(f"brg_{stem}_hierarchy", used_relations),
        left=dimension.name,
        right=dimension.name,
        left_columns=hierarchy.columns,
        right_columns=own,
        grain=f"One row for each {member.replace('_', ' ')} and each one above it, and itself.",
        grain_columns=tuple(reference.key for reference in references),
        references=references,
        hierarchy_pairs=HierarchyPairs(
            relationship=relationship,
            parent_key=link.key,
            named_by=_named_by(layout, dimension),
        ),
        mapped_source_tables=(entity,),
        source_columns=source_columns(entity, tuple(dict.fromkeys((*own, *hierarchy.columns)))),
        reason=_reason(hierarchy),
        alternatives=(
            Alternative(
                choice="the key of the parent alone",
                reason="each query of what is below a member would have to follow it, level by"
                " level",
            ),
            Alternative(
                choice="a column for each level",
                reason="the levels have no names of their own, and a deeper member would need"
                " another column",
            ),
        ),
    )


def _end(
    dimension: Dimension, role: str, used_columns: set[str], hierarchy: Hierarchy
) -> DimensionReference:
    own = {a.name: a.attribute for a in dimension.attributes if not a.source}
    columns = dimension.natural_key_columns
    above = f"by {' and '.join(hierarchy.columns)}"
    return DimensionReference(
        dimension=dimension.name,
        role=role,
        columns=tuple(own[name] for name in columns),
        key=free_column(prefixed(role, dimension.member_key), used_columns),
        to_columns=columns,
        reason=f"The member above, {above}."
        if role == "ancestor"
        else "The member that is below, or the same.",
    )


def _named_by(layout: StarLayout, dimension: Dimension) -> str:
    """Return the column that names members in a path; "" for their natural key.

    People aren't named there: their name would have to be erased from the paths of others, too.
    """
    entity = layout.graph.entities[dimension.entity_name]
    if is_person(entity):
        return ""
    columns = {a.attribute: a.name for a in dimension.attributes if not a.source}
    names = (
        columns[attribute.name]
        for attribute in entity.attributes
        if attribute.name in columns
        and attribute.name not in layout.graph.keys[entity.name]
        and is_own_name(attribute, entity)
        and not attribute.pii
    )
    return next(names, "")


def _reason(hierarchy: Hierarchy) -> str:
    columns = " and ".join(f"{hierarchy.table}.{column}" for column in hierarchy.columns)
    counted = (
        f"By {columns}, {hierarchy.rows:,} rows are on {hierarchy.levels} levels below"
        f" {hierarchy.roots:,} without a parent."
    )
    if not hierarchy.circular:
        return counted
    return (
        f"{counted} {hierarchy.circular:,} of its rows lead into a circle, which is cut: is_cyclic"
        " says where."
    )
