"""The samples of Authoring Forge Tools, as they are written there."""

# ruff: noqa: N806, UP006, UP035, UP045 - the samples are kept as they are

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Optional

import pytest
from pydantic import BaseModel, Field

from fluid_build.cli.forge_copilot_agent_loop import (
    _register,
    dispatch_tool_call,
    get_tool_definitions,
)
from fluid_build.cli.forge_tool import (
    FORGE_TOOL_REGISTRY,
    dispatch_forge_tool,
    forge_tool,
)


class FetchOrdersArgs(BaseModel):
    since: str = Field(description="ISO-8601 lower bound, e.g. 2024-01-01")
    limit: int = Field(default=100, ge=1, le=1000)


class EchoArgs(BaseModel):
    text: str


class ReadFileArgs(BaseModel):
    relative_path: str


class ReadSampleSchemaArgs(BaseModel):
    path: str = Field(description="Absolute or relative path to the sample file.")
    max_rows: int = Field(
        default=1000, ge=1, le=100_000, description="Cap on rows read for inference."
    )


class ProposeContractArgs(BaseModel):
    context: Dict[str, Any] = Field(
        description="User context with project_goal, data_sources, use_case, etc."
    )
    template: str = Field(default="starter")
    provider: str = Field(default="local")

    model_config = {"extra": "allow"}


def test_a_tool_in_twenty_lines(tmp_path: Path) -> None:
    """The quick start: one declaration, and the tool can be called."""

    def _fetch_impl(root: Any, since: str, limit: int) -> Any:
        return {"root": str(root), "since": since, "limit": limit}

    @forge_tool(
        name="fetch_orders",
        description="Page through the orders table since a given date.",
        args_schema=FetchOrdersArgs,
        workspace_root_aware=True,
    )
    def fetch_orders(args: FetchOrdersArgs, *, workspace_root: Optional[Path] = None) -> Any:
        return _fetch_impl(workspace_root, args.since, args.limit)

    rows = dispatch_tool_call("fetch_orders", {"since": "2024-01-01"}, workspace_root=tmp_path)
    assert rows == {"root": str(tmp_path.resolve()), "since": "2024-01-01", "limit": 100}


def test_echo() -> None:
    """The function is given the validated model."""

    @forge_tool(name="echo", description="...", args_schema=EchoArgs)
    def echo(args: EchoArgs) -> Any:
        return {"echoed": args.text}

    assert dispatch_forge_tool("echo", {"text": "hi"}).value == {"echoed": "hi"}
    assert echo(EchoArgs(text="hi")) == {"echoed": "hi"}


def test_read_file(tmp_path: Path) -> None:
    """A tool that asks for the workspace is given its root."""
    (tmp_path / "a.txt").write_text("text")

    @forge_tool(
        name="read_file",
        description="...",
        args_schema=ReadFileArgs,
        workspace_root_aware=True,
    )
    def read_file(args: ReadFileArgs, *, workspace_root: Path) -> Any:
        confined = workspace_root / args.relative_path
        confined.resolve().relative_to(workspace_root.resolve())  # confinement check
        return {"content": confined.read_text()}

    call = {"relative_path": "a.txt"}
    assert dispatch_tool_call("read_file", call, tmp_path) == {"content": "text"}
    escape = {"relative_path": "../secret"}
    assert dispatch_tool_call("read_file", escape, tmp_path)["error"] == "ValueError"


def test_read_sample_schema(tmp_path: Path) -> None:
    """The pattern of confinement gives its typed errors through to the model."""
    _ALLOWED_SAMPLE_SUFFIXES = {".csv"}
    _MAX_SAMPLE_FILE_SIZE_BYTES = 10
    _do_the_actual_work = str

    @forge_tool(
        name="read_sample_schema",
        description="Infer the schema of a single data file.",
        args_schema=ReadSampleSchemaArgs,
        workspace_root_aware=True,
    )
    def _dispatch_read_sample_schema(args: Any, *, workspace_root: Any) -> Any:
        effective_root = (workspace_root or Path.cwd()).resolve()
        raw = Path(args.path)
        resolved = (raw if raw.is_absolute() else effective_root / raw).resolve()
        try:
            resolved.relative_to(effective_root)
        except ValueError:
            return {
                "error": "path_outside_workspace",
                "message": "Path is outside the workspace root.",
            }
        if resolved.suffix.lower() not in _ALLOWED_SAMPLE_SUFFIXES:
            return {"error": "unsupported_file_type", "message": "..."}
        size = resolved.stat().st_size
        if size > _MAX_SAMPLE_FILE_SIZE_BYTES:
            return {"error": "file_too_large", "message": "..."}
        return _do_the_actual_work(resolved)

    (tmp_path / "big.csv").write_text("x" * 11)
    (tmp_path / "a.csv").write_text("x")

    def call(path: str) -> Any:
        return dispatch_tool_call("read_sample_schema", {"path": path}, workspace_root=tmp_path)

    assert call("../x.csv")["error"] == "path_outside_workspace"
    assert call("a.exe")["error"] == "unsupported_file_type"
    assert call("big.csv")["error"] == "file_too_large"
    assert call("a.csv") == str(tmp_path.resolve() / "a.csv")


def test_free_form_fields() -> None:
    """A free-form dictionary may hold anything; other arguments may not."""

    @forge_tool(name="propose_contract", description="...", args_schema=ProposeContractArgs)
    def propose(args: ProposeContractArgs) -> Any:
        return args.context

    context = {"project_goal": "x", "nested": {"anything": [1]}}
    assert dispatch_forge_tool("propose_contract", {"context": context}).value == context
    extra = dispatch_forge_tool("propose_contract", {"context": {}, "sneaked": 1})
    assert extra.error_type == "ToolValidationError"
    assert propose.input_schema["additionalProperties"] is False
    assert propose.input_schema["properties"]["context"]["additionalProperties"] is True


def test_boom() -> None:
    """What a tool raises never reaches the model."""

    @forge_tool(name="boom", description="...", args_schema=EchoArgs)
    def boom(args: Any) -> Any:
        raise RuntimeError("internal-detail-do-not-leak")

    assert dispatch_tool_call("boom", {"text": ""}) == {
        "error": "RuntimeError",
        "message": "Tool 'boom' failed — see server logs",
    }


def test_fetch_orders_dispatches_and_returns_value() -> None:
    """The documented test of the happy path."""

    @forge_tool(name="fetch_orders", description="...", args_schema=FetchOrdersArgs)
    def impl(args: Any) -> Any:
        return {"rows": []}

    result = dispatch_forge_tool("fetch_orders", {"since": "2024-01-01", "limit": 50})
    assert result.ok
    assert result.value == {"rows": []}


def test_fetch_orders_validates_args() -> None:
    """The documented test of validation."""

    @forge_tool(name="fetch_orders", description="...", args_schema=FetchOrdersArgs)
    def impl(args: Any) -> Any:
        return {"rows": []}

    result = dispatch_forge_tool("fetch_orders", {"limit": 50})
    assert not result.ok
    assert result.error_type == "ToolValidationError"


def test_the_legacy_pattern() -> None:
    """Code written for the former helper works as it is, and comes first on a collision."""

    def _dispatch_my_tool(*, path: str, **_kw: Any) -> Any:
        return {"path": path, "root": "workspace_root" in _kw}

    _register(
        name="my_tool",
        description="...",
        input_schema={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "..."},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
        impl=_dispatch_my_tool,
    )

    @forge_tool(name="my_tool", description="the other", args_schema=EchoArgs)
    def other(args: Any) -> Any:
        return "other"

    assert dispatch_tool_call("my_tool", {"path": "x"}) == {"path": "x", "root": True}
    for bad in ({}, {"path": 1}, {"path": "x", "y": 1}, {"path": "x", "workspace_root": "/"}, None):
        assert dispatch_tool_call("my_tool", bad)["error"] == "ToolValidationError"  # type: ignore[arg-type]
    (definition,) = get_tool_definitions()
    assert definition["description"] == "..."
    assert dispatch_forge_tool("my_tool", {"text": "x"}).value == "other"


@pytest.fixture
def _reset_registry():  # type: ignore[no-untyped-def]
    saved = dict(FORGE_TOOL_REGISTRY)
    FORGE_TOOL_REGISTRY.clear()
    yield
    FORGE_TOOL_REGISTRY.clear()
    FORGE_TOOL_REGISTRY.update(saved)


@pytest.mark.usefixtures("_reset_registry")
def test_the_documented_fixture() -> None:
    """The registry is a dictionary that can be copied, cleared and filled again."""
    assert FORGE_TOOL_REGISTRY == {}
