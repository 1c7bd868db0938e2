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
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import TypedDict, TypeVar, Unpack

from fluid_build.copilot.cost import RunCostTracker, get_cost_tracker
from fluid_build.copilot.drivers import each, finish
from fluid_build.copilot.llm.answer_streams import AnswerStream, AnswerStreamSync
from fluid_build.copilot.llm.attempts import TRANSPORT_ERRORS, WholeAttempt
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt, LlmProvider, LlmRequest, LlmResponse
from fluid_build.copilot.llm.credentials import ApiKey, find_api_key
from fluid_build.copilot.llm.http import httpx
from fluid_build.copilot.llm.prepared_calls import (
    PreparedCall,
    model_call,
    prepare_call,
    record_answer,
)
from fluid_build.copilot.llm.providers import LiteLlmProvider, make_provider
from fluid_build.copilot.llm.stream_attempts import StreamedCall
from fluid_build.copilot.llm.wires import BlockingWire, LoopWire, Wire
from fluid_build.copilot.recovery.retry import RetrySchedule, retry_call
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
        self._draw = draw
        self._on_loop = LoopWire(self.timeout, sleep, async_transport)
        self._blocking = BlockingWire(self.timeout, sleep_sync, transport)

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
        return await self._complete(self._on_loop, prompt, stage, agent_class, prompt_tokens)

    def complete_sync(
        self,
        prompt: LlmPrompt,
        *,
        stage: str = "",
        agent_class: str = "",
        prompt_tokens: int | None = None,
    ) -> LlmResponse:
        """Return the model's answer, as ``complete``, and wait for it."""
        return finish(self._complete(self._blocking, prompt, stage, agent_class, prompt_tokens))

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
        call = self._streamed(prompt, stage, agent_class, prompt_tokens)
        batches = call.batches(self._on_loop, lambda start: self._retry(self._on_loop, start))
        return AnswerStream(batches, call.leave, call.forget)

    def stream_sync(
        self,
        prompt: LlmPrompt,
        *,
        stage: str = "",
        agent_class: str = "",
        prompt_tokens: int | None = None,
    ) -> AnswerStreamSync:
        """Return the model's answer as events, as ``stream``, for a blocking loop."""
        call = self._streamed(prompt, stage, agent_class, prompt_tokens)
        batches = call.batches(self._blocking, lambda start: self._retry(self._blocking, start))
        return AnswerStreamSync(each(batches), call.leave, call.forget)

    async def _complete(
        self, wire: Wire, prompt: LlmPrompt, stage: str, agent_class: str, prompt_tokens: int | None
    ) -> LlmResponse:
        with model_call(self.provider, prompt, stage=stage, agent_class=agent_class) as operation:
            call = self._prepare(
                self.provider.build_request, prompt, stage, agent_class, prompt_tokens
            )
            call.outcome = operation.outcome
            response = await self._retry(wire, lambda: self._attempt(wire, call))
            return record_answer(operation, response, call)

    def _streamed(
        self, prompt: LlmPrompt, stage: str, agent_class: str, prompt_tokens: int | None
    ) -> StreamedCall:
        return StreamedCall(
            self._prepare(self.provider.stream_request, prompt, stage, agent_class, prompt_tokens)
        )

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

    async def _retry(self, wire: Wire, call: Callable[[], Awaitable[T]]) -> T:
        return await retry_call(call, policy=self.policy, sleep=wire.sleep, draw=self._draw)

    async def _attempt(self, wire: Wire, call: PreparedCall) -> LlmResponse:
        with WholeAttempt(call, await wire.reserve(call), self.timeout) as attempt:
            try:
                async with wire.within(self.timeout), aclosing(await wire.send(attempt)) as answer:
                    async for chunk in answer.chunks:
                        attempt.receive(chunk)
            except TRANSPORT_ERRORS as error:
                attempt.fail(error)
            return attempt.answer()

    async def aclose(self) -> None:
        """Close the connections of this event loop and the blocking ones."""
        await self.close_loop()
        self.close()

    async def close_loop(self) -> None:
        """Close the connections of this event loop alone, which no other loop can use."""
        await self._on_loop.aclose()

    def close(self) -> None:
        """Close the blocking connections."""
        self._blocking.close()

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
