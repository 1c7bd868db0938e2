"""Loading hubs that dbt skipped because one of the tables that they have keys of was stopped.

The satellites and links of the other tables are loaded, so their keys have to be in the hub: a row
that the source deletes before the next load would never get its parent again.
"""

from dataclasses import dataclass, replace

from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt.running import DbtResult
from fluid_build.transform.plan.elements import TransformPlan

STOPPED = "stopped"
"""The dbt variable with the stagings that hubs don't read."""


@dataclass(frozen=True, slots=True)
class SkippedHubs:
    """Hubs to load, from all of their stagings but those that are ``stopped``."""

    hubs: tuple[str, ...]
    stopped: tuple[str, ...]

    @property
    def selection(self) -> tuple[str, ...]:
        """Arguments by which dbt builds them, with their tests."""
        return ("--select", *self.hubs, "--indirect-selection", "buildable")


def skipped_hubs(plan: TransformPlan, model: LogicalModel, result: DbtResult) -> SkippedHubs | None:
    """Return the hubs that lack keys of what was loaded; None where no hub does.

    A table counts as loaded where anything but a hub was built of its staging: dbt builds nothing
    of one that was stopped.
    """
    if model.dv2 is None:
        return None
    names = {hub.name for hub in model.dv2.hubs}
    built = {node.name for node in result.built}
    loaded = {
        staging
        for build in plan.published
        if build.name in built - names
        for staging in build.ref_models
    }
    skipped = {node.name for node in result.skipped} & names
    hubs = [
        build for build in plan.builds if build.name in skipped and loaded & {*build.ref_models}
    ]
    stopped = {name for build in hubs for name in build.ref_models} - loaded
    if not hubs:
        return None
    return SkippedHubs(tuple(build.name for build in hubs), tuple(sorted(stopped)))


def with_hubs(result: DbtResult, of_hubs: DbtResult) -> DbtResult:
    """Return the result of both runs: what was skipped in the first may be built in the second."""
    known = {node.name for node in of_hubs.nodes}
    return replace(
        result,
        nodes=(*(node for node in result.nodes if node.name not in known), *of_hubs.nodes),
        warnings=tuple(dict.fromkeys((*result.warnings, *of_hubs.warnings))),
    )
