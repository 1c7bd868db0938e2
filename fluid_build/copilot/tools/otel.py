"""Spans of OpenTelemetry for the calls of a run. Needs the extra ``otel``.

All names that we use of its conventions for generative AI are in this module.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer
from opentelemetry.util.types import AttributeValue

from fluid_build.copilot.events import Event, EventBus, get_event_bus

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL_ID = "gen_ai.tool.call.id"
AGENT_NAME = "gen_ai.agent.name"
CONVERSATION_ID = "gen_ai.conversation.id"
ERROR_TYPE = "error.type"

_NAMES_OF_PROVIDERS = {"gemini": "gcp.gemini"}


def subscribe_opentelemetry(
    bus: EventBus | None = None, tracer: Tracer | None = None
) -> Callable[[], None]:
    """Make a span of each tool call and each model call; return a function that stops it.

    Spans carry names, counts and error classes, never arguments, results or prompts.
    """
    spans = tracer or trace.get_tracer("fluid_build.copilot")

    def observe(event: Event) -> None:
        if event.event_type == "tool.call_completed":
            _record_tool_call(spans, event.payload)
        elif event.event_type == "llm.call_completed":
            _record_model_call(spans, event.payload)

    return (bus or get_event_bus()).subscribe(observe)


def _record_tool_call(tracer: Tracer, payload: Mapping[str, Any]) -> None:
    ended_ns = time.time_ns()
    span = tracer.start_span(
        f"execute_tool {payload['tool_name']}",
        kind=SpanKind.INTERNAL,
        start_time=ended_ns - int(payload["duration_ms"] * 1e6),
        attributes=_present(
            {
                OPERATION: "execute_tool",
                TOOL_NAME: payload["tool_name"],
                TOOL_CALL_ID: payload["execution_id"],
                AGENT_NAME: payload["agent_id"],
                CONVERSATION_ID: payload["session_id"],
                ERROR_TYPE: payload["error_type"],
            }
        ),
    )
    if payload["error_type"] is not None:
        span.set_status(Status(StatusCode.ERROR))
    span.end(ended_ns)


def _record_model_call(tracer: Tracer, payload: Mapping[str, Any]) -> None:
    """Record a span at the moment the call ended: the event has no duration."""
    provider = payload["provider"]
    now = time.time_ns()
    tracer.start_span(
        f"chat {payload['model']}",
        kind=SpanKind.CLIENT,
        start_time=now,
        attributes=_present(
            {
                OPERATION: "chat",
                PROVIDER: _NAMES_OF_PROVIDERS.get(provider, provider),
                REQUEST_MODEL: payload["model"],
                INPUT_TOKENS: payload["input_tokens"],
                OUTPUT_TOKENS: payload["output_tokens"],
                AGENT_NAME: payload["agent_class"],
            }
        ),
    ).end(now)


def _present(attributes: Mapping[str, AttributeValue | None]) -> dict[str, AttributeValue]:
    return {name: value for name, value in attributes.items() if value not in (None, "")}
