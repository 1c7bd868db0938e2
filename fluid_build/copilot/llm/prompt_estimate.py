"""The estimated tokens of a prompt, with everything in it that a provider counts."""

from __future__ import annotations

from fluid_build.copilot.context.token_budget import estimate_prompt_tokens
from fluid_build.copilot.llm.base import LlmPrompt


def estimate_prompt(prompt: LlmPrompt) -> int:
    """Return the tokens of the messages, tools, schema and further fields of a prompt."""
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in prompt.tool_specs
    ]
    schemas = [dict(part) for part in (prompt.response_schema, prompt.extra) if part]
    return estimate_prompt_tokens(prompt.messages, system=prompt.system, tools=[*tools, *schemas])
