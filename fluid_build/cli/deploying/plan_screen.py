"""What ``fluid plan`` shows: at most a screen, in four groups."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from fluid_build.cli.invocation import fluid
from fluid_build.evolution.migrating import Mark, Step
from fluid_build.evolution.planning import DeploymentPlan, PlannedChange, PlannedContract
from fluid_build.report.terminal.screen_parts import (
    Copyable,
    Part,
    first_line,
    folder_label,
    heading,
    indented,
    more,
    text,
)
from fluid_build.text import as_sentence, counted
from fluid_build.verification.held_deliveries import LOST_ROWS

_WIDTH = 96
"""Of a line within a terminal of 100 columns, after its indent."""
_MOST_LINES = {"source": 10, "model": 5, "contract": 4, "warehouse": 6}
"""Lines of each group: with titles, remarks and what to do next they fill a screen of 40 lines."""
_LONGEST_REASON = 3 * _WIDTH
"""Where dbt gives up, what it says may fill a screen; --json has it whole."""
_MARKS = {
    Mark.SAFE: ("safe", ""),
    Mark.NEEDS_DECISION: ("needs a decision", "yellow"),
    Mark.DESTROYS: ("destroys something", "red"),
}
_WAITS = " first"
"""After the mark of what an apply waits for."""
_GRAVEST_FIRST = (Mark.DESTROYS, Mark.NEEDS_DECISION, Mark.SAFE)
_MOST_NAMED = 6
"""Relations that are named where as many are made."""


@dataclass(frozen=True, slots=True)
class _Line:
    content: str
    style: str = ""
    is_command: bool = False

    @property
    def height(self) -> int:
        return 1 if self.is_command else len(textwrap.wrap(self.content, _WIDTH))


_Entry: TypeAlias = tuple[_Line, ...]


def plan_screen(
    folder: Path,
    plan: DeploymentPlan,
    apply: Sequence[str],
    allowing: Callable[[str], Sequence[str]],
    *,
    is_exact: bool = False,
) -> Iterator[Part]:
    """Yield a plan for people, with the command line that applies it.

    ``allowing`` returns the one that also loads a table whose rows are gone.

    It ``is_exact`` where that does what the plan says or nothing.
    """
    if plan.outcome == "nothing":
        yield text(
            "Nothing to do: the source, the model and the warehouse agree. `fluid apply` only"
            " loads rows."
        )
        return
    what = "the warehouse is empty" if plan.warehouse_is_new else "compared with the warehouse"
    yield first_line(folder_label(folder), what)
    before = [*_unfinished(plan)]
    yield from (indented(line.content, line.style) for line in before)
    room = _MOST_LINES["source"] - sum(line.height for line in before)
    source = _source(plan.source, allowing)
    yield heading("The source", _changes(len(plan.source)))
    yield from _entries(source, room)
    model: list[_Entry] = [(_Line(each),) for each in plan.model]
    yield from _group("model", "The model", model, len(model))
    yield from _contract(plan.contract)
    steps = [each for each in plan.warehouse if each.kind != "load"]
    yield from _group("warehouse", "The warehouse", [(line,) for line in _steps(plan)], len(steps))
    yield text("")
    if plan.open_decisions:
        yield from _open(plan)
        return
    if is_exact:
        yield text("Apply exactly this:")
    yield Copyable(fluid(*apply[1:]))


def _unfinished(plan: DeploymentPlan) -> Iterator[_Line]:
    if plan.unfinished is not None:
        yield _Line(textwrap.shorten(str(plan.unfinished), _LONGEST_REASON), "red")
        yield _Line("The next `fluid apply` goes on with it.")


def _changes(count: int) -> str:
    return counted(count, "change") if count else "no change"


def _open(plan: DeploymentPlan) -> Iterator[Part]:
    """Yield how many decisions are open, and which of them an apply waits for."""
    waits = sum(each.stops_apply for each in plan.source)
    if waits == plan.open_decisions:
        what = "waits for that"
    elif waits:
        what = f"waits for the {waits:,} that need it first"
    else:
        what = "goes on without that"
    entries = counted(plan.open_decisions, "entry", "entries")
    yield text(f"{entries} to decide about. `fluid apply` {what}. Exit code 4.", "yellow")


def _group(name: str, title: str, entries: Sequence[_Entry], count: int) -> Iterator[Part]:
    """Yield as many entries of a group as it has room for, and how many it hasn't."""
    yield heading(title, _changes(count))
    yield from _entries(entries, _MOST_LINES[name])


def _entries(entries: Sequence[_Entry], room: int) -> Iterator[Part]:
    shown = _fitting([sum(line.height for line in entry) for entry in entries], room)
    for line in (line for entry in entries[:shown] for line in entry):
        if line.is_command:
            yield Copyable(line.content, indent=4)
        else:
            yield indented(line.content, line.style)
    yield from more(len(entries) - shown, ": see --json")


def _fitting(heights: Sequence[int], room: int) -> int:
    """Return how many entries fit, at least one: the last line says how many don't, if any."""
    if sum(heights) <= room + 1:
        return len(heights)
    fitting = 1
    while sum(heights[: fitting + 1]) <= room:
        fitting += 1
    return fitting


def _source(
    changes: Sequence[PlannedChange], allowing: Callable[[str], Sequence[str]]
) -> list[_Entry]:
    found = []
    for mark in _GRAVEST_FIRST:
        label, style = _MARKS[mark]
        for each in changes:
            if each.mark is mark:
                more = _WAITS if each.stops_apply else ""
                commands = list(each.commands)
                if each.change.kind in LOST_ROWS:
                    commands = [fluid(*allowing(each.change.table)[1:]), *commands]
                found.append(
                    (
                        _Line(f"{each.change} · {label}{more}", style),
                        *(_Line(command, is_command=True) for command in commands),
                        *([_Line(each.advice)] if each.advice else []),
                    )
                )
    return found


def _contract(contract: PlannedContract) -> Iterator[Part]:
    if contract.bump == "none":
        yield heading("The contract", f"stays {contract.version}")
        return
    yield heading("The contract", f"{contract.version} → {contract.next_version}")
    lines = [
        _Line(as_sentence(f"{contract.bump.capitalize()}: {contract.reason}")),
        *(_Line(f"breaks {reader}", "red") for reader in contract.readers),
    ]
    yield from _entries([(line,) for line in lines], _MOST_LINES["contract"])


def _steps(plan: DeploymentPlan) -> list[_Line]:
    """Return the steps, the gravest first; what is made, is told in one line."""
    found = []
    for mark in _GRAVEST_FIRST:
        label, style = _MARKS[mark]
        steps = [step for step in plan.warehouse if step.mark is mark]
        for kind, group in groupby(steps, key=lambda step: step.kind):
            same = list(group)
            if kind == "create" and len(same) > 1:
                found.append(_Line(f"{_created(same, plan)} · {label}", style))
            else:
                found += [_Line(f"{step.sentence} · {label}", style) for step in same]
    return found


def _created(steps: Sequence[Step], plan: DeploymentPlan) -> str:
    if plan.warehouse_is_new:
        return f"everything is created: {counted(len(steps), 'relation')}"
    names = [step.relation for step in steps]
    left = len(names) - _MOST_NAMED
    return f"create {', '.join(names[:_MOST_NAMED])}" + (f" and {left:,} more" if left > 0 else "")
