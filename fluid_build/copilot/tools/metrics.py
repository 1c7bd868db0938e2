"""Traces of tool executions: inputs, outcome and duration.

Memory is bounded: a ring keeps the latest executions, with inputs and output clipped, and the
latest durations of each tool. Secrets are redacted when a trace is read.
Source: Agentic Primitives Implementation Plan, 1.3.
"""

from __future__ import annotations

import itertools
import os
import threading
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from time import perf_counter_ns, time
from typing import Any, Literal, TypeAlias

from pydantic_core import from_json, to_json

from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import REDACTED, redact, redact_json, secrets_of_environment

_OTHER_TOOLS = "(other)"
MAX_NAME_CHARS = 128
_MAX_ERROR_CHARS = 2000
_FOLD_AT = 256
"""Executions that wait to be filed, so that the lock is taken once for all of them."""


class ToolExecutionStatus(Enum):
    """The state of an execution, or how it ended."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"


RUNNING = ToolExecutionStatus.RUNNING


@dataclass
class ToolExecutionTrace:
    """An execution of a tool: times in UTC, duration in milliseconds, values without secrets."""

    tool_name: str
    execution_id: str
    status: ToolExecutionStatus
    started_at: datetime
    ended_at: datetime | None = None
    duration_ms: float | None = None

    input_params: dict[str, Any] = field(default_factory=dict)
    output_result: Any | None = None
    error: str | None = None

    agent_id: str | None = None
    workflow_id: str | None = None
    session_id: str | None = None

    token_usage: dict[str, int] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ClippedJson:
    """The beginning of a JSON text that was too long to keep, and its whole length."""

    beginning: bytes
    total_chars: int


Snapshot: TypeAlias = bytes | _ClippedJson

Identity: TypeAlias = tuple[str | None, str | None, str | None]
"""The agent, workflow and session that an execution belongs to."""


class Execution:
    """An execution as it's recorded: begun with its inputs, and completed in place.

    ``status`` is set last, so that a reader in another thread sees all of the outcome or nothing.
    Without a failure, ``error`` isn't set at all, nor are ``extras`` if there are none.
    """

    __slots__ = (
        "duration_ms",
        "error",
        "extras",
        "id_number",
        "id_prefix",
        "identity",
        "inputs",
        "output",
        "started_at",
        "started_ns",
        "status",
        "tool_name",
    )

    id_prefix: str
    id_number: int
    tool_name: str
    identity: Identity
    inputs: Snapshot
    started_at: float
    started_ns: int
    status: ToolExecutionStatus
    duration_ms: float
    output: Snapshot | None
    error: str | None
    extras: _Extras

    @property
    def execution_id(self) -> str:
        """Return the id, a UUID: only those who read it pay for its text."""
        return f"{self.id_prefix}{self.id_number}"


new_execution: Callable[[type[Execution]], Execution] = object.__new__
"""Makes a record without ``__init__``, in half the time."""

_Extras: TypeAlias = tuple[dict[str, int], JsonObject]
"""Token usage and metadata."""


class ToolObservabilityCollector:
    """Traces and durations of tool executions. Safe from any thread and from coroutines.

    Keeps the latest ``max_traces`` executions, with at most ``max_value_bytes`` of the inputs and
    of the output of each, and the latest ``max_samples`` durations of each of ``max_tools`` tools.
    Count, average and extremes are exact; the 95th percentile is that of the latest durations.
    """

    def __init__(
        self,
        *,
        max_traces: int = 1000,
        max_value_bytes: int = 4096,
        max_samples: int = 1024,
        max_tools: int = 1000,
    ) -> None:
        self._max_traces = max_traces
        self.max_value_bytes = max_value_bytes
        self._max_samples = max_samples
        self._max_tools = max_tools
        self._lock = threading.Lock()
        self.latest: list[Execution] = []
        """Executions that began since the last ``fold``; appending to a list needs no lock."""
        self.fold_at = min(_FOLD_AT, max_traces)
        self._running: list[Execution] = []
        self._ended: deque[Execution] = deque(maxlen=max_traces)
        self._begun: dict[str, Execution] = {}
        self._durations: dict[str, _Durations] = {}

    @property
    def traces(self) -> Mapping[str, ToolExecutionTrace]:
        """Return the kept traces by execution id: ended ones, oldest first, then the running."""
        self.fold()
        with self._lock:
            executions = [*self._ended, *self._running]
        return _Traces({execution.execution_id: execution for execution in executions})

    @property
    def metrics(self) -> dict[str, list[float]]:
        """Return the kept durations of each tool, in milliseconds."""
        self.fold()
        with self._lock:
            return {name: list(durations.latest) for name, durations in self._durations.items()}

    def start_execution(
        self,
        tool_name: str,
        input_params: Mapping[str, object],
        agent_id: str | None = None,
        workflow_id: str | None = None,
        session_id: str | None = None,
    ) -> str:
        """Record that a tool starts; return the execution's id, for ``end_execution``."""
        execution = self.begin(tool_name, input_params, (agent_id, workflow_id, session_id))
        self._begun[execution.execution_id] = execution
        if len(self._begun) > self._max_traces:
            self._forget_oldest_begun()
        return execution.execution_id

    def end_execution(
        self,
        execution_id: str,
        status: ToolExecutionStatus,
        output_result: object = None,
        error: str | None = None,
        *,
        token_usage: Mapping[str, int] | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """Record how an execution ended. An unknown or ended id changes nothing."""
        execution = self._begun.pop(execution_id, None)
        if execution is None:
            return
        output = None if output_result is None else to_json(output_result, serialize_unknown=True)
        extras = (dict(token_usage or {}), dict(metadata or {}))
        self.finish(execution, status, output, error, extras)

    def begin(self, tool_name: str, input_params: object, identity: Identity) -> Execution:
        """Record that a tool starts; return what ``finish`` completes. Text is taken for JSON."""
        execution = new_execution(Execution)
        execution.id_prefix, execution.id_number = IDS.prefix, next(IDS.numbers)
        execution.tool_name = tool_name[:MAX_NAME_CHARS]
        execution.identity = identity
        execution.inputs = clip(snapshot(input_params), self.max_value_bytes)
        execution.status = RUNNING
        execution.started_at = time()
        execution.started_ns = perf_counter_ns()
        self.latest.append(execution)
        if len(self.latest) >= self.fold_at:
            self.fold()
        return execution

    def finish(
        self,
        execution: Execution,
        status: ToolExecutionStatus,
        output: bytes | None = None,
        error: str | None = None,
        extras: _Extras | None = None,
    ) -> None:
        """Record how an execution ended, its output as JSON."""
        execution.duration_ms = (perf_counter_ns() - execution.started_ns) / 1e6
        execution.output = None if output is None else clip(output, self.max_value_bytes)
        if error is not None:
            execution.error = error[:_MAX_ERROR_CHARS]
        if extras is not None:
            execution.extras = extras
        execution.status = status

    def fold(self) -> None:
        """File the executions that began since the last time, and add up those that have ended.

        By the hundred, so that the lock is taken once for all of them.
        """
        with self._lock:
            waiting = len(self.latest)
            begun = [*self._running, *self.latest[:waiting]]
            del self.latest[:waiting]  # Not replaced: another thread may be appending to it.
            self._running = []
            durations_ms = defaultdict(list)
            for execution in begun:
                if execution.status is RUNNING:
                    self._running.append(execution)
                else:
                    self._ended.append(execution)
                    durations_ms[execution.tool_name].append(execution.duration_ms)
            del self._running[: -self._max_traces]
            for tool_name, arrived in durations_ms.items():
                self._durations_of(tool_name).add(arrived)

    def get_tool_metrics(self, tool_name: str) -> dict[str, Any]:
        """Return count, average, extremes and 95th percentile in milliseconds; {} if unknown."""
        self.fold()
        with self._lock:
            durations = self._durations.get(tool_name)
            if durations is None:
                return {}
            ordered = sorted(durations.latest)
            return {
                "tool_name": tool_name,
                "execution_count": durations.count,
                "avg_duration_ms": durations.total / durations.count,
                "min_duration_ms": durations.shortest,
                "max_duration_ms": durations.longest,
                "p95_duration_ms": ordered[int(len(ordered) * 0.95)],
            }

    def reset(self) -> None:
        """Forget everything."""
        with self._lock:
            self.latest.clear()
            self._running.clear()
            self._ended.clear()
            self._begun.clear()
            self._durations.clear()

    def _forget_oldest_begun(self) -> None:
        # Only a caller that starts executions and never ends them gets here.
        with self._lock:
            if len(self._begun) > self._max_traces:
                self._begun.pop(next(iter(self._begun)), None)

    def _durations_of(self, tool_name: str) -> _Durations:
        durations = self._durations.get(tool_name)
        if durations is None:
            # A model may invent names without end, so only so many are counted apart.
            if len(self._durations) >= self._max_tools:
                tool_name = _OTHER_TOOLS
            durations = self._durations.setdefault(tool_name, _Durations(self._max_samples))
        return durations


class _Durations:
    """The latest durations of a tool, in milliseconds, and exact sums over all of them."""

    def __init__(self, size: int) -> None:
        self.latest: deque[float] = deque(maxlen=size)
        self.count = 0
        self.total = 0.0
        self.shortest = float("inf")
        self.longest = 0.0

    def add(self, durations_ms: list[float]) -> None:
        self.count += len(durations_ms)
        self.total += sum(durations_ms)
        self.shortest = min(self.shortest, *durations_ms)
        self.longest = max(self.longest, *durations_ms)
        self.latest.extend(durations_ms)


class _Traces(Mapping[str, ToolExecutionTrace]):
    """Recorded executions, each turned into a trace without secrets when it is read."""

    def __init__(self, executions: Mapping[str, Execution]) -> None:
        self._executions = executions

    def __getitem__(self, execution_id: str) -> ToolExecutionTrace:
        execution = self._executions[execution_id]
        agent_id, workflow_id, session_id = execution.identity
        trace = ToolExecutionTrace(
            tool_name=redact(execution.tool_name, secrets_of_environment()),
            execution_id=execution_id,
            status=execution.status,
            started_at=datetime.fromtimestamp(execution.started_at, UTC),
            input_params=_as_dict(_load(execution.inputs)),
            agent_id=agent_id,
            workflow_id=workflow_id,
            session_id=session_id,
        )
        if trace.status is not RUNNING:
            _add_outcome(trace, execution)
        return trace

    def __iter__(self) -> Iterator[str]:
        return iter(self._executions)

    def __len__(self) -> int:
        return len(self._executions)


def _add_outcome(trace: ToolExecutionTrace, execution: Execution) -> None:
    output, error = execution.output, getattr(execution, "error", None)
    token_usage, metadata = getattr(execution, "extras", ({}, {}))
    ended_at = execution.started_at + execution.duration_ms / 1e3
    trace.ended_at = datetime.fromtimestamp(ended_at, UTC)
    trace.duration_ms = execution.duration_ms
    trace.output_result = None if output is None else _load(output)
    trace.error = None if error is None else redact(error, secrets_of_environment())
    trace.token_usage = dict(token_usage)
    trace.metadata = _as_dict(redact_json(metadata))


class _Ids:
    """UUIDs in a tenth of ``uuid4``'s time: a random prefix for the process, then a number."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.prefix = str(uuid.uuid4())[:24]
        self.numbers = itertools.count(100_000_000_000)


IDS = _Ids()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=IDS.renew)


def snapshot(value: object) -> bytes:
    """Return the value as JSON, so that no later change of it changes the trace.

    Bytes and text are what a model sent for JSON, and stay as they are.
    """
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode(errors="backslashreplace")
    try:
        return to_json(value, serialize_unknown=True)
    except (ValueError, RecursionError):
        return to_json(f"<{type(value).__name__} that JSON can't hold>")


def clip(json: bytes, limit: int) -> Snapshot:
    """Return a JSON text as it is, or its beginning if it is over the limit."""
    if len(json) <= limit:
        return json
    beginning = json[:limit].decode("utf-8", errors="ignore")
    return _ClippedJson(beginning.encode(), len(json.decode(errors="replace")))


def _load(snapshot: Snapshot) -> JsonValue:
    """Return the value without secrets.

    A clipped one is parsed as far as it goes: a secret field is one even if its end is missing.
    """
    if isinstance(snapshot, bytes):
        return _parse(snapshot, allow_partial=False)
    value = _parse(snapshot.beginning, allow_partial="trailing-strings")
    preview = to_json(value).decode()
    return {"_truncated": True, "_preview": preview, "_total_chars": snapshot.total_chars}


def _parse(json: bytes, *, allow_partial: Literal[False, "trailing-strings"]) -> JsonValue:
    """Return a value without secrets; what a model sent may not be JSON, and is text then."""
    try:
        return redact_json(from_json(json, allow_partial=allow_partial))
    except ValueError:
        return redact(json.decode(errors="replace"), secrets_of_environment(), REDACTED)


def _as_dict(value: JsonValue) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {"value": value}


_COLLECTOR = ToolObservabilityCollector()


def get_tool_collector() -> ToolObservabilityCollector:
    """Return the collector that the dispatcher feeds by default."""
    return _COLLECTOR
