"""The server's side of the wire formats: answers, streams and refusals as providers write them."""

from tests.fault_server.wire import (
    anthropic,
    gemini,
    ollama,
    openai_chat,
    openai_responses,
)
from tests.fault_server.wire.format import Reply, WireFormat

FORMATS: dict[str, WireFormat] = {
    module.FORMAT.name: module.FORMAT
    for module in (anthropic, openai_chat, gemini, ollama, openai_responses)
}
WIRE_FORMATS = ("anthropic", "openai", "gemini", "ollama")
"""The providers that the server speaks for; ``openai`` has a second API at the same address."""

__all__ = ["FORMATS", "WIRE_FORMATS", "Reply", "WireFormat"]
