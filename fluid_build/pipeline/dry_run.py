"""A forge that asks nobody and writes nothing: what it would ask, and what it would write."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.context.token_estimate import estimate_tokens
from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.forging import Preview, preview
from fluid_build.forging.stages import measure
from fluid_build.pipeline.requests import ForgeRequest
from fluid_build.pipeline.sessions import configured, open_session
from fluid_build.pipeline.values import PROFILE, RunValues
from fluid_build.pipeline.workplace import Workplace
from fluid_build.progress import OnProgress
from fluid_build.sources.base import Source

_MOST_CALLS = 8
"""Calls for a question at most: it's asked, corrected after an answer of another form, and the same
for the decisions that were refused; all of it again in a repair."""


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """A question to a model, in tokens. ``most_cost_usd`` is None for an unknown price."""

    stage: str
    provider: str
    model: str
    tables: int
    input_tokens: int
    most_output_tokens: int
    most_cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run would ask, and what it would write without a model's decisions."""

    questions: tuple[PlannedQuestion, ...]
    preview: Preview

    @property
    def most_cost_usd(self) -> Decimal | None:
        """Return the most that the questions can cost, None where a price is unknown."""
        costs = [question.most_cost_usd for question in self.questions]
        listed = [cost for cost in costs if cost is not None]
        return sum(listed, Decimal(0)) if len(listed) == len(costs) else None


def dry_run(source: Source, request: ForgeRequest, on_progress: OnProgress) -> DryRun:
    """Return what a run would do. Nothing is sent, recorded or written."""
    with configured(request.model_use):
        session = open_session(NullBackend(), request.model_use, "dry-run")
        questions = () if session.llm_config is None else _questions(source, request, session)
    planned = preview(
        source,
        request.options,
        out=request.out,
        overwrite=request.overwrite,
        on_progress=on_progress,
    )
    return DryRun(questions, planned)


def _questions(
    source: Source, request: ForgeRequest, session: StageSession
) -> tuple[PlannedQuestion, ...]:
    # A run without a model doesn't wait for these imports.
    from fluid_build.pipeline.logical.agent import LogicalAgent
    from fluid_build.pipeline.logical.compact_profile import DraftFacts, as_document
    from fluid_build.pipeline.logical.proposals import Proposals
    from fluid_build.pipeline.logical.questions import asked_models, first_questions
    from fluid_build.pipeline.proposing import draft_of

    place = Workplace(source, request, session, RunValues(session.store, "dry-run"))
    place.values.put(PROFILE, measure(source))
    draft = draft_of(place)
    schema = estimate_tokens(as_document(Proposals.model_json_schema()))
    price = RunCostTracker().price
    with LogicalAgent(session) as agent:
        questions, _ = first_questions(DraftFacts.of(draft), asked_models(draft, agent), {})
    planned = []
    for question in questions:
        config = question.asked.agent.session.get_llm_config()
        text = question.asked.system + as_document(question.document)
        tokens, output = schema + estimate_tokens(text), config.max_output_tokens
        cost = price(config.provider, config.model, tokens, output)
        planned.append(
            PlannedQuestion(
                LogicalAgent.stage,
                config.provider,
                config.model,
                len(question.tables),
                tokens,
                output,
                None if cost is None else cost * _MOST_CALLS,
            )
        )
    return tuple(planned)
