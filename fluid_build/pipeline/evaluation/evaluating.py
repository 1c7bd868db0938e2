"""Forging each database without a model and with each, and what that comes to."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from fluid_build.copilot.errors import CostLimitExceeded
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.decisions.language import AnyDecision
from fluid_build.forging import ForgeOptions
from fluid_build.pipeline.evaluation.judging import judge
from fluid_build.pipeline.evaluation.results import (
    EvaluationResult,
    ForgeTrial,
    ModelResult,
    result_of,
)
from fluid_build.pipeline.evaluation.truth import Truth
from fluid_build.pipeline.requests import ForgeRequest, ModelUse, SourcePlace
from fluid_build.pipeline.running import begin_run, start_run
from fluid_build.sources.base import Source
from fluid_build.sources.combined import SourceRequest


@dataclass(frozen=True, slots=True)
class Database:
    """A database with its truth. ``decisions`` are a person's that aren't judged.

    ``technique`` is the folder's own, "" where it's the evaluation's.
    """

    name: str
    truth: Truth
    sources: tuple[SourceRequest, ...]
    decisions: tuple[AnyDecision, ...] = ()
    technique: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is evaluated: each database without a model once, and with each several times.

    ``max_cost`` is the most that all of it may cost in US dollars. ``opened`` opens a database,
    ``on_forge`` is told what is forged next: a database, a model or "", and which repeat.
    """

    databases: Sequence[Database]
    models: Sequence[tuple[str, ModelUse]]
    options: ForgeOptions
    repeats: int
    max_cost: Decimal | None
    opened: Callable[[Database], AbstractContextManager[Source]]
    on_forge: Callable[[str, str, int], object]

    def run(self) -> EvaluationResult:
        """Forge everything. The answers of models are asked anew each time, and forgotten.

        Where the cost limit ends it, the result has what was forged, and says so. Raises what a
        forge raises, UnknownPriceError where a limit is set and a model's price isn't known.
        """
        plain = [
            self._forge(database, "", ModelUse(deterministic=True), 1, None)
            for database in self.databases
        ]
        results = [result_of("", plain, plain)]
        spent, stopped = Decimal(0), ""
        for name, use in self.models:
            trials: list[ForgeTrial] = []
            try:
                for repeat in range(1, self.repeats + 1):
                    for database in self.databases:
                        left = None if self.max_cost is None else self.max_cost - spent
                        trials.append(self._forge(database, name, use, repeat, left))
                        spent += trials[-1].cost_usd or Decimal(0)
            except CostLimitExceeded as error:
                stopped = self._stopped(name, spent, error)
            results.append(result_of(name, trials, plain))
            if stopped:
                break
        return self._result(results, stopped)

    def _result(self, results: Sequence[ModelResult], stopped: str) -> EvaluationResult:
        return EvaluationResult(
            databases=tuple(database.name for database in self.databases),
            technique=self.options.known_technique,
            repeats=self.repeats,
            models=tuple(results),
            stopped=stopped,
        )

    def _stopped(self, name: str, spent: Decimal, error: CostLimitExceeded) -> str:
        return (
            f"{name} could have passed the cost limit of"
            f" ${self.max_cost if self.max_cost is not None else error.limit_usd}: ${spent:.4f} of"
            " it is in these figures, and its last forge isn't."
        )

    def _forge(
        self, database: Database, name: str, use: ModelUse, repeat: int, left: Decimal | None
    ) -> ForgeTrial:
        """Forge a database into a folder that is thrown away, with a store that nobody shares."""
        self.on_forge(database.name, name, repeat)
        options = replace(
            self.options,
            technique=database.technique or self.options.technique,
            decisions=database.decisions,
        )
        with tempfile.TemporaryDirectory() as scratch:
            request = ForgeRequest(
                command="from-source",
                folder=Path.cwd(),
                sources=tuple(map(SourcePlace.of, database.sources)),
                options=options,
                out=Path(scratch) / "out",
                model_use=use,
                max_cost=left,
            )
            with (
                closing(SqliteBackend(Path(scratch) / "store.db")) as backend,
                self.opened(database) as source,
            ):
                store, record, notes = begin_run(backend, request)
                started = time.perf_counter()
                result = start_run(source, store, record, notes=notes)
                seconds = time.perf_counter() - started
        return ForgeTrial(
            database.name,
            repeat,
            database.truth,
            judge(result.forged, database.truth),
            result.receipt,
            seconds,
        )
