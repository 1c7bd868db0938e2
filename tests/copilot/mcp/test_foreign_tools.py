"""A stranger's definitions and results, as a server that breaks the protocol could send them."""

from __future__ import annotations

from typing import Any

import mcp_types
import pytest

from fluid_build.copilot.mcp.errors import McpResultTooLargeError, McpToolError
from fluid_build.copilot.mcp.foreign_tools import ToolChoice, adopt_tools, read_result


async def never(name: str, arguments: dict[str, object]) -> None:
    raise AssertionError


def refusal(schema: dict[str, Any]) -> str | None:
    tool = mcp_types.Tool(name="t", input_schema=schema)
    return adopt_tools([tool], ToolChoice(), never).refused.get("t")


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": ["object", "null"]}])
def test_arguments_must_be_an_object(schema: dict[str, Any]) -> None:
    assert refusal(schema) == "its schema isn't that of an object"


def test_a_schema_of_any_depth_is_refused_and_breaks_nothing() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(100_000):
        schema = {"type": "object", "properties": {"a": schema}}
    assert refusal(schema) == "its schema is nested more than 32 levels deep"
    while "properties" in schema:  # freed step by step: the interpreter would recurse
        schema = schema.pop("properties")["a"]


def result(text: str, **facts: Any) -> mcp_types.CallToolResult:
    return mcp_types.CallToolResult(content=[mcp_types.TextContent(text=text)], **facts)


def test_a_result_over_the_limit_is_refused_by_its_size_as_json() -> None:
    assert read_result(result("xx"), 4) == "xx"
    with pytest.raises(McpResultTooLargeError, match="5 bytes, and 4 are allowed"):
        read_result(result("xxx"), 4)


def test_a_failed_result_is_an_error_with_a_bounded_text() -> None:
    with pytest.raises(McpToolError) as caught:
        read_result(result("x" * 10_000, is_error=True), 10)
    assert len(str(caught.value)) < 3_000


def test_a_failed_results_text_has_no_secrets_of_the_connection() -> None:
    failed = mcp_types.CallToolResult(
        content=[mcp_types.TextContent(text="bad token canary-1")], is_error=True
    )
    with pytest.raises(McpToolError, match=r"bad token \*\*\*"):
        read_result(failed, 100, ["canary-1"])
