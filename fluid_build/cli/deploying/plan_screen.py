"""What ``fluid plan`` shows: at most a screen, in four groups."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

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

_WIDTH = 96
"""Of a line within a terminal of 100 columns, after its indent."""
_MOST_LINES = {"source": 10, "model": 5, "contract": 4, "warehouse": 6}
"""Lines of each group: with titles, remarks and what to do next they fill a screen of 40 lines."""
_MARKS = {
    Mark.SAFE: ("safe", ""),
    Mark.NEEDS_DECISION: ("needs a decision", "yellow"),
    Mark.DESTROYS: ("destroys something", "red"),
}
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


def plan_screen(folder: Path, plan: DeploymentPlan, out: Path | None = None) -> Iterator[Part]:
    """Yield a plan for people."""
    if plan.outcome == "nothing":
        yield text(
            "Nothing to do: the source, the model and the warehouse agree. `fluid apply` only"
            " loads rows."
        )
        return
    what = "the warehouse is empty" if plan.warehouse_is_new else "compared with the warehouse"
    yield first_line(folder_label(folder), what)
    yield from _group("source", "The source", _source(plan.source), len(plan.source))
    yield from _group("model", "The model", [_Line(each) for each in plan.model], len(plan.model))
    yield from _contract(plan.contract)
    steps = [each for each in plan.warehouse if each.kind != "load"]
    yield from _group("warehouse", "The warehouse", _steps(plan), len(steps))
    yield text("")
    if plan.open_decisions:
        yield text(f"{counted(plan.open_decisions, 'entry', 'entries')} to decide about.", "yellow")
    elif out is not None:
        yield text("Apply exactly this:")
        yield Copyable(fluid("apply", str(folder), "--plan", str(out)))
    else:
        yield Copyable(fluid("apply", str(folder)))


def _group(name: str, title: str, contents: Sequence[_Line], count: int) -> Iterator[Part]:
    """Yield as many lines of a group as it has room for."""
    yield heading(title, counted(count, "change") if count else "no change")
    room = _MOST_LINES[name]
    shown = 0
    for line in contents:
        room -= line.height
        if room < 0:
            break
        shown += 1
        if line.is_command:
            yield Copyable(line.content, indent=4)
        else:
            yield indented(line.content, line.style)
    yield from more(len(contents) - shown, ": see --json")


def _source(changes: Sequence[PlannedChange]) -> list[_Line]:
    found = []
    for mark in _GRAVEST_FIRST:
        label, style = _MARKS[mark]
        for each in changes:
            if each.mark is mark:
                found.append(_Line(f"{each.change} · {label}", style))
                found += [_Line(command, is_command=True) for command in each.commands]
                found += [_Line(each.advice)] if each.advice else []
    return found


def _contract(contract: PlannedContract) -> Iterator[Part]:
    if contract.bump == "none":
        yield heading("The contract", f"stays {contract.version}")
        return
    yield heading("The contract", f"{contract.version} → {contract.next_version}")
    contents = [
        _Line(as_sentence(f"{contract.bump.capitalize()}: {contract.reason}")),
        *(_Line(f"breaks {reader}", "red") for reader in contract.readers),
    ]
    yield from list(_group("contract", "", contents, 1))[1:]


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
