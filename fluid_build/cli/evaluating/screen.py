"""The table of ``fluid eval``: what each model gained and lost, and what it cost."""

from collections.abc import Iterator
from decimal import Decimal

from rich.table import Column

from fluid_build.copilot.evals import compare
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.evaluation.judging import KINDS
from fluid_build.pipeline.evaluation.results import (
    Change,
    EvaluationResult,
    KindResult,
    ModelResult,
)
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
        yield from _model_section(model, differences(result, model))
    if result.stopped:
        yield text("")
        yield text(result.stopped, "yellow")


def row_of(model: ModelResult) -> tuple[str, ...]:
    """Return the figures of a model as the table and the page show them."""
    return (
        model.name or WITHOUT,
        *(_cell(model.kinds[kind], is_compared=bool(model.name)) for kind in KINDS),
        f"{model.refused_lies} of {model.refused_lies + model.let_in}" if model.name else "",
        cost_label(model.cost_usd) if model.name else "",
        f"{model.model_seconds:.1f}" if model.name else "",
        str(len(model.failures)) if model.name else "",
    )


def differences(result: EvaluationResult, model: ModelResult) -> tuple[str, ...]:
    """Return which shares of right claims changed, with the intervals over databases."""
    plain = result.models[0].run
    if not model.run.trials or not plain.trials[0].scores:
        return ()
    changes = compare(plain, model.run)
    return tuple(f"share right of {each}" for each in changes if each.better or each.worse)


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


def cost_label(amount: Decimal | None) -> str:
    """Return US dollars with as many decimals as a cheap call needs."""
    return "unknown" if amount is None else f"${amount:.4f}"


def evaluation_document(result: EvaluationResult) -> JsonObject:
    """Return the result as JSON, with the comparison of each model."""
    plain = result.models[0].run
    comparisons: JsonObject = {
        model.name: [each.model_dump(mode="json") for each in compare(plain, model.run)]
        for model in result.models[1:]
        if model.run.trials and plain.trials[0].scores
    }
    return {**result.model_dump(mode="json"), "comparisons": comparisons}


def _cell(kind: KindResult, *, is_compared: bool) -> str:
    whole = kind.right + kind.wrong + kind.missed
    if not whole:
        return "-"
    share = f"{_number(kind.right)} of {_number(whole)}"
    if not is_compared or not (kind.gained or kind.lost):
        return share
    return f"{share} (+{_number(kind.gained)} -{_number(kind.lost)})"


def _number(value: float) -> str:
    """Return a mean over repeats: with a decimal where it has one."""
    return f"{value:.1f}".removesuffix(".0")


def _model_section(model: ModelResult, changes: tuple[str, ...]) -> Iterator[Part]:
    yield heading(model.name, proposals_label(model))
    yield from lines(changes)
    for title, entries in (("gained", model.gained), ("lost", model.lost)):
        for change in entries[:_MOST_CHANGES]:
            yield indented(
                f"{title}: {change_label(change)}", "green" if title == "gained" else "red"
            )
        yield from more(len(entries) - _MOST_CHANGES, f" {title}: see --html")
    yield from lines([f"failed: {reason}" for reason in model.failures], "yellow")
