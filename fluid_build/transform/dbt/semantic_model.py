"""The semantic model in ``osi/``, which dbt reads from version 1.12 on, or for other tools.

An OSI 0.1.1 document over the builds that are published. dbt finds a dataset's model by
``database.schema.alias`` (https://docs.getdbt.com/docs/build/ossie-semantic-models), wants one
primary key of one field where a dataset has fields to group by, and a time spine in the project.
"""

from collections.abc import Collection, Iterator
from typing import Literal

from fluid_build.modeling.measures import MeasureRole
from fluid_build.modeling.osi import (
    Dataset,
    Metric,
    OsiDocument,
    OsiField,
    OsiRelationship,
    osi_document,
    osi_extension,
    osi_field,
    osi_metric,
)
from fluid_build.modeling.sql_names import fit, free_identifier
from fluid_build.transform.dbt.semantic_names import (
    SemanticNames,
    is_time,
    legal,
    references,
    semantic_names,
    stated_role,
    unique_columns,
    without_jinja,
)
from fluid_build.transform.plan.elements import Build, BuildTest, PlanColumn, TransformPlan

_KEYLESS = "It has no key, so nothing can be grouped by its columns."


def semantic_document(
    plan: TransformPlan, *, database: str | None, schema: str, facts: Collection[str] = ()
) -> OsiDocument | None:
    """Return the published builds as datasets; None where there are none.

    ``database`` and ``schema`` are where the project builds; None means that the environment
    names the database. The rows of ``facts`` are counted.
    """
    if not plan.published:
        return None
    names = semantic_names(plan)
    place = f"{database}.{schema}" if database else schema
    return osi_document(
        plan.name,
        f"The datasets that {plan.name} publishes, and their metrics.",
        [_dataset(build, names, place) for build in plan.published],
        _relationships(plan, names),
        _metrics(plan, names, facts),
    )


def semantic_json(document: OsiDocument) -> str:
    """Return the document as the file holds it."""
    return document.model_dump_json(by_alias=True, exclude_none=True, indent=2) + "\n"


def _dataset(build: Build, names: SemanticNames, place: str) -> Dataset:
    description = build.description or build.reason
    return Dataset(
        name=names.datasets[build.name],
        source=f"{place}.{build.name}",
        primary_key=_primary_key(build, names),
        unique_keys=tuple((names.fields[build.name][c],) for c in unique_columns(build)) or None,
        description=without_jinja(description if build.key else f"{description} {_KEYLESS}".strip())
        or None,
        fields=tuple(_fields(build, names)) or None,
        custom_extensions=osi_extension({"primary_key": build.key}) if len(build.key) > 1 else None,
    )


def _primary_key(build: Build, names: SemanticNames) -> tuple[str, ...] | None:
    if len(build.key) > 1:
        return (names.composite_keys[build.name],)
    return names.of(build.name, build.key) or None


def _fields(build: Build, names: SemanticNames) -> Iterator[OsiField]:
    fields = names.fields[build.name]
    referring = {c for test in references(build, names.datasets) for c in test.columns}
    for column in build.columns:
        if build.key or column.name in referring:
            yield _field(column, fields[column.name])
    if len(build.key) > 1:
        yield osi_field(
            names.composite_keys[build.name],
            " || '|' || ".join(_part(build.column(c)) for c in build.key),
            description="The columns of the key as one value.",
        )


def _part(column: PlanColumn) -> str:
    """Return a part of a composite key as text, escaped so that no two keys share a text."""
    if column.type == "VARCHAR":
        return f"REPLACE(REPLACE({column.name}, '~', '~~'), '|', '~|')"
    return f"CAST({column.name} AS VARCHAR)"


def _field(column: PlanColumn, name: str) -> OsiField:
    of_column: Literal["time", "other"] = "time" if is_time(column.contract_type) else "other"
    return osi_field(
        name,
        column.name,
        dimension=of_column if column.measure is None else None,
        description=without_jinja(column.description) or None,
        extension={"pii": True if column.pii else None},
    )


def _relationships(plan: TransformPlan, names: SemanticNames) -> Iterator[OsiRelationship]:
    used_names: set[str] = set()
    for build in plan.published:
        for test in references(build, names.datasets):
            yield _relationship(build, test, names, used_names)


def _relationship(
    build: Build, test: BuildTest, names: SemanticNames, used_names: set[str]
) -> OsiRelationship:
    parent = str(test.to_model)
    role = ("as", test.role) if test.role else ()
    name = fit(names.datasets[build.name], *role, "to", names.datasets[parent])
    name = free_identifier(name, used_names)
    used_names.add(name)
    return OsiRelationship(
        name=name,
        from_=names.datasets[build.name],
        to=names.datasets[parent],
        from_columns=names.of(build.name, test.columns),
        to_columns=names.of(parent, test.to_columns),
        custom_extensions=osi_extension({"orphans": test.allowed or None}),
    )


def _metrics(plan: TransformPlan, names: SemanticNames, facts: Collection[str]) -> Iterator[Metric]:
    used_names = set(names.datasets.values())
    for build in plan.published:
        dataset = names.datasets[build.name]
        for column in build.columns:
            role = column.measure
            if role is None:
                continue
            name = free_identifier(
                legal(fit(role.aggregation, dataset, column.name), "metric"), used_names
            )
            used_names.add(name)
            yield osi_metric(
                name,
                _aggregated(role, dataset, column.name),
                without_jinja(stated_role(role)),
            )
        if build.name in facts and (counted := _never_null(build)):
            name = free_identifier(legal(fit("count", dataset), "metric"), used_names)
            used_names.add(name)
            description = f"The number of rows of {build.name}."
            yield osi_metric(name, f"COUNT({dataset}.{counted})", description)


def _aggregated(role: MeasureRole, dataset: str, name: str) -> str:
    """Return the expression of a metric.

    A level is summed over the members and averaged over the days. Unlike the level of the last day,
    that's an aggregate which may be grouped and filtered by anything.
    """
    column = f"{dataset}.{name}"
    if role.weighted_by:
        weight = f"{dataset}.{role.weighted_by}"
        weights = f"SUM(CASE WHEN {column} IS NOT NULL THEN {weight} END)"
        return f"SUM({column} * {weight}) / NULLIF({weights}, 0)"
    if role.day and role.aggregation == "avg":
        days = f"COUNT(DISTINCT CASE WHEN {column} IS NOT NULL THEN {dataset}.{role.day} END)"
        return f"SUM({column}) / NULLIF({days}, 0)"
    if role.aggregation == "count_distinct":
        return f"COUNT(DISTINCT {column})"
    return f"{role.aggregation.upper()}({column})"


def _never_null(build: Build) -> str:
    """Return a column that each row of a fact has, "" without one; a reference has a key always."""
    keys = [column.name for column in build.columns if "foreign-key" in column.tags]
    return next(iter((*keys, *build.key)), "")
