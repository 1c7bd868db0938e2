"""OpenTelemetry: timed, nested spans with names and counts and nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from pydantic import BaseModel

from fluid_build.copilot.agents.agent import Agent
from fluid_build.copilot.agents.base import BaseStageAgent, StageSession
from fluid_build.copilot.agents.composite import (
    Checkpoint,
    Composite,
    CompositeAgent,
    Skip,
    completion,
    delegate,
    run_sync,
)
from fluid_build.copilot.agents.errors import ProviderAuthError
from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.llm.base import LlmConfig, LlmPrompt, LlmResponse
from fluid_build.copilot.llm.client import LlmClient
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.copilot.messages import ToolCall
from fluid_build.copilot.operations import Operation, current_operation
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.copilot.tools.dispatch import dispatch_forge_tool
from fluid_build.copilot.tools.otel import subscribe_opentelemetry
from fluid_build.copilot.tools.registry import forge_tool
from tests.fault_server import LoopbackServer, Reply, unauthorized

PROMPT = LlmPrompt("gpt-4.1-nano", [{"role": "user", "content": "canary"}])


class Args(BaseModel):
    text: str = ""


class Recorded:
    """The spans and metrics of a piece of work."""

    def __init__(self, work: Callable[[], object]) -> None:
        exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        reader = InMemoryMetricReader()
        meters = MeterProvider([reader])
        self.tracer = provider.get_tracer("test")
        stop = subscribe_opentelemetry(tracer=self.tracer, meter=meters.get_meter("test"))
        try:
            with self.tracer.start_as_current_span("outermost"):
                work()
        finally:
            stop()
        self.spans = [span for span in exporter.get_finished_spans() if span.name != "outermost"]
        self.metrics = reader.get_metrics_data()
        self._ids = {span.context.span_id: span.name for span in exporter.get_finished_spans()}
        provider.shutdown()
        meters.shutdown()

    def by_name(self, name: str) -> ReadableSpan:
        (span,) = (span for span in self.spans if span.name == name)
        return span

    def parent_of(self, span: ReadableSpan) -> str | None:
        return self._ids[span.parent.span_id] if span.parent else None

    def parents(self) -> dict[str, str | None]:
        """The name of each span's parent."""
        return {span.name: self.parent_of(span) for span in self.spans}

    def points(self, name: str) -> list[Any]:
        assert self.metrics is not None
        (scope,) = self.metrics.resource_metrics[0].scope_metrics
        (metric,) = (metric for metric in scope.metrics if metric.name == name)
        return list(metric.data.data_points)


def attributes_of(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def milliseconds(span: ReadableSpan) -> float:
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.end_time - span.start_time) / 1e6


def call_model(reply: Any, work: Callable[[LlmClient], object]) -> tuple[Recorded, int]:
    with LoopbackServer([reply]) as server:
        provider = make_provider("openai", server.base_url("openai"))
        with LlmClient(provider, api_key=server.key) as client:
            return Recorded(lambda: work(client)), int(
                provider.base_url.split(":")[2].split("/")[0]
            )


def ask_blocking(client: LlmClient) -> None:
    client.complete_sync(PROMPT, stage="sums", agent_class="Adder")


def ask_asynchronously(client: LlmClient) -> None:
    async def ask() -> None:
        async with client:
            await client.complete(PROMPT, stage="sums", agent_class="Adder")

    asyncio.run(ask())


@pytest.mark.parametrize("ask", [ask_blocking, ask_asynchronously])
def test_a_model_call_has_a_span_with_the_conventions_names(ask: Any) -> None:
    recorded, port = call_model(Reply("canary"), ask)
    (span,) = recorded.spans
    assert (span.name, span.kind) == ("chat gpt-4.1-nano", SpanKind.CLIENT)
    attributes = attributes_of(span)
    assert attributes.pop("gen_ai.usage.input_tokens") > 0
    assert attributes.pop("gen_ai.usage.output_tokens") > 0
    assert attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1-nano",
        "gen_ai.request.max_tokens": 4096,
        "gen_ai.response.model": "test-model",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.agent.name": "Adder",
        "fluid.stage": "sums",
        "server.address": "127.0.0.1",
        "server.port": port,
    }
    assert milliseconds(span) > 0
    assert "canary" not in span.to_json()


def test_a_failed_model_call_has_the_errors_class_and_no_usage() -> None:
    def ask(client: LlmClient) -> None:
        with pytest.raises(ProviderAuthError):
            client.complete_sync(PROMPT)

    recorded, _ = call_model(unauthorized(), ask)
    (span,) = recorded.spans
    assert span.status.status_code is StatusCode.ERROR
    assert attributes_of(span)["error.type"] == "ProviderAuthError"
    assert "gen_ai.usage.input_tokens" not in attributes_of(span)


def test_a_model_call_is_measured() -> None:
    recorded, port = call_model(Reply("yes"), lambda client: client.complete_sync(PROMPT))
    shared = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1-nano",
        "gen_ai.response.model": "test-model",
        "server.address": "127.0.0.1",
        "server.port": port,
    }
    (duration,) = recorded.points("gen_ai.client.operation.duration")
    assert dict(duration.attributes) == shared
    assert duration.sum == pytest.approx(milliseconds(recorded.spans[0]) / 1000, rel=0.5)
    usage = {
        point.attributes["gen_ai.token.type"]: point.sum
        for point in recorded.points("gen_ai.client.token.usage")
    }
    span = attributes_of(recorded.spans[0])
    assert usage == {
        "input": span["gen_ai.usage.input_tokens"],
        "output": span["gen_ai.usage.output_tokens"],
    }


def test_a_call_that_only_the_ledger_knows_has_a_span_without_a_duration() -> None:
    tracker = RunCostTracker(price=lambda *_, **__: Decimal(0))
    recorded = Recorded(
        lambda: tracker.record_call(
            provider="gemini", model="m", input_tokens=5, output_tokens=2, agent_class="A"
        )
    )
    (span,) = recorded.spans
    assert attributes_of(span) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.agent.name": "A",
    }


def test_a_tool_call_has_a_span_with_its_true_duration() -> None:
    def sleep(args: Args) -> dict[str, str]:
        time.sleep(0.02)
        return {"secret": "canary"}

    forge_tool(name="t", description="d", args_schema=Args)(sleep)
    call = {"text": "canary"}
    recorded = Recorded(lambda: dispatch_forge_tool("t", call, agent_id="a", session_id="s"))
    (span,) = recorded.spans
    attributes = attributes_of(span)
    assert span.name == "execute_tool t"
    assert attributes.pop("gen_ai.tool.call.id")
    assert attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "t",
        "gen_ai.tool.type": "function",
        "gen_ai.agent.name": "a",
        "gen_ai.conversation.id": "s",
    }
    assert milliseconds(span) >= 20
    assert span.status.status_code is StatusCode.UNSET
    assert "canary" not in span.to_json()


def test_a_failed_tool_call_has_the_errors_class_and_never_its_text() -> None:
    def broken(args: Args) -> Any:
        raise RuntimeError("canary")

    forge_tool(name="t", description="d", args_schema=Args)(broken)
    (span,) = Recorded(lambda: dispatch_forge_tool("t", {})).spans
    assert span.status.status_code is StatusCode.ERROR
    assert attributes_of(span)["error.type"] == "RuntimeError"
    assert "canary" not in span.to_json()


class Names(BaseModel):
    names: list[str]


class Namer(BaseStageAgent):
    stage = "naming"


def test_an_agents_call_contains_its_model_call_and_a_cached_one_contains_none(
    tmp_path: Any,
) -> None:
    with LoopbackServer([Reply('{"names": []}')]) as server:
        url = server.base_url("anthropic")
        config = LlmConfig("anthropic", "claude-haiku-4-5", url)
        session = StageSession(SqliteBackend(tmp_path / "s.db"), config, run_id="run-1")
        with LlmClient(make_provider("anthropic", url), api_key=server.key) as client:
            agent = Namer(session, client)
            first = Recorded(lambda: agent.call_sync(Names, system="canary", user="canary"))
            again = Recorded(lambda: agent.call_sync(Names, system="canary", user="canary"))
    assert first.parents() == {
        "invoke_agent Namer": "outermost",
        "chat claude-haiku-4-5": "invoke_agent Namer",
    }
    invoked = attributes_of(first.by_name("invoke_agent Namer"))
    assert invoked.pop("gen_ai.usage.input_tokens") > 0
    assert invoked.pop("gen_ai.usage.output_tokens") > 0
    assert invoked == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "Namer",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-haiku-4-5",
        "gen_ai.conversation.id": "run-1",
        "fluid.stage": "naming",
        "fluid.answer.cached": False,
    }
    chat = attributes_of(first.by_name("chat claude-haiku-4-5"))
    assert chat["gen_ai.conversation.id"] == "run-1"
    assert again.parents() == {"invoke_agent Namer": "outermost"}
    assert attributes_of(again.spans[0])["fluid.answer.cached"] is True
    assert "canary" not in "".join(span.to_json() for span in first.spans)


class Critic:
    """An agent whose work is a tool call; a barrier makes sure that two run at once."""

    def __init__(self, name: str, barrier: asyncio.Barrier) -> None:
        self.name = name
        self.barrier = barrier

    async def get_response(self, args: Mapping[str, object]) -> str:
        await self.barrier.wait()
        dispatch_forge_tool(self.name, {})
        if self.name == "broken":
            raise LookupError("canary")
        return "fine"


class Reviewer(CompositeAgent):
    def init(self, args: Mapping[str, Any]) -> Composite:
        barrier = asyncio.Barrier(2)
        branches = [
            delegate(f"step_{name}", Critic(name, barrier), lambda state: {})
            for name in ("left", args["right"])
        ]
        return Composite(agent=args["agent"], steps=[completion("first", "canary"), branches])

    def on_error(self, step: Any, error: Any, state: Composite) -> Skip:
        return Skip(state)


class Speaker:
    async def get_completion(self, **_: object) -> SimpleNamespace:
        return SimpleNamespace(response="canary", messages=[])


def review(tmp_path: Any, right: str) -> Recorded:
    for name in ("left", right):
        forge_tool(name=name, description="d", args_schema=Args)(lambda args: "canary")
    checkpoint = Checkpoint(SqliteBackend(tmp_path / "runs.db"), "run-7")
    args = {"agent": Speaker(), "right": right}
    return Recorded(lambda: run_sync(Reviewer, args, checkpoint=checkpoint))


def test_parallel_branches_are_nested_each_with_its_own_tools(tmp_path: Any) -> None:
    recorded = review(tmp_path, "right")
    assert recorded.parents() == {
        "invoke_agent Reviewer": "outermost",
        "execute_step first": "invoke_agent Reviewer",
        "execute_step step_left": "invoke_agent Reviewer",
        "execute_step step_right": "invoke_agent Reviewer",
        "execute_tool left": "execute_step step_left",
        "execute_tool right": "execute_step step_right",
    }
    left, right = (recorded.by_name(f"execute_step step_{side}") for side in ("left", "right"))
    assert max(left.start_time or 0, right.start_time or 0) < min(
        left.end_time or 0, right.end_time or 0
    )
    tool = attributes_of(recorded.by_name("execute_tool left"))
    assert tool["gen_ai.agent.name"] == "Reviewer"
    assert tool["gen_ai.conversation.id"] == "run-7"
    assert "canary" not in "".join(span.to_json() for span in recorded.spans)


def test_a_failed_branch_is_the_only_span_with_an_error(tmp_path: Any) -> None:
    recorded = review(tmp_path, "broken")
    errors = {
        span.name: attributes_of(span)["error.type"]
        for span in recorded.spans
        if span.status.status_code is StatusCode.ERROR
    }
    assert errors == {"execute_step step_broken": "LookupError"}


def test_an_operation_that_its_consumer_ends_is_nested_and_contains_nothing() -> None:
    """As a stream is: it ends where its reader is, perhaps in another context."""

    def read_stream() -> None:
        describe = lambda: {"agent_name": "A", "run_id": None}  # noqa: E731
        stream = Operation("agent.run", describe).start()
        assert current_operation() is None
        dispatch_forge_tool("none", {})
        stream.finish()
        stream.finish()

    recorded = Recorded(read_stream)
    assert recorded.parents() == {
        "invoke_agent A": "outermost",
        "execute_tool none": "outermost",
    }


def test_nothing_is_recorded_after_the_subscription_ended() -> None:
    Recorded(lambda: None)
    described: list[object] = []
    with Operation("agent.run", lambda: described.append(1) or {}) as operation:
        assert current_operation() is None
        operation.fail(RuntimeError())
    assert described == []


@pytest.mark.parametrize("is_read_to_the_end", [True, False])
def test_a_streamed_call_has_one_span_which_ends_with_its_reader(is_read_to_the_end: bool) -> None:
    def read(client: LlmClient) -> None:
        with client.stream_sync(PROMPT) as events:
            for _ in events:
                if not is_read_to_the_end:
                    break

    recorded, _ = call_model(Reply("one two three"), read)
    (span,) = recorded.spans
    attributes = attributes_of(span)
    assert attributes["gen_ai.request.stream"] is True
    assert ("gen_ai.usage.output_tokens" in attributes) is is_read_to_the_end
    assert span.status.status_code is StatusCode.UNSET


def test_an_agents_run_has_its_turns_its_tools_and_what_they_ask_other_agents(
    tmp_path: Any,
) -> None:
    def look_up(topic: str) -> str:
        raise LookupError("canary")

    def agent(url: str, key: str, **settings: Any) -> Agent[None, str]:
        client = LlmClient(make_provider("openai", url), api_key=key)
        return Agent("openai:gpt-4.1-nano", client=client, **settings)

    calls = (
        ToolCall("call-1", "judge", {"prompt": "canary"}),
        ToolCall("call-2", "look_up", {"topic": "canary"}),
    )
    judged, replies = LoopbackServer([Reply("canary")]), [Reply("", calls), Reply("canary")]
    with judged, LoopbackServer(replies) as asked:
        judge = agent(judged.base_url("openai"), judged.key, name="judge")
        tools = [judge.as_tool(), look_up]
        boss = agent(asked.base_url("openai"), asked.key, name="boss", tools=tools)
        checkpoint = Checkpoint(SqliteBackend(tmp_path / "runs.db"), "run-9")

        async def run() -> None:
            await boss.run("canary", checkpoint=checkpoint)
            for used in (boss, judge):
                assert isinstance(used._model.client, LlmClient)
                await used._model.client.aclose()

        recorded = Recorded(lambda: asyncio.run(run()))
    tree = [
        (span.name, recorded.parent_of(span))
        for span in sorted(recorded.spans, key=lambda span: span.start_time or 0)
    ]
    assert tree == [
        ("invoke_agent boss", "outermost"),
        ("execute_step ask", "invoke_agent boss"),
        ("chat gpt-4.1-nano", "execute_step ask"),
        ("execute_step call_tools", "invoke_agent boss"),
        ("execute_tool judge", "execute_step call_tools"),
        ("invoke_agent judge", "execute_tool judge"),
        ("execute_step ask", "invoke_agent judge"),
        ("chat gpt-4.1-nano", "execute_step ask"),
        ("execute_step call_tools", "invoke_agent boss"),
        ("execute_tool look_up", "execute_step call_tools"),
        ("execute_step ask", "invoke_agent boss"),
        ("chat gpt-4.1-nano", "execute_step ask"),
    ]
    agents = [attributes_of(recorded.by_name(f"invoke_agent {name}")) for name in ("boss", "judge")]
    assert [agent["gen_ai.provider.name"] for agent in agents] == ["openai", "openai"]
    chats = [span for span in recorded.spans if span.name.startswith("chat")]
    spent = [attributes_of(span)["gen_ai.usage.input_tokens"] for span in chats]
    assert agents[0]["gen_ai.usage.input_tokens"] == sum(spent)
    assert agents[1]["gen_ai.usage.input_tokens"] in spent
    names = sorted(attributes_of(span)["gen_ai.agent.name"] for span in chats)
    assert names == ["boss", "boss", "judge"]
    failed = attributes_of(recorded.by_name("execute_tool look_up"))
    assert failed == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look_up",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call-2",
        "gen_ai.agent.name": "boss",
        "gen_ai.conversation.id": "run-9",
        "error.type": "LookupError",
    }
    assert "canary" not in "".join(span.to_json() for span in recorded.spans)


def test_a_run_that_waits_for_a_person_has_not_failed() -> None:
    @forge_tool(register=False, requires_approval=True)
    def delete() -> None:
        """Delete everything."""

    model = ScriptedProvider([LlmResponse("", (ToolCall("c", "delete", {}),))])
    recorded = Recorded(lambda: Agent(model, tools=[delete]).run_sync("Go."))
    run = recorded.by_name("invoke_agent agent")
    assert attributes_of(run)["fluid.run.awaits_approval"] is True
    assert {span.status.status_code for span in recorded.spans} == {StatusCode.UNSET}


def test_the_oldest_of_too_many_open_operations_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fluid_build.copilot.tools.otel._MAX_OPEN_SPANS", 2)

    def drop_streams() -> None:
        operations = [
            Operation("agent.run", lambda n=n: {"agent_name": f"a{n}", "run_id": None}).start()
            for n in range(3)
        ]
        for operation in operations:
            operation.finish()

    assert [span.name for span in Recorded(drop_streams).spans] == [
        "invoke_agent a0",
        "invoke_agent a1",
        "invoke_agent a2",
    ]


def test_the_memory_of_callers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages may have any number of names, and a client's call still has one span."""
    monkeypatch.setattr("fluid_build.copilot.tools.otel._MAX_CLIENT_CALLERS", 2)

    def ask_for_stages(client: LlmClient) -> None:
        for stage in ("a", "b", "c", "a", "d"):
            client.complete_sync(PROMPT, stage=stage)

    with LoopbackServer([Reply("Yes.")] * 5) as server:
        provider = make_provider("openai", server.base_url("openai"))
        with LlmClient(provider, api_key=server.key) as client:
            recorded = Recorded(lambda: ask_for_stages(client))
    stages = [attributes_of(span)["fluid.stage"] for span in recorded.spans]
    assert stages == ["a", "b", "c", "a", "d"]
