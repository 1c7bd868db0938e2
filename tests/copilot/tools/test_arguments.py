"""The checks of arguments against JSON Schema, held against the reference implementation."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.tools.argument_schemas import (
    find_fault,
    find_stray,
    harden,
    has_open_model,
)

NAMES = st.sampled_from(["a", "b", "c", "properties", "default"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, -2.5])
    | st.sampled_from(["", "a", "ab", "abc", "1"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
BOUNDS = st.integers(-2, 3)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": draw(st.dictionaries(NAMES, inner, max_size=3)),
    }
    if draw(st.booleans()):
        schema["required"] = draw(st.lists(NAMES, max_size=2, unique=True))
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans() | inner)
    return schema


LEAVES = st.one_of(
    st.fixed_dictionaries({"type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True)}),
    st.fixed_dictionaries({"enum": st.lists(st.sampled_from(["a", 1, False]), min_size=1)}),
    st.fixed_dictionaries({"const": st.sampled_from(["a", 0, True])}),
    st.fixed_dictionaries({"type": st.just("string"), "minLength": BOUNDS.map(abs)}),
    st.fixed_dictionaries({"type": st.just("string"), "maxLength": BOUNDS.map(abs)}),
    st.fixed_dictionaries({"type": st.just("string"), "pattern": st.sampled_from(["^a", "b$"])}),
    st.fixed_dictionaries({"type": st.just("number"), "minimum": BOUNDS, "maximum": BOUNDS}),
    st.fixed_dictionaries({"type": st.just("integer"), "exclusiveMinimum": BOUNDS}),
    st.fixed_dictionaries({"exclusiveMaximum": BOUNDS}),
    st.just({"$ref": "#/$defs/shared"}),
    st.just({}),
)
NODES = st.recursive(
    LEAVES,
    lambda inner: (
        objects(inner)
        | st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner, "minItems": st.integers(0, 2)}
        )
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)})
        | st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)})
    ),
    max_leaves=6,
)


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    shared = draw(st.just({"type": "string"}) | objects(st.just({"type": "integer"})))
    return {**draw(objects(NODES)), "$defs": {"shared": shared}}


@given(schemas(), VALUES)
def test_agrees_with_the_reference(schema: dict[str, Any], value: Any) -> None:
    """A value has a fault just where the reference finds it invalid, before and after hardening."""
    for one in (schema, harden(schema)):
        expected = jsonschema.Draft202012Validator(one).is_valid(value)
        assert (find_fault(one, value) is None) == expected


@given(schemas(), VALUES)
def test_hardening_only_closes(schema: dict[str, Any], value: Any) -> None:
    """A hardened schema accepts nothing that was not accepted before, and hardening ends there."""
    hardened = harden(schema)
    assert harden(hardened) == hardened
    assert hardened["additionalProperties"] is False
    without_extras = find_fault(schema, value) is None and find_stray(hardened, value) is None
    has_union = "anyOf" in repr(schema) or "allOf" in repr(schema)
    if not has_union:
        assert (find_fault(hardened, value) is None) == without_extras


def test_hardening_leaves_the_original_alone() -> None:
    """The schema that was given is not changed, and its data is no schema."""
    schema = {"properties": {"a": {"properties": {}, "default": {"properties": {}}}}}
    hardened = harden(schema)
    assert schema == {"properties": {"a": {"properties": {}, "default": {"properties": {}}}}}
    assert hardened["properties"]["a"] == {
        "properties": {},
        "default": {"properties": {}},
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "is_open"),
    [
        ({"properties": {}, "additionalProperties": True}, True),
        ({"type": "object", "additionalProperties": True}, False),
        ({"properties": {"additionalProperties": {"type": "string"}}}, False),
        ({"$defs": {"x": {"properties": {}, "additionalProperties": True}}}, True),
    ],
)
def test_open_models_are_found(schema: dict[str, Any], is_open: bool) -> None:
    """Objects with named properties that take others as well; a plain mapping is none."""
    assert has_open_model(schema) is is_open


def test_faults_name_places_not_values() -> None:
    """Where and what kind, never the value."""
    schema = {"properties": {"a": {"items": {"type": "integer"}}}}
    assert find_fault(schema, {"a": [1, "secret"]}) == "/a/1: type"
