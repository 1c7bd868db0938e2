"""The server as a process: on stdio until stdin ends, or over HTTP until it's interrupted."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fluid_build.assistants.settings import WorkspaceSettings
from fluid_build.copilot.mcp.transports import (
    bound_socket,
    http_app,
    is_loopback,
    run_on_http,
    run_on_stdio,
)
from fluid_build.errors import UsageError
from fluid_build.mcp.server import ForgeServer

TOKEN_VARIABLE = "FLUID_MCP_TOKEN"
_SHORTEST_TOKEN = 16
"""Characters: whoever shares the machine can try a short one out."""
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where a server listens, and the token that its clients send."""

    url: str
    token: str
    is_generated: bool


def serve_on_stdio(settings: WorkspaceSettings) -> None:
    """Serve on stdin and stdout until stdin ends. Raises KeyboardInterrupt on a signal."""
    server = ForgeServer(settings)
    _run(settings, server, lambda: run_on_stdio(server.as_server()))


def serve_on_http(
    settings: WorkspaceSettings, host: str, port: int, on_listening: Callable[[HttpAddress], None]
) -> None:
    """Serve at ``http://host:port/mcp`` until a signal, which raises KeyboardInterrupt.

    The token is that of the environment, or a new one. Raises UsageError for a host that other
    machines reach, a port that can't be had, or a token that is too short.
    """
    if not is_loopback(host):
        raise UsageError(
            f"Other machines can reach {host}.",
            hint="Use --host 127.0.0.1. To serve another machine, forward the port over SSH.",
        )
    token = os.environ.get(TOKEN_VARIABLE, "")
    if token and (len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise UsageError(
            f"{TOKEN_VARIABLE} isn't a token of at least {_SHORTEST_TOKEN} plain characters.",
            hint="Unset it, and a token is generated.",
        )
    expected = token or secrets.token_urlsafe(_TOKEN_BYTES)
    with bound_socket(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        url = f"http://{name}:{listener.getsockname()[1]}/mcp"
        on_listening(HttpAddress(url, expected, not token))

        server = ForgeServer(settings)

        async def serve() -> None:
            app = http_app(server.as_server(), token=expected, stateless=False)
            await run_on_http(app, listener)

        _run(settings, server, serve)


def _run(
    settings: WorkspaceSettings, server: ForgeServer, serve: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Run an event loop on a thread of its own, so that a signal reaches this one at once.

    The workspace becomes the working folder, so that paths in messages and files are relative.
    On stdio, the loop itself could only end with the next line of stdin.
    """
    errors: list[BaseException] = []

    def work() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            errors.append(error)

    os.chdir(settings.root)
    thread = threading.Thread(target=work, name="fluid-mcp-server", daemon=True)
    thread.start()
    try:
        thread.join()
    finally:
        server.close()
    if errors:
        raise errors[0]
