"""What a valid contract says against itself: warnings, no part of the schema's verdict.

Names that are given twice, names that refer to nothing in the contract, and texts that are not of
the ``format`` that the schema notes without enforcing it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain

from fluid_build.contract.fluid import Build, Expose, FluidContract, MultiStageBuild, Semantics
from fluid_build.contract.fluid.orchestration import AirflowOrchestration, AirflowTask
from fluid_build.contract.printable import escaped, path_shown, shown
from fluid_build.contract.structure import Path
from fluid_build.contract.validation import Finding, capped, in_document_order, parse_contract
from fluid_build.errors import ContractError
from fluid_build.text import nearest

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_WORD = re.compile(r"\w+")

Placed = tuple[Path, Finding]
Names = Iterable[tuple[Path, str]]


def check_consistency(
    document: object, *, lines: Mapping[Path, int] | None = None
) -> tuple[Finding, ...]:
    """Warnings about a valid document, in its order; none for an invalid one."""
    try:
        contract = parse_contract(document)
    except ContractError:
        return ()
    found = [
        *_of_exposes(contract),
        *_of_builds(contract),
        *_of_environments(contract),
        *_of_orchestration(contract),
        *_of_formats(contract),
    ]
    return capped(in_document_order(found, document, lines or {}))


def _of_exposes(contract: FluidContract) -> Iterator[Placed]:
    ids = [(("exposes", i, "exposeId"), e.expose_id) for i, e in enumerate(contract.exposes)]
    yield from _repeated("exposeId", ids)
    for index, expose in enumerate(contract.exposes):
        at: Path = ("exposes", index)
        yield from _of_columns(at, expose)
        if expose.semantics is not None:
            yield from _of_semantics((*at, "semantics"), expose.semantics)


def _of_columns(at: Path, expose: Expose) -> Iterator[Placed]:
    promise = expose.contract
    rules = promise.dq.rules if promise.dq is not None else None
    dq: Path = (*at, "contract", "dq", "rules")
    yield from _repeated("rule id", _at(dq, "id", (rule.id for rule in rules or ())))
    if promise.columns is None:
        return
    schema: Path = (*at, "contract", "schema")
    columns = [column.name for column in promise.columns]
    yield from _repeated("column", _at(schema, "name", columns))
    selectors = (
        ((*dq, i, "selector"), name)
        for i, rule in enumerate(rules or ())
        for name in _columns_of_selector(rule.selector, columns)
    )
    yield from _unknown("column", chain(selectors, _columns_of_policy(at, expose)), columns)


def _columns_of_selector(selector: str | None, columns: list[str]) -> list[str]:
    """The columns that a selector names, none where it is an expression or cannot be split."""
    if selector is None or selector in columns or any("," in column for column in columns):
        return []
    padded = {column.strip() for column in columns}
    parts = [part.strip() for part in selector.split(",")]
    return [part for part in parts if _WORD.fullmatch(part) and part not in padded]


def _columns_of_policy(at: Path, expose: Expose) -> Iterator[tuple[Path, str]]:
    policy = expose.policy
    if policy is not None and policy.privacy is not None:
        for i, masking in enumerate(policy.privacy.masking or ()):
            yield (*at, "policy", "privacy", "masking", i, "column"), masking.column
    if policy is not None and policy.authz is not None:
        for i, restriction in enumerate(policy.authz.column_restrictions or ()):
            for j, column in enumerate(restriction.columns or ()):
                where = (*at, "policy", "authz", "columnRestrictions", i, "columns", j)
                yield where, column


def _of_semantics(at: Path, semantics: Semantics) -> Iterator[Placed]:
    measures, metrics = semantics.measures or [], semantics.metrics or []
    measure_names = [measure.name for measure in measures]
    metric_names = [metric.name for metric in metrics]
    dimensions = [dimension.name for dimension in semantics.dimensions or ()]
    entities = [entity.name for entity in semantics.entities or ()]
    yield from _repeated("entity", _at((*at, "entities"), "name", entities))
    yield from _repeated("measure", _at((*at, "measures"), "name", measure_names))
    yield from _repeated("dimension", _at((*at, "dimensions"), "name", dimensions))
    yield from _repeated("metric", _at((*at, "metrics"), "name", metric_names))

    times: list[tuple[Path, str | None]] = [
        ((*at, "defaultAggTimeDimension"), semantics.default_agg_time_dimension)
    ]
    for i, measure in enumerate(measures):
        times.append(((*at, "measures", i, "aggTimeDimension"), measure.agg_time_dimension))
        if measure.non_additive_dimension is not None:
            where: Path = (*at, "measures", i, "nonAdditiveDimension", "name")
            times.append((where, measure.non_additive_dimension.name))
    yield from _unknown("dimension", _given(times), dimensions)

    made = {measure.name for measure in measures if measure.create_metric}
    known_metrics = [*metric_names, *sorted(made)]
    for i, metric in enumerate(metrics):
        here: Path = (*at, "metrics", i)
        yield from _unknown(
            "measure", _given([((*here, "measure"), metric.measure)]), measure_names
        )
        parts = [
            ((*here, "numerator"), metric.numerator),
            ((*here, "denominator"), metric.denominator),
        ]
        inputs = _at((*here, "inputMetrics"), None, metric.input_metrics or ())
        yield from _unknown("metric", chain(inputs, _given(parts)), known_metrics)


def _of_builds(contract: FluidContract) -> Iterator[Placed]:
    builds: list[tuple[Path, Build]] = [
        (("builds", i), build) for i, build in enumerate(contract.builds or ())
    ]
    if contract.build is not None:
        builds.append((("build",), contract.build))
    ids = [((*at, "id"), build.id) for at, build in builds]
    yield from _repeated("build id", _given(ids))
    exposes = [expose.expose_id for expose in contract.exposes]
    for at, build in builds:
        dependencies = [
            ((*at, "dependencies", i, "buildId"), dependency.build_id)
            for i, dependency in enumerate(build.dependencies or ())
        ]
        yield from _unknown("build", _given(dependencies), [id_ for _, id_ in ids if id_])
        yield from _unknown("exposeId", _outputs(at, build), exposes)


def _outputs(at: Path, build: Build) -> Iterator[tuple[Path, str]]:
    yield from _at((*at, "outputs"), None, build.outputs or ())
    for i, transformation in enumerate(build.transformations or ()):
        yield from _at((*at, "transformations", i, "outputs"), None, transformation.outputs or ())
    if isinstance(build, MultiStageBuild) and build.properties is not None:
        for i, stage in enumerate(build.properties.stages or ()):
            where = (*at, "properties", "stages", i, "outputs")
            yield from _at(where, None, stage.outputs or ())


def _of_environments(contract: FluidContract) -> Iterator[Placed]:
    exposes = [expose.expose_id for expose in contract.exposes]
    for name, environment in (contract.environments or {}).items():
        named = [
            (("environments", name, "exposes", i, "exposeId"), expose.expose_id)
            for i, expose in enumerate(environment.exposes or ())
        ]
        yield from _unknown("exposeId", _given(named), exposes)


def _of_orchestration(contract: FluidContract) -> Iterator[Placed]:
    if contract.orchestration is None or contract.orchestration.airflow is None:
        return
    airflow = contract.orchestration.airflow
    tasks = list(_tasks(("orchestration", "airflow"), airflow))
    sensors = [sensor.task_id for sensor in airflow.sensors or ()]
    sensor_ids = _at(("orchestration", "airflow", "sensors"), "taskId", sensors)
    yield from _repeated(
        "taskId", chain((((*at, "taskId"), task.task_id) for at, task in tasks), sensor_ids)
    )
    known = [*(task.task_id for _, task in tasks), *sensors]
    exposes = [expose.expose_id for expose in contract.exposes]
    for at, task in tasks:
        waits = _at((*at, "dependencies"), None, task.dependencies or ())
        yield from _unknown("taskId", waits, known)
        produced = (dataset.expose_id for dataset in task.produces or ())
        yield from _unknown("exposeId", _at((*at, "produces"), "exposeId", produced), exposes)


def _tasks(at: Path, airflow: AirflowOrchestration) -> Iterator[tuple[Path, AirflowTask]]:
    for i, task in enumerate(airflow.tasks or ()):
        yield (*at, "tasks", i), task
    for i, group in enumerate(airflow.task_groups or ()):
        for j, task in enumerate(group.tasks or ()):
            yield (*at, "taskGroups", i, "tasks", j), task


def _of_formats(contract: FluidContract) -> Iterator[Placed]:
    metadata = contract.metadata
    yield from _of_format(
        "an e-mail address", _is_email, [(("metadata", "owner", "email"), metadata.owner.email)]
    )
    provenance = metadata.provenance
    times: list[tuple[Path, str | None]] = [(("metadata", "createdAt"), metadata.created_at)]
    if provenance is not None:
        times.append((("metadata", "provenance", "generated_at"), provenance.generated_at))
    yield from _of_format("a date and time such as `2025-01-31T12:00:00Z`", _is_time, times)
    yield from _of_format(
        "a URI",
        _is_uri,
        chain(
            _links((), contract),
            *(
                _links_of_expose(("exposes", i), expose)
                for i, expose in enumerate(contract.exposes)
            ),
        ),
    )


def _links(at: Path, part: FluidContract | Expose) -> Iterator[tuple[Path, str | None]]:
    if part.docs is not None:
        yield (*at, "docs", "homepage"), part.docs.homepage
        yield (*at, "docs", "runbook"), part.docs.runbook
        yield (*at, "docs", "dictionary"), part.docs.dictionary
        yield (*at, "docs", "changeLog"), part.docs.change_log


def _links_of_expose(at: Path, expose: Expose) -> Iterator[tuple[Path, str | None]]:
    yield from _links(at, expose)
    yield (*at, "contract", "openapiRef"), expose.contract.openapi_ref
    yield (*at, "binding", "location", "baseUrl"), expose.binding.location.base_url
    watched = expose.observability
    for i, action in enumerate(watched.on_breach or () if watched is not None else ()):
        yield (*at, "observability", "onBreach", i, "url"), action.url


def _at(at: Path, key: str | None, names: Iterable[str]) -> Names:
    """The names with their paths: items of the list at a path, or a key of each item."""
    below = () if key is None else (key,)
    return [((*at, index, *below), name) for index, name in enumerate(names)]


def _given(names: Iterable[tuple[Path, str | None]]) -> Names:
    return [(path, name) for path, name in names if name is not None]


def _repeated(what: str, names: Names) -> Iterator[Placed]:
    first: dict[str, Path] = {}
    for path, name in names:
        if name in first:
            message = f"the {what} `{escaped(name)}` is given twice"
            other = f"one that is not at {path_shown(first[name])}"
            yield path, Finding(path_shown(path), message, shown(name), other, level="warning")
        else:
            first[name] = path


def _unknown(what: str, names: Names, known: list[str]) -> Iterator[Placed]:
    for path, name in names:
        if name not in known:
            close = nearest(name, tuple(known))
            hint = f"; did you mean `{escaped(close)}`?" if close else ""
            message = f"there is no {what} `{escaped(name)}` in the contract{hint}"
            allowed = f"a {what} of the contract"
            yield (
                path,
                Finding(path_shown(path), message, shown(name), allowed, close, level="warning"),
            )


def _of_format(
    what: str, fits: Callable[[str], bool], texts: Iterable[tuple[Path, str | None]]
) -> Iterator[Placed]:
    for path, text in texts:
        if text is not None and not fits(text):
            finding = Finding(
                path_shown(path),
                f"it does not look like {what}",
                shown(text),
                what,
                level="warning",
            )
            yield path, finding


def _is_email(text: str) -> bool:
    return _EMAIL.fullmatch(text) is not None


def _is_uri(text: str) -> bool:
    return _URI.fullmatch(text) is not None


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None and len(text) > len("2025-01-31")
    except ValueError:
        return False
