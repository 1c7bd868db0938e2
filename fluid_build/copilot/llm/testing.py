"""A model that answers from a script: for tests of agents without a network and without a key."""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from typing import TypeAlias

from fluid_build.copilot.blocking import run_blocking
from fluid_build.copilot.llm.answer_streams import AnswerStream, AnswerStreamSync, events_of
from fluid_build.copilot.llm.base import LlmPrompt, LlmResponse, Usage
from fluid_build.copilot.llm.streaming import StreamEvent
from fluid_build.copilot.messages import ToolCall, text_of
from fluid_build.json_types import JsonObject
from fluid_build.text import clip

_MAX_QUOTED_CHARS = 500
"""Of the conversation in an error: a correction of several fields, and bounded."""

Answer: TypeAlias = "str | JsonObject | ToolCall | Sequence[ToolCall] | LlmResponse | Exception"
"""A text, an object to answer as JSON, calls of tools, a whole response, or an error to raise."""

AnswerScript: TypeAlias = "Sequence[Answer] | Callable[[LlmPrompt], Answer | Awaitable[Answer]]"


class ScriptedProvider:
    """A model that answers from a list in sequence, or by a function of the prompt.

    ``prompts`` has the prompts in order, and ``callers`` the stage and agent class of each. A list
    that is used up raises ``AssertionError``. Safe from several threads and tasks.
    """

    def __init__(self, script: AnswerScript, *, model: str = "scripted") -> None:
        self.prompts: list[LlmPrompt] = []
        self.callers: list[tuple[str, str]] = []
        self.model = model
        self._function = script if callable(script) else None
        self._answers = [] if callable(script) else list(script)
        self._lock = threading.Lock()

    async def complete(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> LlmResponse:
        """Return the next answer."""
        answer = self._next(prompt, (stage, agent_class))
        if inspect.isawaitable(answer):
            answer = await answer
        return self._respond(answer)

    def complete_sync(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> LlmResponse:
        """Return the next answer, and wait for it."""
        return run_blocking(self.complete(prompt, stage=stage, agent_class=agent_class))

    def stream(self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = "") -> AnswerStream:
        """Return the events of the next answer, which is taken once the first is asked for."""

        async def batches() -> AsyncGenerator[list[StreamEvent], None]:
            yield events_of(await self.complete(prompt, stage=stage, agent_class=agent_class))

        return AnswerStream(batches())

    def stream_sync(
        self, prompt: LlmPrompt, *, stage: str = "", agent_class: str = ""
    ) -> AnswerStreamSync:
        """Return the events of the next answer, as ``stream``, for a blocking loop."""

        def batches() -> Generator[list[StreamEvent], None, None]:
            yield events_of(self.complete_sync(prompt, stage=stage, agent_class=agent_class))

        return AnswerStreamSync(batches())

    def _next(self, prompt: LlmPrompt, caller: tuple[str, str]) -> Answer | Awaitable[Answer]:
        with self._lock:
            self.prompts.append(prompt)
            self.callers.append(caller)
            number = len(self.prompts)
            if self._function is None:
                if number > len(self._answers):
                    raise AssertionError(
                        f"the script has {len(self._answers)} answers, no more; "
                        f"it was asked again after {_last_text(prompt)!r}"
                    )
                return self._answers[number - 1]
        return self._function(prompt)

    def _respond(self, answer: Answer) -> LlmResponse:
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, LlmResponse):
            return answer
        if isinstance(answer, ToolCall):
            return self._respond_with_calls([answer])
        if not isinstance(answer, str | Mapping):
            return self._respond_with_calls(answer)
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return LlmResponse(text, usage=Usage(1, 1), model=self.model)

    def _respond_with_calls(self, calls: Sequence[ToolCall]) -> LlmResponse:
        return LlmResponse("", tuple(calls), Usage(1, 1), "tool_calls", self.model)


def _last_text(prompt: LlmPrompt) -> str:
    """Return the end of the conversation, such as what was wrong with the answer before."""
    last = prompt.messages[-1] if prompt.messages else {}
    return clip(text_of(last) or str(last.get("content")), _MAX_QUOTED_CHARS)
