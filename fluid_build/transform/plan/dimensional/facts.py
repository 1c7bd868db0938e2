"""The SQL of facts and bridges: every row of the event, with each of its keys looked up once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.modeling.dimensional.elements import (
    Bridge,
    Dimension,
    DimensionReference,
    Fact,
)
from fluid_build.modeling.dimensional.facts.snapshots import SNAPSHOT_DATE
from fluid_build.modeling.dimensional.star_names import free_alias
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.modeling.types import family, type_name
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.dimensional.calendar import calendar_columns, day_key
from fluid_build.transform.plan.dimensional.columns import (
    dimension_column,
    own_value_columns,
    reference_column,
)
from fluid_build.transform.plan.dimensional.mart_tests import grain_tests, reference_tests
from fluid_build.transform.plan.dimensional.star import (
    BEGINNING,
    DELETED,
    END,
    LAST_MOMENT,
    LOAD_DAY,
    FactOrBridge,
    Star,
    Typed,
    is_generated,
    join_clauses,
    joins_of,
    key_or_unknown,
    own_attributes,
    references_of,
    referred_key,
    unknown_key,
    values_hash,
)
from fluid_build.transform.plan.elements import Build, BuildTest, PlanColumn
from fluid_build.transform.plan.hashing import comparable
from fluid_build.transform.plan.sql_layout import join, nested, query


def fact_build(star: Star, owner: FactOrBridge) -> Build:
    """Return the build of a fact, or of a bridge: it's read like a fact without measures."""
    joins, references = joins_of(owner), references_of(owner)
    entity = owner.entity_name
    looked_up = [reference for reference in references if _is_looked_up(star, reference)]
    stagings = [
        star.names.staging(reference)
        for reference in (entity, *(reference.entity for reference in joins))
    ]
    return Build(
        name=owner.name,
        layer="mart",
        materialization="table",
        title=owner.name,
        description=owner.description or owner.grain,
        sql=_sql(star, owner, looked_up),
        ref_models=tuple(
            dict.fromkeys((*stagings, *(reference.dimension for reference in looked_up)))
        ),
        columns=tuple(_columns(star, owner)),
        key=owner.grain_columns,
        tests=_tests(star, owner),
        mapped_source_tables=owner.mapped_source_tables,
        source_columns=owner.source_columns,
        reason=owner.reason,
    )


def aliases_of(star: Star, owner: FactOrBridge) -> dict[str, str]:
    """Return what each referred dimension is called in the SQL, by the key that refers to it."""
    joins = joins_of(owner)
    used = {star.alias(owner.entity_name, joins), *(joined.name for joined in joins)}
    aliases = {}
    for reference in references_of(owner):
        alias = free_alias(reference.key.rsplit("_", 1)[0] or reference.key, used)
        used.add(alias)
        aliases[reference.key] = alias
    return aliases


def _sql(star: Star, owner: FactOrBridge, looked_up: Sequence[DimensionReference]) -> str:
    joins, entity = joins_of(owner), owner.entity_name
    alias = star.alias(entity, joins)
    aliases = aliases_of(star, owner)

    def own(_: str, attribute: str) -> str:
        return f"{alias}.{star.column(entity, attribute)}"

    columns = [
        (_key(star, owner, reference, aliases), reference.key) for reference in references_of(owner)
    ]
    columns += [(own("", attribute), name) for attribute, name in _kept(owner)]
    columns += [(LOAD_DAY, SNAPSHOT_DATE)] if _is_snapshot(owner) else []
    columns += [
        (_carried_value(star, reference, column, aliases[reference.key]), name)
        for reference in references_of(owner)
        for column, name in reference.carried
    ]
    return query(
        columns,
        f"{star.staged(entity)} AS {alias}",
        *join_clauses(star, joins, own),
        *(_lookup(star, owner, reference, aliases) for reference in looked_up),
    )


_SNAPSHOT_DAY = technical(SNAPSHOT_DATE, "DATE", "The day of the load.")


def _is_snapshot(owner: FactOrBridge) -> bool:
    return isinstance(owner, Fact) and bool(owner.snapshot_of)


def _kept(owner: FactOrBridge) -> list[tuple[str, str]]:
    """Return the attributes that an owner keeps, then its measures, each with its column."""
    measures = () if isinstance(owner, Bridge) else owner.measures
    return [
        *((attribute.attribute, attribute.name) for attribute in owner.attributes),
        *((measure.column, measure.name) for measure in measures),
    ]


def _columns(star: Star, owner: FactOrBridge) -> list[PlanColumn]:
    return [
        *(reference_column(star, owner, reference) for reference in references_of(owner)),
        *own_value_columns(star, owner),
        *([_SNAPSHOT_DAY] if _is_snapshot(owner) else []),
        *(
            _carried_column(star, reference, column, name)
            for reference in references_of(owner)
            for column, name in reference.carried
        ),
    ]


def _carried_column(
    star: Star, reference: DimensionReference, column: str, name: str
) -> PlanColumn:
    """Return a column of a dimension that a wide table repeats."""
    dimension = star.dimensions[reference.dimension]
    if is_generated(dimension):
        carried = next(
            candidate for candidate in calendar_columns(dimension) if candidate.name == column
        )
    else:
        attribute = next(
            candidate for candidate in dimension.attributes if candidate.name == column
        )
        carried = dimension_column(star, dimension, attribute)
    return carried.model_copy(update={"name": name, "tags": ()})


def _carried_value(star: Star, reference: DimensionReference, column: str, alias: str) -> str:
    """Return a column of the member, or what the unknown member has there."""
    dimension = star.dimensions[reference.dimension]
    unknown = next(
        attribute.unknown for attribute in dimension.attributes if attribute.name == column
    )
    value = f"{alias}.{column}"
    if not unknown:
        return value
    is_missing = f"{alias}.{dimension.surrogate_key} IS NULL"
    return f"CASE WHEN {is_missing} THEN {literal(unknown)} ELSE {value} END"


def _is_looked_up(star: Star, reference: DimensionReference) -> bool:
    """Whether a dimension has to be joined: the key of a derived one follows from the row.

    So does that of the day of the load.
    """
    if not reference.columns:
        return False
    return not star.is_derived(star.dimensions[reference.dimension]) or bool(reference.carried)


def _key(
    star: Star, owner: FactOrBridge, reference: DimensionReference, aliases: Mapping[str, str]
) -> str:
    """Return the key that a row refers to a member by; the unknown member's where there's none."""
    dimension = star.dimensions[reference.dimension]
    if not reference.columns:
        return day_key(LOAD_DAY)
    if not star.is_derived(dimension):
        column = referred_key(owner, dimension)
        return f"COALESCE({aliases[reference.key]}.{column}, {unknown_key(dimension)})"
    rows = _rows_of(star, owner, reference)
    entity = dimension.entity_name
    key = values_hash(
        [
            (f"{rows}.{star.column(entity, name)}", star.type(entity, name))
            for name in reference.columns
        ]
    )
    if not reference.source:
        return key
    joined = next(join_ for join_ in joins_of(owner) if join_.name == reference.source)
    header_key = star.relationships[joined.relationship].to_attributes[0]
    return key_or_unknown(key, f"{joined.name}.{star.column(joined.entity, header_key)}")


def _rows_of(star: Star, owner: FactOrBridge, reference: DimensionReference) -> str:
    """Return what the rows are called that hold the columns of a reference."""
    return reference.source or star.alias(owner.entity_name, joins_of(owner))


def _lookup(
    star: Star, owner: FactOrBridge, reference: DimensionReference, aliases: Mapping[str, str]
) -> str:
    """Return the join that finds the member a row refers to."""
    dimension = star.dimensions[reference.dimension]
    alias, relation = aliases[reference.key], f"model.{dimension.name}"
    rows = _rows_of(star, owner, reference)
    entity = star.joined_entity(owner.entity_name, joins_of(owner), reference.source)
    if is_generated(dimension):
        day = f"CAST({rows}.{star.column(entity, reference.columns[0])} AS DATE)"
        return join("LEFT JOIN", relation, alias, [f"{alias}.{reference.to_columns[0]} = {day}"])
    if star.is_derived(dimension):
        same_key = f"{alias}.{dimension.surrogate_key} = {_key(star, owner, reference, aliases)}"
        return join("LEFT JOIN", relation, alias, [same_key])
    conditions = same_member(star, reference, entity, rows, alias)
    members = _referred_members(star, dimension, reference)
    if dimension.history:
        conditions += _version_of_the_day(star, owner, alias, members.valid_until)
    if members.is_meant:
        conditions.append(f"{alias}.{members.is_meant}")
    return join("LEFT JOIN", members.relation, alias, conditions)


@dataclass(frozen=True, slots=True)
class _ReferredMembers:
    """A dimension as facts look it up: SQL that may follow FROM, and columns that it adds.

    ``valid_until`` is when another version replaces one: a deleted member's last version stays.
    ``is_meant`` says of members that share a value which one is meant: a deleted one only where
    none lives, and only one of them then. Either is "" where it isn't needed.
    """

    relation: str
    valid_until: str = ""
    is_meant: str = ""


def _referred_members(
    star: Star, dimension: Dimension, reference: DimensionReference
) -> _ReferredMembers:
    used = {attribute.name for attribute in dimension.attributes} | {
        link.key for link in dimension.links
    }
    added = []
    valid_until = is_meant = ""
    if dimension.history:
        valid_until = free_identifier("replaced_at", used)
        by_time = f"PARTITION BY {dimension.durable_key} ORDER BY valid_from"
        added.append((f"LEAD(valid_from, 1, {END}) OVER ({by_time})", valid_until))
    if set(reference.to_columns) != set(dimension.natural_key_columns):
        is_meant = free_identifier("is_meant", used)
        own, entity = own_attributes(dimension), dimension.entity_name
        referred = [comparable(name, star.type(entity, own[name])) for name in reference.to_columns]
        same = f"OVER (PARTITION BY {', '.join(referred)})"
        none_lives = f"MIN(CASE WHEN {DELETED} THEN 1 ELSE 0 END) {same} = 1"
        is_chosen = f"{dimension.member_key} = MAX({dimension.member_key}) {same}"
        added.append((f"NOT {DELETED} OR ({none_lives} AND {is_chosen})", is_meant))
    relation = f"model.{dimension.name}"
    if added:
        relation = nested(query(["*", *added], relation))
    return _ReferredMembers(relation, valid_until, is_meant)


def same_member(
    star: Star,
    reference: DimensionReference,
    entity: str,
    rows: str,
    alias: str,
    *,
    is_staged: bool = False,
    names: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the conditions that a row of ``rows`` refers to one of ``alias``.

    That is the dimension, or with ``is_staged`` its own entity with the names of the staging.
    ``names`` are the referring columns where they aren't called as in the staging. A moment refers
    to its day in a calendar of the source.
    """
    dimension = star.dimensions[reference.dimension]
    own = own_attributes(dimension)
    conditions = []
    for column, to_column in zip(reference.columns, reference.to_columns, strict=True):
        attribute = own[to_column]
        theirs = star.column(dimension.entity_name, attribute) if is_staged else to_column
        member = (f"{alias}.{theirs}", star.type(dimension.entity_name, attribute))
        value = f"{rows}.{names[column] if names else star.column(entity, column)}"
        referring = (value, star.type(entity, column))
        if dimension.dimension_type == "date":
            member, referring = _as_days(member, referring)
        conditions.append(star.equal(*member, *referring))
    return conditions


def _as_days(member: Typed, referring: Typed) -> tuple[Typed, Typed]:
    """Return two values as days, if both are dates and one of them is a moment."""
    types = {member[1], referring[1]}
    is_of_time = all(family(type_name(type_)) in {"date", "timestamp"} for type_ in types)
    if types == {"DATE"} or not is_of_time:
        return member, referring
    return (f"CAST({member[0]} AS DATE)", "DATE"), (f"CAST({referring[0]} AS DATE)", "DATE")


def _version_of_the_day(
    star: Star, owner: FactOrBridge, alias: str, valid_until: str
) -> Sequence[str]:
    """Return the conditions for the version of when the event happened; else for the last one."""
    if isinstance(owner, Bridge) or owner.dated_by is None:
        return (f"{alias}.{valid_until} > {LAST_MOMENT}",)
    dated = owner.dated_by
    entity = star.joined_entity(owner.entity_name, owner.joins, dated.source)
    rows = dated.source or star.alias(owner.entity_name, owner.joins)
    column = f"{rows}.{star.column(entity, dated.attribute)}"
    # Kept within the time that versions span, so that two plain comparisons find the version:
    # an engine joins by hash with these, and row by row with an OR.
    latest = f"LEAST(COALESCE(CAST({column} AS TIMESTAMP), {LAST_MOMENT}), {LAST_MOMENT})"
    moment = f"GREATEST({latest}, {BEGINNING})"
    return f"{alias}.valid_from <= {moment}", f"{alias}.{valid_until} > {moment}"


def _tests(star: Star, owner: FactOrBridge) -> tuple[BuildTest, ...]:
    return (
        *grain_tests(owner.name, owner.grain_columns, star.entities[owner.entity_name]),
        *(
            test
            for reference in references_of(owner)
            for test in reference_tests(
                owner.name,
                reference.key,
                reference.dimension,
                referred_key(owner, star.dimensions[reference.dimension]),
                reference.role,
            )
        ),
    )
