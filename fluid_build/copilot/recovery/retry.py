"""The retry envelope: which failed calls are made again, how often and after what wait.

Three attempts, with waits of 1, 2 and 4 seconds (capped at 8, up to 10 % of jitter) or exactly what
the provider asked for (capped at 300 s). Only errors whose ``retryable`` is true are tried again.
Source: the Typed Errors page. Built on stamina, so its switches (``set_active``, ``set_testing``)
hold here too.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import stamina

from fluid_build.copilot.error_classification import (
    MAX_RETRY_AFTER_SECONDS,
    classify_provider_error,
)
from fluid_build.copilot.errors import AgentExecutionError, ProviderError

LOG = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is made in all, and the waits between: seconds, and a share for jitter."""

    attempts: int = 3
    wait_initial: float = 1.0
    wait_base: float = 2.0
    wait_max: float = 8.0
    jitter: float = 0.1
    retry_after_max: float = MAX_RETRY_AFTER_SECONDS

    def wait(self, error: AgentExecutionError, failed: int, draw: float) -> float:
        """Seconds to wait after the ``failed``-th attempt (from 1); ``draw`` is from [0, 1)."""
        asked = error.retry_after if isinstance(error, ProviderError) else None
        if asked is not None:
            return min(max(asked, 0.0), self.retry_after_max)
        backoff = self.wait_initial * self.wait_base ** min(failed - 1, 64)
        return min(self.wait_max, backoff * (1 + self.jitter * draw))


async def retry_call(
    call: Callable[[], Awaitable[T]],
    *,
    policy: RetryPolicy | None = None,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    draw: Callable[[], float] = random.random,
) -> T:
    """What ``call`` returns, tried again while its error is retryable and attempts are left.

    The last error is raised as it came. ``sleep`` (seconds) and ``draw`` (from [0, 1)) are the
    only time and chance that the envelope knows.
    """
    plan = _Plan(policy or RetryPolicy(), draw)
    async for attempt in stamina.retry_context(
        on=plan.decide, attempts=plan.policy.attempts, timeout=None
    ):
        if plan.pending:
            await sleep(plan.pending)
        with attempt:
            return await call()
    raise AssertionError("stamina ends with a result or an error")


def retry_call_sync(
    call: Callable[[], T],
    *,
    policy: RetryPolicy | None = None,
    sleep: Callable[[float], object] = time.sleep,
    draw: Callable[[], float] = random.random,
) -> T:
    """The blocking twin of ``retry_call``."""
    plan = _Plan(policy or RetryPolicy(), draw)
    for attempt in stamina.retry_context(
        on=plan.decide, attempts=plan.policy.attempts, timeout=None
    ):
        if plan.pending:
            sleep(plan.pending)
        with attempt:
            return call()
    raise AssertionError("stamina ends with a result or an error")


class _Plan:
    """Decides for one call. The wait is kept here, not given to stamina, whose clock is fixed."""

    def __init__(self, policy: RetryPolicy, draw: Callable[[], float]) -> None:
        self.policy = policy
        self.pending = 0.0
        self._draw = draw
        self._failed = 0

    def decide(self, error: Exception) -> bool | float:
        """False: give up. Otherwise stamina's own wait, which is none."""
        self._failed += 1
        typed = classify_provider_error(error)
        if not typed.retryable:
            return False
        wait = self.policy.wait(typed, self._failed, self._draw())
        self.pending = 0.0 if stamina.is_testing() else wait
        if self._failed < self.policy.attempts:
            LOG.info(
                "attempt %d of %d failed (%s), the next one is in %.1f s",
                self._failed,
                self.policy.attempts,
                type(typed).__name__,
                self.pending,
            )
        return 0.0
