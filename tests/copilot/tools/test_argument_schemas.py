"""The schemas of arguments: closed, and what breaks them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.tools.argument_schemas import (
    close_schema,
    find_extra_properties,
    find_faults,
    has_open_model,
)

NAMES = st.sampled_from(["a", "b", "properties", "default"])
LEAVES = st.sampled_from(["string", "integer"]).map(lambda name: {"type": name}) | st.just(
    {"$ref": "#/$defs/shared"}
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
        optional={"additionalProperties": st.booleans()},
    )


NODES = st.recursive(
    LEAVES,
    lambda inner: (
        objects(inner)
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)})
    ),
    max_leaves=5,
)
SCHEMAS = objects(NODES).map(lambda schema: {**schema, "$defs": {"shared": {"type": "string"}}})
VALUES = st.recursive(
    st.integers() | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


@given(SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=3))
def test_closing_refuses_extra_properties_and_nothing_else(
    schema: dict[str, Any], value: dict[str, Any]
) -> None:
    closed = close_schema(schema)
    assert close_schema(closed) == closed
    assert closed["additionalProperties"] is False
    is_valid = not find_faults(schema, value) and not find_extra_properties(closed, value)
    if "anyOf" not in repr(schema):  # an extra property may fit another branch
        assert (not find_faults(closed, value)) == is_valid


def test_closing_leaves_the_original_and_its_data_alone() -> None:
    schema = {"properties": {"a": {"properties": {}, "default": {"properties": {}}}}}
    closed = close_schema(schema)
    assert schema == {"properties": {"a": {"properties": {}, "default": {"properties": {}}}}}
    assert closed["properties"] == {
        "a": {"properties": {}, "default": {"properties": {}}, "additionalProperties": False}
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
def test_a_model_that_takes_other_properties_is_open_and_a_plain_mapping_is_not(
    schema: dict[str, Any], is_open: bool
) -> None:
    assert has_open_model(schema) is is_open


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"a": [1, "secret"]}, '/a/1: it is not of type "integer"'),
        ({}, '/: "a" is a required property'),
        ({"a": [], "n": 12}, "/n: it is greater than the maximum of 9"),
        ({"a": [], "k": "secret"}, '/k: it is not one of "x" or "y"'),
        ({"a": [], "z": 1}, "/: Additional properties are not allowed ('z' was unexpected)"),
        ({"a": {"secret"}}, "/: it is not JSON"),
    ],
)
def test_a_fault_names_the_place_and_what_was_expected_but_no_value(
    arguments: dict[str, Any], fault: str
) -> None:
    schema = {
        "properties": {
            "a": {"type": "array", "items": {"type": "integer"}},
            "k": {"enum": ["x", "y"]},
            "n": {"maximum": 9},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert find_faults(schema, arguments) == [fault]


def test_a_schema_that_refers_to_the_network_is_refused_without_a_request() -> None:
    with pytest.raises(ValueError, match="registry"):
        find_faults({"$ref": "http://127.0.0.1:9/schema.json"}, {})
