"""A stage agent over real sockets: everything the client sees to happens, and happens once."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from fluid_build.copilot.agents.base import BaseStageAgent, StageSession
from fluid_build.copilot.agents.errors import (
    ContextOverflowError,
    ProviderServerError,
    SchemaValidationError,
)
from fluid_build.copilot.cost import RunCostTracker, use_cost_tracker
from fluid_build.copilot.events import Event, EventBus
from fluid_build.copilot.llm.base import LlmConfig
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from tests.fault_server import LoopbackServer, Reply, server_error

MODEL = "claude-sonnet-4-6"
GOOD = Reply('{"names": ["a"]}')


class Answer(BaseModel):
    names: list[str]


class Namer(BaseStageAgent):
    stage = "naming"


class Run:
    """One run against a server: a session, an agent, the waits and the events."""

    def __init__(self, server: LoopbackServer, folder: Path, **matrix: Any) -> None:
        self.events: list[Event] = []
        bus = EventBus()
        bus.subscribe(self.events.append)
        self.tracker = RunCostTracker(bus=bus)
        self.waits: list[float] = []
        config = LlmConfig("anthropic", MODEL, base_url=server.base_url("anthropic"))
        self.session = StageSession(
            SqliteBackend(folder / "store.db"), config, capability_matrix=matrix
        )
        self.client = LlmClient(
            make_provider("anthropic", config.base_url),
            api_key=server.key,
            capability_matrix=self.session.capability_matrix,
            sleep=self._sleep,
            sleep_sync=self.waits.append,
            draw=lambda: 0.0,
        )
        self.agent = Namer(self.session, self.client)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def ask(self, is_async: bool, **question: Any) -> Answer:
        arguments = {"system": "s", "user": "u", **question}
        with use_cost_tracker(self.tracker):
            if not is_async:
                with self.client:
                    return self.agent.call_sync(Answer, **arguments)

            async def ask() -> Answer:
                async with self.client:
                    return await self.agent.call(Answer, **arguments)

            return asyncio.run(ask())


Start = Callable[..., tuple[LoopbackServer, Run]]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a server with a script, and a run against it."""
    monkeypatch.delenv("FLUID_COST_LIMIT_USD", raising=False)
    servers: list[LoopbackServer] = []

    def start(*script: Any, **matrix: Any) -> tuple[LoopbackServer, Run]:
        server = LoopbackServer(script)
        servers.append(server.__enter__())
        return server, Run(server, tmp_path, **matrix)

    yield start
    for server in servers:
        server.__exit__(None, None, None)


both = pytest.mark.parametrize("is_async", [True, False])


@both
def test_a_call_is_sent_counted_and_cached(start: Start, is_async: bool) -> None:
    """One request, one event with stage and agent class, and nothing of either the next time."""
    server, run = start(GOOD)
    assert run.ask(is_async) == run.ask(is_async) == Answer(names=["a"])
    assert len(server.requests) == 1
    (event,) = run.events
    assert event.event_type == "llm.call_completed"
    assert (event.payload["stage"], event.payload["agent_class"]) == ("naming", "Namer")
    assert (event.payload["provider"], event.payload["model"]) == ("anthropic", MODEL)
    (row,) = run.tracker.breakdown.agent_rows
    assert (row.stage, row.agent_class, row.calls) == ("naming", "Namer", 1)
    assert run.tracker.breakdown.reserved_usd == 0
    assert run.tracker.total_usd > 0


@both
def test_retries_are_not_doubled(start: Start, is_async: bool) -> None:
    """A server that fails for good is asked three times in all, with waits of 1 and 2 seconds."""
    server, run = start(*[server_error()] * 9)
    with pytest.raises(ProviderServerError):
        run.ask(is_async)
    assert len(server.requests) == 3
    assert run.waits == [1.0, 2.0]
    assert (run.tracker.total_usd, run.tracker.breakdown.reserved_usd) == (0, 0)


@both
def test_a_prompt_that_does_not_fit_is_not_sent(start: Start, is_async: bool) -> None:
    """System and user prompt together are checked against the window of the capability matrix."""
    server, run = start(context_window=2000)
    with pytest.raises(ContextOverflowError):
        run.ask(is_async, system="word " * 1000, user="word " * 1000)
    assert server.requests == []


@both
def test_secrets_do_not_leave(
    start: Start, is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret of the environment is in no byte of the request."""
    monkeypatch.setenv("WAREHOUSE_PASSWORD", "canary-4711-x")
    server, run = start(GOOD)
    run.ask(is_async, system="Use canary-4711-x.", user="And canary-4711-x again.")
    assert b"canary-4711-x" not in server.requests[0].raw


@both
def test_a_broken_answer_is_one_call_that_is_paid_for(start: Start, is_async: bool) -> None:
    """It is not retried with the same prompt, not cached, and its tokens count."""
    server, run = start(Reply('{"names": 1}'), GOOD)
    with pytest.raises(SchemaValidationError):
        run.ask(is_async)
    assert len(server.requests) == 1
    assert run.tracker.breakdown.rows[0].calls == 1
    assert run.ask(is_async).names == ["a"]


@both
def test_flipping_a_capability_asks_again_and_holds_at_once(start: Start, is_async: bool) -> None:
    """A flag flipped during a run makes another key, and a window set then is the one checked."""
    server, run = start(GOOD, GOOD)
    run.ask(is_async)
    run.session.capability_matrix["extended_thinking"] = True
    run.ask(is_async)
    assert len(server.requests) == 2
    run.session.capability_matrix["context_window"] = 200
    with pytest.raises(ContextOverflowError):
        run.ask(is_async, user="word " * 1000)


@both
def test_an_agent_makes_its_own_client_and_closes_it(
    start: Start, is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a client it makes one from the configuration; used in a with block, none is left."""
    server, run = start(GOOD)
    monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)

    async def ask() -> Answer:
        async with Namer(run.session) as agent:
            return await agent.call(Answer, system="s", user="u")

    with use_cost_tracker(run.tracker):
        if is_async:
            assert asyncio.run(ask()).names == ["a"]
        else:
            with Namer(run.session) as agent:
                assert agent.call_sync(Answer, system="s", user="u").names == ["a"]
    gc.collect()
    assert run.tracker.breakdown.rows[0].calls == 1
