"""Timed operations of a run: agents, their steps and model calls, each published as two events.

``<name>_started`` has ``operation_id`` and ``parent_id``, the operation that it is part of;
``<name>_finished`` has ``operation_id``, ``duration_ms`` and ``error_type``, a class or None.
The parent comes from a context variable, which tasks and the runtime's threads inherit. While
nobody observes the bus, an operation does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter_ns

from fluid_build.copilot.events import get_event_bus
from fluid_build.json_types import JsonValue

_BUS = get_event_bus()
_CURRENT: ContextVar[str | None] = ContextVar("fluid_operation", default=None)


def current_operation() -> str | None:
    """Return the id of the operation that this code is part of, or None."""
    return _CURRENT.get()


class Operation:
    """An operation under way: ``with Operation("agent.step", describe) as step: ...``.

    ``describe`` returns the facts of the started event; ``outcome`` gets those of the finished one.
    What runs inside the block is part of the operation. Where a block isn't possible (a stream is
    read by its consumer, in the consumer's context), call ``start`` and ``finish``.
    """

    __slots__ = ("_describe", "_error_type", "_id", "_name", "_parent_id", "_started_ns", "outcome")

    def __init__(self, name: str, describe: Callable[[], dict[str, JsonValue]]) -> None:
        self._name = name
        self._describe = describe
        self._id: str | None = None
        self._parent_id: str | None = None
        self._started_ns = 0
        self._error_type: str | None = None
        self.outcome: dict[str, JsonValue] = {}

    def __enter__(self) -> Operation:
        if _BUS.observed:
            self._begin()
            _CURRENT.set(self._id)
            self._announce()
        return self

    def __exit__(self, _class: object, error: BaseException | None, _traceback: object) -> None:
        if self._id is not None:
            self.finish(error)
            # not by a token, which is only valid in the context that made it
            _CURRENT.set(self._parent_id)

    def start(self) -> Operation:
        """Start an operation that nothing else becomes part of."""
        if _BUS.observed:
            self._begin()
            self._announce()
        return self

    @property
    def is_published(self) -> bool:
        """Return whether the operation is under way, and somebody hears of it."""
        return self._id is not None

    def fail(self, error: object) -> None:
        """Record the error of an operation that doesn't raise it."""
        self._error_type = type(error).__name__ if isinstance(error, BaseException) else "error"

    def finish(self, error: BaseException | None = None) -> None:
        """Publish the end. A second call does nothing."""
        operation_id, self._id = self._id, None
        if operation_id is None:
            return
        if error is not None:
            self.fail(error)
        duration_ms = (perf_counter_ns() - self._started_ns) / 1e6
        ending: dict[str, JsonValue] = {
            "operation_id": operation_id,
            "duration_ms": duration_ms,
            "error_type": self._error_type,
        }
        _BUS.emit(f"{self._name}_finished", ending | self.outcome)

    def _begin(self) -> None:
        self._id = os.urandom(8).hex()
        self._parent_id = _CURRENT.get()
        self._started_ns = perf_counter_ns()

    def _announce(self) -> None:
        start: dict[str, JsonValue] = {"operation_id": self._id, "parent_id": self._parent_id}
        _BUS.emit(f"{self._name}_started", start | self._describe())
