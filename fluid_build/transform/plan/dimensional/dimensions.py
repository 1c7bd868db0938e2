"""The SQL of dimensions: one row for each member as it is now, and the unknown member.

A member that the source deletes stays as it was last seen, marked as deleted, because facts refer
to it. So a dimension is made of the source and of its own rows from before.
"""

from collections.abc import Collection, Mapping

from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionAttribute,
    DimensionLink,
)
from fluid_build.transform.plan.dimensional.columns import dimension_columns
from fluid_build.transform.plan.dimensional.mart_calls import (
    Arguments,
    dimension_joins_argument,
    filled,
    hash_as,
    mart_call,
    own_columns_argument,
    renamed,
    unknown_argument,
)
from fluid_build.transform.plan.dimensional.mart_tests import reference_tests, surrogate_key_tests
from fluid_build.transform.plan.dimensional.star import Star, held_members, natural_key
from fluid_build.transform.plan.elements import Build, MacroCall, Relation, SqlType
from fluid_build.transform.plan.macro_calls import CalledSql
from fluid_build.transform.plan.quarantine import held_in
from fluid_build.transform.plan.retirement import retired_build


def derived_build(star: Star, dimension: Dimension) -> Build:
    """Return the build of a dimension that is made of a fact's own columns."""
    entity = dimension.entity_name
    types = {
        f"own.{star.column(entity, attribute.attribute)}": star.type(entity, attribute.attribute)
        for attribute in dimension.attributes
    }
    call, made = mart_call(
        "junk_dimension",
        dimension.name,
        staging=Relation(star.names.staging(entity)),
        key=dimension.surrogate_key,
        columns=own_columns_argument(star, dimension),
        hash_as=hash_as(types),
    )
    return dimension_build(star, dimension, call, made)


def current_build(star: Star, dimension: Dimension) -> Build:
    """Return the build of a dimension that keeps members as they are now."""
    key = natural_key_types(star, dimension, "own")
    call, made = mart_call(
        "dimension",
        dimension.name,
        staging=Relation(star.names.staging(dimension.entity_name)),
        key=dimension.surrogate_key,
        natural_key=natural_key_argument(star, dimension),
        columns=own_columns_argument(star, dimension),
        hash_as=hash_as(key, is_single=len(key) == 1),
        held=held_members(star, dimension),
        **members_arguments(star, dimension, {}),
    )
    return dimension_build(star, dimension, call, made)


def natural_key_argument(star: Star, dimension: Dimension) -> list[str]:
    """Return the columns of a dimension's natural key."""
    parts = zip(natural_key(star, dimension), dimension.natural_key_columns, strict=True)
    return [renamed(star.column(dimension.entity_name, part.name), name) for part, name in parts]


def natural_key_types(star: Star, dimension: Dimension, rows: str) -> dict[str, str]:
    """Return the columns of the natural key in the relation ``rows``, each with its type."""
    entity = dimension.entity_name
    return {
        f"{rows}.{star.column(entity, part.name)}": star.type(entity, part.name)
        for part in natural_key(star, dimension)
    }


def members_arguments(star: Star, dimension: Dimension, rows: Mapping[str, str]) -> Arguments:
    """Return what a dimension copies of other rows, which keys it has, and its unknown member.

    ``rows`` is the relation of the dimension's own columns that aren't in ``own``.
    """
    links = {link.key: _link(star, dimension, link) for link in dimension.links}
    hashed_as = {
        link: hash_as(
            {_in_rows(column, rows): type_ for column, type_ in types.items()},
            is_single=len(types) == 1,
        )
        for link, types in links.items()
    }
    return {
        "retired": kept_columns(star, dimension),
        "joins": dimension_joins_argument(
            star, dimension, [column for types in links.values() for column in types]
        ),
        "links": {
            link: {column: SqlType(type_) for column, type_ in types.items()}
            for link, types in links.items()
        },
        "unknown": unknown_argument(dimension),
        "hash_links_as": filled(**hashed_as),
    }


def kept_columns(star: Star, dimension: Dimension) -> list[str]:
    """Return the columns that keep the value that a member had before: the source lacks theirs.

    Of a dimension's own columns that have versions, the versions keep it.
    """
    entity, found = dimension.entity_name, star.found(dimension.entity_name, dimension.joins)
    kept = [
        attribute.name
        for attribute in dimension.attributes
        if attribute.source not in found
        or not star.present.has(
            star.joined_entity(entity, dimension.joins, attribute.source),
            *filter(None, (attribute.attribute,)),
        )
    ]
    in_versions = {
        attribute.name
        for attribute in dimension.attributes
        if dimension.history and is_in_versions(dimension, attribute)
    }
    links = [link.key for link in dimension.links if not _is_found(star, dimension, link, found)]
    return [*(name for name in kept if name not in in_versions), *links]


def _is_found(
    star: Star, dimension: Dimension, link: DimensionLink, found: Collection[str]
) -> bool:
    """Whether the source still has what a key of another dimension is made of."""
    if star.present.is_ambiguous(star.dimensions[link.dimension].entity_name):
        return False
    joined = next(joined for joined in dimension.joins if joined.name == link.source)
    referring = own_reference(star, dimension, link)
    if referring:
        return star.present.has(dimension.entity_name, *referring)
    return link.source in found and star.present.has(joined.entity, *link.attributes)


def is_in_versions(dimension: Dimension, attribute: DimensionAttribute) -> bool:
    """Whether the versions hold a column of the dimension: the versioned ones, and the key."""
    is_key = attribute.name in dimension.natural_key_columns
    return not attribute.source and (attribute.scd_type == 2 or is_key)


def _in_rows(column: str, rows: Mapping[str, str]) -> str:
    return column if "." in column else f"{rows.get(column, 'own')}.{column}"


def _link(star: Star, dimension: Dimension, link: DimensionLink) -> dict[str, str]:
    """Return what the key is made of that a member refers to, each value with its type.

    Where the member's own columns are that key, it leads to a deleted member as well.
    """
    entity = dimension.entity_name
    referring = own_reference(star, dimension, link)
    if referring:
        return {star.column(entity, name): star.type(entity, name) for name in referring}
    joined = next(joined for joined in dimension.joins if joined.name == link.source)
    return {
        f"{link.source}.{star.column(joined.entity, name)}": star.type(joined.entity, name)
        for name in link.attributes
    }


def own_reference(star: Star, dimension: Dimension, link: DimensionLink) -> tuple[str, ...]:
    """Return the dimension's own attributes that are the natural key a link leads to, in order.

    Empty where they are of other types, or where some were measured to be orphans: then the key
    is taken from the row that is referred to.
    """
    joined = next(candidate for candidate in dimension.joins if candidate.name == link.source)
    relationship = star.relationships[joined.relationship]
    evidence = relationship.evidence
    if joined.parent or joined.backwards or evidence.orphans or not evidence.exact:
        return ()
    own = dict(zip(relationship.to_attributes, relationship.from_attributes, strict=True))
    if set(own) != set(link.attributes):
        return ()
    pairs = [(own[theirs], theirs) for theirs in link.attributes]
    has_same_types = all(
        star.type(relationship.from_entity, ours) == star.type(relationship.to_entity, theirs)
        for ours, theirs in pairs
    )
    return tuple(ours for ours, _ in pairs) if has_same_types else ()


def dimension_build(star: Star, dimension: Dimension, call: MacroCall, made: CalledSql) -> Build:
    """Return the build of a dimension by the call that it's made of."""
    entities = dict.fromkeys(
        (dimension.entity_name, *(joined.entity for joined in dimension.joins))
    )
    stagings = [star.names.staging(entity) for entity in entities]
    held = call.arguments.get("held")
    quarantine = held_in(held) if isinstance(held, Mapping) else ()
    build = Build(
        name=dimension.name,
        layer="mart",
        materialization="table",
        title=dimension.name,
        description=dimension.description,
        sql=made.sql,
        next_load=made.next_load,
        call=call,
        ref_models=(*stagings, *quarantine, *filter(None, (dimension.history,))),
        columns=tuple(dimension_columns(star, dimension)),
        key=(dimension.surrogate_key,),
        tests=(
            *surrogate_key_tests(dimension.name, dimension.surrogate_key),
            *(
                test
                for link in dimension.links
                for test in reference_tests(
                    dimension.name,
                    link.key,
                    link.dimension,
                    star.dimensions[link.dimension].member_key,
                    link.role,
                )
            ),
        ),
        mapped_source_tables=dimension.mapped_source_tables,
        source_columns=dimension.source_columns,
        reason=dimension.reason,
    )
    return build if is_loaded(star, dimension) else retired_build(build)


def is_loaded(star: Star, dimension: Dimension) -> bool:
    """Whether the source still has the members of a dimension; facts have those of derived ones."""
    key = [] if star.is_derived(dimension) else natural_key(star, dimension)
    return star.present.has(dimension.entity_name, *(part.name for part in key))
