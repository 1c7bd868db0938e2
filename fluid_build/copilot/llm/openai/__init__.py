"""OpenAI's two wire formats, and the choice between them."""

from fluid_build.copilot.llm.openai.provider import OpenAIProvider

__all__ = ["OpenAIProvider"]
