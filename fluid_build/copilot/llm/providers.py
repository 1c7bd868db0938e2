"""The providers by name, and servers that use OpenAI's format under their own names."""

from __future__ import annotations

from typing import ClassVar

from fluid_build.copilot.llm.anthropic import AnthropicProvider
from fluid_build.copilot.llm.base import LlmProvider
from fluid_build.copilot.llm.gemini import GeminiProvider
from fluid_build.copilot.llm.ollama import OllamaProvider
from fluid_build.copilot.llm.openai import OpenAIProvider
from fluid_build.copilot.llm.openai.api import OpenAIServer
from fluid_build.copilot.llm.openai.chat import OpenAIChatProvider
from fluid_build.copilot.llm.openai.responses import OpenAIResponsesProvider
from fluid_build.errors import UsageError, unknown_name


class _AzureServer(OpenAIServer):
    name = "azure"
    default_base_url = ""
    key_variables: ClassVar[tuple[str, ...]] = ("AZURE_OPENAI_API_KEY",)
    fast_model = None
    is_azure = True  # also behind your own gateway


class AzureChatProvider(_AzureServer, OpenAIChatProvider):
    """Azure OpenAI's Chat Completions."""


class AzureResponsesProvider(_AzureServer, OpenAIResponsesProvider):
    """Azure OpenAI's Responses API, for deployments with names that don't say their models."""


class AzureProvider(_AzureServer, OpenAIProvider):
    """Azure OpenAI: ``base_url`` is ``https://NAME.openai.azure.com/openai/v1``."""

    chat_class = AzureChatProvider
    responses_class = AzureResponsesProvider


class OpenRouterProvider(OpenAIChatProvider):
    """OpenRouter, which routes to many providers."""

    name = "openrouter"
    default_base_url = "https://openrouter.ai/api/v1"
    key_variables: ClassVar[tuple[str, ...]] = ("OPENROUTER_API_KEY",)
    fast_model = "openai/gpt-6-luna"


class VllmProvider(OpenAIChatProvider):
    """A vLLM server, which needs a key only if it was started with one."""

    name = "vllm"
    default_base_url = "http://localhost:8000/v1"
    key_variables: ClassVar[tuple[str, ...]] = ("VLLM_API_KEY",)
    needs_key = False
    fast_model = None
    image_types = ()
    # docs.vllm.ai, "Interleaved Thinking": messages have the answer's field
    thinking_to_return: ClassVar[tuple[str, ...]] = ("reasoning", "reasoning_content")


class LmStudioProvider(OpenAIChatProvider):
    """LM Studio's server."""

    name = "lmstudio"
    default_base_url = "http://localhost:1234/v1"
    key_variables: ClassVar[tuple[str, ...]] = ("LMSTUDIO_API_KEY",)
    needs_key = False
    fast_model = None
    image_types = ()


class LiteLlmProvider(OpenAIChatProvider):
    """OpenAI's format, which LiteLLM uses for every provider; models are ``provider/model``."""

    name = "litellm"
    default_base_url = "http://litellm.invalid/v1"
    key_variables: ClassVar[tuple[str, ...]] = ()
    needs_key = False
    fast_model = None
    image_types = ()


PROVIDERS: dict[str, type[LlmProvider]] = {
    provider.name: provider
    for provider in (
        AnthropicProvider,
        OpenAIProvider,
        GeminiProvider,
        OllamaProvider,
        AzureProvider,
        OpenRouterProvider,
        VllmProvider,
        LmStudioProvider,
        LiteLlmProvider,
    )
}


OPENAI_APIS: dict[str, type[LlmProvider]] = {
    "openai-chat": OpenAIChatProvider,
    "openai-responses": OpenAIResponsesProvider,
    "azure-chat": AzureChatProvider,
    "azure-responses": AzureResponsesProvider,
}
"""Names that say which API of a provider is used for all models, instead of the one that suits."""


def make_provider(name: str, base_url: str | None = None) -> LlmProvider:
    """Return the provider called ``name``, at its own address or at ``base_url``.

    Raises ``UsageError`` for an unknown name, or where ``base_url`` is missing.
    """
    known = PROVIDERS | OPENAI_APIS
    provider = known.get(name.strip().lower())
    if provider is None:
        raise unknown_name("provider", name, known)
    if not (base_url or provider.default_base_url):
        raise UsageError(
            f"The provider {provider.name} needs a base_url.",
            hint="Write it like https://NAME.openai.azure.com/openai/v1.",
        )
    return provider(base_url)
