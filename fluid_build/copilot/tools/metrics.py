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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from time import perf_counter_ns, time
from typing import Any, Literal, TypeAlias

from pydantic_core import from_json, to_json

from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import REDACTED, redact, redact_json, secrets_of_environment

_OTHER_TOOLS = "(other)"
_MAX_NAME_CHARS = 128
_MAX_ERROR_CHARS = 2000
_FOLD_AT = 256
"""Durations that wait to be added up, so that the lock is taken once for all of them."""


class ToolExecutionStatus(Enum):
    """The state of an execution, or how it ended."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"


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


_Snapshot: TypeAlias = bytes | _ClippedJson

Identity: TypeAlias = tuple[str | None, str | None, str | None]
"""The agent, workflow and session that an execution belongs to."""

# Plain tuples, and containers whose single operations are atomic, instead of a lock: every tool
# call passes here, and a lock or an object with fields would cost a quarter of the budget.
Running: TypeAlias = tuple[str, str, float, int, _Snapshot, Identity]
"""The id, tool, start (seconds since the epoch, then clock nanoseconds), inputs and identity."""

_Extras: TypeAlias = tuple[dict[str, int], JsonObject]
_Execution: TypeAlias = tuple[
    Running, ToolExecutionStatus, float | None, _Snapshot | None, str | None, _Extras | None
]
"""An execution with its status, milliseconds, output, error, and token usage with metadata."""


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
        self._running: dict[str, Running] = {}
        self._ended: deque[_Execution] = deque(maxlen=max_traces)
        self._durations: dict[str, _Durations] = {}

    @property
    def traces(self) -> Mapping[str, ToolExecutionTrace]:
        """Return the kept traces by execution id: ended ones, oldest first, then the running."""
        running = self._running.copy()
        executions = {execution[0][0]: execution for execution in self._ended.copy()}
        for execution_id, started in running.items():
            so_far: _Execution = (started, ToolExecutionStatus.RUNNING, None, None, None, None)
            executions.setdefault(execution_id, so_far)
        return _Traces(executions)

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
        return self.begin(tool_name, input_params, identity)[0]

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
        running = self._running.get(execution_id)
        if running is None:
            return
        output = None if output_result is None else _snapshot(output_result)
        extras = (dict(token_usage or {}), dict(metadata or {}))
        self.finish(running, status, output, error, extras)

    def begin(self, tool_name: str, input_params: object, identity: Identity) -> Running:
        """Record that a tool starts; return what ``finish`` needs. Text is taken for JSON."""
        json = _snapshot_inputs(input_params)
        limit = self._max_value_bytes
        inputs = json if len(json) <= limit else _clip(json, limit)
        if len(tool_name) > _MAX_NAME_CHARS:
            tool_name = tool_name[:_MAX_NAME_CHARS]
        execution_id = f"{_IDS.prefix}{next(_IDS.numbers)}"
        running = (execution_id, tool_name, time(), perf_counter_ns(), inputs, identity)
        self._running[execution_id] = running
        if len(self._running) > self._max_traces:
            self._forget_oldest_running()
        return running

    def finish(
        self,
        running: Running,
        status: ToolExecutionStatus,
        output: bytes | None = None,
        error: str | None = None,
        extras: _Extras | None = None,
    ) -> float:
        """Record how an execution ended, its output as JSON; return its milliseconds."""
        duration_ms = (perf_counter_ns() - running[3]) / 1e6
        if self._running.pop(running[0], None) is None:
            return duration_ms
        snapshot: _Snapshot | None = output
        if output is not None and len(output) > self._max_value_bytes:
            snapshot = _clip(output, self._max_value_bytes)
        self._ended.append(
            (running, status, duration_ms, snapshot, error and error[:_MAX_ERROR_CHARS], extras)
        )
        durations = self._durations.get(running[1]) or self._durations_of(running[1])
        durations.pending.append(duration_ms)
        if len(durations.pending) >= _FOLD_AT:
            with self._lock:
                durations.fold()
        return duration_ms

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
            self._running.clear()
            self._ended.clear()
            self._durations.clear()

    def _forget_oldest_running(self) -> None:
        # Only a caller that starts executions and never ends them gets here.
        with self._lock:
            if len(self._running) > self._max_traces:
                self._running.pop(next(iter(self._running)), None)

    def _durations_of(self, tool_name: str) -> _Durations:
        # A model may invent names without end, so only so many are counted apart.
        with self._lock:
            if len(self._durations) >= self._max_tools:
                tool_name = _OTHER_TOOLS
            return self._durations.setdefault(tool_name, _Durations(self._max_samples))


class _Durations:
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


class _Traces(Mapping[str, ToolExecutionTrace]):
    """Recorded executions, each turned into a trace without secrets when it is read."""

    def __init__(self, executions: Mapping[str, _Execution]) -> None:
        self._executions = executions

    def __getitem__(self, execution_id: str) -> ToolExecutionTrace:
        running, status, duration_ms, output, error, extras = self._executions[execution_id]
        _, tool_name, started_at, _, inputs, (agent_id, workflow_id, session_id) = running
        token_usage, metadata = extras or ({}, {})
        return ToolExecutionTrace(
            tool_name=redact(tool_name, secrets_of_environment()),
            execution_id=execution_id,
            status=status,
            started_at=datetime.fromtimestamp(started_at, UTC),
            ended_at=None
            if duration_ms is None
            else datetime.fromtimestamp(started_at + duration_ms / 1e3, UTC),
            duration_ms=duration_ms,
            input_params=_as_dict(_load(inputs)),
            output_result=None if output is None else _load(output),
            error=None if error is None else redact(error, secrets_of_environment()),
            agent_id=agent_id,
            workflow_id=workflow_id,
            session_id=session_id,
            token_usage=dict(token_usage),
            metadata=_as_dict(redact_json(metadata)),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._executions)

    def __len__(self) -> int:
        return len(self._executions)


class _Ids:
    """UUIDs in a tenth of ``uuid4``'s time: a random prefix for the process, then a number."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.prefix = str(uuid.uuid4())[:24]
        self.numbers = itertools.count(100_000_000_000)


_IDS = _Ids()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDS.renew)


def _snapshot(value: object) -> bytes:
    """Return the value as JSON, so that no later change of it changes the trace."""
    try:
        return to_json(value, serialize_unknown=True)
    except (ValueError, RecursionError):
        return to_json(f"<{type(value).__name__} that JSON can't hold>")


def _snapshot_inputs(inputs: object) -> bytes:
    if isinstance(inputs, bytes):
        return inputs
    if isinstance(inputs, str):
        return inputs.encode(errors="backslashreplace")
    return _snapshot(inputs)


def _clip(value: bytes, limit: int) -> _ClippedJson:
    beginning = value[:limit].decode("utf-8", errors="ignore")
    return _ClippedJson(beginning.encode(), len(value.decode(errors="replace")))


def _load(snapshot: _Snapshot) -> JsonValue:
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
