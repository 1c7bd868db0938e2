"""Composites as workflows of DBOS, which starts, queues, recovers and shows them.

Each step of a workflow takes the saved run one item further. DBOS records that it was taken and
what comes next; what it did is in the run's store, with what the agents inside it have done. A step
that DBOS repeats after a crash therefore goes on inside the item, or finds it done.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Literal, TypeAlias, TypedDict

from fluid_build.copilot.agents.composite.behaviour import Args, CompositeBehaviour, CompositeResult
from fluid_build.copilot.agents.composite.checkpoint import Checkpoint
from fluid_build.copilot.agents.composite.engine import DEFAULT_RETRIES, DEFAULT_WIDTH, advance
from fluid_build.copilot.agents.composite.saved_models import dump_models, load_models
from fluid_build.copilot.agents.composite.state import Item, Step
from fluid_build.copilot.errors import AgentExecutionError, RunExistsError, RunOwnedError
from fluid_build.copilot.llm.outgoing import outgoing_secrets
from fluid_build.copilot.store.base import Store
from fluid_build.extras import needs_extra
from fluid_build.json_types import JsonValue
from fluid_build.secrets import redact

with needs_extra("dbos", "Running a composite on DBOS"):
    from dbos import DBOS

ANSWERED = "fluid-answered"
"""The topic of the message that a person has answered, for which a waiting workflow waits."""

CompositeWorkflow: TypeAlias = Callable[[str, Args], Coroutine[Any, Any, Any]]
"""A workflow of a run's id and its arguments, which returns the run's response."""

_LONGEST_WAIT = 366 * 24 * 3600.0
"""Seconds for which a workflow waits for a person before it looks for an answer unasked."""

_OWNED_SECONDS = 5.0
"""Between two looks at a run that another process has: a short item takes as long, and a quarter of
an hour, after which a dead machine's run is free, is under two hundred looks."""


class _Progress(TypedDict):
    """What DBOS records of a step, in JSON, which each of its serializers writes.

    ``done`` is how many items of the run are done, ``upcoming`` the one that the next step takes;
    ``response`` is that of a complete run.
    """

    status: Literal["goes_on", "owned", "waits", "complete"]
    done: int
    upcoming: str
    response: JsonValue


_BEFORE: _Progress = {"status": "goes_on", "done": -1, "upcoming": "begin", "response": None}
"""Before the step that saves the start of a run, or finds how far one is that has begun."""


def composite_workflow(
    name: str,
    impl: CompositeBehaviour | type[CompositeBehaviour],
    store: Store,
    *,
    max_retries: int | None = DEFAULT_RETRIES,
    width: int = DEFAULT_WIDTH,
    accept_changed_code: bool = False,
) -> CompositeWorkflow:
    """Register a composite as a workflow of DBOS, before ``DBOS.launch()``; return the workflow.

    DBOS finds it by ``name`` after a crash. Its arguments are a run's id and what ``run`` takes as
    ``args``, which DBOS saves as they are. Runs are saved in ``store``, which each process of the
    workflow has to reach. A workflow of a run that is saved already goes on with it. Where a call
    waits for a person, so does the workflow: answer with ``answer_approval``, then send it a
    message with the topic ``ANSWERED``. A run that stops ends its workflow with an
    ``AgentExecutionError``.
    """

    async def take_item(run_id: str, args: Args, before: _Progress) -> _Progress:
        checkpoint = Checkpoint(store, run_id)
        try:
            result = await advance(
                impl,
                args,
                checkpoint=checkpoint,
                until_item=before["done"] + 1,
                max_retries=max_retries,
                width=width,
                accept_changed_code=accept_changed_code,
            )
        except (RunOwnedError, RunExistsError):  # the latter where two begin it at once
            return {**before, "status": "owned"}
        if result.pending:
            return {**before, "status": "waits"}
        if not result.ok:
            raise _stopped(name, run_id, result.error)
        return _progress(result, checkpoint.item)

    async def run_composite(run_id: str, args: Args) -> Any:
        progress = _BEFORE
        while progress["status"] != "complete":
            if progress["status"] == "owned":
                await DBOS.sleep_async(_OWNED_SECONDS)
            elif progress["status"] == "waits":
                await DBOS.recv_async(ANSWERED, _LONGEST_WAIT)
            progress = await DBOS.run_step_async(
                {"name": progress["upcoming"]}, take_item, run_id, args, progress
            )
        return load_models(progress["response"])

    return DBOS.workflow(name=name)(run_composite)


def _progress(result: CompositeResult, done: int) -> _Progress:
    steps = result.state.steps
    if not steps:
        response: JsonValue = dump_models(result.response)
        return {"status": "complete", "done": done, "upcoming": "", "response": response}
    return {
        "status": "goes_on",
        "done": done,
        "upcoming": _name_of_item(steps[0]),
        "response": None,
    }


def _name_of_item(item: Item) -> str:
    steps = [item] if isinstance(item, Step) else item
    return ", ".join(step.name for step in steps) or "empty group"


def _stopped(name: str, run_id: str, error: object) -> AgentExecutionError:
    """Return an error that DBOS can save, which one with a result or a client isn't."""
    kind = f"{type(error).__name__}: " if isinstance(error, BaseException) else ""
    reason = redact(str(error), outgoing_secrets(None))
    return AgentExecutionError(
        f"{name} stopped at {kind}{reason}",
        hint=f"Start a workflow with the run id {run_id!r} again: the run goes on where it was.",
    )
