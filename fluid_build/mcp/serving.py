"""The server as a process: on stdio until stdin ends, or over HTTP until it's interrupted."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fluid_build.copilot.mcp.transports import (
    bound_socket,
    http_app,
    is_loopback,
    run_on_http,
    run_on_stdio,
)
from fluid_build.errors import UsageError
from fluid_build.mcp.server import ForgeServer
from fluid_build.mcp.tool import Desk
from fluid_build.mcp.workspace import Workspace
from fluid_build.sources.options import READ_ALL, ReadOptions

TOKEN_VARIABLE = "FLUID_MCP_TOKEN"
_SHORTEST_TOKEN = 16
"""Characters: whoever shares the machine can try a short one out."""
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where a server listens, and the token that its clients bear."""

    url: str
    token: str
    is_generated: bool


def open_desk(
    root: Path,
    named_sources: Mapping[str, str],
    read: ReadOptions = READ_ALL,
    *,
    allow_write: bool,
    share_values: bool,
) -> Desk:
    """Return the desk of a workspace, which becomes the working folder of the process.

    So paths in messages and files are relative to it. ``read`` says what of a source is read, as
    far as its kind takes that. Raises UsageError for a folder that isn't one
    and what ``locate`` raises for a named source.
    """
    workspace = Workspace(root, named_sources, read)
    os.chdir(workspace.root)
    return Desk(workspace, allow_write=allow_write, share_values=share_values)


def serve_on_stdio(desk: Desk) -> None:
    """Serve on stdin and stdout until stdin ends. Raises KeyboardInterrupt on a signal."""
    _run(desk, lambda: run_on_stdio(ForgeServer(desk).as_server()))


def serve_on_http(
    desk: Desk, host: str, port: int, on_listening: Callable[[HttpAddress], None]
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

        async def serve() -> None:
            app = http_app(ForgeServer(desk).as_server(), token=expected, stateless=False)
            await run_on_http(app, listener)

        _run(desk, serve)


def _run(desk: Desk, serve: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run an event loop on a thread of its own, so that a signal reaches this one at once.

    On stdio, the loop itself could only end with the next line of stdin.
    """
    errors: list[BaseException] = []

    def work() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            errors.append(error)

    thread = threading.Thread(target=work, name="fluid-mcp-server", daemon=True)
    thread.start()
    try:
        thread.join()
    finally:
        desk.sources.close()
    if errors:
        raise errors[0]
