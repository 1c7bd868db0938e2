"""Calls wait for money that other calls have reserved, and are refused only if it can't come."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.blocking import run_blocking
from fluid_build.copilot.cost import Caller, LargestCall, Reservation, RunCostTracker
from fluid_build.copilot.cost.ledger import Hold, Ledger, Waiter
from fluid_build.copilot.errors import CostLimitExceeded
from fluid_build.copilot.events import EventBus

CALLER = Caller("p", "m", "", "")


def tracker(limit: Any) -> RunCostTracker:
    """A tracker in which an output token costs a dollar."""
    return RunCostTracker(limit, price=lambda p, m, i, o, *_, **__: Decimal(o), bus=EventBus())


def call(dollars: int) -> LargestCall:
    return LargestCall(CALLER, 0, dollars)


def reserve(run: RunCostTracker, dollars: int) -> Reservation:
    """A reservation of another context, which this test doesn't hold itself."""
    return contextvars.Context().run(
        lambda: run.reserve(provider="p", model="m", input_tokens=0, max_output_tokens=dollars)
    )


def test_ten_parallel_calls_that_fit_all_succeed() -> None:
    """Ten calls of $0.21 that reserve $1 each fit under $5, though not all at the same time."""
    run = RunCostTracker(5, price=lambda p, m, i, o, *_, **__: Decimal(o) / 100, bus=EventBus())

    async def ask() -> None:
        with await run.wait_to_reserve(call(100)) as reservation:
            await asyncio.sleep(0)
            reservation.settle(0, 21)

    async def ask_all() -> None:
        await asyncio.gather(*(ask() for _ in range(10)))

    asyncio.run(ask_all())
    assert (run.total_usd, run.breakdown.reserved_usd) == (Decimal("2.10"), 0)


def test_threads_wait_for_each_other() -> None:
    """The blocking twin waits as the asynchronous form does."""
    run = tracker(2)
    most = []

    def ask(_: int) -> None:
        with run.wait_to_reserve_sync(call(1)) as reservation:
            most.append(run.breakdown.reserved_usd)
            reservation.release()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(50)))
    assert len(most) == 50
    assert max(most) <= 2


def test_a_call_that_can_never_fit_is_refused_at_once() -> None:
    """What is spent doesn't come back."""
    run = tracker(5)
    run.record_call(provider="p", model="m", input_tokens=0, output_tokens=4)
    outstanding = reserve(run, 1)
    with pytest.raises(CostLimitExceeded) as caught:
        run.wait_to_reserve_sync(call(2))
    assert (caught.value.total_usd, caught.value.limit_usd) == (7, 5)
    outstanding.release()


def test_a_waiting_call_is_refused_once_its_money_is_spent() -> None:
    """It doesn't wait for the reservations that are left."""
    run = tracker(5)
    first, second = reserve(run, 2), reserve(run, 3)

    async def ask() -> None:
        waiting = asyncio.create_task(run.wait_to_reserve(call(4)))
        await asyncio.sleep(0)
        first.settle(0, 2)
        with pytest.raises(CostLimitExceeded):
            await asyncio.wait_for(waiting, 1)

    asyncio.run(ask())
    second.release()
    assert run.breakdown.reserved_usd == 0


def test_a_raised_limit_reaches_those_who_wait() -> None:
    """The limit may be changed while a call waits."""
    run = tracker(5)
    outstanding = reserve(run, 5)

    async def ask() -> None:
        waiting = asyncio.create_task(run.wait_to_reserve(call(4)))
        await asyncio.sleep(0)
        run.limit_usd = 9
        (await asyncio.wait_for(waiting, 1)).release()

    asyncio.run(ask())
    outstanding.release()
    assert run.breakdown.reserved_usd == 0


def test_calls_are_served_in_order_of_arrival() -> None:
    """A large call isn't passed over by small ones that came later."""
    run = tracker(5)
    outstanding = reserve(run, 4)
    served = []

    async def ask(dollars: int) -> None:
        with await run.wait_to_reserve(call(dollars)):
            served.append(dollars)

    async def ask_all() -> None:
        waiting = [asyncio.create_task(ask(dollars)) for dollars in (5, 1, 2)]
        await asyncio.sleep(0)
        assert served == []
        outstanding.release()
        await asyncio.gather(*waiting)

    asyncio.run(ask_all())
    assert served == [5, 1, 2]


def test_a_cancelled_wait_leaves_nothing_behind() -> None:
    """Neither a place in the queue nor money, even if it was granted in the same moment."""
    run = tracker(5)

    async def cancel(is_granted: bool) -> None:
        outstanding = reserve(run, 5)
        waiting = asyncio.create_task(run.wait_to_reserve(call(5)))
        behind = asyncio.create_task(run.wait_to_reserve(call(1)))
        await asyncio.sleep(0)
        if is_granted:
            outstanding.release()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        outstanding.release()
        (await asyncio.wait_for(behind, 1)).release()

    asyncio.run(cancel(False))
    asyncio.run(cancel(True))
    assert run.breakdown.reserved_usd == 0


def test_a_closed_event_loop_keeps_no_money() -> None:
    """A loop that was closed while a task waited gives its turn to the next."""
    run = tracker(5)
    outstanding = reserve(run, 5)
    loop = asyncio.new_event_loop()
    abandoned = loop.create_task(run.wait_to_reserve(call(5)))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    outstanding.release()
    assert run.breakdown.reserved_usd == 0
    abandoned.get_coro().close()


def test_a_call_never_waits_for_the_call_it_is_made_in() -> None:
    """A nested call that doesn't fit is refused, because the outer one can't end before it."""
    run = tracker(5)
    with run.wait_to_reserve_sync(call(3)), pytest.raises(CostLimitExceeded):
        run.wait_to_reserve_sync(call(3))

    async def ask() -> None:
        with await run.wait_to_reserve(call(3)), pytest.raises(CostLimitExceeded):
            await asyncio.create_task(run.wait_to_reserve(call(3)))

    asyncio.run(ask())
    assert run.breakdown.reserved_usd == 0


def test_a_nested_call_waits_for_calls_elsewhere() -> None:
    """Money of calls that go on by themselves comes back."""
    run = tracker(5)
    elsewhere = reserve(run, 2)

    async def ask() -> None:
        with await run.wait_to_reserve(call(2)):
            waiting = asyncio.create_task(run.wait_to_reserve(call(3)))
            await asyncio.sleep(0)
            assert not waiting.done()
            elsewhere.release()
            (await asyncio.wait_for(waiting, 1)).release()

    asyncio.run(ask())


def test_a_nested_call_goes_before_calls_that_hold_nothing() -> None:
    """Or both would wait for each other: the one for its turn, the other for the outer call."""
    run = tracker(5)

    async def ask() -> None:
        with await run.wait_to_reserve(call(3)):
            large = contextvars.Context().run(asyncio.ensure_future, _release_at_once(run, 5))
            await asyncio.sleep(0)
            (await asyncio.wait_for(run.wait_to_reserve(call(2)), 1)).release()
        await asyncio.wait_for(large, 1)

    asyncio.run(ask())
    assert run.breakdown.reserved_usd == 0


async def _release_at_once(run: RunCostTracker, dollars: int) -> None:
    (await run.wait_to_reserve(call(dollars))).release()


def test_two_nested_calls_that_wait_for_each_other_are_not_stuck() -> None:
    """One of them is refused, and then the other fits."""
    run = tracker(6)
    refused = []

    async def ask() -> None:
        with await run.wait_to_reserve(call(3)):
            await asyncio.sleep(0)
            try:
                (await run.wait_to_reserve(call(3))).release()
            except CostLimitExceeded as error:
                refused.append(error)

    async def ask_both() -> None:
        await asyncio.wait_for(asyncio.gather(ask(), ask()), 5)

    asyncio.run(ask_both())
    assert len(refused) == 1
    assert run.breakdown.reserved_usd == 0


@pytest.mark.parametrize("bridge", ["blocking twin", "run_blocking"])
def test_a_blocking_call_in_an_event_loop_does_not_wait_for_the_tasks_it_stops(bridge: str) -> None:
    """The loop stands still while it waits, so none of the loop's tasks can give money back."""
    run = tracker(5)

    async def hold_money(entered: asyncio.Event) -> None:
        with await run.wait_to_reserve(call(3)):
            entered.set()
            await asyncio.sleep(0.05)

    def ask() -> None:
        if bridge == "blocking twin":
            run.wait_to_reserve_sync(call(3))
        else:
            run_blocking(run.wait_to_reserve(call(3)))

    async def ask_both() -> None:
        entered = asyncio.Event()
        other = asyncio.create_task(hold_money(entered))
        await entered.wait()
        with pytest.raises(CostLimitExceeded):
            ask()
        await other

    asyncio.run(ask_both())


def test_nobody_waits_for_a_forgotten_reservation() -> None:
    """It stays reserved, because nobody knows what became of its call."""
    run = tracker(5)
    forgotten = reserve(run, 3)

    async def ask() -> None:
        nonlocal forgotten
        waiting = asyncio.create_task(run.wait_to_reserve(call(3)))
        await asyncio.sleep(0)
        del forgotten
        with pytest.raises(CostLimitExceeded):
            await asyncio.wait_for(waiting, 1)
        with pytest.raises(CostLimitExceeded):
            await asyncio.wait_for(run.wait_to_reserve(call(3)), 1)
        (await run.wait_to_reserve(call(2))).release()

    asyncio.run(ask())
    assert run.breakdown.reserved_usd == 3


def test_what_no_provider_reported_is_shown_apart() -> None:
    """Reserves of calls without usage, and the estimated part of a settled call."""
    run = tracker(100)
    reserve(run, 7).settle_without_usage()
    reserve(run, 9).settle(0, 5, estimated_output_tokens=2)
    reserve(run, 4).settle(0, 3)
    seen = run.breakdown
    assert (seen.total_usd, seen.unconfirmed_usd) == (15, 9)


operations = st.lists(
    st.tuples(st.sampled_from(["open", "wait", "nest", "release", "leave"]), st.integers(0, 12)),
    max_size=60,
)


@given(limit=st.integers(0, 20), steps=operations)
def test_no_order_of_events_exceeds_the_limit_or_leaves_a_call_waiting(
    limit: int, steps: list[tuple[str, int]]
) -> None:
    """Whoever waits is served or refused once all that was reserved has been released."""
    ledger = Ledger()
    holds: list[Hold] = []
    waiters: list[Waiter] = []
    money = Decimal(limit)

    def decide() -> None:
        for waiter in ledger.decide():
            waiters.remove(waiter)
            if waiter.hold.is_open:
                holds.append(waiter.hold)
            else:
                assert waiter.refused_total is not None
                assert waiter.refused_total > money
        assert ledger.spent + ledger.reserved <= money
        assert holds or not waiters

    for step, number in steps:
        hold = Hold(Decimal(number), thread=number % 3)
        if step == "open":
            if ledger.open(hold, money) is None:
                holds.append(hold)
        elif step in ("wait", "nest"):
            outer = frozenset(holds[:1] if step == "nest" else ())
            stopped = frozenset({number % 3} if number % 2 else ())
            waiters.append(Waiter(hold, money, lambda: None, outer, stopped))
            ledger.wait(waiters[-1])
        elif step == "release" and holds:
            dropped = holds.pop(number % len(holds))
            assert ledger.release(dropped)
            ledger.spent += dropped.amount * number / 12
        elif step == "leave" and waiters:
            ledger.leave(waiters.pop(number % len(waiters)))
        decide()
    while holds:
        ledger.release(holds.pop())
        decide()
    assert not waiters
    assert ledger.reserved == 0


@given(
    limit=st.integers(1, 12),
    calls=st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from(["settle", "charge", "fail", "cancel"])),
        max_size=25,
    ),
    seed=st.integers(0, 99),
)
def test_tasks_in_any_interleaving_settle_everything(
    limit: int, calls: list[tuple[int, str]], seed: int
) -> None:
    """The limit holds at every moment, and nothing stays reserved."""
    run = tracker(limit)
    chance = random.Random(seed)

    async def ask(dollars: int, outcome: str) -> None:
        with await run.wait_to_reserve(call(dollars)) as reservation:
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
                seen = run.breakdown
                assert seen.total_usd + seen.reserved_usd <= limit
            if outcome == "settle":
                reservation.settle(0, chance.randint(0, dollars))
            elif outcome == "charge":
                reservation.settle_without_usage()
            elif outcome == "fail":
                raise OSError

    async def ask_all() -> None:
        tasks = [asyncio.create_task(ask(dollars, outcome)) for dollars, outcome in calls]
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)
        for task, (_, outcome) in zip(tasks, calls, strict=True):
            if outcome == "cancel":
                task.cancel()
        outcomes = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        for outcome in outcomes:
            assert outcome is None or isinstance(
                outcome, OSError | CostLimitExceeded | asyncio.CancelledError
            )

    asyncio.run(ask_all())
    assert run.breakdown.reserved_usd == 0
    assert run.total_usd <= limit


def test_threads_and_loops_in_one_run_settle_everything() -> None:
    """Six threads, half of them with an event loop of their own, share one limit."""
    run = tracker(10)
    exceeded = []

    def look() -> None:
        seen = run.breakdown
        if seen.total_usd + seen.reserved_usd > 10:
            exceeded.append(seen)

    def block(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(60):
            with run.wait_to_reserve_sync(call(chance.randint(1, 6))) as reservation:
                look()
                if chance.random() < 0.05:
                    reservation.settle(0, 0)

    def loop(seed: int) -> None:
        chance = random.Random(seed)

        async def ask() -> None:
            with await run.wait_to_reserve(call(chance.randint(1, 6))):
                look()
                await asyncio.sleep(0)

        async def ask_all() -> None:
            await asyncio.gather(*(ask() for _ in range(60)))

        asyncio.run(ask_all())

    threads = [threading.Thread(target=block if n % 2 else loop, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert exceeded == []
    assert run.breakdown.reserved_usd == 0


def test_the_garbage_collector_may_run_in_the_middle_of_a_decision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A reservation that was forgotten in a cycle is finalized while a waiting call is served."""
    run = tracker(5)
    outstanding = reserve(run, 3)
    forgotten: list[object] = [reserve(run, 1)]
    forgotten.append(forgotten)
    garbage = [forgotten]
    del forgotten
    plain_open = Ledger.open

    def collect_and_open(ledger: Ledger, hold: Hold, limit: Decimal | None) -> Decimal | None:
        if garbage:
            garbage.clear()
            gc.collect()
        return plain_open(ledger, hold, limit)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(run.wait_to_reserve_sync, call(2))
        while not run._ledger._waiters:
            time.sleep(0.001)
        monkeypatch.setattr(Ledger, "open", collect_and_open)
        outstanding.release()
        reservation = waiting.result(5)
    assert run.breakdown.reserved_usd == 3
    reservation.release()
    assert run.breakdown.reserved_usd == 1


def test_a_refusal_names_the_limit_that_refused() -> None:
    """It may have been lowered during the wait."""
    run = tracker(10)
    outstanding = reserve(run, 9)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(run.wait_to_reserve_sync, call(5))
        while not run._ledger._waiters:
            time.sleep(0.001)
        run.limit_usd = 3
        with pytest.raises(CostLimitExceeded) as caught:
            waiting.result(5)
    assert caught.value.limit_usd == 3
    outstanding.release()
