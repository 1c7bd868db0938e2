"""The table of ``fluid eval``: what each model gained and lost, and what it cost."""

from collections.abc import Iterator

from rich.table import Column

from fluid_build.pipeline.evaluation.judging import KINDS
from fluid_build.pipeline.evaluation.results import (
    Change,
    EvaluationResult,
    KindResult,
    ModelResult,
)
from fluid_build.report.page.run import dollars
from fluid_build.report.terminal.screen_parts import (
    Part,
    first_line,
    heading,
    indented,
    lines,
    more,
    text,
    unbroken,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.text import counted, listed

HEADERS = ("model", *KINDS, "lies refused", "cost", "seconds added", "failures")
WITHOUT = "no model"
_MOST_CHANGES = 6
"""Of a model, each way: enough to see what it does. The page and --json have all."""


def evaluation_screen(result: EvaluationResult) -> Iterator[Part]:
    """Yield the table, and below it for each model what it changed and how sure that is."""
    forges = f"{result.technique}, {counted(result.repeats, 'forge')} with each model"
    yield first_line(listed(result.databases), forges)
    yield text("")
    grid = Grid(*(Column(name, no_wrap=True) for name in HEADERS))
    for model in result.models:
        grid.add_row(*(unbroken(cell) for cell in row_of(model)))
    yield indented(grid)
    yield indented(
        "Right of all that is true or claimed; (+ gained - lost) against the forge without a"
        " model.",
        "dim",
    )
    for model in result.models[1:]:
        yield from _model_section(model)
    if result.stopped:
        yield text("")
        yield text(result.stopped, "yellow")


def row_of(model: ModelResult) -> tuple[str, ...]:
    """Return the figures of a model as the table and the page show them."""
    shares = (_cell(model.kinds[kind]) for kind in KINDS)
    if not model.name:
        return (WITHOUT, *shares, "", "", "", "")
    return (
        model.name,
        *shares,
        f"{model.refused_lies} of {model.refused_lies + model.let_in}",
        dollars(model.cost_usd),
        f"{model.model_seconds:.1f}",
        str(len(model.failures)),
    )


def share_lines(model: ModelResult) -> list[str]:
    """Return which shares of right claims changed, with the intervals over databases."""
    changed = (each for each in model.differences if each.better or each.worse)
    return [f"share right of {each}" for each in changed]


def change_label(change: Change) -> str:
    """Return what a model changed, in a line."""
    often = f" ({change.times} times)" if change.times > 1 else ""
    claim = f": {change.claim}" if change.claim else ""
    return f"{change.database} {change.kind} {change.subject}{claim} [{change.now}]{often}"


def proposals_label(model: ModelResult) -> str:
    """Return how many proposals a model made, and what became of them."""
    true = f" ({counted(model.refused_truths, 'true one')})" if model.refused_truths else ""
    return (
        f"{counted(model.proposed, 'proposal')}: {model.accepted} accepted, {model.asked} asked of"
        f" a person, {model.refused} refused{true}"
    )


def _cell(kind: KindResult) -> str:
    whole = kind.right + kind.wrong + kind.missed
    if not whole:
        return "-"
    moved = f" (+{_number(kind.gained)} -{_number(kind.lost)})"
    share = f"{_number(kind.right)} of {_number(whole)}"
    return f"{share}{moved if kind.gained or kind.lost else ''}"


def _number(value: float) -> str:
    """Return a mean over repeats: with a decimal where it has one."""
    return f"{value:.1f}".removesuffix(".0")


def _model_section(model: ModelResult) -> Iterator[Part]:
    yield heading(model.name, proposals_label(model))
    yield from lines(share_lines(model))
    for title, entries, colour in (("gained", model.gained, "green"), ("lost", model.lost, "red")):
        for change in entries[:_MOST_CHANGES]:
            yield indented(f"{title}: {change_label(change)}", colour)
        yield from more(len(entries) - _MOST_CHANGES, f" {title}: see --html")
    yield from lines([f"failed: {reason}" for reason in model.failures], "yellow")
