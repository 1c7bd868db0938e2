"""The ``semantics`` of a table: what a row is and refers to, what to group by and to add up."""

from collections import Counter
from collections.abc import Sequence

from fluid_build.contract.fluid import (
    DimensionParams,
    NonAdditiveDimension,
    SemanticDimension,
    SemanticEntity,
    SemanticMeasure,
    Semantics,
)
from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.measures import MeasureRole
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.modeling.types import family
from fluid_build.transform.plan.elements import Build, BuildTest, PlanColumn

_NOT_FOR_GROUPING = {"nested", "other", "time", "float", "decimal"}
_OF_KEYS = {"primary-key", "foreign-key", "hash-key", "business-key", "technical"}


def semantics(build: Build) -> Semantics:
    """Return the semantic model of one table."""
    entities = _entities(build)
    used_names = {item.name for item in entities}
    dimensions = _dimensions(build, used_names)
    times = [dimension.name for dimension in dimensions if dimension.type == "time"]
    time = times[0] if len(times) == 1 else None
    return Semantics(
        name=build.name,
        default_agg_time_dimension=time,
        entities=entities or None,
        measures=_measures(build.columns, time, used_names),
        dimensions=dimensions or None,
    )


def _entities(build: Build) -> list[SemanticEntity]:
    """Return the table's keys, and an entity for each reference, named for its target.

    A reference has the name of the table it refers to, by which the two join, except where
    several lead to the same one: then each has the name of its role.
    """
    used_names: set[str] = set()
    result = []
    if build.key:
        result.append(_entity(_reserve(build.name, used_names), "primary", build.key))
    for test in build.tests:
        if test.kind == "unique" and test.key_kind == "declared" and not test.allowed:
            name = _reserve(identifier(" ".join(test.columns)), used_names)
            result.append(_entity(name, "unique", test.columns))
    references = [test for test in build.tests if test.is_join and test.to_model]
    times = Counter(test.to_model for test in references)
    for test in references:
        name = _reference_name(build, test, times)
        result.append(_entity(_reserve(name, used_names), "foreign", test.columns))
    return result


def _reference_name(build: Build, test: BuildTest, times: Counter[str | None]) -> str:
    name = test.to_model or ""
    if times[test.to_model] > 1 or test.to_model == build.name:
        return identifier(f"{name} {test.role or ' '.join(test.columns)}")
    return name


def _entity(name: str, type_: str, columns: Sequence[str]) -> SemanticEntity:
    expression = columns[0] if len(columns) == 1 else f"({', '.join(columns)})"
    return SemanticEntity.model_validate({"name": name, "type": type_, "expr": expression})


def _dimensions(build: Build, used_names: set[str]) -> list[SemanticDimension]:
    keys = {
        *build.key,
        *(c for test in build.tests if _identifies(test) for c in test.columns),
    }
    return [
        _dimension(column, _reserve(column.name, used_names))
        for column in build.columns
        if column.measure is None and column.name not in keys and _groups(column)
    ]


def _identifies(test: BuildTest) -> bool:
    return test.kind == "relationships" or (test.kind == "unique" and test.key_kind == "declared")


def _groups(column: PlanColumn) -> bool:
    """Return whether to group by a column: no key, personal data, free text or nested values."""
    if column.pii or column.semantic_type == "free_text" or _OF_KEYS & set(column.tags):
        return False
    return family(column.contract_type) not in _NOT_FOR_GROUPING


def _dimension(column: PlanColumn, name: str) -> SemanticDimension:
    is_time = family(column.contract_type) in {"date", "timestamp"}
    return SemanticDimension(
        name=name,
        type="time" if is_time else "categorical",
        expr=column.name,
        type_params=DimensionParams(time_granularity="day") if is_time else None,
    )


def _measures(
    columns: Sequence[PlanColumn], time: str | None, used_names: set[str]
) -> list[SemanticMeasure]:
    measures = [
        _measure(column, column.measure, time, _reserve(column.name, used_names))
        for column in columns
        if column.measure is not None
    ]
    rows = SemanticMeasure(
        name=_reserve("row_count", used_names),
        agg="count",
        expr="1",
        description="The number of rows.",
    )
    return [rows, *measures]


def _measure(column: PlanColumn, role: MeasureRole, time: str | None, name: str) -> SemanticMeasure:
    """Return a measure. Over time, a level isn't summed: its last value counts."""
    is_level = role.additivity == "semi-additive" and time is not None
    return SemanticMeasure(
        name=name,
        agg="sum" if is_level else role.aggregation,
        expr=column.name,
        description=f"{role.additivity.capitalize()}.",
        non_additive_dimension=(
            NonAdditiveDimension(name=time, window_choice="max") if is_level else None
        ),
    )


def _reserve(name: str, used_names: set[str]) -> str:
    """Take the name, with the lowest free number where the table uses it already."""
    free = free_identifier(name, used_names)
    used_names.add(free)
    return free
