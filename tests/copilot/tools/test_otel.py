"""OpenTelemetry: a span for each tool and model call, with names and counts and nothing else."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from pydantic import BaseModel

from fluid_build.copilot.cost import RunCostTracker
from fluid_build.copilot.tools.dispatch import dispatch_forge_tool
from fluid_build.copilot.tools.otel import subscribe_opentelemetry
from fluid_build.copilot.tools.registry import forge_tool


class Args(BaseModel):
    text: str = ""


def spans_of(work: Any) -> list[ReadableSpan]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    stop = subscribe_opentelemetry(tracer=provider.get_tracer("test"))
    try:
        work()
    finally:
        stop()
        provider.shutdown()
    return list(exporter.get_finished_spans())


def test_a_tool_call() -> None:
    """A span with the conventions' names and the call's true duration."""
    forge_tool(name="t", description="d", args_schema=Args)(lambda args: {"secret": "canary"})
    call = {"text": "canary"}
    (span,) = spans_of(lambda: dispatch_forge_tool("t", call, agent_id="a", session_id="s"))
    attributes = dict(span.attributes or {})
    assert span.name == "execute_tool t"
    assert attributes.pop("gen_ai.tool.call.id")
    assert attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "t",
        "gen_ai.agent.name": "a",
        "gen_ai.conversation.id": "s",
    }
    assert span.start_time is not None
    assert span.end_time is not None
    assert span.start_time < span.end_time
    assert span.status.status_code is StatusCode.UNSET
    assert "canary" not in span.to_json()


def test_a_failed_tool_call() -> None:
    """A failure is marked with the error's class, never its text."""

    def broken(args: Args) -> Any:
        raise RuntimeError("canary")

    forge_tool(name="t", description="d", args_schema=Args)(broken)
    (span,) = spans_of(lambda: dispatch_forge_tool("t", {}))
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == "RuntimeError"
    assert "canary" not in span.to_json()


def test_a_model_call() -> None:
    """A span with the provider as the conventions call it, the model and the tokens."""
    tracker = RunCostTracker(price=lambda *_, **__: Decimal(0))
    (span,) = spans_of(
        lambda: tracker.record_call(
            provider="gemini", model="m", input_tokens=5, output_tokens=2, agent_class="A"
        )
    )
    assert span.name == "chat m"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.agent.name": "A",
    }


def test_nothing_is_recorded_after_it_ended() -> None:
    """Ending the subscription ends it."""
    spans_of(lambda: None)
    tracker = RunCostTracker(price=lambda *_, **__: Decimal(0))
    tracker.record_call(provider="p", model="m", input_tokens=1, output_tokens=1)
    assert spans_of(lambda: None) == []
