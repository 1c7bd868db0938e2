"""The tools of an MCP server as ours, and their results as JSON.

All of it was written by a stranger: names, descriptions and schemas are checked and bounded, and a
tool that doesn't pass is left out with a reason. The server's annotations (``readOnlyHint``) decide
nothing: the protocol calls them hints that aren't to be relied on.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import mcp_types
from pydantic_core import to_json

from fluid_build.copilot.mcp.errors import McpResultTooLargeError, McpToolError
from fluid_build.copilot.tools.argument_schemas import find_faults
from fluid_build.copilot.tools.definition import SchemaTool
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonValue
from fluid_build.secrets import redact, secrets_of_environment
from fluid_build.text import clip, did_you_mean

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes as a name: OpenAI's and Anthropic's rule, which is the narrowest."""

_MAX_DESCRIPTION_CHARS = 2_000
_MAX_SCHEMA_BYTES = 64 * 1024
"""Each tool is sent with every request; a longer one costs more than it explains."""
_MAX_SCHEMA_DEPTH = 32
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

CallServer = Callable[[str, dict[str, object]], Awaitable[JsonValue]]
"""A call of a server's tool by its own name."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The tools to take of a server, and what you know about them, by the server's own names.

    ``only`` None takes all. ``read_only`` tools may run in parallel, and each call of a
    ``requires_approval`` tool needs a person's approval. ``prefix`` goes before every name, so that
    two servers can have tools with the same name.
    """

    prefix: str = ""
    only: frozenset[str] | None = None
    read_only: frozenset[str] = frozenset()
    requires_approval: frozenset[str] = frozenset()

    def check_names(self, server_names: Sequence[str]) -> None:
        """Raise ``UsageError`` for a name that the server doesn't have."""
        chosen_names = (self.only or frozenset()) | self.read_only | self.requires_approval
        for name in sorted(chosen_names - set(server_names)):
            raise UsageError(
                f"The MCP server has no tool named {name!r}.{did_you_mean(name, server_names)}"
            )


@dataclass(slots=True)
class ForeignTools:
    """The tools that a server offers; ``refused`` says why some of them are left out."""

    tools: list[SchemaTool] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def adopt_tools(
    definitions: Sequence[mcp_types.Tool], choice: ToolChoice, call: CallServer
) -> ForeignTools:
    """Return the server's tools as ours, each of which calls the server."""
    choice.check_names([definition.name for definition in definitions])
    adopted = ForeignTools()
    names: set[str] = set()
    for definition in definitions:
        if choice.only is not None and definition.name not in choice.only:
            continue
        name = _local_name(choice.prefix, definition.name)
        reason = "another tool has its name" if name in names else _find_fault(name, definition)
        if reason is not None:
            adopted.refused[definition.name[:128]] = reason
            continue
        names.add(name)
        adopted.tools.append(_adopt(name, definition, choice, call))
    return adopted


def read_result(
    result: mcp_types.CallToolResult, max_bytes: int, secrets: Iterable[str] = ()
) -> JsonValue:
    """Return a result as JSON: its structured content, or else its text, or its parts.

    Raises ``McpToolError`` if the server's tool failed, its text without ``secrets``, and
    ``McpResultTooLargeError`` over the limit.
    """
    if result.is_error:
        text = " ".join(part.text for part in result.content if part.type == "text")
        safe_text = redact(text, (*secrets_of_environment(), *secrets))
        raise McpToolError(f"The server's tool failed: {clip(safe_text, 2_000)}")
    value = result.structured_content
    if value is None:
        parts = [_read_part(part) for part in result.content]
        is_text = all(isinstance(part, str) for part in parts)
        value = "\n".join(map(str, parts)) if is_text else parts
    size = len(to_json(value))
    if size > max_bytes:
        raise McpResultTooLargeError(f"The result has {size} bytes, and {max_bytes} are allowed.")
    return value  # type: ignore[no-any-return]  # the SDK has parsed it from JSON


def _adopt(
    name: str, definition: mcp_types.Tool, choice: ToolChoice, call: CallServer
) -> SchemaTool:
    async def call_server(arguments: dict[str, object]) -> JsonValue:
        return await call(definition.name, arguments)

    description = _CONTROL_CHARACTERS.sub(" ", definition.description or definition.title or "")
    return SchemaTool(
        call_server,
        name=name,
        description=clip(description.strip(), _MAX_DESCRIPTION_CHARS),
        input_schema=definition.input_schema,
        tags=["mcp"],
        read_only=definition.name in choice.read_only,
        requires_approval=definition.name in choice.requires_approval,
    )


def _local_name(prefix: str, name: str) -> str:
    # The protocol allows dots, which no provider does.
    return f"{prefix}_{name}".replace(".", "_") if prefix else name.replace(".", "_")


def _find_fault(name: str, definition: mcp_types.Tool) -> str | None:
    """Return why a tool can't be offered to a model, or None."""
    schema = definition.input_schema
    if not _TOOL_NAME.fullmatch(name):
        return "its name isn't 1 to 64 letters, digits, underscores and dashes, the prefix included"
    if schema.get("type") != "object":
        return "its schema isn't that of an object"
    if _depth(schema) > _MAX_SCHEMA_DEPTH:
        return f"its schema is nested more than {_MAX_SCHEMA_DEPTH} levels deep"
    if len(to_json(schema)) > _MAX_SCHEMA_BYTES:
        return f"its schema is over {_MAX_SCHEMA_BYTES} bytes"
    try:
        find_faults(schema, {})
    except ValueError:
        return "its schema isn't valid"
    return None


def _depth(value: object) -> int:
    """Return how deep a JSON value is nested, without recursion: it may be very deep."""
    deepest, pending = 0, [(value, 1)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        if isinstance(node, Mapping):
            pending += [(inner, depth + 1) for inner in node.values()]
        elif isinstance(node, list):
            pending += [(inner, depth + 1) for inner in node]
    return deepest


def _read_part(part: mcp_types.ContentBlock) -> JsonValue:
    """Return text as it is; for other parts, what there was: a tool's result holds no files."""
    if isinstance(part, mcp_types.TextContent):
        return part.text
    if isinstance(part, mcp_types.ImageContent | mcp_types.AudioContent):
        return {"type": part.type, "mime_type": part.mime_type, "omitted_base64": len(part.data)}
    if isinstance(part, mcp_types.ResourceLink):
        return {"type": part.type, "uri": str(part.uri), "name": part.name}
    resource = part.resource
    if isinstance(resource, mcp_types.TextResourceContents):
        return {"type": part.type, "uri": str(resource.uri), "text": resource.text}
    return {"type": part.type, "uri": str(resource.uri), "omitted_base64": len(resource.blob)}
