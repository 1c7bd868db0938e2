"""Printing a screen on stdout, so that names, commands and queries stay whole when copied."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TextIO

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.text import Text

from fluid_build.report.terminal.screen_parts import NO_BREAK, Copyable, Part, Query, text
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.report.terminal.wrapping import wrapped

# SQL wrapped for a screen into lines that are still the same query when they are copied.

_WORD = re.compile(r"""(?:"(?:[^"]|"")*"|'(?:[^']|'')*'|[^\s"']|["'])+""")
_CLAUSES = frozenset({"LEFT", "JOIN", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"})
_JOINS = frozenset({"LEFT"})


def sql_lines(sql: str, width: int | None) -> list[str]:
    """Return a query with a semicolon, on one line where it fits or the width is None.

    Otherwise each clause starts a line. Lines are broken only between words, and never inside
    quotes, so a long name may make a line wider than ``width``.
    """
    words = _WORD.findall(sql.strip().removesuffix(";"))
    if not words:
        return []
    words[-1] += ";"
    if width is None or len(" ".join(words)) <= width:
        return [" ".join(words)]
    lines = [words[0]]
    for before, word in pairwise(words):
        starts_clause = word in _CLAUSES and before not in _JOINS
        if starts_clause or len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}"
    return lines


_NARROWEST = 40
"""In fewer columns tables fall apart; the terminal may wrap their lines instead."""

# Blanks fill the cells of a table; a terminal that wraps such a line would go on with blank ones.
_TRAILING_BLANKS = re.compile(r"(?: |\x1b\[[0-9;]*m)+$")
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

    A name or word that needs more has a line of its own. Then the terminal wraps it, so that it's
    still one name when it is copied.
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
        lines = _narrow_lines(prose, out, width - indent)
        if lines is not None:
            for prose_line in lines:
                out.print(Text.assemble(" " * indent, prose_line), soft_wrap=True)
            return
        width = None
    out.width = width or max(room.maximum, 1)
    out.print(part)


def _narrow_lines(part: RenderableType, out: Console, width: int) -> Iterator[Text] | None:
    """Return the lines of a part that has a word with too little room; None if it has no words."""
    if isinstance(part, Text):
        return wrapped(part, width)
    return part.stacked(out, width) if isinstance(part, Grid) else None
