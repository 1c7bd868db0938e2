"""Asking the cases, and scoring the answers."""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol, TypeAlias, TypedDict, Unpack

from pydantic_core import to_jsonable_python

from fluid_build.copilot.blocking import call_in_thread, run_blocking
from fluid_build.copilot.cost import RunCostTracker, use_cost_tracker
from fluid_build.copilot.errors import CostLimitExceeded, UnknownPriceError
from fluid_build.copilot.evals.runs import Case, EvalRun, ScoredTrial, Trial, check_cases
from fluid_build.copilot.llm.answers import Usage
from fluid_build.errors import UsageError
from fluid_build.secrets import redact, secrets_of_environment

Scorer: TypeAlias = "Callable[[Trial], float | Awaitable[float | None] | None]"
"""Judges a trial: True, False or a number, more is better; None where it says nothing of it."""


class Runnable(Protocol):
    """An ``Agent``, or what runs as one."""

    def run(self, prompt: Any) -> Awaitable[Any]:
        """Return a result with ``output``, ``usage`` and ``cost_usd``."""


Subject: TypeAlias = "Runnable | Callable[[Any], object]"
_DEFAULT_PARALLEL = 4
"""Trials at once: most of the time saved, and no rate limit of a small account is met."""


class EvalSettings(TypedDict, total=False):
    """The keywords of ``evaluate``."""

    name: str
    repeats: int
    parallel: int
    max_cost: Decimal | float | str | None


def equals(trial: Trial) -> float | None:
    """Score whether the answer is what is expected."""
    return None if trial.case.expected is None else float(trial.output == trial.case.expected)


def contains(trial: Trial) -> float | None:
    """Score whether the answer's text has what is expected in it, in any case."""
    if trial.case.expected is None:
        return None
    return float(str(trial.case.expected).casefold() in str(trial.output).casefold())


async def evaluate(
    subject: Subject,
    cases: Sequence[Case],
    scorers: Sequence[Scorer],
    *,
    name: str = "",
    repeats: int = 1,
    parallel: int = _DEFAULT_PARALLEL,
    max_cost: Decimal | float | str | None = None,
) -> EvalRun:
    """Ask each case ``repeats`` times, ``parallel`` trials at once, and score the answers.

    ``subject`` is an agent, or a function of a case's input that may be asynchronous. A scorer's
    score is called as the function is. A trial that fails scores 0 and has its error; it stops
    nothing. ``max_cost`` is the most that all of it may cost in US dollars, agents that scorers ask
    included. Raises UsageError, UnknownPriceError, or CostLimitExceeded, whose ``result`` is the
    ``EvalRun`` so far.
    """
    check_cases(cases)
    named = _named(scorers)
    if repeats < 1 or parallel < 1:
        raise UsageError("repeats and parallel are at least 1.", hint="Leave them out.")
    order = [(case, repeat) for repeat in range(1, repeats + 1) for case in cases]
    work = _Work(subject, named, iter(order))
    with use_cost_tracker(RunCostTracker(max_cost)):
        async with asyncio.TaskGroup() as group:
            for _ in range(min(parallel, len(order))):
                group.create_task(work.go_on())
    places = {case.name: place for place, case in enumerate(cases)}
    trials = sorted(work.done, key=lambda trial: (places[trial.case], trial.repeat))
    run = EvalRun(name=name, trials=tuple(trials))
    for error in work.errors[:1]:
        if isinstance(error, CostLimitExceeded):
            error.result = run
        raise error
    return run


def evaluate_sync(
    subject: Subject,
    cases: Sequence[Case],
    scorers: Sequence[Scorer],
    **settings: Unpack[EvalSettings],
) -> EvalRun:
    """Evaluate, as ``evaluate``, and wait for it."""
    return run_blocking(evaluate(subject, cases, scorers, **settings))


class _Work:
    """The trials that are left, shared by those who take them; an error lets nobody go on."""

    def __init__(
        self, subject: Subject, scorers: Mapping[str, Scorer], left: Iterator[tuple[Case, int]]
    ) -> None:
        self._subject = subject
        self._scorers = scorers
        self._left = left
        self.done: list[ScoredTrial] = []
        self.errors: list[Exception] = []

    async def go_on(self) -> None:
        """Take trials until none is left."""
        for case, repeat in self._left:
            if self.errors:
                return
            try:
                self.done.append(await _scored(self._subject, case, repeat, self._scorers))
            except Exception as error:  # noqa: BLE001 - raised once the others have ended
                self.errors.append(error)


async def _scored(
    subject: Subject, case: Case, repeat: int, scorers: Mapping[str, Scorer]
) -> ScoredTrial:
    """Return a trial with its scores."""
    started = time.perf_counter()
    try:
        trial = await _answered(subject, case)
    except (CostLimitExceeded, UnknownPriceError, UsageError):
        raise  # It would be the same for every case.
    except Exception as error:  # noqa: BLE001 - one answer less, whatever went wrong
        return ScoredTrial(
            case=case.name,
            repeat=repeat,
            scores=dict.fromkeys(scorers, 0.0),
            error=redact(f"{type(error).__name__}: {error}", secrets_of_environment()),
            seconds=round(time.perf_counter() - started, 3),
        )
    scores = {name: await _score(name, scorer, trial) for name, scorer in scorers.items()}
    usage = _usage_of(trial.result) or Usage()
    return ScoredTrial(
        case=case.name,
        repeat=repeat,
        scores={name: score for name, score in scores.items() if score is not None},
        output=to_jsonable_python(trial.output, fallback=str),
        seconds=round(trial.seconds, 3),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=getattr(trial.result, "cost_usd", None),
    )


async def _answered(subject: Subject, case: Case) -> Trial:
    started = time.perf_counter()
    result = await _asked(subject, case.input)
    seconds = time.perf_counter() - started
    output = result if _usage_of(result) is None else result.output
    return Trial(case, output, result, seconds)


def _usage_of(result: object) -> Usage | None:
    """Return the tokens that an agent's result counts; None for any other value."""
    usage = getattr(result, "usage", None)
    return usage if isinstance(usage, Usage) else None


async def _asked(subject: Subject, given: Any) -> Any:
    """Return what the subject makes of a case's input; a blocking function has its own thread."""
    if not callable(subject):
        return await subject.run(given)
    if inspect.iscoroutinefunction(subject):
        return await subject(given)
    result = await call_in_thread(subject, given)
    return await result if inspect.isawaitable(result) else result


async def _score(name: str, scorer: Scorer, trial: Trial) -> float | None:
    score = scorer(trial)
    if inspect.isawaitable(score):
        score = await score
    if score is None:
        return None
    if not isinstance(score, int | float) or not math.isfinite(score):
        raise UsageError(
            f"The scorer {name} returned {score!r} for {trial.case.name!r}.",
            hint="Return True, False, a finite number, or None.",
        )
    return float(score)


def _named(scorers: Sequence[Scorer]) -> dict[str, Scorer]:
    """Return the scorers by name; UsageError where one has none, or two have the same."""
    named = {getattr(scorer, "__name__", ""): scorer for scorer in scorers}
    if not named or len(named) < len(scorers) or not all(named):
        raise UsageError(
            "The scorers aren't functions of different names.",
            hint="Define each with `def`: its name is what the score is called.",
        )
    return named
