"""Tools as an MCP server, over stdio or streamable HTTP.

``tool_server`` is what any of our servers is made of; the others serve a toolbox.

A client gets what a model gets: a tool's value without secrets, or the class of its error and a
message without detail (S-013). Paths are confined to ``workspace_root``, and a tool that needs a
person's approval is neither listed nor called unless it's in ``approved``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack

import mcp_types
from mcp.server import Server, ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic_core import from_json, to_json
from starlette.applications import Starlette

from fluid_build import __version__
from fluid_build.copilot.blocking import run_blocking, run_on_thread
from fluid_build.copilot.llm.outgoing import outgoing_secrets, without_secrets
from fluid_build.copilot.mcp.transports import (
    bound_socket,
    http_app,
    require_loopback,
    run_on_http,
    run_on_stdio,
)
from fluid_build.copilot.tools.calls import ForgeToolResult
from fluid_build.copilot.tools.definition import Tool
from fluid_build.copilot.tools.registry import registered_tools
from fluid_build.copilot.tools.toolbox import Toolbox, Tools
from fluid_build.errors import UsageError
from fluid_build.text import did_you_mean

DEFAULT_PORT = 8000
_MAX_PARALLEL_CALLS = 16
"""Calls at a time: a blocking tool takes a thread each, whatever a client sends."""

CallTool: TypeAlias = Callable[
    [ServerRequestContext[object], mcp_types.CallToolRequestParams],
    Awaitable[mcp_types.CallToolResult],
]


def tool_server(
    name: str,
    tools: Sequence[mcp_types.Tool],
    call: CallTool,
    *,
    most_calls: int,
    title: str | None = None,
    instructions: str | None = None,
) -> Server[object]:
    """Return a server of the MCP SDK with these tools, of which so many are called at a time."""
    listed, slots = mcp_types.ListToolsResult(tools=[*tools]), asyncio.Semaphore(most_calls)

    async def list_tools(
        _context: ServerRequestContext[object], _params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        return listed

    async def call_tool(
        context: ServerRequestContext[object], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        async with slots:
            return await call(context, params)

    return Server(
        name,
        title=title,
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class ServerOptions(TypedDict, total=False):
    """The optional keyword arguments of ``make_mcp_server``."""

    name: str
    deps: object
    approved: Collection[str]


class HttpOptions(ServerOptions, total=False):
    """The optional keyword arguments of ``make_http_app``."""

    allowed_hosts: Collection[str]
    token: str | None


def make_mcp_server(
    tools: Tools | None = None,
    *,
    workspace_root: Path | str,
    name: str = "fluid-forge",
    deps: object = None,
    approved: Collection[str] = (),
) -> Server[object]:
    """Return a server of the MCP SDK with ``tools``: a toolbox, tools, functions or names.

    None means every registered tool. ``deps`` goes to the tools that ask for it; ``approved`` are
    the tools that need approval and have it. Raises ``TypeError`` for ``deps`` that a tool can't
    use, ``UsageError`` for an approved tool that isn't there or a folder that isn't one.
    """
    box = _served_tools(tools, approved)
    box.check_deps(deps)
    root = Path(workspace_root).resolve()
    if not root.is_dir():
        raise UsageError(f"{root} isn't a folder.", hint="Pass the folder that tools may read.")

    async def call(
        context: ServerRequestContext[object], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        result = await box.dispatch_async(
            params.name, params.arguments or {}, root, deps=deps, agent_id=name
        )
        return _to_mcp(result, context.protocol_version)

    listed = [_describe(tool) for tool in box.values()]
    return tool_server(name, listed, call, most_calls=_MAX_PARALLEL_CALLS)


async def serve_stdio(
    tools: Tools | None = None, *, workspace_root: Path | str, **options: Unpack[ServerOptions]
) -> None:
    """Serve ``tools`` on stdin and stdout until stdin ends; the options are ``make_mcp_server``'s.

    Meanwhile everything else that is written to stdout goes to stderr.
    """
    await run_on_stdio(make_mcp_server(tools, workspace_root=workspace_root, **options))


def serve_stdio_sync(
    tools: Tools | None = None, *, workspace_root: Path | str, **options: Unpack[ServerOptions]
) -> None:
    """Serve ``tools`` on stdin and stdout, as ``serve_stdio``, and wait; a signal ends it."""
    serving = serve_stdio(tools, workspace_root=workspace_root, **options)
    # An event loop here could only end with the next line of stdin, whatever the signal.
    run_on_thread(lambda: run_blocking(serving))


def make_http_app(
    tools: Tools | None = None,
    *,
    workspace_root: Path | str,
    allowed_hosts: Collection[str] = (),
    token: str | None = None,
    **options: Unpack[ServerOptions],
) -> Starlette:
    """Return an ASGI application that serves ``tools`` at ``/mcp``.

    Requests must name this machine's loopback address, or one of ``allowed_hosts`` (``host``,
    ``host:port`` or ``host:*``), as their host and, if they come from a page, as their origin: so
    no web page can reach the server by rebinding its own name. With ``token`` they must bear it as
    well. The other options are ``make_mcp_server``'s.
    """
    server = make_mcp_server(tools, workspace_root=workspace_root, **options)
    return http_app(server, allowed_hosts=allowed_hosts, token=token, stateless=True)


async def serve_http(
    tools: Tools | None = None,
    *,
    workspace_root: Path | str,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    **options: Unpack[HttpOptions],
) -> None:
    """Serve ``tools`` at ``http://host:port/mcp`` until cancelled or interrupted.

    The options are ``make_http_app``'s. Raises ``UsageError`` for a host that other machines reach,
    unless there are ``allowed_hosts`` and a ``token``.
    """
    if not (options.get("allowed_hosts") and options.get("token")):
        require_loopback(host, "Pass token and allowed_hosts, or keep to 127.0.0.1.")
    app = make_http_app(tools, workspace_root=workspace_root, **options)
    await run_on_http(app, bound_socket(host, port))


def serve_http_sync(
    tools: Tools | None = None,
    *,
    workspace_root: Path | str,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    **options: Unpack[HttpOptions],
) -> None:
    """Serve ``tools`` over HTTP, as ``serve_http``, and wait until it is interrupted."""
    serving = serve_http(tools, workspace_root=workspace_root, host=host, port=port, **options)
    run_blocking(serving)


def _served_tools(tools: Tools | None, approved: Collection[str]) -> Toolbox:
    items = tools.values() if isinstance(tools, Mapping) else tools
    box = Toolbox(registered_tools() if items is None else items)
    for name in sorted(set(approved) - set(box)):
        raise UsageError(f"No tool is named {name!r}.{did_you_mean(name, box)}")
    return Toolbox(
        tool for tool in box.values() if not tool.requires_approval or tool.name in approved
    )


def _describe(tool: Tool) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=mcp_types.ToolAnnotations(read_only_hint=tool.read_only),
    )


def _to_mcp(result: ForgeToolResult, protocol_version: str) -> mcp_types.CallToolResult:
    answer = from_json(to_json(result.for_model()))
    value = without_secrets({"value": answer}, outgoing_secrets(None))["value"]
    # Protocols before 2026-07-28 allow nothing but an object.
    is_structured = isinstance(value, dict) or (
        not isinstance(value, str) and protocol_version in MODERN_PROTOCOL_VERSIONS
    )
    text = value if isinstance(value, str) else to_json(value).decode()
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(text=text)],
        structured_content=value if is_structured else None,
        is_error=not result.ok,
    )
