"""Two runs on the same cases, compared score by score."""

from __future__ import annotations

from statistics import fmean

from pydantic import BaseModel, ConfigDict

from fluid_build.copilot.evals.runs import Estimate, EvalRun, estimate, estimate_change
from fluid_build.errors import UsageError


class Difference(BaseModel):
    """How a score changed from one run to another, on the cases that both have.

    ``change`` pairs the cases, so that hard and easy ones don't count as noise. ``better`` and
    ``worse`` are the cases whose mean went up or down.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    score: str
    before: Estimate
    after: Estimate
    change: Estimate
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the change leaves no doubt about its direction."""
        low, high = self.change.low, self.change.high
        return low is not None and high is not None and (low > 0 or high < 0)

    def __str__(self) -> str:
        """The change in a line: ``right: 0.50 to 0.75, +0.25 [+0.04, +0.46]``."""
        low, high = self.change.low, self.change.high
        bounds = "" if low is None else f" [{low:+.2f}, {high:+.2f}]"
        return (
            f"{self.score}: {self.before.mean:.2f} to {self.after.mean:.2f},"
            f" {self.change.mean:+.2f}{bounds}"
        )


def compare(before: EvalRun, after: EvalRun) -> tuple[Difference, ...]:
    """Return the difference of each score that both runs have.

    Raises UsageError where they have no case and score in common.
    """
    differences = []
    for score in before.scores:
        old, new = before.by_case(score), after.by_case(score)
        shared = [case for case in old if case in new]
        if shared:
            old_means = [fmean(old[case]) for case in shared]
            new_means = [fmean(new[case]) for case in shared]
            pairs = list(zip(shared, old_means, new_means, strict=True))
            differences.append(
                Difference(
                    score=score,
                    before=estimate([old[case] for case in shared]),
                    after=estimate([new[case] for case in shared]),
                    change=estimate_change(old_means, new_means),
                    better=tuple(case for case, was, now in pairs if now > was),
                    worse=tuple(case for case, was, now in pairs if now < was),
                )
            )
    if not differences:
        raise UsageError(
            "The two runs have no case and score in common.",
            hint="Compare runs of the same cases, by scorers of the same names.",
        )
    return tuple(differences)
