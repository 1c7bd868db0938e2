"""Tools from plain functions: the arguments' model, and what is injected."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import pytest
from pydantic import BaseModel, Field

from fluid_build.copilot.errors import ToolValidationError
from fluid_build.copilot.tools.definition import ForgeTool
from fluid_build.copilot.tools.dispatch import dispatch_forge_tool, dispatch_tool_call
from fluid_build.copilot.tools.metrics import ToolObservabilityCollector
from fluid_build.copilot.tools.registry import (
    FORGE_TOOL_REGISTRY,
    TOOL_REGISTRY,
    as_tool,
    forge_tool,
)

if TYPE_CHECKING:
    from collections import OrderedDict as ForTypeCheckersOnly


class Column(BaseModel):
    name: str
    ascending: bool = True


class Database:
    """What a tool needs and no model may see."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows


class Args(BaseModel):
    limit: int = 2


def search(  # noqa: D417 - a parameter without a description
    query: str,
    columns: list[Column],
    limit: Annotated[int, Field(ge=1, le=9, description="At most nine.")] = 5,
    *,
    mode: Literal["fast", "exact"] = "fast",
) -> dict[str, Any]:
    """Search the catalogue.

    Args:
        query (str): Words, or
            a phrase: both are fine.
        columns: What to return.
        limit: Not this text.

    Returns:
        limit: nothing of this either.
    """
    return {"query": query, "columns": [c.name for c in columns], "limit": limit, "mode": mode}


# The arguments' model


def test_a_bare_decorator_makes_the_schema_from_the_signature() -> None:
    tool = forge_tool(search)
    properties: Any = tool.input_schema["properties"]
    assert tool.definition["description"] == "Search the catalogue."
    assert tool.input_schema["additionalProperties"] is False
    assert tool.input_schema["required"] == ["query", "columns"]
    assert {name: field.get("description") for name, field in properties.items()} == {
        "query": "Words, or a phrase: both are fine.",
        "columns": "What to return.",
        "limit": "At most nine.",
        "mode": None,
    }
    assert properties["limit"]["maximum"] == 9
    assert properties["mode"]["enum"] == ["fast", "exact"]
    assert {"search": tool} == FORGE_TOOL_REGISTRY


def test_a_tool_from_a_signature_gets_its_parameters_checked_and_converted() -> None:
    forge_tool(name="find", description="d")(search)
    call = {"query": "q", "columns": [{"name": "a"}], "limit": "3"}
    assert dispatch_tool_call("find", call) == {
        "query": "q",
        "columns": ["a"],
        "limit": 3,
        "mode": "fast",
    }


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"columns": []}, "/query: missing"),
        ({"query": "q", "columns": [], "limit": 10}, "/limit: less_than_equal"),
        ({"query": "q", "columns": [], "z": 1}, "/z: extra_forbidden"),
        ({"query": "q", "columns": [{"name": "a", "z": 1}]}, "/columns/0/z: extra_forbidden"),
    ],
)
def test_wrong_and_extra_arguments_are_refused_with_a_reason(arguments: Any, reason: str) -> None:
    forge_tool(search)
    result = dispatch_forge_tool("search", arguments)
    assert (result.error_type, result.reason) == ("ToolValidationError", reason)
    assert result.for_model() == {
        "error": "ToolValidationError",
        "message": "Tool 'search' failed — see server logs",
    }


def test_called_from_python_a_tool_is_its_function() -> None:
    tool: ForgeTool[..., Any] = forge_tool(register=False)(search)
    assert tool("q", [Column(name="a")], mode="exact")["mode"] == "exact"


def _unannotated(a): ...  # type: ignore[no-untyped-def]
def _positional_only(a: int, /) -> None: ...
def _variadic(*a: int) -> None: ...
def _keywords(**a: int) -> None: ...
def _positional_deps(deps: Database) -> None: ...
def _positional_root(workspace_root: Path) -> None: ...
def _underscored(_a: int) -> None: ...
def _reserved(model_dump: int) -> None: ...
def _undefined(a: ForTypeCheckersOnly[str, int]) -> None: ...
def _not_json(a: Database) -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_unannotated, "'a' needs a type annotation"),
        (_positional_only, "'a' has no name of its own"),
        (_variadic, "'a' has no name of its own"),
        (_keywords, "'a' has no name of its own"),
        (_positional_deps, "'deps' is injected: make it keyword-only"),
        (_positional_root, "'workspace_root' is injected"),
        (_underscored, "'_a' has a name that Pydantic reserves"),
        (_reserved, "'model_dump' has a name that Pydantic reserves"),
        (_undefined, "'ForTypeCheckersOnly' is not defined"),
        (_not_json, "Database"),
    ],
)
def test_a_signature_that_makes_no_model_is_an_error_at_once(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        forge_tool(function)
    assert FORGE_TOOL_REGISTRY == {}


def test_a_parameter_may_have_the_name_of_a_method_of_a_model() -> None:
    def export(schema: str, json: bool = False, copy: int = 1) -> list[Any]:
        return [schema, json, copy]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forge_tool(export)
    assert dispatch_tool_call("export", {"schema": "main", "copy": 2}) == ["main", False, 2]


def test_a_default_is_not_shared_between_calls() -> None:
    @forge_tool
    def collect(items: list[int] = []) -> list[int]:  # noqa: B006 - what is tested
        items.append(1)
        return items

    assert [dispatch_tool_call("collect", {}) for _ in range(2)] == [[1], [1]]


def test_types_may_be_local_to_the_function_around_the_tool() -> None:
    class Local(BaseModel):
        x: int

    @forge_tool
    def add(a: Local, b: Local) -> int:
        return a.x + b.x

    assert dispatch_tool_call("add", {"a": {"x": 1}, "b": {"x": 2}}) == 3


# Plain functions as tools


def test_a_plain_function_becomes_a_tool_without_being_registered() -> None:
    tool = as_tool(search)
    assert (tool.name, FORGE_TOOL_REGISTRY) == ("search", {})
    assert as_tool(tool) is tool


class Catalogue:
    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def table(self, name: str) -> str:
        """Return the table's full name."""
        return self.prefix + name


def test_a_method_of_an_object_is_a_tool() -> None:
    tool = as_tool(Catalogue("main.").table)
    assert tool.run({"name": "t"}) == "main.t"


@pytest.mark.parametrize("function", [lambda: 1, functools.partial(search, query="q"), "search"])
def test_a_tool_needs_a_name(function: Any) -> None:
    with pytest.raises(TypeError, match="forge_tool"):
        as_tool(function)


# Dependencies


def test_deps_are_injected_and_in_no_schema_and_no_trace() -> None:
    @forge_tool
    def rows(limit: int, *, deps: Database, workspace_root: Path) -> list[Any]:
        return [*deps.rows[:limit], workspace_root.name]

    @forge_tool(args_schema=Args)
    def first_rows(args: Args, *, deps: Database) -> list[int]:
        return deps.rows[: args.limit]

    collector = ToolObservabilityCollector()
    deps = Database([7, 8, 9])
    call = functools.partial(dispatch_tool_call, deps=deps, collector=collector)
    assert call("rows", {"limit": 1}, Path("/work")) == [7, "work"]
    assert call("first_rows", {}) == [7, 8]
    assert [list(tool.args_schema.model_fields) for tool in (rows, first_rows)] == [["limit"]] * 2
    assert "deps" not in json.dumps([rows.definition, first_rows.definition])
    assert [trace.input_params for trace in collector.traces.values()] == [{"limit": 1}, {}]


@pytest.mark.parametrize("injected", ["deps", "workspace_root"])
def test_a_model_can_set_nothing_that_is_injected(injected: str) -> None:
    def documented(args: Args, *, deps: Any, workspace_root: Any) -> None: ...
    def plain(limit: int = 1, *, deps: Any, workspace_root: Any) -> None: ...

    forge_tool(args_schema=Args, workspace_root_aware=True)(documented)
    forge_tool(plain)
    for name in ("documented", "plain"):
        for arguments in ({injected: "x"}, json.dumps({injected: "x"})):
            result = dispatch_forge_tool(name, arguments, deps="ours")
            assert (result.ok, result.reason) == (False, f"/{injected}: extra_forbidden")


def test_a_schema_cannot_declare_deps_that_are_injected() -> None:
    class Bad(BaseModel):
        deps: str

    def function(args: Bad, *, deps: Database) -> None: ...

    with pytest.raises(TypeError, match="deps: it's injected"):
        forge_tool(args_schema=Bad)(function)
    assert forge_tool(args_schema=Bad)(lambda args: args.deps).run({"deps": "x"}) == "x"


class Readable(Protocol):
    def read(self) -> str: ...


def _takes_class(*, deps: Database) -> None: ...
def _takes_optional(*, deps: Database | None) -> None: ...
def _takes_default(*, deps: Database | None = None) -> None: ...
def _takes_generic(*, deps: dict[str, int]) -> None: ...
def _takes_protocol(*, deps: Readable) -> None: ...
def _takes_any(*, deps: Any) -> None: ...
def _takes_unknown(*, deps: ForTypeCheckersOnly[str, int]) -> None: ...


@pytest.mark.parametrize(
    ("function", "deps", "is_accepted"),
    [
        (_takes_class, Database([]), True),
        (_takes_class, None, False),
        (_takes_class, "text", False),
        (_takes_optional, None, True),
        (_takes_optional, 5, False),
        (_takes_default, None, True),
        (_takes_default, 5, False),
        (_takes_generic, {}, True),
        (_takes_generic, [], False),
        (_takes_protocol, 5, True),
        (_takes_any, None, True),
        (_takes_unknown, 5, True),
    ],
)
def test_deps_are_checked_where_their_class_is_known(
    function: Callable[..., Any], deps: object, is_accepted: bool
) -> None:
    collector = ToolObservabilityCollector()
    forge_tool(name="t")(function)
    if is_accepted:
        assert dispatch_forge_tool("t", {}, deps=deps, collector=collector).ok
    else:
        with pytest.raises(TypeError, match="takes deps of type") as raised:
            dispatch_forge_tool("t", {}, deps=deps, collector=collector)
        assert "text" not in str(raised.value)
        assert not collector.traces


def test_a_hand_written_tool_gets_deps_unless_its_schema_has_that_argument() -> None:
    def entry(name: str, properties: Any, impl: Callable[..., Any]) -> None:
        schema = {"type": "object", "properties": properties}
        TOOL_REGISTRY[name] = {
            "name": name,
            "description": "d",
            "input_schema": schema,
            "impl": impl,
        }

    entry("new", {}, lambda *, deps: deps)
    entry("old", {"deps": {"type": "integer"}}, lambda *, deps: deps)
    assert dispatch_tool_call("new", {}, deps=1) == 1
    assert dispatch_tool_call("new", {"deps": 2}, deps=1)["error"] == "ToolValidationError"
    assert dispatch_tool_call("old", {"deps": 2}, deps=1) == 2


def test_running_a_tool_directly_checks_its_arguments() -> None:
    with pytest.raises(ToolValidationError, match="query: missing"):
        as_tool(search).run({"columns": []})
