"""Hardening of JSON schemas for OpenAI's strict mode, and restoring of the answers.

Strict mode wants every object closed (``additionalProperties: false``) and every property required.
A free-form object becomes text with JSON in it, which ``restore`` parses. An optional property
becomes a required one that may be null; ``restore`` leaves out nulls that the original schema
doesn't allow. Source: Typed Errors, "OpenAI strict-schema mode".
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from typing import Any, TypeAlias

STRICT_SCHEMA_VARIABLE = "FLUID_OPENAI_STRICT_SCHEMA"

Schema: TypeAlias = Mapping[str, Any]
"""A JSON schema, whose values depend on the keyword."""
_Node: TypeAlias = dict[str, Any]

_JSON_TEXT = "JSON, written as text."
_DEFINITIONS = ("$defs", "definitions")
_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (type(None), "null"),
)
_SUPPORTED = frozenset(
    {
        "$ref", "anyOf", "const", "description", "enum", "exclusiveMaximum", "exclusiveMinimum",
        "format", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "pattern",
        "properties", "title", "type", *_DEFINITIONS,
    }
)  # fmt: skip
"""The keywords of strict mode; all others are left to validation afterwards."""
_FORMATS = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}
)
"""The formats of text that strict mode takes: OpenAI's guide "Structured Outputs"."""


def strict_schema_enabled(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether ``FLUID_OPENAI_STRICT_SCHEMA`` is ``1``; off by default."""
    variables = os.environ if environ is None else environ
    return variables.get(STRICT_SCHEMA_VARIABLE, "").strip() == "1"


def harden(schema: Schema) -> _Node:
    """Return a copy of ``schema``, of an object, that strict mode accepts."""
    root = _resolve(copy.deepcopy(dict(schema)), schema)
    hardened = _closed_object(root, schema)
    for group in _DEFINITIONS:
        if isinstance(schema.get(group), Mapping):
            hardened[group] = {name: _harden(node, schema) for name, node in schema[group].items()}
    return hardened


def restore(value: object, schema: Schema) -> Any:
    """Return ``value``, which follows ``harden(schema)``, in the shape of ``schema`` itself.

    Text that should be JSON and isn't is left as it is: validation will say so.
    """
    root = _resolve(schema, schema)
    return _restore_object(value, root, schema) if isinstance(value, dict) else value


def _harden(node: object, root: Schema) -> _Node:
    if not isinstance(node, Mapping):  # the schemas true and false
        return {"type": "string", "description": _JSON_TEXT}
    node = _merge_all_of(node, root)
    if "$ref" in node:
        reference = {"$ref": node["$ref"]}
        description = node.get("description")  # strict mode allows nothing next to a reference
        return {"anyOf": [reference], "description": description} if description else reference
    union = node.get("anyOf", node.get("oneOf"))
    if isinstance(union, list):
        labels = {key: node[key] for key in ("title", "description") if key in node}
        return {**labels, "anyOf": [_harden(branch, root) for branch in union]}
    if _is_free_form(node):
        return _as_json_text(node)
    if _is_object(node):
        return _closed_object(node, root)
    hardened = {key: copy.deepcopy(value) for key, value in node.items() if key in _SUPPORTED}
    if "const" in hardened:
        hardened["enum"] = [hardened.pop("const")]
    if "type" not in hardened:
        hardened["type"] = _types_of(hardened["enum"])
    if hardened.get("format", "date") not in _FORMATS:
        description = f"{hardened.get('description', '')} (format: {hardened.pop('format')})"
        hardened["description"] = description.strip()
    if "items" in hardened or hardened["type"] == "array":
        hardened["items"] = _harden(node.get("items", True), root)
    return hardened


def _closed_object(node: Schema, root: Schema) -> _Node:
    properties = node.get("properties") or {}
    required = set(node.get("required") or ())
    hardened = {
        key: copy.deepcopy(value)
        for key, value in node.items()
        if key in _SUPPORTED and key not in ("properties", *_DEFINITIONS)
    }
    hardened["type"] = node.get("type", "object")
    hardened["properties"] = {
        name: _harden(inner, root) if name in required else _nullable(_harden(inner, root), root)
        for name, inner in properties.items()
    }
    hardened["required"] = list(properties)
    hardened["additionalProperties"] = False
    return hardened


def _as_json_text(node: Schema) -> _Node:
    description = node.get("description")
    types = node.get("type")
    nullable = isinstance(types, list) and "null" in types
    return {
        "type": ["string", "null"] if nullable else "string",
        "description": f"{description} {_JSON_TEXT}" if description else _JSON_TEXT,
    }


def _nullable(node: _Node, root: Schema) -> _Node:
    """Return ``node`` or null, which is how strict mode says that a property is optional."""
    if _allows_null(node, root):
        return node
    if "anyOf" in node:
        return {**node, "anyOf": [*node["anyOf"], {"type": "null"}]}
    if "$ref" in node or "enum" in node or node.get("type") == "object":
        return {"anyOf": [node, {"type": "null"}]}
    types = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return {**node, "type": [*types, "null"]}


def _allows_null(node: object, root: Schema) -> bool:
    if not isinstance(node, Mapping):
        return node is True
    if "$ref" in node:
        target = _resolve(node, root)
        return "$ref" not in target and _allows_null(target, root)
    union = node.get("anyOf", node.get("oneOf"))
    if isinstance(union, list):
        return any(_allows_null(branch, root) for branch in union)
    if "enum" in node:
        return None in node["enum"]
    types = node.get("type")
    return types == "null" or (isinstance(types, list) and "null" in types)


def _is_object(node: Schema) -> bool:
    types = node.get("type")
    return (
        types == "object"
        or (isinstance(types, list) and "object" in types)
        or (types is None and "properties" in node)
    )


def _is_free_form(node: Schema) -> bool:
    """Return whether anything is allowed, or properties that the schema doesn't name."""
    if _is_object(node):
        open_ended = node.get("additionalProperties", not node.get("properties"))
        return open_ended is not False
    return "type" not in node and "enum" not in node and "const" not in node


def _merge_all_of(node: Schema, root: Schema) -> Schema:
    """Merge the parts of ``allOf``, which strict mode doesn't have, into one schema."""
    parts = node.get("allOf")
    if not isinstance(parts, list):
        return node
    siblings = {key: value for key, value in node.items() if key not in ("allOf", "default")}
    if len(parts) == 1 and isinstance(parts[0], Mapping):
        return {**parts[0], **siblings}
    merged: _Node = {}
    for part in [*parts, siblings]:
        part = _merge_all_of(_resolve(part, root), root) if isinstance(part, Mapping) else {}
        properties = {**merged.get("properties", {}), **part.get("properties", {})}
        required = [*merged.get("required", []), *part.get("required", [])]
        merged = {**merged, **part}
        if properties:
            merged |= {"properties": properties, "required": required}
    return merged


def _resolve(node: Schema, root: Schema) -> Schema:
    """Return the schema that a reference leads to, or the node itself if it isn't a reference."""
    for _ in range(32):  # a chain of references longer than this is a circle
        reference = node.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return node
        target: Any = root
        for step in reference[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, Mapping) else None
        if not isinstance(target, Mapping):
            return node
        node = target
    return node


def _types_of(values: list[Any]) -> str | list[str]:
    names = [
        next((name for kind, name in _TYPE_NAMES if isinstance(value, kind)), "string")
        for value in values
    ]
    unique = list(dict.fromkeys(names))
    return unique[0] if len(unique) == 1 else unique


def _restore(value: object, node: object, root: Schema) -> Any:
    if not isinstance(node, Mapping):
        return _read_json_text(value)
    node = _merge_all_of(_resolve(node, root), root)
    node = _merge_all_of(_resolve(node, root), root)
    union = node.get("anyOf", node.get("oneOf"))
    if isinstance(union, list):
        branch = _branch_for(value, union, root)
        return value if branch is None else _restore(value, branch, root)
    if _is_free_form(node):
        return _read_json_text(value)
    if isinstance(value, dict):
        return _restore_object(value, node, root)
    if isinstance(value, list):
        return [_restore(item, node.get("items", True), root) for item in value]
    return value


def _restore_object(value: _Node, node: Schema, root: Schema) -> _Node:
    properties = node.get("properties") or {}
    required = node.get("required") or ()
    return {
        name: _restore(inner, properties[name], root) if name in properties else inner
        for name, inner in value.items()
        if inner is not None
        or name in required
        or name not in properties
        or _allows_null(properties[name], root)
    }


def _branch_for(value: object, union: list[Any], root: Schema) -> Any:
    """Return the branch that ``value`` follows: by its type, objects by their properties."""
    branches = [
        _merge_all_of(_resolve(b, root), root) if isinstance(b, Mapping) else {} for b in union
    ]
    if isinstance(value, dict):
        objects = [b for b in branches if _is_object(b) and not _is_free_form(b)]
        return next(
            (b for b in objects if value.keys() == (b.get("properties") or {}).keys()), None
        )
    if isinstance(value, list):
        return next((b for b in branches if b.get("type") == "array"), None)
    if isinstance(value, str) and not any(
        "string" in _as_list(b.get("type")) or "enum" in b or "const" in b for b in branches
    ):
        return next((b for b in branches if _is_free_form(b)), None)
    return None


def _as_list(types: Any) -> list[Any]:
    return types if isinstance(types, list) else [types]


def _read_json_text(value: object) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
