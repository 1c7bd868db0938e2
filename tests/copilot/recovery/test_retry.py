"""The retry envelope: attempts, waits, what the provider asks for, and what is never retried."""

import asyncio
import logging

import httpx
import pytest
import stamina
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.errors import (
    ContextOverflowError,
    ProviderAuthError,
    ProviderError,
    ProviderServerError,
    ProviderTimeoutError,
    RateLimitError,
    SchemaValidationError,
    ToolValidationError,
)
from fluid_build.copilot.recovery.retry import RetrySchedule, retry_call, retry_call_sync


class Failing:
    """A call that raises the errors in order, then answers; it counts and keeps the waits."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.calls = 0
        self.waits = []

    def __call__(self):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"

    def sleep(self, seconds):
        self.waits.append(seconds)


def run_sync(call, draw=0.0, policy=None):
    return retry_call_sync(call, policy=policy, sleep=call.sleep, draw=lambda: draw)


def run_async(call, draw=0.0, policy=None):
    async def attempt():
        return call()

    async def sleep(seconds):
        call.sleep(seconds)

    return asyncio.run(retry_call(attempt, policy=policy, sleep=sleep, draw=lambda: draw))


both = pytest.mark.parametrize("run", [run_sync, run_async])


@both
def test_three_attempts_in_all_then_the_last_error_as_it_came(run):
    """The third failure is raised itself, after two waits."""
    last = ProviderServerError("3")
    call = Failing(ProviderServerError("1"), ProviderServerError("2"), last)
    with pytest.raises(ProviderServerError) as caught:
        run(call)
    assert caught.value is last
    assert (call.calls, call.waits) == (3, [1.0, 2.0])


@both
def test_a_call_that_recovers_gives_its_answer(run):
    """A failure that passed leaves no trace in the result."""
    call = Failing(ProviderTimeoutError())
    assert run(call) == "answer"
    assert (call.calls, call.waits) == (2, [1.0])


@both
def test_waits_double_up_to_eight_seconds(run):
    """1, 2, 4, 8, 8: the cap holds however many attempts a caller allows."""
    call = Failing(*[ProviderServerError() for _ in range(5)])
    run(call, policy=RetrySchedule(attempts=6))
    assert call.waits == [1.0, 2.0, 4.0, 8.0, 8.0]


@both
def test_jitter_adds_at_most_a_tenth_and_never_passes_the_cap(run):
    """At the largest draw each wait is 10 % longer, but for the capped one."""
    call = Failing(*[ProviderServerError() for _ in range(4)])
    run(call, draw=1.0, policy=RetrySchedule(attempts=5))
    assert call.waits == pytest.approx([1.1, 2.2, 4.4, 8.0])


@both
def test_retry_after_is_slept_exactly(run):
    """The provider's wait overrides the backoff and gets no jitter."""
    call = Failing(RateLimitError(retry_after=42.5), RateLimitError(retry_after=0.25))
    run(call, draw=1.0)
    assert call.waits == [42.5, 0.25]


@both
def test_retry_after_is_capped_at_five_minutes(run):
    """No provider can park a run for an hour."""
    call = Failing(RateLimitError(retry_after=3600))
    run(call)
    assert call.waits == [300.0]


@both
@pytest.mark.parametrize(
    "error",
    [
        ContextOverflowError(),
        ProviderAuthError(),
        ProviderError(),
        SchemaValidationError(),
        ToolValidationError(),
        RateLimitError(quota_exhausted=True),
        ValueError("HTTP 429 rate limit, timeout"),
        KeyError("x"),
    ],
)
def test_what_cannot_get_better_is_called_once(run, error):
    """Non-retryable classes and programming errors surface at once, unchanged."""
    call = Failing(error)
    with pytest.raises(type(error)) as caught:
        run(call)
    assert caught.value is error
    assert (call.calls, call.waits) == (1, [])


@both
def test_an_error_of_the_http_client_is_judged_by_its_class(run):
    """A call that raises httpx's own timeout is retried like the typed one."""
    call = Failing(httpx.ReadTimeout("slow"))
    assert run(call) == "answer"


def test_cancellation_is_never_retried():
    """A cancelled call stays cancelled."""
    calls = []

    async def call():
        calls.append(1)
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(retry_call(call))
    assert calls == [1]


def test_staminas_switch_for_tests_takes_the_waits_away():
    """Code under stamina.set_testing neither sleeps nor needs a fake clock."""
    call = Failing(RateLimitError(retry_after=200))
    with stamina.set_testing(True, attempts=2):
        assert run_sync(call) == "answer"
    assert call.waits == []


@given(
    st.integers(1, 1000),
    st.floats(0, 1, exclude_max=True),
    st.one_of(st.none(), st.floats(allow_nan=False)),
)
def test_every_wait_is_within_the_documented_bounds(failed, draw, retry_after):
    """Backoff is within [1, 8] s, an asked-for wait within [0, 300] s, for any input."""
    wait = RetrySchedule().wait(RateLimitError(retry_after=retry_after), failed, draw)
    assert 1.0 <= wait <= 8.0 if retry_after is None else 0.0 <= wait <= 300.0


@both
def test_a_retry_is_logged_once_with_its_provider_and_reason(run, caplog):
    """Stamina's own line about it isn't written; those about other retries are."""
    caplog.set_level(logging.INFO)
    run(Failing(RateLimitError(provider="anthropic", retry_after=3.0)))
    assert [record.getMessage() for record in caplog.records] == [
        "anthropic: RateLimitError, next attempt in 3.0 s (2 of 3)"
    ]
    unrelated = Failing(OSError(), OSError())
    stamina.retry(on=OSError, attempts=3, wait_initial=0, wait_max=0)(unrelated)()
    assert [record.name for record in caplog.records[1:]] == ["stamina", "stamina"]
