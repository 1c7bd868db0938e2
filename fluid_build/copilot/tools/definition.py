"""A tool: a function, the schema of its arguments, and its definition for providers.

Source: Authoring Forge Tools.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Generic, Literal, ParamSpec, TypedDict, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from fluid_build.copilot.errors import ToolValidationError
from fluid_build.copilot.tools.argument_schemas import (
    close_schema,
    close_silent_objects,
    find_extra_properties,
    find_faults,
    has_open_model,
)
from fluid_build.copilot.tools.calls import TEXT, Arguments
from fluid_build.copilot.tools.execution import CheckedCall, compile_executions
from fluid_build.copilot.tools.signatures import (
    DEPS,
    WORKSPACE_ROOT,
    DepsParameter,
    find_deps_parameter,
    make_arguments_model,
    takes_workspace_root,
)
from fluid_build.json_types import JsonObject

# Errors for arguments that don't fit a tool's schema; they quote no value.

NOT_JSON = "/: it is not JSON"

_MAX_FAULTS = 8
_MAX_FAULT_CHARS = 200
"""Faults named in a reason, and how much of each: enough to correct a call, whatever it is."""


def refusal(tool_name: str, arguments: object, faults: list[str]) -> ToolValidationError:
    """Return the error for arguments with these faults, which quote no value."""
    hidden = len(faults) - _MAX_FAULTS
    more = [f"and {hidden} more"] if hidden > 0 else []
    reason = "; ".join([*(fault[:_MAX_FAULT_CHARS] for fault in faults[:_MAX_FAULTS]), *more])
    return ToolValidationError(
        f"The arguments of tool {tool_name!r} don't fit its schema ({reason}).",
        tool_name=tool_name,
        tool_args=arguments if isinstance(arguments, Mapping) else {},
        reason=reason,
    )


def pydantic_faults(error: ValidationError) -> list[str]:
    """Return path and type of each fault; Pydantic's messages may quote values."""
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    if faults[0]["type"] == "json_invalid":  # the parser's message names a place, and no value
        return [f"{NOT_JSON} ({faults[0]['msg']})"]
    return [f"/{'/'.join(map(str, fault['loc']))}: {fault['type']}" for fault in faults]


P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class ToolDefinition(TypedDict):
    """A tool as a provider is given it."""

    name: str
    description: str
    input_schema: JsonObject


class ToolEntry(ToolDefinition):
    """A hand-written entry of the legacy registry."""

    impl: Callable[..., object]


class Tool(ABC):
    """What a model may call.

    ``read_only``: it changes nothing, so that it may run in parallel with other read-only tools.
    ``requires_approval``: a person must approve each call. Both are declarations for the agent
    that calls the tool: providers don't see them, and the dispatcher ignores them.
    """

    def __init__(
        self,
        function: Callable[..., object],
        *,
        name: str,
        description: str,
        deps_parameter: DepsParameter | None = None,
        tags: Iterable[str] = (),
        read_only: bool = False,
        requires_approval: bool = False,
    ) -> None:
        self.implementation = function
        self.name = name
        self.description = description
        self.tags = tuple(tags)
        self.read_only = read_only
        self.requires_approval = requires_approval
        self.is_async = inspect.iscoroutinefunction(function)
        self.deps_parameter = deps_parameter
        self.execute, self.execute_async = compile_executions(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    @abstractmethod
    def input_schema(self) -> JsonObject:
        """Return the arguments as a JSON schema."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as a provider is given it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }

    def check_deps(self, deps: object) -> None:
        """Raise ``TypeError`` if the tool takes dependencies and can't use these."""
        if self.deps_parameter is not None:
            self.deps_parameter.check(self.name, deps)

    @property
    @abstractmethod
    def checked_call(self) -> CheckedCall:
        """Return the function that ``run`` calls."""

    @abstractmethod
    def check_arguments(self, arguments: Arguments) -> Mapping[str, object]:
        """Return the arguments as the function gets them, with the defaults of a signature.

        Raises ``ToolValidationError`` for arguments that don't fit.
        """

    def run(
        self, arguments: Arguments, workspace_root: Path | str | None = None, deps: object = None
    ) -> object:
        """Check the arguments and call the function; the caller awaits a coroutine.

        Raises ``ToolValidationError`` for arguments that don't fit, extra ones included.
        """
        return self.checked_call(arguments, workspace_root, deps)


class ForgeTool(Tool, Generic[P, R_co]):
    """A function that a model may call. Called from Python, it behaves as the function itself.

    Without ``args_schema``, the model of the arguments is made from the function's signature, and
    the function gets the arguments as keywords.
    """

    def __init__(
        self,
        function: Callable[P, R_co],
        *,
        name: str,
        description: str,
        args_schema: type[BaseModel] | None = None,
        workspace_root_aware: bool = False,
        tags: Iterable[str] = (),
        read_only: bool = False,
        requires_approval: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        super().__init__(
            function,
            name=name,
            description=description,
            deps_parameter=find_deps_parameter(function),
            tags=tags,
            read_only=read_only,
            requires_approval=requires_approval,
        )
        self.function = function
        self.workspace_root_aware = workspace_root_aware
        self._unpacks = args_schema is None
        if args_schema is None:
            self.workspace_root_aware |= takes_workspace_root(function)
            args_schema = make_arguments_model(function, name)
        self.args_schema = args_schema
        injects_deps = self.deps_parameter is not None
        for injected in [WORKSPACE_ROOT, DEPS] if injects_deps else [WORKSPACE_ROOT]:
            if injected in args_schema.model_fields:
                raise TypeError(f"{args_schema.__name__} can't declare {injected}: it's injected.")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Call the function directly: nothing is checked or recorded."""
        return self.function(*args, **kwargs)

    @functools.cached_property
    def input_schema(self) -> JsonObject:
        """Return the arguments as a JSON schema that takes no others."""
        return close_schema(self.args_schema.model_json_schema())

    @functools.cached_property
    def checked_call(self) -> CheckedCall:
        """Return the function that ``run`` calls: a closure over what each call needs."""
        name, unpacks = self.name, self._unpacks
        function: Callable[..., object] = self.function
        injects = self.workspace_root_aware or self.deps_parameter is not None
        inject = self._inject if injects else None
        refuse_extra = self._refuse_extra if self._is_partly_open else None
        extra: Literal["forbid"] | None = None if self._is_partly_open else "forbid"
        # Pydantic's own validator saves the overhead of ``model_validate``.
        validate_python = self.args_schema.__pydantic_validator__.validate_python
        validate_json = self.args_schema.__pydantic_validator__.validate_json

        def checked_call(
            arguments: Arguments, workspace_root: Path | str | None, deps: object
        ) -> object:
            if refuse_extra is not None:
                refuse_extra(arguments)
            try:
                if isinstance(arguments, TEXT):
                    checked = validate_json(arguments, extra=extra)
                else:
                    checked = validate_python(arguments, extra=extra)
            except ValidationError as error:
                raise refusal(name, arguments, pydantic_faults(error)) from None
            if inject is None:
                return function(**checked.__dict__) if unpacks else function(checked)
            injected = inject(workspace_root, deps)
            if unpacks:
                return function(**checked.__dict__, **injected)
            return function(checked, **injected)

        return checked_call

    def check_arguments(self, arguments: Arguments) -> Mapping[str, object]:
        """Return the arguments as the function gets them; raise ``ToolValidationError``."""
        if self._is_partly_open:
            self._refuse_extra(arguments)
        extra: Literal["forbid"] | None = None if self._is_partly_open else "forbid"
        validator = self.args_schema.__pydantic_validator__
        try:
            if isinstance(arguments, TEXT):
                return dict(validator.validate_json(arguments, extra=extra))
            return dict(validator.validate_python(arguments, extra=extra))
        except ValidationError as error:
            raise refusal(self.name, arguments, pydantic_faults(error)) from None

    @functools.cached_property
    def _is_partly_open(self) -> bool:
        """Return whether Pydantic's own rule, extra fields everywhere or nowhere, is too coarse."""
        self.args_schema.model_rebuild()
        return has_open_model(self.args_schema.model_json_schema())

    def _inject(self, workspace_root: Path | str | None, deps: object) -> dict[str, object]:
        """Return the keywords that no model can set."""
        injected: dict[str, object] = {}
        if self.workspace_root_aware:
            injected[WORKSPACE_ROOT] = _resolved(workspace_root)
        if self.deps_parameter and not (deps is None and self.deps_parameter.has_default):
            injected[DEPS] = deps
        return injected

    def _refuse_extra(self, arguments: Arguments) -> None:
        if isinstance(arguments, TEXT):
            try:
                arguments = from_json(_encoded(arguments))
            except ValueError:
                return  # the validator says what is wrong with it
        if isinstance(arguments, Mapping):
            faults = find_extra_properties(self.input_schema, arguments)
            if faults:
                raise refusal(self.name, arguments, faults)


class _SchemaCheckedTool(Tool):
    """A tool whose arguments are checked against a JSON schema alone."""

    _input_schema: JsonObject

    @property
    def input_schema(self) -> JsonObject:
        """Return the arguments as a JSON schema."""
        return self._input_schema

    @property
    def checked_call(self) -> CheckedCall:
        """Return the function that ``run`` calls."""
        return self._call

    def check_arguments(self, arguments: Arguments) -> Mapping[str, object]:
        """Return the arguments as an object; raise ``ToolValidationError``."""
        return _checked_object(self.name, self._input_schema, arguments)

    @abstractmethod
    def _call(
        self, arguments: Arguments, workspace_root: Path | str | None, deps: object
    ) -> object:
        """Check the arguments and call the function."""


class SchemaTool(_SchemaCheckedTool):
    """A tool with a JSON schema of its own, called with the arguments as one dictionary.

    Tools of other programs, such as an MCP server's, are of this class. Objects whose properties
    the schema names take no others, unless it says that they do.
    """

    def __init__(
        self,
        function: Callable[[dict[str, object]], object],
        *,
        name: str,
        description: str,
        input_schema: JsonObject,
        tags: Iterable[str] = (),
        read_only: bool = False,
        requires_approval: bool = False,
    ) -> None:
        super().__init__(
            function,
            name=name,
            description=description,
            tags=tags,
            read_only=read_only,
            requires_approval=requires_approval,
        )
        self._input_schema = close_silent_objects(input_schema)

    def _call(
        self,
        arguments: Arguments,
        workspace_root: Path | str | None,  # noqa: ARG002 - nothing is injected
        deps: object,  # noqa: ARG002
    ) -> object:
        return self.implementation(_checked_object(self.name, self._input_schema, arguments))


class LegacyTool(_SchemaCheckedTool):
    """A hand-written entry, checked against its own schema and called by keywords."""

    def __init__(self, entry: ToolEntry) -> None:
        self._input_schema = close_schema(entry["input_schema"])
        super().__init__(
            entry["impl"],
            name=entry["name"],
            description=entry["description"],
            deps_parameter=self._find_deps_parameter(entry["impl"]),
        )

    def _call(
        self, arguments: Arguments, workspace_root: Path | str | None, deps: object
    ) -> object:
        checked = _checked_object(self.name, self._input_schema, arguments)
        if WORKSPACE_ROOT in checked or (self.deps_parameter and DEPS in checked):
            raise refusal(self.name, arguments, ["/: it sets an injected argument"])
        if self._takes_root():
            checked[WORKSPACE_ROOT] = _resolved(workspace_root)
        if self.deps_parameter and not (deps is None and self.deps_parameter.has_default):
            checked[DEPS] = deps
        return self.implementation(**checked)

    def _find_deps_parameter(self, function: Callable[..., object]) -> DepsParameter | None:
        # Entries written before there were dependencies may have an argument of that name.
        properties = self._input_schema.get("properties")
        if isinstance(properties, Mapping) and DEPS in properties:
            return None
        return find_deps_parameter(function)

    def _takes_root(self) -> bool:
        parameters = inspect.signature(self.implementation).parameters
        return WORKSPACE_ROOT in parameters or any(
            parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
        )


def _resolved(workspace_root: Path | str | None) -> Path:
    return Path(workspace_root or Path.cwd()).resolve()


def _checked_object(
    tool_name: str, input_schema: JsonObject, arguments: Arguments
) -> dict[str, object]:
    """Return the arguments as an object that fits the schema."""
    decoded: object = arguments
    if isinstance(arguments, TEXT):
        try:
            decoded = from_json(_encoded(arguments), allow_inf_nan=False)
        except ValueError:
            raise refusal(tool_name, arguments, [NOT_JSON]) from None
    if not isinstance(decoded, Mapping):
        raise refusal(tool_name, arguments, ["/: it is not an object"])
    faults = find_faults(input_schema, decoded)
    if faults:
        raise refusal(tool_name, decoded, faults)
    return dict(decoded)


def _encoded(text: str | bytes) -> bytes:
    """Return the text as UTF-8; raise ``ValueError`` where it can't be that."""
    return text.encode() if isinstance(text, str) else text
