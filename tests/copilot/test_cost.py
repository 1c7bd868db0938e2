"""What a run has spent is counted, and its ceiling holds, whatever runs side by side."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.cost import (
    AgentRow,
    CostLimitExceeded,
    CostRow,
    RunCostTracker,
    UnknownPriceError,
    get_cost_tracker,
    use_cost_tracker,
)
from fluid_build.copilot.events import EventBus
from fluid_build.errors import UsageError

PRICES = {"m": (2, 10)}
"""Dollars for a million tokens: half a million in and a tenth of a million out are two dollars."""


def tracker(limit: Any = None, **options: Any) -> RunCostTracker:
    return RunCostTracker(limit, prices=PRICES, **options)


CALL: dict[str, Any] = {"provider": "p", "model": "m"}


def test_five_dimensions() -> None:
    """Tokens by model and by agent, missing usage, lint findings and catalog times add up."""
    run = tracker()
    run.record_call(**CALL, input_tokens=500_000, output_tokens=100_000, stage="s", agent_class="A")
    run.record_call(**CALL, input_tokens=1, output_tokens=0, stage="t", missing_usage=True)
    run.record_missing_usage()
    run.record_variant_lint("v", 2)
    run.record_variant_lint("v", 1)
    run.record_catalog_fetch("c", 1.5)
    run.record_catalog_fetch("c", 1)
    seen = run.breakdown
    total = Decimal("2.000002")
    assert seen.rows == (CostRow("p", "m", 2, 500_001, 100_000, 0, total),)
    assert seen.agent_rows == (
        AgentRow("s", "A", 1, 500_000, 100_000, 0, Decimal(2)),
        AgentRow("t", "", 1, 1, 0, 0, Decimal("0.000002")),
    )
    assert seen.missing_usage_calls == 2
    assert seen.variant_lint_findings == {"v": 3}
    assert seen.catalog_fetch_ms == {"c": 2.5}
    assert (seen.total_usd, seen.reserved_usd) == (total, 0)


def test_documented_events() -> None:
    """Each record is published with the documented name and payload."""
    bus, heard = EventBus(), []
    bus.subscribe(lambda event: heard.append((event.event_type, event.payload)))
    run = tracker(bus=bus)
    run.record_call(**CALL, input_tokens=1, output_tokens=2, stage="s", agent_class="A")
    run.record_missing_usage()
    run.record_variant_lint("v", 2)
    run.record_catalog_fetch("c", 1.5)
    assert heard == [
        (
            "llm.call_completed",
            {
                "provider": "p",
                "model": "m",
                "input_tokens": 1,
                "output_tokens": 2,
                "stage": "s",
                "agent_class": "A",
                "missing_usage": False,
            },
        ),
        ("llm.usage_missing", {}),
        ("validator.variant_lint", {"variant": "v", "warning_count": 2}),
        ("catalog.fetch_completed", {"catalog_name": "c", "duration_ms": 1.5}),
    ]


def test_an_observer_may_ask_the_tracker() -> None:
    """Observers are called outside of the lock."""
    bus = EventBus()
    run = tracker(bus=bus)
    totals = []
    bus.subscribe(lambda event: totals.append(run.total_usd))
    run.record_call(**CALL, input_tokens=500_000, output_tokens=0)
    assert totals == [1]


def test_the_ceiling_is_checked_before_the_call() -> None:
    """The most that a call can cost is reserved first; the error has both figures."""
    run = tracker("1.00")
    with pytest.raises(CostLimitExceeded) as caught:
        run.reserve(**CALL, input_tokens=0, max_output_tokens=150_000)
    assert (caught.value.total_usd, caught.value.limit_usd) == (Decimal("1.5"), Decimal(1))
    assert str(caught.value) == "CostLimitExceeded($1.50 > $1.00)"
    assert run.breakdown.reserved_usd == 0


def test_amounts_that_are_close_get_more_decimals() -> None:
    """Amounts that are the same in cents are shown with more places."""
    assert str(CostLimitExceeded(Decimal("5.0004"), Decimal(5))) == (
        "CostLimitExceeded($5.0004 > $5.0000)"
    )


def test_settling_frees_what_was_not_used() -> None:
    """Once the usage is known, only that counts."""
    run = tracker(1)
    with run.reserve(**CALL, input_tokens=0, max_output_tokens=100_000) as reservation:
        assert run.breakdown.reserved_usd == 1
        reservation.settle(0, 10_000)
        reservation.settle(0, 99_999)
    assert (run.total_usd, run.breakdown.reserved_usd) == (Decimal("0.1"), 0)
    run.reserve(**CALL, input_tokens=0, max_output_tokens=90_000)


def test_a_failed_call_gives_its_reserve_back() -> None:
    """Leaving the block without settling releases the money."""
    run = tracker(1)
    with pytest.raises(OSError), run.reserve(**CALL, input_tokens=0, max_output_tokens=100_000):
        raise OSError
    assert run.breakdown.reserved_usd == 0


def test_missing_usage_counts_the_whole_reserve() -> None:
    """If the provider does not say what a call used, the worst is assumed."""
    run = tracker(1)
    with run.reserve(**CALL, input_tokens=0, max_output_tokens=60_000) as reservation:
        reservation.settle_without_usage()
    assert (run.total_usd, run.breakdown.missing_usage_calls) == (Decimal("0.6"), 1)


def test_a_call_without_usage_still_counts() -> None:
    """It is in the rows, which add up to the total, and both events tell of it, once."""
    bus, heard = EventBus(), []
    bus.subscribe(heard.append)
    run = RunCostTracker(1, prices={"m": (0, 10)}, bus=bus)
    call = {"provider": "p", "model": "m", "stage": "s", "agent_class": "A"}
    with run.reserve(**call, input_tokens=0, max_output_tokens=60_000) as reservation:
        reservation.settle_without_usage()
        reservation.settle_without_usage()
    (row,), (agent_row,) = run.breakdown.rows, run.breakdown.agent_rows
    assert (row.calls, row.cost_usd) == (1, run.total_usd)
    assert (agent_row.stage, agent_row.agent_class, agent_row.calls) == ("s", "A", 1)
    assert [event.event_type for event in heard] == ["llm.call_completed", "llm.usage_missing"]
    assert heard[0].payload["missing_usage"] is True
    unpriced = RunCostTracker(price=lambda *_, **__: None, bus=bus)
    unpriced.reserve(**call, input_tokens=1, max_output_tokens=1).settle_without_usage()
    assert unpriced.breakdown.rows[0].cost_usd is None


def test_cache_writes_are_reserved_for() -> None:
    """Where writing to a prompt cache costs more than plain input, the reserve covers that."""

    def price(*_: Any, cache_write_tokens: int = 0) -> Decimal:
        return Decimal(5 if cache_write_tokens else 4)

    reservation = RunCostTracker(price=price).reserve(**CALL, input_tokens=1, max_output_tokens=1)
    assert reservation.reserved_usd == 5


def test_a_call_that_costs_more_than_its_reserve_is_recorded_and_refused() -> None:
    """A provider that reports more than was reserved is recorded, and then the run is stopped."""
    run = tracker(1)
    with (
        pytest.raises(CostLimitExceeded),
        run.reserve(**CALL, input_tokens=0, max_output_tokens=90_000) as reservation,
    ):
        reservation.settle(0, 200_000)
    assert run.total_usd == 2


def test_recording_past_the_ceiling_raises() -> None:
    """A call that was made without a reserve is counted, and stops the run if it was too much."""
    run = tracker(1)
    with pytest.raises(CostLimitExceeded):
        run.record_call(**CALL, input_tokens=0, output_tokens=200_000)
    assert run.breakdown.rows[0].calls == 1


def test_unknown_prices() -> None:
    """Without a ceiling an unknown price stays unknown; with one, the call is refused."""
    run = tracker()
    run.record_call(provider="p", model="nobody-knows", input_tokens=1, output_tokens=1)
    run.reserve(provider="p", model="nobody-knows", input_tokens=1, max_output_tokens=1)
    assert run.breakdown.rows[0].cost_usd is None
    with pytest.raises(UnknownPriceError, match="nobody-knows"):
        tracker(1).reserve(provider="p", model="nobody-knows", input_tokens=1, max_output_tokens=1)
    tracker(0).reserve(provider="ollama", model="own", input_tokens=9, max_output_tokens=9)


def test_ceiling_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """FLUID_COST_LIMIT_USD is the ceiling unless the caller gave one."""
    monkeypatch.setenv("FLUID_COST_LIMIT_USD", "5.00")
    assert tracker().limit_usd == Decimal("5.00")
    assert tracker(7).limit_usd == 7
    monkeypatch.setenv("FLUID_COST_LIMIT_USD", " ")
    assert tracker().limit_usd is None


@pytest.mark.parametrize("text", ["five", "-1", "nan", "inf", "5,00"])
def test_ceilings_that_are_none(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """The error for a value that isn't an amount of dollars names the variable."""
    monkeypatch.setenv("FLUID_COST_LIMIT_USD", text)
    with pytest.raises(UsageError, match="FLUID_COST_LIMIT_USD"):
        tracker().reserve(**CALL, input_tokens=1, max_output_tokens=1)
    with pytest.raises(UsageError):
        tracker(text)


def test_reset_forgets_open_reservations() -> None:
    """A reservation from before a reset has no effect after it."""
    run = tracker(1)
    reservation = run.reserve(**CALL, input_tokens=0, max_output_tokens=90_000)
    run.reset()
    reservation.settle(0, 90_000)
    assert (run.total_usd, run.breakdown.reserved_usd) == (0, 0)


def test_a_default_for_the_process() -> None:
    """Without a run of its own, everyone gets the process's tracker."""
    assert get_cost_tracker() is get_cost_tracker()
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(get_cost_tracker()))
    thread.start()
    thread.join()
    assert seen == [get_cost_tracker()]


def test_two_runs_do_not_mix() -> None:
    """Parallel runs in one process count separately."""

    async def one(tokens: int) -> Decimal:
        with use_cost_tracker(tracker()) as run_tracker:

            async def stage() -> None:
                await asyncio.sleep(0)
                get_cost_tracker().record_call(**CALL, input_tokens=tokens, output_tokens=0)

            await asyncio.gather(stage(), stage(), asyncio.to_thread(asyncio.run, stage()))
            return run_tracker.total_usd

    async def both() -> list[Decimal]:
        return await asyncio.gather(one(500_000), one(5_000_000))

    before = get_cost_tracker().total_usd
    assert asyncio.run(both()) == [3, 30]
    assert get_cost_tracker().total_usd == before


@given(
    limit=st.integers(0, 100),
    calls=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 100)), max_size=12),
)
def test_spent_and_reserved_never_pass_the_ceiling(
    limit: int, calls: list[tuple[int, int]]
) -> None:
    """Whatever is reserved, settled or released, in whatever order: the ceiling holds."""
    run = RunCostTracker(limit, price=lambda p, m, i, o, *_, **__: Decimal(o))
    reservations = []
    for worst, share in calls:
        try:
            reservations.append(
                (run.reserve(**CALL, input_tokens=0, max_output_tokens=worst), share)
            )
        except CostLimitExceeded as error:
            assert error.total_usd > limit
        seen = run.breakdown
        assert seen.total_usd + seen.reserved_usd <= limit
        if reservations and share % 2:
            reservation, part = reservations.pop(0)
            reservation.settle(0, int(reservation.reserved_usd) * part // 100)
    for reservation, _ in reservations:
        reservation.release()
    seen = run.breakdown
    assert seen.reserved_usd == 0
    assert seen.total_usd <= limit


def test_parallel_calls_cannot_overshoot() -> None:
    """Twenty threads that call at once spend no more than the ceiling between them."""
    run = RunCostTracker(10, price=lambda p, m, i, o, *_, **__: Decimal(o))
    start = threading.Barrier(20)
    refused = []

    def call(_: int) -> None:
        start.wait()
        try:
            with run.reserve(**CALL, input_tokens=0, max_output_tokens=1) as reservation:
                reservation.settle(0, 1)
        except CostLimitExceeded as error:
            refused.append(error)

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(call, range(20)))
    assert (run.total_usd, len(refused)) == (10, 10)
