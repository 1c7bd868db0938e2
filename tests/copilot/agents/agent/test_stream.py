"""The events of an agent's run, as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from fluid_build.copilot.agents.agent import (
    Agent,
    AgentEvent,
    CorrectionEvent,
    PartialEvent,
    ResultEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
)
from fluid_build.copilot.errors import ProviderServerError
from fluid_build.copilot.llm.answers import LlmResponse, Usage
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.streaming import (
    AnswerEvent,
    StreamEvent,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.messages import ToolResult
from fluid_build.errors import UsageError
from tests.copilot.agents.agent.models import MODELS, call, calling
from tests.fault_server import LoopbackServer, Reply


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


SCRIPT = [calling(call("add", a=1, b=2)), LlmResponse("3", usage=Usage(7, 1), thinking="Hm.")]


def kinds(events: list[AgentEvent[str]]) -> list[type]:
    return [type(event) for event in events]


class Unstreamed(ScriptedProvider):
    """A scripted model without streams, as a client of LiteLLM is."""

    stream = None  # type: ignore[assignment]


@pytest.mark.parametrize("is_blocking", [True, False])
def test_a_client_that_cannot_stream_has_its_answers_as_events(is_blocking: bool) -> None:
    agent = Agent(Unstreamed(SCRIPT), tools=[add])

    async def read() -> list[AgentEvent[str]]:
        return [event async for event in agent.stream("1 + 2?")]

    events = list(agent.stream_sync("1 + 2?")) if is_blocking else asyncio.run(read())
    assert events[:-1] == [
        UsageEvent(Usage(10, 5)),
        ToolStartedEvent(call("add", a=1, b=2)),
        ToolFinishedEvent(call("add", a=1, b=2), ToolResult("c1", "3", "add")),
        ThinkingEvent("Hm."),
        TextEvent("3"),
        UsageEvent(Usage(7, 1)),
    ]
    last = events[-1]
    assert isinstance(last, ResultEvent)
    assert last.result.output == "3"


class Streaming(ScriptedProvider):
    """A scripted model that streams its answers word by word."""

    async def stream(  # type: ignore[override]
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> AsyncIterator[StreamEvent]:
        response = await self.complete(prompt, stage=stage, agent_class=agent_class)
        for word in response.text.split():
            yield TextEvent(word)
        for tool_call in response.tool_calls:
            yield ToolCallEvent(tool_call)
        if response.stop_reason != "other":
            yield AnswerEvent(response)


def test_a_client_that_streams_has_its_events_passed_on() -> None:
    model = Streaming([calling(call("add", a=1, b=2)), "It is three"])
    events = list(Agent(model, tools=[add]).stream_sync("1 + 2?"))
    assert kinds(events) == [ToolStartedEvent, ToolFinishedEvent, *[TextEvent] * 3, ResultEvent]


def test_a_stream_without_its_end_is_an_error() -> None:
    model = Streaming([LlmResponse("cut", stop_reason="other")])
    events: list[AgentEvent[str]] = []
    with pytest.raises(ProviderServerError, match="without an answer"):
        events += Agent(model).stream_sync("Go.")


def test_an_answer_that_is_corrected_is_an_event() -> None:
    """A reader knows that the text before it isn't the answer."""
    model = ScriptedProvider([{}, {"result": 3}])
    events = list(Agent(model, output=int).stream_sync("Go."))
    text_types = [kind for kind in kinds(events) if kind is not UsageEvent]
    assert text_types == [TextEvent, CorrectionEvent, TextEvent, PartialEvent, ResultEvent]
    correction = next(event for event in events if isinstance(event, CorrectionEvent))
    assert "/result: missing" in correction.text


def test_an_error_ends_the_stream() -> None:
    with pytest.raises(ValueError, match="broken"):
        list(Agent(ScriptedProvider([ValueError("broken")])).stream_sync("Go."))


def test_a_blocking_stream_in_an_event_loop_is_refused() -> None:
    """It would block the loop, and the model isn't asked."""

    async def read() -> None:
        Agent(ScriptedProvider([])).stream_sync("Go.")

    with pytest.raises(UsageError, match="inside an event loop"):
        asyncio.run(read())


def test_a_reader_that_leaves_stops_the_run() -> None:
    stopped: list[str] = []

    async def wait() -> None:
        """Wait forever."""
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append("wait")

    async def leave() -> None:
        agent = Agent(ScriptedProvider([calling(call("wait"))]), tools=[wait])
        async with aclosing(agent.stream("Go.")) as events:
            async for event in events:
                if isinstance(event, ToolStartedEvent):
                    await asyncio.sleep(0.01)
                    break

    asyncio.run(leave())
    assert stopped == ["wait"]


@pytest.mark.parametrize(("provider", "model"), MODELS.items())
def test_a_run_is_streamed_over_a_socket(provider: str, model: str) -> None:
    """Text comes in pieces, and the run ends as it would in one piece."""
    script = [
        Reply("", [call("add", a=1, b=2)], Usage(10, 5)),
        Reply("It is three, as always.", usage=Usage(20, 5)),
    ]
    with LoopbackServer(script) as server:
        wire = make_provider(provider, server.base_url(provider))
        with LlmClient(wire, api_key=server.key) as client:
            agent = Agent(f"{provider}:{model}", client=client, tools=[add])
            events = list(agent.stream_sync("1 + 2?"))
    text = "".join(event.text for event in events if isinstance(event, TextEvent))
    last = events[-1]
    assert isinstance(last, ResultEvent)
    assert text == last.result.output == "It is three, as always."
    assert (last.result.turns, last.result.usage) == (2, Usage(30, 10))
    assert kinds(events).index(ToolFinishedEvent) < kinds(events).index(TextEvent)
