"""What a tool is: a function, the Pydantic model of its arguments, and what a model is told of it.

Source: Authoring Forge Tools.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypedDict, TypeVar

from pydantic import BaseModel, ValidationError

from fluid_build.copilot.errors import ToolValidationError
from fluid_build.copilot.tools.argument_schemas import (
    find_fault,
    find_stray,
    harden,
    has_open_model,
)

P = ParamSpec("P")
R = TypeVar("R")

_INJECTED = "workspace_root"
_MAX_FAULTS = 8


class ToolDefinition(TypedDict):
    """What a provider is told of a tool."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ToolEntry(ToolDefinition):
    """A hand-written entry of the legacy registry."""

    impl: Callable[..., Any]


class ForgeTool(Generic[P, R]):
    """A function that a model may call. Called from Python it is the function itself."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str,
        description: str,
        args_schema: type[BaseModel],
        workspace_root_aware: bool,
        tags: Iterable[str],
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.description = description
        self.args_schema = args_schema
        self.workspace_root_aware = workspace_root_aware
        self.tags = tuple(tags)
        self.is_async = inspect.iscoroutinefunction(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function returns: nothing is checked or written down."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<forge tool {self.name}>"

    @functools.cached_property
    def input_schema(self) -> dict[str, Any]:
        """The arguments as JSON Schema, which takes no others (``additionalProperties: false``)."""
        return harden(self.args_schema.model_json_schema())

    @property
    def definition(self) -> ToolDefinition:
        """What a provider is told of this tool."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }

    @functools.cached_property
    def _validator(self) -> Callable[..., BaseModel]:
        """Pydantic's own, without what ``model_validate`` does around it."""
        self.args_schema.model_rebuild()
        if has_open_model(self.args_schema.model_json_schema()):
            return self._validate_partly_open
        return self.args_schema.__pydantic_validator__.validate_python

    def _validate_partly_open(self, arguments: Any, **_: Any) -> BaseModel:
        """Pydantic can forbid extra fields everywhere or nowhere; some models here allow them."""
        stray = find_stray(self.input_schema, arguments)
        if stray is not None:
            raise _refusal(self.name, arguments, f"{stray}: extra_forbidden")
        return self.args_schema.model_validate(arguments)

    def run(self, arguments: Any, workspace_root: Path | str | None) -> Any:
        """Checks the arguments and calls the function; a coroutine is for the caller to await.

        Raises ``ToolValidationError`` for arguments that do not fit, also for extra ones.
        """
        function: Callable[..., Any] = self.function
        try:
            checked = self._validator(arguments, extra="forbid")
        except ValidationError as error:
            raise _refusal(self.name, arguments, _faults(error)) from None
        if self.workspace_root_aware:
            return function(checked, workspace_root=_resolved(workspace_root))
        return function(checked)


class LegacyTool:
    """A hand-written entry, checked against its hand-written schema and called by keywords."""

    def __init__(self, entry: ToolEntry) -> None:
        self.name = entry["name"]
        self.input_schema = harden(entry["input_schema"])
        self._impl = entry["impl"]
        self.is_async = inspect.iscoroutinefunction(self._impl)

    def run(self, arguments: Any, workspace_root: Path | str | None) -> Any:
        """Checks the arguments and calls the function, with ``workspace_root`` if it takes one.

        Raises ``ToolValidationError`` for arguments that do not fit, also for extra ones.
        """
        if not isinstance(arguments, Mapping) or _INJECTED in arguments:
            raise _refusal(self.name, arguments, "/: type")
        fault = find_fault(self.input_schema, arguments)
        if fault is not None:
            raise _refusal(self.name, arguments, fault)
        if self._takes_root():
            return self._impl(**arguments, workspace_root=_resolved(workspace_root))
        return self._impl(**arguments)

    def _takes_root(self) -> bool:
        parameters = inspect.signature(self._impl).parameters
        return _INJECTED in parameters or any(
            parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
        )


def _resolved(workspace_root: Path | str | None) -> Path:
    return Path(workspace_root or Path.cwd()).resolve()


def _refusal(tool_name: str, arguments: Any, reason: str) -> ToolValidationError:
    return ToolValidationError(
        f"The arguments of tool {tool_name!r} do not fit its schema ({reason}).",
        tool_name=tool_name,
        tool_args=arguments if isinstance(arguments, Mapping) else {},
        reason=reason,
    )


def _faults(error: ValidationError) -> str:
    """Where and of what kind the faults are; Pydantic's messages may quote values."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    told = [f"{_path(fault['loc'])}: {fault['type']}" for fault in found[:_MAX_FAULTS]]
    more = len(found) - len(told)
    return "; ".join([*told, f"and {more} more"] if more else told)


def _path(location: tuple[int | str, ...]) -> str:
    return "/" + "/".join(str(part) for part in location)
