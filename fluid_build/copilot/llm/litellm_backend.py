"""LiteLLM as an opt-in backend, for providers that have no module here (extra ``litellm``).

It takes the place of the network under the ordinary client: what the client would send to a server
that speaks OpenAI's format goes to ``litellm`` instead. So the window, the cost ceiling, redaction
and the retry envelope hold here as everywhere; LiteLLM's own retries are off. Models are named as
LiteLLM names them (``provider/model``), and it finds their keys in the environment itself.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, ClassVar

import httpx

from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.openai import OpenAIProvider
from fluid_build.errors import UsageError
from fluid_build.secrets import redact

_NO_RETRIES = {"num_retries": 0, "max_retries": 0}
_WAIT_HEADERS: tuple[str, ...] = ("retry-after", "retry-after-ms")


class LiteLlmProvider(OpenAIProvider):
    """OpenAI's format, as LiteLLM takes and gives it for every provider."""

    name = "litellm"
    default_base_url = "http://litellm.invalid/v1"
    key_variables: ClassVar[tuple[str, ...]] = ()
    needs_key = False


class LiteLlmTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers Chat Completions requests by calling ``litellm``; ``options`` go into each call."""

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self._litellm = _import_litellm()
        self._secrets = [
            str(value) for name, value in (options or {}).items() if "key" in name.lower()
        ]
        self._options = {**(options or {}), **_NO_RETRIES, "stream": False}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One blocking completion."""
        request.read()
        try:
            answer = self._litellm.completion(**self._arguments(request))
        except self._errors() as error:
            return _refusal(error, self._secrets)
        return httpx.Response(200, json=answer.model_dump())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The asynchronous twin."""
        await request.aread()
        try:
            answer = await self._litellm.acompletion(**self._arguments(request))
        except self._errors() as error:
            return _refusal(error, self._secrets)
        return httpx.Response(200, json=answer.model_dump())

    def _arguments(self, request: httpx.Request) -> dict[str, Any]:
        timeout = request.extensions.get("timeout", {}).get("read")
        return {"timeout": timeout, **json.loads(request.content), **self._options}

    def _errors(self) -> tuple[type[Exception], ...]:
        """LiteLLM's exceptions descend from those of the ``openai`` package, which it brings."""
        return (importlib.import_module("openai").OpenAIError,)


def make_litellm_client(
    *, call_options: Mapping[str, Any] | None = None, **options: Any
) -> LlmClient:
    """A client whose calls go through LiteLLM.

    ``call_options`` go into each of its calls (``api_base``, ``api_key``, ...), ``options`` are
    those of ``LlmClient``. Raises ``UsageError`` where LiteLLM is not installed.
    """
    transport = LiteLlmTransport(call_options)
    return LlmClient(LiteLlmProvider(), transport=transport, async_transport=transport, **options)


def _import_litellm() -> ModuleType:
    # without this the import itself fetches a price list from the network
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        litellm = importlib.import_module("litellm")
    except ImportError:
        raise UsageError(
            "LiteLLM is not installed.", hint="Install the extra: pip install fluid-forge[litellm]."
        ) from None
    vars(litellm).update(telemetry=False, suppress_debug_info=True)
    return litellm


def _refusal(error: Exception, secrets: Iterable[str]) -> httpx.Response:
    """A provider's failure as the HTTP answer that it was; without one, a timeout or a break."""
    status = getattr(error, "status_code", None)
    kind = type(error).__name__
    if kind == "Timeout":
        raise httpx.ReadTimeout("the provider did not answer in time")
    if kind == "APIConnectionError" or not isinstance(status, int):
        raise httpx.ConnectError("the provider could not be reached")
    headers = getattr(error, "litellm_response_headers", None) or {}
    kept: dict[str, str] = {name: headers[name] for name in _WAIT_HEADERS if name in headers}
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    if kind == "ContextWindowExceededError":
        code = "context_length_exceeded"
    refusal = {"error": {"message": redact(str(error), secrets), "code": code or kind}}
    return httpx.Response(status, json=refusal, headers=kept)
