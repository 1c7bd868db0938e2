"""Answers of a scripted model, for the tests of agents."""

from __future__ import annotations

from fluid_build.copilot.llm.answers import LlmResponse, Usage
from fluid_build.copilot.messages import ToolCall
from fluid_build.json_types import JsonValue

MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai": "gpt-4.1",
    "gemini": "gemini-2.5-flash",
    "ollama": "llama3.2",
}
"""A model of each wire format."""


def calling(*calls: ToolCall) -> LlmResponse:
    """An answer that wants tools called."""
    return LlmResponse("", calls, Usage(10, 5), "tool_calls")


def call(name: str, call_id: str = "c1", /, **arguments: JsonValue) -> ToolCall:
    return ToolCall(call_id, name, arguments)
