"""OpenTelemetry's spans and metrics of a run, made from its events. Needs the extra ``otel``.

Names follow its conventions for generative AI as of late 2026, which moved out of the package
``opentelemetry-semantic-conventions``: github.com/open-telemetry/semantic-conventions-genai,
docs/gen-ai/gen-ai-spans.md, gen-ai-agent-spans.md and gen-ai-metrics.md. Spans carry names, counts
and error classes, never prompts, arguments or results.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextvars import Token
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fluid_build import __version__
from fluid_build.copilot.events import Event, EventBus, get_event_bus
from fluid_build.copilot.operations import current_operation
from fluid_build.extras import needs_extra

with needs_extra("otel", "OpenTelemetry"):
    from opentelemetry import context, metrics, trace
    from opentelemetry.context import Context
    from opentelemetry.metrics import Meter
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
    from opentelemetry.util.types import AttributeValue

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_MAX_TOKENS = "gen_ai.request.max_tokens"
REQUEST_TEMPERATURE = "gen_ai.request.temperature"
REQUEST_STREAM = "gen_ai.request.stream"
OUTPUT_TYPE = "gen_ai.output.type"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
TOKEN_TYPE = "gen_ai.token.type"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL_ID = "gen_ai.tool.call.id"
AGENT_NAME = "gen_ai.agent.name"
CONVERSATION_ID = "gen_ai.conversation.id"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
ERROR_TYPE = "error.type"

STAGE = "fluid.stage"
STEP_NAME = "fluid.step.name"
STEP_TYPE = "fluid.step.type"
IS_CACHED = "fluid.answer.cached"
AWAITS_APPROVAL = "fluid.run.awaits_approval"

TOKEN_USAGE = "gen_ai.client.token.usage"
OPERATION_DURATION = "gen_ai.client.operation.duration"

_PROVIDER_NAMES = {"gemini": "gcp.gemini", "azure": "azure.ai.openai"}
"""Providers that the conventions have other names for."""

_FINISH_REASONS = {"end": "stop", "refused": "content_filter"}
"""Stop reasons that the conventions have other names for."""

_TOKEN_BUCKETS = [4**power for power in range(14)]
_SECOND_BUCKETS = [0.01 * 2**power for power in range(14)]
"""The bucket boundaries that the conventions recommend."""

_APPROVAL = "ApprovalRequiredError"
"""The class of error by which a run stops until a person has decided."""

_MAX_OPEN_SPANS = 10_000
"""Operations whose end is awaited. The oldest is ended: a dropped stream never ends by itself."""
_MAX_CLIENT_CALLERS = 10_000
"""Callers of clients that are remembered, the latest ones: far more than run at a time."""

Payload: TypeAlias = Mapping[str, Any]
Caller: TypeAlias = tuple[str, ...]
Attributes: TypeAlias = dict[str, AttributeValue]


def subscribe_opentelemetry(
    bus: EventBus | None = None, tracer: Tracer | None = None, meter: Meter | None = None
) -> Callable[[], None]:
    """Make spans and metrics of the bus's events; return a function that stops it.

    There is a span for each agent's run, step, model call and tool call, nested as they ran and
    within the span that is current where the outermost one starts.
    """
    observer = _SpanObserver(
        tracer or trace.get_tracer("fluid_build.copilot", __version__),
        meter or metrics.get_meter("fluid_build.copilot", __version__),
    )
    return (bus or get_event_bus()).subscribe(observer.observe)


@dataclass(slots=True)
class _OpenSpan:
    """A span of an operation under way; ``token`` if it was made the current one.

    ``tokens`` are those of the model calls within it.
    """

    span: Span
    context: Context
    attributes: Attributes
    parent_id: str | None
    token: Token[Context] | None = None
    tokens: Counter[str] = field(default_factory=Counter)


class _SpanObserver:
    """The open spans by operation."""

    def __init__(self, tracer: Tracer, meter: Meter) -> None:
        self._tracer = tracer
        self._open: dict[str, _OpenSpan] = {}
        # reentrant: the garbage collector may end a stream, whose events come here, at any point
        self._lock = threading.RLock()
        self._client_callers: dict[Caller, None] = {}
        self._tokens = meter.create_histogram(
            TOKEN_USAGE,
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKEN_BUCKETS,
        )
        self._seconds = meter.create_histogram(
            OPERATION_DURATION,
            unit="s",
            description="GenAI operation duration.",
            explicit_bucket_boundaries_advisory=_SECOND_BUCKETS,
        )

    def observe(self, event: Event) -> None:
        """Start or end the event's span."""
        payload: Payload = event.payload
        match event.event_type:
            case "agent.run_started":
                name = f"invoke_agent {payload['agent_name']}"
                self._start(name, payload, _agent_attributes(payload))
            case "agent.step_started":
                name = f"execute_step {payload['step_name']}"
                self._start(name, payload, _step_attributes(payload))
            case "llm.call_started":
                self._note_client_caller(_caller(payload))
                name = f"chat {payload['model']}"
                attributes = _call_attributes(payload)
                self._start(name, payload, attributes, SpanKind.CLIENT)
                self._name_model_of_agent(payload["parent_id"], attributes)
            case "llm.call_finished":
                self._add_tokens_to_agents(payload)
                self._measure(payload, self._end(payload, _answer_attributes(payload)))
            case "agent.run_finished":
                self._end(payload, self._run_attributes(payload))
            case "tool.call_started":
                name = f"execute_tool {payload['tool_name']}"
                self._start(name, payload, _agents_tool_attributes(payload))
            case "agent.step_finished" | "tool.call_finished":
                self._end(payload, {})
            case "tool.call_completed":
                self._record_tool_call(payload)
            case "llm.call_completed":
                if _caller(payload) not in self._client_callers:
                    self._record_foreign_call(payload)

    def _start(
        self,
        name: str,
        payload: Payload,
        attributes: Attributes,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> None:
        parent = self._context_of(payload["parent_id"])
        inherited = self._inherited(payload["parent_id"])
        # An agent has a name of its own; of a model call it is that of the agent around it.
        is_call = kind is SpanKind.CLIENT
        attributes = attributes | inherited if is_call else inherited | attributes
        span = self._tracer.start_span(name, parent, kind, attributes)
        span_context = trace.set_span_in_context(span, parent)
        operation_id = str(payload["operation_id"])
        # Libraries that make spans of their own, such as of HTTP requests, find this one.
        is_current = current_operation() == operation_id
        token = context.attach(span_context) if is_current else None
        opened = _OpenSpan(span, span_context, attributes, payload["parent_id"], token)
        with self._lock:
            self._open[operation_id] = opened
            if len(self._open) > _MAX_OPEN_SPANS:
                self._open.pop(next(iter(self._open))).span.end()

    def _note_client_caller(self, caller: Caller) -> None:
        with self._lock:
            self._client_callers.pop(caller, None)
            self._client_callers[caller] = None
            if len(self._client_callers) > _MAX_CLIENT_CALLERS:
                del self._client_callers[next(iter(self._client_callers))]

    def _end(self, payload: Payload, attributes: Attributes) -> Attributes:
        """End the span; return all of its attributes."""
        with self._lock:
            opened = self._open.pop(str(payload["operation_id"]), None)
        if opened is None:  # it started before the subscription
            return {}
        if payload["error_type"] == _APPROVAL:  # the run waits for a person, and nothing failed
            attributes[AWAITS_APPROVAL] = True
        elif payload["error_type"] is not None:
            attributes[ERROR_TYPE] = payload["error_type"]
            opened.span.set_status(Status(StatusCode.ERROR))
        opened.span.set_attributes(attributes)
        opened.span.end()
        if opened.token is not None and trace.get_current_span() is opened.span:
            context.detach(opened.token)
        return opened.attributes | attributes

    def _record_tool_call(self, payload: Payload) -> None:
        """Record a tool call that the dispatcher announces at its end, with its duration."""
        parent_id = current_operation()
        opened = None if parent_id is None else self._open.get(parent_id)
        if opened is not None and opened.attributes.get(TOOL_NAME) == payload["tool_name"]:
            return  # an agent's call, which has a span already
        ended_ns = time.time_ns()
        span = self._tracer.start_span(
            f"execute_tool {payload['tool_name']}",
            self._context_of(parent_id),
            SpanKind.INTERNAL,
            self._inherited(parent_id) | _tool_attributes(payload),
            start_time=ended_ns - int(payload["duration_ms"] * 1e6),
        )
        if payload["error_type"] is not None:
            span.set_status(Status(StatusCode.ERROR))
        span.end(ended_ns)

    def _record_foreign_call(self, payload: Payload) -> None:
        """Record a call that only the ledger knows, at the moment that it heard of it."""
        attributes = {
            OPERATION: "chat",
            PROVIDER: _provider_name(payload["provider"]),
            REQUEST_MODEL: payload["model"],
            INPUT_TOKENS: payload["input_tokens"],
            OUTPUT_TOKENS: payload["output_tokens"],
            AGENT_NAME: payload["agent_class"],
            STAGE: payload["stage"],
        }
        now = time.time_ns()
        self._tracer.start_span(
            f"chat {payload['model']}",
            self._context_of(current_operation()),
            SpanKind.CLIENT,
            self._inherited(current_operation()) | _present(attributes),
            start_time=now,
        ).end(now)

    def _context_of(self, operation_id: str | None) -> Context:
        opened = None if operation_id is None else self._open.get(operation_id)
        return context.get_current() if opened is None else opened.context

    def _inherited(self, operation_id: str | None) -> Attributes:
        """Return what a part has from its whole: the agent and the conversation."""
        opened = None if operation_id is None else self._open.get(operation_id)
        if opened is None:
            return {}
        names = (AGENT_NAME, CONVERSATION_ID)
        return {name: opened.attributes[name] for name in names if name in opened.attributes}

    def _agents_above(self, operation_id: str | None) -> Iterator[_OpenSpan]:
        """Yield the agents' runs that an operation is part of, the innermost first."""
        while operation_id is not None and (opened := self._open.get(operation_id)) is not None:
            if opened.attributes[OPERATION] == "invoke_agent":
                yield opened
            operation_id = opened.parent_id

    def _name_model_of_agent(self, operation_id: str | None, call: Attributes) -> None:
        """Add a call's provider and model to the innermost agent, which may not know them."""
        for agent in self._agents_above(operation_id):
            names = (PROVIDER, REQUEST_MODEL)
            known = {name: call[name] for name in names if name not in agent.attributes}
            agent.attributes |= known
            agent.span.set_attributes(known)
            return

    def _add_tokens_to_agents(self, payload: Payload) -> None:
        call = self._open.get(str(payload["operation_id"]))
        for agent in self._agents_above(None if call is None else call.parent_id):
            for name in (INPUT_TOKENS, OUTPUT_TOKENS):
                agent.tokens[name] += payload.get(name.rpartition(".")[2], 0)

    def _run_attributes(self, payload: Payload) -> Attributes:
        opened = self._open.get(str(payload["operation_id"]))
        tokens = {} if opened is None else dict(opened.tokens)
        return {**tokens, **_present({IS_CACHED: payload.get("is_cached")})}

    def _measure(self, payload: Payload, attributes: Attributes) -> None:
        names = (OPERATION, PROVIDER, REQUEST_MODEL, RESPONSE_MODEL, SERVER_ADDRESS, SERVER_PORT)
        shared = {name: attributes[name] for name in names if name in attributes}
        if not shared:
            return
        failure = _present({ERROR_TYPE: payload["error_type"]})
        self._seconds.record(payload["duration_ms"] / 1000, shared | failure)
        for token_type in ("input", "output"):
            count = payload.get(f"{token_type}_tokens")
            if count is not None:
                self._tokens.record(count, shared | {TOKEN_TYPE: token_type})


def _caller(payload: Payload) -> Caller:
    """Return who asked which model: the ledger names a client's calls so, but not one by one."""
    return tuple(payload[name] for name in ("provider", "model", "stage", "agent_class"))


def _agent_attributes(payload: Payload) -> Attributes:
    return _present(
        {
            OPERATION: "invoke_agent",
            PROVIDER: _provider_name(payload.get("provider")),
            AGENT_NAME: payload["agent_name"],
            CONVERSATION_ID: payload["run_id"],
            STAGE: payload.get("stage"),
        }
    )


def _step_attributes(payload: Payload) -> Attributes:
    # The conventions have no operation for a step, and allow custom names.
    return {
        OPERATION: "execute_step",
        STEP_NAME: payload["step_name"],
        STEP_TYPE: payload["step_type"],
    }


def _call_attributes(payload: Payload) -> Attributes:
    return _present(
        {
            OPERATION: "chat",
            PROVIDER: _provider_name(payload["provider"]),
            REQUEST_MODEL: payload["model"],
            REQUEST_MAX_TOKENS: payload["max_output_tokens"],
            REQUEST_TEMPERATURE: payload["temperature"],
            REQUEST_STREAM: payload["is_streamed"] or None,
            OUTPUT_TYPE: "json" if payload["is_structured"] else None,
            SERVER_ADDRESS: payload["server_address"],
            SERVER_PORT: payload["server_port"],
            AGENT_NAME: payload["agent_class"],
            STAGE: payload["stage"],
        }
    )


def _answer_attributes(payload: Payload) -> Attributes:
    reason = payload.get("stop_reason")
    return _present(
        {
            RESPONSE_MODEL: payload.get("response_model"),
            FINISH_REASONS: None if reason is None else [_FINISH_REASONS.get(reason, reason)],
            INPUT_TOKENS: payload.get("input_tokens"),
            OUTPUT_TOKENS: payload.get("output_tokens"),
            CACHE_READ_TOKENS: payload.get("cached_tokens") or None,
            CACHE_WRITE_TOKENS: payload.get("cache_write_tokens") or None,
        }
    )


def _agents_tool_attributes(payload: Payload) -> Attributes:
    return {
        OPERATION: "execute_tool",
        TOOL_NAME: payload["tool_name"],
        TOOL_TYPE: "function",
        TOOL_CALL_ID: payload["call_id"],
    }


def _tool_attributes(payload: Payload) -> Attributes:
    return _present(
        {
            OPERATION: "execute_tool",
            TOOL_NAME: payload["tool_name"],
            TOOL_TYPE: "function",
            TOOL_CALL_ID: payload["execution_id"],
            AGENT_NAME: payload["agent_id"],
            CONVERSATION_ID: payload["session_id"],
            ERROR_TYPE: payload["error_type"],
        }
    )


def _provider_name(provider: str | None) -> str | None:
    return None if provider is None else _PROVIDER_NAMES.get(provider, provider)


def _present(attributes: Mapping[str, AttributeValue | None]) -> Attributes:
    return {name: value for name, value in attributes.items() if value not in (None, "")}
