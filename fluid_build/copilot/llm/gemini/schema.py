"""JSON schemas in the form that Gemini reads.

Gemini takes JSON Schema itself but for two details: nothing may be next to ``$ref``, and ``const``
isn't among the keywords that it knows (``GenerateContentConfig.response_json_schema`` in
google-genai 3.4). Other keywords that it doesn't know have no effect; validation afterwards has.
"""

from __future__ import annotations

from collections.abc import Mapping

from fluid_build.json_types import JsonObject, JsonValue

_SCHEMAS_BY_NAME = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_SCHEMA = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames"})
_SCHEMAS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})


def gemini_schema(schema: JsonObject) -> dict[str, JsonValue]:
    """Return ``schema`` with ``$ref`` alone in its place, and ``const`` as an ``enum``."""
    node = {name: _convert(name, value) for name, value in schema.items()}
    if "const" in node:
        value = node.pop("const")
        node.setdefault("enum", [value])
        if isinstance(value, str):
            node.setdefault("type", "string")
    if "$ref" in node and any(not name.startswith("$") for name in node):
        reference = {"$ref": node.pop("$ref")}
        return {**node, "anyOf": [reference]} if "anyOf" not in node else node | reference
    return node


def _convert(name: str, value: JsonValue) -> JsonValue:
    if name in _SCHEMAS_BY_NAME and isinstance(value, Mapping):
        return {key: _convert_schema(inner) for key, inner in value.items()}
    if name in _SCHEMAS and isinstance(value, list):
        return [_convert_schema(inner) for inner in value]
    return _convert_schema(value) if name in _SCHEMA else value


def _convert_schema(value: JsonValue) -> JsonValue:
    return gemini_schema(value) if isinstance(value, Mapping) else value
