"""Progress on a terminal: a bar that goes away, or a line for each stage."""

from typing import TextIO

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from fluid_build.progress import OnProgress, Progress, stage_label
from fluid_build.report.terminal.printing import console
from fluid_build.report.terminal.visible_text import for_stream, visible


def bars(stream: TextIO) -> Bars:
    """Return the bars, which are shown as long as their block lasts."""
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
        console=console(stream),
        transient=True,
    )


def on_bars(shown: Bars) -> OnProgress:
    """Return what shows reports on a bar."""
    task = shown.add_task("", total=None, detail="", visible=False)
    stages: list[str] = []

    def update(report: Progress) -> None:
        is_new = report.stage not in stages[-1:]
        if is_new:
            stages.append(report.stage)
        shown.update(
            task,
            description=stage_label(report),
            completed=report.done + report.part,
            total=report.total or None,
            detail=visible(report.detail),
            visible=True,
            refresh=is_new,
        )

    return update


def in_lines(stream: TextIO) -> OnProgress:
    """Return what writes each stage on a line, once."""
    stages: list[str] = []

    def update(report: Progress) -> None:
        stage = stage_label(report)
        if stage not in stages:
            stages.append(stage)
            stream.write(for_stream(f"{stage} ...", stream) + "\n")

    return update
