"""How a typed answer is asked for: by the provider's own means, by a tool, or in words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.errors import UsageError

OutputMode: TypeAlias = Literal["native", "tool", "prompted"]
"""``native``: as the provider takes a schema. ``tool``: the answer is the arguments of a tool.
``prompted``: the instructions have the schema, for servers that take neither."""

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


def check_mode(mode: str) -> None:
    """Raise ``UsageError`` for a mode that there isn't."""
    if mode not in get_args(OutputMode):
        raise UsageError(
            f"There is no output mode {mode!r}.",
            hint=f"The modes are {', '.join(get_args(OutputMode))}.",
        )


def in_mode(prompt: LlmPrompt, mode: OutputMode) -> LlmPrompt:
    """Return the prompt with its schema where the mode puts it."""
    if prompt.response_schema is None or mode == "native":
        return prompt
    if mode == "tool":
        return replace(prompt, tools=[*prompt.tools, prompt.answer_tool], response_schema=None)
    schema = json.dumps(prompt.response_schema)
    asked = f"Give your final answer as JSON alone, which fits this schema:\n{schema}"
    system = f"{prompt.system}\n\n{asked}" if prompt.system else asked
    return replace(prompt, system=system, response_schema=None)


def read_answer(response: LlmResponse, prompt: LlmPrompt, mode: OutputMode) -> LlmResponse:
    """Return an answer as the native mode gives it: its text is JSON, and nothing is called.

    ``prompt`` is the one before ``in_mode``. Calls beside an answer aren't made.
    """
    if prompt.response_schema is None or mode == "native":
        return response
    if mode == "tool":
        for call in response.tool_calls:
            if call.name == prompt.answer_name:
                # Without the parts that announce the call: no result will follow it.
                text = json.dumps(call.arguments, ensure_ascii=False)
                return replace(
                    response, text=text, tool_calls=(), provider_blocks=(), stop_reason="end"
                )
        return response
    if response.tool_calls:
        return response
    return replace(response, text=_json_part(response.text))


def _json_part(text: str) -> str:
    """Return the JSON in a text: what a fence encloses, or from the first brace to the last."""
    fenced = _FENCED.search(text)
    if fenced is not None:
        return fenced.group(1).strip()
    first, last = text.find("{"), text.rfind("}")
    return text[first : last + 1] if 0 <= first < last else text
