"""What a valid contract says against itself: warnings, no part of the schema's verdict.

Names that are given twice, names that refer to nothing in the contract, and texts that aren't of
the ``format`` that the schema notes without enforcing it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain

from fluid_build.contract.printable import escaped, path_shown, shown
from fluid_build.contract.structure import Part, Path
from fluid_build.contract.validation import Finding, capped, in_document_order, parse_contract
from fluid_build.errors import ContractError
from fluid_build.text import nearest

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_WORD = re.compile(r"\w+")
_BUILDS = ("builds[]", "build")
_LINKS = ("docs.homepage", "docs.runbook", "docs.dictionary", "docs.changeLog")
_TASKS = ("orchestration.airflow.tasks[]", "orchestration.airflow.taskGroups[].tasks[]")

Names = list[tuple[Path, str]]
PlacedFinding = tuple[Path, Finding]


def check_consistency(
    document: object, *, lines: Mapping[Path, int] | None = None
) -> tuple[Finding, ...]:
    """Return warnings about a valid document, in its order; none for an invalid one."""
    try:
        parse_contract(document)
    except ContractError:
        return ()
    warnings = [
        *_check_exposes(document),
        *_check_builds(document),
        *_check_orchestration(document),
        *_check_formats(document),
    ]
    return capped(in_document_order(warnings, document, lines or {}))


def _check_exposes(document: object) -> Iterator[PlacedFinding]:
    ids = _texts(document, "exposes[].exposeId")
    yield from _repeated("exposeId", ids)
    environments = _texts(document, "environments.*.exposes[].exposeId")
    yield from _unknown("exposeId", environments, _values(ids))
    for at, expose in _find(document, "exposes[]"):
        yield from _check_columns(at, expose)
        for below, semantics in _find(expose, "semantics", at):
            yield from _check_semantics(below, semantics)


def _check_columns(at: Path, expose: object) -> Iterator[PlacedFinding]:
    yield from _repeated("rule id", _texts(expose, "contract.dq.rules[].id", at))
    if not any(_find(expose, "contract.schema")):
        return
    names = _texts(expose, "contract.schema[].name", at)
    columns = _values(names)
    yield from _repeated("column", names)
    selected = [
        (path, name)
        for path, selector in _texts(expose, "contract.dq.rules[].selector", at)
        for name in _columns_of_selector(selector, columns)
    ]
    masked = _texts(expose, "policy.privacy.masking[].column", at)
    restricted = _texts(expose, "policy.authz.columnRestrictions[].columns[]", at)
    yield from _unknown("column", [*selected, *masked, *restricted], columns)


def _columns_of_selector(selector: str, columns: list[str]) -> list[str]:
    """Return the columns that a selector names; none for an expression or an unclear list."""
    if selector in columns or any("," in column for column in columns):
        return []
    padded = {column.strip() for column in columns}
    parts = [part.strip() for part in selector.split(",")]
    return [part for part in parts if _WORD.fullmatch(part) and part not in padded]


def _check_semantics(at: Path, semantics: object) -> Iterator[PlacedFinding]:
    def texts(*patterns: str) -> Names:
        return [item for pattern in patterns for item in _texts(semantics, pattern, at)]

    lists = {"entity": "entities", "measure": "measures", "dimension": "dimensions"}
    lists["metric"] = "metrics"
    names = {what: texts(f"{key}[].name") for what, key in lists.items()}
    for what, of_elements in names.items():
        yield from _repeated(what, of_elements)
    times = texts(
        "defaultAggTimeDimension",
        "measures[].aggTimeDimension",
        "measures[].nonAdditiveDimension.name",
    )
    yield from _unknown("dimension", times, _values(names["dimension"]))
    yield from _unknown("measure", texts("metrics[].measure"), _values(names["measure"]))
    measure_metrics = {
        measure["name"]
        for _, measure in _find(semantics, "measures[]")
        if isinstance(measure, dict) and measure.get("createMetric")
    }
    parts = texts("metrics[].inputMetrics[]", "metrics[].numerator", "metrics[].denominator")
    yield from _unknown("metric", parts, [*_values(names["metric"]), *sorted(measure_metrics)])


def _check_builds(document: object) -> Iterator[PlacedFinding]:
    def texts(*keys: str) -> Names:
        return [
            item for build in _BUILDS for key in keys for item in _texts(document, f"{build}.{key}")
        ]

    ids = texts("id")
    yield from _repeated("build id", ids)
    yield from _unknown("build", texts("dependencies[].buildId"), _values(ids))
    outputs = texts("outputs[]", "transformations[].outputs[]", "properties.stages[].outputs[]")
    yield from _unknown("exposeId", outputs, _values(_texts(document, "exposes[].exposeId")))


def _check_orchestration(document: object) -> Iterator[PlacedFinding]:
    def of_tasks(key: str) -> Names:
        return [item for task in _TASKS for item in _texts(document, f"{task}.{key}")]

    ids = [*of_tasks("taskId"), *_texts(document, "orchestration.airflow.sensors[].taskId")]
    yield from _repeated("taskId", ids)
    yield from _unknown("taskId", of_tasks("dependencies[]"), _values(ids))
    exposes = _values(_texts(document, "exposes[].exposeId"))
    yield from _unknown("exposeId", of_tasks("produces[].exposeId"), exposes)


def _check_formats(document: object) -> Iterator[PlacedFinding]:
    emails = _texts(document, "metadata.owner.email")
    yield from _misshapen("an e-mail address", _is_email, emails)
    times = chain(
        _texts(document, "metadata.createdAt"),
        _texts(document, "metadata.provenance.generated_at"),
    )
    yield from _misshapen("a date and time such as `2025-01-31T12:00:00Z`", _is_time, times)
    patterns = [
        *_LINKS,
        *(f"exposes[].{link}" for link in _LINKS),
        "exposes[].contract.openapiRef",
        "exposes[].binding.location.baseUrl",
        "exposes[].observability.onBreach[].url",
    ]
    uris = chain.from_iterable(_texts(document, pattern) for pattern in patterns)
    yield from _misshapen("a URI", _is_uri, uris)


def _find(document: object, pattern: str, at: Path = ()) -> Iterator[tuple[Path, object]]:
    """Return the values that a pattern leads to, with their paths.

    A pattern is keys with points between; ``[]`` stands for every item and ``*`` for every key.
    """
    return _follow(document, pattern.replace("[]", ".[]").split("."), at)


def _follow(document: object, steps: list[str], at: Path) -> Iterator[tuple[Path, object]]:
    if not steps:
        yield at, document
        return
    step, *inner_steps = steps
    entries: list[tuple[Part, object]] = []
    if isinstance(document, list) and step == "[]":
        entries = [*enumerate(document)]
    elif isinstance(document, dict):
        entries = [(key, item) for key, item in document.items() if step in (key, "*")]
    for key, value in entries:
        yield from _follow(value, inner_steps, (*at, key))


def _texts(document: object, pattern: str, at: Path = ()) -> Names:
    """Return the texts that a pattern leads to, with their paths."""
    return [(path, value) for path, value in _find(document, pattern, at) if isinstance(value, str)]


def _values(names: Names) -> list[str]:
    return [name for _, name in names]


def _repeated(what: str, names: Names) -> Iterator[PlacedFinding]:
    first: dict[str, Path] = {}
    for path, name in names:
        if name in first:
            message = f"the {what} `{escaped(name)}` is defined twice"
            other = f"one other than at {path_shown(first[name])}"
            yield path, Finding(path_shown(path), message, shown(name), other, level="warning")
        else:
            first[name] = path


def _unknown(what: str, names: Names, known: list[str]) -> Iterator[PlacedFinding]:
    for path, name in names:
        if name not in known:
            close = nearest(name, tuple(known))
            hint = f"; did you mean `{escaped(close)}`?" if close else ""
            message = f"the contract has no {what} `{escaped(name)}`{hint}"
            allowed = f"a {what} of the contract"
            yield (
                path,
                Finding(path_shown(path), message, shown(name), allowed, close, level="warning"),
            )


def _misshapen(
    what: str, fits: Callable[[str], bool], texts: Iterable[tuple[Path, str]]
) -> Iterator[PlacedFinding]:
    for path, text in texts:
        if not fits(text):
            message = f"doesn't look like {what}"
            yield path, Finding(path_shown(path), message, shown(text), what, level="warning")


def _is_email(text: str) -> bool:
    return _EMAIL.fullmatch(text) is not None


def _is_uri(text: str) -> bool:
    return _URI.fullmatch(text) is not None


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None and len(text) > len("2025-01-31")
    except ValueError:
        return False
