"""The SQL of facts and bridges: every row of the event, with each of its keys looked up once."""

from collections.abc import Iterator, Mapping, Sequence

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
from fluid_build.transform.plan.database_words import LOAD_DAY
from fluid_build.transform.plan.dimensional.calendar import calendar_columns
from fluid_build.transform.plan.dimensional.columns import (
    dimension_column,
    own_value_columns,
    reference_column,
)
from fluid_build.transform.plan.dimensional.mart_calls import (
    Arguments,
    filled,
    hash_as,
    joins_argument,
    mart_call,
    renamed,
)
from fluid_build.transform.plan.dimensional.mart_tests import grain_tests, reference_tests
from fluid_build.transform.plan.dimensional.star import (
    FactOrBridge,
    Star,
    Typed,
    columns_of,
    joins_of,
    own_attributes,
    references_of,
    referred_key,
)
from fluid_build.transform.plan.elements import (
    Build,
    BuildTest,
    MacroCall,
    PlanColumn,
    Relation,
    Sql,
    SqlType,
)
from fluid_build.transform.plan.hashing import comparable
from fluid_build.transform.plan.macro_calls import CalledSql
from fluid_build.transform.plan.retirement import retired_build


def fact_build(star: Star, owner: FactOrBridge) -> Build:
    """Return the build of a fact, or of a bridge: it's read like a fact without measures."""
    joins, references = joins_of(owner), references_of(owner)
    entity = owner.entity_name
    looked_up = [reference for reference in references if _is_looked_up(star, reference)]
    stagings = [
        star.names.staging(reference)
        for reference in (entity, *(reference.entity for reference in joins))
    ]
    call, made = _call(star, owner)
    is_snapshot = _is_snapshot(owner)
    build = Build(
        name=owner.name,
        layer="mart",
        materialization="incremental" if is_snapshot else "table",
        title=owner.name,
        description=owner.description or owner.grain,
        sql=made.sql,
        next_load=made.sql if is_snapshot else made.next_load,
        replaced=f"{SNAPSHOT_DATE} = {LOAD_DAY}" if is_snapshot else "",
        call=call,
        ref_models=tuple(
            dict.fromkeys((*stagings, *(reference.dimension for reference in looked_up)))
        ),
        columns=tuple(_columns(star, owner)),
        key=owner.grain_columns,
        tests=_tests(star, owner),
        mapped_source_tables=owner.mapped_source_tables,
        source_columns=owner.source_columns,
        reason=owner.reason,
        follows_source=made.next_load is not None and not is_snapshot,
    )
    return build if star.present.has_table(entity) else retired_build(build)


def aliases_of(owner: FactOrBridge) -> dict[str, str]:
    """Return what each referred dimension is called in the SQL, by the key that refers to it."""
    used = {"before", *(joined.name for joined in joins_of(owner))}
    aliases = {}
    for reference in references_of(owner):
        alias = free_alias(reference.key.rsplit("_", 1)[0] or reference.key, used)
        used.add(alias)
        aliases[reference.key] = alias
    return aliases


def _call(star: Star, owner: FactOrBridge) -> tuple[MacroCall, CalledSql]:
    entity, dated = owner.entity_name, owner.dated_by if isinstance(owner, Fact) else None
    columns = {
        "columns": [
            renamed(_column(star, owner, attribute.source, attribute.attribute), attribute.name)
            for attribute in owner.attributes
        ],
        "measures": [
            renamed(star.column(entity, measure.column), measure.name)
            for measure in (owner.measures if isinstance(owner, Fact) else ())
        ],
    }
    as_of = ""
    if dated is not None:
        place = (dated.source, dated.attribute)
        if _is_moment(star, owner, *place) and is_found(star, owner, place[0], place[1:]):
            as_of = _column(star, owner, *place)
    calendar = next((d for d in _referred(star, owner) if _is_generated_calendar(d)), None)
    is_looked_up = any(
        reference.columns and star.dimensions[reference.dimension] == calendar
        for reference in references_of(owner)
    )
    key = calendar.surrogate_key if calendar is not None and is_looked_up else _CALENDAR_KEY
    aliases = aliases_of(owner)
    return mart_call(
        _pattern(owner),
        owner.name,
        staging=Relation(star.names.staging(entity)),
        joins=joins_argument(star, entity, joins_of(owner)),
        as_of=as_of,
        day=SNAPSHOT_DATE if _is_snapshot(owner) else "",
        calendar=Relation(calendar.name) if calendar is not None and is_looked_up else "",
        calendar_key=key if key != _CALENDAR_KEY else "",
        keys={
            reference.key: _key(star, owner, reference, aliases[reference.key])
            for reference in references_of(owner)
        },
        **columns,
        **_kept(star, owner),
    )


def _kept(star: Star, owner: FactOrBridge) -> Arguments:
    """Return which columns keep what a row had before, and by which ones it's found again.

    The source no longer has what these are made of. A row that nothing identifies isn't found.
    """
    primary = star.entities[owner.entity_name].primary_key
    own = columns_of(owner)
    if _is_snapshot(owner) or primary is None or not primary.holds:
        return {}
    if not own.keys() >= {*primary.attributes}:
        return {}
    if not star.present.has(owner.entity_name, *primary.attributes):
        return {}
    retired = list(_retired(star, owner))
    if not retired:
        return {}
    columns = ((star.column(owner.entity_name, name), own[name]) for name in primary.attributes)
    return {"retired": retired, "same_row": [renamed(*each) for each in columns]}


def _retired(star: Star, owner: FactOrBridge) -> Iterator[str]:
    """Yield the columns and keys for which the source has nothing any more."""
    for reference in references_of(owner):
        if not is_in_source(star, owner, reference):
            yield reference.key
            yield from (name for _, name in reference.carried)
    for attribute in owner.attributes:
        if not is_found(star, owner, attribute.source, (attribute.attribute,)):
            yield attribute.name
    for measure in owner.measures if isinstance(owner, Fact) else ():
        if not is_found(star, owner, "", (measure.column,)):
            yield measure.name


def is_in_source(star: Star, owner: FactOrBridge, reference: DimensionReference) -> bool:
    """Whether the source still says which member a row refers to.

    Without the moment of a row, it says the member, and not the version. A key that is made of the
    row's own values follows from them.
    """
    if not reference.columns or star.is_derived(star.dimensions[reference.dimension]):
        return True
    dated = owner.dated_by if isinstance(owner, Fact) else None
    has_versions = bool(star.dimensions[reference.dimension].history)
    if has_versions and dated and not is_found(star, owner, dated.source, (dated.attribute,)):
        return False
    return is_found(star, owner, reference.source, reference.columns)


def is_found(star: Star, owner: FactOrBridge, source: str, columns: Sequence[str]) -> bool:
    """Whether the source still has these columns of an owner's own row, or of one of its joins."""
    joins = joins_of(owner)
    entity = star.joined_entity(owner.entity_name, joins, source)
    return source in star.found(owner.entity_name, joins) and star.present.has(entity, *columns)


def _pattern(owner: FactOrBridge) -> str:
    if isinstance(owner, Bridge):
        return "bridge"
    return "periodic_snapshot" if _is_snapshot(owner) else "fact"


def _is_generated_calendar(dimension: Dimension) -> bool:
    return dimension.is_generated and dimension.dimension_type == "date"


def _referred(star: Star, owner: FactOrBridge) -> list[Dimension]:
    return [star.dimensions[reference.dimension] for reference in references_of(owner)]


def _is_moment(star: Star, owner: FactOrBridge, source: str, attribute: str) -> bool:
    entity = star.joined_entity(owner.entity_name, joins_of(owner), source)
    return star.is_moment(entity, attribute)


def is_day_in_text(star: Star, owner: FactOrBridge, reference: DimensionReference) -> bool:
    """Whether what leads to a generated day or time has become text, which may say anything."""
    return (
        star.dimensions[reference.dimension].is_generated
        and bool(reference.columns)
        and not _is_moment(star, owner, reference.source, reference.columns[0])
    )


def _column(star: Star, owner: FactOrBridge, source: str, attribute: str) -> str:
    """Return a column of an owner's own row, or of the join that is its source."""
    entity = star.joined_entity(owner.entity_name, joins_of(owner), source)
    column = star.column(entity, attribute)
    return f"{source}.{column}" if source else column


_CALENDAR_KEY = "date_key"
"""The calendar's key in the macros, where they aren't told another one."""
_SNAPSHOT_DAY = technical(SNAPSHOT_DATE, "DATE", "The day of the load.")


def _is_snapshot(owner: FactOrBridge) -> bool:
    return isinstance(owner, Fact) and bool(owner.snapshot_of)


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
    if dimension.is_generated:
        carried = next(
            candidate for candidate in calendar_columns(dimension) if candidate.name == column
        )
    else:
        attribute = next(
            candidate for candidate in dimension.attributes if candidate.name == column
        )
        carried = dimension_column(star, dimension, attribute)
    return carried.model_copy(update={"name": name, "tags": ()})


def _is_looked_up(star: Star, reference: DimensionReference) -> bool:
    """Whether a dimension has to be joined: the key of a derived one follows from the row.

    So do those of a time and of the day of the load.
    """
    if not reference.columns:
        return False
    dimension = star.dimensions[reference.dimension]
    follows = star.is_derived(dimension) or dimension.dimension_type == "time"
    return not follows or bool(reference.carried)


def _key(star: Star, owner: FactOrBridge, reference: DimensionReference, alias: str) -> Arguments:
    """Return how the key is found that a row refers to a member by."""
    dimension = star.dimensions[reference.dimension]
    if not reference.columns:
        return {"of_load": True}
    rows = alias if alias != reference.key.rsplit("_", 1)[0] else ""
    if dimension.dimension_type == "time":
        return _time_key(star, owner, reference, rows)
    if dimension.is_generated:
        day = _column(star, owner, reference.source, reference.columns[0])
        in_text = is_day_in_text(star, owner, reference)
        return {
            "day": day,
            **filled(in_text=in_text, rows=rows, **_carried(dimension, reference)),
        }
    if star.is_derived(dimension):
        return _derived_key(star, owner, reference, rows)
    entity = star.joined_entity(owner.entity_name, joins_of(owner), reference.source)
    own = own_attributes(dimension)
    pairs = list(zip(reference.columns, reference.to_columns, strict=True))
    types = {
        to_column: (star.type(dimension.entity_name, own[to_column]), star.type(entity, column))
        for column, to_column in pairs
    }
    is_date = dimension.dimension_type == "date"
    days = [column for column, pair in types.items() if is_date and _are_days(*pair)]
    key = referred_key(owner, dimension)
    return {
        "in": Relation(dimension.name),
        **filled(key=key if key != reference.key else ""),
        "by": {
            to_column: _column(star, owner, reference.source, column) for column, to_column in pairs
        },
        **filled(
            as_text=[
                column
                for column, pair in types.items()
                if column not in days and not star.is_comparable(*pair)
            ],
            as_days=days,
            versions=dimension.durable_key if dimension.history else "",
            **_meant(star, dimension, reference),
            names=_other_names(dimension),
            ambiguous=star.present.is_ambiguous(dimension.entity_name),
            rows=rows,
            **_carried(dimension, reference),
        ),
    }


def _time_key(
    star: Star, owner: FactOrBridge, reference: DimensionReference, rows: str
) -> Arguments:
    """Return how the key of a time of the day is found: it says the hour and minute itself."""
    dimension = star.dimensions[reference.dimension]
    found: Arguments = {"time": _column(star, owner, reference.source, reference.columns[0])}
    found |= filled(in_text=is_day_in_text(star, owner, reference))
    if reference.carried:
        found |= {"in": Relation(dimension.name), "key": dimension.surrogate_key}
        found |= filled(rows=rows, **_carried(dimension, reference))
    return found


def _derived_key(
    star: Star, owner: FactOrBridge, reference: DimensionReference, rows: str
) -> Arguments:
    """Return how the key of a dimension is made that is of the values of the row itself."""
    dimension = star.dimensions[reference.dimension]
    types = {
        _column(star, owner, reference.source, name): star.type(dimension.entity_name, name)
        for name in reference.columns
    }
    found: Arguments = {"of": {column: SqlType(type_) for column, type_ in types.items()}}
    if reference.source:
        joined = next(join_ for join_ in joins_of(owner) if join_.name == reference.source)
        header_key = star.relationships[joined.relationship].to_attributes[0]
        found["if_there"] = f"{joined.name}.{star.column(joined.entity, header_key)}"
    found |= filled(hash_as=hash_as(_of_own_row(types)))
    if reference.carried:
        key = dimension.surrogate_key
        found |= {"in": Relation(dimension.name), **filled(key=key if key != reference.key else "")}
        found |= filled(rows=rows, **_carried(dimension, reference))
    return found


def _of_own_row(types: Mapping[str, str]) -> dict[str, str]:
    return {column if "." in column else f"own.{column}": type_ for column, type_ in types.items()}


def _carried(dimension: Dimension, reference: DimensionReference) -> Arguments:
    """Return which columns of the member are repeated, and what the unknown one has there."""
    columns = [column for column, _ in reference.carried]
    unknown = {
        attribute.name: Sql(literal(attribute.unknown))
        for attribute in dimension.attributes
        if attribute.unknown and attribute.name in columns
    }
    key = dimension.surrogate_key if unknown else ""
    return filled(carries=dict(reference.carried), unknown=unknown, dimension_key=key)


def _meant(star: Star, dimension: Dimension, reference: DimensionReference) -> Arguments:
    """Return how one of several members is chosen that share what a row refers by."""
    if set(reference.to_columns) == set(dimension.natural_key_columns):
        return {}
    own, entity = own_attributes(dimension), dimension.entity_name
    return {
        "meant": dimension.member_key,
        "shared": [
            Sql(comparable(name, star.type(entity, own[name]))) for name in reference.to_columns
        ],
    }


def _other_names(dimension: Dimension) -> dict[str, str]:
    """Return the names that the lookup has to replace, as the dimension has such a column."""
    used = {attribute.name for attribute in dimension.attributes} | {
        link.key for link in dimension.links
    }
    names = {name: free_identifier(name, used) for name in ("replaced_at", "is_meant")}
    return {name: free for name, free in names.items() if free != name}


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
    if not _are_days(member[1], referring[1]):
        return member, referring
    return (f"CAST({member[0]} AS DATE)", "DATE"), (f"CAST({referring[0]} AS DATE)", "DATE")


def _are_days(member_type: str, referring_type: str) -> bool:
    """Return whether two values are compared as days: dates of which one is a moment."""
    types = {member_type, referring_type}
    is_of_time = all(family(type_name(type_)) in {"date", "timestamp"} for type_ in types)
    return types != {"DATE"} and is_of_time


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
