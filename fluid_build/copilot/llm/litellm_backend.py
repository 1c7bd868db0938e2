"""LiteLLM as an opt-in backend, for providers that have no module here (extra ``litellm``).

``Agent("litellm:mistral/mistral-large")`` and the provider ``litellm`` of the configuration use it,
as ``LlmClient.from_config`` does. A client with options of LiteLLM's own is made here.
"""

from __future__ import annotations

from typing import Unpack

from fluid_build.copilot.llm.client import ClientOptions, LlmClient
from fluid_build.copilot.llm.litellm_transport import LiteLlmTransport
from fluid_build.copilot.llm.providers import LiteLlmProvider
from fluid_build.json_types import JsonObject

__all__ = ["LiteLlmProvider", "make_litellm_client"]


def make_litellm_client(
    *, call_options: JsonObject | None = None, **options: Unpack[ClientOptions]
) -> LlmClient:
    """Return a client whose calls go through LiteLLM.

    ``call_options`` are added to each call (``api_base``, ``api_key``, …), ``options`` are those
    of ``LlmClient``. Raises ``MissingExtraError`` where LiteLLM isn't installed.
    """
    transport = LiteLlmTransport(call_options)
    return LlmClient(LiteLlmProvider(), transport=transport, async_transport=transport, **options)
