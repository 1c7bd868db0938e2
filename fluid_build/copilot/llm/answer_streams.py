"""The streams that a caller reads: an answer's events, in a loop or in a ``with`` block.

They read batches of events from a generator, which does the work. A client's generator sends
nothing before its first batch is asked for.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import suppress
from typing import Generic, Self, TypeVar

from fluid_build.copilot.errors import CostLimitExceeded
from fluid_build.copilot.llm.answers import LlmResponse, Usage
from fluid_build.copilot.llm.streaming import (
    AnswerEvent,
    StreamEvent,
    TextEvent,
    ThinkingEvent,
    ToolCallEvent,
    UsageEvent,
)
from fluid_build.errors import UsageError


def events_of(response: LlmResponse) -> list[StreamEvent]:
    """Return the events of an answer that came in one piece."""
    events: list[StreamEvent] = []
    if response.thinking:
        events.append(ThinkingEvent(response.thinking))
    if response.text:
        events.append(TextEvent(response.text))
    events += [ToolCallEvent(call) for call in response.tool_calls]
    if response.usage is not None:
        events.append(UsageEvent(response.usage))
    return [*events, AnswerEvent(response)]


_BatchesT = TypeVar("_BatchesT")


class _EventBuffer(Generic[_BatchesT]):
    """Events that have arrived and weren't read yet, and the usage and answer read so far."""

    def __init__(
        self,
        batches: _BatchesT,
        leave: Callable[[], None] = lambda: None,
        forget: Callable[[], None] = lambda: None,
    ) -> None:
        self._batches = batches
        self.usage: Usage | None = None
        """The tokens that the provider has reported so far."""
        self._response: LlmResponse | None = None
        self._events: deque[StreamEvent] = deque()
        self._leave = leave
        weakref.finalize(self, forget)  # also at exit, while there's still something to settle with

    @property
    def response(self) -> LlmResponse:
        """Return the whole answer. Raises ``UsageError`` before the stream was read to its end."""
        if self._response is None:
            raise UsageError(
                "The stream has no answer yet.", hint="Read its events to the end first."
            )
        return self._response

    def _add(self, events: Iterable[StreamEvent]) -> None:
        self._events.extend(events)

    def _take(self) -> StreamEvent:
        event = self._events.popleft()
        if isinstance(event, UsageEvent):
            self.usage = event.usage
        elif isinstance(event, AnswerEvent):
            self._response = event.response
        return event

    def _settle(self) -> None:
        """Settle for what was received now: the generator may be closed later."""
        with suppress(CostLimitExceeded):  # the next call raises it
            self._leave()


class AnswerStream(_EventBuffer[AsyncGenerator[list[StreamEvent], None]]):
    """A streamed answer for ``async for``, also within ``async with``.

    It can be read once. Leaving it early ends the answer, and what was received is paid for.
    Errors after the first event are raised to the reader, and nothing is sent again.
    """

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        while not self._events:
            self._add(await anext(self._batches))
        return self._take()

    async def aclose(self) -> None:
        """End the answer, and close its connection."""
        self._settle()
        self._events.clear()
        await self._batches.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AnswerStreamSync(_EventBuffer[Generator[list[StreamEvent], None, None]]):
    """A streamed answer for ``for``, also within ``with``: ``AnswerStream``'s blocking twin."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamEvent:
        while not self._events:
            self._add(next(self._batches))
        return self._take()

    def close(self) -> None:
        """End the answer, and close its connection."""
        self._settle()
        self._events.clear()
        self._batches.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
