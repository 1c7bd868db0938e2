"""The SQL of dimensions: one row for each member as it is now, and the unknown member.

A member that the source deletes stays as it was last seen, marked as deleted, because facts refer
to it. So a dimension is made of the source and of its own rows from before.
"""

from collections.abc import Sequence

from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionAttribute,
    DimensionLink,
    Join,
)
from fluid_build.modeling.dimensional.star_names import free_alias
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.dimensional.columns import dimension_columns
from fluid_build.transform.plan.dimensional.mart_tests import reference_tests, surrogate_key_tests
from fluid_build.transform.plan.dimensional.star import (
    BEGINNING,
    DELETED,
    END,
    UNKNOWN,
    Columns,
    Star,
    join_clauses,
    key_hash,
    key_or_unknown,
    natural_key,
    values_hash,
)
from fluid_build.transform.plan.elements import Build
from fluid_build.transform.plan.sql_layout import (
    as_text,
    join,
    query,
    select_list,
    union_all,
)

Named = tuple[str, str]
"""An SQL expression and the name of its column."""


def derived_build(star: Star, dimension: Dimension) -> Build:
    """Return the build of a dimension that is made of a fact's own columns."""
    entity = dimension.entity_name
    alias = star.alias(entity, ())
    values = [
        f"{alias}.{star.column(entity, attribute.attribute)}" for attribute in dimension.attributes
    ]
    types = [star.type(entity, attribute.attribute) for attribute in dimension.attributes]
    columns = [
        (values_hash(list(zip(values, types, strict=True))), dimension.surrogate_key),
        *zip(values, (attribute.name for attribute in dimension.attributes), strict=True),
    ]
    members = query(columns, f"{star.staged(entity)} AS {alias}", distinct=True)
    return dimension_build(star, dimension, union_all(members, unknown_member(star, dimension)))


def current_build(star: Star, dimension: Dimension) -> Build:
    """Return the build of a dimension that keeps members as they are now."""
    entity = dimension.entity_name
    alias = star.alias(entity, dimension.joins)

    def own(_: str, attribute: str) -> str:
        return f"{alias}.{star.column(entity, attribute)}"

    key = key_hash(
        [
            (own("", part.name), star.type(entity, part.name))
            for part in natural_key(star, dimension)
        ]
    )
    columns = [(key, dimension.surrogate_key), *members_columns(star, dimension, own)]
    members = query(
        [*columns, ("FALSE", DELETED)],
        f"{star.staged(entity)} AS {alias}",
        *join_clauses(star, dimension.joins, own),
    )
    deleted = _deleted_members(star, dimension, [name for _, name in columns])
    return dimension_build(
        star,
        dimension,
        union_all(unknown_member(star, dimension), members),
        f"UNION ALL\n{deleted}",
    )


def _deleted_members(star: Star, dimension: Dimension, columns: Sequence[str]) -> str:
    """Return the members that the dimension has and the source no longer has, as they were."""
    entity = dimension.entity_name
    alias = star.alias(entity, ())
    before = free_alias("before", {alias})
    key = [star.column(entity, part.name) for part in natural_key(star, dimension)]
    same = [
        f"{alias}.{column} = {before}.{name}"
        for column, name in zip(key, dimension.natural_key_columns, strict=True)
    ]
    return query(
        [*(f"{before}.{name}" for name in columns), ("TRUE", DELETED)],
        f"model.{dimension.name} AS {before}",
        join("LEFT JOIN", star.staged(entity), alias, same),
        where=(
            f"{alias}.{key[0]} IS NULL",
            f"{before}.{dimension.surrogate_key} <> {UNKNOWN}",
        ),
    )


def members_columns(star: Star, dimension: Dimension, own: Columns) -> list[Named]:
    """Return the attributes and links of a dimension's members."""
    joins = {joined.name: joined for joined in dimension.joins}
    columns = []
    for attribute in dimension.attributes:
        if not attribute.source:
            expression = own("", attribute.attribute)
        elif attribute.attribute:
            entity = joins[attribute.source].entity
            expression = f"{attribute.source}.{star.column(entity, attribute.attribute)}"
        else:
            expression = f"{_key_column(star, joins[attribute.source])} IS NOT NULL"
        columns.append((expression, attribute.name))
    columns += [(_link(star, dimension, link, own), link.key) for link in dimension.links]
    return columns


def _link(star: Star, dimension: Dimension, link: DimensionLink, own: Columns) -> str:
    """Return the key of what a member refers to; the unknown member's where it refers to nothing.

    Where the member's own columns are that key, it leads to a deleted member as well.
    """
    referring = own_reference(star, dimension, link)
    if referring:
        entity = dimension.entity_name
        values = [(own("", name), star.type(entity, name)) for name in referring]
        is_present = " || ".join(as_text(*value) for value in values)
        return key_or_unknown(key_hash(values), is_present)
    entity = next(joined.entity for joined in dimension.joins if joined.name == link.source)
    values = [
        (f"{link.source}.{star.column(entity, name)}", star.type(entity, name))
        for name in link.attributes
    ]
    return key_or_unknown(key_hash(values), values[0][0])


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


def _key_column(star: Star, joined: Join) -> str:
    """Return a column of a joined entity that is null only where it has no row."""
    relationship = star.relationships[joined.relationship]
    attributes = relationship.from_attributes if joined.backwards else relationship.to_attributes
    return f"{joined.name}.{star.column(joined.entity, attributes[0])}"


def unknown_member(star: Star, dimension: Dimension) -> str:
    """Return the member that rows without a known one refer to."""
    columns = [(UNKNOWN, dimension.surrogate_key)]
    if dimension.durable_key:
        columns.append((UNKNOWN, dimension.durable_key))
    for attribute in dimension.attributes:
        null = f"CAST(NULL AS {_type(star, dimension, attribute)})"
        value = literal(attribute.unknown) if attribute.unknown else null
        columns.append((value, attribute.name))
    columns += [(UNKNOWN, link.key) for link in dimension.links]
    if dimension.history:
        columns += [(BEGINNING, "valid_from"), (END, "valid_to"), ("TRUE", "is_current")]
    if star.is_kept(dimension):
        columns.append(("FALSE", DELETED))
    return f"SELECT\n{select_list(columns)}"


def _type(star: Star, dimension: Dimension, attribute: DimensionAttribute) -> str:
    if not attribute.attribute:
        return "BOOLEAN"
    entity = star.joined_entity(dimension.entity_name, dimension.joins, attribute.source)
    return star.type(entity, attribute.attribute)


def dimension_build(
    star: Star, dimension: Dimension, sql: str, deleted_members: str | None = None
) -> Build:
    """Return the build of a dimension; ``deleted_members`` follows its SQL from the second load."""
    entities = dict.fromkeys(
        (dimension.entity_name, *(joined.entity for joined in dimension.joins))
    )
    stagings = [star.names.staging(entity) for entity in entities]
    return Build(
        name=dimension.name,
        layer="mart",
        materialization="table",
        title=dimension.name,
        description=dimension.description,
        sql=sql,
        incremental=deleted_members,
        ref_models=(*stagings, *filter(None, (dimension.history,))),
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
