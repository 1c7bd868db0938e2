"""Anthropic's wire format."""

from fluid_build.copilot.llm.anthropic.provider import AnthropicProvider

__all__ = ["AnthropicProvider"]
