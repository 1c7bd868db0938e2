"""What the client would send to a server, sent to ``litellm`` instead (extra ``litellm``).

So the window, the cost limit, redaction and the retry envelope apply as always; LiteLLM's own
retries are off. Models are named as in LiteLLM (``provider/model``), which finds their keys in the
environment itself.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from fluid_build.copilot.drivers import awaited, each, finish, immediate
from fluid_build.copilot.llm.http import httpx
from fluid_build.extras import needs_extra
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import redact

_NO_RETRIES = {"num_retries": 0, "max_retries": 0}
_WAIT_HEADERS: tuple[str, ...] = ("retry-after", "retry-after-ms")


class LiteLlmTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport that answers Chat Completions requests by calling ``litellm``."""

    def __init__(self, options: JsonObject | None = None) -> None:
        self._litellm = _import_litellm()
        self._secrets = [
            str(value) for name, value in (options or {}).items() if "key" in name.lower()
        ]
        self._options = {**(options or {}), **_NO_RETRIES}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request with a blocking completion."""
        request.read()
        complete = immediate(self._litellm.completion)
        return finish(
            self._answer(request, complete, lambda chunks: each(self._frames(awaited(chunks))))
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request with an asynchronous completion."""
        await request.aread()
        return await self._answer(request, self._litellm.acompletion, self._frames)

    async def _answer(
        self,
        request: httpx.Request,
        complete: Callable[..., Awaitable[Any]],
        frames: Callable[[Any], Iterable[bytes] | AsyncIterable[bytes]],
    ) -> httpx.Response:
        arguments = self._arguments(request)
        try:
            answer = await complete(**arguments)
        except self._errors() as error:
            return _refusal(error, self._secrets)
        if arguments.get("stream"):
            return httpx.Response(200, content=frames(answer))
        return httpx.Response(200, json=answer.model_dump())

    async def _frames(self, chunks: AsyncIterable[BaseModel]) -> AsyncGenerator[bytes, None]:
        """Yield the chunks of a streamed completion as OpenAI's server sends them."""
        try:
            async for chunk in chunks:
                yield _frame(chunk.model_dump())
        except self._errors() as error:
            yield _failure_frame(error, self._secrets)

    def _arguments(self, request: httpx.Request) -> dict[str, JsonValue]:
        timeout = request.extensions.get("timeout", {}).get("read")
        body = json.loads(request.content)
        return {"timeout": timeout, **body, **self._options, "stream": body.get("stream") is True}

    def _errors(self) -> tuple[type[Exception], ...]:
        """Return the base of LiteLLM's exceptions, of the ``openai`` package that it depends on."""
        return (importlib.import_module("openai").OpenAIError,)


def _import_litellm() -> ModuleType:
    # otherwise the import itself fetches a price list from the network
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with needs_extra("litellm", "Calling models through LiteLLM"):
        litellm = importlib.import_module("litellm")
    vars(litellm).update(telemetry=False, suppress_debug_info=True)
    return litellm


def _refusal(error: Exception, secrets: Iterable[str]) -> httpx.Response:
    """Return a failure as an HTTP answer. Raises httpx's error if there was no answer."""
    status, code = _status_and_code(error)
    headers = getattr(error, "litellm_response_headers", None) or {}
    wait_headers = {name: headers[name] for name in _WAIT_HEADERS if name in headers}
    refusal = {"error": {"message": redact(str(error), secrets), "code": code}}
    return httpx.Response(status, json=refusal, headers=wait_headers)


def _failure_frame(error: Exception, secrets: Iterable[str]) -> bytes:
    """Return a failure within a stream, with its status as code. Raises httpx's error as above."""
    status, code = _status_and_code(error)
    message = redact(str(error), secrets)
    failure: dict[str, JsonValue] = {"message": message, "code": status, "type": code}
    return _frame({"error": failure})


def _frame(document: JsonObject) -> bytes:
    return b"data: " + json.dumps(document, default=str).encode() + b"\n\n"


def _status_and_code(error: Exception) -> tuple[int, str]:
    """Return a failure's HTTP status and code. Raises httpx's error if there was no answer."""
    status = getattr(error, "status_code", None)
    error_name = type(error).__name__
    if error_name in ("Timeout", "APIConnectionError") or not isinstance(status, int):
        raise _transport_error(error)
    if error_name == "ContextWindowExceededError":
        return status, "context_length_exceeded"
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    return status, str(code or error_name)


def _transport_error(error: Exception) -> httpx.TransportError:
    """Return httpx's error, which says whether the request was sent: LiteLLM's doesn't."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout):
            return httpx.ConnectError("the provider couldn't be reached")
        cause = cause.__cause__ or cause.__context__
    if type(error).__name__ == "Timeout":
        return httpx.ReadTimeout("the provider didn't answer in time")
    return httpx.ReadError("the connection to the provider was lost")
