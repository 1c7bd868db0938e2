"""A run as a stream of its events, with the fields of a typed answer while it is written."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import from_json

from fluid_build.copilot.agents.agent.events import (
    AgentEvent,
    AgentResult,
    HandoffEvent,
    LoopEvent,
    PartialEvent,
    ResultEvent,
)
from fluid_build.copilot.agents.agent.output_format import OutputFormat
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


_ALWAYS_READ = 2_000
"""Characters up to which an answer is read again with each piece of it."""
_GROWTH = 1.02
"""By how much a longer one has to grow: reading it at every piece would take quadratic time."""


class PartialAnswer:
    """The answer of a turn, read again as it grows. ``output`` is its type, or a wrapper of it."""

    def __init__(self, output: Any) -> None:
        self._fields = _fields_of(output)
        self._text = ""
        self._read_at = 0
        self._latest: Mapping[str, Any] = {}

    def reset(self) -> None:
        """Begin anew: what was written isn't the answer."""
        self._text, self._read_at, self._latest = "", 0, {}

    def add(self, text: str) -> Mapping[str, Any] | None:
        """Return the fields so far, each of its type; None where nothing has changed."""
        self._text += text
        length = len(self._text)
        if length > _ALWAYS_READ and length < self._read_at * _GROWTH:
            return None
        self._read_at = length
        fields = self._read()
        if not fields or fields == self._latest:
            return None
        self._latest = fields
        return fields

    def _read(self) -> Mapping[str, Any]:
        start = self._text.find("{")
        if start < 0 or not self._fields:
            return {}
        try:
            answer = from_json(self._text[start:], allow_partial="trailing-strings")
        except ValueError:
            return {}
        if not isinstance(answer, dict):
            return {}
        fields = {}
        for key, value in answer.items():
            adapter = self._fields.get(key)
            if adapter is None:
                continue
            try:
                fields[key] = adapter.validate_python(
                    value, experimental_allow_partial="trailing-strings"
                )
            except (ValidationError, NotImplementedError):
                continue  # not whole enough for its type yet
        return fields


def _fields_of(output: Any) -> dict[str, TypeAdapter[Any]]:
    """Return how each field is read, without the constraints that only a whole value meets."""
    types: dict[str, Any]
    if isinstance(output, type) and issubclass(output, BaseModel):
        fields = output.model_fields.items()
        types = {field.alias or name: field.annotation for name, field in fields}
    elif dataclasses.is_dataclass(output) or hasattr(output, "__total__"):
        types = get_type_hints(output)
    else:
        types = {"result": output}
    adapters = {}
    for name, kind in types.items():
        try:
            adapters[name] = TypeAdapter(kind)
        except PydanticUserError:
            continue
    return adapters
