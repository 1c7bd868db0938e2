"""A UTF-8 copy of a text file that is in another encoding, or whose lines end in several ways."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from fluid_build.sources.text_values.encodings import UNKNOWN, Text, text_of

_LONGEST_QUOTED = 4 << 20
"""Characters. What is longer is no value, but follows a quote that nobody closed."""
_APART = "\udfff"
"""What no text has in it: half of a surrogate pair. It keeps pieces of text apart."""


@dataclass(frozen=True, slots=True)
class Quoting:
    """How values stand in quotes: between which delimiters, and how a quote in one is escaped."""

    delimiter: str
    escape: str

    def pattern(self) -> re.Pattern[str]:
        """Return a pattern for a value in quotes; one that ends with the text may go on."""
        end = f"[{re.escape(self.delimiter)}\\r\\n]"
        inner, cut = '[^"]*(?:""[^"]*)*', '"?'
        if self.escape == "\\":
            inner, cut = r'[^"\\]*(?:\\.[^"\\]*)*', r'["\\]?'
        # The engine looks for the quote first, which is far faster than to look behind everywhere.
        return re.compile(f'("(?<={end}"){inner}(?:"(?={end})|{cut}\\Z))', re.DOTALL)


def rewrite(
    path: Path, text: Text, folder: Path, quoting: Quoting | None = None
) -> tuple[Path, list[int]]:
    """Write a UTF-8 copy of a text file to a folder, in which all lines end alike.

    What stands in quotes is kept as it is; without ``quoting`` nothing does. Bytes that the
    encoding does not know become U+FFFD: the lines that have some are returned too.
    """
    copy = folder / f"text{sum(1 for _ in folder.iterdir())}.txt"
    replaced: list[int] = []
    line = 1
    blocks = _unmarked(text_of(path, text.encoding))
    if not text.marks.has_even_ends:
        blocks = _with_even_ends(blocks, quoting) if quoting else _even_blocks(blocks)
    with copy.open("w", encoding="utf-8", newline="") as target:
        for body in blocks:
            if UNKNOWN in body:
                replaced += _lines_with_unknown(body, line)
            line += body.count("\n")
            target.write(body)
    return copy, sorted(set(replaced))


def _with_even_ends(blocks: Iterator[str], quoting: Quoting) -> Iterator[str]:
    """Yield text with every line end a single ``\\n``, but for those in quotes."""
    quoted = quoting.pattern()
    before, rest = "\n", ""
    for block in chain(blocks, [None]):
        # The character before says whether a quote opens a value. Values in quotes are every other
        # piece, and the last of them ends with the text if nothing follows.
        pieces = quoted.split(before + rest + (block or ""))
        pieces[0] = pieces[0][1:]
        rest = ""
        if len(pieces) > 1 and not pieces[-1]:
            *pieces, last, _ = pieces
            if block is not None and len(last) < _LONGEST_QUOTED:
                rest = last
            elif len(last) > 1 and last.endswith('"'):
                pieces += [last, ""]
            else:
                pieces[-1] += last
        if block is not None and not rest and pieces[-1].endswith("\r"):
            # It may be half of a line end.
            pieces[-1], rest = pieces[-1][:-1], "\r"
        before = next((piece[-1] for piece in reversed(pieces) if piece), before)
        pieces[::2] = _even(_APART.join(pieces[::2])).split(_APART)
        yield "".join(pieces)


def _even_blocks(blocks: Iterator[str]) -> Iterator[str]:
    rest = ""
    for block in blocks:
        text = rest + block
        rest = "\r" if text.endswith("\r") else ""
        yield _even(text.removesuffix("\r"))
    yield _even(rest)


def _unmarked(blocks: Iterator[str]) -> Iterator[str]:
    """Yield text without a byte order mark before it."""
    yield next(blocks, "").removeprefix("\ufeff")
    yield from blocks


def _even(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _lines_with_unknown(text: str, first: int) -> Iterator[int]:
    return (i for i, line in enumerate(text.split("\n"), first) if UNKNOWN in line)
