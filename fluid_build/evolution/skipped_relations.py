"""Loading what dbt skipped although nothing that it needs was stopped.

A hub has keys of several tables, and the calendar of a star the days of all of them: dbt skips both
where one table is stopped, and with the calendar every fact. Both do without that table, because
what they had of it stays. The satellites and links of the other tables are loaded, so their keys
have to be in the hub: a row that the source deletes before the next load would never get its parent
again.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt.running import DbtNode, DbtResult

STOPPED = "stopped"
"""The dbt variable with the relations that hubs and calendars don't read."""


@dataclass(frozen=True, slots=True)
class SecondBuild:
    """Relations to build after all, without what is ``stopped``."""

    relations: tuple[str, ...]
    stopped: tuple[str, ...]

    @property
    def selection(self) -> tuple[str, ...]:
        """Arguments by which dbt builds them, with their tests."""
        return ("--select", *self.relations, "--indirect-selection", "buildable")


def gathering_relations(model: LogicalModel) -> frozenset[str]:
    """Return the relations that have something of many tables, and keep what they had of each."""
    hubs = model.dv2.hubs if model.dv2 is not None else ()
    dimensions = model.dimensional.dimensions if model.dimensional is not None else ()
    calendars = (each.name for each in dimensions if each.is_generated)
    return frozenset((*(hub.name for hub in hubs), *calendars))


def second_build(gathering: Collection[str], result: DbtResult) -> SecondBuild | None:
    """Return what a first build skipped and a second one can load; None where that's nothing.

    A relation that is ``gathering`` is loaded without what isn't there. Everything else stays
    skipped where it reads a relation that failed, or of which a test did.
    """
    waiting = {node.name: frozenset(node.reads) for node in result.skipped if node.kind == "model"}
    unsound = {name for node in result.failed for name in _unsound(node)}
    missing = unsound | waiting.keys()
    relations: list[str] = []
    stopped: set[str] = set()
    while True:
        left = waiting.keys() - unsound - {*relations}
        whole = [name for name in left if not waiting[name] & missing]
        partly = [name for name in left.intersection(gathering) if not waiting[name] <= missing]
        ready = whole or partly
        if not ready:
            break
        relations += sorted(ready)
        for name in ready:
            stopped |= waiting[name] & missing
        missing -= {*ready}
    return SecondBuild(tuple(relations), tuple(sorted(stopped))) if stopped else None


def _unsound(node: DbtNode) -> tuple[str, ...]:
    """Return the relations that aren't there, or aren't as they should be, where a node failed."""
    return (node.name,) if node.kind == "model" else node.reads


def with_second(result: DbtResult, second: DbtResult) -> DbtResult:
    """Return the result of both builds: what was skipped in the first may be in the second."""
    known = {node.name for node in second.nodes}
    return replace(
        result,
        nodes=(*(node for node in result.nodes if node.name not in known), *second.nodes),
        warnings=tuple(dict.fromkeys((*result.warnings, *second.warnings))),
    )
