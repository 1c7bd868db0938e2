"""A tool: a function, the Pydantic model of its arguments, and its definition for providers.

Source: Authoring Forge Tools.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Generic, ParamSpec, TypedDict, TypeVar

from pydantic import BaseModel, ValidationError

from fluid_build.copilot.errors import ToolValidationError
from fluid_build.copilot.tools.argument_schemas import (
    close_schema,
    find_extra_properties,
    find_faults,
    has_open_model,
)
from fluid_build.json_types import JsonObject

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

_INJECTED = "workspace_root"
_NOT_ARGUMENTS = "/: it is not an object, or sets workspace_root"
_MAX_FAULTS = 8
"""Faults named in a reason: enough to correct a call, and bounded whatever the model sends."""


class ToolDefinition(TypedDict):
    """A tool as a provider is given it."""

    name: str
    description: str
    input_schema: JsonObject


class ToolEntry(ToolDefinition):
    """A hand-written entry of the legacy registry."""

    impl: Callable[..., object]


class ForgeTool(Generic[P, R_co]):
    """A function that a model may call. Called from Python, it behaves as the function itself."""

    def __init__(
        self,
        function: Callable[P, R_co],
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

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the function directly: nothing is checked or recorded."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<forge tool {self.name}>"

    @functools.cached_property
    def input_schema(self) -> JsonObject:
        """Return the arguments as a JSON schema that takes no others."""
        return close_schema(self.args_schema.model_json_schema())

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as a provider is given it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }

    @functools.cached_property
    def _validator(self) -> Callable[..., BaseModel]:
        """Return Pydantic's own validator, without the overhead of ``model_validate``."""
        self.args_schema.model_rebuild()
        if has_open_model(self.args_schema.model_json_schema()):
            return self._validate_partly_open
        return self.args_schema.__pydantic_validator__.validate_python

    def _validate_partly_open(self, arguments: object, **_: object) -> BaseModel:
        """Validate where Pydantic's own rule, extra fields everywhere or nowhere, is too coarse."""
        if isinstance(arguments, Mapping):
            faults = find_extra_properties(self.input_schema, arguments)
            if faults:
                raise _refusal(self.name, arguments, faults)
        return self.args_schema.model_validate(arguments)

    def run(self, arguments: object, workspace_root: Path | str | None) -> object:
        """Check the arguments and call the function; the caller awaits a coroutine.

        Raises ``ToolValidationError`` for arguments that don't fit, extra ones included.
        """
        function: Callable[..., object] = self.function
        try:
            checked = self._validator(arguments, extra="forbid")
        except ValidationError as error:
            raise _refusal(self.name, arguments, _pydantic_faults(error)) from None
        if self.workspace_root_aware:
            return function(checked, workspace_root=_resolved(workspace_root))
        return function(checked)


class LegacyTool:
    """A hand-written entry, checked against its own schema and called by keywords."""

    def __init__(self, entry: ToolEntry) -> None:
        self.name = entry["name"]
        self.input_schema = close_schema(entry["input_schema"])
        self._impl = entry["impl"]
        self.is_async = inspect.iscoroutinefunction(self._impl)

    def run(self, arguments: object, workspace_root: Path | str | None) -> object:
        """Check the arguments and call the function, with ``workspace_root`` if it takes one.

        Raises ``ToolValidationError`` for arguments that don't fit, extra ones included.
        """
        if not isinstance(arguments, Mapping) or _INJECTED in arguments:
            raise _refusal(self.name, arguments, [_NOT_ARGUMENTS])
        faults = find_faults(self.input_schema, arguments)
        if faults:
            raise _refusal(self.name, arguments, faults)
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


def _refusal(tool_name: str, arguments: object, faults: list[str]) -> ToolValidationError:
    hidden = len(faults) - _MAX_FAULTS
    more = [f"and {hidden} more"] if hidden > 0 else []
    reason = "; ".join([*faults[:_MAX_FAULTS], *more])
    return ToolValidationError(
        f"The arguments of tool {tool_name!r} don't fit its schema ({reason}).",
        tool_name=tool_name,
        tool_args=arguments if isinstance(arguments, Mapping) else {},
        reason=reason,
    )


def _pydantic_faults(error: ValidationError) -> list[str]:
    """Return path and type of each fault; Pydantic's messages may quote values."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    return [f"/{'/'.join(map(str, fault['loc']))}: {fault['type']}" for fault in faults]
