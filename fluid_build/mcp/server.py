"""The server of the MCP SDK: tools and resources over one desk, whoever calls them."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import mcp_types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

from fluid_build import __version__
from fluid_build.copilot.llm.outgoing import without_secrets
from fluid_build.copilot.tools.refusals import pydantic_faults
from fluid_build.errors import FaultyFileError, FluidError, UsageError
from fluid_build.mcp.jobs import run_job
from fluid_build.mcp.resources import FILES, list_documents, read_document, uri_template
from fluid_build.mcp.results import UNTRUSTED, ToolResult
from fluid_build.mcp.tool import Desk, ServedTool
from fluid_build.mcp.tools import TOOLS
from fluid_build.mcp.workspace import unknown_tool
from fluid_build.secrets import redact
from fluid_build.sources.engine import DUCKDB_ERRORS, reason
from fluid_build.text import clip, listed

LOG = logging.getLogger(__name__)

NAME = "fluid-forge"
_MOST_CALLS = 8
"""Calls at a time, each with a thread: more would only wait for the same cores."""
_PAGE = 100
"""Resources in one answer."""
_MOST_BYTES = 400_000
"""Of an answer, in JSON: its parts are bounded, so only many long names can come to that."""
_MOST_PROBLEMS = 20

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


class ForgeServer:
    """The handlers of the protocol, for all clients at once."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tools = {tool.name: tool for tool in TOOLS}
        self._listed = [_describe(tool, desk.allow_write) for tool in TOOLS]
        self._slots = anyio.Semaphore(_MOST_CALLS)

    def as_server(self) -> Server[object]:
        """Return a server of the SDK."""
        return Server(
            NAME,
            title="Fluid Forge",
            version=__version__,
            instructions=_instructions(self._desk),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_resource_templates,
            on_read_resource=self.read_resource,
        )

    async def list_tools(
        self,
        _context: ServerRequestContext[object],
        _params: mcp_types.PaginatedRequestParams | None,
    ) -> mcp_types.ListToolsResult:
        """List the tools."""
        return mcp_types.ListToolsResult(tools=self._listed)

    async def call_tool(
        self, context: ServerRequestContext[object], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        """Call a tool: what goes wrong is an answer too, and never ends the server."""
        try:
            tool = self._tools.get(params.name)
            if tool is None:
                raise unknown_tool(clip(params.name, 100), [*self._tools])
            arguments = _checked_arguments(tool, params.arguments or {})
            async with self._slots:
                result = await run_job(
                    lambda job: tool.run(self._desk, arguments, job), _progress_teller(context)
                )
            return self._answer(tool, result)
        except Exception as error:  # noqa: BLE001  one broken call doesn't end the server
            return self._failure(error)

    async def list_resources(
        self,
        _context: ServerRequestContext[object],
        params: mcp_types.PaginatedRequestParams | None,
    ) -> mcp_types.ListResourcesResult:
        """List the documents of forged folders, page by page."""
        documents = await anyio.to_thread.run_sync(list_documents, self._desk)
        cursor = params.cursor if params is not None else None
        start = int(cursor) if cursor and cursor.isdecimal() and len(cursor) < 10 else 0
        page = documents[start : start + _PAGE]
        is_last = start + _PAGE >= len(documents)
        return mcp_types.ListResourcesResult(
            resources=[
                mcp_types.Resource(
                    uri=document.uri,
                    name=f"{document.folder}/{document.file}",
                    title=f"{FILES[document.file].title} of {document.folder}",
                    description=FILES[document.file].description,
                    mime_type=FILES[document.file].mime_type,
                    size=document.size,
                )
                for document in page
            ],
            next_cursor=None if is_last else str(start + _PAGE),
        )

    async def list_resource_templates(
        self,
        _context: ServerRequestContext[object],
        _params: mcp_types.PaginatedRequestParams | None,
    ) -> mcp_types.ListResourceTemplatesResult:
        """List what the URIs of documents look like."""
        templates = [
            mcp_types.ResourceTemplate(
                uri_template=uri_template(name),
                name=name,
                title=file.title,
                description=file.description,
                mime_type=file.mime_type,
            )
            for name, file in FILES.items()
        ]
        return mcp_types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, _context: ServerRequestContext[object], params: mcp_types.ReadResourceRequestParams
    ) -> mcp_types.ReadResourceResult:
        """Read a document."""
        try:
            text, mime_type = await anyio.to_thread.run_sync(
                read_document, self._desk, str(params.uri)
            )
        except Exception as error:  # noqa: BLE001  one broken call doesn't end the server
            message = self._explain(error)
            raise MCPError(code=mcp_types.INVALID_PARAMS, message=message) from None
        contents = mcp_types.TextResourceContents(
            uri=str(params.uri), mime_type=mime_type, text=text
        )
        return mcp_types.ReadResourceResult(contents=[contents])

    def _answer(self, tool: ServedTool[Any, Any], result: ToolResult) -> mcp_types.CallToolResult:
        secrets = self._desk.workspace.secrets
        document = without_secrets(from_json(to_json(result)), secrets)
        if len(to_json(document)) > _MOST_BYTES:
            raise UsageError(
                "The answer is too long.", hint="Ask for fewer tables or columns at a time."
            )
        checked = tool.result.model_validate(document)
        return mcp_types.CallToolResult(
            content=[mcp_types.TextContent(text=f"{tool.readable(checked)}\n\n({UNTRUSTED})")],
            structured_content=document,
        )

    def _failure(self, error: Exception) -> mcp_types.CallToolResult:
        content = mcp_types.TextContent(text=self._explain(error))
        return mcp_types.CallToolResult(content=[content], is_error=True)

    def _explain(self, error: Exception) -> str:
        """Return what went wrong and what to do, without secrets and folders from outside."""
        if isinstance(error, FaultyFileError):
            problems = [str(problem) for problem in error.problems[:_MOST_PROBLEMS]]
            message = "\n".join((f"{error.file} isn't valid:", *problems))
            return self._clean(message)
        if isinstance(error, FluidError):
            parts = (error.message, error.hint or "", error.command or "")
            return self._clean("\n".join(part for part in parts if part))
        if isinstance(error, DUCKDB_ERRORS):
            return self._clean(f"A query failed: {reason(error)}")
        if isinstance(error, OSError):
            return self._clean(f"A file can't be used: {error.strerror or type(error).__name__}.")
        if isinstance(error, MemoryError):
            return "The machine ran out of memory. Read fewer tables at a time."
        detail = "".join(traceback.format_exception(error))
        LOG.error("%s", redact(detail, self._desk.workspace.secrets))
        return (
            f"A bug in Fluid Forge stopped the call ({type(error).__name__}). The server goes on;"
            " its log has the details."
        )

    def _clean(self, message: str) -> str:
        return clip(self._desk.workspace.without_outside(redact(message)), 4_000)


def _checked_arguments(tool: ServedTool[Any, Any], arguments: dict[str, Any]) -> Any:
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        faults = [clip(fault, 300) for fault in pydantic_faults(error)][:_MOST_PROBLEMS]
        raise UsageError(
            f"The arguments of {tool.name} aren't valid: {'; '.join(faults)}",
            hint="Look at the tool's schema.",
        ) from None


def _progress_teller(context: ServerRequestContext[object]) -> Callable[[float, str], Any]:
    async def tell(number: float, message: str) -> None:
        await context.session.report_progress(number, message=clip(message, 300))

    return tell


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


def _instructions(desk: Desk) -> str:
    named = listed(desk.workspace.named_sources)
    rules = [
        "Paths are relative to the workspace, and nothing outside of it can be read.",
        f"The user also named these sources: {named}." if named else "",
        "The server may write decisions and forged folders."
        if desk.allow_write
        else "The server is read-only: forge and propose_decision say what they would write.",
        "Values of columns that aren't personal are shared."
        if desk.share_values
        else "No value of a row is shared: answers hold names and figures.",
    ]
    return _INSTRUCTIONS.format(untrusted=UNTRUSTED, rules=" ".join(filter(None, rules)))
