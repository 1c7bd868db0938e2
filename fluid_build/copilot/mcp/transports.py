"""A server of the MCP SDK on stdio, or over streamable HTTP behind a token."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import sys
from collections.abc import Collection
from ipaddress import ip_address

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from fluid_build.errors import UsageError

_LOCAL_HOSTS = ["127.0.0.1:*", "localhost:*", "[::1]:*"]


async def run_on_stdio(server: Server[object]) -> None:
    """Serve on stdin and stdout until stdin ends.

    Meanwhile everything else that is written to stdout goes to stderr.
    """
    own_stdout = sys.stdout
    async with stdio_server() as (reader, writer):
        try:
            with contextlib.redirect_stdout(sys.stderr):
                await server.run(reader, writer, server.create_initialization_options())
        finally:
            # While the SDK still diverts it: what was buffered must not follow the protocol.
            own_stdout.flush()


def http_app(
    server: Server[object],
    *,
    allowed_hosts: Collection[str] = (),
    token: str | None = None,
    stateless: bool,
) -> Starlette:
    """Return an ASGI application that serves at ``/mcp``.

    Requests must name this machine's loopback address, or one of ``allowed_hosts``, as their host
    and, if they come from a page, as their origin: so no web page can reach the server by rebinding
    its own name. With ``token`` they must bear it as well. A ``stateless`` application answers each
    request with one JSON document; the other one keeps sessions and streams, which progress
    and cancellation need.
    """
    if token is not None and not token.strip():
        raise UsageError(
            "The token that protects the server is empty.",
            hint="Check the variable it comes from, or leave token out to serve this machine only.",
        )
    hosts = [*_LOCAL_HOSTS, *allowed_hosts]
    app = server.streamable_http_app(
        stateless_http=stateless,
        json_response=stateless,
        transport_security=TransportSecuritySettings(
            allowed_hosts=hosts,
            allowed_origins=[
                f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts
            ],
        ),
    )
    if token is not None:
        app.add_middleware(_BearerToken, token=token)
    return app


async def run_on_http(app: ASGIApp, listener: socket.socket) -> None:
    """Serve an application on a bound socket until cancelled or interrupted."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        # Cancelled itself, it would leave its socket open.
        server.should_exit = True
        await serving
        raise


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; UsageError where it can't be had.

    Port 0 is any free one.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise UsageError(
            f"The server can't listen on {host}, port {port}: {reason}.",
            hint="Choose another port. Port 0 takes any free one.",
        ) from None
    return listener


def require_loopback(host: str, hint: str) -> None:
    """Raise UsageError with a hint for a host that other machines reach."""
    if host != "localhost" and not _is_loopback(host):
        raise UsageError(f"Other machines can reach {host}.", hint=hint)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


class _BearerToken:
    """An application behind a token: other requests get 401."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            sent = Headers(scope=scope).get("authorization", "").encode()
            if not secrets.compare_digest(sent, self._expected):
                response = Response("Unauthorized", 401, {"www-authenticate": "Bearer"})
                return await response(scope, receive, send)
        return await self._app(scope, receive, send)
