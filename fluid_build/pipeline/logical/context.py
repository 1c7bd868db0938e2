"""What else goes into a document: decisions made before, and what led to a repair."""

from collections.abc import Iterable, Sequence

from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.scratchpad import StageFeedback
from fluid_build.decisions.language import AnyDecision
from fluid_build.json_types import JsonValue
from fluid_build.pipeline.logical.conflicts import tables_of
from fluid_build.text import clip

_MOST_LINES = 40
_LONGEST_LINE = 200
_LONGEST_RETRIEVAL = 500
_LONGEST_GOAL = 4_000
"""Of the user's words: each chunk of a large source gets them."""
_MOST_RETRIEVALS = 3


def decided_lines(decisions: Iterable[AnyDecision], tables: Sequence[str]) -> list[str]:
    """Return what is decided about some tables: the kind and the names, not the contents."""
    chosen = set(tables)
    lines = []
    for decision in decisions:
        names = tables_of(decision)
        if names <= chosen:
            column = getattr(decision, "column", None)
            line = " ".join([decision.decision, *sorted(names), *([column] if column else [])])
            lines.append(clip(line, _LONGEST_LINE))
    return lines[:_MOST_LINES]


def goal_context(goal: str) -> dict[str, JsonValue]:
    """Return what the user says that the product is for; nothing where they say nothing."""
    return {"goal": clip(goal, _LONGEST_GOAL)} if goal else {}


def rerun_context(session: StageSession, feedback: Sequence[StageFeedback]) -> dict[str, JsonValue]:
    """Return why the stage runs again, and similar models; nothing in a first run."""
    if not feedback:
        return {}
    scratchpad = session.get_scratchpad()
    findings = [
        f"{finding.severity}: {finding.message} {finding.suggestion or ''}".strip()
        for finding in scratchpad.critic_findings_for_stage("logical")
    ]
    similar = scratchpad.top_retrievals(limit=_MOST_RETRIEVALS, namespace="memory/semantic")
    context: dict[str, JsonValue] = {
        "feedback": _clipped(item.summary for item in feedback),
        "findings": _clipped(findings),
        "similar": [clip(result.text, _LONGEST_RETRIEVAL) for result in similar if result.text],
    }
    return {name: value for name, value in context.items() if value}


def _clipped(lines: Iterable[str]) -> list[str]:
    return [clip(line, _LONGEST_LINE) for line in dict.fromkeys(lines)][:_MOST_LINES]
