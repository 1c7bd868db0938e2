"""The run of an evaluation: every trial with its scores, as JSON, and their means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from fluid_build.copilot.evals.cases import Case
from fluid_build.copilot.evals.estimates import Estimate, estimate
from fluid_build.text import counted


@dataclass(frozen=True, slots=True)
class Trial:
    """What a scorer judges: a case, and the answer to it.

    ``result`` is what was returned, such as an ``AgentResult`` with its messages and its cost;
    ``output`` is the answer in it.
    """

    case: Case
    output: Any
    result: Any
    seconds: float


class ScoredTrial(BaseModel):
    """A trial with its scores by scorer; one that failed has its ``error``, and 0 of each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    case: str
    repeat: int = 1
    scores: Mapping[str, float] = {}
    output: JsonValue = None
    error: str | None = None
    seconds: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal | None = None


class EvalRun(BaseModel):
    """All trials of an evaluation, in the order of the cases.

    ``model_dump_json`` and ``model_validate_json`` write and read it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    trials: tuple[ScoredTrial, ...] = ()

    @property
    def scores(self) -> dict[str, Estimate]:
        """The mean of each score, and how sure it is."""
        names = dict.fromkeys(name for trial in self.trials for name in trial.scores)
        return {name: estimate([*self.by_case(name).values()]) for name in names}

    @property
    def failures(self) -> tuple[ScoredTrial, ...]:
        """The trials without an answer."""
        return tuple(trial for trial in self.trials if trial.error is not None)

    @property
    def cost_usd(self) -> Decimal | None:
        """What the answers cost, as far as that's known; None where it isn't of any."""
        known = [trial.cost_usd for trial in self.trials if trial.cost_usd is not None]
        return sum(known, Decimal(0)) if known else None

    def by_case(self, score: str) -> dict[str, list[float]]:
        """Return the values of a score by case, of the cases that have it."""
        values: dict[str, list[float]] = {}
        for trial in self.trials:
            if score in trial.scores:
                values.setdefault(trial.case, []).append(trial.scores[score])
        return values

    def __str__(self) -> str:
        """The scores in lines, then the failures and the cost."""
        lines = [f"{name}: {each}" for name, each in self.scores.items()]
        cost = "" if self.cost_usd is None else f", ${self.cost_usd:.4f}"
        trials = counted(len(self.trials), "trial")
        return "\n".join([*lines, f"{trials}, {len(self.failures)} failed{cost}"])
