"""Arguments as the provider's JSON text: checked as an object is, and traced as they came."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from fluid_build.copilot.tools.definition import ForgeTool
from fluid_build.copilot.tools.dispatch import dispatch_forge_tool, dispatch_tool_call
from fluid_build.copilot.tools.metrics import ToolObservabilityCollector
from fluid_build.copilot.tools.registry import TOOL_REGISTRY, forge_tool
from fluid_build.copilot.tools.toolbox import Toolbox


class Colour(enum.Enum):
    RED = "red"
    ONE = 1


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Row(TypedDict, total=False):
    a: int
    b: str


class Inner(BaseModel):
    n: int = 0


class OpenInner(BaseModel):
    model_config = ConfigDict(extra="allow")
    n: int = 0


class Everything(BaseModel):
    """One field for each type that JSON and Python may read differently."""

    whole: int = 0
    number: float = 0.0
    exact: decimal.Decimal = decimal.Decimal(0)
    flag: bool = False
    text: str = ""
    raw: bytes = b""
    day: datetime.date | None = None
    moment: datetime.datetime | None = None
    clock: datetime.time | None = None
    span: datetime.timedelta | None = None
    colour: Colour = Colour.RED
    choice: Literal["a", 1] = "a"
    pair: tuple[int, str] = (0, "")
    point: Point = Point(0)
    unique: set[int] = set()
    frozen: frozenset[str] = frozenset()
    by_number: dict[int, float] = {}
    key: uuid.UUID | None = None
    path: Path | None = None
    either: int | str | list[float] = 0
    row: Row = {}
    inner: Inner = Inner()
    inners: list[Inner] = []
    bounded: int = Field(default=1, ge=1, le=10)
    anything: Any = None


class PartlyOpen(BaseModel):
    inner: Inner = Inner()
    open: OpenInner = OpenInner()


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-20, 20),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [
            *["", "a", "1", "1.5", "-0", "true", "red", "NaN", "é", "\x00", "\u2028", "😀"],
            *["2024-01-01", "2024-01-01T10:00:00Z", "10:00", "PT1H", "P1D"],
            "12345678-1234-5678-1234-567812345678",
        ]
    ),
    st.text(max_size=4),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "n", "x", "1"]), inner, max_size=3)
    ),
    max_leaves=5,
)
CALLS = st.dictionaries(
    st.sampled_from([*Everything.model_fields, "extra"]), VALUES, min_size=1, max_size=3
)


def outcome(tool: ForgeTool[..., Any], arguments: Any) -> Any:
    result = Toolbox([tool]).dispatch(tool.name, arguments)
    return repr(result.value) if result.ok else result.error_type


def echo_of(schema: type[BaseModel]) -> ForgeTool[..., Any]:
    echo = forge_tool(name="echo", description="d", args_schema=schema, register=False)
    return echo(lambda args: repr(args))


@given(CALLS)
def test_text_and_object_get_the_same_verdict_and_the_same_values(call: dict[str, Any]) -> None:
    tool = echo_of(Everything)
    text = json.dumps(call)
    from_object = outcome(tool, json.loads(text))
    assert outcome(tool, text) == outcome(tool, text.encode()) == from_object
    if "extra" in call:
        assert from_object == "ToolValidationError"


@given(st.dictionaries(st.sampled_from(["inner", "open", "z"]), VALUES, max_size=3))
def test_a_partly_open_model_refuses_the_same_in_both_forms(call: dict[str, Any]) -> None:
    tool = echo_of(PartlyOpen)
    assert outcome(tool, json.dumps(call)) == outcome(tool, call)


@given(st.dictionaries(st.sampled_from(["a", "n", "z"]), VALUES, max_size=3))
def test_a_hand_written_schema_is_checked_the_same_in_both_forms(call: dict[str, Any]) -> None:
    TOOL_REGISTRY["old"] = {
        "name": "old",
        "description": "d",
        "input_schema": {"properties": {"a": {"type": "string"}, "n": {"type": "integer"}}},
        "impl": lambda **arguments: sorted(arguments.items()),
    }
    assert dispatch_tool_call("old", json.dumps(call)) == dispatch_tool_call("old", call)


NOT_OBJECTS: list[Any] = [
    *["", " ", "{", "nul", "{}x", '{"text": "a"} {}', "{'text': 'a'}", '{"text": "a",}'],
    *["[]", "null", "5", '"text"', "\ufeff{}", '{"text": "\\ud800"}', "\ud800", b"\xff{}"],
    '{"anything": ' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"anything": ' + "[" * 100_000,
]


@pytest.mark.parametrize("kind", ["declared", "hand-written"])
@pytest.mark.parametrize("text", NOT_OBJECTS, ids=range(len(NOT_OBJECTS)))
def test_text_that_is_no_object_is_refused_and_traced(kind: str, text: Any) -> None:
    collector = ToolObservabilityCollector()
    forge_tool(name="declared", description="d", args_schema=Everything)(lambda args: "ok")
    TOOL_REGISTRY["hand-written"] = {
        "name": "hand-written",
        "description": "d",
        "input_schema": {"type": "object"},
        "impl": lambda **_: "ok",
    }
    answer = dispatch_tool_call(kind, text, collector=collector)
    assert answer == {
        "error": "ToolValidationError",
        "message": f"Tool '{kind}' failed — see server logs",
    }
    (trace,) = collector.traces.values()
    assert trace.input_params
    assert len(repr(trace)) < 10_000


def test_the_reason_says_where_the_text_stops_being_json() -> None:
    forge_tool(name="t", description="d", args_schema=Inner)(lambda args: None)
    reason = dispatch_forge_tool("t", '{"n": 1').reason
    assert reason is not None
    assert reason.startswith("/: it is not JSON (Invalid JSON: EOF while parsing an object")
    assert dispatch_forge_tool("t", '{"n": "x"}').reason == "/n: int_parsing"


def test_a_reason_is_short_whatever_the_model_sends() -> None:
    forge_tool(name="t", description="d", args_schema=Inner)(lambda args: None)
    result = dispatch_forge_tool("t", {"x" * 10_000 + str(number): 1 for number in range(100)})
    assert result.reason is not None
    assert len(result.reason) < 2_000
    assert result.reason.endswith("; and 92 more")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"n": 1, "n": 2}', 2),
        ('{"n": "wrong", "n": 2}', 2),
        ('{"n": 1, "n": "wrong"}', "ToolValidationError"),
        ('{"z": 1, "n": 2, "z": 2}', "ToolValidationError"),
    ],
)
def test_the_last_of_two_equal_names_counts_as_in_python(text: str, value: object) -> None:
    collector = ToolObservabilityCollector()
    forge_tool(name="t", description="d", args_schema=Inner)(lambda args: args.n)
    result = dispatch_forge_tool("t", text, collector=collector)
    assert (result.value if result.ok else result.error_type) == value
    assert result.ok == dispatch_forge_tool("t", json.loads(text)).ok
    (trace,) = collector.traces.values()
    assert trace.input_params == json.loads(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_has_not_are_accepted_where_python_accepts_them(number: str) -> None:
    collector = ToolObservabilityCollector()
    for field, is_accepted in [("number", True), ("whole", False), ("text", False)]:
        text = f'{{"{field}": {number}}}'
        forge_tool(name=field, description="d", args_schema=Everything)(lambda args: None)
        for arguments in (text, json.loads(text)):
            result = dispatch_forge_tool(field, arguments, collector=collector)
            assert result.ok == is_accepted, (field, arguments)
    assert len(collector.traces) == 6
    assert all(trace.input_params for trace in collector.traces.values())


def test_a_trace_has_the_text_as_it_came_without_its_secrets() -> None:
    collector = ToolObservabilityCollector(max_value_bytes=60)
    forge_tool(name="t", description="d", args_schema=Everything)(lambda args: None)
    for text in [
        '{"whole": "5", "password": "canary-1"}',
        '{"password": "canary-2", "text": "' + "x" * 100 + '"}',
        '{"password": "canary-3", whole',
        'password="canary-4", ' + "x" * 100,
    ]:
        dispatch_forge_tool("t", text, collector=collector)
    traces = [trace.input_params for trace in collector.traces.values()]
    assert traces[0] == {"whole": "5", "password": "[redacted]"}
    assert (traces[1]["_truncated"], traces[1]["_total_chars"]) == (True, 136)
    assert "canary" not in repr(traces)


def add(a: int, b: int = 1) -> int:
    return a + b


@pytest.mark.parametrize("call", ['{"a": 2}', b'{"a": 1, "b": 2}'])
@pytest.mark.parametrize("declare", [forge_tool, forge_tool(name="add")])
def test_a_tool_from_a_signature_takes_text(declare: Callable[..., Any], call: Any) -> None:
    declare(add)
    assert dispatch_tool_call("add", call) == 3
