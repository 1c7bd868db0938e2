"""OpenAI: two APIs, chosen by model and server.

Reasoning models use the Responses API where the server surely has it: at OpenAI and in Azure's v1
API. All other models, and all other servers (vLLM, OpenRouter, LM Studio, any ``base_url``), use
Chat Completions. To choose yourself, use ``OpenAIChatProvider`` or ``OpenAIResponsesProvider``.
"""

from __future__ import annotations

from typing import ClassVar

from fluid_build.copilot.llm.base import LlmPrompt, LlmRequest, LlmResponse
from fluid_build.copilot.llm.openai.api import OpenAIServer, is_reasoning_model
from fluid_build.copilot.llm.openai.chat import OpenAIChatProvider
from fluid_build.copilot.llm.openai.responses import OpenAIResponsesProvider
from fluid_build.copilot.llm.streaming import StreamReader
from fluid_build.json_types import JsonObject


class OpenAIProvider(OpenAIServer):
    """OpenAI, and servers that use its format. Each prompt goes to the API that suits it."""

    chat_class: ClassVar[type[OpenAIChatProvider]] = OpenAIChatProvider
    responses_class: ClassVar[type[OpenAIResponsesProvider]] = OpenAIResponsesProvider

    def __init__(self, base_url: str | None = None, *, strict_schema: bool | None = None) -> None:
        super().__init__(base_url, strict_schema=strict_schema)
        self._chat = self.chat_class(base_url, strict_schema=strict_schema)
        self._responses = self.responses_class(base_url, strict_schema=strict_schema)

    def api_for(self, prompt: LlmPrompt) -> OpenAIServer:
        """Return the API for ``prompt``."""
        uses_responses = self.has_responses and is_reasoning_model(prompt.model)
        return self._responses if uses_responses else self._chat

    def build_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the request for ``prompt``, without the key."""
        return self.api_for(prompt).build_request(prompt)

    def stream_request(self, prompt: LlmPrompt) -> LlmRequest:
        """Return the request for a streamed answer, without the key."""
        return self.api_for(prompt).stream_request(prompt)

    def stream_reader(self, prompt: LlmPrompt) -> StreamReader:
        """Return a reader for one streamed answer."""
        return self.api_for(prompt).stream_reader(prompt)

    def parse_response(self, body: JsonObject, prompt: LlmPrompt) -> LlmResponse:
        """Return the answer in ``body``. Raises ``ProviderError`` as the API's own class does."""
        return self.api_for(prompt).parse_response(body, prompt)
