"""The model that agents and sessions use when they are given none."""

from __future__ import annotations

from fluid_build.copilot.llm.base import DEFAULT_MAX_OUTPUT_TOKENS, LlmConfig
from fluid_build.copilot.unified_config import ENVIRONMENT, current_config
from fluid_build.errors import UsageError


def default_llm_config() -> LlmConfig:
    """Return the configured model: flags, then the environment, then ``~/.fluid/config.yaml``.

    Raises ``UsageError`` where no provider or no model is configured, ``ConfigError`` where the
    configuration isn't valid.
    """
    llm = current_config().llm
    if llm.provider is None or llm.model is None:
        key = "llm.provider" if llm.provider is None else "llm.model"
        raise UsageError(
            f"No model is configured: {key} isn't set.",
            hint="Run `fluid ai setup`, pass --llm-provider and --llm-model, or set"
            f" {ENVIRONMENT[key]}; in code, pass an LlmConfig.",
        )
    return LlmConfig(
        llm.provider,
        llm.model,
        llm.base_url,
        max_output_tokens=llm.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS,
    )
