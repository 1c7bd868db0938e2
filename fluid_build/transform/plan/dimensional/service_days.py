"""The SQL of service days: every day between two dates whose weekday is flagged, then exceptions.

An added day wins over the same day left out.
"""

from collections.abc import Iterator

from fluid_build.modeling.dimensional.elements import (
    DimensionReference,
    Fact,
    ServiceChanges,
    ServiceDays,
)
from fluid_build.modeling.types import is_number
from fluid_build.observations.recurring_services import MOST_DAYS
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.construction_tests import unique
from fluid_build.transform.plan.database_words import day_key, day_of_week
from fluid_build.transform.plan.dimensional.calendar import DIGITS
from fluid_build.transform.plan.dimensional.columns import own_value_columns, reference_column
from fluid_build.transform.plan.dimensional.mart_calls import Arguments
from fluid_build.transform.plan.dimensional.mart_tests import reference_tests
from fluid_build.transform.plan.dimensional.star import Star
from fluid_build.transform.plan.elements import Build, Check, PlanColumn, Relation
from fluid_build.transform.plan.retirement import retired_build
from fluid_build.transform.plan.sql_layout import (
    as_text,
    conditions,
    join,
    nested,
    query,
    union_all,
    with_ctes,
)


def service_days_build(star: Star, fact: Fact) -> Build:
    """Return the build of a fact of service days."""
    service = _service_of(fact)
    entities = (service.entity_name, *((service.changes.entity_name,) if service.changes else ()))
    build = Build(
        name=fact.name,
        layer="mart",
        materialization="table",
        title=fact.name,
        description=fact.grain,
        sql=_sql(star, fact, service),
        ref_models=(*map(star.names.staging, entities), service.held_by),
        columns=tuple(_columns(star, fact, service)),
        key=fact.grain_columns,
        tests=(
            unique(fact.name, fact.grain_columns, fact.grain, label="grain"),
            *(
                test
                for reference in fact.dimensions
                for test in reference_tests(
                    fact.name,
                    reference.key,
                    reference.dimension,
                    _key_of_dimension(star, service, reference),
                    reference.role,
                )
            ),
        ),
        mapped_source_tables=fact.mapped_source_tables,
        source_columns=fact.source_columns,
        reason=fact.reason,
    )
    return build if all(map(star.present.has_table, entities)) else retired_build(build)


def _columns(star: Star, fact: Fact, service: ServiceDays) -> Iterator[PlanColumn]:
    """Yield the keys and attributes that services have, with the key of the day in between."""
    of_service = fact.model_copy(update={"entity_name": service.entity_name})
    yield from (reference_column(star, of_service, reference) for reference in fact.dimensions)
    yield from own_value_columns(star, of_service)


def _key_of_dimension(star: Star, service: ServiceDays, reference: DimensionReference) -> str:
    """Return the column that a key refers to: all versions of a service, or one of a dimension."""
    dimension = star.dimensions[reference.dimension]
    is_service = dimension.name == service.held_by
    return dimension.member_key if is_service else dimension.surrogate_key


def service_days_check(star: Star, fact: Fact) -> Check:
    """Return the check of the number of days, which is calculated without listing them."""
    service = _service_of(fact)
    return Check(
        name=f"days of {fact.name}",
        kind="rows",
        table=service.entity_name,
        expected=_expected_days(star, service),
        actual=f"SELECT COUNT(*) FROM model.{fact.name}",
        reason=fact.grain,
    )


def service_years(star: Star, fact: Fact) -> Arguments:
    """Return from when to when services may run, for the years of the calendar."""
    service = _service_of(fact)
    start, end = (star.column(service.entity_name, name) for name in _period(service))
    return {"in": Relation(star.names.staging(service.entity_name)), "from": start, "to": end}


def _service_of(fact: Fact) -> ServiceDays:
    assert fact.service_days is not None, "only facts of service days are built here"
    return fact.service_days


def _period(service: ServiceDays) -> tuple[str, str]:
    return service.start, service.end


def _sql(star: Star, fact: Fact, service: ServiceDays) -> str:
    *copied, to_day = [reference.key for reference in fact.dimensions]
    attributes = [attribute.name for attribute in fact.attributes]
    found_by = [part.column for part in service.key]
    holders = query(
        dict.fromkeys((*copied, *attributes, *found_by)), f"model.{service.held_by}", distinct=True
    )
    same = [
        f"holder.{part.column} = service_days.{name}"
        for name, part in zip(_key_names(service), service.key, strict=True)
    ]
    selected = query(
        [
            *(f"holder.{key}" for key in copied),
            (day_key("service_days.service_day"), to_day),
            *(f"holder.{name}" for name in attributes),
        ],
        "service_days",
        join("JOIN", nested(holders), "holder", same),
    )
    return with_ctes(_ctes(star, service), selected)


def _key_names(service: ServiceDays) -> list[str]:
    return [f"key_{number}" for number in range(len(service.key))]


def _key_values(star: Star, service: ServiceDays) -> list[str]:
    """Return the SQL of what identifies a service, as the relation that holds it has it."""
    entity = service.entity_name
    return [
        day_key(_day(star, entity, part.attribute, "service"))
        if part.is_day
        else f"service.{star.column(entity, part.attribute)}"
        for part in service.key
    ]


def _ctes(star: Star, service: ServiceDays) -> Iterator[tuple[str, str]]:
    day, key = "service_day", _key_names(service)
    yield "digits", DIGITS
    yield "day_numbers", _DAY_NUMBERS
    yield "period_days", _period_days(star, service)
    runs = {flag.weekday: f"runs_{flag.weekday}" for flag in service.weekdays}
    weekday = (day_of_week(day), "weekday")
    yield "weekdays", query([*key, day, *runs.values(), weekday], "period_days")
    flags = [f"(weekday = {number} AND {flag})" for number, flag in runs.items()]
    scheduled = query([*key, day], "weekdays", where=[f"(\n{conditions(flags, 'OR')}\n)"])
    if service.changes is None:
        yield "service_days", scheduled
        return
    yield "scheduled", scheduled
    staged = star.staged(service.changes.entity_name), star.staged(service.entity_name)
    yield "changes", _changes(star, service, staged)
    same = [f"changes.{name} = scheduled.{name}" for name in (*key, day)]
    unchanged = query(
        [f"scheduled.{name}" for name in (*key, day)],
        "scheduled",
        join("LEFT JOIN", "changes", "changes", same),
        where=[f"changes.{day} IS NULL"],
    )
    added = query([*key, day], "changes", where=["is_added = 1"])
    yield "service_days", union_all(unchanged, added)


_DAY_NUMBERS = f"""\
SELECT 1000 * thousands.digit + 100 * hundreds.digit + 10 * tens.digit + ones.digit AS day_number
FROM digits AS thousands
CROSS JOIN digits AS hundreds
CROSS JOIN digits AS tens
CROSS JOIN digits AS ones
WHERE 1000 * thousands.digit + 100 * hundreds.digit + 10 * tens.digit + ones.digit < {MOST_DAYS}"""


def _period_days(star: Star, service: ServiceDays) -> str:
    """Return a query for every day from the first to the last, whatever its weekday."""
    entity = service.entity_name
    start, end = (_day(star, entity, name, "service") for name in _period(service))
    return query(
        [
            *zip(_key_values(star, service), _key_names(service), strict=True),
            *(
                (_runs(star, service, flag.attribute, flag.yes, "service"), f"runs_{flag.weekday}")
                for flag in service.weekdays
            ),
            (
                f"CAST({start} + CAST(day_numbers.day_number AS INTEGER) AS DATE)",
                "service_day",
            ),
        ],
        f"{star.staged(entity)} AS service",
        "CROSS JOIN day_numbers",
        where=[f"DATE_DIFF('day', {start}, {end}) >= day_numbers.day_number"],
    )


def _changes(
    star: Star,
    service: ServiceDays,
    relations: tuple[str, str],
    *more_columns: tuple[str, str],
) -> str:
    """Return a query for the days that exceptions add or leave out, each service and day once.

    ``relations`` have the exceptions and the services.
    """
    changes = service.changes
    assert changes is not None, "only services with exceptions have changes"
    changed_rows, service_rows = relations
    changed, entity = changes.entity_name, service.entity_name
    parts = _key_values(star, service)
    day = _day(star, changed, changes.date, "changed")
    same = [
        star.equal(
            f"changed.{star.column(changed, ours)}",
            star.type(changed, ours),
            f"service.{star.column(entity, theirs)}",
            star.type(entity, theirs),
        )
        for ours, theirs in zip(changes.columns, changes.to_columns, strict=True)
    ]
    added, known = "0", [f"{day} IS NOT NULL"]
    if changes.effect:
        added = f"MAX(CASE WHEN {_has_effect(star, changes, changes.added)} THEN 1 ELSE 0 END)"
        known.append(_has_effect(star, changes, (*changes.added, *changes.removed)))
    return query(
        [
            *zip(parts, _key_names(service), strict=True),
            (day, "service_day"),
            (added, "is_added"),
            *more_columns,
        ],
        f"{changed_rows} AS changed",
        join("JOIN", service_rows, "service", same),
        where=known,
        group_by=[*parts, day],
    )


def _has_effect(star: Star, changes: ServiceChanges, values: tuple[str, ...]) -> str:
    if not values:
        return "1 = 0"
    column = f"changed.{star.column(changes.entity_name, changes.effect)}"
    spelled = as_text(column, star.type(changes.entity_name, changes.effect))
    return f"{spelled} IN ({', '.join(map(literal, values))})"


def _runs(
    star: Star, service: ServiceDays, attribute: str, yes: tuple[str, ...], alias: str
) -> str:
    """Return the condition that a weekday's flag is set."""
    type_ = star.type(service.entity_name, attribute)
    column = f"{alias}.{star.column(service.entity_name, attribute)}"
    if is_number(type_):
        return f"{column} = 1"
    if yes:
        return f"{as_text(column, type_)} IN ({', '.join(map(literal, yes))})"
    return column


def _day(star: Star, entity: str, attribute: str, alias: str) -> str:
    column = star.column(entity, attribute)
    return f"CAST({f'{alias}.{column}' if alias else column} AS DATE)"


def _expected_days(star: Star, service: ServiceDays) -> str:
    """Return the number of days by arithmetic: weekdays in each period, and the exceptions' net."""
    entity = service.entity_name
    start, end = (_day(star, entity, name, "service") for name in _period(service))
    counts = " + ".join(
        f"CASE WHEN {_runs(star, service, flag.attribute, flag.yes, 'service')}"
        f" THEN {_occurrences(flag.weekday, start, end)} ELSE 0 END"
        for flag in service.weekdays
    )
    services = nested(star.selects[entity])
    scheduled = query([f"COALESCE(SUM({counts}), 0)"], f"{services} AS service")
    if service.changes is None:
        return scheduled
    day = _day(star, service.changes.entity_name, service.changes.date, "changed")
    flags = " OR ".join(
        f"(({day_of_week(day)}) = {flag.weekday} AND"
        f" {_runs(star, service, flag.attribute, flag.yes, 'service')})"
        for flag in service.weekdays
    )
    runs = f"MAX(CASE WHEN {day} BETWEEN {start} AND {end} AND ({flags}) THEN 1 ELSE 0 END)"
    relations = nested(star.selects[service.changes.entity_name]), services
    changes = _changes(star, service, relations, (runs, "runs"))
    net = query(
        [
            "COALESCE(SUM(CASE WHEN is_added = 1 AND runs = 0 THEN 1"
            " WHEN is_added = 0 AND runs = 1 THEN -1 ELSE 0 END), 0)"
        ],
        f"{nested(changes)} AS changes",
    )
    return f"SELECT {nested(scheduled)} + {nested(net)}"


def _occurrences(weekday: int, start: str, end: str) -> str:
    """Return how often a weekday is between two days, both included."""
    to_first = f"({weekday} - ({day_of_week(start)}) + 7) % 7"
    return f"GREATEST((DATE_DIFF('day', {start}, {end}) - {to_first} + 7) // 7, 0)"
