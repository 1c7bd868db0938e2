"""Markdown in which a stranger's text is shown and never acts as markup.

Rules: CommonMark 0.31 and the GitHub extensions (tables, bare links, mentions).
"""

import re
from collections.abc import Sequence

# What means something in the middle of a line: markup, entities, mentions, maths, bare links.
_MARKUP = re.compile(
    r"[\\`*\[\]<>&|~$#@]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE
)


def text(value: str) -> str:
    """Return a stranger's text as prose within a line: markup is escaped."""
    return inline(" ".join(visible(value).split()))


def inline(value: str) -> str:
    """Return a piece of prose whose blanks at both ends count: markup is escaped."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", visible(value))


def code(value: str) -> str:
    """Return a stranger's name as code, also for the cell of a table."""
    if value and "`" not in value and not set("|\\<>&") & set(value) and value == value.strip():
        shown = visible(value)
        if shown == value:
            return f"`{value}`"
    return f"<code>{text(value) or '&#8203;'}</code>"


def codes(values: tuple[str, ...]) -> str:
    """Return several names as code, separated by commas."""
    return ", ".join(code(value) for value in values)


def fenced(content: str, language: str) -> str:
    """Return a block of code that its content can't end, without control characters."""
    content = "\n".join(map(visible, content.split("\n")))
    longest = max((len(run) for run in re.findall(r"`{3,}", content)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{content}\n{fence}"


def table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table of escaped cells; headings that end in ``#`` are of numbers."""
    names = [heading.rstrip("#") for heading in headings]
    rules = ["---:" if heading.endswith("#") else "---" for heading in headings]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rules, *rows))


def visible(value: str) -> str:
    """Return the text with control characters, and those that turn or hide text, spelled out."""
    return "".join(
        char if char.isprintable() or char == " " else f"\\u{ord(char):04x}" for char in value
    )
