"""The retry envelope: which failed calls are retried, how often and after what wait.

A call gets three attempts, so there are at most two waits: of 1 and 2 seconds, plus up to 10 % of
jitter, or of exactly what the provider asked for (at most 300 s). A schedule with more attempts
continues with 4 and then 8 seconds, the cap. Only errors whose ``retryable`` is true are retried.
Source: the Typed Errors page, whose runs abort "after 3 attempts", and whose "1s → 2s → 4s, capped
at 8s" is the progression: three attempts end before its third wait. Built on stamina, whose
switches (``set_active``, ``set_testing``) work here too. Its line in the log about each retry is
replaced by one with the provider and the reason, because its own switch is for the whole process.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TypeVar

import stamina

from fluid_build.copilot.drivers import finish, immediate
from fluid_build.copilot.error_classification import classify_provider_error
from fluid_build.copilot.errors import ProviderError
from fluid_build.copilot.recovery.schedule import RetrySchedule

__all__ = ["RetrySchedule", "retry_call", "retry_call_sync"]

LOG = logging.getLogger(__name__)

T = TypeVar("T")

_HAS_FAILED: ContextVar[bool] = ContextVar("fluid_attempt_has_failed", default=False)
"""Whether this context is between an attempt and the next, where stamina logs its line."""


def _is_not_about_our_retry(_record: logging.LogRecord) -> bool:
    return not _HAS_FAILED.get()


logging.getLogger("stamina").addFilter(_is_not_about_our_retry)


async def retry_call(
    call: Callable[[], Awaitable[T]],
    *,
    policy: RetrySchedule | None = None,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    draw: Callable[[], float] = random.random,
) -> T:
    """Return the result of ``call``, retried while its error is retryable and attempts are left.

    The last error is raised as it came. ``sleep`` (seconds) and ``draw`` (from [0, 1)) are the
    envelope's only sources of time and chance.
    """
    decisions = _Decisions(policy or RetrySchedule(), draw)
    for attempt in stamina.retry_context(  # it doesn't wait itself
        on=decisions.decide, attempts=decisions.policy.attempts, timeout=None
    ):
        _HAS_FAILED.set(False)
        if decisions.pending:
            await sleep(decisions.pending)
        with attempt:
            return await call()
    raise AssertionError("stamina ends with a result or an error")


def retry_call_sync(
    call: Callable[[], T],
    *,
    policy: RetrySchedule | None = None,
    sleep: Callable[[float], object] = time.sleep,
    draw: Callable[[], float] = random.random,
) -> T:
    """Retry a blocking call, as ``retry_call`` does."""
    return finish(retry_call(immediate(call), policy=policy, sleep=immediate(sleep), draw=draw))


class _Decisions:
    """The decisions for one call. They keep the wait, because stamina's clock is fixed."""

    def __init__(self, policy: RetrySchedule, draw: Callable[[], float]) -> None:
        self.policy = policy
        self.pending = 0.0
        self._draw = draw
        self._failed = 0

    def decide(self, error: Exception) -> bool | float:
        """Return False to give up, else stamina's own wait, which is 0."""
        self._failed += 1
        typed = classify_provider_error(error)
        if not typed.retryable:
            return False
        wait = self.policy.wait(typed, self._failed, self._draw())
        self.pending = 0.0 if stamina.is_testing() else wait
        if self._failed < self.policy.attempts:
            _HAS_FAILED.set(True)
            provider = typed.provider if isinstance(typed, ProviderError) else None
            LOG.info(
                "%s: %s, next attempt in %.1f s (%d of %d)",
                provider or "call",
                type(typed).__name__,
                self.pending,
                self._failed + 1,
                self.policy.attempts,
            )
        return 0.0
