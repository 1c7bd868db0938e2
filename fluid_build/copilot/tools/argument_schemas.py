"""The JSON schemas of tools' arguments, and validation against them.

A schema may come from a Pydantic model or be written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic_core import to_json

from fluid_build.json_types import JsonObject, JsonValue

if TYPE_CHECKING:
    import jsonschema_rs

_DATA = ("default", "const", "enum", "examples")
"""Keywords whose values are data, even where they look like schemas."""

_NAMED_SCHEMAS = ("properties", "$defs")
"""Keywords whose keys are names, not keywords."""

_OF_STRUCTURE = frozenset(
    {*_NAMED_SCHEMAS, "$ref", "additionalProperties", "anyOf", "items", "oneOf"}
)
"""Keywords that say which properties there may be, whatever their types."""


def close_schema(schema: JsonObject) -> dict[str, JsonValue]:
    """Return a copy in which objects with named properties take no others, the outermost never.

    A nested object that says ``additionalProperties: true`` itself still takes others.
    """
    return {**close_silent_objects(schema), "additionalProperties": False}


def close_silent_objects(schema: JsonObject) -> JsonObject:
    """Return a copy in which objects with named properties take others only if they say so."""
    return _mapped(schema, _closed)


def has_open_model(schema: JsonObject) -> bool:
    """Return whether any object with named properties, nested ones included, takes others too."""
    return any(
        "properties" in node and node.get("additionalProperties") is True for node in _nodes(schema)
    )


def find_extra_properties(schema: JsonObject, arguments: Mapping[str, object]) -> list[str]:
    """Return the properties that the schema doesn't have, whatever their types."""
    return find_faults(_mapped(schema, _structure), arguments)


def find_faults(schema: JsonObject, arguments: Mapping[str, object]) -> list[str]:
    """Return the faults of the arguments, each as its path and the expected value.

    Quotes no value of the arguments.
    """
    validator = _validator(to_json(schema).decode())
    try:
        errors = [*validator.iter_errors(dict(arguments))]
    except ValueError:  # a value that JSON can't hold
        return ["/: it is not JSON"]
    return [
        f"/{'/'.join(str(part) for part in error.instance_path)}: {error.message}"
        for error in errors
    ]


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> jsonschema_rs.Validator:
    # Only hand-written and partly open schemas need it; importing it takes 5 ms.
    import jsonschema_rs

    return jsonschema_rs.validator_for(schema_text, mask="it", offline=True)


def _closed(node: JsonObject) -> JsonObject:
    if isinstance(node.get("properties"), Mapping):
        return {**node, "additionalProperties": node.get("additionalProperties", False)}
    return node


def _structure(node: JsonObject) -> JsonObject:
    return {key: value for key, value in node.items() if key in _OF_STRUCTURE}


def _mapped(node: JsonObject, change: Callable[[JsonObject], JsonObject]) -> JsonObject:
    """Return a schema with every schema in it changed, the inner ones first."""
    return change({key: _mapped_under(key, inner, change) for key, inner in node.items()})


def _mapped_under(
    key: str, inner: JsonValue, change: Callable[[JsonObject], JsonObject]
) -> JsonValue:
    if key in _DATA:
        return inner
    if isinstance(inner, list):
        return [_mapped(item, change) if isinstance(item, Mapping) else item for item in inner]
    if not isinstance(inner, Mapping):
        return inner
    if key in _NAMED_SCHEMAS:
        return {name: _mapped_under("", schema, change) for name, schema in inner.items()}
    return _mapped(inner, change)


def _nodes(node: JsonValue) -> Iterator[JsonObject]:
    """Yield every schema in a schema, itself first."""
    if isinstance(node, Mapping):
        yield node
        for key, inner in node.items():
            if key in _NAMED_SCHEMAS and isinstance(inner, Mapping):
                for schema in inner.values():
                    yield from _nodes(schema)
            elif key not in _DATA:
                yield from _nodes(inner)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for inner in node:
            yield from _nodes(inner)
