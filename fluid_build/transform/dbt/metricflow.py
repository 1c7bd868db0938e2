"""The star's semantic models and metrics in dbt's own YAML, which MetricFlow queries.

A fact and a dimension are each a semantic model
(https://docs.getdbt.com/docs/build/semantic-models). MetricFlow joins by entities of the same name,
so a dimension has an entity for each role that it's referred to in: ``ship_to_address__city`` and
``bill_to_address__city`` are both in ``dim_addresses``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fluid_build.block_yaml import block_yaml
from fluid_build.modeling.dimensional.elements import DimensionalModel, Fact
from fluid_build.modeling.measures import Aggregation, MeasureRole
from fluid_build.modeling.sql_names import fit, free_identifier
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.semantic_names import (
    is_time,
    legal,
    references,
    stated_role,
    without_jinja,
)
from fluid_build.transform.plan.elements import Build, PlanColumn, TransformPlan

METRICS_FILE = "models/marts/_metrics.yml"
_AGGREGATIONS: Mapping[Aggregation, str] = {"avg": "average"}
"""MetricFlow's names of aggregations, where they differ from ours."""
_NO_DATE = "It has no date, without which MetricFlow can't measure it."
_Entry = dict[str, object]


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of elements by what they mean: MetricFlow wants one meaning for each everywhere."""

    meanings: dict[str, str] = field(default_factory=dict)

    def of(self, dataset: str, name: str, meaning: str, used: set[str]) -> str:
        """Return a name of that meaning, the nearest that isn't used in the semantic model."""
        taken = used | {other for other, known in self.meanings.items() if known != meaning}
        free = name if name not in taken else free_identifier(fit(dataset, name), taken)
        self.meanings[free] = meaning
        used.add(free)
        return free


@dataclass(frozen=True, slots=True)
class _Star:
    """What semantic models are made of: builds, their facts, and the names of entities.

    ``primary`` is the entity of each build's own key, ``foreign`` those of its references by
    column, ``roles`` are all entities that others refer to it by, and ``used`` the names of a
    build's elements.
    """

    builds: Mapping[str, Build]
    facts: Mapping[str, Fact]
    calendars: frozenset[str]
    dialect: TargetDialect
    names: _Names
    datasets: Mapping[str, str]
    primary: dict[str, str]
    foreign: dict[str, dict[str, str]]
    roles: dict[str, set[str]]
    used: dict[str, set[str]]


def metrics_yaml(
    plan: TransformPlan, dimensional: DimensionalModel, dialect: TargetDialect
) -> str | None:
    """Return the file of the star's semantic models and metrics; None where it has no fact."""
    star = _star(plan, dimensional, dialect)
    if not star.facts:
        return None
    models: list[_Entry] = []
    metrics: list[_Entry] = []
    for build in star.builds.values():
        own_metrics: list[_Entry] = []
        models.append(_semantic_model(star, build, own_metrics))
        metrics += own_metrics
    document: _Entry = {"version": 2, "semantic_models": models}
    return block_yaml({**document, **({"metrics": metrics} if metrics else {})})


def _star(plan: TransformPlan, dimensional: DimensionalModel, dialect: TargetDialect) -> _Star:
    facts = {fact.name: fact for fact in dimensional.facts}
    dimensions = {dimension.name: dimension for dimension in dimensional.dimensions}
    builds = {each.name: each for each in plan.published if each.name in {*facts, *dimensions}}
    names = _Names()
    datasets: dict[str, str] = {}
    for name in builds:
        datasets[name] = free_identifier(legal(name, "data"), set(datasets.values()))
    names.meanings.update(dict.fromkeys(datasets.values(), "semantic model"))
    star = _Star(
        builds,
        {name: fact for name, fact in facts.items() if name in builds},
        frozenset(name for name, each in dimensions.items() if each.calendar is not None),
        dialect,
        names,
        datasets,
        primary={},
        foreign={},
        roles={name: set() for name in builds},
        used={name: set() for name in builds},
    )
    # Dimensions come first: a fact's number may have the name of what a dimension is about.
    for build in sorted(builds.values(), key=lambda build: build.name in facts):
        star.primary[build.name] = _primary(star, build)
    for build in builds.values():
        star.foreign[build.name] = dict(_foreign(star, build))
    return star


def _primary(star: _Star, build: Build) -> str:
    name = _entity_name(star, build, build.key[0]) if len(build.key) == 1 else ""
    dataset = star.datasets[build.name]
    name = name or fit(dataset, "row")
    return star.names.of(dataset, name, f"entity {build.name}", star.used[build.name])


def _foreign(star: _Star, build: Build) -> Iterator[tuple[str, str]]:
    """Yield the columns that refer to one row of another build, each with its entity."""
    for test in references(build, star.builds):
        parent = star.builds[str(test.to_model)]
        if parent is build or len(parent.key) != 1 or test.to_columns != parent.key:
            continue
        (column,) = test.columns
        name = star.names.of(
            star.datasets[build.name],
            _entity_name(star, parent, column),
            f"entity {parent.name}",
            star.used[build.name],
        )
        star.roles[parent.name].add(name)
        yield column, name


def _entity_name(star: _Star, parent: Build, column: str) -> str:
    """Return what a reference to a build is called; a date's own name is that of the date."""
    stem = column if parent.name in star.calendars else column.removesuffix("_key")
    return legal(stem, "entity")


def _semantic_model(star: _Star, build: Build, metrics: list[_Entry]) -> _Entry:
    used = star.used[build.name]
    used |= star.roles[build.name]
    dates = dict(_dates(star, build))
    dimensions = [*_key_dates(star, build, dates), *_dimensions(star, build, dates)]
    measured_by = _time_of_measures(star, build, dates)
    measures = [] if measured_by is None else [*_measures(star, build, measured_by, metrics)]
    undated = build.name in star.facts and measured_by is None
    description = build.description or build.reason
    entry: _Entry = {
        "name": star.datasets[build.name],
        "description": without_jinja(
            f"{description} {_NO_DATE}".strip() if undated else description
        ),
        "model": f"ref('{build.name}')",
        "defaults": {"agg_time_dimension": measured_by} if measures else None,
        "primary_entity": star.primary[build.name] if len(build.key) != 1 else None,
        "entities": [*_entities(star, build)],
        "dimensions": dimensions,
        "measures": measures,
    }
    return {key: value for key, value in entry.items() if value}


def _entities(star: _Star, build: Build) -> Iterator[_Entry]:
    if len(build.key) == 1:
        (key,) = build.key
        own = star.primary[build.name]
        yield {"name": own, "type": "primary", "expr": key}
        for role in sorted(star.roles[build.name] - {own}):
            yield {"name": role, "type": "unique", "expr": key}
    for column, name in star.foreign[build.name].items():
        yield {"name": name, "type": "foreign", "expr": column}


def _dates(star: _Star, build: Build) -> Iterator[tuple[str, str]]:
    """Yield a fact's keys of days and its own times, each with the name of its dimension."""
    dataset = star.datasets[build.name]
    if build.name in star.facts:
        for reference in star.facts[build.name].dimensions:
            if reference.dimension in star.calendars and reference.key:
                name = legal(reference.key.removesuffix("_key"), "date")
                yield reference.key, star.names.of(dataset, name, "time", star.used[build.name])
    for column in build.columns:
        if is_time(column.contract_type) and column.measure is None:
            name = legal(column.name, "date")
            yield column.name, star.names.of(dataset, name, "time", star.used[build.name])


def _key_dates(star: _Star, build: Build, dates: Mapping[str, str]) -> Iterator[_Entry]:
    columns = {column.name: column for column in build.columns}
    for key, name in dates.items():
        column = columns[key]
        is_key = not is_time(column.contract_type)
        yield {
            "name": name,
            **_described(column),
            "type": "time",
            "expr": day_of(key, star.dialect) if is_key else key,
            "type_params": {"time_granularity": "day"},
        }


def day_of(key: str, dialect: TargetDialect) -> str:
    """Return the day of a calendar's key (20260131), null where there is none or it's infinite."""
    return " ".join(dialect.query(_day_of_key(key)).split())


def _day_of_key(key: str) -> str:
    digits = f"LPAD(CAST({key} AS VARCHAR), 8, '0')"
    parts = (
        f"SUBSTRING({digits}, {start}, {length})" for start, length in ((1, 4), (5, 2), (7, 2))
    )
    text = " || '-' || ".join(parts)
    return f"CASE WHEN {key} BETWEEN 10101 AND 99991231 THEN CAST({text} AS DATE) END"


def _dimensions(star: _Star, build: Build, dates: Mapping[str, str]) -> Iterator[_Entry]:
    """Yield what is grouped by; a hash is no category, and what refers is an entity."""
    own_key = build.key if len(build.key) == 1 else ()
    others = {*dates, *own_key, *star.foreign[build.name]}
    for column in build.columns:
        if column.name in others or column.measure or {"hash-key", "foreign-key"} & {*column.tags}:
            continue
        name = star.names.of(
            star.datasets[build.name],
            legal(column.name, "field"),
            "categorical",
            star.used[build.name],
        )
        yield {"name": name, **_described(column), "type": "categorical", "expr": column.name}


def _described(column: PlanColumn) -> _Entry:
    entry: _Entry = {"description": without_jinja(column.description)} if column.description else {}
    return {**entry, **({"config": {"meta": {"pii": True}}} if column.pii else {})}


def _time_of_measures(star: _Star, build: Build, dates: Mapping[str, str]) -> str | None:
    """Return the time that a fact's measures are of: the event's date, or else its first."""
    fact = star.facts.get(build.name)
    if fact is None or not dates:
        return None
    dated = fact.dated_by
    if dated is not None:
        event = (dated.source, dated.attribute)
        keys = [ref.key for ref in fact.dimensions if (ref.source, *ref.columns) == event]
        columns = [each.name for each in fact.attributes if (each.source, each.attribute) == event]
        for column in (*keys, *columns):
            if column in dates:
                return dates[column]
    return next(iter(dates.values()))


def _measures(star: _Star, build: Build, time: str, metrics: list[_Entry]) -> Iterator[_Entry]:
    """Yield the measures of a fact, the number of its rows last, and add a metric for each."""
    dataset = star.datasets[build.name]
    for column in build.columns:
        if column.measure is None:
            continue
        if column.measure.weighted_by:
            yield from _weighted(star, build, column, metrics)
            continue
        yield _measure(star, build, column, column.measure, time, metrics)
    yield from _lags(star, build, metrics)
    name = star.names.of(
        dataset, fit("count", dataset), f"measure {build.name}", star.used[build.name]
    )
    description = f"The number of rows of {build.name}."
    metrics.append(_metric(name, description))
    yield {"name": name, "description": description, "agg": "sum", "expr": "1"}


def _lags(star: _Star, build: Build, metrics: list[_Entry]) -> Iterator[_Entry]:
    """Yield how many days a process takes from its beginning to each later milestone.

    What hasn't got so far isn't counted.
    """
    fact = star.facts[build.name]
    begun = fact.dated_by
    if fact.fact_type != "accumulating_snapshot" or begun is None or begun.source:
        return
    days = dict(_milestones(star, fact))
    start = days.pop(begun.attribute, "")
    for milestone, end in days.items() if start else ():
        role = next(r.role or r.key for r in fact.dimensions if r.columns == (milestone,))
        name = _metric_name(star, build, "avg", "days", "to", role)
        description = f"The days from {begun.attribute} to {milestone}, on average."
        metrics.append(_metric(name, without_jinja(description)))
        lag = star.dialect.query(f"DATE_DIFF('day', {start}, {end})")
        yield {
            "name": name,
            "description": without_jinja(description),
            "agg": "average",
            "expr": " ".join(lag.split()),
        }


def _milestones(star: _Star, fact: Fact) -> Iterator[tuple[str, str]]:
    """Yield the dates of a fact that have a role in a calendar, each with the SQL of its day."""
    columns = {each.attribute: each for each in fact.attributes if not each.source}
    for reference in fact.dimensions:
        if reference.source or len(reference.columns) != 1:
            continue
        (attribute,) = reference.columns
        if reference.dimension in star.calendars:
            yield attribute, _day_of_key(reference.key)
        elif attribute in columns and is_time(columns[attribute].type):
            yield attribute, f"CAST({columns[attribute].name} AS DATE)"


def _measure(
    star: _Star,
    build: Build,
    column: PlanColumn,
    role: MeasureRole,
    time: str,
    metrics: list[_Entry],
) -> _Entry:
    """Return one measure, and add its metric; a level is that of the last day."""
    aggregation = _of_level(role) if role.day else role.aggregation
    verb = "last" if role.day else role.aggregation
    name = _metric_name(star, build, verb, column.name)
    description = without_jinja(stated_role(role))
    metrics.append(_metric(name, description))
    last_day = {"name": time, "window_choice": "max"}
    return {
        "name": name,
        "description": description,
        "agg": _AGGREGATIONS.get(aggregation, aggregation),
        "expr": column.name,
        **({"non_additive_dimension": last_day} if role.day else {}),
    }


def _weighted(
    star: _Star, build: Build, column: PlanColumn, metrics: list[_Entry]
) -> Iterator[_Entry]:
    """Yield what a weighted average is the ratio of, and add the metrics of the three."""
    role = column.measure
    assert role is not None, "only a measure has a weight"
    price, weight = column.name, role.weighted_by
    parts = (
        ((price, "times", weight), f"{price} * {weight}"),
        ((weight, "with", price), f"CASE WHEN {price} IS NOT NULL THEN {weight} END"),
    )
    names = [_metric_name(star, build, "sum", *words) for words, _ in parts]
    for name, (words, expression) in zip(names, parts, strict=True):
        description = f"The sum of {' '.join(words)}, for the average of {price}."
        # MetricFlow makes a ratio of metrics alone, though nobody asks for these.
        metrics.append(_metric(name, description) | {"config": {"meta": {"hidden": True}}})
        yield {"name": name, "description": description, "agg": "sum", "expr": expression}
    average = _metric_name(star, build, role.aggregation, price)
    metrics.append(
        _metric(average, without_jinja(stated_role(role)))
        | {"type": "ratio", "type_params": {"numerator": names[0], "denominator": names[1]}}
    )


def _metric_name(star: _Star, build: Build, verb: str, *words: str) -> str:
    """Return a free name for a measure and its metric."""
    dataset = star.datasets[build.name]
    name = legal(fit(verb, dataset, *words), "metric")
    meaning = f"measure {build.name}.{' '.join((verb, *words))}"
    return star.names.of(dataset, name, meaning, star.used[build.name])


def _of_level(role: MeasureRole) -> Aggregation:
    """Return how a level is aggregated over the members of one day: it's summed, unless decided."""
    return "sum" if role.aggregation == "avg" else role.aggregation


def _metric(name: str, description: str) -> _Entry:
    return {
        "name": name,
        "label": name.replace("_", " "),
        "description": description,
        "type": "simple",
        "type_params": {"measure": name},
    }
