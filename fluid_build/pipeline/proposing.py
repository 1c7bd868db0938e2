"""The question to the run's model: what would it decide differently from the draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fluid_build.copilot.errors import AgentExecutionError
from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.verdicts import Verdict
from fluid_build.forging.stages import decide, design
from fluid_build.pipeline.logical.draft import Draft, LogicalOutcome
from fluid_build.pipeline.logical.improving import improve
from fluid_build.pipeline.values import PROFILE
from fluid_build.pipeline.workplace import Workplace
from fluid_build.progress import Progress


async def proposed(place: Workplace) -> LogicalOutcome:
    """Return what the run's model contributes; record where it failed and the draft is used.

    Raises AgentExecutionError for a failure where the model is required, and CostLimitExceeded.
    """
    draft, judge = draft_of(place), Judging(place)
    feedback = place.session.get_scratchpad().feedback_for_stage("logical")
    config = place.session.llm_config
    model = "" if config is None else config.model
    place.on_progress(Progress("asking", done=0, total=0, detail=model))
    outcome = await improve(draft, place.session, judge, client=place.client, feedback=feedback)
    for reason in _failures(outcome):
        if place.request.model_use.is_required:
            raise AgentExecutionError(reason)
        place.session.record_fallback("logical", reason)
    return outcome


def draft_of(place: Workplace) -> Draft:
    """Return the draft without a model, as its question describes it."""
    options = place.request.options
    decided = decide(place.source, place.values.require(PROFILE), options)
    observations = place.look_closer(decided.profile)
    model = design(decided, observations, options, place.earlier).model
    return Draft(
        decided.profile,
        model,
        options.decisions,
        place.request.model_use.share_samples,
        place.request.goal,
    )


class Judging:
    """The judgement of proposals: measured on the data, then tried in a model."""

    def __init__(self, place: Workplace) -> None:
        self._place = place

    def __call__(self, decisions: Sequence[AnyDecision]) -> Sequence[Verdict]:
        """Return the verdicts on decisions that follow those of the request."""
        place = self._place
        before = place.request.options.decisions
        options = replace(place.request.options, decisions=(*before, *decisions))
        decided = decide(place.source, place.values.require(PROFILE), options)
        observations = place.look_closer(decided.profile)
        designed = design(decided, observations, options, place.earlier)
        return designed.verdicts[len(before) :]


def _failures(outcome: LogicalOutcome) -> list[str]:
    """Return a sentence for each error of the calls that failed."""
    failed: dict[tuple[str, str], int] = {}
    for chunk in outcome.failed_chunks:
        failed[chunk.error, chunk.message] = failed.get((chunk.error, chunk.message), 0) + 1
    return [
        f"{error}: {message}" if count == 1 else f"{error}, {count} times: {message}"
        for (error, message), count in failed.items()
    ]
