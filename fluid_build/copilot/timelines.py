"""What happened in a saved run, and when: its steps, model calls and tool calls, in the store.

A recorder listens to the bus. What a process has done for a run is saved after each of its steps
and at its end, so that a process that is killed loses the record of its last step alone. There are
names, counts and classes of errors in it, and never any text of prompts, arguments or results.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from fluid_build.copilot.events import Event, get_event_bus
from fluid_build.copilot.store.base import Store
from fluid_build.json_types import JsonValue

NAMESPACE = "runs/timelines"

_KINDS = ("agent.run", "agent.step", "llm.call", "tool.call")
_STARTED, _FINISHED = "_started", "_finished"
_KEPT = (
    *("agent_name", "run_id", "step_name", "step_type", "tool_name", "provider", "model"),
    *("input_tokens", "output_tokens", "cached_tokens", "cost_usd", "attempts"),
)
"""The facts that are kept: what a timeline shows."""
_MOST_OPERATIONS = 20_000
"""Of a run in a process: some megabytes, and far more than anybody looks at."""


@dataclass(frozen=True, slots=True)
class TimedOperation:
    """Something that a run did. ``started`` is in seconds since the epoch.

    ``kind`` is ``agent.run``, ``agent.step``, ``llm.call`` or ``tool.call``; ``facts`` has names,
    tokens, dollars as text, and attempts. ``seconds`` is None where it never ended.
    """

    id: str
    parent_id: str | None
    kind: str
    started: float
    seconds: float | None
    error: str | None
    facts: Mapping[str, JsonValue] = field(default_factory=dict)


def record_timelines(store: Store, *, clock: Callable[[], float] = time.time) -> Callable[[], None]:
    """Record the saved runs of this process in ``store`` from now on; return what ends that."""
    return get_event_bus().subscribe(_Recorder(store, clock).hear)


def timeline_of(store: Store, run_id: str) -> list[TimedOperation]:
    """Return what is recorded of a run, by the time of its start; nothing if nobody recorded."""
    keys = store.keys(NAMESPACE, f"{run_id}/")
    records = store.get_many(NAMESPACE, keys)
    operations = {
        saved["id"]: TimedOperation(**saved) for key in keys for saved in records[key].value
    }
    return sorted(operations.values(), key=lambda each: each.started)


def forget_timeline(store: Store, run_id: str) -> None:
    """Delete what is recorded of a run."""
    for key in store.keys(NAMESPACE, f"{run_id}/"):
        store.delete(NAMESPACE, key)


@dataclass(slots=True)
class _Process:
    """What this process does for a run: the outermost operation, and those inside it."""

    root: str
    run_id: str
    ended: list[TimedOperation] = field(default_factory=list)
    operations: int = 1
    records: int = 0


class _Recorder:
    """The listener. Operations that are no part of a saved run are dropped."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[str, tuple[TimedOperation, _Process]] = {}

    def hear(self, event: Event) -> None:
        """Note the start or the end of an operation."""
        kind, ending = event.event_type, ""
        for suffix in (_STARTED, _FINISHED):
            if kind.endswith(suffix):
                kind, ending = kind.removesuffix(suffix), suffix
        if kind not in _KINDS or not ending:
            return
        with self._lock:
            if ending == _STARTED:
                self._start(kind, event.payload)
                return
            records = self._finish(event.payload)
        for process, operations in records:
            self._save(process, operations)

    def _start(self, kind: str, payload: Mapping[str, Any]) -> None:
        parent = self._open.get(payload["parent_id"] or "")
        if parent is not None:
            process = parent[1]
            process.operations += 1
            if process.operations > _MOST_OPERATIONS:
                return
        elif kind == "agent.run" and payload.get("run_id"):
            process = _Process(payload["operation_id"], payload["run_id"])
        else:
            return
        operation = TimedOperation(
            payload["operation_id"],
            None if parent is None else payload["parent_id"],
            kind,
            self._clock(),
            None,
            None,
            _facts(payload),
        )
        self._open[operation.id] = operation, process

    def _finish(self, payload: Mapping[str, Any]) -> list[tuple[_Process, list[TimedOperation]]]:
        found = self._open.pop(payload["operation_id"], None)
        if found is None:
            return []
        started, process = found
        process.ended.append(
            TimedOperation(
                started.id,
                started.parent_id,
                started.kind,
                started.started,
                payload["duration_ms"] / 1000,
                payload["error_type"],
                {**started.facts, **_facts(payload)},
            )
        )
        if process.root not in {started.id, started.parent_id}:
            return []
        saved, process.ended = process.ended, []
        if started.id != process.root and process.root in self._open:
            # As far as it is known: a process that is killed leaves it like this.
            saved.insert(0, self._open[process.root][0])
        return [(process, saved)]

    def _save(self, process: _Process, operations: list[TimedOperation]) -> None:
        process.records += 1
        key = f"{process.run_id}/{process.root}/{process.records:06d}"
        self._store.put(NAMESPACE, key, [asdict(each) for each in operations])


def _facts(payload: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {name: payload[name] for name in _KEPT if payload.get(name) is not None}
