"""Rules for a transform plan: what it builds, in which order, and under which names."""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from fluid_build.copilot.scratchpad import CriticFinding
from fluid_build.modeling.identifiers import LONGEST_IDENTIFIER
from fluid_build.modeling.sql_names import RESERVED
from fluid_build.pipeline.critic.findings import (
    MOST_FINDINGS,
    TransformRule,
    examples,
    finding,
)
from fluid_build.pipeline.critic.reading import first_text, part, parts, text
from fluid_build.text import counted

_DEPENDENCIES = ("ref_models", "depends_on", "dependencies", "refs", "upstream")
"""The names under which plans say what a build reads; ours is the first."""

Graph = Mapping[str, tuple[str, ...]]


def check_cycles(transform_plan: object, logical: object) -> Iterator[CriticFinding]:  # noqa: ARG001
    """Find builds that read each other in a circle."""
    graph = {name: list(read) for name, read in _graph(transform_plan).items()}
    for _ in range(MOST_FINDINGS):
        cycle = _cycle(graph)
        if cycle is None:
            return
        yield finding(
            "transform",
            "error",
            f"circular dependency: {' → '.join(cycle)}",
            f"builds.{cycle[0]}",
            "remove one of these references",
        )
        # Without one of its references the circle is open, and the next one can be found.
        graph[cycle[-2]].remove(cycle[-1])


def check_missing_builds(transform_plan: object, logical: object) -> Iterator[CriticFinding]:  # noqa: ARG001
    """Find builds that read a build which isn't there."""
    graph = _graph(transform_plan)
    for name, read in graph.items():
        for missing in read:
            if missing not in graph:
                message = f"{name} reads {missing}, which no build makes"
                yield finding("transform", "error", message, f"builds.{name}")


def check_unbuilt_relations(transform_plan: object, logical: object) -> Iterator[CriticFinding]:
    """Find relations of the model that the plan doesn't build."""
    builds = _graph(transform_plan)
    for path in _RELATIONS:
        for element in parts(logical, *path):
            name = text(element, "name")
            if name and builds and name not in builds:
                message = f"{name} is in the model, and no build makes it"
                yield finding("transform", "error", message, f"{'.'.join(path)}.{name}")


def check_unread_staging(transform_plan: object, logical: object) -> Iterator[CriticFinding]:  # noqa: ARG001
    """Find staging builds that nothing reads."""
    read = {name for names in _graph(transform_plan).values() for name in names}
    unread = [
        text(build, "name")
        for build in _builds(transform_plan)
        if text(build, "layer") == "staging" and text(build, "name") not in read
    ]
    if unread:
        yield finding(
            "transform",
            "info",
            f"{counted(len(unread), 'staging build')} that no other build reads:"
            f" {examples(unread)}",
            f"builds.{unread[0]}",
        )


def check_names(transform_plan: object, logical: object) -> Iterator[CriticFinding]:  # noqa: ARG001
    """Find names of tables and columns that some database won't accept without quotes."""
    names = [
        name
        for build in _builds(transform_plan)
        for name in (_name(build), *(text(column, "name") for column in parts(build, "columns")))
    ]
    refused = [name for name in dict.fromkeys(names) if _is_refused(name)]
    if refused:
        yield finding(
            "transform",
            "warning",
            f"{counted(len(refused), 'name')} too long or reserved on a target database:"
            f" {examples(refused)}",
            f"builds.{refused[0]}",
            f"use names of at most {LONGEST_IDENTIFIER} characters that no database reserves",
        )


TRANSFORM_RULES: tuple[TransformRule, ...] = (
    check_cycles,
    check_missing_builds,
    check_unbuilt_relations,
    check_unread_staging,
    check_names,
)

_RELATIONS = (
    ("dv2", "hubs"),
    ("dv2", "links"),
    ("dv2", "satellites"),
    ("dimensional", "facts"),
    ("dimensional", "dimensions"),
    ("dimensional", "bridges"),
)


def _builds(transform_plan: object) -> list[object]:
    """Return the builds of a plan, of a list of builds, or of a mapping by their names."""
    value = transform_plan
    for attribute in ("builds", "models", "nodes"):
        inner = part(transform_plan, attribute)
        if isinstance(inner, list | tuple | Mapping):
            value = inner
            break
    if isinstance(value, Mapping):
        return [build for name, item in value.items() for build in _builds_under(name, item)]
    return list(value) if isinstance(value, list | tuple) else []


def _builds_under(name: object, build: object) -> Iterator[object]:
    """Yield a build of a mapping under its key; a list is what it depends on."""
    if isinstance(build, Mapping):
        yield {"name": name, **build}
    elif isinstance(build, list | tuple):
        yield {"name": name, "depends_on": build}


def _graph(transform_plan: object) -> Graph:
    """Return what each build reads, by names, in the order of the plan."""
    return {
        name: tuple(dict.fromkeys(_dependencies(build)))
        for build in _builds(transform_plan)
        if (name := _name(build))
    }


def _name(build: object) -> str:
    return first_text(build, "name", "id", "unique_id", "model")


def _dependencies(build: object) -> Iterator[str]:
    for attribute in _DEPENDENCIES:
        names = part(build, attribute)
        if isinstance(names, Mapping):
            # dbt's own manifest has them one level deeper.
            names = names.get("nodes")
        for dependency in names if isinstance(names, list | tuple) else ():
            if isinstance(dependency, str):
                yield dependency
            elif name := first_text(dependency, "buildId", "build_id", "name", "id"):
                yield name


def _cycle(graph: Mapping[str, list[str]]) -> list[str] | None:
    """Return a circle of builds, each reading the next, from the one that comes first."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # graphlib lists the circle from what is read to its reader.
        circle = list(reversed(error.args[1]))[:-1]
        first = min(circle, key=list(graph).index)
        at = circle.index(first)
        return [*circle[at:], *circle[:at], first]
    return None


def _is_refused(name: str) -> bool:
    return len(name) > LONGEST_IDENTIFIER or name.lower() in RESERVED
