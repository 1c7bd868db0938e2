"""Values drawn from a JSON schema, by a seeded generator."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from fluid_build.json_types import JsonObject, JsonValue

DrawText = Callable[[random.Random, str], str]
"""Draws a text for a field, by the field's name."""

_MOST_ITEMS = 6
_DEEPEST = 8
"""Levels of a drawn value; a schema may refer to itself."""
_SHARE_OF_OPTIONAL = 0.6
"""How often an optional field is there."""


def draw(schema: JsonObject, generator: random.Random, text: DrawText) -> JsonValue:
    """Return a value that follows the schema, with texts from ``text``.

    Patterns and formats of texts aren't followed: a model doesn't always either.
    """
    return _Drawing(schema, generator, text).value(schema, "", 0)


class _Drawing:
    """One value in the making: the root of the schema, for its references, and the sources."""

    def __init__(self, root: JsonObject, generator: random.Random, text: DrawText) -> None:
        self._root = root
        self._generator = generator
        self._text = text

    def value(self, schema: Any, name: str, depth: int) -> JsonValue:
        generator = self._generator
        schema = self._resolved(schema)
        if depth > _DEEPEST or not isinstance(schema, Mapping):
            return None
        if "const" in schema:
            constant: JsonValue = schema["const"]
            return constant
        if schema.get("enum"):
            choice: JsonValue = generator.choice(list(schema["enum"]))
            return choice
        variants = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if variants:
            return self.value(generator.choice(list(variants)), name, depth)
        return self._typed(schema, name, depth)

    def _resolved(self, schema: Any) -> Any:
        for _ in range(_DEEPEST):
            reference = schema.get("$ref") if isinstance(schema, Mapping) else None
            if not isinstance(reference, str):
                break
            schema = self._root
            for part in reference.removeprefix("#/").split("/"):
                schema = schema.get(part) if isinstance(schema, Mapping) else None
        return schema

    def _typed(self, schema: Mapping[str, Any], name: str, depth: int) -> JsonValue:
        generator, kind = self._generator, schema.get("type")
        if isinstance(kind, list):
            kind = generator.choice(kind)
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(schema, depth)
        if kind == "array":
            most = min(int(schema.get("maxItems", _MOST_ITEMS)), _MOST_ITEMS)
            least = min(int(schema.get("minItems", 0)), _MOST_ITEMS)
            items = range(generator.randint(least, max(least, most)))
            return [self.value(schema.get("items", {}), name, depth + 1) for _ in items]
        if kind == "integer":
            return generator.randint(
                int(schema.get("minimum", -3)), int(schema.get("maximum", 1_000_000))
            )
        if kind == "number":
            return generator.uniform(-1e6, 1e6)
        if kind == "boolean":
            return generator.random() < 0.5
        return None if kind == "null" else self._text(generator, name)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, JsonValue]:
        required = schema.get("required", ())
        return {
            name: self.value(part, name, depth + 1)
            for name, part in schema.get("properties", {}).items()
            if name in required or self._generator.random() < _SHARE_OF_OPTIONAL
        }
