"""Agents that work for others: as delegates of a composite, and as another agent's tool."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from fluid_build.copilot.agents.agent import Agent
from fluid_build.copilot.agents.composite import Composite, CompositeAgent, delegate, run_sync
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.errors import UsageError
from tests.copilot.agents.agent.models import call, calling


class Verdict(BaseModel):
    good: bool


def test_agents_are_delegates_that_run_in_parallel() -> None:
    together = threading.Barrier(2)

    def answer(prompt: LlmPrompt) -> Any:
        return {"good": prompt.messages[0]["content"] == "a"}

    class Waiting(ScriptedProvider):
        async def complete(self, prompt: LlmPrompt, **asker: str) -> Any:
            await asyncio.to_thread(together.wait, 5)
            return await super().complete(prompt, **asker)

    judge = Agent(Waiting(answer), output=Verdict)

    class Court(CompositeAgent):
        def init(self, args: Mapping[str, Any]) -> Composite:
            branches = [
                delegate(name, judge, lambda state, name=name: {"prompt": name})  # type: ignore[misc]
                for name in ("a", "b")
            ]
            return Composite(steps=[branches])

    result = run_sync(Court, {})
    assert [message["content"] for message in result.state.messages] == [
        "## A\n\ngood=True",
        "## B\n\ngood=False",
    ]


def test_an_agent_is_a_tool_of_another() -> None:
    inner = Agent(ScriptedProvider([{"good": True}]), output=Verdict, name="judge")
    model = ScriptedProvider([calling(call("judge", prompt="Is it good?")), "It is."])
    tool = inner.as_tool(description="Judge something.")
    result = Agent(model, tools=[tool]).run_sync("Go.")
    assert result.output == "It is."
    assert result.messages[2]["content"] == '{"good":true}'
    assert tool.definition["description"] == "Judge something."


def test_a_delegation_without_a_prompt_is_refused() -> None:
    with pytest.raises(UsageError, match="no prompt"):
        asyncio.run(Agent(ScriptedProvider([])).get_response({"scope": "x"}))
