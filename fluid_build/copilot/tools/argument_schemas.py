"""What a tool's arguments may be: its JSON Schema as a model sees it, and checks against one.

The checks cover the part of JSON Schema that describes arguments: types, required and further
properties, items, enumerations, bounds, references and unions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (Mapping,),
    "array": (list, tuple),
    "null": (type(None),),
}


def harden(schema: Schema) -> dict[str, Any]:
    """A copy in which objects with named properties take no others, the outermost never.

    A nested object that says itself that it takes others (``additionalProperties: true``) does.
    """
    hardened = _harden(schema)
    return {**hardened, "additionalProperties": False}


def has_open_model(schema: Schema) -> bool:
    """Whether any object with named properties, nested ones included, takes others as well."""
    return any(
        "properties" in node and node.get("additionalProperties") is True for node in _nodes(schema)
    )


def find_stray(schema: Schema, value: Any) -> str | None:
    """The path of a property that ``schema`` has no place for, or None."""
    return _stray(schema, value, schema, "")


def find_fault(schema: Schema, value: Any) -> str | None:
    """What is wrong with ``value``, as ``path: keyword``, or None. Never quotes the value."""
    return _fault(schema, value, schema, "")


def _harden(node: Any) -> Any:
    if isinstance(node, list):
        return [_harden(inner) for inner in node]
    if not isinstance(node, Mapping):
        return node
    hardened = {key: _harden_under(key, inner) for key, inner in node.items()}
    if isinstance(node.get("properties"), Mapping):
        hardened.setdefault("additionalProperties", False)
    return hardened


def _harden_under(key: str, inner: Any) -> Any:
    """The names under ``properties`` are no keywords, and examples and defaults no schemas."""
    if key in ("properties", "$defs") and isinstance(inner, Mapping):
        return {name: _harden(schema) for name, schema in inner.items()}
    return inner if key in ("default", "const", "enum", "examples") else _harden(inner)


def _nodes(node: Any) -> Iterator[Schema]:
    if isinstance(node, list):
        for inner in node:
            yield from _nodes(inner)
    elif isinstance(node, Mapping):
        yield node
        for key, inner in node.items():
            if key in ("properties", "$defs") and isinstance(inner, Mapping):
                for schema in inner.values():
                    yield from _nodes(schema)
            elif key not in ("default", "const", "enum", "examples"):
                yield from _nodes(inner)


def _resolve(schema: Schema, root: Schema) -> Schema:
    reference = schema.get("$ref")
    while isinstance(reference, str):
        target: Any = root
        for part in reference.removeprefix("#").strip("/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")] if part else target
        schema = target
        reference = schema.get("$ref")
    return schema


def _unions(schema: Schema) -> list[Schema]:
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]


def _stray(schema: Schema, value: Any, root: Schema, path: str) -> str | None:
    schema = _resolve(schema, root)
    unions = _unions(schema)
    if unions:
        found = [_stray(branch, value, root, path) for branch in unions]
        return None if None in found else found[0]
    if isinstance(value, Mapping):
        return _first_stray(schema, value, root, path)
    if isinstance(value, list | tuple) and isinstance(schema.get("items"), Mapping):
        found = [
            _stray(schema["items"], item, root, f"{path}/{place}")
            for place, item in enumerate(value)
        ]
        return next((stray for stray in found if stray), None)
    return None


def _first_stray(schema: Schema, value: Mapping[str, Any], root: Schema, path: str) -> str | None:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for name, inner in value.items():
        here = f"{path}/{name}"
        if name in properties:
            stray = _stray(properties[name], inner, root, here)
        elif isinstance(others, Mapping):
            stray = _stray(others, inner, root, here)
        else:
            stray = here if others is False else None
        if stray:
            return stray
    return None


def _fault(schema: Schema, value: Any, root: Schema, path: str) -> str | None:
    schema = _resolve(schema, root)
    for branch in schema.get("allOf", ()):
        if fault := _fault(branch, value, root, path):
            return fault
    unions = _unions(schema)
    if unions and all(_fault(branch, value, root, path) for branch in unions):
        return f"{path or '/'}: anyOf"
    if not _has_type(schema.get("type"), value):
        return f"{path or '/'}: type"
    if "enum" in schema and not any(_is_same(value, one) for one in schema["enum"]):
        return f"{path or '/'}: enum"
    if "const" in schema and not _is_same(value, schema["const"]):
        return f"{path or '/'}: const"
    if isinstance(value, Mapping):
        return _fault_in_object(schema, value, root, path)
    if isinstance(value, list | tuple):
        return _fault_in_array(schema, value, root, path)
    return _fault_in_bounds(schema, value, path)


def _is_same(one: Any, other: Any) -> bool:
    """JSON's equality: true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _has_type(named: Any, value: Any) -> bool:
    if named is None:
        return True
    names = [named] if isinstance(named, str) else named
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, _TYPES.get(name, ())) for name in names)


def _fault_in_object(
    schema: Schema, value: Mapping[str, Any], root: Schema, path: str
) -> str | None:
    for name in schema.get("required", ()):
        if name not in value:
            return f"{path}/{name}: required"
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for name, inner in value.items():
        if name not in properties and others is False:
            return f"{path}/{name}: additionalProperties"
        allowed = properties.get(name, others)
        if isinstance(allowed, Mapping) and (
            fault := _fault(allowed, inner, root, f"{path}/{name}")
        ):
            return fault
    return None


def _fault_in_array(
    schema: Schema, value: list[Any] | tuple[Any, ...], root: Schema, path: str
) -> str | None:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return f"{path or '/'}: length"
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return None
    for place, item in enumerate(value):
        if fault := _fault(items, item, root, f"{path}/{place}"):
            return fault
    return None


def _fault_in_bounds(schema: Schema, value: Any, path: str) -> str | None:
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
            return f"{path or '/'}: length"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            return f"{path or '/'}: pattern"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        low, above = schema.get("minimum", value), schema.get("exclusiveMinimum")
        high, below = schema.get("maximum", value), schema.get("exclusiveMaximum")
        if not low <= value <= high:
            return f"{path or '/'}: bounds"
        if (above is not None and value <= above) or (below is not None and value >= below):
            return f"{path or '/'}: bounds"
    return None
