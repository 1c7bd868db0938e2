"""Drafts for the tests of the logical stage, and models that review them."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.llm.base import CompletionClient, LlmConfig, LlmPrompt
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.verdicts import Verdict, accepted, refused
from fluid_build.modeling.techniques import build_model
from fluid_build.pipeline.logical.draft import Draft, LogicalOutcome
from fluid_build.pipeline.logical.improving import improve
from fluid_build.profiling.profile import Profile
from tests.modeling.sources import source

SHOP = source("""
    customers  *id, name text, mail text
    orders     *id, customer_id > customers, total decimal, placed date
    lines      *order_id > orders, *number/9 1-9, qty/9 1-9
""")


def draft(profile: Profile = SHOP, technique: str = "dimensional", **more: Any) -> Draft:
    """A draft of a profile."""
    return Draft(profile, build_model(profile, technique), **more)


def large_profile(tables: int, columns: int = 10) -> Profile:
    """A profile in areas of twenty tables, where each refers to the one before it."""
    lines = []
    for number in range(tables):
        names = [f"cust_attr_{place} text" for place in range(columns - 3)]
        parent = f"erp_table_{number - 1}" if number % 20 else None
        reference = f"parent_id > {parent}" if parent else "parent_code text"
        lines.append(f"erp_table_{number} *id, {reference}, amount decimal, {', '.join(names)}")
    return source("\n".join(lines))


def session(config: LlmConfig | None = None, **more: Any) -> StageSession:
    """A session whose model has a large window."""
    return StageSession(
        NullBackend(), config or LlmConfig("anthropic", "claude-sonnet-4-6"), **more
    )


def accept_all(decisions: Sequence[AnyDecision]) -> list[Verdict]:
    return [accepted(decision, "The data doesn't contradict it.") for decision in decisions]


def refuse(*kinds: str) -> Callable[[Sequence[AnyDecision]], list[Verdict]]:
    """A judge that refuses some kinds of decisions."""

    def judge(decisions: Sequence[AnyDecision]) -> list[Verdict]:
        return [
            refused(decision, "12 of 830 rows repeat a value.")
            if decision.decision in kinds
            else accepted(decision, "The data doesn't contradict it.")
            for decision in decisions
        ]

    return judge


def run(
    model: CompletionClient,
    draft_: Draft | None = None,
    judge: Callable[[Sequence[AnyDecision]], Sequence[Verdict]] = accept_all,
    session_: StageSession | None = None,
    **more: Any,
) -> LogicalOutcome:
    """Improve a draft with a model."""
    return asyncio.run(
        improve(draft_ or draft(), session_ or session(), judge, client=model, **more)
    )


def document(prompt: LlmPrompt) -> dict[str, Any]:
    """The JSON document of a prompt."""
    content = prompt.messages[0]["content"]
    assert isinstance(content, str)
    value: dict[str, Any] = json.loads(content)
    return value


def describe(table: str, text: str = "Rows of it.", **more: Any) -> dict[str, Any]:
    """A proposal to describe a table."""
    return {"decision": "describe", "table": table, "value": text, "reason": "R.", **more}


def answer(*proposals: dict[str, Any]) -> dict[str, Any]:
    """A model's answer."""
    return {"decisions": list(proposals)}
