"""The event bus: everyone who listens hears everything, and nobody can disturb it."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fluid_build.copilot.events import Event, EventBus, get_event_bus


def test_documented_sample(capsys: pytest.CaptureFixture[str]) -> None:
    """The sample of the page runs as it is written."""
    bus = get_event_bus()

    def my_observer(event: Event) -> None:
        if event.event_type == "llm.call_completed":
            print(
                f"{event.payload['stage']} cost: "
                f"{event.payload['input_tokens']} + "
                f"{event.payload['output_tokens']} tokens"
            )

    unsubscribe = bus.subscribe(my_observer)
    bus.publish(
        Event("llm.call_completed", {"stage": "logical", "input_tokens": 10, "output_tokens": 2})
    )
    unsubscribe()
    bus.publish(Event("llm.call_completed", {}))
    assert capsys.readouterr().out == "logical cost: 10 + 2 tokens\n"


def test_a_process_has_one_bus() -> None:
    """Everyone who asks gets the same bus."""
    assert get_event_bus() is get_event_bus()


def test_a_failing_observer_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """An observer that raises is logged at DEBUG, and the next one is called all the same."""
    bus, heard = EventBus(), []

    def broken(event: Event) -> None:
        raise ValueError("no")

    bus.subscribe(broken)
    bus.subscribe(heard.append)
    with caplog.at_level(logging.DEBUG):
        bus.publish(Event("x", {}))
    assert [event.event_type for event in heard] == ["x"]
    assert [record.levelno for record in caplog.records] == [logging.DEBUG]


def test_observers_have_payloads_of_their_own() -> None:
    """What one observer does to a payload, no other sees, nor does the publisher."""
    bus, heard = EventBus(), []
    bus.subscribe(lambda event: event.payload.clear())
    bus.subscribe(lambda event: heard.append(event.payload))
    event = Event("x", {"a": 1})
    bus.publish(event)
    assert heard == [{"a": 1}]
    assert event.payload == {"a": 1}


def test_unsubscribing_is_exact() -> None:
    """Each subscription ends on its own, once; the same observer may have several."""
    bus, heard = EventBus(), []
    first, second = bus.subscribe(heard.append), bus.subscribe(heard.append)
    first()
    first()
    bus.publish(Event("x", {}))
    assert len(heard) == 1
    second()
    bus.publish(Event("x", {}))
    assert len(heard) == 1
    assert not bus.observed


def test_unsubscribing_while_hearing() -> None:
    """An observer may end its subscription from within."""
    bus, heard = EventBus(), []

    def once(event: Event) -> None:
        heard.append(event)
        stop()

    stop = bus.subscribe(once)
    bus.publish(Event("x", {}))
    bus.publish(Event("x", {}))
    assert len(heard) == 1


def test_refuses_coroutines() -> None:
    """A coroutine function would never be awaited, so it is refused."""

    async def observer(event: Event) -> None: ...

    with pytest.raises(TypeError, match="plain function"):
        EventBus().subscribe(observer)


def test_threads_lose_nothing() -> None:
    """Many threads subscribe, publish and unsubscribe at once; every event is heard."""
    bus = EventBus()
    heard: list[Any] = []
    lock = threading.Lock()

    def hear(event: Event) -> None:
        with lock:
            heard.append(event.payload["n"])

    bus.subscribe(hear)

    def work(n: int) -> None:
        stop = bus.subscribe(lambda event: None)
        bus.publish(Event("x", {"n": n}))
        stop()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(500)))
    assert sorted(heard) == list(range(500))
