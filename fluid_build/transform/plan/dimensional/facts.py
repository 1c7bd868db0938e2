"""The SQL of facts and bridges: every row of the event, each of its keys looked up once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.dimensional.elements import (
    UNKNOWN_DATE_KEY,
    Bridge,
    Dimension,
    DimensionReference,
    Fact,
)
from fluid_build.modeling.dimensional.star_names import free_alias
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.dimensional.calendar import calendar_columns
from fluid_build.transform.plan.dimensional.columns import (
    is_generated,
    kept_columns,
    key_column,
    measure_columns,
)
from fluid_build.transform.plan.dimensional.dimensions import DELETED, UNKNOWN, attribute_column
from fluid_build.transform.plan.dimensional.star import (
    BEGINNING,
    END,
    LAST_MOMENT,
    Star,
    hashed,
    join_clauses,
    joined,
    key_or_unknown,
    selected,
)
from fluid_build.transform.plan.dimensional.tests import grain_test, reference_tests
from fluid_build.transform.plan.elements import Build, BuildTest, PlanColumn


def fact_build(star: Star, fact: Fact) -> Build:
    """The build of a fact."""
    return _build(star, fact)


def bridge_build(star: Star, bridge: Bridge) -> Build:
    """The build of a bridge, which is read like a fact without measures."""
    return _build(star, bridge)


def references_of(owner: Fact | Bridge) -> tuple[DimensionReference, ...]:
    """The references of a fact or bridge to dimensions."""
    return owner.dimensions if isinstance(owner, Fact) else owner.references


def columns_of_owner(owner: Fact | Bridge) -> dict[str, str]:
    """The columns of a fact or bridge by the attributes of its own entity that they hold."""
    found = {one.attribute: one.name for one in owner.attributes if not one.source}
    if isinstance(owner, Fact):
        found |= {one.column: one.name for one in owner.measures}
    return found


def unknown_key(dimension: Dimension) -> str:
    """The key of a dimension's unknown member, in SQL."""
    return str(UNKNOWN_DATE_KEY) if is_generated(dimension) else UNKNOWN


def aliases_of(star: Star, owner: Fact | Bridge) -> dict[str, str]:
    """What each referred dimension is called in the SQL, by the key that refers to it."""
    joins = owner.joins if isinstance(owner, Fact) else ()
    taken = {star.alias(owner.entity_name, joins), *(one.name for one in joins)}
    found = {}
    for one in references_of(owner):
        alias = free_alias(one.key.rsplit("_", 1)[0] or one.key, taken)
        taken.add(alias)
        found[one.key] = alias
    return found


def _build(star: Star, owner: Fact | Bridge) -> Build:
    joins = owner.joins if isinstance(owner, Fact) else ()
    measures = owner.measures if isinstance(owner, Fact) else ()
    entity = owner.entity_name
    alias = star.alias(entity, joins)
    aliases = aliases_of(star, owner)
    references = references_of(owner)

    def own(_: str, attribute: str) -> str:
        return f"{alias}.{star.column(entity, attribute)}"

    columns = [(_key(star, owner, one, aliases), one.key) for one in references]
    columns += [(own("", one.attribute), one.name) for one in owner.attributes]
    columns += [(own("", one.column), one.name) for one in measures]
    columns += [
        (_carried_value(star, one, column, aliases[one.key]), name)
        for one in references
        for column, name in one.carried
    ]
    clauses = [
        *join_clauses(star, joins, own),
        *(_lookup(star, owner, one, aliases) for one in references if _is_looked_up(star, one)),
    ]
    sql = "\n".join(
        (f"SELECT\n{selected(columns)}", f"FROM {star.staged(entity)} AS {alias}", *clauses)
    )
    looked_up = [one.dimension for one in references if _is_looked_up(star, one)]
    stagings = [star.names.staging(one) for one in (entity, *(one.entity for one in joins))]
    return Build(
        name=owner.name,
        layer="mart",
        materialization="table",
        title=owner.name,
        description=owner.description or owner.grain,
        sql=sql,
        ref_models=tuple(dict.fromkeys((*stagings, *looked_up))),
        columns=tuple(_columns(star, owner)),
        key=owner.grain_columns,
        tests=_tests(star, owner),
        mapped_source_tables=owner.mapped_source_tables,
        source_columns=owner.source_columns,
        reason=owner.reason,
    )


def _columns(star: Star, owner: Fact | Bridge) -> list[PlanColumn]:
    degenerate = owner.degenerate_dimensions if isinstance(owner, Fact) else ()
    measures = owner.measures if isinstance(owner, Fact) else ()
    return [
        *(key_column(star, owner, one) for one in references_of(owner)),
        *kept_columns(star, owner.entity_name, owner.attributes, degenerate),
        *measure_columns(star, owner.entity_name, measures),
        *(
            _carried(star, one, column, name)
            for one in references_of(owner)
            for column, name in one.carried
        ),
    ]


def _carried(star: Star, one: DimensionReference, column: str, name: str) -> PlanColumn:
    dimension = star.dimensions[one.dimension]
    attribute = next(found for found in dimension.attributes if found.name == column)
    if is_generated(dimension):
        columns = calendar_columns(dimension)
        found = next(found for found in columns if found.name == column)
    else:
        found = attribute_column(star, dimension, attribute)
    return found.model_copy(update={"name": name, "tags": ()})


def _carried_value(star: Star, one: DimensionReference, column: str, alias: str) -> str:
    """A column of the member, or what the unknown member has there."""
    dimension = star.dimensions[one.dimension]
    unknown = next(found.unknown for found in dimension.attributes if found.name == column)
    value = f"{alias}.{column}"
    if not unknown:
        return value
    missing = f"{alias}.{dimension.surrogate_key} IS NULL"
    return f"CASE WHEN {missing} THEN {literal(unknown)} ELSE {value} END"


def is_derived(star: Star, one: DimensionReference) -> bool:
    """Whether a dimension is made of a fact's own columns."""
    dimension = star.dimensions[one.dimension]
    facts = {fact.entity_name for fact in star.model.facts}
    return dimension.entity_name in facts


def _is_looked_up(star: Star, one: DimensionReference) -> bool:
    return not is_derived(star, one) or bool(one.carried)


def source_alias(star: Star, owner: Fact | Bridge, one: DimensionReference) -> str:
    """What the rows are called that hold the columns of a reference."""
    joins = owner.joins if isinstance(owner, Fact) else ()
    return one.source or star.alias(owner.entity_name, joins)


def _key(star: Star, owner: Fact | Bridge, one: DimensionReference, aliases: dict[str, str]) -> str:
    """The key that a row refers to a member by; the unknown member's where there is none."""
    dimension = star.dimensions[one.dimension]
    if not is_derived(star, one):
        wanted = wanted_key(owner, dimension)
        return f"COALESCE({aliases[one.key]}.{wanted}, {unknown_key(dimension)})"
    key = _derived_key(star, owner, one)
    if not one.source:
        return key
    assert isinstance(owner, Fact), "bridges take nothing over from a header"
    join = next(found for found in owner.joins if found.name == one.source)
    header = star.relationships[join.relationship].to_attributes[0]
    return key_or_unknown(key, UNKNOWN, f"{join.name}.{star.column(join.entity, header)}")


def _derived_key(star: Star, owner: Fact | Bridge, one: DimensionReference) -> str:
    place = source_alias(star, owner, one)
    entity = star.dimensions[one.dimension].entity_name
    return hashed(
        [(f"{place}.{star.column(entity, name)}", star.type(entity, name)) for name in one.columns]
    )


def wanted_key(owner: Fact | Bridge, dimension: Dimension) -> str:
    """The column of a dimension that is referred to.

    A fact refers to the version of its day, a bridge to the member in all versions.
    """
    return dimension.surrogate_key if isinstance(owner, Fact) else dimension.member_key


def _lookup(
    star: Star, owner: Fact | Bridge, one: DimensionReference, aliases: dict[str, str]
) -> str:
    dimension = star.dimensions[one.dimension]
    alias = aliases[one.key]
    place = source_alias(star, owner, one)
    joins = owner.joins if isinstance(owner, Fact) else ()
    entity = star.joined_entity(owner.entity_name, joins, one.source)
    if is_generated(dimension):
        day = f"CAST({place}.{star.column(entity, one.columns[0])} AS DATE)"
        return joined(
            "LEFT JOIN", f"model.{dimension.name}", alias, [f"{alias}.{one.to_columns[0]} = {day}"]
        )
    if is_derived(star, one):
        same = [f"{alias}.{dimension.surrogate_key} = {_key(star, owner, one, aliases)}"]
        return joined("LEFT JOIN", f"model.{dimension.name}", alias, same)
    conditions = same_member(star, one, entity, place, alias)
    referred = referred_members(dimension, one)
    if dimension.history:
        conditions += _of_the_day(star, owner, alias, referred.until)
    if referred.is_met:
        conditions.append(f"{alias}.{referred.is_met}")
    return joined("LEFT JOIN", referred.relation, alias, conditions)


@dataclass(frozen=True, slots=True)
class ReferredMembers:
    """A dimension as facts look it up: SQL that may follow FROM, and columns that it adds.

    ``until`` is when another version takes the place of one: what was deleted keeps its place.
    ``is_met`` says of members that share a value which of them is meant: of the deleted ones none
    where one lives, and one of them else. Either is "" where it is not needed.
    """

    relation: str
    until: str = ""
    is_met: str = ""


def referred_members(dimension: Dimension, one: DimensionReference) -> ReferredMembers:
    """A dimension as a reference looks it up."""
    taken = {found.name for found in dimension.attributes} | {link.key for link in dimension.links}
    added = {}
    if dimension.history:
        until = free_identifier("replaced_at", taken)
        added[until] = (
            f"LEAD(valid_from, 1, {END}) OVER (PARTITION BY {dimension.durable_key}"
            " ORDER BY valid_from)"
        )
    is_met = ""
    if set(one.to_columns) != set(dimension.natural_key_columns):
        is_met = free_identifier("is_met", taken)
        same = f"OVER (PARTITION BY {', '.join(one.to_columns)})"
        added[is_met] = (
            f"NOT {DELETED} OR (MIN(CASE WHEN {DELETED} THEN 1 ELSE 0 END) {same} = 1"
            f" AND {dimension.member_key} = MAX({dimension.member_key}) {same})"
        )
    if not added:
        return ReferredMembers(f"model.{dimension.name}")
    columns = "".join(f",\n    {sql} AS {name}" for name, sql in added.items())
    relation = f"(\nSELECT\n    *{columns}\nFROM model.{dimension.name}\n)"
    return ReferredMembers(relation, until if dimension.history else "", is_met)


def same_member(
    star: Star,
    one: DimensionReference,
    entity: str,
    place: str,
    alias: str,
    *,
    staged: bool = False,
    places: Mapping[str, str] | None = None,
) -> list[str]:
    """The conditions that a row of ``place`` refers to one of ``alias``.

    That is the dimension, or with ``staged`` its own entity with the names of the staging.
    ``places`` names the referring columns where they aren't called as in the staging.
    """
    dimension = star.dimensions[one.dimension]
    named = {found.name: found.attribute for found in dimension.attributes if not found.source}
    conditions = []
    for column, to_column in zip(one.columns, one.to_columns, strict=True):
        attribute = named[to_column]
        theirs = star.column(dimension.entity_name, attribute) if staged else to_column
        conditions.append(
            star.equal(
                f"{alias}.{theirs}",
                star.type(dimension.entity_name, attribute),
                f"{place}.{places[column] if places else star.column(entity, column)}",
                star.type(entity, column),
            )
        )
    return conditions


def _of_the_day(star: Star, owner: Fact | Bridge, alias: str, until: str) -> Sequence[str]:
    """The one version of when the event happened; the last one where that is not known."""
    if isinstance(owner, Bridge) or owner.dated_by is None:
        return (f"{alias}.{until} > {LAST_MOMENT}",)
    dated = owner.dated_by
    entity = star.joined_entity(owner.entity_name, owner.joins, dated.source)
    place = dated.source or star.alias(owner.entity_name, owner.joins)
    column = f"{place}.{star.column(entity, dated.attribute)}"
    # Kept within the time that versions span, so that two plain comparisons find the version:
    # an engine joins by hash with these, and row by row with an OR.
    latest = f"LEAST(COALESCE(CAST({column} AS TIMESTAMP), {LAST_MOMENT}), {LAST_MOMENT})"
    moment = f"GREATEST({latest}, {BEGINNING})"
    return f"{alias}.valid_from <= {moment}", f"{alias}.{until} > {moment}"


def _tests(star: Star, owner: Fact | Bridge) -> tuple[BuildTest, ...]:
    return (
        *grain_test(owner.name, owner.grain_columns, star.entities[owner.entity_name]),
        *(
            test
            for one in references_of(owner)
            for test in reference_tests(
                owner.name,
                one.key,
                one.dimension,
                wanted_key(owner, star.dimensions[one.dimension]),
                one.role,
            )
        ),
    )
