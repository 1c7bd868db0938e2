"""``fluid runs show RUN --html``: the timeline of a run as a page."""

from decimal import Decimal
from pathlib import Path
from typing import cast

from fluid_build.cli import failures, messages
from fluid_build.copilot.store.base import Store
from fluid_build.copilot.timelines import TimedOperation, timeline_of
from fluid_build.errors import UsageError
from fluid_build.report.page.agent_run import OperationFacts, OperationKind, agent_run_page
from fluid_build.report.page.page_file import write_page

_KINDS = {"agent.run": "agent", "agent.step": "step", "llm.call": "model", "tool.call": "tool"}
_NAMES = ("agent_name", "step_name", "model", "tool_name")


def write_run_page(store: Store, run_id: str, *, as_json: bool) -> int:
    """Write the page of a run to the current folder. Raises UsageError if nothing is recorded."""
    operations = timeline_of(store, run_id)
    if not operations:
        raise UsageError(
            f"Nobody recorded what the run {run_id!r} did.",
            hint="A forge records it; a program does with record_timelines(store).",
        )
    path = Path(f"run-{run_id}.html")
    write_page(path, agent_run_page(run_id, [_facts(each) for each in operations]))
    if as_json:
        messages.show_json({"run": run_id, "page": str(path)})
    else:
        messages.tell(f"The timeline of the run is in {path}.")
    return failures.DONE


def _facts(operation: TimedOperation) -> OperationFacts:
    facts = operation.facts
    tokens = [facts.get("input_tokens") or 0, facts.get("output_tokens") or 0]
    cost, attempts = facts.get("cost_usd"), facts.get("attempts")
    return OperationFacts(
        operation.id,
        operation.parent_id,
        cast("OperationKind", _KINDS[operation.kind]),
        next((str(facts[name]) for name in _NAMES if name in facts), operation.kind),
        operation.started,
        operation.seconds,
        operation.error,
        sum(each for each in tokens if isinstance(each, int)),
        None if cost is None else Decimal(str(cost)),
        attempts if isinstance(attempts, int) else 1,
    )
