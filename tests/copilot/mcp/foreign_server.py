"""A program that isn't ours: an MCP server with odd tools, on the SDK alone."""

import asyncio
import os
import sys
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

OBJECT: dict[str, Any] = {"type": "object"}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


TOOLS = [
    types.Tool(name="files.read", description="Read.\x1b[31m red", input_schema=NUMBER),
    types.Tool(
        name="structured",
        description="d" * 100_000,
        input_schema=OBJECT,
        annotations=types.ToolAnnotations(read_only_hint=True),
    ),
    types.Tool(name="parts", input_schema=OBJECT),
    types.Tool(name="fail", input_schema=OBJECT),
    types.Tool(name="refuse", input_schema=OBJECT),
    types.Tool(name="huge", input_schema=OBJECT),
    types.Tool(name="slow", input_schema=OBJECT),
    types.Tool(name="environment", input_schema=OBJECT),
    types.Tool(name="die", input_schema=OBJECT),
    types.Tool(name="files_read", input_schema=OBJECT),
    types.Tool(name="n" * 70, input_schema=OBJECT),
    types.Tool(name="not a name; rm -rf", input_schema=OBJECT),
    types.Tool(name="deep", input_schema=nested(60)),
    types.Tool(name="invalid", input_schema={"type": "object", "properties": {"a": {"type": 7}}}),
    types.Tool(name="wide", input_schema={"type": "object", "description": "x" * 70_000}),
    types.Tool(
        name="remote", input_schema={"type": "object", "$ref": "http://169.254.169.254/schema"}
    ),
]


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    """Two pages."""
    if params is None or params.cursor is None:
        return types.ListToolsResult(tools=TOOLS[:5], next_cursor="5")
    return types.ListToolsResult(tools=TOOLS[5:])


def text(content: str, **result: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=content)], **result)


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    match params.name:
        case "files.read":
            return text(f"read {(params.arguments or {})['n']}")
        case "structured":
            return text("{}", structured_content={"rows": [1, 2]})
        case "parts":
            image = types.ImageContent(data="aGVsbG8=", mime_type="image/png")
            return types.CallToolResult(content=[types.TextContent(text="see"), image])
        case "fail":
            return text("canary: /etc/passwd", is_error=True)
        case "refuse":
            raise ValueError("canary")
        case "huge":
            return text("x" * 1_000_000)
        case "slow":
            await asyncio.sleep(60)
        case "environment":
            return text("", structured_content=dict(os.environ))
        case "die":
            os._exit(1)
    return text("nothing")


async def main() -> None:
    server = Server("foreign", on_list_tools=list_tools, on_call_tool=call_tool)
    print("started with sk-canary-12345678", file=sys.stderr, flush=True)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
