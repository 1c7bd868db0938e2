"""The event bus: a publisher tells what happened in a run, and observers it does not know listen.

One process has one bus. Observers run on the publisher's thread, in the order in which they
subscribed. One that raises is logged at DEBUG and otherwise ignored, so that no observer can break
a run or another observer. Source: Agentic Primitives, "EventBus".
"""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class Event:
    """Something that happened: what (``llm.call_completed``), and the facts, ready for JSON.

    Every observer is given one of its own.
    """

    event_type: str
    payload: dict[str, Any]


Observer: TypeAlias = Callable[[Event], object]


class EventBus:
    """Hands each event to each observer. Safe from any thread and from coroutines."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Replaced as a whole on every change, so that publishing needs no lock.
        self._observers: tuple[Observer, ...] = ()
        self.observed = False
        """Whether anybody listens: without, there is no need to put a payload together."""

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Has ``observer`` called for each event from now on; returns what ends that.

        Raises ``TypeError`` for a coroutine function: nobody would await it.
        """
        if inspect.iscoroutinefunction(observer):
            raise TypeError("An observer is a plain function: the bus does not await.")
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
        """Hands ``event`` to every observer."""
        self.emit(event.event_type, event.payload.copy())

    def emit(self, event_type: str, payload: dict[str, Any]) -> None:
        """As ``publish``, for a payload that the caller gives away."""
        observers = self._observers
        for observer in observers:
            try:
                observer(Event(event_type, payload if len(observers) == 1 else payload.copy()))
            except Exception:
                LOG.debug("An observer of %s failed.", event_type, exc_info=True)


_BUS = EventBus()


def get_event_bus() -> EventBus:
    """The bus of this process."""
    return _BUS
