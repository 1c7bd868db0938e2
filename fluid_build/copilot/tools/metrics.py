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
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from time import perf_counter_ns, time_ns
from typing import Any, Literal, TypeAlias

from pydantic_core import from_json, to_json

from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import REDACTED, redact, redact_json, secrets_of_environment

# The durations of a tool: exact sums, and the latest values.

_FOLD_AT = 256
"""Durations that wait to be added up, so that a lock is taken once for all of them."""


class Durations:
    """The latest durations of a tool, in milliseconds, and exact sums over all of them.

    New values wait in ``pending``, where appending needs no lock, and are folded in by the hundred.
    """

    def __init__(self, size: int) -> None:
        self.pending: list[float] = []
        self.latest: deque[float] = deque(maxlen=size)
        self.count = 0
        self.total = 0.0
        self.shortest = float("inf")
        self.longest = 0.0

    def fold(self) -> int:
        """Add up the pending values; return how many values there were in all."""
        waiting = len(self.pending)
        arrived = self.pending[:waiting]
        del self.pending[:waiting]  # Not replaced: another thread may be appending to it.
        if arrived:
            self.count += len(arrived)
            self.total += sum(arrived)
            self.shortest = min(self.shortest, *arrived)
            self.longest = max(self.longest, *arrived)
            self.latest.extend(arrived)
        return self.count


_OTHER_TOOLS = "(other)"
MAX_NAME_CHARS = 128
"""Kept of a tool's name, which a model may make up."""

_MAX_ERROR_CHARS = 2000


class ToolExecutionStatus(Enum):
    """The state of an execution, or how it ended."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"


_RUNNING = ToolExecutionStatus.RUNNING


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


Identity: TypeAlias = tuple[str | None, str | None, str | None]
"""The agent, workflow and session that an execution belongs to."""


class Execution:
    """An execution as it's recorded: begun with its inputs, and completed in place.

    ``status`` is set last, so that a reader in another thread sees all of the outcome or nothing.
    Without a failure, ``error`` isn't set at all, nor are ``extras`` if there are none.
    """

    __slots__ = (
        "duration_ms",
        "epoch_ns",
        "error",
        "extras",
        "id_number",
        "id_prefix",
        "identity",
        "inputs",
        "output",
        "started_ns",
        "status",
        "tool_name",
    )

    id_prefix: str
    id_number: int
    tool_name: str
    identity: Identity
    inputs: Snapshot
    epoch_ns: int
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

    @property
    def started_at(self) -> float:
        """Return the seconds since the epoch."""
        return (self.epoch_ns + self.started_ns) / 1e9


_new_execution: Callable[[type[Execution]], Execution] = object.__new__
"""Makes a record without ``__init__``, in half the time."""

_Extras: TypeAlias = tuple[dict[str, int], JsonObject]
"""Token usage and metadata."""


class _WallClock:
    """The time of day for the counter that measures durations, so that a call reads one clock.

    Compared each second, as the time of day may be set and the counter may stop in a sleep.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> int:
        """Compare the clocks; return the counter's zero in nanoseconds since the epoch."""
        before_ns = perf_counter_ns()
        self.epoch_ns = time_ns() - (before_ns + perf_counter_ns()) // 2
        self.renewal_ns = before_ns + 1_000_000_000
        return self.epoch_ns


_CLOCK = _WallClock()


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
        self._max_value_bytes = max_value_bytes
        self._max_samples = max_samples
        self._max_tools = max_tools
        self._lock = threading.Lock()
        # Containers whose single operations are atomic, instead of a lock: every tool call passes
        # here, and a lock would cost a tenth of the budget.
        self._executions: deque[Execution] = deque(maxlen=max_traces)
        self._begun: dict[str, Execution] = {}
        self._durations: dict[str, Durations] = {}

    @property
    def traces(self) -> Mapping[str, ToolExecutionTrace]:
        """Return the kept traces by execution id, in the order in which they began."""
        executions = [*self._begun.copy().values(), *self._executions.copy()]
        executions.sort(key=lambda execution: execution.id_number)
        return _Traces({execution.execution_id: execution for execution in executions})

    @property
    def metrics(self) -> dict[str, list[float]]:
        """Return the kept durations of each tool, in milliseconds."""
        with self._lock:
            for durations in self._durations.values():
                durations.fold()
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
        identity = (agent_id, workflow_id, session_id)
        execution = self.begin(tool_name[:MAX_NAME_CHARS], input_params, identity)
        execution_id = execution.execution_id
        self._begun[execution_id] = execution
        if len(self._begun) > self._max_traces:
            self._forget_oldest_begun()
        return execution_id

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
        output = None if output_result is None else snapshot(output_result)
        extras = (dict(token_usage or {}), dict(metadata or {}))
        self.finish(execution, status, output, error, extras)

    def begin(self, tool_name: str, input_params: object, identity: Identity) -> Execution:
        """Record that a tool starts; return what ``finish`` completes. Text is taken for JSON."""
        try:
            if type(input_params) is dict:
                inputs = to_json(input_params)
            elif type(input_params) is str:
                inputs = input_params.encode()
            else:
                inputs = _snapshot_arguments(input_params)
        except (ValueError, RecursionError):
            inputs = _snapshot_arguments(input_params)
        execution = _new_execution(Execution)
        execution.id_prefix = _IDS.prefix
        execution.id_number = _next_id_number()
        execution.tool_name = tool_name
        execution.identity = identity
        limit = self._max_value_bytes
        execution.inputs = inputs if len(inputs) <= limit else _clip_snapshot(inputs, limit)
        execution.status = _RUNNING
        execution.started_ns = started_ns = perf_counter_ns()
        execution.epoch_ns = _CLOCK.epoch_ns if started_ns < _CLOCK.renewal_ns else _CLOCK.renew()
        self._executions.append(execution)
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
        execution.duration_ms = duration_ms = (perf_counter_ns() - execution.started_ns) / 1e6
        limit = self._max_value_bytes
        execution.output = (
            output if output is None or len(output) <= limit else _clip_snapshot(output, limit)
        )
        if error is not None:
            execution.error = error[:_MAX_ERROR_CHARS]
        if extras is not None:
            execution.extras = extras
        execution.status = status
        name = execution.tool_name
        durations = self._durations.get(name) or self._first_durations_of(name)
        pending = durations.pending
        pending.append(duration_ms)
        if len(pending) >= _FOLD_AT:
            with self._lock:
                durations.fold()
        try:
            has_made_room = self._executions[0].id_number > execution.id_number
        except IndexError:  # after a reset
            return
        if has_made_room:  # It took longer than many others.
            self._executions.append(execution)

    def get_tool_metrics(self, tool_name: str) -> dict[str, Any]:
        """Return count, average, extremes and 95th percentile in milliseconds; {} if unknown."""
        with self._lock:
            durations = self._durations.get(tool_name)
            if durations is None or not durations.fold():
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
            self._executions.clear()
            self._begun.clear()
            self._durations.clear()

    def _forget_oldest_begun(self) -> None:
        # Only a caller that starts executions and never ends them gets here.
        with self._lock:
            if len(self._begun) > self._max_traces:
                self._begun.pop(next(iter(self._begun)), None)

    def _first_durations_of(self, tool_name: str) -> Durations:
        # A model may invent names without end, so only so many are counted apart.
        with self._lock:
            if len(self._durations) >= self._max_tools:
                tool_name = _OTHER_TOOLS
            return self._durations.setdefault(tool_name, Durations(self._max_samples))


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
            input_params=_as_dict(_load_snapshot(execution.inputs)),
            agent_id=agent_id,
            workflow_id=workflow_id,
            session_id=session_id,
        )
        if trace.status is not _RUNNING:
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
    trace.output_result = None if output is None else _load_snapshot(output)
    trace.error = None if error is None else redact(error, secrets_of_environment())
    trace.token_usage = dict(token_usage)
    trace.metadata = _as_dict(redact_json(metadata))


class _Ids:
    """UUIDs in a tenth of ``uuid4``'s time: a random prefix for the process, then a number."""

    def __init__(self) -> None:
        self.renew_prefix()
        self.next_number = itertools.count(100_000_000_000).__next__

    def renew_prefix(self) -> None:
        self.prefix = str(uuid.uuid4())[:24]


_IDS = _Ids()
_next_id_number = _IDS.next_number
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDS.renew_prefix)


def _as_dict(value: JsonValue) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {"value": value}


_COLLECTOR = ToolObservabilityCollector()


def get_tool_collector() -> ToolObservabilityCollector:
    """Return the collector that the dispatcher feeds by default."""
    return _COLLECTOR


@dataclass(frozen=True, slots=True)
class _ClippedJson:
    """The beginning of a JSON text that was too long to keep, and its whole length."""

    beginning: bytes
    total_chars: int


Snapshot: TypeAlias = bytes | _ClippedJson


def snapshot(value: object) -> bytes:
    """Return the value as JSON, so that no later change of it changes the trace."""
    try:
        return to_json(value, serialize_unknown=True)
    except (ValueError, RecursionError):
        return to_json(f"<{type(value).__name__} that JSON can't hold>")


def _snapshot_arguments(arguments: object) -> bytes:
    """Return arguments as JSON; text, which a model sent for JSON, as it is."""
    if isinstance(arguments, bytes):
        return arguments
    if isinstance(arguments, str):
        return arguments.encode(errors="backslashreplace")
    return snapshot(arguments)


def _clip_snapshot(json: bytes, limit: int) -> Snapshot:
    """Return a JSON text as it is, or its beginning if it is over the limit."""
    if len(json) <= limit:
        return json
    beginning = json[:limit].decode("utf-8", errors="ignore")
    return _ClippedJson(beginning.encode(), len(json.decode(errors="replace")))


def _load_snapshot(json: Snapshot) -> JsonValue:
    """Return the value without secrets.

    A clipped one is parsed as far as it goes: a secret field is one even if its end is missing.
    """
    if isinstance(json, bytes):
        return _parse(json, allow_partial=False)
    value = _parse(json.beginning, allow_partial="trailing-strings")
    preview = to_json(value).decode()
    return {"_truncated": True, "_preview": preview, "_total_chars": json.total_chars}


def _parse(json: bytes, *, allow_partial: Literal[False, "trailing-strings"]) -> JsonValue:
    """Return a value without secrets; what a model sent may not be JSON, and is text then."""
    try:
        return redact_json(from_json(json, allow_partial=allow_partial))
    except ValueError:
        return redact(json.decode(errors="replace"), secrets_of_environment(), REDACTED)
