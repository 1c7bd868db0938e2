"""Strict mode: what the walker makes of any schema, and that nothing is lost on the way back."""

import copy
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.openai import OpenAIProvider
from fluid_build.copilot.llm.strict_schema import harden, restore, strict_schema_enabled

FORGE = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "contract": {"type": "object", "additionalProperties": True},
        "additional_files": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["summary", "contract"],
    "additionalProperties": False,
}


def objects_in(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "object" or "properties" in schema:
            yield schema
        for key, inner in schema.items():
            if key == "properties" or key == "$defs":
                for node in inner.values():
                    yield from objects_in(node)
            else:
                yield from objects_in(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects_in(inner)


def assert_strict(schema):
    objects = list(objects_in(schema))
    assert objects
    for node in objects:
        assert node["additionalProperties"] is False
        assert sorted(node["required"]) == sorted(node.get("properties", {}))


def test_every_object_is_closed_and_every_property_required():
    """The two demands of strict mode."""
    hardened = harden(FORGE)
    assert_strict(hardened)
    assert hardened["required"] == ["summary", "contract", "additional_files"]


def test_a_free_form_object_becomes_text_that_holds_json():
    """The documented rewriting, for any value and for values of one type."""
    hardened = harden(FORGE)
    assert hardened["properties"]["contract"]["type"] == "string"
    assert hardened["properties"]["additional_files"]["type"] == ["string", "null"]


def test_a_format_that_strict_mode_does_not_take_moves_into_the_description():
    """OpenAI refuses the whole schema for it."""
    formats = {"link": "uri", "day": "date"}
    properties = {name: {"type": "string", "format": f} for name, f in formats.items()}
    schema = {"type": "object", "properties": properties, "required": list(formats)}
    assert harden(schema)["properties"] == {
        "link": {"type": "string", "description": "(format: uri)"},
        "day": {"type": "string", "format": "date"},
    }


def test_hardening_does_not_change_its_argument():
    """Deep copy."""
    before = copy.deepcopy(FORGE)
    harden(FORGE)
    assert before == FORGE


def test_the_text_is_read_back_and_nulls_of_optional_properties_go():
    """What the caller gets follows the schema that they wrote."""
    answer = {"summary": "s", "contract": '{"a": {"b": [1]}}', "additional_files": None}
    assert restore(answer, FORGE) == {"summary": "s", "contract": {"a": {"b": [1]}}}


def test_text_that_is_not_json_is_left_for_validation():
    """Nothing is invented."""
    answer = {"summary": "s", "contract": "not json", "additional_files": None}
    assert restore(answer, FORGE)["contract"] == "not json"


class Column(BaseModel):
    name: str
    nullable: bool = True
    labels: dict[str, str] = Field(default_factory=dict)


class Table(BaseModel):
    name: str = Field(description="Its name.", min_length=1)
    columns: list[Column]
    key: Column | None = None
    children: list["Table"] = Field(default_factory=list)
    anything: object = None


def test_a_recursive_pydantic_model_survives_the_round_trip():
    """References, unions, lists, defaults and free-form parts, all at once."""
    schema = Table.model_json_schema()
    hardened = harden(schema)
    assert_strict(hardened)
    assert "default" not in json.dumps(hardened)
    assert "minLength" not in json.dumps(hardened)
    column = {"name": "id", "nullable": None, "labels": '{"pii": "no"}'}
    child = {"name": "c", "columns": [], "key": None, "children": [], "anything": "null"}
    answer = {
        "name": "t",
        "columns": [column],
        "key": column,
        "children": [child],
        "anything": '{"x": 1}',
    }
    jsonschema.validate(answer, hardened)
    table = Table.model_validate(restore(answer, schema))
    assert table.columns[0].labels == {"pii": "no"}
    assert table.key is not None
    assert table.children[0].name == "c"
    assert table.anything == {"x": 1}


def test_all_of_is_merged_and_one_of_becomes_any_of():
    """Strict mode knows neither."""
    schema = {
        "type": "object",
        "properties": {
            "both": {
                "allOf": [
                    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
                ]
            },
            "one": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        },
        "required": ["both", "one"],
    }
    hardened = harden(schema)
    assert "allOf" not in json.dumps(hardened)
    assert "oneOf" not in json.dumps(hardened)
    assert hardened["properties"]["both"]["required"] == ["a", "b"]


names = st.sampled_from(["a", "b", "c", "d"])
leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "boolean"},
        {"type": ["string", "null"]},
        {"enum": ["x", "y"]},
        {"type": "object", "additionalProperties": True},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {},
        True,
    ]
)


@st.composite
def object_schemas(draw, inner):
    properties = draw(st.dictionaries(names, inner, max_size=3))
    schema = {"type": "object", "properties": properties}
    schema["required"] = [name for name in properties if draw(st.booleans())]
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans())
    return schema


nodes = st.recursive(
    leaves,
    lambda inner: st.one_of(
        object_schemas(inner),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner),
    ),
    max_leaves=8,
)


@given(object_schemas(nodes))
def test_any_schema_is_hardened_and_hardening_again_changes_nothing(schema):
    """Strict everywhere, still a valid schema, and stable."""
    given_schema = copy.deepcopy(schema)
    hardened = harden(schema)
    assert_strict(hardened)
    jsonschema.Draft202012Validator.check_schema(hardened)
    assert harden(hardened) == hardened
    assert schema == given_schema


plain_leaves = st.sampled_from(
    [
        ({"type": "string"}, "text"),
        ({"type": "integer"}, 7),
        ({"type": ["string", "null"]}, None),
        ({"type": "object", "additionalProperties": True}, {"k": [1, {"z": None}]}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"n": 1}),
    ]
)


@st.composite
def schema_and_value(draw, depth=2):
    properties, required, value = {}, [], {}
    for name in draw(st.lists(names, unique=True, max_size=3)):
        kind = draw(st.integers(0, 2)) if depth else 0
        if kind == 0:
            node, inner = draw(plain_leaves)
        elif kind == 1:
            node, inner = draw(schema_and_value(depth - 1))
        else:
            item, sample = draw(schema_and_value(depth - 1))
            node, inner = {"type": "array", "items": item}, [sample, sample]
        properties[name] = node
        if draw(st.booleans()):
            required.append(name)
            value[name] = inner
        elif draw(st.booleans()):
            value[name] = inner
    schema = {"type": "object", "properties": properties, "required": required}
    return {**schema, "additionalProperties": False}, value


def encode(value, schema):
    """What a model in strict mode would write for ``value``."""
    if schema["type"] == "object" and schema.get("additionalProperties") is not False:
        return json.dumps(value)
    if schema["type"] == "array":
        return [encode(item, schema["items"]) for item in value]
    if schema["type"] == "object":
        return {
            name: encode(value[name], node) if name in value else None
            for name, node in schema["properties"].items()
        }
    return value


@given(schema_and_value())
def test_what_a_strict_answer_says_comes_back_in_the_original_shape(pair):
    """Restoring undoes harden, but for optional properties that may be null anyway."""
    schema, value = pair
    answer = encode(value, schema)
    jsonschema.validate(answer, harden(schema))
    restored = restore(answer, schema)
    jsonschema.validate(restored, schema)
    assert same_but_for_nulls(restored, value)


def same_but_for_nulls(left, right):
    if isinstance(left, dict) and isinstance(right, dict):
        keys = left.keys() | right.keys()
        return all(same_but_for_nulls(left.get(key), right.get(key)) for key in keys)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_but_for_nulls, left, right))
    return left == right


@pytest.mark.parametrize(
    ("value", "enabled"), [(None, False), ("", False), ("0", False), ("1", True)]
)
def test_the_switch_is_off_by_default(value, enabled):
    """FLUID_OPENAI_STRICT_SCHEMA=1 turns it on."""
    environ = {} if value is None else {"FLUID_OPENAI_STRICT_SCHEMA": value}
    assert strict_schema_enabled(environ) is enabled


def test_openai_sends_the_schema_as_it_is_unless_switched_on(monkeypatch):
    """Not strict then, and the schema untouched."""
    monkeypatch.delenv("FLUID_OPENAI_STRICT_SCHEMA", raising=False)
    prompt = LlmPrompt("m", [], response_schema=FORGE)
    sent = OpenAIProvider().build_request(prompt).body["response_format"]["json_schema"]
    assert (sent["strict"], sent["schema"]) == (False, FORGE)


def test_openai_hardens_and_restores_when_switched_on(monkeypatch):
    """The caller sees their own shape only."""
    monkeypatch.setenv("FLUID_OPENAI_STRICT_SCHEMA", "1")
    provider = OpenAIProvider()
    prompt = LlmPrompt("m", [], response_schema=FORGE)
    sent = provider.build_request(prompt).body["response_format"]["json_schema"]
    assert (sent["strict"], sent["schema"]) == (True, harden(FORGE))
    content = json.dumps({"summary": "s", "contract": '{"a": 1}', "additional_files": None})
    body = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    assert provider.parse_response(body, prompt).as_json() == {
        "summary": "s",
        "contract": {"a": 1},
    }
