"""The events of an agent's run as AG-UI's: what begins also ends, and nothing overlaps."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

from pydantic_core import to_jsonable_python

from fluid_build.copilot.agents.agent.events import (
    AgentEvent,
    AgentResult,
    HandoffEvent,
    PartialEvent,
    ResultEvent,
    ToolFinishedEvent,
    ToolStartedEvent,
)
from fluid_build.copilot.agents.agui.requests import RunInput
from fluid_build.copilot.llm.streaming import TextEvent, ThinkingEvent
from fluid_build.copilot.messages import ToolCall
from fluid_build.errors import FluidError
from fluid_build.json_types import JsonValue
from fluid_build.secrets import redact, secrets_of_environment

PROTOCOL_VERSION = "1.0"

AguiEvent: TypeAlias = dict[str, JsonValue]

_APPROVAL: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string"},
        "arguments": {"type": "object"},
    },
    "required": ["approved"],
}


class Translation:
    """The events of one run. ``typed`` are the names of the agents whose answers aren't texts.

    A typed answer is shown as the state's ``answer``; its JSON isn't a message for people.
    ``announced`` are calls that an earlier run has shown already, and waited for.
    """

    def __init__(
        self, request: RunInput, agent: str, typed: Collection[str], announced: Collection[str]
    ) -> None:
        self._request = request
        self._agent = agent
        self._typed = typed
        self._announced = announced
        self._open: str | None = None
        self._messages = 0

    def start(self) -> AguiEvent:
        """Return the first event of the run."""
        return self._of_run("RUN_STARTED") | {"protocolVersion": PROTOCOL_VERSION}

    def translate(self, event: AgentEvent[Any]) -> Iterator[AguiEvent]:
        """Yield what an event is to a user interface."""
        if isinstance(event, TextEvent):
            if self._agent not in self._typed:
                yield from self._piece("TEXT_MESSAGE", event.text)
            return
        if isinstance(event, ThinkingEvent):
            yield from self._piece("REASONING_MESSAGE", event.text)
            return
        if isinstance(event, PartialEvent):
            yield self._state(to_jsonable_python(event.fields, inf_nan_mode="null"))
            return
        yield from self.close()
        if isinstance(event, ToolStartedEvent):
            if event.call.id not in self._announced:
                yield from _call(event.call)
        elif isinstance(event, ToolFinishedEvent):
            yield {
                "type": "TOOL_CALL_RESULT",
                "messageId": self._next_message(),
                "toolCallId": event.call.id,
                "content": event.result.content,
                "role": "tool",
            }
        elif isinstance(event, HandoffEvent):
            self._agent = event.agent
            yield {"type": "CUSTOM", "name": "handoff", "value": {"agent": event.agent}}
        elif isinstance(event, ResultEvent):
            yield from self._end(event.result)

    def fail(self, error: Exception) -> Iterator[AguiEvent]:
        """Yield the end of a run that an error ended; a bug's own text isn't for people."""
        yield from self.close()
        message = "The run failed."
        if isinstance(error, FluidError):
            message = redact(error.message, secrets_of_environment())
        yield {"type": "RUN_ERROR", "message": message, "code": type(error).__name__}

    def close(self) -> Iterator[AguiEvent]:
        """Yield the end of the message that is open."""
        if self._open is not None:
            yield {"type": f"{self._open}_END", "messageId": self._message}
            if self._open == "REASONING_MESSAGE":
                yield {"type": "REASONING_END", "messageId": self._span}
            self._open = None

    def _piece(self, kind: str, text: str) -> Iterator[AguiEvent]:
        if not text:
            return
        if self._open != kind:
            yield from self.close()
            if kind == "REASONING_MESSAGE":
                self._span = self._next_message()
                yield {"type": "REASONING_START", "messageId": self._span}
            role = "reasoning" if kind == "REASONING_MESSAGE" else "assistant"
            self._open, self._message = kind, self._next_message()
            yield {"type": f"{kind}_START", "messageId": self._message, "role": role}
        yield {"type": f"{kind}_CONTENT", "messageId": self._message, "delta": text}

    def _end(self, result: AgentResult[Any]) -> Iterator[AguiEvent]:
        finished: AguiEvent = self._of_run("RUN_FINISHED")
        usage = result.usage
        finished["usage"] = [
            {
                "inputTokens": usage.input_tokens,
                "outputTokens": usage.output_tokens,
                "cachedInputTokens": usage.cached_tokens,
                "cacheWriteInputTokens": usage.cache_write_tokens,
            }
        ]
        if result.ok:
            output = to_jsonable_python(result.output, inf_nan_mode="null")
            if result.agent in self._typed:
                yield self._state(output)
            finished |= {"result": output, "outcome": {"type": "success"}}
        else:
            for call in result.pending:
                if not _is_inside(call):
                    yield from _call(call)
            interrupts: list[JsonValue] = [_interrupt(call) for call in result.pending]
            finished["outcome"] = {"type": "interrupt", "interrupts": interrupts}
        yield finished

    def _state(self, answer: JsonValue) -> AguiEvent:
        before = self._request.state if isinstance(self._request.state, dict) else {}
        return {"type": "STATE_SNAPSHOT", "snapshot": {**before, "answer": answer}}

    def _of_run(self, kind: str) -> AguiEvent:
        return {"type": kind, "threadId": self._request.thread_id, "runId": self._request.run_id}

    def _next_message(self) -> str:
        self._messages += 1
        return f"{self._request.run_id}-{self._messages}"


def _call(call: ToolCall) -> Iterator[AguiEvent]:
    yield {"type": "TOOL_CALL_START", "toolCallId": call.id, "toolCallName": call.name}
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    yield {"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": arguments}
    yield {"type": "TOOL_CALL_END", "toolCallId": call.id}


def _interrupt(call: ToolCall) -> dict[str, JsonValue]:
    interrupt: dict[str, JsonValue] = {
        "id": call.id,
        "reason": "tool_approval",
        "message": f"Approve the call of {call.name}?",
        "responseSchema": _APPROVAL,
        "metadata": {"tool": call.name, "arguments": call.arguments},
    }
    return interrupt if _is_inside(call) else interrupt | {"toolCallId": call.id}


def _is_inside(call: ToolCall) -> bool:
    """Return whether a call is one of an agent inside the run, whose calls aren't shown."""
    return "/" in call.id
