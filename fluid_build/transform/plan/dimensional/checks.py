"""The figures that a star must have in common with its source."""

from collections.abc import Iterator, Sequence

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.dimensional.elements import (
    Bridge,
    Dimension,
    DimensionLink,
    DimensionReference,
    Fact,
    Join,
    Measure,
)
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.sql_names import SqlNames
from fluid_build.sources.sql import quote_all
from fluid_build.transform.plan.dimensional.columns import is_generated
from fluid_build.transform.plan.dimensional.dimensions import (
    DELETED,
    UNKNOWN,
    is_kept,
    own_reference,
)
from fluid_build.transform.plan.dimensional.facts import (
    columns_of_owner,
    is_derived,
    references_of,
    same_member,
    wanted_key,
)
from fluid_build.transform.plan.dimensional.rebuilds import Finder, finder_of, members
from fluid_build.transform.plan.dimensional.star import (
    Star,
    join_clauses,
    joined,
    natural_key,
    star_of,
)
from fluid_build.transform.plan.elements import Check
from fluid_build.transform.plan.staging import aliases

_FLOATS = frozenset({"FLOAT", "DOUBLE"})

_REFERENCES_AT_ONCE = 6
"""Every join hands on what those before it found, so a query's time grows with their square."""


def mart_checks(model: LogicalModel, names: SqlNames) -> tuple[Check, ...]:
    """Rows at each grain, sums of measures, and where each reference lands."""
    star = star_of(model, names)
    finder = finder_of(star)
    return (
        *(check for one in star.model.dimensions for check in _of_dimension(star, one)),
        *(check for one in star.model.facts for check in _of_owner(star, one, finder)),
        *(check for one in star.model.bridges for check in _of_owner(star, one, finder)),
    )


def _of_dimension(star: Star, dimension: Dimension) -> Iterator[Check]:
    if is_generated(dimension):
        return
    yield _members(star, dimension)
    if any(one.entity_name == dimension.entity_name for one in star.model.facts):
        return
    if any(one.source and one.attribute for one in dimension.attributes):
        yield _looked_up(star, dimension)
    for link in dimension.links:
        yield _link(star, dimension, link)


def _link(star: Star, dimension: Dimension, link: DimensionLink) -> Check:
    target = star.dimensions[link.dimension]
    members = f"(SELECT DISTINCT {target.member_key} FROM model.{target.name})"
    same = [f"built.{link.key} = referred.{target.member_key}"]
    orphans = _orphans(star, dimension, link)
    return Check(
        name=f"{dimension.name}.{link.key} leads to one member of {link.dimension}",
        kind="reference",
        table=dimension.entity_name,
        expected=f"SELECT COUNT(*)\nFROM model.{dimension.name}",
        actual=(
            f"SELECT COUNT(*)\nFROM model.{dimension.name} AS built\n"
            + joined("LEFT JOIN" if orphans else "JOIN", members, "referred", same)
            + orphans
        ),
        reason=link.reason,
    )


def _orphans(star: Star, dimension: Dimension, link: DimensionLink) -> str:
    """Leaves out who refers to nobody in the source itself, which takes nothing from the star."""
    referring = own_reference(star, dimension, link)
    if not referring:
        return ""
    entity = next(one.entity for one in dimension.joins if one.name == link.source)
    named = {one.attribute: one.name for one in dimension.attributes if not one.source}
    same = "\n            AND ".join(
        f"there.{star.column(entity, theirs)} = built.{named[ours]}"
        for ours, theirs in zip(referring, link.attributes, strict=True)
    )
    return (
        f"\nWHERE\n    referred.{star.dimensions[link.dimension].member_key} IS NOT NULL"
        f"\n    OR NOT EXISTS (\n        SELECT 1\n        FROM (\n{star.selects[entity]}\n"
        f"        ) AS there\n        WHERE\n            {same}\n    )"
    )


def _members(star: Star, dimension: Dimension) -> Check:
    """A dimension has a member for each natural key, and the unknown one."""
    entity = star.entities[dimension.entity_name]
    source = f"source.{star.names.table(entity.name)}"
    own = {one.name: one.attribute for one in dimension.attributes if not one.source}
    key = [own[name] for name in dimension.natural_key_columns]
    where = "\nWHERE\n    NOT is_deleted" if is_kept(star, dimension) else ""
    current = "\n    AND is_current" if dimension.history else ""
    return Check(
        name=f"members of {dimension.name}",
        kind="rows",
        table=entity.name,
        expected=(
            f"SELECT COUNT(*) + {int(dimension.has_unknown_member)}\n"
            f"FROM (SELECT DISTINCT {_raw(entity, key)} FROM {source})"
        ),
        actual=f"SELECT COUNT(*)\nFROM model.{dimension.name}{where}{current}",
        reason="One row for each natural key, and one for the unknown member.",
    )


def _looked_up(star: Star, dimension: Dimension) -> Check:
    """The columns that came into a dimension by its joins are those of the rows referred to."""
    entity = dimension.entity_name
    joins = {one.name: one for one in dimension.joins}
    copied = [one for one in dimension.attributes if one.source and one.attribute]
    key = [one.name for one in natural_key(star, dimension)]
    own = {one.attribute: one.name for one in dimension.attributes if not one.source}
    columns = [
        *(f"own.{star.column(entity, name)}" for name in key),
        *(f"{one.source}.{star.column(joins[one.source].entity, one.attribute)}" for one in copied),
    ]
    wanted = _from_source(star, entity, dimension.joins, columns)
    built = ",\n    ".join((*(own[name] for name in key), *(one.name for one in copied)))
    current = "\n    AND is_current" if dimension.history else ""
    actual = (
        f"SELECT\n    {built}\nFROM model.{dimension.name}\n"
        f"WHERE\n    {dimension.surrogate_key} <> {UNKNOWN}\n    AND NOT {DELETED}{current}"
    )
    return Check(
        name=f"what {dimension.name} says of others",
        kind="lost",
        table=entity,
        expected=f"SELECT COUNT(*)\nFROM source.{star.names.table(entity)}",
        actual=_shared_rows(wanted, actual, width=len(columns)),
        differing=f"{wanted}\nEXCEPT ALL\n{actual}",
        reason="What was joined in is what the rows that it refers to say.",
    )


def _of_owner(star: Star, owner: Fact | Bridge, finder: Finder) -> Iterator[Check]:
    entity = star.entities[owner.entity_name]
    source = f"source.{star.names.table(entity.name)}"
    yield Check(
        name=f"rows of {owner.name}",
        kind="rows",
        table=entity.name,
        expected=f"SELECT COUNT(*) FROM {source}",
        actual=f"SELECT COUNT(*) FROM model.{owner.name}",
        reason=owner.grain,
    )
    if isinstance(owner, Fact):
        for measure in owner.measures:
            yield _sum(star, owner, measure)
    for one in references_of(owner):
        yield _on_one_row(star, owner, one, source)
        yield from _known_members(star, owner, one)
        if one.carried:
            yield _carried(owner, one, star.dimensions[one.dimension], source)
    if references_of(owner):
        yield from _right_members(star, owner, finder, source)


def _sum(star: Star, fact: Fact, measure: Measure) -> Check:
    """The sum of a measure; floats are added in the order of their size, so that it repeats."""
    entity = star.entities[fact.entity_name]
    type_ = star.type(entity.name, measure.column)
    staged = star.column(entity.name, measure.column)
    # Integers of 128 bits overflow when they are added up.
    wide = type_ in {"HUGEINT", "UHUGEINT"} or type_.startswith("DECIMAL(38")

    def total(column: str) -> str:
        if type_ in _FLOATS:
            return f"SUM({column} ORDER BY {column})"
        return f"SUM(CAST({column} AS DOUBLE) ORDER BY {column})" if wide else f"SUM({column})"

    return Check(
        name=f"sum of {fact.name}.{measure.name}",
        kind="sum",
        table=entity.name,
        expected=f"SELECT {total(staged)}\nFROM (\n{star.selects[entity.name]}\n) AS original",
        actual=f"SELECT {total(measure.name)}\nFROM model.{fact.name}",
        reason=measure.reason,
    )


def _on_one_row(star: Star, owner: Fact | Bridge, one: DimensionReference, source: str) -> Check:
    dimension = star.dimensions[one.dimension]
    key = wanted_key(owner, dimension)
    target = f"model.{dimension.name}"
    if key != dimension.surrogate_key:
        target = f"(SELECT DISTINCT {key} FROM {target})"
    return Check(
        name=f"{owner.name}.{one.key} leads to one row of {one.dimension}",
        kind="reference",
        table=owner.entity_name,
        expected=f"SELECT COUNT(*) FROM {source}",
        actual=(
            f"SELECT COUNT(*)\nFROM model.{owner.name} AS built\n"
            f"JOIN {target} AS referred\n    ON built.{one.key} = referred.{key}"
        ),
        differing=(
            f"SELECT {one.key}\nFROM model.{owner.name}\n"
            f"WHERE {one.key} NOT IN (SELECT {key} FROM model.{dimension.name})"
        ),
        reason="Every row is counted once, whatever it is grouped by.",
    )


def _known_members(star: Star, owner: Fact | Bridge, one: DimensionReference) -> Iterator[Check]:
    """Whoever is in a dimension, deleted or not, is unknown to no row that names it."""
    dimension = star.dimensions[one.dimension]
    held = columns_of_owner(owner)
    is_natural = set(one.to_columns) == set(dimension.natural_key_columns)
    own = one.source or not held.keys() >= set(one.columns)
    if own or not is_natural or not is_kept(star, dimension):
        return
    same = "\n        AND ".join(
        same_member(star, one, owner.entity_name, "built", "there", places=held)
    )
    yield Check(
        name=f"{owner.name}.{one.key} knows the members of {one.dimension}",
        kind="reference",
        table=owner.entity_name,
        expected="SELECT CAST(0 AS BIGINT)",
        actual=(
            f"SELECT COUNT(*)\nFROM model.{owner.name} AS built\n"
            f"WHERE\n    built.{one.key} = {UNKNOWN}\n    AND EXISTS (\n        SELECT 1\n"
            f"        FROM model.{dimension.name} AS there\n        WHERE\n        {same}\n    )"
        ),
        reason="A member that the source has lost is still the one that was referred to.",
    )


def _right_members(
    star: Star, owner: Fact | Bridge, finder: Finder, source: str
) -> Iterator[Check]:
    """Each row refers to the same members in the star as its row does in the source.

    Where a key tells the rows apart, a few references are compared at a time.
    """
    references = references_of(owner)
    primary = star.entities[owner.entity_name].primary_key
    at_once = _REFERENCES_AT_ONCE if primary is not None and primary.holds else len(references)
    groups = [references[n : n + at_once] for n in range(0, len(references), at_once)]
    for number, group in enumerate(groups, start=1):
        part = f" ({number} of {len(groups)})" if len(groups) > 1 else ""
        yield _members_of_group(star, owner, finder, source, group, part)


def _members_of_group(
    star: Star,
    owner: Fact | Bridge,
    finder: Finder,
    source: str,
    references: Sequence[DimensionReference],
    part: str,
) -> Check:
    key = _key(star, owner.entity_name)
    wanted = _referred(star, owner, references, key)
    found = finder.found(star.entities[owner.entity_name])
    columns = [found.expressions[name] for name in key]
    clauses = [found.from_clause]
    for number, one in enumerate(references, start=1):
        dimension = star.dimensions[one.dimension]
        alias = f"member_{number}_"
        wanted_ = wanted_key(owner, dimension)
        relation = members(dimension, wanted_, dimension.natural_key_columns)
        clauses.append(joined("JOIN", relation, alias, [f"built.{one.key} = {alias}.{wanted_}"]))
        columns += [
            # Whom the source no longer has, it refers to no more.
            f"CASE WHEN {alias}.{DELETED} THEN NULL ELSE {alias}.{name} END"
            if is_kept(star, dimension)
            else f"{alias}.{name}"
            for name in dimension.natural_key_columns
        ]
    listed = ",\n    ".join(columns)
    actual = "\n".join((f"SELECT\n    {listed}", *clauses))
    return Check(
        name=f"{owner.name} refers to the right members{part}",
        kind="reference",
        table=owner.entity_name,
        expected=f"SELECT COUNT(*)\nFROM {source}",
        actual=_shared_rows(wanted, actual, width=len(columns)),
        differing=f"{wanted}\nEXCEPT ALL\n{actual}",
        reason="Every reference leads where it does in the source, or to the unknown member.",
    )


def _referred(
    star: Star,
    owner: Fact | Bridge,
    references: Sequence[DimensionReference],
    key: Sequence[str],
) -> str:
    """By the source alone: the key of each row, and the natural keys of what it refers to."""
    entity = owner.entity_name
    joins = _leading_to(owner.joins if isinstance(owner, Fact) else (), references)
    columns = [f"own.{star.column(entity, name)}" for name in key]
    clauses = []
    for number, one in enumerate(references, start=1):
        dimension = star.dimensions[one.dimension]
        place = one.source or "own"
        from_ = star.joined_entity(entity, joins, one.source)
        if is_generated(dimension):
            columns.append(f"CAST({place}.{star.column(from_, one.columns[0])} AS DATE)")
        elif is_derived(star, one):
            columns += [f"{place}.{star.column(from_, name)}" for name in one.columns]
        else:
            alias = f"referred_{number}_"
            columns += [
                f"{alias}.{star.column(dimension.entity_name, found.name)}"
                for found in natural_key(star, dimension)
            ]
            conditions = same_member(star, one, from_, place, alias, staged=True)
            relation = f"(\n{star.selects[dimension.entity_name]}\n)"
            clauses.append(joined("LEFT JOIN", relation, alias, conditions))
    return "\n".join((_from_source(star, entity, joins, columns), *clauses))


def _leading_to(joins: Sequence[Join], references: Sequence[DimensionReference]) -> list[Join]:
    """The joins that references are read from, with those that these hang on."""
    needed = {one.source for one in references}
    for join in reversed(joins):
        if join.name in needed:
            needed.add(join.parent)
    return [join for join in joins if join.name in needed]


def _carried(
    owner: Fact | Bridge, one: DimensionReference, dimension: Dimension, source: str
) -> Check:
    same = [f"built.{name} IS NOT DISTINCT FROM referred.{column}" for column, name in one.carried]
    conditions = [f"built.{one.key} = referred.{dimension.surrogate_key}", *same]
    return Check(
        name=f"what {owner.name} carries of {one.dimension} by {one.key}",
        kind="lost",
        table=owner.entity_name,
        expected=f"SELECT COUNT(*) FROM {source}",
        actual=(
            f"SELECT COUNT(*)\nFROM model.{owner.name} AS built\n"
            + joined("JOIN", f"model.{dimension.name}", "referred", conditions)
        ),
        reason=f"The columns of {one.dimension} are the same in the wide table.",
    )


def _key(star: Star, entity: str) -> tuple[str, ...]:
    primary = star.entities[entity].primary_key
    return primary.attributes if primary is not None else ()


def _from_source(star: Star, entity: str, joins: Sequence[Join], columns: Sequence[str]) -> str:
    """A query on the source alone, with our names and types: an entity and what it leads to."""
    clauses = join_clauses(
        star,
        joins,
        lambda _, attribute: f"own.{star.column(entity, attribute)}",
        relation=lambda name: f"(\n{star.selects[name]}\n)",
    )
    listed = ",\n    ".join(columns)
    return "\n".join(
        (f"SELECT\n    {listed}", f"FROM (\n{star.selects[entity]}\n) AS own", *clauses)
    )


def _shared_rows(wanted: str, actual: str, *, width: int) -> str:
    """How many rows two queries of ``width`` columns share, counting repeated rows.

    ``INTERSECT ALL`` gives the same number, but numbers the rows of both sides in windows first,
    which takes half as long again.
    """
    keys = ", ".join(f"k{number}" for number in range(1, width + 1))
    return (
        "SELECT CAST(COALESCE(SUM(LEAST(wanted, actual)), 0) AS BIGINT)\nFROM (\n"
        "    SELECT\n        COUNT(*) FILTER (WHERE is_wanted) AS wanted,\n"
        "        COUNT(*) FILTER (WHERE NOT is_wanted) AS actual\n    FROM (\n"
        f"SELECT TRUE, *\nFROM (\n{wanted}\n) AS ours\nUNION ALL\n"
        f"SELECT FALSE, *\nFROM (\n{actual}\n) AS theirs\n"
        f"    ) AS both_sides (is_wanted, {keys})\n    GROUP BY {keys}\n) AS counted"
    )


def _raw(entity: Entity, attributes: Sequence[str]) -> str:
    spelled = dict(zip((one.name for one in entity.attributes), aliases(entity), strict=True))
    return quote_all(spelled[name] for name in attributes)
