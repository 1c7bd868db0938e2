"""How each attempt at a call is settled: the protocol without the network.

An attempt is settled once, whatever becomes of it. It costs nothing where the request wasn't sent
or the provider refused it. It costs what the provider reported. Where nobody knows (a timeout, a
lost connection, an unreadable answer, a cancelled call), it costs its whole reservation.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from fluid_build.copilot.cost import Reservation
from fluid_build.copilot.error_classification import (
    classify_error_document,
    classify_provider_error,
    classify_response,
)
from fluid_build.copilot.errors import AgentExecutionError, CostLimitExceeded
from fluid_build.copilot.llm.base import LlmResponse, Usage
from fluid_build.copilot.llm.http import httpx
from fluid_build.copilot.llm.prepared_calls import PreparedCall
from fluid_build.copilot.untrusted_json import read_json
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import redact
from fluid_build.text import clip

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Far more than any model writes: it only stops a server that floods."""

_MAX_ERROR_CHARS = 500
"""Of an error about an answer, which may quote it."""

TRANSPORT_ERRORS = (httpx.HTTPError, httpx.InvalidURL, TimeoutError)
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


class Attempt:
    """An attempt at a call: a ``with`` block that settles for it."""

    def __init__(self, call: PreparedCall, reservation: Reservation) -> None:
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
    """An attempt to get an answer in one piece, within ``timeout`` seconds."""

    def __init__(self, call: PreparedCall, reservation: Reservation, timeout: float) -> None:
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


def _json_object(content: bytes) -> dict[str, JsonValue] | None:
    try:
        body = read_json(content)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None
