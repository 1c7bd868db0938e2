"""Closed JSON schemas, which Anthropic compiles into a grammar for the answer.

Every object is closed and every property required, as in OpenAI's strict mode, but constraints such
as ``minimum`` are refused: they move into the description, and validation checks them afterwards.
``strict_schema.restore`` reverses the changes in an answer. Sources: the SDK's
``lib/_parse/_transform.py`` and Anthropic's page "Structured outputs".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

from fluid_build.copilot.llm.strict_schema import Schema, harden

_Node: TypeAlias = dict[str, Any]

_MAX_UNIONS = 16
"""Of a request. Its refusal says: limit: 16 parameters with unions."""
_NAMED = ("properties", "$defs", "definitions")
_LISTED = ("anyOf", "oneOf", "allOf")
_SINGLE = ("items", "additionalProperties")
_CONSTRAINTS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern",
    "minItems", "maxItems", "format",
)  # fmt: skip
_FORMATS = frozenset(
    {
        "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri",
        "uuid",
    }
)  # fmt: skip


def compile_closed_schema(schema: Schema) -> _Node | None:
    """Return a closed copy of ``schema``, of an object.

    None if Anthropic can't compile one: it is recursive, has too many unions, or allows anything.
    """
    closed: _Node = _map_schemas(
        harden(_map_schemas(schema, _require_defaults)), _describe_constraints
    )
    if not closed["properties"] or _is_recursive(closed) or _count_unions(closed) > _MAX_UNIONS:
        return None
    return closed


def _map_schemas(node: Any, change: Callable[[_Node], _Node]) -> Any:
    """Return the schema with ``change`` applied to it and to all schemas in it."""
    if not isinstance(node, Mapping):  # the schemas true and false
        return node
    changed = dict(node)
    for key in _NAMED:
        if isinstance(node.get(key), Mapping):
            changed[key] = {name: _map_schemas(inner, change) for name, inner in node[key].items()}
    for key in _LISTED:
        if isinstance(node.get(key), list):
            changed[key] = [_map_schemas(inner, change) for inner in node[key]]
    for key in _SINGLE:
        if key in node:
            changed[key] = _map_schemas(node[key], change)
    return change(changed)


def _require_defaults(node: _Node) -> _Node:
    """Require the properties with a default: the model writes it, and no union is needed."""
    properties = node.get("properties")
    if not isinstance(properties, Mapping):
        return node
    with_default = [n for n, p in properties.items() if isinstance(p, Mapping) and "default" in p]
    return {**node, "required": [*(node.get("required") or ()), *with_default]}


def _describe_constraints(node: _Node) -> _Node:
    moved = {
        name: node[name] for name in _CONSTRAINTS if name in node and not _is_supported(name, node)
    }
    remaining = {name: value for name, value in node.items() if name not in moved}
    if "enum" in remaining:
        remaining.pop("type", None)  # the values say it, and null may be one of them
    if moved:
        words = ", ".join(f"{name}: {value}" for name, value in moved.items())
        remaining["description"] = f"{node.get('description', '')} ({words})".strip()
    return remaining


def _is_supported(name: str, node: _Node) -> bool:
    if name == "format":
        return node[name] in _FORMATS
    return name == "minItems" and node[name] in (0, 1)


def _count_unions(node: object) -> int:
    if isinstance(node, list):
        return sum(_count_unions(item) for item in node)
    if not isinstance(node, Mapping):
        return 0
    is_union = isinstance(node.get("anyOf"), list) or isinstance(node.get("type"), list)
    return is_union + sum(_count_unions(value) for value in node.values())


def _is_recursive(schema: Schema) -> bool:
    definitions: dict[str, Any] = {}
    for group in ("$defs", "definitions"):
        definitions |= {f"#/{group}/{name}": n for name, n in (schema.get(group) or {}).items()}
    references = {name: set(_references(node)) for name, node in definitions.items()}
    references["#"] = set(_references({k: v for k, v in schema.items() if k not in _NAMED[1:]}))
    try:
        TopologicalSorter(references).prepare()
    except CycleError:
        return True
    return False


def _references(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _references(item)
    elif isinstance(node, Mapping):
        for name, value in node.items():
            if name == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from _references(value)
