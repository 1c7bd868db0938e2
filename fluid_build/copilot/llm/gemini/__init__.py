"""Gemini's wire format."""

from fluid_build.copilot.llm.gemini.provider import GeminiProvider

__all__ = ["GeminiProvider"]
