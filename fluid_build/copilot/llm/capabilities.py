"""Warnings about a model that is likely to do badly, before anything is paid."""

from __future__ import annotations

from collections.abc import Mapping

from fluid_build.copilot.context.model_data import context_window
from fluid_build.copilot.llm.base import LlmConfig

SMALL_WINDOW = 32_000
"""Tokens. Instructions, tools and the description of a dozen tables take about half of it."""

_NO_TOOLS = ("gemma", "phi", "llama2", "codellama", "deepseek-r1", "gpt-3.5-turbo-instruct")
"""Beginnings of names of models that weren't trained to call tools."""
_POOR_TOOLS = ("llama3", "mistral", "qwen2.5", "command-r")
"""Beginnings of names of local models that often call tools with wrong arguments."""
_LOCAL = ("ollama", "vllm", "lmstudio")


def capability_warnings(
    config: LlmConfig, capability_matrix: Mapping[str, object] | None = None
) -> tuple[str, ...]:
    """Return a sentence for each weakness of a model: a small window, or no schemas.

    ``capability_matrix`` overrides what is known: ``context_window``, ``structured_output`` and
    ``tools``. Source: Typed Errors, "Capability Warnings".
    """
    overrides = capability_matrix or {}
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
    if not overrides.get("structured_output", not _plain(config).startswith(_NO_TOOLS)):
        warnings.append(
            f"{label} doesn't follow a schema reliably: its answer may be refused several times."
        )
    return tuple(warnings)


def tool_warnings(
    config: LlmConfig, capability_matrix: Mapping[str, object] | None = None
) -> tuple[str, ...]:
    """Return a sentence where a model is likely to call tools badly, or not at all."""
    overrides = capability_matrix or {}
    name, label = _plain(config), f"{config.model} ({config.provider})"
    if not overrides.get("tools", not name.startswith(_NO_TOOLS)):
        return (f"{label} isn't known to call tools: the agent loop may do nothing.",)
    if config.provider in _LOCAL and "tools" not in overrides and name.startswith(_POOR_TOOLS):
        return (f"{label} often calls tools with wrong arguments: expect corrections.",)
    return ()


def _plain(config: LlmConfig) -> str:
    """Return a model's name without the provider that may stand before it."""
    return config.model.rpartition("/")[2].lower()
