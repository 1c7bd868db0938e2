"""A judgement call as it's shown: the question, its evidence and the choices."""

from collections.abc import Iterator

from rich.table import Column

from fluid_build.report.judgements.judgement import Judgement
from fluid_build.report.terminal.screen_parts import Part, Query, heading, indented, text
from fluid_build.report.terminal.unbroken_grid import Grid


def question_parts(question: Judgement, remark: str) -> Iterator[Part]:
    """Yield a question with its evidence and its choices by number, ours first."""
    label = question.certainty_label
    yield heading(question.question, f"{remark}  confidence {label}" if label else remark)
    if question.evidence:
        yield indented(question.evidence)
    if question.choices:
        grid = Grid(Column(style="cyan"), "", Column(style="dim"), show_header=False)
        for number, choice in enumerate(question.choices, start=1):
            chosen = "chosen" if number == 1 else ""
            reason = ": ".join(filter(None, (chosen, choice.reason or choice.option)))
            grid.add_row(text(str(number)), text(choice.label), text(reason))
        yield indented(grid)
    else:
        yield indented("Answer in words.", "dim")
    if question.sql:
        yield Query(question.sql)
