"""The registries of tools: declared with ``@forge_tool``, written by hand, or staged.

A name is looked up in the hand-written registry first, then among the declared tools, and last
among the staged ones if ``FLUID_FORGE_STAGED_TOOL_LOOP=1``. Source: Authoring Forge Tools.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar, overload

from pydantic import BaseModel

from fluid_build.copilot.tools.definition import (
    ForgeTool,
    LegacyTool,
    Tool,
    ToolDefinition,
    ToolEntry,
)
from fluid_build.json_types import JsonObject

LOG = logging.getLogger(__name__)
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

STAGED_TOOL_VARIABLE = "FLUID_FORGE_STAGED_TOOL_LOOP"

TOOL_REGISTRY: dict[str, ToolEntry] = {}
FORGE_TOOL_REGISTRY: dict[str, ForgeTool[..., object]] = {}
STAGED_TOOL_REGISTRY: dict[str, ForgeTool[..., object]] = {}


class _FromSignature(BaseModel):
    """The default of ``args_schema``: the model is made from the function's signature."""


@overload
def forge_tool(function: Callable[P, R_co], /) -> ForgeTool[P, R_co]: ...


@overload
def forge_tool(
    *,
    args_schema: type[BaseModel] = ...,
    name: str | None = None,
    description: str | None = None,
    workspace_root_aware: bool = False,
    tags: Iterable[str] = (),
    register: bool = True,
    read_only: bool = False,
    requires_approval: bool = False,
) -> Callable[[Callable[P, R_co]], ForgeTool[P, R_co]]: ...


def forge_tool(
    function: Callable[P, R_co] | None = None,
    /,
    *,
    args_schema: type[BaseModel] = _FromSignature,
    name: str | None = None,
    description: str | None = None,
    workspace_root_aware: bool = False,
    tags: Iterable[str] = (),
    register: bool = True,
    read_only: bool = False,
    requires_approval: bool = False,
) -> ForgeTool[P, R_co] | Callable[[Callable[P, R_co]], ForgeTool[P, R_co]]:
    """Make a function a tool that a model may call; also as a bare ``@forge_tool``.

    With ``args_schema`` the function gets an instance of that model; without, the model is made
    from the signature and the function gets its parameters. Keyword-only parameters ``deps`` and
    ``workspace_root`` are injected and in no schema. The name is the function's unless given, the
    description the first line of its docstring. ``read_only`` tools may run in parallel, and those
    with ``requires_approval`` wait for a person.

    Raises ``TypeError`` if ``args_schema`` isn't a Pydantic model or declares an injected
    argument, or if no model can be made from the signature; ``ValueError`` if another tool has
    the name already.
    """
    if not (isinstance(args_schema, type) and issubclass(args_schema, BaseModel)):
        raise TypeError(f"args_schema must be a Pydantic model class, not {args_schema!r}.")

    def declare(function: Callable[P, R_co]) -> ForgeTool[P, R_co]:
        tool = ForgeTool(
            function,
            name=name or function.__name__,
            description=description or _first_line(function),
            args_schema=None if args_schema is _FromSignature else args_schema,
            workspace_root_aware=workspace_root_aware,
            tags=tags,
            read_only=read_only,
            requires_approval=requires_approval,
        )
        if register:
            _register_declared(tool)
        return tool

    return declare if function is None else declare(function)


def as_tool(tool: Tool | Callable[..., object]) -> Tool:
    """Return a tool as it is, and a plain function as a tool that no registry knows.

    Raises ``TypeError`` for a function without a name, or with a parameter without a type.
    """
    if isinstance(tool, Tool):
        return tool
    name = getattr(tool, "__name__", "")
    if not (callable(tool) and name.isidentifier()):
        raise TypeError(f"A tool is a function with a name, not {tool!r}: use forge_tool(name=…).")
    return forge_tool(register=False)(tool)


def register_legacy_tool(
    *, name: str, description: str, input_schema: JsonObject, impl: Callable[..., object]
) -> None:
    """Register a tool with a hand-written schema, called by keywords. Prefer ``forge_tool``."""
    TOOL_REGISTRY[name] = {
        "name": name,
        "description": description,
        "input_schema": input_schema,
        "impl": impl,
    }


def find_tool(name: str) -> Tool | None:
    """Return the tool of that name, or None."""
    if name in TOOL_REGISTRY:
        return LegacyTool(TOOL_REGISTRY[name])
    return FORGE_TOOL_REGISTRY.get(name) or _staged_tools().get(name)


def registered_tools() -> list[Tool]:
    """Return every tool that ``find_tool`` finds."""
    names = dict.fromkeys([*TOOL_REGISTRY, *FORGE_TOOL_REGISTRY, *_staged_tools()])
    return [tool for name in names if (tool := find_tool(name))]


def get_tool_definitions() -> list[ToolDefinition]:
    """Return name, description and input schema of every tool that ``find_tool`` finds."""
    return [tool.definition for tool in registered_tools()]


def _staged_tools() -> dict[str, ForgeTool[..., object]]:
    return STAGED_TOOL_REGISTRY if os.environ.get(STAGED_TOOL_VARIABLE) == "1" else {}


def _register_declared(tool: ForgeTool[..., object]) -> None:
    known = FORGE_TOOL_REGISTRY.get(tool.name)
    if known is not None and _origin(known) != _origin(tool):
        raise ValueError(f"A tool named {tool.name!r} exists already, from {_origin(known)}.")
    if tool.name in TOOL_REGISTRY:
        LOG.warning("Tool %r is hidden by a hand-written one of the same name.", tool.name)
    FORGE_TOOL_REGISTRY[tool.name] = tool


def _origin(tool: ForgeTool[..., object]) -> str:
    return f"{tool.function.__module__}.{tool.function.__qualname__}"


def _first_line(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0].strip()
