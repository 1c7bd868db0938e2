"""The SQL of dimensions with a history: one row for each version of each member.

Two relations: the versions only ever get rows added (``versions.py``), and the dimension is
rebuilt from them. Overwritten columns come from the source of today, lookups from the version's
own references.
"""

from fluid_build.modeling.dimensional.elements import Dimension
from fluid_build.modeling.dimensional.star_names import free_alias
from fluid_build.transform.plan.dimensional.dimensions import (
    Named,
    dimension_build,
    members_columns,
    unknown_member,
)
from fluid_build.transform.plan.dimensional.star import (
    BEGINNING,
    DELETED,
    END,
    UNKNOWN,
    Columns,
    Star,
    join_clauses,
    key_hash,
    natural_key,
)
from fluid_build.transform.plan.dimensional.versions import (
    is_in_versions,
    versioned_attributes,
    versions_build,
)
from fluid_build.transform.plan.elements import Build
from fluid_build.transform.plan.hashing import comparable
from fluid_build.transform.plan.sql_layout import join, query, union_all, with_ctes

_MEMBERS = "members"
_VERSIONS = "versions"


def versioned_builds(star: Star, dimension: Dimension) -> tuple[Build, ...]:
    """Return the builds of a dimension's versions and of the dimension itself."""
    return versions_build(star, dimension), _dimension(star, dimension)


def _dimension(star: Star, dimension: Dimension) -> Build:
    entity = dimension.entity_name
    alias = star.alias(entity, dimension.joins)
    in_versions = {
        attribute.attribute
        for attribute in dimension.attributes
        if is_in_versions(dimension, attribute)
    }

    def own(_: str, attribute: str) -> str:
        rows = _MEMBERS if attribute in in_versions else alias
        return f"{rows}.{star.column(entity, attribute)}"

    key = [part.name for part in natural_key(star, dimension)]
    values = [(own("", name), star.type(entity, name)) for name in key]
    version = key_hash([*values, (f"{_MEMBERS}.valid_from", "TIMESTAMP")])
    keys = [(version, dimension.surrogate_key), (key_hash(values), dimension.durable_key)]
    validity = [(f"{_MEMBERS}.{name}", name) for name in ("valid_from", "valid_to", "is_current")]
    same = [f"{alias}.{star.column(entity, name)} = {own('', name)}" for name in key]
    is_deleted = f"{alias}.{star.column(entity, key[0])} IS NULL"
    todays_row = join("LEFT JOIN", star.staged(entity), alias, same)
    members = query(
        [*keys, *members_columns(star, dimension, own), *validity, (is_deleted, DELETED)],
        _MEMBERS,
        todays_row,
        *join_clauses(star, dimension.joins, own),
    )
    before = free_alias("before", {alias, _MEMBERS})
    same_version = [f"{before}.{dimension.surrogate_key} = {version}"]
    deleted = query(
        [*keys, *_columns_before(dimension, before, own), *validity, ("TRUE", DELETED)],
        _MEMBERS,
        todays_row,
        join("LEFT JOIN", f"model.{dimension.name}", before, same_version),
        where=(is_deleted,),
    )
    return dimension_build(
        star,
        dimension,
        with_ctes(_validity(star, dimension), union_all(unknown_member(star, dimension), members)),
        f"WHERE NOT ({is_deleted})\nUNION ALL\n{deleted}",
    )


def _columns_before(dimension: Dimension, before: str, own: Columns) -> list[Named]:
    """Return what a deleted member's version has of its own, and else what the dimension had."""
    columns = [
        (own("", attribute.attribute), attribute.name)
        if is_in_versions(dimension, attribute)
        else (f"{before}.{attribute.name}", attribute.name)
        for attribute in dimension.attributes
    ]
    links = [(f"COALESCE({before}.{link.key}, {UNKNOWN})", link.key) for link in dimension.links]
    return [*columns, *links]


def _validity(star: Star, dimension: Dimension) -> list[tuple[str, str]]:
    """Return the versions with the time in which each is valid; the first is from the beginning.

    A deletion ends the version before it, and is none itself.
    """
    entity = dimension.entity_name
    parts = natural_key(star, dimension)
    key = [star.column(entity, part.name) for part in parts]
    versioned = [
        star.column(entity, attribute.attribute) for attribute in versioned_attributes(dimension)
    ]
    member = [comparable(star.column(entity, p.name), star.type(entity, p.name)) for p in parts]
    by_load = f"PARTITION BY {', '.join(member)} ORDER BY load_date"
    versions = query(
        [
            *key,
            *versioned,
            "load_date",
            "is_deleted",
            (f"ROW_NUMBER() OVER ({by_load})", "version_number"),
            (f"LEAD(load_date) OVER ({by_load})", "replaced_at"),
        ],
        f"model.{dimension.history}",
    )
    members = query(
        [
            *key,
            *versioned,
            (f"CASE WHEN version_number = 1 THEN {BEGINNING} ELSE load_date END", "valid_from"),
            (f"COALESCE(replaced_at, {END})", "valid_to"),
            ("replaced_at IS NULL", "is_current"),
        ],
        _VERSIONS,
        where=("NOT is_deleted",),
    )
    return [(_VERSIONS, versions), (_MEMBERS, members)]
