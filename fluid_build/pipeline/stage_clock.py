"""What each stage of a run takes: its seconds, its tokens and dollars, and its findings."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.cost import get_cost_tracker
from fluid_build.pipeline.stages import StageEvent, StageState, Usage, usage_of


@dataclass
class _Start:
    """The figures of a run at the start of a stage, and when its work began and how long it took.

    ``began`` is in seconds since the run's start.
    """

    usage: Usage
    findings: int
    began: float = 0.0
    seconds: float = 0.0


class StageClock:
    """The figures of a run's stages, by their names."""

    def __init__(self, session: StageSession) -> None:
        self._session = session
        self._origin = perf_counter()
        self._starts: dict[str, _Start] = {}

    def continue_from(self, seconds: float) -> None:
        """Count on after the seconds that earlier processes of the run took."""
        self._origin = perf_counter() - seconds

    def start(self, name: str) -> StageEvent:
        """Return the event of a stage that begins now."""
        self._starts[name] = _Start(usage_of(get_cost_tracker()), self._count_findings())
        return StageEvent(self._session.run_id or "", name, "started")

    @contextmanager
    def working(self, name: str) -> Generator[None]:
        """Measure the seconds of a stage's work."""
        start, began = self._starts[name], perf_counter()
        start.began = began - self._origin
        try:
            yield
        finally:
            start.seconds = perf_counter() - began

    def end(self, name: str, state: StageState, error: object = None) -> StageEvent:
        """Return the event of a stage that has ended, with an error if it failed."""
        start, usage = self._starts[name], usage_of(get_cost_tracker())
        return StageEvent(
            self._session.run_id or "",
            name,
            state,
            round(start.seconds, 3),
            usage.input_tokens - start.usage.input_tokens,
            usage.output_tokens - start.usage.output_tokens,
            usage.cost_usd - start.usage.cost_usd,
            self._count_findings() - start.findings,
            began=round(start.began, 3),
            error=None if error is None else type(error).__name__,
            used_fallback=any(
                (event.kind, event.stage) == ("fallback", name)
                for event in self._session.audit_trail
            ),
        )

    def _count_findings(self) -> int:
        return len(self._session.get_scratchpad().critic_findings)
