"""A run of an agent for a user interface: started or resumed, saved, and told in AG-UI's events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from typing import TypeVar

from fluid_build.copilot.agents.agent.agent import Agent
from fluid_build.copilot.agents.agent.events import ResultEvent
from fluid_build.copilot.agents.agent.sessions import ChatSession
from fluid_build.copilot.agents.agui.requests import RunInput, read_input, session_id
from fluid_build.copilot.agents.agui.translation import AguiEvent, Translation
from fluid_build.copilot.agents.composite.approvals import pending_approvals
from fluid_build.copilot.agents.composite.checkpoint import Checkpoint
from fluid_build.copilot.store.base import Store
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject

DepsT = TypeVar("DepsT")
OutputT = TypeVar("OutputT")


def thread_session(store: Store, thread_id: str) -> ChatSession:
    """Return the conversation of a thread, to read, to forget, or to go on with by ``run``."""
    return ChatSession(store, session_id(thread_id))


async def agui_events(
    agent: Agent[DepsT, OutputT],
    request: JsonObject,
    *,
    store: Store,
    deps: DepsT | None = None,
) -> AsyncGenerator[AguiEvent]:
    """Run an agent as a ``RunAgentInput`` asks, and yield AG-UI's events of the run.

    The thread is a session in ``store``. A run that waits for a person ends with an interrupt for
    each call, and an input whose ``resume`` answers them goes on with it, in any process. Whatever
    goes wrong is a ``RUN_ERROR``. Raises ``UsageError`` for what isn't an input.
    """
    asked = read_input(request)
    answers = {entry.interrupt_id: entry for entry in asked.resume or ()}
    telling = Translation(asked, agent.name, agent.typed_agents, answers)
    yield telling.start()
    session = thread_session(store, asked.thread_id)
    try:
        if answers:
            run_id = _waiting_run(store, asked, answers)
            decisions = {key: entry.decision for key, entry in answers.items()}
            events = agent.resume_stream(
                run_id, approvals=decisions, deps=deps, store=store, session=session
            )
        else:
            run_id, said = asked.saved_run_id, asked.new_content()
            events = agent.stream(said, deps=deps, store=store, run_id=run_id, session=session)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, ResultEvent) and event.result.ok:
                    Checkpoint(store, run_id).delete()  # the session has all of it
                for told in telling.translate(event):
                    yield told
    except Exception as error:  # noqa: BLE001 - the reader of a stream learns of any error in it
        for told in telling.fail(error):
            yield told


def _waiting_run(store: Store, asked: RunInput, call_ids: Collection[str]) -> str:
    """Return the id of the thread's run that waits for decisions about these calls."""
    runs: dict[str, set[str]] = {}
    for pending in pending_approvals(store):
        if pending.run_id.startswith(f"{asked.session_id}-"):
            runs.setdefault(pending.run_id, set()).add(pending.call.id)
    for run_id, waiting in reversed(runs.items()):
        if waiting.issuperset(call_ids):
            return run_id
    raise UsageError(
        "No run of this thread waits for that answer.",
        hint="Answer the interrupts with which the latest run ended.",
    )
