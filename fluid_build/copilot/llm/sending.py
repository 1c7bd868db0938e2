"""What a call sends, and how each attempt is settled: the protocol without the network.

An attempt is settled once, whatever becomes of it. It costs nothing where the request wasn't sent
or the provider refused it. It costs what the provider reported. Where nobody knows (a timeout, a
lost connection, an unreadable answer, a cancelled call), it costs its whole reservation.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Literal, Self, TypedDict

from fluid_build.copilot.context.attachment_tokens import MOST_PAGES, TOKENS_PER_PAGE
from fluid_build.copilot.context.message_parts import attachments, guessed_tokens
from fluid_build.copilot.context.model_data import context_window
from fluid_build.copilot.context.token_budget import check_prompt_fits, estimate_prompt_tokens
from fluid_build.copilot.cost import Caller, LargestCall, Reservation, RunCostTracker
from fluid_build.copilot.error_classification import (
    classify_error_document,
    classify_provider_error,
    classify_response,
)
from fluid_build.copilot.errors import AgentExecutionError, CostLimitExceeded
from fluid_build.copilot.llm.base import LlmPrompt, LlmProvider, LlmRequest, LlmResponse, Usage
from fluid_build.copilot.llm.credentials import ApiKey
from fluid_build.copilot.llm.http import httpx
from fluid_build.copilot.llm.outgoing import outgoing_secrets, without_secrets
from fluid_build.copilot.message_checks import check_messages
from fluid_build.copilot.messages import read_json
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import redact
from fluid_build.text import clip

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Far more than any model writes: it only stops a server that floods."""

_MAX_ERROR_CHARS = 500
"""Of an error about an answer, which may quote it."""

SAFETY_FACTOR = 1.5
"""Of an estimate of tokens: what it may fall short by on text that it wasn't measured on."""

TRANSPORT_ERRORS = (httpx.HTTPError, httpx.InvalidURL, TimeoutError)
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


class Post(TypedDict):
    """The arguments of httpx's ``stream``, but for the content."""

    method: Literal["POST"]
    url: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class Call:
    """A call that passed the checks: what each attempt sends and reserves."""

    provider: LlmProvider
    prompt: LlmPrompt
    tracker: RunCostTracker
    largest: LargestCall
    arguments: Post = field(repr=False)
    content: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    patience: float
    """The seconds that the readers of other streams may take while this call needs their money."""
    failure: AgentExecutionError | None = None
    """The failure of the latest attempt."""

    async def reserve(self) -> Reservation:
        """Reserve money for an attempt.

        Raises ``CostLimitExceeded``, for a retry with the failure before it as its cause.
        """
        try:
            return await self.tracker.wait_to_reserve(self.largest, patience=self.patience)
        except CostLimitExceeded as refusal:
            raise refusal from self.failure

    def reserve_sync(self) -> Reservation:
        """Reserve money for an attempt, as ``reserve``, and block until there is enough."""
        try:
            return self.tracker.wait_to_reserve_sync(self.largest, patience=self.patience)
        except CostLimitExceeded as refusal:
            raise refusal from self.failure


def prepare_call(
    build_request: Callable[[LlmPrompt], LlmRequest],
    prompt: LlmPrompt,
    *,
    provider: LlmProvider,
    key: ApiKey | None,
    tracker: RunCostTracker,
    capability_matrix: Mapping[str, object],
    stage: str,
    agent_class: str,
    prompt_tokens: int | None,
    patience: float,
) -> Call:
    """Return the call for ``prompt``: without secrets, and checked against the model's window.

    ``prompt_tokens`` replaces the estimate. Raises ``ContextOverflowError``, and ``UsageError`` for
    messages that can't be sent whole.
    """
    prompt = replace(prompt, messages=check_messages(prompt.messages))
    window = context_window(prompt.model, provider.name, capability_matrix=capability_matrix)
    if window is not None:
        prompt = replace(
            prompt,
            context_window=prompt.context_window or window,
            max_output_tokens=min(prompt.max_output_tokens, window // 2),
        )
    secret = key.reveal() if key else None
    request = build_request(prompt)
    body = without_secrets(request.body, outgoing_secrets(secret))
    tool_tokens = provider.tool_prompt_tokens if body.get("tools") else 0
    tokens = _prompt_tokens(prompt) if prompt_tokens is None else prompt_tokens
    guessed = guessed_tokens(prompt.messages) if prompt_tokens is None else 0
    check_prompt_fits(
        tokens + tool_tokens - guessed,  # the provider says whether a document is too long
        model=prompt.model,
        provider=provider.name,
        capability_matrix=capability_matrix,
        output_reservation=prompt.max_output_tokens,
    )
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    if guessed:
        tokens = max(tokens, MOST_PAGES * TOKENS_PER_PAGE)
    bounds = [math.ceil(tokens * SAFETY_FACTOR)]
    if not any(any(attachments(message)) for message in prompt.messages):
        bounds.append(len(content))  # a token of text is at least one byte
    largest_input = min(bounds) + tool_tokens
    if window is not None:
        largest_input = min(largest_input, window)  # no prompt over the window is accepted
    caller = Caller(provider.name, prompt.model, stage, agent_class)
    headers = {
        "content-type": "application/json",
        "content-length": str(len(content)),
        **request.headers,
        **(provider.auth_headers(secret) if secret else {}),
    }
    return Call(
        provider,
        prompt,
        tracker,
        LargestCall(caller, largest_input, prompt.max_output_tokens),
        {"method": "POST", "url": request.url, "headers": headers},
        content,
        (secret,) if secret else (),
        patience,
    )


class Attempt:
    """An attempt at a call: a ``with`` block that settles for it."""

    def __init__(self, call: Call, reservation: Reservation) -> None:
        self.call = call
        self._reservation = reservation
        self._is_sent = False
        self._is_free = False
        self._failure: AgentExecutionError | None = None
        self._answer: LlmResponse | None = None
        self._failed_usage: Usage | None = None
        self._response: httpx.Response | None = None
        self._content = bytearray()
        self._received_bytes = 0

    def body(self) -> Iterator[bytes]:
        """Yield the request's body. The transport asks for it once there is a connection."""
        self._is_sent = True
        yield self.call.content

    async def body_async(self) -> AsyncIterator[bytes]:
        """Yield the request's body, as ``body``."""
        self._is_sent = True
        yield self.call.content

    def begin(self, response: httpx.Response) -> None:
        """Record the answer's status and headers."""
        self._response = response

    def fail(self, error: Exception) -> None:
        """Record the transport's error."""
        # Not raised from the original, which holds the request with the key.
        self._failure = classify_provider_error(error, self.call.provider.name)
        self._is_free = isinstance(error, _NEVER_SENT)

    def settle(self) -> None:
        """Replace the reservation by what the attempt costs, once.

        Raises ``CostLimitExceeded`` with the answer, which is paid for.
        """
        if self._is_free or not self._is_sent:
            self._reservation.release()
            return
        try:
            self._charge()
        except CostLimitExceeded as refusal:
            refusal.response = self._answer
            raise

    def _charge(self) -> None:
        self._reservation.settle_without_usage()

    def _pay(self, usage: Usage | None, estimated_output_tokens: int = 0) -> None:
        if usage is None or not usage.input_tokens:  # no prompt has 0 tokens
            self._reservation.settle_without_usage()
        else:
            self._reservation.settle(
                usage.input_tokens,
                usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                cache_write_tokens=usage.cache_write_tokens,
                estimated_output_tokens=estimated_output_tokens,
            )

    def _count(self, chunk: bytes) -> None:
        self._received_bytes += len(chunk)
        if self._received_bytes > MAX_ANSWER_BYTES:
            raise httpx.ReadError("the answer is too large")

    def _refusal(self) -> AgentExecutionError | None:
        """Return the error for a status that isn't a success: the provider did no work."""
        if self._response is None or self._response.is_success:
            return None
        self._is_free = True
        headers = self._response.headers.multi_items()
        whole = httpx.Response(
            self._response.status_code,
            headers=[(name, value) for name, value in headers if name != "content-encoding"],
            content=bytes(self._content),
            request=self._response.request,
        )
        return classify_response(whole, self.call.provider.name)

    def _read_whole(self) -> LlmResponse:
        """Return the answer that came in one piece."""
        body = _json_object(bytes(self._content))
        if body is None:
            raise self.call.provider.unreadable("it isn't a JSON object")
        failure = classify_error_document(body, self.call.provider.name, self.call.secrets)
        if failure is not None:  # some gateways put a failure into a success
            self._is_free = not reports_usage(body)
            self._failed_usage = self.call.provider.reported_usage(body)
            raise failure
        try:
            return self.call.provider.parse_response(body, self.call.prompt)
        except AgentExecutionError as error:
            self._failed_usage = self.call.provider.reported_usage(body)
            raise self._without_secrets(error) from None

    def _without_secrets(self, error: AgentExecutionError) -> AgentExecutionError:
        """Remove the key from an error about an answer, which may quote it."""
        error.message = clip(redact(error.message, self.call.secrets), _MAX_ERROR_CHARS)
        error.args = (error.message,)
        return error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, AgentExecutionError):
            self.call.failure = error
        if error is None:
            self.settle()
            return
        with suppress(CostLimitExceeded):  # the next call raises it
            self.settle()


class WholeAttempt(Attempt):
    """An attempt whose answer comes in one piece, within ``timeout`` seconds."""

    def __init__(self, call: Call, reservation: Reservation, timeout: float) -> None:
        super().__init__(call, reservation)
        self._timeout = timeout
        self._started = time.monotonic()

    def receive(self, chunk: bytes) -> None:
        """Add a chunk, within bounds: a server that trickles or floods is cut off."""
        self._count(chunk)
        self._content += chunk
        if time.monotonic() - self._started > self._timeout:
            raise httpx.ReadTimeout("the answer takes longer than the timeout")

    def answer(self) -> LlmResponse:
        """Return the answer. Raises the typed error if there is none."""
        failure = self._refusal() or self._failure
        if failure is not None:
            raise failure
        self._answer = self._read_whole()
        return self._answer

    def _charge(self) -> None:
        self._pay(self._failed_usage if self._answer is None else self._answer.usage)


def reports_usage(failure: JsonObject) -> bool:
    """Return whether a document that reports a failure still reports usage."""
    response = failure.get("response")
    holder = response if isinstance(response, Mapping) else failure
    return isinstance(holder.get("usage"), Mapping)


def _prompt_tokens(prompt: LlmPrompt) -> int:
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in prompt.tool_specs
    ]
    schemas = [dict(part) for part in (prompt.response_schema, prompt.extra) if part]
    return estimate_prompt_tokens(prompt.messages, system=prompt.system, tools=[*tools, *schemas])


def _json_object(content: bytes) -> dict[str, JsonValue] | None:
    try:
        body = read_json(content)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None
