"""The runs in the store: what each was asked, how far it came, and its receipt."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from fluid_build import __version__
from fluid_build.copilot.agents.composite.checkpoint import Checkpoint
from fluid_build.copilot.errors import RunNotFoundError, RunOwnedError, StaleCheckpointError
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.timelines import forget_timeline
from fluid_build.errors import UsageError
from fluid_build.pipeline.receipt import Receipt
from fluid_build.pipeline.requests import ForgeRequest
from fluid_build.pipeline.values import VALUES

RECORDS = "runs/records"
COSTS = "runs/costs"

KEPT_RUNS = 100
"""Finished runs whose record and receipt are kept: some months of daily work, and a small file."""

RunState = Literal["running", "stopped", "finished"]
ShownState = Literal["running", "interrupted", "stopped", "finished"]


class RunRecord(BaseModel):
    """A run. Times are seconds since the epoch.

    ``stopped`` is a run that ended with ``error``. A ``running`` one may have been killed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    version: str
    state: RunState
    request: ForgeRequest
    started: float
    ended: float | None = None
    error: str | None = None
    receipt: Receipt | None = None


def new_record(
    request: ForgeRequest, run_id: str | None = None, clock: Callable[[], float] = time.time
) -> RunRecord:
    """Return the record of a run that starts now. Raises UsageError for an id that is none."""
    if run_id is not None and not _is_id(run_id):
        raise UsageError(
            f"{run_id!r} can't be the id of a run.", hint="Use at most 64 letters and digits."
        )
    return RunRecord(
        id=run_id or secrets.token_hex(4),
        version=__version__,
        state="running",
        request=request,
        started=clock(),
    )


class RunLog:
    """The records of runs in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def save(self, record: RunRecord) -> None:
        """Write a record in place of the previous one. Raises StoreError."""
        self._store.put(RECORDS, record.id, record.model_dump(mode="json"))

    def get(self, run_id: str) -> RunRecord:
        """Return a record. Raises RunNotFoundError, or StaleCheckpointError if unreadable."""
        saved = self._store.get(RECORDS, run_id) if _is_id(run_id) else None
        if saved is None:
            raise RunNotFoundError(
                f"There is no run {run_id!r}.", hint="`fluid runs list` shows the runs."
            )
        try:
            return RunRecord.model_validate(saved)
        except ValidationError:
            version = saved.get("version", "unknown") if isinstance(saved, dict) else "unknown"
            raise StaleCheckpointError(
                f"The run {run_id} was made by Fluid Forge {version}, which saved it differently.",
                hint=f"Remove it with `fluid runs rm {run_id}`, or use that version.",
            ) from None

    def records(self) -> list[RunRecord]:
        """Return all records that this version can read, newest first."""
        return sorted(self._readable(), key=lambda record: -record.started)

    def shown_state(self, record: RunRecord) -> ShownState:
        """Return the state of a run, ``interrupted`` where nobody runs it any more."""
        if record.state == "finished":
            return "finished"
        if self.checkpoint(record.id).is_owned():
            return "running"
        return "interrupted" if record.state == "running" else record.state

    def spent(self, record: RunRecord) -> Decimal | None:
        """Return the US dollars of a run so far, None where it hasn't asked a model."""
        if record.receipt is not None:
            return record.receipt.cost.total_usd
        saved = self._store.get(COSTS, record.id)
        return None if saved is None else Decimal(saved["total_usd"])

    def checkpoint(self, run_id: str) -> Checkpoint:
        """Return the saved state of a run."""
        return Checkpoint(self._store, run_id)

    def forget_progress(self, run_id: str) -> None:
        """Delete what only resuming a run needs."""
        self.checkpoint(run_id).delete()
        for key in self._store.keys(VALUES, f"{run_id}/"):
            self._store.delete(VALUES, key)

    def remove(self, run_id: str) -> None:
        """Delete a run. Raises RunNotFoundError, and RunOwnedError where it is still running."""
        if not _is_id(run_id) or self._store.get(RECORDS, run_id) is None:
            raise RunNotFoundError(
                f"There is no run {run_id!r}.", hint="`fluid runs list` shows the runs."
            )
        if self.checkpoint(run_id).is_owned():
            raise RunOwnedError(
                f"The run {run_id} is still running.", hint="Wait for it, or stop it first."
            )
        self._delete(run_id)

    def prune(self) -> int:
        """Delete the oldest finished runs beyond ``KEPT_RUNS``; return how many.

        Answers of models that have expired are deleted too.
        """
        self._store.purge()
        if len(self._store.keys(RECORDS)) <= KEPT_RUNS:
            return 0
        finished = [record for record in self.records() if record.state == "finished"]
        for record in finished[KEPT_RUNS:]:
            self._delete(record.id)
        return len(finished[KEPT_RUNS:])

    def _delete(self, run_id: str) -> None:
        self.forget_progress(run_id)
        forget_timeline(self._store, run_id)
        self._store.delete(COSTS, run_id)
        self._store.delete(RECORDS, run_id)

    def _readable(self) -> Iterator[RunRecord]:
        for saved in self._store.get_many(RECORDS, self._store.keys(RECORDS)).values():
            try:
                yield RunRecord.model_validate(saved.value)
            except ValidationError:
                continue


def _is_id(text: str) -> bool:
    return text.isascii() and text.isalnum() and len(text) <= 64
