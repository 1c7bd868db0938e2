"""The run of an evaluation: its cases, every trial with its scores, and their means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import NormalDist, fmean, variance
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from fluid_build.errors import DecisionProblem, FaultyFileError, UsageError
from fluid_build.regular_files import read_regular
from fluid_build.text import counted

_MOST_BYTES = 64 * 1024 * 1024
"""Of a file of cases: a hundred thousand long prompts."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its answer: ``input`` is an agent's prompt, or a function's argument."""

    name: str
    input: Any
    expected: Any = None


Case.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
_CASES = TypeAdapter(list[Case])


def read_cases(path: Path | str) -> list[Case]:
    """Return the cases of a YAML or JSON file: a list of ``name``, ``input`` and ``expected``.

    Raises FaultyFileError with everything that is wrong, or SourceError for what is no file.
    """
    # imported on use: cases in Python need no YAML
    import yaml

    place = Path(path)
    try:
        text = read_regular(place, _MOST_BYTES, too_large="Split it.").decode("utf-8-sig")
        cases = _CASES.validate_python(yaml.safe_load(text))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _faulty(place, [f"it can't be read: {reason}."]) from None
    except UnicodeDecodeError:
        raise _faulty(place, ["it isn't UTF-8 text."]) from None
    except yaml.YAMLError as error:
        raise _faulty(place, [f"it isn't YAML: {' '.join(str(error).split())}."]) from None
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise _faulty(place, [_sentence(each["loc"], each["msg"]) for each in faults]) from None
    check_cases(cases)
    return cases


def check_cases(cases: Sequence[Case]) -> None:
    """Raise UsageError where there are no cases, or two of one name."""
    names = [case.name for case in cases]
    if not names:
        raise UsageError("There are no cases.", hint="Write at least one.")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UsageError(
            f"Two cases are called {repeated!r}.",
            hint="Give each a name of its own: runs are compared case by case.",
        )


def _sentence(place: tuple[int | str, ...], fault: str) -> str:
    """Return what is wrong with a case, by its number in the file."""
    first, *rest = place or ("the file",)
    case = f"case {first + 1}" if isinstance(first, int) else str(first)
    return f"{' '.join([case, *map(str, rest)])}: {fault}."


def _faulty(path: Path, faults: Sequence[str]) -> FaultyFileError:
    return FaultyFileError(str(path), [DecisionProblem(fault) for fault in faults])


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


_Z = NormalDist().inv_cdf(0.975)
_T_OF_FEW = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t for 95 % with 1 to 10 degrees of freedom; for more, a series is exact enough."""


class Estimate(BaseModel):
    """A mean and the bounds of its 95 % confidence interval, None where nothing tells them.

    ``count`` is how many cases they rest on, or how many trials of a single one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mean: float
    low: float | None
    high: float | None
    count: int

    def __str__(self) -> str:
        """The figures: ``0.85 [0.71, 0.93]``."""
        bounds = "" if self.low is None else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.mean:.2f}{bounds}"


def estimate(scores: Sequence[Sequence[float]]) -> Estimate:
    """Return the mean of cases that each have the scores of their trials."""
    values = [fmean(each) for each in scores] if len(scores) > 1 else list(scores[0])
    return _of_shares(values) if all(0 <= value <= 1 for value in values) else _of_means(values)


def estimate_change(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """Return the mean of the changes of paired cases."""
    return _of_means([new - old for old, new in zip(before, after, strict=True)])


def _of_means(values: Sequence[float]) -> Estimate:
    mean, count = fmean(values), len(values)
    if count < 2:
        return Estimate(mean=mean, low=None, high=None, count=count)
    margin = _t(count - 1) * math.sqrt(variance(values) / count)
    return Estimate(mean=mean, low=mean - margin, high=mean + margin, count=count)


def _of_shares(values: Sequence[float]) -> Estimate:
    """Return the mean of values from 0 to 1."""
    mean, count = fmean(values), len(values)
    spread = variance(values) / count if count > 1 else 0.0
    quantile, answers = _Z, float(count)
    if spread > 0:
        quantile, answers = _t(count - 1), max(answers, mean * (1 - mean) / spread)
    middle = mean + quantile**2 / (2 * answers)
    margin = quantile * math.sqrt(mean * (1 - mean) / answers + (quantile / (2 * answers)) ** 2)
    scale = 1 + quantile**2 / answers
    low, high = max(0.0, (middle - margin) / scale), min(1.0, (middle + margin) / scale)
    return Estimate(mean=mean, low=low, high=high, count=count)


def _t(freedom: int) -> float:
    """Return Student's t for a 95 % interval (the first terms of Fisher's series)."""
    if freedom <= len(_T_OF_FEW):
        return _T_OF_FEW[freedom - 1]
    first = (_Z**3 + _Z) / 4
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96
    return _Z + first / freedom + second / freedom**2
