"""The server's side of the wire formats: answers, streams and refusals as providers write them."""

from fluid_build.copilot.llm.testing.wire import anthropic, gemini, ollama, openai_chat
from fluid_build.copilot.llm.testing.wire.format import Reply, WireFormat

FORMATS: dict[str, WireFormat] = {
    module.FORMAT.name: module.FORMAT for module in (anthropic, openai_chat, gemini, ollama)
}
WIRE_FORMATS = tuple(FORMATS)

__all__ = ["FORMATS", "WIRE_FORMATS", "Reply", "WireFormat"]
