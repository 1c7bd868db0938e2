"""Warnings about a model that is likely to do badly as an agent, before anything is paid."""

from __future__ import annotations

from collections.abc import Mapping

from fluid_build.copilot.context.model_data import context_window
from fluid_build.copilot.llm.base import LlmConfig

SMALL_WINDOW = 32_000
"""Tokens. The loop's instructions, tools and a profile of a dozen tables take about half of it."""

_NO_TOOLS = ("gemma", "phi", "llama2", "codellama", "deepseek-r1", "gpt-3.5-turbo-instruct")
"""Beginnings of names of models that weren't trained to call tools."""
_POOR_TOOLS = ("llama3", "mistral", "qwen2.5", "command-r")
"""Beginnings of names of local models that often call tools with wrong arguments."""
_LOCAL = ("ollama", "vllm", "lmstudio")


def capability_warnings(
    config: LlmConfig, capability_matrix: Mapping[str, object] | None = None
) -> tuple[str, ...]:
    """Return a sentence for each weakness of a model: a small window, no tools, no schemas.

    ``capability_matrix`` overrides what is known: ``context_window``, ``tools`` and
    ``structured_output``.
    """
    overrides = capability_matrix or {}
    name = config.model.rpartition("/")[2].lower()
    label = f"{config.model} ({config.provider})"
    warnings = []
    window = context_window(config.model, config.provider, capability_matrix=overrides)
    if window is None:
        warnings.append(
            f"The window of {label} is unknown, so long conversations can't be cut in time."
        )
    elif window < SMALL_WINDOW:
        warnings.append(
            f"{label} has a window of {window:,} tokens: a long run won't fit. Choose a model with"
            f" {SMALL_WINDOW:,} or more."
        )
    if not overrides.get("tools", not name.startswith(_NO_TOOLS)):
        warnings.append(f"{label} isn't known to call tools: the agent loop may do nothing.")
    elif config.provider in _LOCAL and "tools" not in overrides and name.startswith(_POOR_TOOLS):
        warnings.append(f"{label} often calls tools with wrong arguments: expect corrections.")
    if not overrides.get("structured_output", not name.startswith(_NO_TOOLS)):
        warnings.append(
            f"{label} doesn't follow a schema reliably: its answer may be refused several times."
        )
    return tuple(warnings)
