"""Prose wrapped between words only: one that is longer than a line has a line of its own."""

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

_WORD = re.compile(r"\S+\s*")


def wrapped(prose: Text, width: int) -> Iterator[Text]:
    """Yield the lines of a text; the terminal wraps those that a long word makes too long."""
    if prose.no_wrap:
        yield prose
        return
    for paragraph in prose.split(allow_blank=True):
        for line in paragraph.divide(_breaks(paragraph.plain, width)):
            line.rstrip()
            yield line


def _breaks(line: str, width: int) -> Iterator[int]:
    """Yield where a line is broken: before each word that has no room in front of it."""
    start = 0
    for word in _WORD.finditer(line):
        if word.start() > start and cell_len(line[start : word.end()].rstrip()) > width:
            start = word.start()
            yield start
