"""The client, the only place from which bytes go to a model.

For every call, in this order: secrets are removed, the prompt is checked against the model's
window, the most that the call can cost is reserved, and the request is sent inside the retry
envelope. The answer is bounded in size and time, read by the provider, and settled for. Callers
neither reserve nor retry themselves.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import ssl
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Literal, TypedDict, Unpack

import httpx

from fluid_build.copilot.context.model_data import context_window
from fluid_build.copilot.context.token_budget import (
    check_prompt_fits,
    estimate_prompt_tokens,
)
from fluid_build.copilot.cost import Reservation, RunCostTracker, get_cost_tracker
from fluid_build.copilot.error_classification import (
    classify_provider_error,
    classify_response,
)
from fluid_build.copilot.errors import AgentExecutionError, ProviderServerError
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt, LlmProvider, LlmRequest, LlmResponse
from fluid_build.copilot.llm.call_operations import model_call, record_answer
from fluid_build.copilot.llm.credentials import ApiKey, find_api_key
from fluid_build.copilot.llm.outgoing import outgoing_secrets, without_secrets
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.recovery.retry import RetrySchedule, retry_call, retry_call_sync
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject, JsonValue

TIMEOUT_VARIABLE = "FLUID_LLM_TIMEOUT_SECONDS"
DEFAULT_TIMEOUT_SECONDS = 120.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Far more than any model writes: it only stops a server that floods."""


def timeout_seconds(environ: Mapping[str, str] = os.environ) -> float:
    """Return the seconds that an attempt may take: ``FLUID_LLM_TIMEOUT_SECONDS``, or 120.

    Raises ``UsageError`` unless it is a number over 0.
    """
    text = environ.get(TIMEOUT_VARIABLE, "").strip()
    if not text:
        return DEFAULT_TIMEOUT_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(
            f"{TIMEOUT_VARIABLE} is {text!r}, which isn't a number of seconds.",
            hint=f"Set it to a number over 0, or unset it for {DEFAULT_TIMEOUT_SECONDS:g}.",
        )
    return seconds


class _Post(TypedDict):
    """The arguments of httpx's ``stream``."""

    method: Literal["POST"]
    url: str
    json: JsonObject
    headers: Mapping[str, str]


class ClientOptions(TypedDict, total=False):
    """The keyword arguments of ``LlmClient``, but for its transports."""

    api_key: ApiKey | str | None
    timeout: float | None
    policy: RetrySchedule | None
    capability_matrix: Mapping[str, object] | None
    tracker: RunCostTracker | None
    sleep: Callable[[float], Awaitable[object]]
    sleep_sync: Callable[[float], object]
    draw: Callable[[], float]


class LlmClient:
    """A client of one provider, asynchronous and blocking.

    By default ``credentials`` finds the ``api_key``. ``timeout`` is in seconds for an attempt.
    ``capability_matrix`` is read at each call, so a run's changes apply at once. ``tracker``
    defaults to the current run's. ``sleep``, ``sleep_sync`` and ``draw`` are the envelope's time
    and chance. Close it, or use it in a ``with`` block.
    """

    def __init__(
        self,
        provider: LlmProvider,
        *,
        api_key: ApiKey | str | None = None,
        timeout: float | None = None,
        policy: RetrySchedule | None = None,
        capability_matrix: Mapping[str, object] | None = None,
        tracker: RunCostTracker | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        sleep_sync: Callable[[float], object] = time.sleep,
        draw: Callable[[], float] = random.random,
        transport: httpx.BaseTransport | None = None,
        async_transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.provider = provider
        self.policy = policy or RetrySchedule()
        self.timeout = timeout_seconds() if timeout is None else timeout
        self.capability_matrix = {} if capability_matrix is None else capability_matrix
        self._tracker = tracker
        self._key = _key_for(provider, api_key)
        self._sleep, self._sleep_sync, self._draw = sleep, sleep_sync, draw
        self._transport, self._async_transport = transport, async_transport
        self._lock = threading.Lock()
        self._sync_client: httpx.Client | None = None
        self._async_clients: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, httpx.AsyncClient
        ] = weakref.WeakKeyDictionary()

    @classmethod
    def from_config(cls, config: LlmConfig, **options: Unpack[ClientOptions]) -> LlmClient:
        """Return a client for ``config``; ``options`` are those of the constructor."""
        return cls(make_provider(config.provider, config.base_url), **options)

    async def complete(
        self,
        prompt: LlmPrompt,
        *,
        stage: str = "",
        agent_class: str = "",
        prompt_tokens: int | None = None,
    ) -> LlmResponse:
        """Return the model's answer to ``prompt``.

        Its cost counts for ``stage`` and ``agent_class``; ``prompt_tokens`` is the prompt's size
        where the caller knows it better than the estimate. Raises the ``ProviderError`` that fits
        the failure, ``CostLimitExceeded``, or ``UnknownPriceError``.
        """
        with (
            model_call(self.provider, prompt, stage=stage, agent_class=agent_class) as call,
            self._permit(prompt, stage, agent_class, prompt_tokens) as (request, reservation),
        ):
            response = await retry_call(
                lambda: self._attempt(request, prompt),
                policy=self.policy,
                sleep=self._sleep,
                draw=self._draw,
            )
            return _settled(record_answer(call, response), reservation)

    def complete_sync(
        self,
        prompt: LlmPrompt,
        *,
        stage: str = "",
        agent_class: str = "",
        prompt_tokens: int | None = None,
    ) -> LlmResponse:
        """Return the model's answer, as ``complete``, and wait for it."""
        with (
            model_call(self.provider, prompt, stage=stage, agent_class=agent_class) as call,
            self._permit(prompt, stage, agent_class, prompt_tokens) as (request, reservation),
        ):
            response = retry_call_sync(
                lambda: self._attempt_sync(request, prompt),
                policy=self.policy,
                sleep=self._sleep_sync,
                draw=self._draw,
            )
            return _settled(record_answer(call, response), reservation)

    @contextmanager
    def _permit(
        self, prompt: LlmPrompt, stage: str, agent_class: str, prompt_tokens: int | None
    ) -> Iterator[tuple[LlmRequest, Reservation]]:
        """Yield the request to send and the money for it, which is released unless settled."""
        window = context_window(
            prompt.model, self.provider.name, capability_matrix=self.capability_matrix
        )
        if window is not None:
            prompt = replace(
                prompt,
                context_window=prompt.context_window or window,
                max_output_tokens=min(prompt.max_output_tokens, window // 2),
            )
        secrets = outgoing_secrets(self._key.reveal() if self._key else None)
        request = self.provider.build_request(prompt)
        request = replace(request, body=without_secrets(request.body, secrets))
        check_prompt_fits(
            _prompt_tokens(prompt) if prompt_tokens is None else prompt_tokens,
            model=prompt.model,
            provider=self.provider.name,
            capability_matrix=self.capability_matrix,
            output_reservation=prompt.max_output_tokens,
        )
        size = len(json.dumps(request.body, ensure_ascii=False).encode())
        with (self._tracker or get_cost_tracker()).reserve(
            provider=self.provider.name,
            model=prompt.model,
            # a token is at least one byte, and no prompt over the window is accepted
            input_tokens=size if window is None else min(size, window),
            max_output_tokens=prompt.max_output_tokens,
            stage=stage,
            agent_class=agent_class,
        ) as reservation:
            try:
                yield request, reservation
            except ProviderServerError as error:
                if error.status_code == 200:  # an unreadable answer was paid for too
                    reservation.settle_without_usage()
                raise

    async def _attempt(self, request: LlmRequest, prompt: LlmPrompt) -> LlmResponse:
        started = time.monotonic()
        content = bytearray()
        failure: AgentExecutionError | None = None
        try:
            async with asyncio.timeout(self.timeout):
                async with self._async_client().stream(**self._arguments(request)) as response:
                    async for chunk in response.aiter_bytes():
                        self._extend(content, chunk, started)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            failure = classify_provider_error(error, self.provider.name)
        if failure is not None:
            raise failure  # not from within: httpx's error holds the request with the key
        return self._parse(response, bytes(content), prompt)

    def _attempt_sync(self, request: LlmRequest, prompt: LlmPrompt) -> LlmResponse:
        started = time.monotonic()
        content = bytearray()
        failure: AgentExecutionError | None = None
        try:
            with self._client().stream(**self._arguments(request)) as response:
                for chunk in response.iter_bytes():
                    self._extend(content, chunk, started)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failure = classify_provider_error(error, self.provider.name)
        if failure is not None:
            raise failure
        return self._parse(response, bytes(content), prompt)

    def _extend(self, content: bytearray, chunk: bytes, started: float) -> None:
        """Add a chunk, within bounds: a server that trickles or floods is cut off."""
        content += chunk
        if len(content) > MAX_ANSWER_BYTES:
            raise httpx.ReadError("the answer is too large")
        if time.monotonic() - started > self.timeout:
            raise httpx.ReadTimeout("the answer takes longer than the timeout")

    def _arguments(self, request: LlmRequest) -> _Post:
        headers = dict(request.headers)
        if self._key is not None:
            headers |= self.provider.auth_headers(self._key.reveal())
        return {"method": "POST", "url": request.url, "json": request.body, "headers": headers}

    def _parse(self, response: httpx.Response, content: bytes, prompt: LlmPrompt) -> LlmResponse:
        whole = httpx.Response(
            response.status_code,
            headers=[(k, v) for k, v in response.headers.items() if k != "content-encoding"],
            content=content,
            request=response.request,
        )
        if not whole.is_success:
            raise classify_response(whole, self.provider.name)
        body = _json_object(content)
        if body is None:
            raise self.provider.unreadable("it isn't a JSON object")
        if body.get("error"):  # some gateways put a failure into a success
            raise classify_response(whole, self.provider.name)
        return self.provider.parse_response(body, prompt)

    def _client(self) -> httpx.Client:
        with self._lock:
            if self._sync_client is None:
                self._sync_client = httpx.Client(
                    timeout=self.timeout, transport=self._transport, verify=_trusted_certificates()
                )
            return self._sync_client

    def _async_client(self) -> httpx.AsyncClient:
        """Return this event loop's client: connections belong to the loop that made them."""
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._async_clients.get(loop)
            if client is None:
                client = httpx.AsyncClient(
                    timeout=self.timeout,
                    transport=self._async_transport,
                    verify=_trusted_certificates(),
                )
                self._async_clients[loop] = client
            return client

    async def aclose(self) -> None:
        """Close the connections of this event loop and the blocking ones."""
        with self._lock:
            client = self._async_clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()
        self.close()

    def close(self) -> None:
        """Close the blocking connections."""
        with self._lock:
            client, self._sync_client = self._sync_client, None
        if client is not None:
            client.close()

    async def __aenter__(self) -> LlmClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self) -> LlmClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LlmClient({self.provider.name}, {self.provider.base_url!r})"


def _key_for(provider: LlmProvider, api_key: ApiKey | str | None) -> ApiKey | None:
    if isinstance(api_key, ApiKey):
        return api_key
    if api_key is not None:
        return ApiKey(api_key)
    if provider.needs_key or any(os.environ.get(name) for name in provider.key_variables):
        return find_api_key(provider.name, provider.key_variables)
    return None


def _json_object(content: bytes) -> dict[str, JsonValue] | None:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates, read once: nothing else about a client takes as long."""
    return httpx.create_ssl_context()


def _settled(response: LlmResponse, reservation: Reservation) -> LlmResponse:
    usage = response.usage
    if usage is None:
        reservation.settle_without_usage()
    else:
        reservation.settle(
            usage.input_tokens,
            usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )
    return response


def _prompt_tokens(prompt: LlmPrompt) -> int:
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in prompt.tool_specs
    ]
    schema = [] if prompt.response_schema is None else [dict(prompt.response_schema)]
    return estimate_prompt_tokens(prompt.messages, system=prompt.system, tools=[*tools, *schema])
