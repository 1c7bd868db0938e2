"""The figures that a dimension must have in common with its source."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.dimensional.elements import (
    Dimension,
    DimensionAttribute,
    DimensionLink,
)
from fluid_build.sources.sql import quote
from fluid_build.transform.plan.dimensional.dimensions import kept_columns, own_reference
from fluid_build.transform.plan.dimensional.shared_rows import from_source, shared_rows
from fluid_build.transform.plan.dimensional.star import (
    DELETED,
    UNKNOWN,
    Star,
    natural_key,
    own_columns,
)
from fluid_build.transform.plan.elements import Check
from fluid_build.transform.plan.sql_layout import conditions, exists, join, nested, query


def dimension_checks(star: Star, dimension: Dimension) -> Iterator[Check]:
    """Return the checks of a dimension; nothing of the source is in the calendar alone.

    Nothing is compared with a table or a natural key that the source has no longer.
    """
    if dimension.is_generated:
        return
    key = (part.name for part in natural_key(star, dimension))
    if not star.present.has(dimension.entity_name, *key):
        return
    yield _members(star, dimension)
    if star.is_derived(dimension):
        return
    kept = kept_columns(star, dimension)
    copied = [
        attribute
        for attribute in dimension.attributes
        if attribute.source and attribute.attribute and attribute.name not in kept
    ]
    if copied:
        yield _joined_columns(star, dimension, copied)
    for link in dimension.links:
        if link.key not in kept:
            yield _link(star, dimension, link)


def _members(star: Star, dimension: Dimension) -> Check:
    """Check that a dimension has a member for each natural key, and the unknown one."""
    entity = star.entities[dimension.entity_name]
    spelled = {
        attribute.name: _distinguishing(
            star.present.as_modelled(quote(alias), attribute), attribute.source_type
        )
        for alias, attribute in star.present.columns(entity)
    }
    key = ", ".join(spelled[part.name] for part in natural_key(star, dimension))
    where = ["NOT is_deleted"] if star.is_kept(dimension) else []
    where += ["is_current"] if dimension.history else []
    return Check(
        name=f"members of {dimension.name}",
        kind="rows",
        table=entity.name,
        expected=(
            f"SELECT COUNT(*) + {int(dimension.has_unknown_member)}\n"
            f"FROM (SELECT DISTINCT {key} FROM {star.source(entity.name)})"
        ),
        actual=query(["COUNT(*)"], f"model.{dimension.name}", where=where),
        reason="One row for each natural key, and one for the unknown member.",
    )


def _distinguishing(column: str, type_: str) -> str:
    """Return SQL that tells apart all values that are stored apart, as the keys of a model do.

    A collation calls ``a`` and ``A`` equal, and DuckDB a day and 24 hours.
    """
    if type_ == "VARCHAR":
        return f"{column} COLLATE C"
    return f"CAST({column} AS VARCHAR)" if type_ == "INTERVAL" else column


def _joined_columns(
    star: Star, dimension: Dimension, copied: Sequence[DimensionAttribute]
) -> Check:
    """Check that columns which came into a dimension by joins are those of the joined rows."""
    entity = dimension.entity_name
    joins = {join.name: join for join in dimension.joins}
    key = [part.name for part in natural_key(star, dimension)]
    own = own_columns(dimension)
    columns = [
        *(f"own.{star.column(entity, name)}" for name in key),
        *(
            f"{attribute.source}.{star.column(joins[attribute.source].entity, attribute.attribute)}"
            for attribute in copied
        ),
    ]
    expected = from_source(star, entity, dimension.joins, columns)
    where = [f"{dimension.surrogate_key} <> {UNKNOWN}", f"NOT {DELETED}"]
    actual = query(
        [*(own[name] for name in key), *(attribute.name for attribute in copied)],
        f"model.{dimension.name}",
        where=[*where, "is_current"] if dimension.history else where,
    )
    return Check(
        name=f"joined columns of {dimension.name}",
        kind="lost",
        table=entity,
        expected=f"SELECT COUNT(*)\nFROM {star.source(entity)}",
        actual=shared_rows(expected, actual, width=len(columns)),
        differing=f"{expected}\nEXCEPT ALL\n{actual}",
        reason="Joined columns have the values of the rows that were joined.",
    )


def _link(star: Star, dimension: Dimension, link: DimensionLink) -> Check:
    """Check that every member refers to one member of another dimension."""
    target = star.dimensions[link.dimension]
    members = f"(SELECT DISTINCT {target.member_key} FROM model.{target.name})"
    same = [f"built.{link.key} = referred.{target.member_key}"]
    orphans = _known_orphans(star, dimension, link)
    kind = "LEFT JOIN" if orphans else "JOIN"
    actual = query(
        ["COUNT(*)"], f"model.{dimension.name} AS built", join(kind, members, "referred", same)
    )
    return Check(
        name=f"{dimension.name}.{link.key} finds one member of {link.dimension}",
        kind="reference",
        table=dimension.entity_name,
        expected=f"SELECT COUNT(*)\nFROM model.{dimension.name}",
        actual=f"{actual}{orphans}",
        reason=link.reason,
    )


def _known_orphans(star: Star, dimension: Dimension, link: DimensionLink) -> str:
    """Return a WHERE that also counts orphans of the source itself; the star didn't lose them."""
    referring = own_reference(star, dimension, link)
    if not referring:
        return ""
    entity = next(join.entity for join in dimension.joins if join.name == link.source)
    own = own_columns(dimension)
    same = [
        f"there.{star.column(entity, theirs)} = built.{own[ours]}"
        for ours, theirs in zip(referring, link.attributes, strict=True)
    ]
    referred_key = star.dimensions[link.dimension].member_key
    in_source = exists(f"{nested(star.selects[entity])} AS there", same)
    either = [f"referred.{referred_key} IS NOT NULL", f"NOT {in_source}"]
    return f"\nWHERE\n{conditions(either, 'OR')}"
