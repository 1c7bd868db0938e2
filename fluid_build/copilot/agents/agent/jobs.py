"""Runs of an agent as jobs: their first state, where they are saved, and how they end."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fluid_build.copilot.agents.agent.events import AgentResult, RunStatus
from fluid_build.copilot.agents.agent.loop import RunProgress, SessionPart
from fluid_build.copilot.agents.agent.sessions import ChatSession, History
from fluid_build.copilot.agents.agent.settings import Prompt
from fluid_build.copilot.agents.base import StageSession
from fluid_build.copilot.agents.composite import Checkpoint, Composite, CompositeResult
from fluid_build.copilot.agents.composite.approvals import (
    ApprovalDesk,
    Approvals,
    check_approvals,
)
from fluid_build.copilot.message_checks import check_messages, user_message
from fluid_build.copilot.messages import Message
from fluid_build.copilot.store.base import Store
from fluid_build.errors import UsageError

if TYPE_CHECKING:
    from fluid_build.copilot.context.window_manager import ContextWindowManager

DepsT = TypeVar("DepsT")
OutputT = TypeVar("OutputT")


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
    session: ChatSession | None = None


def new_job(
    prompt: Prompt,
    message_history: Sequence[Message],
    checkpoint: Checkpoint | None,
    deps: DepsT | None,
    is_loop_shared: bool,
    *,
    session: ChatSession | None = None,
    window: ContextWindowManager | None = None,
) -> Job[DepsT]:
    """Return a run of ``prompt`` after a history, as much of it as the ``window`` holds.

    Raises ``UsageError`` for messages that can't be sent whole, and for two histories.
    """
    if session is not None and message_history:
        raise UsageError(
            "A session has the earlier messages itself.",
            hint="Pass either a session or message_history.",
        )
    history = History([*message_history], 0) if session is None else session.history()
    messages = [*check_messages(history.messages), user_message(prompt)]
    if window is not None:
        messages = window.create_window(messages).messages
    request = prompt if isinstance(prompt, str) else ""
    start = Composite(messages=messages, request=request)
    if session is not None:
        part = SessionPart(len(messages) - 1, history.records)
        start = RunProgress(session=part).note(start)
    return Job(start, checkpoint, deps, is_loop_shared, session=session)


def resumed_job(
    run: Checkpoint | AgentResult[object],
    approvals: Approvals | None,
    deps: DepsT | None,
    accept_changed_code: bool,
    is_loop_shared: bool,
    session: ChatSession | None = None,
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
        session=session,
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


def add_to_session(session: ChatSession, result: AgentResult[Any]) -> None:
    """Add the messages of a complete run to its session."""
    part = RunProgress.of(result._state).session
    if part is None:
        raise UsageError(
            "The run didn't begin with a session.", hint="Resume it without a session."
        )
    if part.is_compacted:
        session.add(result.messages, replaces=part.records, run_id=result.run_id)
    else:
        session.add(result.messages[part.history :], run_id=result.run_id)


def result_of(
    status: RunStatus,
    end: CompositeResult,
    checkpoint: Checkpoint | None,
    agent: str,
    *,
    output: OutputT | None = None,
) -> AgentResult[OutputT]:
    """Return the result of a run that ended like this; ``agent`` had its conversation first."""
    progress = RunProgress.of(end.state)
    return AgentResult(
        status,
        end.state.messages,
        progress.spending.usage,
        progress.spending.cost_usd,
        progress.turns,
        end.pending,
        None if checkpoint is None else checkpoint.run_id,
        progress.agent or agent,
        output,
        end.state,
        checkpoint,
    )
