"""Runs of an agent as jobs: their first state, and the checkpoints that they are saved in."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from fluid_build.copilot.agents.agent.results import AgentResult
from fluid_build.copilot.agents.agent.settings import Prompt
from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.agents.composite import Checkpoint, Composite
from fluid_build.copilot.agents.composite.approvals import (
    ApprovalDesk,
    Approvals,
    check_approvals,
)
from fluid_build.copilot.message_checks import check_messages, user_message
from fluid_build.copilot.messages import Message
from fluid_build.copilot.store.base import Store
from fluid_build.errors import UsageError

DepsT = TypeVar("DepsT")


@dataclass(frozen=True, slots=True)
class Job(Generic[DepsT]):
    """A run to start, or to resume: from its checkpoint, or from the state that it stopped in.

    ``is_loop_shared``: the event loop belongs to the caller, so nothing may block it.
    """

    start: Composite
    checkpoint: Checkpoint | None
    deps: DepsT | None
    is_loop_shared: bool
    approvals: Approvals | None = None
    is_resumed: bool = False
    accept_changed_code: bool = False


def new_job(
    prompt: Prompt,
    message_history: Sequence[Message],
    checkpoint: Checkpoint | None,
    deps: DepsT | None,
    is_loop_shared: bool,
) -> Job[DepsT]:
    """Return a run of ``prompt``. Raises ``UsageError`` for messages that can't be sent whole."""
    messages = [*check_messages(message_history), user_message(prompt)]
    request = prompt if isinstance(prompt, str) else ""
    return Job(Composite(messages=messages, request=request), checkpoint, deps, is_loop_shared)


def resumed_job(
    run: Checkpoint | AgentResult[object],
    approvals: Approvals | None,
    deps: DepsT | None,
    accept_changed_code: bool,
    is_loop_shared: bool,
) -> Job[DepsT]:
    """Return the rest of a run, with the answers in its store where there are no ``approvals``.

    Raises ``UsageError`` for approvals that aren't decisions.
    """
    if isinstance(run, AgentResult):
        start, checkpoint = run._state, run._checkpoint
    else:
        start, checkpoint = Composite(), run
    if approvals is None and checkpoint is not None:
        approvals = ApprovalDesk(checkpoint).answers()
    check_approvals({} if approvals is None else approvals)
    return Job(
        start,
        checkpoint,
        deps,
        is_loop_shared,
        approvals,
        is_resumed=checkpoint is not None,
        accept_changed_code=accept_changed_code,
    )


def find_checkpoint(
    session: StageSession | None,
    checkpoint: Checkpoint | None,
    store: Store | None,
    run_id: str | None,
) -> Checkpoint | None:
    """Return where a new run is saved, or None. Raises ``UsageError`` for two places or none."""
    if checkpoint is not None:
        refuse_second_store(store, run_id)
        return checkpoint
    if store is None and run_id is None:
        return None
    return stored_checkpoint(session, store, run_id)


def stored_checkpoint(
    session: StageSession | None, store: Store | None, run_id: str | None
) -> Checkpoint:
    """Return the checkpoint of a run in ``store``, or else in the session's.

    Without a ``run_id`` there is a new one. Raises ``UsageError`` where there is no store.
    """
    if store is None and session is not None:
        store = session.store
    if store is None:
        raise UsageError(
            f"There is no store for the run {run_id!r}.",
            hint="Pass a store, or a StageSession as model.",
        )
    return Checkpoint(store, run_id or uuid.uuid4().hex)


def refuse_second_store(store: Store | None, run_id: str | None) -> None:
    """Raise ``UsageError`` for a store or a run id next to a checkpoint."""
    if store is not None or run_id is not None:
        raise UsageError(
            "A checkpoint has its own store and run id.",
            hint="Pass either a checkpoint, or store and run_id.",
        )
