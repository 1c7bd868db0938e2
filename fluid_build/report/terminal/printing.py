"""Printing a screen on stdout, so that names, commands and queries stay whole when copied."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.text import Text

from fluid_build.report.terminal.screen_parts import NO_BREAK, Copyable, Part, Query, text
from fluid_build.report.terminal.sql_lines import sql_lines

_NARROWEST = 40
"""In fewer columns tables fall apart; the terminal may wrap their lines instead."""

# Blanks fill the cells of a table; a terminal that wraps such a line would go on with blank ones.
_TRAILING_BLANKS = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
_WORD = re.compile(r"\S+\s*")
_UNBOUNDED = 1_000_000


def console(stream: TextIO) -> Console:
    """Return a console that takes no text for markup, and colours nothing by guessing.

    Width, colour and ``NO_COLOR`` are the terminal's; elsewhere there is no colour.
    """
    plain = Console(file=stream, highlight=False, markup=False, emoji=False)
    plain.width = max(plain.width, _NARROWEST)
    return plain


def show(parts: Iterable[Part], stream: TextIO | None = None) -> None:
    """Print on stdout: as wide as the terminal, or ``COLUMNS``; elsewhere nothing is wrapped."""
    stream = stream or sys.stdout
    out = console(stream)
    width = out.width if out.is_terminal or os.environ.get("COLUMNS") else None
    with out.capture() as captured:
        for part in parts:
            _print(out, part, width)
    for line in captured.get().splitlines():
        line = line.replace(NO_BREAK, " ")
        stream.write(_TRAILING_BLANKS.sub(_without_blanks, line) + "\n")


def _without_blanks(trailing: re.Match[str]) -> str:
    """Return what is left of a line's end: only the codes that switch colours off."""
    return trailing[0].replace(" ", "")


def _print(out: Console, part: Part, width: int | None) -> None:
    """Print a part, wrapped to the width.

    A name or word that needs more has a line of its own, or its table is as wide as it needs to
    be. Then the terminal wraps it, so that it's still one name when it is copied.
    """
    if isinstance(part, Copyable):
        out.print(Text.assemble(" " * part.indent, text(part.content, part.style)), soft_wrap=True)
        return
    if isinstance(part, Query):
        for line in sql_lines(part.sql, width and width - part.indent):
            out.print(Text.assemble(" " * part.indent, text(line, "dim")), soft_wrap=True)
        return
    room = Measurement.get(out, out.options.update(width=_UNBOUNDED), part)
    if width is not None and room.minimum > width:
        prose, indent = (part.renderable, part.left) if isinstance(part, Padding) else (part, 0)
        if isinstance(prose, Text):
            _print_around_long_words(out, prose, indent, width)
            return
        width = None
    out.width = width or max(room.maximum, 1)
    out.print(part)


def _print_around_long_words(out: Console, prose: Text, indent: int, width: int) -> None:
    for paragraph in prose.split(allow_blank=True):
        for line in paragraph.divide(_breaks(paragraph.plain, width - indent)):
            out.print(Text.assemble(" " * indent, line), soft_wrap=True)


def _breaks(line: str, width: int) -> Iterator[int]:
    """Yield where a line is broken: before each word that has no room in front of it."""
    start = 0
    for word in _WORD.finditer(line):
        if word.start() > start and cell_len(line[start : word.end()].rstrip()) > width:
            start = word.start()
            yield start
