"""Ollama's wire format."""

from fluid_build.copilot.llm.ollama.provider import OllamaProvider

__all__ = ["OllamaProvider"]
