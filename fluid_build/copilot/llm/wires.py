"""The two ways on which a call reaches a server: with an event loop, or blocking.

The protocol of a call is written once, as coroutines that reserve, send, read and wait on a
``Wire``. On the ``BlockingWire`` none of that waits (``fluid_build.copilot.drivers``).
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from fluid_build.copilot.cost import Reservation
from fluid_build.copilot.drivers import awaited, immediate
from fluid_build.copilot.llm.attempts import Attempt
from fluid_build.copilot.llm.http import httpx
from fluid_build.copilot.llm.prepared_calls import PreparedCall


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that was sent, and the answer's body as it comes."""

    chunks: AsyncIterator[bytes]
    aclose: Callable[[], Awaitable[None]]


class Wire(Protocol):
    """What the protocol of a call needs of the outside world."""

    @property
    def sleep(self) -> Callable[[float], Awaitable[object]]:
        """Return the function that waits for so many seconds."""

    async def reserve(self, call: PreparedCall) -> Reservation:
        """Reserve money for an attempt. Raises ``CostLimitExceeded``."""
        ...

    def within(self, seconds: float) -> AbstractAsyncContextManager[object]:
        """End a block that takes longer, as far as nothing else does, by ``TimeoutError``."""

    async def send(self, attempt: Attempt) -> Exchange:
        """Send an attempt's request, and begin its answer."""
        ...


class LoopWire:
    """Connections of event loops: each belongs to the loop that made it."""

    def __init__(
        self,
        timeout: float,
        sleep: Callable[[float], Awaitable[object]],
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        self.sleep = sleep
        self._timeout, self._transport = timeout, transport
        self._lock = threading.Lock()
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = (
            weakref.WeakKeyDictionary()
        )

    async def reserve(self, call: PreparedCall) -> Reservation:
        """Reserve money for an attempt, as ``Wire.reserve``."""
        return await call.reserve(call.tracker.wait_to_reserve)

    def within(self, seconds: float) -> AbstractAsyncContextManager[object]:
        """Bound a block that no timeout of httpx bounds: those are for each piece."""
        return asyncio.timeout(seconds)

    async def send(self, attempt: Attempt) -> Exchange:
        """Send an attempt's request, as ``Wire.send``."""
        client = self._client()
        request = client.build_request(content=attempt.body_async(), **attempt.call.arguments)
        response = await client.send(request, stream=True)
        attempt.begin(response)
        return Exchange(response.aiter_bytes(), response.aclose)

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._clients.get(loop)
            if client is None:
                client = self._clients[loop] = httpx.AsyncClient(
                    timeout=self._timeout, transport=self._transport, verify=_trusted_certificates()
                )
            return client

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        with self._lock:
            client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


class BlockingWire:
    """Connections of threads, which wait by blocking."""

    def __init__(
        self,
        timeout: float,
        sleep: Callable[[float], object],
        transport: httpx.BaseTransport | None,
    ) -> None:
        self.sleep = immediate(sleep)
        self._timeout, self._transport = timeout, transport
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    async def reserve(self, call: PreparedCall) -> Reservation:
        """Reserve money for an attempt, and block until there is enough."""
        return await call.reserve(immediate(call.tracker.wait_to_reserve_sync))

    def within(self, seconds: float) -> AbstractAsyncContextManager[object]:  # noqa: ARG002
        """Bound nothing: what blocks isn't interrupted. An attempt looks at its time itself."""
        return nullcontext()

    async def send(self, attempt: Attempt) -> Exchange:
        """Send an attempt's request, as ``Wire.send``."""
        client = self._opened()
        request = client.build_request(content=attempt.body(), **attempt.call.arguments)
        response = client.send(request, stream=True)
        attempt.begin(response)
        return Exchange(awaited(response.iter_bytes()), immediate(response.close))

    def _opened(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(
                    timeout=self._timeout, transport=self._transport, verify=_trusted_certificates()
                )
            return self._client

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates, read once: nothing else about a client takes as long."""
    return httpx.create_ssl_context()
