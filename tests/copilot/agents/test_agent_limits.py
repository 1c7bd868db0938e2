"""The limits of an agent's run: calls of tools, tokens and seconds."""

from __future__ import annotations

import time
from typing import cast

import pytest

from fluid_build.copilot import (
    Agent,
    LlmClient,
    ScriptedProvider,
    make_provider,
)
from fluid_build.copilot.agents.agent import AgentResult
from fluid_build.copilot.errors import RunLimitError
from fluid_build.copilot.llm.answers import Usage
from fluid_build.copilot.messages import ToolCall, tool_results
from tests.fault_server import LoopbackServer, Reply


class Counter:
    def __init__(self) -> None:
        self.calls = 0

    def count(self) -> int:
        """Count once more."""
        self.calls += 1
        return self.calls


def many(number: int) -> list[ToolCall]:
    return [ToolCall(str(n), "count", {}) for n in range(number)]


def test_the_calls_over_the_limit_of_a_turn_are_not_made_and_the_model_is_told() -> None:
    counter = Counter()
    model = ScriptedProvider([many(2000), "Enough."])
    result = Agent(model, tools=[counter.count]).run_sync("Count.")
    assert result.output == "Enough."
    assert counter.calls == 100
    results = [each for message in result.messages for each in tool_results(message)]
    assert len(results) == 2000
    assert "at most 100 calls" in results[-1].content
    assert len(result.messages) == 2003


def test_a_run_stops_before_the_turn_that_has_too_many_calls_and_can_be_resumed() -> None:
    counter = Counter()
    model = ScriptedProvider([many(3), many(3), "Done."])
    agent = Agent(model, tools=[counter.count], max_tool_calls=5)
    with pytest.raises(RunLimitError, match="max_tool_calls=5") as stopped:
        agent.run_sync("Count.")
    assert counter.calls == 3
    further = Agent(model, tools=[counter.count], max_tool_calls=6)
    reached = cast("AgentResult[str]", stopped.value.result)
    assert further.resume_sync(reached).output == "Done."
    assert counter.calls == 6


def test_a_run_stops_once_its_tokens_are_used_up() -> None:
    replies = [Reply("", many(1), Usage(400, 100)), Reply("Done.", usage=Usage(10, 10))]
    with LoopbackServer(replies) as server:
        provider = make_provider("openai", server.base_url("openai"))
        with LlmClient(provider, api_key=server.key) as client:
            tools = [Counter().count]
            agent = Agent("openai:my-model", client=client, tools=tools, max_total_tokens=500)
            with pytest.raises(RunLimitError, match="max_total_tokens=500"):
                agent.run_sync("Count.")
        assert len(server.requests) == 1


def test_a_run_stops_once_its_time_is_up() -> None:
    def rest() -> str:
        """Take a while."""
        time.sleep(0.05)
        return "rested"

    model = ScriptedProvider([ToolCall("1", "rest", {}), "Done."])
    with pytest.raises(RunLimitError, match="max_seconds"):
        Agent(model, tools=[rest], max_seconds=0.04).run_sync("Rest.")
    assert len(model.prompts) == 1
