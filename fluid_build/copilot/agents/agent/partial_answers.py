"""A typed answer while it is written: the fields that are there so far."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import from_json

_ALWAYS_READ = 2_000
"""Characters up to which an answer is read again with each piece of it."""
_GROWTH = 1.02
"""By how much a longer one has to grow: reading it at every piece would take quadratic time."""


class PartialAnswer:
    """The answer of a turn, read again as it grows. ``output`` is its type, or a wrapper of it."""

    def __init__(self, output: Any) -> None:
        self._fields = _fields_of(output)
        self._text = ""
        self._read_at = 0
        self._latest: Mapping[str, Any] = {}

    def reset(self) -> None:
        """Begin anew: what was written isn't the answer."""
        self._text, self._read_at, self._latest = "", 0, {}

    def add(self, text: str) -> Mapping[str, Any] | None:
        """Return the fields so far, each of its type; None where nothing has changed."""
        self._text += text
        length = len(self._text)
        if length > _ALWAYS_READ and length < self._read_at * _GROWTH:
            return None
        self._read_at = length
        fields = self._read()
        if not fields or fields == self._latest:
            return None
        self._latest = fields
        return fields

    def _read(self) -> Mapping[str, Any]:
        start = self._text.find("{")
        if start < 0 or not self._fields:
            return {}
        try:
            answer = from_json(self._text[start:], allow_partial="trailing-strings")
        except ValueError:
            return {}
        if not isinstance(answer, dict):
            return {}
        fields = {}
        for key, value in answer.items():
            adapter = self._fields.get(key)
            if adapter is None:
                continue
            try:
                fields[key] = adapter.validate_python(
                    value, experimental_allow_partial="trailing-strings"
                )
            except (ValidationError, NotImplementedError):
                continue  # not whole enough for its type yet
        return fields


def _fields_of(output: Any) -> dict[str, TypeAdapter[Any]]:
    """Return how each field is read, without the constraints that only a whole value meets."""
    types: dict[str, Any]
    if isinstance(output, type) and issubclass(output, BaseModel):
        fields = output.model_fields.items()
        types = {field.alias or name: field.annotation for name, field in fields}
    elif dataclasses.is_dataclass(output) or hasattr(output, "__total__"):
        types = get_type_hints(output)
    else:
        types = {"result": output}
    adapters = {}
    for name, kind in types.items():
        try:
            adapters[name] = TypeAdapter(kind)
        except PydanticUserError:
            continue
    return adapters
