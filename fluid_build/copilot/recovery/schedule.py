"""The schedule of retries: how many attempts there are, and the waits between them."""

from __future__ import annotations

from dataclasses import dataclass

from fluid_build.copilot.errors import AgentExecutionError, ProviderError
from fluid_build.copilot.retry_after import MAX_RETRY_AFTER_SECONDS


@dataclass(frozen=True, slots=True)
class RetrySchedule:
    """The number of attempts, and the waits between them: seconds, and a share for jitter."""

    attempts: int = 3
    wait_initial: float = 1.0
    wait_base: float = 2.0
    wait_max: float = 8.0
    jitter: float = 0.1
    retry_after_max: float = MAX_RETRY_AFTER_SECONDS

    def wait(self, error: AgentExecutionError, failed: int, draw: float) -> float:
        """Return the seconds to wait after attempt ``failed`` (from 1); ``draw`` is from [0, 1)."""
        requested = error.retry_after if isinstance(error, ProviderError) else None
        if requested is not None:
            return min(max(requested, 0.0), self.retry_after_max)
        backoff = self.wait_initial * self.wait_base ** min(failed - 1, 64)
        return min(self.wait_max, backoff * (1 + self.jitter * draw))
