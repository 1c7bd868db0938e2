"""Runs on two small tables, through the same functions as the command."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from fluid_build.copilot.llm.base import CompletionClient
from fluid_build.copilot.store.base import Store
from fluid_build.decisions.language import AnyDecision
from fluid_build.forging import ForgeOptions
from fluid_build.pipeline.requests import ForgeRequest, ModelUse, SourcePlace
from fluid_build.pipeline.running import (
    UNWATCHED,
    RunResult,
    Watching,
    begin_run,
    resume_run,
    start_run,
)
from fluid_build.pipeline.runs import RunLog
from fluid_build.pipeline.stages import StageEvent
from fluid_build.sources import open_source
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.uri import locate
from tests.cli.running import STATEMENTS


def small_shop(path: Path) -> Path:
    """Write two tables, one referring to the other, to an SQLite file."""
    with closing(sqlite3.connect(path)) as database, database:
        for statement in STATEMENTS:
            database.execute(statement)
    return path


def request_for(
    source: Path,
    out: Path,
    *,
    model_use: ModelUse | None = None,
    decisions: Sequence[AnyDecision] = (),
    technique: str = "flat",
) -> ForgeRequest:
    """Return the request that the command would make."""
    return ForgeRequest(
        command="from-source",
        folder=out.parent,
        sources=(SourcePlace.of(SourceRequest(locate(str(source)))),),
        options=ForgeOptions(technique, decisions=tuple(decisions)),
        out=out,
        model_use=model_use or ModelUse(),
    )


def forge_run(
    store: Store,
    request: ForgeRequest,
    watching: Watching = UNWATCHED,
    client: CompletionClient | None = None,
) -> RunResult:
    """Run a request from its start."""
    used_store, record, notes = begin_run(store, request)
    with open_source(request.sources[0].request().address) as source:
        return start_run(source, used_store, record, watching=watching, client=client, notes=notes)


def resume(
    store: Store,
    run_id: str,
    watching: Watching = UNWATCHED,
    *,
    accept_changed_code: bool = False,
    client: CompletionClient | None = None,
) -> RunResult:
    """Resume a run as the command does."""
    record = RunLog(store).get(run_id)
    with open_source(record.request.sources[0].request().address) as source:
        return resume_run(
            source,
            store,
            record,
            accept_changed_code=accept_changed_code,
            watching=watching,
            client=client,
        )


class Interrupted(Exception):  # noqa: N818 - it stands for a process that ends
    """The end of a process at a stage, without one."""


def stopping_at(stage: str) -> Watching:
    """Return a watcher that ends a run where a stage begins."""

    def on_stage(event: StageEvent) -> None:
        if (event.name, event.state) == (stage, "started"):
            raise Interrupted

    return Watching(on_stage=on_stage)
