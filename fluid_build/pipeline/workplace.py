"""What the stages of a run work with."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from fluid_build.copilot.agents.base import StageSession
from fluid_build.forging.design_file import earlier_basis
from fluid_build.forging.stages import look_closer
from fluid_build.modeling.basis import Basis
from fluid_build.observations.observe import Observations
from fluid_build.pipeline.requests import ForgeRequest
from fluid_build.pipeline.stages import OnStage, ignore_stages
from fluid_build.pipeline.values import RunValues
from fluid_build.profiling.profile import Profile
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.base import Source

if TYPE_CHECKING:
    from fluid_build.copilot.llm.base import CompletionClient


@dataclass
class Workplace:
    """The open source, the request, the session and the values of a run.

    ``client`` asks the model; None makes one from the session's configuration. ``cache_hits``
    counts the answers that came from the cache.
    """

    source: Source
    request: ForgeRequest
    session: StageSession
    values: RunValues
    on_progress: OnProgress = ignore
    on_stage: OnStage = ignore_stages
    client: CompletionClient | None = None
    cache_hits: int = 0
    _observed: list[tuple[Profile, Observations]] = field(default_factory=list)

    @cached_property
    def earlier(self) -> Basis | None:
        """Return what the folder's model was designed from; None where it has none."""
        return earlier_basis(self.request.out, self.source, self.request.options.redesign)

    def look_closer(self, profile: Profile) -> Observations:
        """Return the observations on a profile, measured once: most decisions leave it as it is."""
        for observed, observations in self._observed:
            if observed == profile:
                return observations
        observations = look_closer(self.source, profile, self.on_progress)
        self._observed.append((profile, observations))
        return observations
