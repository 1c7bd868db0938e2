"""Reading JSON that comes from a model or a server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from fluid_build.json_types import JsonValue

_DEEPEST_NESTING = 100
"""Levels: more than any schema has, and fewer than Python's recursion limit allows."""


def read_json(text: str | bytes) -> JsonValue:
    """Return the value of a stranger's JSON text.

    Raises ``ValueError`` for text that isn't JSON or is nested deeper than 100 levels: a value
    that is only just readable couldn't be written or redacted later.
    """
    try:
        value: JsonValue = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    content = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if content.count(b"[") + content.count(b"{") > _DEEPEST_NESTING:  # else it can't be deep
        _refuse_deep_nesting(value)
    return value


def _refuse_deep_nesting(value: JsonValue) -> None:
    level: list[JsonValue] = [value]
    for _ in range(_DEEPEST_NESTING):
        level = [inner for node in level for inner in _children(node)]
        if not level:
            return
    raise ValueError("the JSON is nested too deeply")


def _children(node: JsonValue) -> Iterable[JsonValue]:
    if isinstance(node, Mapping):
        return node.values()
    return node if isinstance(node, list) else ()
