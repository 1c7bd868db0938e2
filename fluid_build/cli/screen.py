"""How a command talks: results on stdout, everything else on stderr."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, TypeAlias

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars
from rich.text import Text

from fluid_build.cli.sql_lines import sql_lines
from fluid_build.cli.text import for_stream, visible
from fluid_build.progress import OnProgress, Progress

_STAGES = {
    "reading": "Reading tables",
    "columns": "Measuring columns",
    "keys": "Finding keys",
    "relations": "Finding relationships",
    "model": "Modelling",
    "contract": "Writing the contract",
    "build": "Building the model",
    "prove": "Comparing it with the source",
    "dbt": "Running dbt",
    "project": "Writing the dbt project",
    "write": "Writing files",
}
_NARROWEST = 40
_MOST_LISTED = 12
# What fills the cells of a table; a line that the terminal wraps would go on with blank ones.
_TRAILING_BLANKS = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
_UNBOUNDED = 1_000_000


@dataclass(frozen=True, slots=True)
class Copyable:
    """A line to be copied, such as a command: it is never wrapped or cut, however long it is."""

    content: str
    style: str = "green"
    indent: int = 2


@dataclass(frozen=True, slots=True)
class Query:
    """SQL to be copied: it is wrapped where that changes nothing, and ends in a semicolon."""

    sql: str
    indent: int = 4


Part: TypeAlias = RenderableType | Copyable | Query


def console(stream: TextIO) -> Console:
    """A console that takes no text for markup, and colours nothing by guessing.

    Width, colour and ``NO_COLOR`` are the terminal's; elsewhere there is no colour.
    """
    made = Console(file=stream, highlight=False, markup=False, emoji=False)
    made.width = max(made.width, _NARROWEST)
    return made


def text(content: str, style: str = "") -> Text:
    """Text as it may be shown: what comes from data is escaped and never acts on the terminal."""
    return Text(for_stream(visible(content), sys.stdout), style=style, overflow="fold")


def name(content: str, style: str = "") -> Text:
    """A name, which may not be wrapped at its blanks either."""
    made = text(content, style)
    made.no_wrap = True
    return made


def heading(title: str, remark: str = "") -> Text:
    """A section's title, and a remark beside it."""
    return Text.assemble("\n", text(title, "bold"), "  " if remark else "", text(remark, "dim"))


def show(parts: Iterable[Part]) -> None:
    """Print on stdout: as wide as the terminal, or ``COLUMNS``; elsewhere nothing is wrapped."""
    out = console(sys.stdout)
    width = out.width if out.is_terminal or os.environ.get("COLUMNS") else None
    with out.capture() as captured:
        for part in parts:
            _print(out, part, width)
    for line in captured.get().splitlines():
        sys.stdout.write(_TRAILING_BLANKS.sub(_without_blanks, line) + "\n")


def _without_blanks(trailing: re.Match[str]) -> str:
    """What is left of a line's end: nothing but the codes that switch colours off."""
    return trailing[0].replace(" ", "")


def _print(out: Console, part: Part, width: int | None) -> None:
    """Print a part, wrapped to the width unless a name or word of it needs more than that.

    Then the terminal wraps its lines, so that the name is still one when it is copied.
    """
    if isinstance(part, Copyable):
        out.print(Text.assemble(" " * part.indent, text(part.content, part.style)), soft_wrap=True)
        return
    if isinstance(part, Query):
        for line in sql_lines(part.sql, width and width - part.indent):
            out.print(Text.assemble(" " * part.indent, text(line, "dim")), soft_wrap=True)
        return
    room = Measurement.get(out, out.options.update(width=_UNBOUNDED), part)
    if width is None or room.minimum > width:
        width = max(room.maximum, 1)
    out.width = width
    out.print(part)


def show_json(document: Mapping[str, object]) -> None:
    """Print a document on stdout; pure ASCII, so that no encoding can spoil it."""
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


def tell(message: str) -> None:
    """Print a line on stderr."""
    sys.stderr.write(for_stream(visible(message), sys.stderr) + "\n")


def ask(question: str) -> None:
    """Print a question on stderr; the answer follows on the same line."""
    sys.stderr.write(for_stream(visible(question), sys.stderr))
    sys.stderr.flush()


@contextmanager
def progress() -> Iterator[OnProgress]:
    """Show how far the work is: a bar that goes away on a terminal, a line a stage elsewhere."""
    if sys.stderr.isatty():
        with _bars() as bars:
            yield _on_bars(bars)
    else:
        yield _in_lines()


def _bars() -> Bars:
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
        console=console(sys.stderr),
        transient=True,
    )


def _on_bars(bars: Bars) -> OnProgress:
    task = bars.add_task("", total=None, detail="", visible=False)
    stages: list[str] = []

    def update(report: Progress) -> None:
        is_new = report.stage not in stages[-1:]
        if is_new:
            stages.append(report.stage)
        bars.update(
            task,
            description=_stage(report),
            completed=report.done + report.part,
            total=report.total or None,
            detail=visible(report.detail),
            visible=True,
            refresh=is_new,
        )

    return update


def _in_lines() -> OnProgress:
    told: list[str] = []

    def update(report: Progress) -> None:
        stage = _stage(report)
        if stage not in told:
            told.append(stage)
            tell(f"{stage} ...")

    return update


def _stage(report: Progress) -> str:
    return visible(_STAGES.get(report.stage, report.stage.capitalize()))


def listed(lines: Sequence[str], style: str) -> Iterator[Part]:
    """The first of several lines, indented, and how many more there are."""
    for line in lines[:_MOST_LISTED]:
        yield Padding(text(line, style), (0, 0, 0, 2))
    if len(lines) > _MOST_LISTED:
        yield Padding(text(f"and {len(lines) - _MOST_LISTED:,} more", "dim"), (0, 0, 0, 2))


def folder_name(folder: Path) -> str:
    """The folder as it was named, or by its own name where that is only a way up, as ``..``."""
    return str(folder) if folder.name not in ("", "..") else folder.resolve().name
