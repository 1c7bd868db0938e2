"""Schemas as Anthropic compiles them, and those that it can't."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from fluid_build.copilot.llm.closed_schema import compile_closed_schema
from fluid_build.copilot.llm.strict_schema import restore
from tests.fault_server.wire.anthropic_rules import refuse


class Column(BaseModel):
    """One column."""

    name: str = Field(min_length=1, pattern="^[a-z]+$")
    rows: int = Field(ge=0, description="The count.")
    notes: dict[str, str] = {}
    default: str | None = None
    kind: str = "text"


class Table(BaseModel):
    """A table with columns."""

    columns: list[Column] = Field(min_length=2)
    created: str = Field(json_schema_extra={"format": "date"})
    other: str = Field(json_schema_extra={"format": "made-up"})


def refusal(schema):
    """Return what the server says about the schema."""
    output_format = {"type": "json_schema", "schema": schema}
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"anthropic-version": "2026-10-21"}
    return refuse(headers, {**body, "output_config": {"format": output_format}})


def test_every_object_is_closed_and_every_property_required():
    """In definitions too; the server accepts the schema."""
    schema = compile_closed_schema(Table.model_json_schema())
    column = schema["$defs"]["Column"]
    for node in (schema, column):
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
    assert refusal(schema) is None
    assert "'additionalProperties' must be" in refusal(Table.model_json_schema())


def test_constraints_move_into_the_description():
    """The model may follow them; validation checks them afterwards."""
    schema = compile_closed_schema(Table.model_json_schema())
    column = schema["$defs"]["Column"]["properties"]
    assert column["rows"]["description"] == "The count. (minimum: 0)"
    assert column["name"]["description"] == "(pattern: ^[a-z]+$)"
    assert schema["properties"]["columns"]["description"] == "(minItems: 2)"
    assert schema["properties"]["created"]["format"] == "date"
    assert schema["properties"]["other"]["description"] == "(format: made-up)"
    assert not {"minimum", "pattern"} & (column["rows"].keys() | column["name"].keys())


def test_a_property_with_a_default_needs_no_union():
    """Only 16 unions are compiled."""
    schema = compile_closed_schema(Column.model_json_schema())
    assert "anyOf" not in schema["properties"]["kind"]
    assert schema["properties"]["kind"]["type"] == "string"


RECURSIVE = {
    "type": "object",
    "properties": {"child": {"$ref": "#/$defs/a"}},
    "required": ["child"],
    "$defs": {
        "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}}, "required": ["b"]},
        "b": {"type": "array", "items": {"$ref": "#/$defs/a"}},
    },
}


def many(count):
    union = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    properties = {f"p{number}": union for number in range(count)}
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize("schema", [RECURSIVE, many(17), {"type": "object"}])
def test_what_cannot_be_compiled_has_no_closed_schema(schema):
    """Recursion, too many unions, an object of anything."""
    assert compile_closed_schema(schema) is None


def test_sixteen_unions_and_a_shared_definition_can_be_compiled():
    """The limit itself, and references without a circle."""
    assert compile_closed_schema(many(16)) is not None
    shared = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}},
        "required": ["a", "b"],
        "$defs": {"x": {"type": "string"}},
    }
    assert compile_closed_schema(shared) is not None


tables = st.builds(
    Table,
    columns=st.lists(
        st.builds(
            Column,
            name=st.text("ab", min_size=1),
            rows=st.integers(0, 9),
            notes=st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
            default=st.none() | st.text(max_size=3),
        ),
        min_size=2,
        max_size=3,
    ),
    created=st.just("2026-01-01"),
    other=st.text(max_size=3),
)


@given(tables)
def test_an_answer_in_the_closed_schema_is_restored(table):
    """Free-form objects were written as text."""
    value = table.model_dump()
    columns = [{**column, "notes": json.dumps(column["notes"])} for column in value["columns"]]
    written = {**value, "columns": columns}
    schema = Table.model_json_schema()
    jsonschema.validate(written, compile_closed_schema(schema))
    assert restore(written, schema) == value
