"""A run as a stream of its events, for asynchronous and for blocking readers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from typing import Any, TypeVar

from fluid_build.copilot.agents.agent.events import (
    AgentEvent,
    HandoffEvent,
    LoopEvent,
    PartialEvent,
    ResultEvent,
)
from fluid_build.copilot.agents.agent.output_format import OutputFormat
from fluid_build.copilot.agents.agent.partial_answers import PartialAnswer
from fluid_build.copilot.agents.agent.results import AgentResult
from fluid_build.copilot.llm.streaming import TextEvent, ThinkingEvent, UsageEvent
from fluid_build.errors import UsageError

OutputT = TypeVar("OutputT")


async def stream_events(
    run: Callable[[Callable[[LoopEvent], object]], Awaitable[AgentResult[OutputT]]],
) -> AsyncGenerator[AgentEvent[OutputT]]:
    """Yield the events that ``run`` emits, and its result. A reader that leaves stops the run."""
    events: asyncio.Queue[AgentEvent[OutputT] | None] = asyncio.Queue()

    async def work() -> None:
        try:
            events.put_nowait(ResultEvent(await run(events.put_nowait)))
        finally:
            events.put_nowait(None)

    task = asyncio.create_task(work())
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.wait([task])


class PartialAnswers:
    """Passes the events of a run on, and those of its typed answer between them.

    ``outputs`` are the forms of the answers, by the agents that may have the conversation.
    """

    def __init__(
        self,
        emit: Callable[[LoopEvent], object],
        outputs: Mapping[str, OutputFormat[Any]],
        agent: str,
    ) -> None:
        self._emit = emit
        self._outputs = outputs
        self._answer = self._of(agent)

    def emit(self, event: LoopEvent) -> None:
        """Pass an event on, and what there is of a typed answer after it."""
        self._emit(event)
        if isinstance(event, HandoffEvent):
            self._answer = self._of(event.agent)
        elif self._answer is None or isinstance(event, ThinkingEvent | UsageEvent):
            return
        elif isinstance(event, TextEvent):
            fields = self._answer.add(event.text)
            if fields is not None:
                self._emit(PartialEvent(fields))
        else:
            self._answer.reset()

    def _of(self, agent: str) -> PartialAnswer | None:
        output = self._outputs[agent].type
        return None if output is None else PartialAnswer(output)


def refuse_running_loop() -> None:
    """Raise ``UsageError`` inside an event loop: another one can't run in its thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise UsageError("stream_sync can't run inside an event loop.", hint="Use stream there.")


def read_blocking(
    events: AsyncGenerator[AgentEvent[OutputT]],
) -> Generator[AgentEvent[OutputT]]:
    """Yield the same events, and wait for each, in an event loop of their own."""

    async def next_event() -> AgentEvent[OutputT] | None:
        return await anext(events, None)

    with asyncio.Runner() as runner:
        try:
            while (event := runner.run(next_event())) is not None:
                yield event
        finally:
            runner.run(events.aclose())
