"""The client, the only place from which bytes go to a model.

For every call, in this order: secrets are removed, and the prompt is checked against the model's
window. Then, inside the retry envelope, the most that an attempt can cost is reserved, and the
request is sent. The answer is bounded in size and time, read by the provider, and settled for.
Callers neither reserve nor retry themselves.
"""

from __future__ import annotations

import asyncio
import os
import random
import ssl
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import TypedDict, TypeVar, Unpack

from fluid_build.copilot.cost import RunCostTracker, get_cost_tracker
from fluid_build.copilot.llm.answer_streams import AnswerStream, AnswerStreamSync
from fluid_build.copilot.llm.attempts import TRANSPORT_ERRORS, WholeAttempt
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt, LlmProvider, LlmRequest, LlmResponse
from fluid_build.copilot.llm.call_operations import model_call, record_answer
from fluid_build.copilot.llm.credentials import ApiKey, find_api_key
from fluid_build.copilot.llm.http import httpx
from fluid_build.copilot.llm.prepared_calls import PreparedCall, prepare_call
from fluid_build.copilot.llm.providers import LiteLlmProvider, make_provider
from fluid_build.copilot.llm.stream_attempts import StreamedCall
from fluid_build.copilot.recovery.retry import RetrySchedule, retry_call, retry_call_sync
from fluid_build.errors import UsageError

TIMEOUT_VARIABLE = "FLUID_LLM_TIMEOUT_SECONDS"
DEFAULT_TIMEOUT_SECONDS = 120.0

T = TypeVar("T")


def timeout_seconds(environ: Mapping[str, str] | None = None) -> float:
    """Return the seconds that an attempt may take: ``FLUID_LLM_TIMEOUT_SECONDS``, or 120.

    Raises ``UsageError`` unless it is a number over 0.
    """
    variables = os.environ if environ is None else environ
    text = variables.get(TIMEOUT_VARIABLE, "").strip()
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

    By default ``credentials`` finds the ``api_key``. ``timeout`` is in seconds: for an attempt, or
    between two pieces of a streamed answer.
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

    @property
    def tracker(self) -> RunCostTracker:
        """Return the tracker that counts the calls: the client's own, or the current run's."""
        return self._tracker or get_cost_tracker()

    @classmethod
    def from_config(cls, config: LlmConfig, **options: Unpack[ClientOptions]) -> LlmClient:
        """Return a client for ``config``; ``options`` are those of the constructor."""
        provider = make_provider(config.provider, config.base_url)
        if not isinstance(provider, LiteLlmProvider):
            return cls(provider, **options)
        # Imported on use: it needs an extra of its own, which takes a second to import.
        from fluid_build.copilot.llm.litellm_transport import LiteLlmTransport

        transport = LiteLlmTransport({"api_base": config.base_url} if config.base_url else None)
        return cls(provider, transport=transport, async_transport=transport, **options)

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
        with model_call(self.provider, prompt, stage=stage, agent_class=agent_class) as operation:
            call = self._prepare(
                self.provider.build_request, prompt, stage, agent_class, prompt_tokens
            )
            call.outcome = operation.outcome
            response = await self._retry(lambda: self._attempt(call))
            return record_answer(operation, response, call)

    def complete_sync(
        self,
        prompt: LlmPrompt,
        *,
        stage: str = "",
        agent_class: str = "",
        prompt_tokens: int | None = None,
    ) -> LlmResponse:
        """Return the model's answer, as ``complete``, and wait for it."""
        with model_call(self.provider, prompt, stage=stage, agent_class=agent_class) as operation:
            call = self._prepare(
                self.provider.build_request, prompt, stage, agent_class, prompt_tokens
            )
            call.outcome = operation.outcome
            response = self._retry_sync(lambda: self._attempt_sync(call))
            return record_answer(operation, response, call)

    def stream(
        self,
        prompt: LlmPrompt,
        *,
        stage: str = "",
        agent_class: str = "",
        prompt_tokens: int | None = None,
    ) -> AnswerStream:
        """Return the model's answer to ``prompt`` as events, while it is written.

        It is sent once the first event is asked for. Failures until then are retried, and raised as
        ``complete`` raises them.
        """
        call = StreamedCall(
            self._prepare(self.provider.stream_request, prompt, stage, agent_class, prompt_tokens)
        )
        return AnswerStream(call.batches(self._async_client, self._retry), call.leave, call.forget)

    def stream_sync(
        self,
        prompt: LlmPrompt,
        *,
        stage: str = "",
        agent_class: str = "",
        prompt_tokens: int | None = None,
    ) -> AnswerStreamSync:
        """Return the model's answer as events, as ``stream``, for a blocking loop."""
        call = StreamedCall(
            self._prepare(self.provider.stream_request, prompt, stage, agent_class, prompt_tokens)
        )
        batches = call.batches_sync(self._client, self._retry_sync)
        return AnswerStreamSync(batches, call.leave, call.forget)

    def _prepare(
        self,
        build_request: Callable[[LlmPrompt], LlmRequest],
        prompt: LlmPrompt,
        stage: str,
        agent_class: str,
        prompt_tokens: int | None,
    ) -> PreparedCall:
        return prepare_call(
            build_request,
            prompt,
            provider=self.provider,
            key=self._key,
            tracker=self.tracker,
            capability_matrix=self.capability_matrix,
            stage=stage,
            agent_class=agent_class,
            prompt_tokens=prompt_tokens,
            patience=self.timeout,
        )

    async def _retry(self, call: Callable[[], Awaitable[T]]) -> T:
        return await retry_call(call, policy=self.policy, sleep=self._sleep, draw=self._draw)

    def _retry_sync(self, call: Callable[[], T]) -> T:
        return retry_call_sync(call, policy=self.policy, sleep=self._sleep_sync, draw=self._draw)

    async def _attempt(self, call: PreparedCall) -> LlmResponse:
        with WholeAttempt(call, await call.reserve(), self.timeout) as attempt:
            try:
                async with (
                    asyncio.timeout(self.timeout),
                    self._async_client().stream(
                        content=attempt.body_async(), **call.arguments
                    ) as response,
                ):
                    attempt.begin(response)
                    async for chunk in response.aiter_bytes():
                        attempt.receive(chunk)
            except TRANSPORT_ERRORS as error:
                attempt.fail(error)
            return attempt.answer()

    def _attempt_sync(self, call: PreparedCall) -> LlmResponse:
        with WholeAttempt(call, call.reserve_sync(), self.timeout) as attempt:
            try:
                with self._client().stream(content=attempt.body(), **call.arguments) as response:
                    attempt.begin(response)
                    for chunk in response.iter_bytes():
                        attempt.receive(chunk)
            except TRANSPORT_ERRORS as error:
                attempt.fail(error)
            return attempt.answer()

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
        await self.close_loop()
        self.close()

    async def close_loop(self) -> None:
        """Close the connections of this event loop alone, which no other loop can use."""
        with self._lock:
            client = self._async_clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

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
    variables = (*provider.key_variables, *provider.token_variables)
    if provider.needs_key or any(os.environ.get(name) for name in variables):
        return find_api_key(provider.name, variables)
    return None


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates, read once: nothing else about a client takes as long."""
    return httpx.create_ssl_context()
