"""What surrounds the turns of a run: a second model, instructions, hooks, modes of the output."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from fluid_build.copilot import Agent, LlmConfig, ScriptedProvider, StageSession
from fluid_build.copilot.agents.agent import Denied, Fallback, FallbackEvent, Hooks, ResultEvent
from fluid_build.copilot.errors import (
    ContextOverflowError,
    ProviderAuthError,
    ProviderMismatchError,
    ProviderServerError,
    RateLimitError,
    SchemaValidationError,
    StaleCheckpointError,
)
from fluid_build.copilot.llm.answers import LlmResponse
from fluid_build.copilot.llm.base import LlmPrompt
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.messages import ToolCall, ToolResult
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.errors import UsageError
from tests.copilot.agents.agent.models import MODELS, call, calling
from tests.fault_server import (
    LoopbackServer,
    Reply,
    overloaded,
    unauthorized,
)


class Sum(BaseModel):
    total: int


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def no_wait(_seconds: float) -> None:
    pass


# A second model.


def test_a_second_model_takes_the_turn_that_the_first_one_fails_and_those_after_it() -> None:
    """Over real sockets, after the attempts that the error is worth."""
    calls = Reply("", [call("add", a=1, b=2)])
    with LoopbackServer([calls, *[overloaded()] * 3, calls, Reply('{"total": 3}')]) as server:
        wire = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(wire, api_key=server.key, sleep=no_wait) as client:
            agent = Agent(
                "anthropic:claude-sonnet-4-6",
                client=client,
                tools=[add],
                output=Sum,
                fallback=Fallback("claude-haiku-4-5"),
            )
            result = agent.run_sync("Add.")
        models = [request.body["model"] for request in server.requests]
    assert result.output.total == 3
    assert models == ["claude-sonnet-4-6"] * 4 + ["claude-haiku-4-5"] * 2


@pytest.mark.parametrize(
    ("error", "on", "is_taken"),
    [
        (RateLimitError(), Fallback("any").on, True),
        (ProviderAuthError(), Fallback("any").on, False),
        (ContextOverflowError(), (ContextOverflowError,), True),
        (ProviderServerError(), (RateLimitError,), False),
    ],
)
def test_the_class_of_the_error_decides(error: Exception, on: Any, is_taken: bool) -> None:
    second = ScriptedProvider(["Yes."], model="second")
    agent = Agent(ScriptedProvider([error]), fallback=Fallback(second, on))
    if is_taken:
        assert agent.run_sync("Go.").output == "Yes."
    else:
        with pytest.raises(type(error)):
            agent.run_sync("Go.")
    assert len(second.prompts) == is_taken


def test_the_error_of_the_second_model_ends_the_run() -> None:
    second = ScriptedProvider([ProviderServerError("second")])
    agent = Agent(ScriptedProvider([RateLimitError()]), fallback=Fallback(second))
    with pytest.raises(ProviderServerError, match="second"):
        agent.run_sync("Go.")


def test_each_run_begins_with_the_first_model() -> None:
    first, second = ScriptedProvider([RateLimitError(), "One."]), ScriptedProvider(["Two."])
    agent = Agent(first, fallback=Fallback(second))
    assert [agent.run_sync("Go.").output for _ in range(2)] == ["Two.", "One."]


def test_a_stream_says_that_the_second_model_takes_over() -> None:
    second = ScriptedProvider(["Two."], model="second")
    agent = Agent(ScriptedProvider([RateLimitError()]), fallback=Fallback(second))
    events = [e for e in agent.stream_sync("Go.") if isinstance(e, FallbackEvent | ResultEvent)]
    assert isinstance(events[0], FallbackEvent)
    assert (events[0].model, type(events[0].error)) == ("second", RateLimitError)


def test_the_second_model_of_a_session_is_of_its_provider() -> None:
    session = StageSession(NullBackend(), LlmConfig("anthropic", "claude-sonnet-4-6"))
    with pytest.raises(ProviderMismatchError):
        Agent(session, fallback=Fallback("openai:gpt-4.1"))


# Instructions.


def test_instructions_are_a_function_of_the_deps_of_the_run() -> None:
    model = ScriptedProvider(lambda _: "Hello.")
    agent = Agent(model, instructions=lambda deps: f"You greet {deps}.", deps="Ada")
    agent.run_sync("Go.")
    agent.run_sync("Go.", deps="Grace")
    assert [prompt.system for prompt in model.prompts] == ["You greet Ada.", "You greet Grace."]


def test_instructions_that_return_no_text_are_refused() -> None:
    with pytest.raises(UsageError, match="returned a int"):
        Agent(ScriptedProvider(["x"]), instructions=lambda _: 1).run_sync("Go.")


def test_a_saved_run_is_not_resumed_with_another_function_unnoticed() -> None:
    store = SqliteBackend(":memory:")
    Agent(ScriptedProvider(["a"]), instructions=lambda _: "A").run_sync(
        "Go.", store=store, run_id="r"
    )
    other = Agent(ScriptedProvider(["a"]), instructions=lambda _: "B")
    with pytest.raises(StaleCheckpointError):
        other.resume_sync("r", store=store)


# Hooks.


def test_hooks_change_what_goes_in_and_comes_out() -> None:
    async def before_model(prompt: LlmPrompt) -> LlmPrompt:
        return replace(prompt, system="Changed.")

    def after_model(prompt: LlmPrompt, response: LlmResponse) -> LlmResponse:
        return replace(response, text=response.text.upper())

    def before_tool(call: ToolCall) -> ToolCall:
        return replace(call, id="other", name="other", arguments={"a": 10, "b": 2})

    async def after_tool(call: ToolCall, result: ToolResult) -> ToolResult:
        return replace(result, content=f"<{call.arguments['a']}: {result.content}>", call_id="x")

    model = ScriptedProvider([calling(call("add", "c1", a=1, b=2)), "done"])
    hooks = Hooks(before_model, after_model, before_tool, after_tool)
    result = Agent(model, tools=[add], hooks=hooks).run_sync("Add.")
    assert result.output == "DONE"
    assert [prompt.system for prompt in model.prompts] == ["Changed."] * 2
    assert result.messages[2]["content"] == "<10: 12>"
    assert result.messages[2]["tool_call_id"] == "c1"


def test_a_hook_may_deny_a_call() -> None:
    model = ScriptedProvider([calling(call("add", a=1, b=2)), "done"])
    hooks = Hooks(before_tool=lambda call: Denied(f"Not {call.name}."))
    result = Agent(model, tools=[add], hooks=hooks).run_sync("Add.")
    assert "Not add." in str(result.messages[2]["content"])


def test_a_hook_that_returns_something_else_ends_the_run() -> None:
    hooks = Hooks(before_model=lambda prompt: None)  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="before_model returned a NoneType"):
        Agent(ScriptedProvider(["x"]), hooks=hooks).run_sync("Go.")


def test_an_answer_is_cached_for_the_prompt_that_the_hook_made() -> None:
    session = StageSession(
        SqliteBackend(":memory:"), LlmConfig("anthropic", "claude-sonnet-4-6"), no_cache=False
    )
    model = ScriptedProvider(lambda prompt: prompt.system)
    texts = iter(["one", "two", "one"])
    hooks = Hooks(before_model=lambda prompt: replace(prompt, system=next(texts)))
    agent = Agent(session, client=model, hooks=hooks)
    assert [agent.run_sync("Go.").output for _ in range(3)] == ["one", "two", "one"]
    assert len(model.prompts) == 2


# Modes of the output.


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("mode", ["native", "tool", "prompted"])
def test_a_typed_answer_comes_back_in_each_mode_and_format(provider: str, mode: Any) -> None:
    """The first answer breaks the schema: its correction is one in each mode too."""

    def reply(answer: str) -> Reply:
        if mode == "tool":
            return Reply("", [call("Sum", total=int(answer) if answer.isdigit() else answer)])
        value = answer if answer.isdigit() else f'"{answer}"'
        text = f'{{"total": {value}}}'
        return Reply(f"Here it is:\n```json\n{text}\n```" if mode == "prompted" else text)

    script = [Reply("", [call("add", a=1, b=2)]), reply("three"), reply("3")]
    with LoopbackServer(script) as server:
        wire = make_provider(provider, server.base_url(provider))
        with LlmClient(wire, api_key=server.key) as client:
            model = f"{provider}:{MODELS[provider]}"
            agent = Agent(model, client=client, tools=[add], output=Sum, output_mode=mode)
            result = agent.run_sync("Add.")
        assert len(server.requests) == 3
    assert result.output == Sum(total=3)
    assert not result.messages[-1].get("tool_calls")


def test_the_tool_mode_streams_the_answer() -> None:
    model = ScriptedProvider([calling(call("Sum", total=3), call("add", "c2", a=1, b=1))])
    agent = Agent(model, tools=[add], output=Sum, output_mode="tool")
    last = list(agent.stream_sync("Add."))[-1]
    assert isinstance(last, ResultEvent)
    assert last.result.output.total == 3
    assert len(model.prompts) == 1


def test_an_answer_in_words_that_never_fits_is_an_error() -> None:
    agent = Agent(ScriptedProvider(lambda _: "No."), output=Sum, output_mode="prompted")
    with pytest.raises(SchemaValidationError):
        agent.run_sync("Add.")


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="no output mode 'xml'"):
        Agent(ScriptedProvider([]), output=Sum, output_mode="xml")  # type: ignore[arg-type]


def test_a_wrong_key_is_no_reason_for_the_second_model() -> None:
    with LoopbackServer([unauthorized()]) as server:
        wire = make_provider("anthropic", server.base_url("anthropic"))
        with LlmClient(wire, api_key=server.key) as client:
            agent = Agent("anthropic:a", client=client, fallback=Fallback("b"))
            with pytest.raises(ProviderAuthError):
                agent.run_sync("Go.")
        assert len(server.requests) == 1
