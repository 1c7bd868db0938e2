"""What the stages of a run work with."""

from __future__ import annotations

from dataclasses import dataclass

from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.llm.base import CompletionClient
from fluid_build.pipeline.requests import ForgeRequest
from fluid_build.pipeline.stages import OnStage, ignore_stages
from fluid_build.pipeline.values import RunValues
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.base import Source


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
