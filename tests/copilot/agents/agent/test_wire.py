"""Agents over real sockets: the client's formats, costs and connections."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from pydantic import BaseModel

from fluid_build.copilot.agents.agent import Agent
from fluid_build.copilot.cost import CostLimitExceeded, RunCostTracker, use_cost_tracker
from fluid_build.copilot.llm.answers import Usage
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from tests.copilot.agents.agent.models import MODELS, call
from tests.fault_server import LoopbackServer, Reply


class Sum(BaseModel):
    total: int


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


SCRIPT = [
    Reply("", [call("add", a=1, b=2), call("add", "c2", a=3, b=4)], Usage(1000, 100)),
    Reply('{"total": 10}', usage=Usage(2000, 100)),
]


@pytest.mark.parametrize("provider", MODELS)
def test_an_agent_works_in_every_format(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a client it opens its own for the run, and closes it."""
    with LoopbackServer(SCRIPT) as server:
        for variable in make_provider(provider).key_variables:
            monkeypatch.setenv(variable, server.key)
        config = LlmConfig(provider, MODELS[provider], server.base_url(provider))
        result = Agent(config, tools=[add], output=Sum).run_sync("Add.")
    assert result.output == Sum(total=10)
    assert [message["content"] for message in result.messages[2:4]] == ["3", "7"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("provider", MODELS)
def test_every_format_takes_guidance_after_the_results_of_a_turn(provider: str) -> None:
    """The server refuses what the provider's own would, such as a call without its result."""
    script = [
        Reply("", [call("add", "c1", a="x"), call("none", "c2"), call("add", "c3", a=1, b=1)]),
        Reply('{"sum": 2}'),
        Reply('{"total": 2}'),
    ]
    with LoopbackServer(script) as server:
        wire = make_provider(provider, server.base_url(provider))
        with LlmClient(wire, api_key=server.key) as client:
            model = f"{provider}:{MODELS[provider]}"
            agent = Agent(model, client=client, tools=[add], output=Sum)
            result = agent.run_sync("Add.")
    assert result.output.total == 2
    roles = [message["role"] for message in result.messages]
    assert roles == [
        "user",
        "assistant",
        *["tool"] * 3,
        *["user"] * 2,
        *["assistant", "user"],
        "assistant",
    ]


def test_the_cost_of_a_run_is_that_of_its_calls() -> None:
    """It is counted for the agent's name in the tracker of the run."""
    with (
        LoopbackServer(SCRIPT) as server,
        use_cost_tracker(RunCostTracker(prices={"m": (2, 10)})) as tracker,
    ):
        provider = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(provider, api_key=server.key) as client:
            agent = Agent("anthropic:m", client=client, tools=[add], output=Sum, name="adder")
            result = agent.run_sync("Add.")
    assert result.usage == Usage(3000, 200)
    assert result.cost_usd == Decimal("0.008") == tracker.total_usd
    row = tracker.breakdown.agent_rows[0]
    assert (row.stage, row.agent_class, row.cost_usd) == ("adder", "Agent", Decimal("0.008"))


def test_the_cost_of_a_run_is_counted_by_the_clients_own_tracker() -> None:
    """Its prices are the run's, and not those of the current context."""
    tracker = RunCostTracker(prices={"m": (2, 10)})
    with LoopbackServer(SCRIPT) as server:
        provider = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(provider, api_key=server.key, tracker=tracker) as client:
            agent = Agent("anthropic:m", client=client, tools=[add], output=Sum)
            assert agent.run_sync("Add.").cost_usd == Decimal("0.008") == tracker.total_usd


def test_a_run_starts_again_where_its_limit_was_raised() -> None:
    """Neither the turn that was paid for nor its tool is repeated."""
    with LoopbackServer(SCRIPT) as server:
        provider = make_provider("anthropic", server.base_url("anthropic"))
        tracker = RunCostTracker("0.0045", prices={"m": (2, 10)})
        with LlmClient(provider, api_key=server.key, tracker=tracker) as client:
            agent = Agent(
                "anthropic:m", client=client, tools=[add], output=Sum, max_output_tokens=200
            )
            with pytest.raises(CostLimitExceeded) as stopped:
                agent.run_sync("Add.")
            tracker.limit_usd = "0.1"
            result = agent.resume_sync(stopped.value.result)
    assert result.output == Sum(total=10)
    assert result.cost_usd == Decimal("0.008") == tracker.total_usd
    assert len(server.requests) == 2


def test_a_given_client_serves_several_runs() -> None:
    """Each waiting run has an event loop of its own, and leaves no connection open in it."""
    with LoopbackServer(SCRIPT * 2) as server:
        provider = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(provider, api_key=server.key) as client:
            agent = Agent("anthropic:m", client=client, tools=[add], output=Sum)
            assert [agent.run_sync("Add.").output.total for _ in range(2)] == [10, 10]


def test_a_run_leaves_the_connections_of_other_threads_open() -> None:
    """The blocking connections of a client that it was given belong to its owner."""
    with LoopbackServer([Reply("one"), Reply("two")]) as server:
        provider = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(provider, api_key=server.key) as client:
            client.complete_sync(LlmPrompt("m", [{"role": "user", "content": "Go."}]))
            connections = client._blocking._client
            assert Agent("anthropic:m", client=client).run_sync("Go.").output == "two"
            assert client._blocking._client is connections is not None
            assert not connections.is_closed
            assert not client._on_loop._clients


def test_a_spent_limit_stops_the_run() -> None:
    with (
        LoopbackServer(SCRIPT) as server,
        use_cost_tracker(RunCostTracker("0.0045", prices={"m": (2, 10)})),
    ):
        provider = make_provider("anthropic", server.base_url("anthropic"))
        client = LlmClient(provider, api_key=server.key)
        agent = Agent("anthropic:m", client=client, tools=[add], max_output_tokens=200)

        async def run() -> None:
            async with client:
                await agent.run("Add.")

        with pytest.raises(CostLimitExceeded):
            asyncio.run(run())
    assert len(server.requests) == 1
