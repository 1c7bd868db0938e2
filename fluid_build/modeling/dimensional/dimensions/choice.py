"""The choice of dimensions: as few as hold every row of every entity.

A lookup that is collapsed into others keeps a dimension of its own as well where some of its rows
may be referred to by nothing: they would be lost.
"""

from collections.abc import Sequence

from fluid_build.modeling.conceptual import Entity, Relationship
from fluid_build.modeling.dimensional.dimensions.dimensions import describe_dimensions
from fluid_build.modeling.dimensional.dimensions.handed_on import handed_on
from fluid_build.modeling.dimensional.elements import Dimension, Variant
from fluid_build.modeling.dimensional.judging.entity_roles import EntityRoles
from fluid_build.modeling.dimensional.judging.reference_graph import ReferenceGraph
from fluid_build.modeling.dimensional.star_layout import StarLayout
from fluid_build.modeling.dimensional.star_names import StarNames, free_column


def choose_dimensions(
    graph: ReferenceGraph, roles: EntityRoles, names: StarNames, variant: Variant
) -> tuple[StarLayout, dict[str, Dimension]]:
    """Return which entities have dimensions, and the dimensions by entity, all of SCD type 1.

    Dimensions are what was decided to be one, what facts and bridges refer to, what nothing looks
    up, wholes of parts, calendars, and the lookups that would lose a row if they were only
    collapsed. In a snowflake, every lookup is one.
    """
    candidates = [name for name, role in roles.items() if role.kind == "dimension"]
    keys = {name: _key_name(graph, names, name) for name in candidates}
    undecided = StarLayout(graph, roles, names, variant, {}, frozenset(), keys)
    used = _used_by_events(undecided)
    chosen = {name for name in candidates if variant == "snowflake" or name in used}
    chosen |= {name for name in candidates if not _is_looked_up(graph, roles, name)}
    chosen |= {name for name in candidates if roles[name].is_decided or name in graph.calendars}
    chosen |= {name for name in candidates if graph.is_service(name)}
    chosen |= {undecided.whole(name) for name, role in roles.items() if role.kind == "part"}
    # A category without products would be lost if categories were columns of products alone.
    while missing := set(candidates) - _covered(graph, roles, candidates, chosen):
        # What these lead to may be covered once the outermost of them are chosen.
        outermost = {
            name
            for name in missing
            if not any(child.from_entity in missing for child in graph.children[name])
        }
        chosen.update(outermost or {next(name for name in candidates if name in missing)})
    while True:
        used_names: set[str] = set()
        dimension_names = {
            name: free_column(f"dim_{names.stem(name)}", used_names)
            for name in candidates
            if name in chosen
        }
        layout = StarLayout(graph, roles, names, variant, dimension_names, used, keys)
        dimensions = {
            entity: _with_complete_joins(layout, dimension)
            for entity, dimension in describe_dimensions(layout).items()
        }
        complete = {join.entity for d in dimensions.values() for join in d.joins if join.complete}
        incomplete = [n for n in candidates if n not in dimension_names and n not in complete]
        if not incomplete:
            return layout, dimensions
        chosen.update(incomplete)


def _used_by_events(layout: StarLayout) -> frozenset[str]:
    """Return the entities whose dimension a fact or bridge refers to, or another one hands on."""
    referring = [name for name, role in layout.roles.items() if role.kind in {"fact", "bridge"}]
    used: set[str] = set()
    for name in referring:
        for parent in layout.graph.parents[name]:
            entity = parent.to_entity
            if layout.roles[entity].kind not in {"dimension", "part"}:
                continue
            used.add(layout.whole(entity))
            if handed_on(layout.graph, layout.roles, entity) == "references":
                referring.extend({entity} - set(referring))
    return frozenset(used)


def _key_name(graph: ReferenceGraph, names: StarNames, entity: str) -> str:
    columns = {names.column(entity, a.name) for a in graph.entities[entity].attributes}
    member = names.member(entity)
    key = f"{member}_key"
    return free_column(f"{member}_sk" if key in columns else key, columns)


def _is_looked_up(graph: ReferenceGraph, roles: EntityRoles, name: str) -> bool:
    return any(
        roles[child.from_entity].kind in {"dimension", "part"}
        and roles[child.from_entity].by != child.name
        for child in graph.children[name]
    )


def _with_complete_joins(layout: StarLayout, dimension: Dimension) -> Dimension:
    """Return the dimension with those joins marked that bring in every row of their entity."""
    copied: dict[str, set[str]] = {}
    for attribute in dimension.attributes:
        copied.setdefault(attribute.source, set()).add(attribute.attribute)
    complete_joins = {""}
    joins = []
    for join in dimension.joins:
        relationship = layout.graph.relationship(join.relationship)
        meets_every_row = join.backwards or _is_covered(layout.graph, relationship)
        joined_by = relationship.from_attributes if join.backwards else relationship.to_attributes
        needed = layout.graph.attribute_names(join.entity) - set(joined_by)
        is_complete = (
            join.parent in complete_joins
            and meets_every_row
            and needed <= copied.get(join.name, set())
        )
        if is_complete:
            complete_joins.add(join.name)
        joins.append(join.model_copy(update={"complete": is_complete}))
    return dimension.model_copy(update={"joins": tuple(joins)})


def _is_covered(graph: ReferenceGraph, reference: Relationship) -> bool:
    return is_covered(graph.entities[reference.to_entity], reference)


def is_covered(parent: Entity, reference: Relationship) -> bool:
    """Return whether each row of the parent is referred to, and no reference leads nowhere.

    A row that is null in the columns that others refer to can't be referred to.
    """
    evidence = reference.evidence
    return (
        reference.coverage == 1.0
        and evidence.exact
        and not evidence.orphans
        and evidence.rows > 0
        and all(parent.attribute(name).required for name in reference.to_attributes)
    )


def _covered(
    graph: ReferenceGraph, roles: EntityRoles, candidates: Sequence[str], chosen: set[str]
) -> set[str]:
    """Return what is chosen, and the lookups of which every row is reached from there."""
    covered = set(chosen) | {name for name, role in roles.items() if role.kind == "part"}
    waiting = sorted(covered)
    for name in waiting:
        for parent in graph.direct_parents(name):
            lookup = parent.to_entity
            if lookup in candidates and lookup not in covered and _is_covered(graph, parent):
                covered.add(lookup)
                waiting.append(lookup)
    return covered
