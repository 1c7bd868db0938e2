"""``fluid runs approvals`` and ``answer``: the calls of agents that wait for a person."""

from __future__ import annotations

import json as json_texts
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.invocation import fluid
from fluid_build.cli.options import Debug, Json
from fluid_build.copilot.agents.composite.approvals import (
    Approved,
    Decision,
    Denied,
    PendingApproval,
    answer_approval,
    pending_approvals,
)
from fluid_build.copilot.store.configured import open_store
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Copyable,
    Part,
    first_line,
    heading,
    indented,
    text,
    whole,
)

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run.")]
CallId = Annotated[str, typer.Argument(metavar="CALL", help="The id of the call that waits.")]
Deny = Annotated[
    str | None,
    typer.Option("--deny", metavar="REASON", help="Deny the call; the model is told the reason."),
]
Arguments = Annotated[
    str | None,
    typer.Option(
        "--arguments",
        metavar="JSON",
        help="Approve it with these arguments, not the model's.",
    ),
]
Approve = Annotated[bool, typer.Option("--approve", help="Approve the call as it is.")]


def list_approvals(json: Json = False, _debug: Debug = False) -> int:
    """List the calls of agents that wait for a person, the oldest first.

    \b
    Example:  fluid runs approvals
    """
    with closing(open_store()) as store:
        waiting = pending_approvals(store)
    if json:
        messages.show_json({"approvals": [_document(each) for each in waiting]})
    else:
        show(_screen(waiting))
    return failures.DONE


def answer(
    run: RunId,
    call: CallId,
    approve: Approve = False,
    arguments: Arguments = None,
    deny: Deny = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Approve or deny a call that waits; the program that resumes the run follows it.

    \b
    Example:  fluid runs answer load-1 toolu_01 --approve
    """
    decision = _decision(approve, arguments, deny)
    with closing(open_store()) as store:
        answered = answer_approval(store, run, call, decision)
    if json:
        messages.show_json(_document(answered))
    else:
        messages.tell(f"{_label(answered)}. The run follows it when its program resumes it.")
    return failures.DONE


def _decision(approve: bool, arguments: str | None, deny: str | None) -> Decision:
    if approve + (arguments is not None) + (deny is not None) != 1:
        raise UsageError(
            "An answer is one of --approve, --arguments and --deny.",
            hint="Write, for instance, --deny 'The table is in use.'",
        )
    if deny is not None:
        return Denied(deny)
    if arguments is None:
        return True
    try:
        changed = json_texts.loads(arguments)
    except ValueError:
        changed = None
    if not isinstance(changed, dict):
        raise UsageError(
            "The arguments aren't a JSON object.",
            hint="""Write, for instance, --arguments '{"table": "orders_old"}'.""",
        )
    return Approved(changed)


def _document(pending: PendingApproval) -> JsonObject:
    asked_at = datetime.fromtimestamp(pending.asked_at, UTC).isoformat(timespec="seconds")
    document: dict[str, object] = {
        "run": pending.run_id,
        "agent": pending.agent,
        "call": pending.call.id,
        "tool": pending.call.name,
        "arguments": pending.call.arguments,
        "asked_at": asked_at,
        "answer": None if pending.answer is None else _verdict(pending.answer),
    }
    return document  # type: ignore[return-value]


def _verdict(decision: Decision) -> str:
    return "denied" if isinstance(decision, Denied) or decision is False else "approved"


def _screen(waiting: Sequence[PendingApproval]) -> Iterator[Part]:
    if not waiting:
        yield text("No call waits for a person.")
        return
    yield first_line("Approvals", "calls that wait for a person, the oldest first")
    for each in waiting:
        asked = datetime.fromtimestamp(each.asked_at).astimezone().strftime("%Y-%m-%d %H:%M")
        yield heading(each.call.name, f"run {each.run_id}, agent {each.agent}, {asked}")
        yield indented(f"Call: {whole(each.call.id)}")
        for name, value in each.call.arguments.items():
            yield indented(f"{name}: {json_texts.dumps(value, ensure_ascii=False)}")
        if each.answer is not None:
            yield indented(f"Answered: {_verdict(each.answer)}. Its program has to resume it.")
    open_calls = [each for each in waiting if each.answer is None]
    if open_calls:
        first = open_calls[0]
        yield heading("Next")
        yield Copyable(fluid("runs", "answer", first.run_id, first.call.id, "--approve"))


def _label(pending: PendingApproval) -> str:
    assert pending.answer is not None
    verdict = _verdict(pending.answer).capitalize()
    return f"{verdict} the call of {pending.call.name} in the run {pending.run_id}"
