"""A check of requests against the official SDKs' own types, with unknown keys refused.

The types are TypedDicts (anthropic, openai) or Pydantic models (google-genai, ollama), nested as
they are. A request is what goes over the wire, so a model's fields have their aliases' names.
"""

from __future__ import annotations

import collections.abc
import json
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

import typing_extensions
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

_WRAPPERS = {Required, NotRequired, Annotated, typing_extensions.ReadOnly}
_LISTS = {list, tuple, collections.abc.Sequence, collections.abc.Iterable}
_MAPPINGS = {dict, collections.abc.Mapping}
_NOT_EQUAL = "isn't one of"


@dataclass(frozen=True)
class _Key:
    type: Any
    is_required: bool


@dataclass(frozen=True)
class _Object:
    """The keys that an object may have; an open one may have more."""

    name: str
    keys: Mapping[str, _Key]
    is_open: bool


def check_request(body: object, sdk_type: Any, *, open_types: tuple[type, ...] = ()) -> None:
    """Raise ``AssertionError`` with each place where ``body`` isn't an instance of ``sdk_type``.

    Objects of ``open_types`` may have keys that the type doesn't have, such as JSON schemas.
    """
    problems = list(_problems(body, sdk_type, "body", open_types))
    assert not problems, "\n".join(problems)


def _problems(value: Any, sdk_type: Any, path: str, open_types: tuple[type, ...]) -> Iterator[str]:
    if sdk_type is Any or sdk_type is object:
        return
    origin, arguments = get_origin(sdk_type), get_args(sdk_type)
    if origin in _WRAPPERS:
        yield from _problems(value, arguments[0], path, open_types)
    elif isinstance(sdk_type, typing_extensions.TypeAliasType):
        yield from _problems(value, sdk_type.__value__, path, open_types)
    elif origin in (Union, types.UnionType):
        yield from _problems_of_closest(value, arguments, path, open_types)
    elif origin is Literal or (isinstance(sdk_type, type) and issubclass(sdk_type, Enum)):
        allowed = arguments or tuple(member.value for member in sdk_type)
        if value not in allowed:
            yield f"{path} {_NOT_EQUAL} {allowed}: {value!r}"
    elif origin in _LISTS:
        if not isinstance(value, list):
            yield f"{path} isn't a list: {value!r}"
            return
        for index, item in enumerate(value):
            yield from _problems(item, arguments[0], f"{path}[{index}]", open_types)
    elif origin in _MAPPINGS:
        if not isinstance(value, dict):
            yield f"{path} isn't an object: {value!r}"
            return
        for name, item in value.items():
            yield from _problems(item, arguments[1], f"{path}.{name}", open_types)
    elif (keys := _object(sdk_type)) is not None:
        yield from _problems_of_object(value, keys, path, open_types, sdk_type in open_types)
    elif not _is_leaf(value, sdk_type):
        yield f"{path} isn't {getattr(sdk_type, '__name__', sdk_type)}: {value!r}"


def _problems_of_closest(
    value: Any, branches: tuple[Any, ...], path: str, open_types: tuple[type, ...]
) -> Iterator[str]:
    """Yield the problems of the branch that was meant: literals fit, then the fewest problems.

    A mapping with any keys counts only where no other branch names the keys of an object.
    """
    closest: list[str] | None = None
    has_object = any(_object(branch) is not None for branch in branches)
    for branch in branches:
        if has_object and get_origin(branch) in _MAPPINGS:
            continue
        problems = list(_problems(value, branch, path, open_types))
        if not problems:
            return
        if closest is None or _distance(problems, path) < _distance(closest, path):
            closest = problems
    yield from closest or ()


def _distance(problems: list[str], path: str) -> tuple[bool, int]:
    is_other_branch = any(
        _NOT_EQUAL in problem and problem[len(path) + 1 :].split(" ")[0].isidentifier()
        for problem in problems
    ) or problems[0].startswith(f"{path} ")
    return is_other_branch, len(problems)


def _problems_of_object(
    value: Any, schema: _Object, path: str, open_types: tuple[type, ...], is_open: bool
) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path} isn't an object: {value!r}"
        return
    for name, key in schema.keys.items():
        if name in value:
            yield from _problems(value[name], key.type, f"{path}.{name}", open_types)
        elif key.is_required:
            yield f"{path}.{name} is missing ({schema.name})"
    if not (is_open or schema.is_open):
        for name in value.keys() - schema.keys.keys():
            yield f"{path}.{name} isn't a key of {schema.name}"


@cache
def _object(sdk_type: Any) -> _Object | None:
    """Return the keys of a TypedDict or of a model, and None for any other type."""
    if typing_extensions.is_typeddict(sdk_type):
        return _Object(
            sdk_type.__name__,
            dict(_typed_dict_keys(sdk_type)),
            getattr(sdk_type, "__pydantic_config__", {}).get("extra") == "allow",
        )
    if isinstance(sdk_type, type) and issubclass(sdk_type, BaseModel):
        keys = {
            field.alias or name: _Key(field.annotation, field.is_required())
            for name, field in sdk_type.model_fields.items()
        }
        return _Object(sdk_type.__name__, keys, is_open=False)
    return None


def _typed_dict_keys(sdk_type: Any) -> Iterator[tuple[str, _Key]]:
    # the SDKs' annotations are strings, in which the class itself doesn't see Required
    for name, hint in typing_extensions.get_type_hints(sdk_type, include_extras=True).items():
        origin = get_origin(hint)
        is_required = origin is Required or (
            origin is not NotRequired and name in sdk_type.__required_keys__
        )
        yield _alias(hint) or name, _Key(hint, is_required)


def _alias(hint: Any) -> str | None:
    """Return the name on the wire, which anthropic and openai write as ``PropertyInfo``."""
    while get_origin(hint) in (Required, NotRequired):
        hint = get_args(hint)[0]
    aliases = (getattr(note, "alias", None) for note in getattr(hint, "__metadata__", ()))
    return next((alias for alias in aliases if alias), None)


def _is_leaf(value: Any, sdk_type: Any) -> bool:
    """Return whether JSON has this value for a type without keys or items."""
    adapter = _adapter(sdk_type)
    if adapter is None:
        return False
    try:
        adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError:
        return False
    return True


@cache
def _adapter(sdk_type: Any) -> TypeAdapter[Any] | None:
    try:
        return TypeAdapter(sdk_type)
    except PydanticSchemaGenerationError:  # an open file or a path, which JSON doesn't have
        return None
