"""A connection to an MCP server, for agents to call its tools.

The connection has a thread and an event loop of its own, so that its tools can be called from any
thread and from any loop, any number of times, until it is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Self, TextIO
from urllib.parse import parse_qsl, urlsplit

import httpx2
import mcp_types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from fluid_build import __version__
from fluid_build.copilot.blocking import call_in_thread
from fluid_build.copilot.mcp.errors import McpConnectionError, McpToolError
from fluid_build.copilot.mcp.foreign_tools import (
    ForeignTools,
    ToolChoice,
    adopt_tools,
    read_result,
)
from fluid_build.copilot.tools.toolbox import Toolbox
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonValue
from fluid_build.secrets import redact, secrets_of_environment
from fluid_build.text import clip

LOG = logging.getLogger(__name__)

DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_MAX_RESULT_BYTES = 256 * 1024
_MAX_TOOLS = 512
_MAX_PAGES = 64
"""Far more than any server has: they only stop one that never ends its list."""
_MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Of one message over HTTP: more than any list of tools or acceptable result has.

The SDK reads a program's messages line by line, of any length, and offers no way to bound them.
"""
_HTTP_TIMEOUT = httpx2.Timeout(30, read=300)
"""Seconds. A server may hold a stream open for long; each call has the connection's timeout."""
_MAX_LOG_LINE = 2_000
_MAX_ERROR_CHARS = 500
_OUR_INFO = mcp_types.Implementation(name="fluid-forge", version=__version__)

_Opener = Callable[[], contextlib.AbstractAsyncContextManager[Client]]


class McpConnection:
    """A connection to an MCP server, open inside of a ``with`` or ``async with`` block.

    ``tools`` is its toolbox; ``refused`` has the tools that were left out, with the reason.
    Open it with ``to_command`` or ``to_url``. Their options: ``prefix`` goes before every tool's
    name (``prefix_name``); ``only``, ``read_only`` and ``requires_approval`` are names of the
    server's tools; ``timeout`` is in seconds for each call, and for connecting; a result over
    ``max_result_bytes`` is an error.
    """

    def __init__(
        self,
        label: str,
        opener: _Opener,
        choice: ToolChoice,
        timeout: float,
        max_result_bytes: int,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._label = label
        self._opener = opener
        self._choice = choice
        self._timeout = timeout
        self._max_result_bytes = max_result_bytes
        self._secrets = secrets
        self._adopted = ForeignTools()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Client | None = None
        self._is_closing = False
        self._stop: Callable[[], object] = _do_nothing

    @classmethod
    def to_command(
        cls,
        command: str,
        *arguments: str,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        pass_environment: Iterable[str] = (),
        prefix: str = "",
        only: Iterable[str] | None = None,
        read_only: Iterable[str] = (),
        requires_approval: Iterable[str] = (),
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        max_result_bytes: int = DEFAULT_MAX_RESULT_BYTES,
    ) -> McpConnection:
        """Return a connection to a server that is started as a program, and ends with it.

        The program gets none of this process's environment but PATH, HOME and the like, the
        variables of ``pass_environment``, and ``env``. What it writes to stderr goes to the log, at
        DEBUG. Run only programs that you trust: one message of a program may fill the memory.
        """
        passed = {name: os.environ[name] for name in pass_environment if name in os.environ}
        parameters = StdioServerParameters(
            command=command, args=[*arguments], env={**passed, **(env or {})}, cwd=cwd
        )
        secrets = tuple((env or {}).values())
        return cls(
            Path(command).name,
            lambda: _open_command(parameters, secrets),
            _choice(prefix, only, read_only, requires_approval),
            timeout,
            max_result_bytes,
            secrets,
        )

    @classmethod
    def to_url(
        cls,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        prefix: str = "",
        only: Iterable[str] | None = None,
        read_only: Iterable[str] = (),
        requires_approval: Iterable[str] = (),
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        max_result_bytes: int = DEFAULT_MAX_RESULT_BYTES,
    ) -> McpConnection:
        """Return a connection to a server over streamable HTTP. ``headers`` may hold a token.

        The headers' values and those of the query are left out of errors and logs.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise UsageError(
                "The address of an MCP server must be http or https, without a user or password.",
                hint="Write https://host/path, and pass a token in headers.",
            )
        sent = dict(headers or {})
        return cls(
            parts.hostname,
            lambda: _open_url(url, sent),
            _choice(prefix, only, read_only, requires_approval),
            timeout,
            max_result_bytes,
            _secrets_of_request(sent, parts.query),
        )

    @property
    def tools(self) -> Toolbox:
        """Return the server's tools, as they were when the connection was opened."""
        return Toolbox(self._adopted.tools)

    @property
    def refused(self) -> Mapping[str, str]:
        """Return the tools that were left out, with the reason."""
        return self._adopted.refused

    def __repr__(self) -> str:
        return f"<McpConnection to {self._label}>"

    def __enter__(self) -> Self:
        if self._thread is not None:
            raise RuntimeError(f"{self!r} is open already.")
        ready: Future[list[mcp_types.Tool]] = Future()
        self._is_closing = False
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(ready)), name="fluid-mcp", daemon=True
        )
        self._thread.start()
        try:
            self._adopted = adopt_tools(ready.result(), self._choice, self._call)
        except BaseException:
            self.close()
            raise
        for name, reason in self._adopted.refused.items():
            safe_name = redact(name, (*secrets_of_environment(), *self._secrets))
            LOG.warning("Tool %r of MCP server %s is left out: %s.", safe_name, self._label, reason)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return await call_in_thread(self.__enter__)

    async def __aexit__(self, *_: object) -> None:
        await call_in_thread(self.close)

    def close(self) -> None:
        """Close the connection, and end the server if it was started here."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._is_closing = True  # for a thread that hasn't started its loop yet
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop ended with the server
                loop.call_soon_threadsafe(lambda: self._stop())
        thread.join()

    async def _serve(self, ready: Future[list[mcp_types.Tool]]) -> None:
        """Hold the connection open until it is closed, also while it is being opened."""
        closing = asyncio.Event()
        task = asyncio.current_task()
        self._stop = task.cancel if task is not None else closing.set
        self._loop = asyncio.get_running_loop()
        try:
            if self._is_closing:
                return
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(self._timeout):
                    client = await stack.enter_async_context(self._opener())
                    definitions = await _list_tools(client)
                self._client, self._stop = client, closing.set
                ready.set_result(definitions)
                await closing.wait()
                self._client = None  # no call may start while the connection is closed
        except asyncio.CancelledError:
            if not self._is_closing:
                raise
        except Exception as error:  # noqa: BLE001 - any failure to connect is the opener's error
            if ready.done():
                description = _describe(error, self._secrets)
                LOG.warning("MCP server %s ended with an error: %s", self._label, description)
            else:
                ready.set_exception(self._connection_error(error))
        finally:
            self._client = None
            if not ready.done():  # cancelled from inside: the opener mustn't wait forever
                ready.set_exception(McpConnectionError(f"{self!r} was cancelled."))

    async def _call(self, name: str, arguments: dict[str, object]) -> JsonValue:
        """Call a tool of the server, from any loop. Raises ``TimeoutError`` among others."""
        loop = self._loop
        if self._thread is None or loop is None or loop.is_closed():
            raise McpConnectionError(f"The connection to MCP server {self._label} is closed.")
        called = asyncio.run_coroutine_threadsafe(self._call_on_loop(name, arguments), loop)
        try:
            return await asyncio.wrap_future(called)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # The connection's loop has ended, and cancelled what was under way.
            raise McpConnectionError(f"The connection to MCP server {self._label} ended.") from None

    async def _call_on_loop(self, name: str, arguments: dict[str, object]) -> JsonValue:
        if self._client is None:
            raise McpConnectionError(f"The connection to MCP server {self._label} is closed.")
        try:
            async with asyncio.timeout(self._timeout):
                result = await self._client.call_tool(name, arguments)
        except MCPError as error:
            if error.code == mcp_types.CONNECTION_CLOSED:
                raise self._connection_error(error) from None
            description = _describe(error, self._secrets)
            raise McpToolError(f"MCP server {self._label} answered: {description}") from None
        except (OSError, RuntimeError, ValidationError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise self._connection_error(error) from None
        return read_result(result, self._max_result_bytes, self._secrets)

    def _connection_error(self, error: BaseException) -> McpConnectionError:
        return McpConnectionError(
            f"MCP server {self._label} didn't work: {_describe(error, self._secrets)}",
            hint="Try its command or address yourself; a program's stderr is logged at DEBUG.",
        )


def _choice(
    prefix: str,
    only: Iterable[str] | None,
    read_only: Iterable[str],
    requires_approval: Iterable[str],
) -> ToolChoice:
    return ToolChoice(
        prefix,
        None if only is None else frozenset(only),
        frozenset(read_only),
        frozenset(requires_approval),
    )


def _secrets_of_request(headers: Mapping[str, str], query: str) -> tuple[str, ...]:
    """Return what may be a secret in a request: its headers' values, and those of its query."""
    words = (value.rpartition(" ")[2] for value in headers.values())  # without "Bearer"
    raw_values = (pair.partition("=")[2] for pair in query.split("&"))
    values = (value for _, value in parse_qsl(query))
    return tuple({*headers.values(), *words, *raw_values, *values} - {""})


def _do_nothing() -> None:
    """Stand for what stops a connection that was never opened."""


@contextlib.asynccontextmanager
async def _open_command(
    parameters: StdioServerParameters, secrets: tuple[str, ...]
) -> AsyncGenerator[Client]:
    with _logged_stderr(Path(parameters.command).name, secrets) as log:
        async with Client(stdio_client(parameters, errlog=log), client_info=_OUR_INFO) as client:
            yield client


@contextlib.asynccontextmanager
async def _open_url(url: str, headers: dict[str, str]) -> AsyncGenerator[Client]:
    async with httpx2.AsyncClient(
        headers=headers, timeout=_HTTP_TIMEOUT, event_hooks={"response": [_bound_body]}
    ) as http:
        transport = streamable_http_client(
            url, http_client=http, max_sse_event_size=_MAX_MESSAGE_BYTES
        )
        async with Client(transport, client_info=_OUR_INFO) as client:
            yield client


async def _bound_body(response: httpx2.Response) -> None:
    """Cut off a body that is too long. The SDK bounds only the events of a stream."""
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    if not is_stream and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _BoundedBody(response.stream)


class _BoundedBody(httpx2.AsyncByteStream):
    """A body of at most ``_MAX_MESSAGE_BYTES``."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > _MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(f"the answer is over {_MAX_MESSAGE_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


@contextlib.contextmanager
def _logged_stderr(label: str, known_secrets: tuple[str, ...]) -> Generator[TextIO]:
    """Yield a file for a program's stderr. Its lines are logged at DEBUG without secrets."""
    read_end, write_end = os.pipe()
    secrets = (*secrets_of_environment(), *known_secrets)

    def log_lines() -> None:
        with os.fdopen(read_end, encoding="utf-8", errors="replace") as lines:
            while line := lines.readline(_MAX_LOG_LINE):
                LOG.debug("MCP server %s: %s", label, redact(line.rstrip(), secrets))

    reader = threading.Thread(target=log_lines, name="fluid-mcp-log", daemon=True)
    reader.start()
    with os.fdopen(write_end, "w") as log:
        yield log


async def _list_tools(client: Client) -> list[mcp_types.Tool]:
    definitions: list[mcp_types.Tool] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        definitions += page.tools
        cursor = page.next_cursor
        if len(definitions) > _MAX_TOOLS:
            raise ValueError(f"it lists more than {_MAX_TOOLS} tools")
        if cursor is None:
            return definitions
    raise ValueError("its list of tools doesn't end")


def _describe(error: BaseException, known_secrets: tuple[str, ...]) -> str:
    """Return an error's class and text, without secrets; the first of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    secrets = (*secrets_of_environment(), *known_secrets)
    text = clip(redact(str(error), secrets), _MAX_ERROR_CHARS)
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__}."
