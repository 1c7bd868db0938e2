"""An agent behind HTTP for a user interface: one ASGI application, which needs no framework."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import aclosing
from typing import Any, TypeAlias, TypeVar

from fluid_build.copilot.agents.agent.agent import Agent
from fluid_build.copilot.agents.agui.requests import read_input
from fluid_build.copilot.agents.agui.running import agui_events
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.untrusted_json import read_json
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject

DepsT = TypeVar("DepsT")
OutputT = TypeVar("OutputT")

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY_BYTES = 20_000_000
"""Of a request: a conversation with some images. A client sends all of it each time."""


def agui_app(
    agent: Agent[DepsT, OutputT],
    *,
    store: Store,
    deps_of: Callable[[Scope], DepsT] | None = None,
) -> AsgiApp:
    """Return an ASGI application that runs ``agent`` for each POST, and streams AG-UI's events.

    Mount it where your framework has checked who asks: it knows no users, and whoever knows the id
    of a thread goes on with it. ``deps_of`` gives a run its dependencies from the request's scope.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise UsageError(
                "The application answers HTTP alone.", hint="Mount it under a framework's own."
            )
        if scope["method"] != "POST":
            await _answer(send, 405, {"message": "Send a RunAgentInput as POST."})
            return
        try:
            request = await _read(receive)
            read_input(request)
        except UsageError as error:
            await _answer(send, 400, {"message": error.message})
            return
        deps = None if deps_of is None else deps_of(scope)
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with aclosing(agui_events(agent, request, store=store, deps=deps)) as events:
            async for event in events:
                body = f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    return app


async def _read(receive: Receive) -> JsonObject:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise UsageError("The input is too large.", hint="Send fewer or smaller images.")
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            break
    try:
        document = read_json(bytes(body))
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise UsageError("The input isn't a JSON object.", hint="Send a RunAgentInput.")
    return document


async def _answer(send: Send, status: int, document: dict[str, str]) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(document).encode()})
