"""The SQL of dimensions: members as they are, or in the versions that were seen of them.

A dimension with a history is two relations. One is only ever added to: a row for each version of
what is versioned, and one where a member has gone. The other is made anew of it: what is
overwritten comes from the source of the day, lookups by the version's own references.

A member that the source no longer has stays as it was last seen, marked as deleted: facts refer to
it. So a dimension is made of the source and of itself, as it was before.
"""

from collections.abc import Callable, Sequence

from fluid_build.modeling.dimensional.elements import (
    UNKNOWN_KEY,
    Dimension,
    DimensionAttribute,
    DimensionLink,
    Join,
)
from fluid_build.modeling.dimensional.star_names import free_alias
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.dimensional.columns import is_generated, of_attribute, technical
from fluid_build.transform.plan.dimensional.star import (
    BEGINNING,
    END,
    KEY_TYPE,
    Star,
    as_text,
    hashed,
    hashed_key,
    join_clauses,
    joined,
    key_or_unknown,
    natural_key,
    selected,
)
from fluid_build.transform.plan.dimensional.tests import key_tests, reference_tests
from fluid_build.transform.plan.dimensional.versions import (
    history_build,
    is_in_history,
    versioned_attributes,
)
from fluid_build.transform.plan.elements import Build, PlanColumn

UNKNOWN = literal(UNKNOWN_KEY)
DELETED = "is_deleted"
_MEMBERS = "members"
_VERSIONS = "versions"


def is_kept(star: Star, dimension: Dimension) -> bool:
    """Whether members stay in a dimension: one of a fact's own columns has what its fact has."""
    facts = {fact.entity_name for fact in star.model.facts}
    return not is_generated(dimension) and dimension.entity_name not in facts


def dimension_builds(star: Star, dimension: Dimension) -> tuple[Build, ...]:
    """The build of a dimension, after the one of its history where it has one."""
    if dimension.history:
        return history_build(star, dimension), _versioned(star, dimension)
    return (_plain(star, dimension),)


def derived_build(star: Star, dimension: Dimension) -> Build:
    """The build of a dimension that is made of a fact's own columns."""
    entity = dimension.entity_name
    alias = star.alias(entity, ())
    values = [f"{alias}.{star.column(entity, one.attribute)}" for one in dimension.attributes]
    types = [star.type(entity, one.attribute) for one in dimension.attributes]
    typed = list(zip(values, types, strict=True))
    columns = [
        (hashed(typed), dimension.surrogate_key),
        *zip(values, (one.name for one in dimension.attributes), strict=True),
    ]
    sql = f"SELECT DISTINCT\n{selected(columns)}\nFROM {star.staged(entity)} AS {alias}"
    return _build(star, dimension, f"{sql}\nUNION ALL\n{_unknown(star, dimension)}")


def _plain(star: Star, dimension: Dimension) -> Build:
    entity = dimension.entity_name
    alias = star.alias(entity, dimension.joins)

    def own(_: str, attribute: str) -> str:
        return f"{alias}.{star.column(entity, attribute)}"

    key = hashed_key(
        [(own("", one.name), star.type(entity, one.name)) for one in natural_key(star, dimension)]
    )
    columns = [(key, dimension.surrogate_key), *_selected(star, dimension, own)]
    clauses = join_clauses(star, dimension.joins, own)
    sql = "\n".join(
        (
            _unknown(star, dimension),
            "UNION ALL",
            f"SELECT\n{selected([*columns, ('FALSE', DELETED)])}",
            f"FROM {star.staged(entity)} AS {alias}",
            *clauses,
        )
    )
    return _build(star, dimension, sql, _gone(star, dimension, [name for _, name in columns]))


def _gone(star: Star, dimension: Dimension, columns: Sequence[str]) -> str:
    """The members that the dimension had and the source no longer has, as they were."""
    alias = star.alias(dimension.entity_name, ())
    before = free_alias("before", {alias})
    key = [star.column(dimension.entity_name, one.name) for one in natural_key(star, dimension)]
    same = [
        f"{alias}.{column} = {before}.{name}"
        for column, name in zip(key, dimension.natural_key_columns, strict=True)
    ]
    kept = [*((f"{before}.{name}", name) for name in columns), ("TRUE", DELETED)]
    return "\n".join(
        (
            f"UNION ALL\nSELECT\n{selected(kept)}",
            f"FROM model.{dimension.name} AS {before}",
            joined("LEFT JOIN", star.staged(dimension.entity_name), alias, same),
            f"WHERE\n    {alias}.{key[0]} IS NULL",
            f"    AND {before}.{dimension.surrogate_key} <> {UNKNOWN}",
        )
    )


def _selected(
    star: Star, dimension: Dimension, own: Callable[[str, str], str]
) -> list[tuple[str, str]]:
    """The attributes and links of a dimension, as (expression, name)."""
    joins = {one.name: one for one in dimension.joins}
    found = []
    for one in dimension.attributes:
        if not one.source:
            expression = own("", one.attribute)
        elif one.attribute:
            entity = joins[one.source].entity
            expression = f"{one.source}.{star.column(entity, one.attribute)}"
        else:
            expression = f"{_present(star, joins[one.source])} IS NOT NULL"
        found.append((expression, one.name))
    found += [(_link(star, dimension, link, own), link.key) for link in dimension.links]
    return found


def _link(
    star: Star, dimension: Dimension, link: DimensionLink, own: Callable[[str, str], str]
) -> str:
    """The key of what a member refers to; the unknown member's where it refers to nothing.

    Where its own columns are that key, they lead to a member that the source has lost as well.
    """
    referring = own_reference(star, dimension, link)
    if referring:
        entity = dimension.entity_name
        values = [(own("", name), star.type(entity, name)) for name in referring]
        return key_or_unknown(
            hashed_key(values), UNKNOWN, " || ".join(as_text(*value) for value in values)
        )
    entity = next(one.entity for one in dimension.joins if one.name == link.source)
    values = [
        (f"{link.source}.{star.column(entity, name)}", star.type(entity, name))
        for name in link.attributes
    ]
    return key_or_unknown(hashed_key(values), UNKNOWN, values[0][0])


def own_reference(star: Star, dimension: Dimension, link: DimensionLink) -> tuple[str, ...]:
    """The dimension's own attributes that are the natural key a link leads to, in its order.

    None where they are of other types, or where some were measured to lead nowhere: then it takes
    the row that is referred to.
    """
    join = next(one for one in dimension.joins if one.name == link.source)
    one = star.relationships[join.relationship]
    if join.parent or join.backwards or one.evidence.orphans or not one.evidence.exact:
        return ()
    ours = dict(zip(one.to_attributes, one.from_attributes, strict=True))
    if set(ours) != set(link.attributes):
        return ()
    pairs = [(ours[name], name) for name in link.attributes]
    same = all(
        star.type(one.from_entity, mine) == star.type(one.to_entity, theirs)
        for mine, theirs in pairs
    )
    return tuple(mine for mine, _ in pairs) if same else ()


def _present(star: Star, join: Join) -> str:
    """A column of a joined entity that is null only where it has no row."""
    one = star.relationships[join.relationship]
    attributes = one.from_attributes if join.backwards else one.to_attributes
    return f"{join.name}.{star.column(join.entity, attributes[0])}"


def _versioned(star: Star, dimension: Dimension) -> Build:
    entity = dimension.entity_name
    alias = star.alias(entity, dimension.joins)
    historic = {
        one.attribute
        for one in dimension.attributes
        if not one.source and is_in_history(dimension, one)
    }

    def own(_: str, attribute: str) -> str:
        owner = _MEMBERS if attribute in historic else alias
        return f"{owner}.{star.column(entity, attribute)}"

    key = [one.name for one in natural_key(star, dimension)]
    values = [(own("", name), star.type(entity, name)) for name in key]
    version = hashed([*values, (f"{_MEMBERS}.valid_from", "TIMESTAMP")])
    keys = [(version, dimension.surrogate_key), (hashed_key(values), dimension.durable_key)]
    times = [(f"{_MEMBERS}.{name}", name) for name in ("valid_from", "valid_to", "is_current")]
    same = [f"{alias}.{star.column(entity, name)} = {own('', name)}" for name in key]
    missing = f"{alias}.{star.column(entity, key[0])} IS NULL"
    columns = [*keys, *_selected(star, dimension, own), *times, (missing, DELETED)]
    source = [f"FROM {_MEMBERS}", joined("LEFT JOIN", star.staged(entity), alias, same)]
    sql = "\n".join(
        (
            _members(star, dimension),
            _unknown(star, dimension),
            f"UNION ALL\nSELECT\n{selected(columns)}",
            *source,
            *join_clauses(star, dimension.joins, own),
        )
    )
    before = free_alias("before", {alias, _MEMBERS})
    kept = [
        *keys,
        *_as_before(dimension, before, own),
        *times,
        ("TRUE", DELETED),
    ]
    gone = "\n".join(
        (
            f"WHERE NOT ({missing})",
            f"UNION ALL\nSELECT\n{selected(kept)}",
            *source,
            joined(
                "LEFT JOIN",
                f"model.{dimension.name}",
                before,
                [f"{before}.{dimension.surrogate_key} = {version}"],
            ),
            f"WHERE {missing}",
        )
    )
    return _build(star, dimension, sql, gone)


def _as_before(
    dimension: Dimension, before: str, own: Callable[[str, str], str]
) -> list[tuple[str, str]]:
    """The attributes and links of a version as they were: its own, else what the dimension had."""
    found = [
        (own("", one.attribute), one.name)
        if not one.source and is_in_history(dimension, one)
        else (f"{before}.{one.name}", one.name)
        for one in dimension.attributes
    ]
    links = [(f"COALESCE({before}.{link.key}, {UNKNOWN})", link.key) for link in dimension.links]
    return [*found, *links]


def _members(star: Star, dimension: Dimension) -> str:
    """The versions with the time in which each was valid; the first one always was."""
    entity = dimension.entity_name
    key = [star.column(entity, one.name) for one in natural_key(star, dimension)]
    kept = [
        *key,
        *(star.column(entity, one.attribute) for one in versioned_attributes(dimension)),
    ]
    by_time = f"PARTITION BY {', '.join(key)} ORDER BY load_date"
    columns = ",\n".join(f"        {name}" for name in kept)
    return f"""\
WITH {_VERSIONS} AS (
    SELECT
{columns},
        load_date,
        is_deleted,
        ROW_NUMBER() OVER ({by_time}) AS version_number,
        LEAD(load_date) OVER ({by_time}) AS replaced_at
    FROM model.{dimension.history}
),
{_MEMBERS} AS (
    SELECT
{columns},
        CASE WHEN version_number = 1 THEN {BEGINNING} ELSE load_date END AS valid_from,
        COALESCE(replaced_at, {END}) AS valid_to,
        replaced_at IS NULL AS is_current
    FROM {_VERSIONS}
    WHERE NOT is_deleted
)"""


def _unknown(star: Star, dimension: Dimension) -> str:
    """The member that stands for whoever is not known."""
    columns = [(UNKNOWN, dimension.surrogate_key)]
    if dimension.durable_key:
        columns.append((UNKNOWN, dimension.durable_key))
    for one in dimension.attributes:
        if one.unknown:
            columns.append((literal(one.unknown), one.name))
        else:
            columns.append((f"CAST(NULL AS {_type(star, dimension, one)})", one.name))
    columns += [(UNKNOWN, link.key) for link in dimension.links]
    if dimension.history:
        columns += [(BEGINNING, "valid_from"), (END, "valid_to"), ("TRUE", "is_current")]
    if is_kept(star, dimension):
        columns.append(("FALSE", DELETED))
    return f"SELECT\n{selected(columns)}"


def _type(star: Star, dimension: Dimension, one: DimensionAttribute) -> str:
    if not one.attribute:
        return "BOOLEAN"
    entity = star.joined_entity(dimension.entity_name, dimension.joins, one.source)
    return star.type(entity, one.attribute)


def _build(star: Star, dimension: Dimension, sql: str, gone: str | None = None) -> Build:
    entities = [dimension.entity_name, *(one.entity for one in dimension.joins)]
    stagings = [star.names.staging(one) for one in dict.fromkeys(entities)]
    return Build(
        name=dimension.name,
        layer="mart",
        materialization="table",
        title=dimension.name,
        description=dimension.description,
        sql=sql,
        incremental=gone,
        ref_models=(*stagings, *filter(None, (dimension.history,))),
        columns=tuple(_columns(star, dimension)),
        key=(dimension.surrogate_key,),
        tests=(
            *key_tests(dimension.name, dimension.surrogate_key),
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


def _columns(star: Star, dimension: Dimension) -> list[PlanColumn]:
    sources = dimension.source_columns
    what = "a version of a member" if dimension.history else "a member"
    found = [
        technical(
            dimension.surrogate_key,
            KEY_TYPE,
            f"The key of {what}, which facts refer to.",
            tags=("primary-key", "hash-key", "technical"),
            sources=sources,
        )
    ]
    if dimension.durable_key:
        found.append(
            technical(
                dimension.durable_key,
                KEY_TYPE,
                "The key of the member, the same in all of its versions.",
                tags=("hash-key", "technical"),
                sources=sources,
            )
        )
    found += [attribute_column(star, dimension, one) for one in dimension.attributes]
    found += [
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
        found += [
            technical("valid_from", "TIMESTAMP", "From when on the version was valid."),
            technical("valid_to", "TIMESTAMP", "Until when, itself excluded."),
            technical("is_current", "BOOLEAN", "Whether it is the version of today."),
        ]
    if is_kept(star, dimension):
        found.append(technical(DELETED, "BOOLEAN", "Whether the source no longer has the member."))
    return found


def attribute_column(star: Star, dimension: Dimension, one: DimensionAttribute) -> PlanColumn:
    """The column of one attribute of a dimension."""
    if not one.attribute:
        return technical(
            one.name,
            "BOOLEAN",
            one.description,
            tags=(),
            sources=one.source_columns,
            required=False,
            reason=one.reason,
        )
    entity = star.joined_entity(dimension.entity_name, dimension.joins, one.source)
    is_key = not one.source and one.name in dimension.natural_key_columns
    return of_attribute(
        star,
        entity,
        star.attribute(entity, one.attribute),
        one.name,
        one,
        required=False,
        tags=("business-key",) if is_key else (),
    )
