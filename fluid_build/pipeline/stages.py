"""The stages of a run as somebody watches them: name, state, time, tokens, cost, findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias

from fluid_build.copilot.cost import RunCostTracker
from fluid_build.json_types import JsonObject

StageState = Literal["started", "finished", "failed"]


@dataclass(frozen=True, slots=True)
class StageEvent:
    """A stage that has begun or ended. The figures are those of this attempt, once it has ended.

    ``began`` is when its work began, in seconds since the run's start without interruptions.

    ``used_fallback`` says that a model failed and the stage went on without it.
    """

    run: str
    name: str
    state: StageState
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    findings: int = 0
    began: float = 0.0
    error: str | None = None
    used_fallback: bool = False

    def as_json(self) -> JsonObject:
        """Return the event as a JSON object."""
        return {
            "event": "stage",
            "run": self.run,
            "stage": self.name,
            "state": self.state,
            "seconds": self.seconds,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": str(self.cost_usd),
            "findings": self.findings,
            "error": self.error,
        }


OnStage: TypeAlias = Callable[[StageEvent], None]


def ignore_stages(_: StageEvent) -> None:
    """Report to nobody."""


class Usage(NamedTuple):
    """What a run has used so far."""

    input_tokens: int
    output_tokens: int
    cost_usd: Decimal


def usage_of(tracker: RunCostTracker) -> Usage:
    """Return what a run has used so far, by its tracker."""
    breakdown = tracker.breakdown
    return Usage(
        sum(row.input_tokens for row in breakdown.rows),
        sum(row.output_tokens for row in breakdown.rows),
        breakdown.total_usd,
    )
