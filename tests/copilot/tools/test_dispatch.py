"""Dispatching: what a model asks for is checked, called, written down, and tells no secrets."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
import logging
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from fluid_build.copilot.events import Event, get_event_bus
from fluid_build.copilot.tools.dispatch import (
    dispatch_forge_tool,
    dispatch_forge_tool_async,
    dispatch_tool_call,
    dispatch_tool_call_async,
    tool_result_text,
)
from fluid_build.copilot.tools.metrics import ToolExecutionStatus, ToolObservabilityCollector
from fluid_build.copilot.tools.registry import (
    FORGE_TOOL_REGISTRY,
    STAGED_TOOL_REGISTRY,
    TOOL_REGISTRY,
    find_tool,
    forge_tool,
    get_tool_definitions,
)

CANARY = "canary-5f3a9c"


class Args(BaseModel):
    text: str = ""


def tool(function: Callable[..., Any], name: str = "t", **options: Any) -> Any:
    return forge_tool(name=name, description="d", args_schema=Args, **options)(function)


# Declaring


def test_name_and_description_default() -> None:
    """The name is the function's, the description the first line of its docstring."""

    @forge_tool(args_schema=Args, tags=["a"])
    def list_templates(args: Args) -> Any:
        """List the templates.

        More.
        """

    assert (list_templates.name, list_templates.description) == (
        "list_templates",
        "List the templates.",
    )
    assert list_templates.tags == ("a",)
    assert {"list_templates": list_templates} == FORGE_TOOL_REGISTRY


@pytest.mark.parametrize("schema", [dict, None, {"type": "object"}, Args()])
def test_only_pydantic_models(schema: Any) -> None:
    """A schema must be a Pydantic model class when the tool is declared."""
    with pytest.raises(TypeError, match="Pydantic model"):
        forge_tool(args_schema=schema)


def test_injected_fields_are_not_the_models() -> None:
    """A schema cannot have the injected argument."""

    class Bad(BaseModel):
        workspace_root: str

    with pytest.raises(TypeError, match="workspace_root"):
        forge_tool(args_schema=Bad)(lambda args: None)


def test_unregistered_tools() -> None:
    """A tool may be declared without being registered."""
    tool(lambda args: None, register=False)
    assert FORGE_TOOL_REGISTRY == {}
    assert dispatch_forge_tool("t", {}).error_type == "UnknownTool"


def test_names_are_unique() -> None:
    """Two functions cannot have one name; the same one may be declared again."""

    def first(args: Any) -> Any: ...

    tool(first)
    tool(first)
    with pytest.raises(ValueError, match="'t' exists already"):
        tool(lambda args: None)


def test_staged_tools_are_gated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A staged tool is found last, and only if the environment says so."""
    STAGED_TOOL_REGISTRY["s"] = tool(lambda args: "staged", name="s", register=False)
    assert find_tool("s") is None
    monkeypatch.setenv("FLUID_FORGE_STAGED_TOOL_LOOP", "1")
    assert dispatch_tool_call("s", {}) == "staged"
    assert [definition["name"] for definition in get_tool_definitions()] == ["s"]
    tool(lambda args: "declared", name="s")
    assert dispatch_tool_call("s", {}) == "declared"


# Arguments


class Inner(BaseModel):
    x: int = 0


class OpenInner(BaseModel):
    model_config = {"extra": "allow"}
    x: int = 0


class Closed(BaseModel):
    inner: Inner = Inner()
    many: list[Inner] = []
    maybe: Inner | None = None


class PartlyOpen(BaseModel):
    inner: Inner = Inner()
    open: OpenInner = OpenInner()
    either: Inner | OpenInner | str = ""
    by_name: dict[str, Inner] = {}


@pytest.mark.parametrize(
    ("schema", "arguments", "is_accepted"),
    [
        (Closed, {"inner": {"x": 1}, "many": [{"x": 2}], "maybe": None}, True),
        (Closed, {"z": 1}, False),
        (Closed, {"inner": {"z": 1}}, False),
        (Closed, {"many": [{"x": 1}, {"z": 1}]}, False),
        (Closed, {"maybe": {"z": 1}}, False),
        (PartlyOpen, {"open": {"z": 1}}, True),
        (PartlyOpen, {"either": {"z": 1}}, True),
        (PartlyOpen, {"either": "text", "by_name": {"a": {"x": 1}}}, True),
        (PartlyOpen, {"z": 1}, False),
        (PartlyOpen, {"inner": {"z": 1}}, False),
        (PartlyOpen, {"by_name": {"a": {"z": 1}}}, False),
        (PartlyOpen, {"inner": {"x": "no"}}, False),
    ],
)
def test_extra_arguments_are_refused(schema: Any, arguments: Any, is_accepted: bool) -> None:
    """Extra arguments are refused at every depth, but where a nested model says it takes them."""
    forge_tool(name="t", description="d", args_schema=schema)(lambda args: "ok")
    result = dispatch_forge_tool("t", arguments)
    assert (result.ok, result.error_type) == (
        (True, None) if is_accepted else (False, "ToolValidationError")
    )


def test_schema_says_what_is_checked() -> None:
    """The schema for the model closes what the check closes."""
    open_tool = forge_tool(name="t", description="d", args_schema=PartlyOpen)(lambda args: None)
    schema = open_tool.input_schema
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Inner"]["additionalProperties"] is False
    assert schema["$defs"]["OpenInner"]["additionalProperties"] is True


@pytest.mark.parametrize("arguments", [None, [], "text", 5, {1: 2}])
def test_arguments_that_are_not_an_object_are_refused(arguments: Any) -> None:
    """Arguments must be an object, whatever else they are."""
    tool(lambda args: None)
    assert dispatch_forge_tool("t", arguments).error_type == "ToolValidationError"


@given(st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(max_size=5)))
def test_only_what_is_in_the_schema_gets_through(arguments: dict[str, Any]) -> None:
    """Whatever the arguments: a call is accepted only if all of them are the schema's."""
    FORGE_TOOL_REGISTRY.clear()
    seen = []
    tool(lambda args: seen.append(args))
    is_accepted = dispatch_forge_tool("t", arguments).ok
    assert is_accepted == (
        set(arguments) <= {"text"} and isinstance(arguments.get("text", ""), str)
    )
    assert len(seen) == is_accepted


# Calling, in all four combinations


def test_sync_and_async_tools_both_ways() -> None:
    """A plain and an asynchronous tool can each be called from blocking and from async code."""

    async def slow(args: Args) -> Any:
        await asyncio.sleep(0)
        return threading.current_thread().name

    def plain(args: Args) -> Any:
        return threading.current_thread().name

    tool(slow, "slow")
    tool(plain, "plain")

    async def main() -> list[Any]:
        nested = dispatch_tool_call("slow", {})  # blocking, inside of a running loop
        return [
            nested,
            await dispatch_tool_call_async("slow", {}),
            await dispatch_tool_call_async("plain", {}),
            (await dispatch_forge_tool_async("plain", {})).value,
        ]

    assert dispatch_tool_call("slow", {}) == "MainThread"
    assert dispatch_tool_call("plain", {}) == "MainThread"
    nested, awaited, threaded, again = asyncio.run(main())
    assert (awaited, threaded, again) == ("MainThread", "fluid-call", "fluid-call")
    assert nested == "fluid-loop"


def test_a_cancelled_call_is_written_down() -> None:
    """Cancelling goes through, after the tool has ended, and the trace tells it."""
    collector = ToolObservabilityCollector()

    async def sleeps(args: Args) -> Any:
        await asyncio.sleep(60)

    tool(sleeps)

    async def main() -> None:
        call = asyncio.create_task(dispatch_tool_call_async("t", {}, collector=collector))
        await asyncio.sleep(0.01)
        (running,) = collector.traces.values()
        assert running.status is ToolExecutionStatus.RUNNING
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    (trace,) = collector.traces.values()
    assert trace.status is ToolExecutionStatus.FAILED


def test_the_workspace_defaults_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool that asks for the workspace always gets a resolved path."""
    monkeypatch.chdir(tmp_path)

    def where(args: Args, *, workspace_root: Path) -> str:
        return str(workspace_root)

    tool(where, workspace_root_aware=True)
    assert dispatch_tool_call("t", {}) == str(tmp_path.resolve())
    assert dispatch_tool_call("t", {}, workspace_root=str(tmp_path)) == str(tmp_path.resolve())
    assert dispatch_tool_call("t", {"workspace_root": "/"})["error"] == "ToolValidationError"
    assert "workspace_root" not in json.dumps(get_tool_definitions())


def test_legacy_tools_get_the_workspace_only_if_they_take_it() -> None:
    """A hand-written tool without keywords to spare is called without."""
    TOOL_REGISTRY["plain"] = {
        "name": "plain",
        "description": "d",
        "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "impl": lambda a=0: a,
    }
    assert dispatch_tool_call("plain", {"a": 3}) == 3


# Failing


@pytest.mark.parametrize("value", [object(), {"x": object()}, {"bytes": b"\xff"}])
def test_results_that_json_cannot_hold(value: Any) -> None:
    """A result that could not be sent to a model is a failure of the tool."""
    tool(lambda args: value)
    assert dispatch_forge_tool("t", {}).error_type == "ToolResultError"


def test_result_text() -> None:
    """A result becomes the JSON text of a message."""
    assert json.loads(tool_result_text({"rows": [1, None]})) == {"rows": [1, None]}


def test_an_exiting_tool_ends_nothing() -> None:
    """A tool that exits the interpreter has failed; an interrupt goes through."""

    def leave(args: Args) -> Any:
        raise SystemExit(1)

    def interrupted(args: Args) -> Any:
        raise KeyboardInterrupt

    tool(leave, "leave")
    tool(interrupted, "interrupted")
    assert dispatch_tool_call("leave", {})["error"] == "SystemExit"
    with pytest.raises(KeyboardInterrupt):
        dispatch_tool_call("interrupted", {})


def test_a_validation_error_inside_of_a_tool_is_its_own() -> None:
    """Only wrong arguments are a ToolValidationError."""

    def inner(args: Args) -> Any:
        Inner.model_validate({"x": "no"})

    tool(inner)
    assert dispatch_forge_tool("t", {}).error_type == "ValidationError"


class Strict(BaseModel):
    text: str

    @field_validator("text")
    @classmethod
    def refuse(cls, value: str) -> str:
        raise ValueError(f"{CANARY} {value}")


def raising(error: BaseException) -> Callable[[Any], Any]:
    def function(args: Any) -> Any:
        raise error

    return function


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "No such file", f"/home/alice/{CANARY}/.aws/credentials"),
        RuntimeError(f"token={CANARY}"),
        KeyError(CANARY),
        ExceptionGroup(CANARY, [ValueError(CANARY)]),
        TimeoutError(CANARY),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
def test_exceptions_tell_the_model_nothing(error: Exception, is_async: bool) -> None:
    """No text of an exception is in what a model is given (S-013)."""
    tool(raising(error))
    result = (
        asyncio.run(dispatch_tool_call_async("t", {})) if is_async else dispatch_tool_call("t", {})
    )
    assert CANARY not in tool_result_text(result)
    assert result == {
        "error": type(error).__name__,
        "message": "Tool 't' failed — see server logs",
    }


def test_legacy_impl_does_not_leak_exception_text_to_llm() -> None:
    """Hand-written tools are scrubbed as well."""
    TOOL_REGISTRY["old"] = {
        "name": "old",
        "description": "d",
        "input_schema": {"type": "object"},
        "impl": lambda **_: raising(OSError(CANARY))(None),
    }
    assert CANARY not in tool_result_text(dispatch_tool_call("old", {}))


def test_validators_and_names_reveal_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A validator's words and a secret in a made-up tool's name go nowhere, not even to the log."""
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    forge_tool(name="strict", description="d", args_schema=Strict)(lambda args: None)
    results = [
        dispatch_tool_call("strict", {"text": CANARY}),
        dispatch_tool_call(CANARY, {}),
        dispatch_tool_call("x" * 10_000, {}),
    ]
    assert CANARY not in tool_result_text(results)
    assert CANARY not in caplog.text
    assert len(results[2]["message"]) < 300
    assert [result["error"] for result in results] == [
        "ToolValidationError",
        "UnknownTool",
        "UnknownTool",
    ]


def test_a_refused_call_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """No code of the tool ran, so a traceback would say nothing."""
    forge_tool(name="strict", description="d", args_schema=Strict)(lambda args: None)
    dispatch_tool_call("strict", {"a\nb": 1})
    dispatch_tool_call("loose", {})
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("Tool 'strict' failed: ToolValidationError: The arguments of tool")
    assert lines[1] == "Tool 'loose' failed: UnknownTool: No tool has that name."
    assert "\n" not in "".join(lines)


def test_detail_is_logged_without_secrets(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The operator's log has the detail, but not the secrets of the environment."""
    monkeypatch.setenv("DATABASE_PASSWORD", CANARY)
    tool(raising(RuntimeError(f"cannot log in with {CANARY} at row 7")))
    with caplog.at_level(logging.WARNING):
        dispatch_tool_call("t", {})
    assert "at row 7" in caplog.text
    assert CANARY not in caplog.text


# Observing


def test_traces_and_events_of_a_call() -> None:
    """Each call leaves a trace and an event that belong together."""
    collector = ToolObservabilityCollector()
    heard: list[dict[str, Any]] = []
    stop = get_event_bus().subscribe(lambda event: heard.append(event.payload))
    tool(lambda args: {"length": len(args.text)})
    dispatch_forge_tool(
        "t", {"text": "abc"}, agent_id="a", workflow_id="w", session_id="s", collector=collector
    )
    dispatch_forge_tool("none", {}, collector=collector)
    stop()
    good, bad = collector.traces.values()
    assert (good.status, good.input_params, good.output_result) == (
        ToolExecutionStatus.SUCCESS,
        {"text": "abc"},
        {"length": 3},
    )
    assert (good.agent_id, good.workflow_id, good.session_id) == ("a", "w", "s")
    assert (bad.status, bad.tool_name) == (ToolExecutionStatus.FAILED, "none")
    assert [event["execution_id"] for event in heard] == [good.execution_id, bad.execution_id]
    assert [event["error_type"] for event in heard] == [None, "UnknownTool"]
    assert heard[0]["duration_ms"] == good.duration_ms


def test_an_event_of_a_call_is_an_event_like_any_other() -> None:
    heard: list[Event] = []
    stops = [get_event_bus().subscribe(heard.append) for _ in range(2)]
    tool(lambda args: None)
    dispatch_forge_tool("t", {})
    for stop in stops:
        stop()
    first, second = heard
    plain = Event(first.event_type, dict(first.payload))
    assert plain == first == second == copy.copy(first) == pickle.loads(pickle.dumps(first))
    assert dataclasses.asdict(first) == dataclasses.asdict(plain)
    first.payload["tool_name"] = "changed"
    assert (first.payload["tool_name"], second.payload["tool_name"]) == ("changed", "t")


def test_a_schema_that_cannot_be_made_is_an_error_of_the_tool() -> None:
    class Unfinished(BaseModel):
        rows: list[Missing]  # type: ignore[name-defined]  # noqa: F821 - what is tested

    forge_tool(name="t", description="d", args_schema=Unfinished)(lambda args: None)
    for _ in range(2):
        assert dispatch_forge_tool("t", {"rows": []}).error_type == "PydanticUndefinedAnnotation"


def test_dependencies_are_in_no_log_and_no_event(caplog: pytest.LogCaptureFixture) -> None:
    class Session:
        def __repr__(self) -> str:
            return CANARY

    def fails(args: Args, *, deps: Session) -> None:
        raise RuntimeError("no rows")

    heard: list[Event] = []
    stop = get_event_bus().subscribe(heard.append)
    collector = ToolObservabilityCollector()
    tool(fails)
    dispatch_forge_tool("t", {}, deps=Session(), collector=collector)
    stop()
    assert "no rows" in caplog.text
    assert CANARY not in caplog.text + repr(heard) + repr([*collector.traces.values()])


def test_a_timeout_has_its_own_status() -> None:
    """A tool that raises TimeoutError has timed out."""
    collector = ToolObservabilityCollector()
    tool(raising(TimeoutError()))
    dispatch_forge_tool("t", {}, collector=collector)
    (trace,) = collector.traces.values()
    assert trace.status is ToolExecutionStatus.TIMEOUT


def test_a_value_that_json_lacks_is_null_to_the_model() -> None:
    assert tool_result_text({"mean": float("nan"), "most": [float("inf")]}) == (
        '{"mean":null,"most":[null]}'
    )
