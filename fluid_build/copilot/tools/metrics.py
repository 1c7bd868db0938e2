"""What tools were called with, what came of it and how long it took.

Memory is bounded: the latest executions are kept in a ring, each with inputs and output clipped,
and durations in a reservoir per tool. What is kept is scrubbed of secrets when it is read.
Source: Agentic Primitives Implementation Plan, 1.3.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import threading
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from time import perf_counter_ns, time
from typing import Any, TypeAlias

from pydantic_core import from_json, to_json

from fluid_build.secrets import redact, redact_json, secrets_of_environment

_OTHER_TOOLS = "(other)"
_MAX_NAME_CHARS = 128
_MAX_ERROR_CHARS = 2000
_FOLD_AT = 256


class ToolExecutionStatus(Enum):
    """How far an execution is, or how it ended."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"


@dataclass
class ToolExecutionTrace:
    """One execution of one tool: times in UTC, duration in milliseconds, values scrubbed."""

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
class _Clipped:
    """The beginning of a JSON text that was too long to keep, and how long it was."""

    beginning: bytes
    total_chars: int


_Kept: TypeAlias = bytes | _Clipped


Identity: TypeAlias = tuple[str | None, str | None, str | None]
"""Agent, workflow and session that an execution belongs to."""

# Plain tuples, and containers whose single operations are atomic instead of a lock: this is on the
# way of each tool call, where a lock or an object with fields would cost a quarter of the budget.
Running: TypeAlias = tuple[str, str, float, int, _Kept, Identity]
"""Id, tool, start (seconds since the epoch, and nanoseconds of the clock), inputs, identity."""

_Extras: TypeAlias = tuple[dict[str, int], dict[str, Any]]
_Noted: TypeAlias = tuple[
    Running, ToolExecutionStatus, float | None, _Kept | None, str | None, _Extras | None
]
"""An execution with its status, milliseconds, output, error, and token usage with metadata."""


class ToolObservabilityCollector:
    """Traces and durations of tool executions. Safe from any thread and from coroutines.

    Keeps the latest ``max_traces`` executions, with at most ``max_value_bytes`` of each one's
    inputs and output, and ``max_samples`` durations of each of ``max_tools`` tools: figures are
    exact up to that many executions; above, the p95 is an estimate from a uniform sample.
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
        self._ended: deque[_Noted] = deque(maxlen=max_traces)
        self._durations: dict[str, _Durations] = {}

    @property
    def traces(self) -> Mapping[str, ToolExecutionTrace]:
        """The kept traces by execution id: the ended, oldest first, then the running ones."""
        running = self._running.copy()
        noted = {ended[0][0]: ended for ended in self._ended.copy()}
        for execution_id, execution in running.items():
            so_far: _Noted = (execution, ToolExecutionStatus.RUNNING, None, None, None, None)
            noted.setdefault(execution_id, so_far)
        return _Traces(noted)

    @property
    def metrics(self) -> dict[str, list[float]]:
        """The kept durations of each tool, in milliseconds."""
        with self._lock:
            for durations in self._durations.values():
                durations.fold()
            return {name: list(kept.samples) for name, kept in self._durations.items()}

    def start_execution(
        self,
        tool_name: str,
        input_params: Mapping[str, Any],
        agent_id: str | None = None,
        workflow_id: str | None = None,
        session_id: str | None = None,
    ) -> str:
        """Notes that a tool starts; returns the execution's id, for ``end_execution``."""
        identity = (agent_id, workflow_id, session_id)
        return self.begin(tool_name, input_params, identity)[0]

    def end_execution(
        self,
        execution_id: str,
        status: ToolExecutionStatus,
        output_result: Any | None = None,
        error: str | None = None,
        *,
        token_usage: Mapping[str, int] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Notes how an execution ended. An unknown or ended one is left as it is."""
        running = self._running.get(execution_id)
        if running is None:
            return
        output = None if output_result is None else _snapshot(output_result)
        extras = (dict(token_usage or {}), dict(metadata or {}))
        self.finish(running, status, output, error, extras)

    def begin(self, tool_name: str, input_params: Any, identity: Identity) -> Running:
        """As ``start_execution``; what it returns is for ``finish``."""
        try:
            json = to_json(input_params)
        except (ValueError, RecursionError):
            json = _snapshot(input_params)
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
        """As ``end_execution``, for an output that is JSON already; returns the milliseconds."""
        duration_ms = (perf_counter_ns() - running[3]) / 1e6
        if self._running.pop(running[0], None) is None:
            return duration_ms
        kept: _Kept | None = output
        if output is not None and len(output) > self._max_value_bytes:
            kept = _clip(output, self._max_value_bytes)
        self._ended.append(
            (running, status, duration_ms, kept, error and error[:_MAX_ERROR_CHARS], extras)
        )
        durations = self._durations.get(running[1]) or self._room_for(running[1])
        durations.pending.append(duration_ms)
        if len(durations.pending) >= _FOLD_AT:
            with self._lock:
                durations.fold()
        return duration_ms

    def get_tool_metrics(self, tool_name: str) -> dict[str, Any]:
        """Count, average, least, greatest and 95th percentile, in milliseconds; {} if unknown."""
        with self._lock:
            kept = self._durations.get(tool_name)
            if kept is None or not kept.fold():
                return {}
            ordered = sorted(kept.samples)
            return {
                "tool_name": tool_name,
                "execution_count": kept.count,
                "avg_duration_ms": kept.total / kept.count,
                "min_duration_ms": kept.least,
                "max_duration_ms": kept.greatest,
                "p95_duration_ms": ordered[int(len(ordered) * 0.95)],
            }

    def reset(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._running.clear()
            self._ended.clear()
            self._durations.clear()

    def _forget_oldest_running(self) -> None:
        """Somebody starts executions and never ends them."""
        with self._lock:
            if len(self._running) > self._max_traces:
                self._running.pop(next(iter(self._running)), None)

    def _room_for(self, tool_name: str) -> _Durations:
        """Names are a model's to invent, so there is an end to how many are counted apart."""
        with self._lock:
            if len(self._durations) >= self._max_tools:
                tool_name = _OTHER_TOOLS
            return self._durations.setdefault(tool_name, _Durations(self._max_samples))


class _Durations:
    """A uniform sample of fixed size from a stream, with exact sums.

    Values wait in ``pending`` and are folded in by the hundred. The sample is kept by Li's
    algorithm L, which draws how many values to pass over instead of a chance for each.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._draw = random.Random(0).random
        self._weight = 1.0
        self._skip = 0
        self.pending: list[float] = []
        self.samples: list[float] = []
        self.count = 0
        self.total = 0.0
        self.least = math.inf
        self.greatest = 0.0

    def fold(self) -> int:
        """Takes in what is pending; returns how many values there were in all."""
        waiting = len(self.pending)
        arrived = self.pending[:waiting]
        del self.pending[:waiting]  # Not replaced: another thread may be appending to it.
        if arrived:
            self.count += len(arrived)
            self.total += sum(arrived)
            self.least = min(self.least, *arrived)
            self.greatest = max(self.greatest, *arrived)
            self._sample(arrived)
        return self.count

    def _sample(self, arrived: list[float]) -> None:
        room = self._size - len(self.samples)
        if room > 0:
            self.samples += arrived[:room]
            arrived = arrived[room:]
            if len(self.samples) == self._size:
                self._next_skip()
        while self._skip < len(arrived):
            self.samples[int(self._draw() * self._size)] = arrived[self._skip]
            arrived = arrived[self._skip + 1 :]
            self._next_skip()
        self._skip -= len(arrived)

    def _next_skip(self) -> None:
        self._weight *= math.exp(self._log_of_chance() / self._size)
        self._skip = int(self._log_of_chance() / math.log1p(-self._weight))

    def _log_of_chance(self) -> float:
        return math.log(self._draw() or 0.5)


class _Traces(Mapping[str, ToolExecutionTrace]):
    """Makes a trace of what was written down, scrubbed, when it is asked for."""

    def __init__(self, noted: Mapping[str, _Noted]) -> None:
        self._noted = noted

    def __getitem__(self, execution_id: str) -> ToolExecutionTrace:
        running, status, duration_ms, output, error, extras = self._noted[execution_id]
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
            input_params=_as_dict(_read(inputs)),
            output_result=None if output is None else _read(output),
            error=None if error is None else redact(error, secrets_of_environment()),
            agent_id=agent_id,
            workflow_id=workflow_id,
            session_id=session_id,
            token_usage=dict(token_usage),
            metadata=_as_dict(redact_json(metadata)),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._noted)

    def __len__(self) -> int:
        return len(self._noted)


class _Ids:
    """UUIDs for a tenth of ``uuid4``'s time: a random prefix for the process, then a number."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.prefix = str(uuid.uuid4())[:24]
        self.numbers = itertools.count(100_000_000_000)


_IDS = _Ids()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDS.renew)


def _snapshot(value: Any) -> bytes:
    """The value as JSON now: nothing that changes it later, or holds on to it, is kept."""
    try:
        return to_json(value, serialize_unknown=True)
    except (ValueError, RecursionError):
        return to_json(f"<{type(value).__name__} that JSON cannot hold>")


def _clip(value: bytes, limit: int) -> _Clipped:
    beginning = value[:limit].decode("utf-8", errors="ignore")
    return _Clipped(beginning.encode(), len(value.decode("utf-8")))


def _read(kept: _Kept) -> Any:
    """The scrubbed value. What was clipped is parsed as far as it goes, so that a secret field is
    known as one even if its end is missing.
    """
    if isinstance(kept, bytes):
        return redact_json(from_json(kept))
    value = redact_json(from_json(kept.beginning, allow_partial="trailing-strings"))
    preview = to_json(value).decode()
    return {"_truncated": True, "_preview": preview, "_total_chars": kept.total_chars}


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"value": value}


_COLLECTOR = ToolObservabilityCollector()


def get_tool_collector() -> ToolObservabilityCollector:
    """The collector that the dispatcher feeds unless it is given another."""
    return _COLLECTOR
