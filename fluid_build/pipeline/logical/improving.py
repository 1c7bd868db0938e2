"""Improving a draft: the chunks are asked in parallel, and what is refused goes back once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.llm.base import CompletionClient
from fluid_build.copilot.scratchpad import StageFeedback
from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.verdicts import Verdict, kept
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.logical.agent import LogicalAgent
from fluid_build.pipeline.logical.asking import Question, Reply, ask_all
from fluid_build.pipeline.logical.compact_profile import DraftFacts
from fluid_build.pipeline.logical.conflicts import (
    refuse_conflicts,
    tables_of,
    without_repetitions,
)
from fluid_build.pipeline.logical.context import goal_context, rerun_context
from fluid_build.pipeline.logical.draft import Draft, Judge, LogicalOutcome
from fluid_build.pipeline.logical.questions import (
    asked_models,
    correcting_question,
    first_questions,
)
from fluid_build.sources.text_values.personal_text import without_values
from fluid_build.text import clip

_MOST_REFUSED = 40
"""Refusals that go back to a chunk; further ones are dropped without a second try."""
_MOST_MESSAGE = 300


async def improve(
    draft: Draft,
    session: StageSession,
    judge: Judge,
    *,
    client: CompletionClient | None = None,
    feedback: Sequence[StageFeedback] = (),
) -> LogicalOutcome:
    """Ask the run's model to improve a draft, and return the decisions that the data bears out.

    With ``feedback``, of a stage that sent the run back here, the model also sees the critic's
    findings and similar models. A chunk whose call fails is in ``failed_chunks``, and the decisions
    of the others count. Raises ``CostLimitExceeded``, after the calls under way have ended.
    """
    facts = DraftFacts.of(draft)
    async with LogicalAgent(session, client) as agent:
        asked = asked_models(draft, agent)
        context = goal_context(draft.goal) | rerun_context(session, feedback)
        questions, chunks = first_questions(facts, asked, context)
        first = await ask_all(questions)
        judged = _judge(first, draft.decisions, judge)
        corrections = _corrections(facts, first, judged)
        second = await ask_all(corrections)
    verdicts = _final_verdicts(judged, second, draft.decisions, judge)
    replies = (*first, *second)
    return LogicalOutcome(
        decisions=kept(verdicts),
        verdicts=verdicts,
        invalid=tuple(entry for reply in replies for entry in reply.proposals.invalid),
        unread=sum(reply.proposals.unread for reply in replies),
        chunks=chunks,
        rounds=2 if corrections else 1,
        failed_chunks=tuple(reply.failure for reply in replies if reply.failure is not None),
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A proposal, the reply that it's from, and its verdict.

    A ``settled`` one was refused since something else decides its subject: it doesn't go back.
    """

    reply: int
    verdict: Verdict
    is_settled: bool


def _judge(replies: Sequence[Reply], decided: Sequence[AnyDecision], judge: Judge) -> list[_Judged]:
    """Return the proposals of all replies in order, with their verdicts."""
    proposed = [
        (number, decision)
        for number, reply in enumerate(replies)
        for decision in reply.proposals.decisions
    ]
    decisions = [decision for _, decision in proposed]
    conflicts = refuse_conflicts(decisions, decided)
    verdicts = _verdicts(decisions, conflicts, judge)
    return [
        _Judged(number, verdict, is_settled=position in conflicts)
        for position, ((number, _), verdict) in enumerate(zip(proposed, verdicts, strict=True))
    ]


def _verdicts(
    decisions: Sequence[AnyDecision], conflicts: Mapping[int, Verdict], judge: Judge
) -> list[Verdict]:
    """Return a verdict on each decision; those in conflict aren't measured."""
    unsettled = [d for position, d in enumerate(decisions) if position not in conflicts]
    measured = iter(judge(unsettled) if unsettled else ())
    return [conflicts.get(position) or next(measured) for position in range(len(decisions))]


def _corrections(
    facts: DraftFacts, replies: Sequence[Reply], judged: Sequence[_Judged]
) -> list[Question]:
    """Return the questions for replacements, to those whose proposals were refused."""
    corrections = []
    for number, reply in enumerate(replies):
        refusals = [
            item.verdict
            for item in judged
            if item.reply == number and item.verdict.status == "refused" and not item.is_settled
        ]
        lines = [
            *(_describe_refusal(verdict) for verdict in refusals),
            *({"entry": entry.entry, "why": entry.fault} for entry in reply.proposals.invalid),
        ]
        if lines:
            tables = {name for verdict in refusals for name in tables_of(verdict.decision)}
            corrections.append(
                correcting_question(facts, reply.question, tables, lines[:_MOST_REFUSED])
            )
    return corrections


def _describe_refusal(verdict: Verdict) -> JsonObject:
    decision = verdict.decision.model_dump(
        mode="json",
        exclude_none=True,
        exclude={"by", "reason", "evidence", "despite_violations", "text"},
    )
    # A database's own error message may quote a value.
    return {**decision, "why": clip(without_values(verdict.message), _MOST_MESSAGE)}


def _final_verdicts(
    judged: Sequence[_Judged],
    replies: Sequence[Reply],
    decided: Sequence[AnyDecision],
    judge: Judge,
) -> tuple[Verdict, ...]:
    """Return all verdicts, those of the first round weighed again next to the replacements."""
    first = [item.verdict for item in judged]
    standing = [verdict.decision for verdict in first if verdict.status != "refused"]
    answered = [decision for reply in replies for decision in reply.proposals.decisions]
    # Many models answer a correction with their whole answer again.
    replacements = without_repetitions(answered, standing)
    if not replacements:
        return tuple(first)
    conflicts = refuse_conflicts(replacements, (*decided, *standing))
    later = {len(standing) + position: verdict for position, verdict in conflicts.items()}
    verdicts = _verdicts([*standing, *replacements], later, judge)
    weighed_again = iter(verdicts[: len(standing)])
    return (
        *(verdict if verdict.status == "refused" else next(weighed_again) for verdict in first),
        *verdicts[len(standing) :],
    )
