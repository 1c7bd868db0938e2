"""The event bus: publishers announce what happened in a run to observers they don't know.

A process has one bus. Observers run on the publisher's thread, in the order in which they
subscribed. If one raises, that is logged at DEBUG and ignored, so that no observer can break a run
or another observer. Source: Agentic Primitives, "EventBus".
"""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from fluid_build.json_types import JsonValue

LOG = logging.getLogger(__name__)
T = TypeVar("T")

_new_event = object.__new__
"""Makes an event without ``__init__``, in half the time: each tool call makes one per observer."""


@dataclass(slots=True)
class Event:
    """An event of a run: its type (``llm.call_completed``), and the facts as JSON values.

    Every observer gets a copy.
    """

    event_type: str
    payload: dict[str, JsonValue]


class LazyEvent(Event):
    """An event that builds its payload when an observer reads it: most look at the type alone."""

    __slots__ = ("_build", "_facts", "_payload")

    _build: Callable[[Any], dict[str, JsonValue]]
    _facts: object
    _payload: dict[str, JsonValue]

    @property
    def payload(self) -> dict[str, JsonValue]:
        """Return the facts, the same dictionary each time."""
        try:
            return self._payload
        except AttributeError:
            self._payload = self._build(self._facts)
            return self._payload

    @payload.setter
    def payload(self, payload: dict[str, JsonValue]) -> None:
        self._payload = payload

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and (self.event_type, self.payload) == (
            other.event_type,
            other.payload,
        )

    __hash__ = None  # type: ignore[assignment]


Observer: TypeAlias = Callable[[Event], object]


class EventBus:
    """A bus that hands each event to each observer. Safe from any thread and from coroutines."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Replaced as a whole on every change, so that publishing needs no lock.
        self._observers: tuple[Observer, ...] = ()
        self.observed = False
        """Whether anybody listens. If nobody does, there is no need to build a payload."""

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Call ``observer`` for each event from now on; return a function that stops it.

        Raises ``TypeError`` for a coroutine function: nobody would await it.
        """
        if inspect.iscoroutinefunction(observer):
            raise TypeError("An observer must be a plain function: the bus awaits nothing.")
        with self._lock:
            self._observers = (*self._observers, observer)
            self.observed = True
        pending = [observer]

        def unsubscribe() -> None:
            with self._lock:
                if pending:
                    remaining = list(self._observers)
                    remaining.remove(pending.pop())
                    self._observers = tuple(remaining)
                    self.observed = bool(remaining)

        return unsubscribe

    def publish(self, event: Event) -> None:
        """Hand ``event`` to every observer."""
        self.emit(event.event_type, event.payload.copy())

    def emit(self, event_type: str, payload: dict[str, JsonValue]) -> None:
        """Publish an event whose payload the caller doesn't use any more."""
        observers = self._observers
        for observer in observers:
            try:
                observer(Event(event_type, payload if len(observers) == 1 else payload.copy()))
            except Exception:
                LOG.debug("An observer of %s failed.", event_type, exc_info=True)

    def emit_lazily(
        self, event_type: str, build: Callable[[T], dict[str, JsonValue]], facts: T
    ) -> None:
        """Publish an event whose payload is ``build(facts)``, for those who read it."""
        for observer in self._observers:
            event = _new_event(LazyEvent)
            event.event_type = event_type
            event._build = build
            event._facts = facts
            try:
                observer(event)
            except Exception:
                LOG.debug("An observer of %s failed.", event_type, exc_info=True)


_BUS = EventBus()


def get_event_bus() -> EventBus:
    """Return the bus of this process."""
    return _BUS
