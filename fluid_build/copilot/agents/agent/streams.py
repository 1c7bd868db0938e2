"""A run as a stream of its events, for asynchronous and for blocking readers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import TypeVar

from fluid_build.copilot.agents.agent.events import AgentEvent, LoopEvent, ResultEvent
from fluid_build.copilot.agents.agent.results import AgentResult
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
