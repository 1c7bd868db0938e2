"""A run from its start to its receipt, and the way back into one that was interrupted."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from fluid_build import __version__
from fluid_build.copilot.agents.composite import (
    CompositeResult,
    resume_sync,
    run_sync,
)
from fluid_build.copilot.cost import (
    CostBreakdown,
    RunCostTracker,
    get_cost_tracker,
    use_cost_tracker,
)
from fluid_build.copilot.errors import StaleCheckpointError, StoreError
from fluid_build.copilot.events import Event, get_event_bus
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.timelines import record_timelines
from fluid_build.errors import FluidError, OutputError, SourceChangedError
from fluid_build.forging import Forged, Preview
from fluid_build.forging.report_file import report_change, with_report, write_report
from fluid_build.pipeline.coordinator import Coordinator
from fluid_build.pipeline.receipt import Receipt
from fluid_build.pipeline.receipts import receipt_of
from fluid_build.pipeline.requests import ForgeRequest
from fluid_build.pipeline.run_facts import run_facts
from fluid_build.pipeline.runs import COSTS, RunLog, RunRecord, new_record
from fluid_build.pipeline.sessions import configured, open_session, settled
from fluid_build.pipeline.stages import OnStage, ignore_stages
from fluid_build.pipeline.values import PROFILE, RunValues
from fluid_build.pipeline.workplace import Workplace
from fluid_build.progress import OnProgress, ignore
from fluid_build.secrets import redact, secrets_of_environment
from fluid_build.sources.base import Source
from fluid_build.text import counted

if TYPE_CHECKING:
    from fluid_build.copilot.llm.base import CompletionClient

_BREAKDOWN: TypeAdapter[CostBreakdown] = TypeAdapter(CostBreakdown)


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run has made, or would make (``preview``), and its receipt."""

    forged: Forged
    preview: Preview | None
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Watching:
    """Who is told of a run's progress and stages."""

    on_progress: OnProgress = ignore
    on_stage: OnStage = ignore_stages


UNWATCHED = Watching()


def begin_run(
    store: Store, request: ForgeRequest, *, run_id: str | None = None
) -> tuple[Store, RunRecord, tuple[str, ...]]:
    """Record a new run; return its store, its record, and notes on what couldn't be recorded.

    A run without a model goes on where the store can't be used: it's only not recorded.
    """
    use = settled(request.model_use)
    limit = None if use.model is None else RunCostTracker().limit_usd
    record = new_record(
        request.model_copy(update={"model_use": use, "configured_limit": limit}), run_id
    )
    try:
        RunLog(store).save(record)
    except StoreError as error:
        if use.model is not None:
            raise
        note = f"This run isn't recorded, so it couldn't be resumed: {error.message}"
        return NullBackend(), record, (note,)
    return store, record, ()


def start_run(
    source: Source,
    store: Store,
    record: RunRecord,
    *,
    watching: Watching = UNWATCHED,
    client: CompletionClient | None = None,
    notes: tuple[str, ...] = (),
) -> RunResult:
    """Run all stages on a source.

    Raises what the stages raise, CostLimitExceeded and, where a model is required, the error of
    its provider. The run can be resumed then, as after an interrupt or a SIGKILL.
    """
    with _run_of(source, store, record, watching, client) as coordinator:
        checkpoint = None if isinstance(store, NullBackend) else RunLog(store).checkpoint(record.id)
        result = run_sync(coordinator, {}, checkpoint=checkpoint)
        return _finish(coordinator, result, store, record, notes)


def resume_run(
    source: Source,
    store: Store,
    record: RunRecord,
    *,
    accept_changed_code: bool = False,
    watching: Watching = UNWATCHED,
    client: CompletionClient | None = None,
) -> RunResult:
    """Run the stages that an interrupted run hasn't finished.

    Raises as ``start_run`` does, RunOwnedError where another process runs it,
    StaleCheckpointError where another version made it, and SourceChangedError where the source has
    other tables or numbers of rows than it had.
    """
    refuse_other_version(record, accept_changed_code)
    with _run_of(source, store, record, watching, client) as coordinator:
        _refuse_changed_source(coordinator.place)
        checkpoint = RunLog(store).checkpoint(record.id)
        if checkpoint.exists():
            result = resume_sync(
                coordinator, {}, checkpoint=checkpoint, accept_changed_code=accept_changed_code
            )
        else:  # It was killed before its first step.
            result = run_sync(coordinator, {}, checkpoint=checkpoint)
        return _finish(coordinator, result, store, record, ())


def refuse_other_version(record: RunRecord, accept_changed_code: bool) -> None:
    """Raise StaleCheckpointError where another version of Fluid Forge made the run."""
    if record.version != __version__ and not accept_changed_code:
        raise StaleCheckpointError(
            f"The run {record.id} was made by Fluid Forge {record.version}, and this is"
            f" {__version__}, which may decide differently.",
            hint="Resume it with that version, start a new run, or pass --accept-changed-code.",
        )


@contextmanager
def _run_of(
    source: Source,
    store: Store,
    record: RunRecord,
    watching: Watching,
    client: CompletionClient | None,
) -> Generator[Coordinator]:
    """Provide the coordinator of a run, with its own costs and settings."""
    request = record.request
    tracker = RunCostTracker(request.max_cost)
    if request.model_use.model is not None and tracker.limit_usd is None:
        tracker.limit_usd = request.configured_limit
    with configured(request.model_use), use_cost_tracker(tracker):
        session = open_session(store, request.model_use, record.id)
        place = Workplace(
            source,
            request,
            session,
            RunValues(store, record.id),
            watching.on_progress,
            watching.on_stage,
            client,
        )
        with _calls_noted(tracker, place), _recorded(store):
            if source.catalog is not None:
                tracker.record_catalog_fetch(source.catalog.name, source.catalog.duration_ms)
            yield Coordinator(place)


def _finish(
    coordinator: Coordinator,
    result: CompositeResult,
    store: Store,
    record: RunRecord,
    notes: tuple[str, ...],
) -> RunResult:
    if not result.ok:
        assert isinstance(result.error, Exception)
        _note_failure(store, record, result.error)
        raise result.error
    written, request = coordinator.forged(result.state), record.request
    if request.is_preview:
        receipt = receipt_of(coordinator, result.state, written, notes)
        _save_finished(store, record, receipt)
        return RunResult(written, coordinator.preview, receipt)
    change = report_change(request.out, overwrite=request.overwrite)
    forged = with_report(written, request.out, change)
    receipt = receipt_of(coordinator, result.state, forged, notes)
    try:
        write_report(forged, request.out, change, run_facts(receipt))
    except OutputError:
        _save_finished(store, record, receipt_of(coordinator, result.state, written, notes))
        raise
    _save_finished(store, record, receipt)
    return RunResult(forged, None, receipt)


def _save_finished(store: Store, record: RunRecord, receipt: Receipt) -> None:
    log = RunLog(store)
    finished = record.model_copy(
        update={"state": "finished", "ended": time.time(), "error": None, "receipt": receipt}
    )
    log.save(finished)
    log.forget_progress(record.id)
    log.prune()


def _note_failure(store: Store, record: RunRecord, error: Exception) -> None:
    reason = error.message if isinstance(error, FluidError) else type(error).__name__
    message = redact(reason, secrets_of_environment())
    stopped = record.model_copy(update={"state": "stopped", "ended": time.time(), "error": message})
    RunLog(store).save(stopped)


@contextmanager
def _recorded(store: Store) -> Generator[None]:
    """Record the timeline of the run; one that can't be saved disturbs nothing."""
    stop = record_timelines(store)
    try:
        yield
    finally:
        stop()


@contextmanager
def _calls_noted(tracker: RunCostTracker, place: Workplace) -> Generator[None]:
    """Start with the costs of the run's earlier processes, and save those of this one.

    They are saved before a call is sent, with the most that it can cost, and again once its answer
    is in the cache: a process may be killed at any moment, and then neither the limit is passed nor
    an answer paid for twice.
    """
    store, run_id = place.session.store, place.session.run_id or ""
    if place.session.llm_config is None:
        yield
        return
    earlier = store.get(COSTS, run_id)
    if earlier is not None:
        tracker.restore(_BREAKDOWN.validate_python(earlier))
    lock = threading.Lock()

    def save() -> None:
        with lock:
            store.put(COSTS, run_id, _BREAKDOWN.dump_python(tracker.breakdown, mode="json"))

    def note(event: Event) -> None:
        if get_cost_tracker() is not tracker or event.event_type != "agent.run_finished":
            return  # Another run of this process, or another event.
        is_cached = event.payload.get("is_cached")
        if is_cached:
            with lock:
                place.cache_hits += 1
        elif is_cached is False:  # The end of the whole run says nothing of it.
            save()

    tracker.on_reserved = save
    unsubscribe = get_event_bus().subscribe(note)
    try:
        yield
    finally:
        unsubscribe()


def _refuse_changed_source(place: Workplace) -> None:
    """Raise SourceChangedError where the tables aren't those that were measured."""
    profile = place.values.get(PROFILE)
    if profile is None or not profile.has_data:
        return
    measured = {table.name: table.rows for table in profile.tables}
    skipped = {table.name for table in profile.skipped}
    tables = {table.name: table for table in place.source.tables if table.name not in skipped}
    if tables.keys() != measured.keys():
        names = sorted(tables.keys() ^ measured.keys())
        raise _changed(place, f"{names[0]!r} is only in one of its two states")
    for name, table in tables.items():
        (rows,) = place.source.connection.execute(
            f"SELECT count(*) FROM {table.relation}"
        ).fetchall()[0]
        if rows != measured[name]:
            was = counted(measured[name], "row")
            raise _changed(place, f"{name!r} had {was} and now has {rows:,}")


def _changed(place: Workplace, reason: str) -> SourceChangedError:
    return SourceChangedError(
        f"The source has changed since the run {place.session.run_id} measured it: {reason}.",
        hint="Start a new run.",
    )
