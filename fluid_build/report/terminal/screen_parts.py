"""What a screen is made of: text that is safe to show, headings, lists, commands and queries."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.report.terminal.visible_text import for_stream, visible

NO_BREAK = "\ufdd0"
"""Stands for a blank that lines aren't broken at, until the screen is printed. No text has this
character: Unicode reserves it for programs."""

_QUOTED_COMMAND = re.compile(r"`[^`]{0,200}\bfluid(?:_build\.cli\.main)?'? [^`]{0,200}`")
_MOST_LINES = 12
"""A screen shows a list in full up to here, about half the height of a terminal."""


@dataclass(frozen=True, slots=True)
class Copyable:
    """A line to be copied, such as a command: never wrapped or cut, however long it is."""

    content: str
    style: str = "green"
    indent: int = 2


@dataclass(frozen=True, slots=True)
class Query:
    """SQL to be copied: wrapped where that changes nothing, and ended by a semicolon."""

    sql: str
    indent: int = 4


Part: TypeAlias = RenderableType | Copyable | Query


def text(content: str, style: str = "") -> Text:
    """Return text that may be shown: what comes from data is escaped, so it can't act.

    A command of ours in backticks isn't wrapped.
    """
    content = _QUOTED_COMMAND.sub(lambda command: whole(command[0]), content)
    return Text(for_stream(visible(content), sys.stdout), style=style, overflow="fold")


def whole(name: object) -> str:
    """Return a path or command to put into a sentence, which then isn't wrapped inside it."""
    return str(name).replace(" ", NO_BREAK)


def unbroken(content: str, style: str = "") -> Text:
    """Return a name, which is not wrapped at its blanks either."""
    name = text(content, style)
    name.no_wrap = True
    return name


def heading(title: str, remark: str = "") -> Text:
    """Return a section's title, after an empty line, and a remark next to it."""
    return Text.assemble("\n", text(title, "bold"), "  " if remark else "", text(remark, "dim"))


def first_line(title: str, remark: str) -> Text:
    """Return the line that a screen starts with: what it is about, and its size or state."""
    return Text.assemble(text(title, "bold"), "  ", text(remark, "dim"))


def indented(part: RenderableType | str, style: str = "", *, by: int = 2) -> Padding:
    """Return a part, or text in a style, indented."""
    return Padding(text(part, style) if isinstance(part, str) else part, (0, 0, 0, by))


def lines(contents: Sequence[str], style: str = "", *, most: int = _MOST_LINES) -> Iterator[Part]:
    """Yield the first of several lines, indented, and how many more there are."""
    yield from (indented(content, style) for content in contents[:most])
    yield from more(len(contents) - most)


def more(count: int, remark: str = "") -> Iterator[Part]:
    """Yield a line that says how many are left out; nothing where none is."""
    if count > 0:
        yield indented(f"and {count:,} more{remark}", "dim")


def folder_label(folder: Path) -> str:
    """Return a folder as it was named, or its own name where that is only a way up, as ``..``."""
    return whole(folder if folder.name not in ("", "..") else folder.resolve().name)
