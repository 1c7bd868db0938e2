"""What a function's signature says about a tool: the model of its arguments, and what is injected.

``workspace_root`` and ``deps`` are injected as keywords. They are in no schema, so that a model
can't set them.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError

WORKSPACE_ROOT = "workspace_root"
DEPS = "deps"
_INJECTED = (WORKSPACE_ROOT, DEPS)

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)

_SECTION = re.compile(r"^(?:Args|Arguments|Parameters):[ \t]*\n((?:[ \t]+\S.*\n?|[ \t]*\n)+)", re.M)
"""The part of a docstring in Google's style that describes the parameters."""

_ENTRY = re.compile(r"\*{0,2}(\w+)[ \t]*(?:\([^)]*\))?:[ \t]*(.*)")


@dataclass(frozen=True, slots=True)
class DepsParameter:
    """The parameter ``deps`` of a tool: its class, if that can be checked, and its default."""

    classes: tuple[type, ...] | None
    has_default: bool

    def check(self, tool_name: str, deps: object) -> None:
        """Raise ``TypeError`` for dependencies that the tool can't use."""
        if self.classes is None or (deps is None and self.has_default):
            return
        if not isinstance(deps, self.classes):
            names = " or ".join(cls.__qualname__ for cls in self.classes)
            raise TypeError(
                f"Tool {tool_name!r} takes deps of type {names}, not {type(deps).__qualname__}."
            )


def takes_workspace_root(function: Callable[..., object]) -> bool:
    """Return whether the function has a keyword-only parameter ``workspace_root``."""
    return _keyword_only(function, WORKSPACE_ROOT) is not None


def find_deps_parameter(function: Callable[..., object]) -> DepsParameter | None:
    """Return the function's keyword-only parameter ``deps``, or None if it has none.

    Its type is checked if it's a class or a union of classes, and known when the tool is declared.
    """
    parameter = _keyword_only(function, DEPS)
    if parameter is None:
        return None
    has_default = parameter.default is not parameter.empty
    if parameter.annotation is parameter.empty:
        return DepsParameter(None, has_default)
    try:
        annotation = _evaluate(function, {DEPS: parameter.annotation})[DEPS]
    except NameError:  # imported for type checkers only
        return DepsParameter(None, has_default)
    return DepsParameter(_checkable_classes(annotation), has_default)


def make_arguments_model(function: Callable[..., object], name: str) -> type[BaseModel]:
    """Return a model of the function's parameters, without those that are injected.

    Types come from the annotations, descriptions from ``Annotated[..., Field(description=…)]`` or
    the docstring's "Args:" section. Raises ``TypeError`` for a parameter without an annotation, or
    of a form that JSON can't fill.
    """
    parameters = {
        parameter.name: _check_parameter(parameter, name)
        for parameter in inspect.signature(function).parameters.values()
        if not (parameter.name in _INJECTED and parameter.kind is parameter.KEYWORD_ONLY)
    }
    annotations = {key: parameter.annotation for key, parameter in parameters.items()}
    try:
        hints = _evaluate(function, annotations)
    except NameError as error:
        raise TypeError(f"Tool {name!r}: the annotations aren't all defined: {error}.") from error
    descriptions = _parameter_descriptions(inspect.getdoc(function) or "")
    fields: dict[str, Any] = {
        key: (_described(hints[key], descriptions.get(key)), _default(parameter))
        for key, parameter in parameters.items()
    }
    title = "".join(part.capitalize() for part in re.split(r"\W|_", name))
    with warnings.catch_warnings():
        # A parameter may have the name of a method of BaseModel: nothing calls that here.
        warnings.filterwarnings("ignore", message=".*shadows an attribute", category=UserWarning)
        try:
            return create_model(
                f"{title}Arguments",
                __config__=ConfigDict(extra="forbid", protected_namespaces=()),
                __module__=function.__module__,
                **fields,
            )
        except (PydanticUserError, NameError) as error:
            raise TypeError(f"Tool {name!r}: {error}") from error


def _check_parameter(parameter: inspect.Parameter, tool_name: str) -> inspect.Parameter:
    """Return the parameter if a model's argument can fill it."""
    problem = None
    if parameter.name in _INJECTED:
        problem = "is injected: make it keyword-only"
    elif parameter.kind not in _NAMED:
        problem = "has no name of its own in a call: use a list or a dict"
    elif parameter.annotation is parameter.empty:
        problem = "needs a type annotation"
    elif parameter.name.startswith(("_", "model_")) and _is_reserved(parameter.name):
        problem = "has a name that Pydantic reserves"
    if problem:
        raise TypeError(f"Tool {tool_name!r}: parameter {parameter.name!r} {problem}.")
    return parameter


def _is_reserved(name: str) -> bool:
    return name.startswith("_") or hasattr(BaseModel, name)


def _default(parameter: inspect.Parameter) -> object:
    return ... if parameter.default is parameter.empty else parameter.default


def _described(hint: object, description: str | None) -> object:
    """Return the annotation with a description from the docstring, unless it has its own."""
    if description is None:
        return hint
    # The last description wins in Pydantic, so that one in the annotation has to come last.
    if get_origin(hint) is Annotated:
        plain, *extras = get_args(hint)
        return Annotated[(plain, Field(description=description), *extras)]
    return Annotated[hint, Field(description=description)]


def _parameter_descriptions(docstring: str) -> Mapping[str, str]:
    """Return the descriptions in the section "Args:", by parameter; more indented lines go on."""
    section = _SECTION.search(docstring + "\n")
    if section is None:
        return {}
    lines = inspect.cleandoc("\n" + section.group(1)).splitlines()
    descriptions: dict[str, str] = {}
    current = None
    for line in lines:
        entry = _ENTRY.match(line)
        if entry:
            current = entry.group(1)
            descriptions[current] = entry.group(2).strip()
        elif current is not None:
            descriptions[current] = f"{descriptions[current]} {line.strip()}".strip()
    return {name: text for name, text in descriptions.items() if text}


def _keyword_only(function: Callable[..., object], name: str) -> inspect.Parameter | None:
    try:
        parameter = inspect.signature(function).parameters.get(name)
    except ValueError:  # a built-in function without a signature
        return None
    return parameter if parameter and parameter.kind is parameter.KEYWORD_ONLY else None


def _evaluate(
    function: Callable[..., object], annotations: Mapping[str, object]
) -> Mapping[str, Any]:
    """Return the annotations as types, wherever the function was defined."""
    plain = inspect.unwrap(function)
    plain = getattr(plain, "func", plain)  # of a partial
    plain = getattr(plain, "__func__", plain)  # of a bound method
    holder = types.SimpleNamespace(__annotations__=dict(annotations))
    names = getattr(plain, "__globals__", {})
    return typing.get_type_hints(holder, names, _local_names(plain), include_extras=True)


def _local_names(function: Callable[..., object]) -> Mapping[str, Any]:
    """Return the names around a function that was defined in one that still runs."""
    code = getattr(function, "__code__", None)
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if any(constant is code for constant in frame.f_code.co_consts):
            return frame.f_locals
        frame = frame.f_back
    return {}


def _checkable_classes(annotation: object) -> tuple[type, ...] | None:
    """Return the classes of which ``deps`` must be an instance, None if it can't be known."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        members = [_checkable_classes(member) for member in get_args(annotation)]
        return None if None in members else tuple(cls for group in members for cls in group or ())
    plain = get_origin(annotation) or annotation
    if plain is None:
        return (type(None),)
    if not isinstance(plain, type) or plain is Any:
        return None
    if getattr(plain, "_is_protocol", False) and not getattr(plain, "_is_runtime_protocol", False):
        return None
    return (plain,)
