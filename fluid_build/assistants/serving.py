"""The tools of assistants and the documents of forged folders, served over MCP.

On stdio until stdin ends, or over HTTP until it's interrupted. What any server of tools has is in
``copilot.mcp.serving``; here are the desk, its documents, and what an assistant is told.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import threading
import traceback
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from fluid_build.assistants.jobs import Job
from fluid_build.assistants.results import UNTRUSTED, ToolResult
from fluid_build.assistants.settings import WorkspaceSettings
from fluid_build.assistants.tools import TOOLS, ServedTool, find_tool
from fluid_build.copilot.blocking import call_in_thread, run_on_thread
from fluid_build.copilot.mcp.serving import tool_server
from fluid_build.copilot.mcp.transports import (
    bound_socket,
    http_app,
    require_loopback,
    run_on_http,
    run_on_stdio,
)
from fluid_build.errors import FaultyFileError, FluidError, UsageError
from fluid_build.progress import Progress, stage_label
from fluid_build.secrets import redact
from fluid_build.text import clip, listed

if TYPE_CHECKING:
    from fluid_build.assistants.desk import Desk

LOG = logging.getLogger(__name__)

NAME = "fluid-forge"
TOKEN_VARIABLE = "FLUID_MCP_TOKEN"
_SHORTEST_TOKEN = 16
"""Characters: whoever shares the machine can try a short one out."""
_TOKEN_BYTES = 32
_MOST_CALLS = 8
"""Calls at a time, each with a thread: more would only wait for the same cores."""
_PAGE = 100
"""Resources in one answer."""
_MOST_FAULTS = 20

_INSTRUCTIONS = """\
Fluid Forge measures undocumented data: which keys and relationships hold, and what breaks them. \
It turns a source into a logical model, a data contract and a dbt project, with a proof that \
nothing is lost.

Start with list_sources and profile_source, and look at tables with describe_table. Check every \
key and relationship that you want to claim with check_key and check_relationship. \
propose_decision overrules a judgement, forge generates the model, verify proves it again.

Claim nothing that you haven't checked. {untrusted}

{rules}
"""


def serve_on_stdio(settings: WorkspaceSettings) -> None:
    """Serve on stdin and stdout until stdin ends. Raises KeyboardInterrupt on a signal."""
    served = ServedDesk(settings)
    served.run(lambda: asyncio.run(run_on_stdio(served.server())))


def serve_on_http(
    settings: WorkspaceSettings,
    host: str,
    port: int,
    on_listening: Callable[[str, str | None], None],
) -> None:
    """Serve at ``http://host:port/mcp`` until a signal, which raises KeyboardInterrupt.

    The token is that of the environment, or a new one, which ``on_listening`` gets after the
    address. Raises UsageError for a host that other
    machines reach, a port that can't be had, or a token that is too short.
    """
    require_loopback(
        host, "Use --host 127.0.0.1. To serve another machine, forward the port over SSH."
    )
    token = os.environ.get(TOKEN_VARIABLE, "")
    if token and (len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise UsageError(
            f"{TOKEN_VARIABLE} isn't a token of at least {_SHORTEST_TOKEN} plain characters.",
            hint="Unset it, and a token is generated.",
        )
    new_token = None if token else secrets.token_urlsafe(_TOKEN_BYTES)
    with bound_socket(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        on_listening(f"http://{name}:{listener.getsockname()[1]}/mcp", new_token)
        served = ServedDesk(settings)
        app = http_app(served.server(), token=new_token or token, stateless=False)
        served.run(lambda: asyncio.run(run_on_http(app, listener)))


class ServedDesk:
    """A desk whose tools are called and whose documents are read, by all clients at once."""

    def __init__(self, settings: WorkspaceSettings) -> None:
        self._settings = settings
        self._opening = threading.Lock()
        self._opened: Desk | None = None

    def server(self) -> Server[object]:
        """Return a server of the SDK."""
        server = tool_server(
            NAME,
            [_describe(tool, self._settings.allow_write) for tool in TOOLS],
            self.call_tool,
            most_calls=_MOST_CALLS,
            title="Fluid Forge",
            instructions=_instructions(self._settings),
        )
        one, page = mcp_types.ReadResourceRequestParams, mcp_types.PaginatedRequestParams
        server.add_request_handler("resources/list", page, self.list_resources)
        server.add_request_handler("resources/templates/list", page, self.list_templates)
        server.add_request_handler("resources/read", one, self.read_resource)
        return server

    def run(self, serve: Callable[[], None]) -> None:
        """Serve on a thread of its own, and close every source at the end.

        So a signal reaches this thread at once: on stdio, an event loop could only end with the
        next line of stdin. The workspace becomes the working folder, so that paths in messages and
        files are relative.
        """
        os.chdir(self._settings.root)
        try:
            run_on_thread(serve)
        finally:
            if self._opened is not None:
                self._opened.sources.close()

    @property
    def desk(self) -> Desk:
        """The desk, opened when it's needed first."""
        # An editor waits for the list of tools, which needs none of this.
        from fluid_build.assistants.desk import open_desk

        with self._opening:
            if self._opened is None:
                self._opened = open_desk(self._settings)
            return self._opened

    async def call_tool(
        self, context: ServerRequestContext[object], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        """Call a tool: what goes wrong is an answer too, and never ends the server."""
        try:
            tool = find_tool(clip(params.name, 100))
            arguments = _checked_arguments(tool, params.arguments or {})
            document = await run_job(
                lambda job: tool.answer(self.desk, arguments, job), _progress_sender(context)
            )
            text = tool.readable(tool.result.model_validate(document))
            return mcp_types.CallToolResult(
                content=[mcp_types.TextContent(text=f"{text}\n\n({UNTRUSTED})")],
                structured_content=document,
            )
        except Exception as error:  # noqa: BLE001  one broken call doesn't end the server
            content = mcp_types.TextContent(text=explain(error, self._settings))
            return mcp_types.CallToolResult(content=[content], is_error=True)

    async def list_resources(
        self,
        _context: ServerRequestContext[object],
        params: mcp_types.PaginatedRequestParams,
    ) -> mcp_types.ListResourcesResult:
        """List the documents of forged folders, page by page."""
        from fluid_build.assistants.resources import list_documents

        documents = await anyio.to_thread.run_sync(lambda: list_documents(self.desk))
        cursor = params.cursor
        start = int(cursor) if cursor and cursor.isdecimal() and len(cursor) < 10 else 0
        is_last = start + _PAGE >= len(documents)
        return mcp_types.ListResourcesResult(
            resources=[
                mcp_types.Resource(
                    uri=document.uri,
                    name=f"{document.folder}/{document.file.name}",
                    title=f"{document.file.title} of {document.folder}",
                    description=document.file.description,
                    mime_type=document.file.mime_type,
                    size=document.size,
                )
                for document in documents[start : start + _PAGE]
            ],
            next_cursor=None if is_last else str(start + _PAGE),
        )

    async def list_templates(
        self,
        _context: ServerRequestContext[object],
        _params: mcp_types.PaginatedRequestParams,
    ) -> mcp_types.ListResourceTemplatesResult:
        """List what the URIs of documents look like."""
        from fluid_build.assistants.resources import FILES, uri_template

        templates = [
            mcp_types.ResourceTemplate(
                uri_template=uri_template(file),
                name=file.name,
                title=file.title,
                description=file.description,
                mime_type=file.mime_type,
            )
            for file in FILES.values()
        ]
        return mcp_types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, _context: ServerRequestContext[object], params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult:
        """Read a document."""
        from fluid_build.assistants.resources import read_document

        uri = str(params.uri)
        try:
            text, mime_type = await anyio.to_thread.run_sync(lambda: read_document(self.desk, uri))
        except Exception as error:  # noqa: BLE001  one broken call doesn't end the server
            message = explain(error, self._settings)
            raise MCPError(code=mcp_types.INVALID_PARAMS, message=message) from None
        contents = mcp_types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
        return mcp_types.ReadResourceResult(contents=[contents])


def _checked_arguments(tool: ServedTool[Any, Any], arguments: dict[str, Any]) -> Any:
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {clip(fault['msg'], 300)}"
            for fault in error.errors(include_url=False, include_input=False)[:_MOST_FAULTS]
        ]
        raise UsageError(
            f"The arguments of {tool.name} aren't valid: {'; '.join(faults)}.",
            hint="Look at the tool's schema.",
        ) from None


def _progress_sender(
    context: ServerRequestContext[object],
) -> Callable[[float, str], Awaitable[None]]:
    async def send(number: float, message: str) -> None:
        await context.session.report_progress(number, message=clip(message, 300))

    return send


def _describe(tool: ServedTool[Any, Any], allow_write: bool) -> mcp_types.Tool:
    writes = tool.writes and allow_write
    return mcp_types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=_schema_of(tool.arguments),
        output_schema=_schema_of(tool.result),
        annotations=mcp_types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not writes,
            destructive_hint=writes and tool.replaces,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(
        mode="serialization" if issubclass(model, ToolResult) else "validation"
    )


def _instructions(settings: WorkspaceSettings) -> str:
    named = listed(settings.named_sources)
    rules = [
        "Paths are relative to the workspace, and nothing outside of it can be read.",
        f"The user also named these sources: {named}." if named else "",
        "The server may write decisions and forged folders."
        if settings.allow_write
        else "The server is read-only: forge and propose_decision say what they would write.",
        "Values of columns that aren't personal are shared."
        if settings.share_values
        else "No value of a row is shared: answers hold names and figures.",
    ]
    return _INSTRUCTIONS.format(untrusted=UNTRUSTED, rules=" ".join(filter(None, rules)))


# What a client is told of an error: what went wrong, and what to do about it.

_MOST_PROBLEMS = 20
_LONGEST_MESSAGE = 4_000


def explain(error: Exception, settings: WorkspaceSettings) -> str:
    """Return an error in words, without traceback, secrets and folders from outside.

    An unforeseen one goes to the log with its traceback.
    """
    message = _message(error)
    if message is None:
        detail = "".join(traceback.format_exception(error))
        LOG.error("%s", redact(detail, settings.secrets))
        message = (
            f"A bug in Fluid Forge stopped the call ({type(error).__name__}). The server goes on;"
            " its log has the details."
        )
    return clip(settings.without_outside(redact(message)), _LONGEST_MESSAGE)


def _message(error: Exception) -> str | None:
    # DuckDB is imported by whoever reads data first, not by the start of a server.
    from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason

    if isinstance(error, FaultyFileError):
        problems = [str(problem) for problem in error.problems[:_MOST_PROBLEMS]]
        return "\n".join((f"{error.file} isn't valid:", *problems))
    if isinstance(error, FluidError):
        parts = (error.message, error.hint or "", error.command or "")
        return "\n".join(part for part in parts if part)
    if isinstance(error, DUCKDB_ERRORS):
        return f"A query failed: {reason(error)}"
    if isinstance(error, OSError):
        return f"A file can't be used: {error.strerror or type(error).__name__}."
    if isinstance(error, MemoryError):
        return "The machine ran out of memory. Read fewer tables at a time."
    return None


# A tool's blocking work next to the server's event loop: reported, and stopped on demand.

T = TypeVar("T")
SendProgress = Callable[[float, str], Awaitable[None]]
"""Sends a client a number that grows, and what is being done."""

_EVERY_SECONDS = 0.2
"""Between two reports: often enough to look alive, seldom enough to cost nothing."""


async def run_job(work: Callable[[Job], T], send: SendProgress) -> T:
    """Run work on a thread of its own, and send how far it is.

    If the caller is cancelled, the work is stopped, and has ended before the cancellation goes on:
    nothing is left running.
    """
    job = Job()
    running = asyncio.ensure_future(call_in_thread(work, job))
    try:
        await _follow(job, running, send)
    finally:
        with anyio.CancelScope(shield=True):
            while not running.done():
                # Again and again: the next query may begin right after an interrupt.
                job.stop()
                await asyncio.wait([running], timeout=_EVERY_SECONDS)
            if not running.cancelled():
                running.exception()  # whoever was cancelled doesn't ask for it
    return running.result()


async def _follow(job: Job, running: asyncio.Future[T], send: SendProgress) -> None:
    number, reported = 0.0, job.latest
    while not running.done():
        await asyncio.wait([running], timeout=_EVERY_SECONDS)
        latest = job.latest
        if latest is not None and latest != reported:
            number, reported = number + 1, latest
            await send(number, describe_progress(latest))


def describe_progress(progress: Progress) -> str:
    """Return a report as a sentence: ``Measuring columns: orders (3 of 14)``."""
    detail = f": {progress.detail}" if progress.detail else ""
    place = min(progress.done + 1, progress.total)
    part = f", {progress.part:.0%} of it" if progress.part else ""
    return f"{stage_label(progress)}{detail} ({place} of {progress.total}{part})"
