"""A second count of a statement's rows, by other means than those that read them.

It knows quotes, comments and parentheses, and nothing of values. What was read has to agree.
"""

import re

_EVENT = re.compile(r"['\"`;()#]|--|/\*(?!M?!)|[^\W\d]\w*")
_ROW_WORDS = frozenset(("ROW", "VALUES"))
_BACKSLASHED = re.compile(r"\\.", re.DOTALL)
_GROUP = re.compile(r"\([^()]*\)")
_BETWEEN_ROWS = re.compile(r"(?:[\s,;]|ROW\b)*", re.IGNORECASE)
_ENDS = re.compile(r";|\s*(?:\Z|(?:GO|INSERT|SET|CREATE|ALTER|DROP)\b)", re.IGNORECASE)
"""What stands behind a statement."""


def count_rows(text: str, start: int, end: int, *, backslash: bool) -> int:
    """Return how many rows in parentheses stand from an offset on, up to the semicolon.

    ``end`` is where a reader took them to end; they may go on. ``backslash`` says that a backslash
    escapes in every text.
    """
    body = text[start:end]
    if _ENDS.match(text, end) and (backslash or "\\" not in body):
        plain = _BACKSLASHED.sub("", body) if "\\" in body else body
        outside = "".join(plain.split("'")[::2])
        between, groups = _GROUP.subn("", outside)
        if '"' not in outside and plain.count("'") % 2 == 0 and _BETWEEN_ROWS.fullmatch(between):
            return groups
    return _counted(text, start, backslash=backslash)


def _counted(text: str, start: int, *, backslash: bool) -> int:
    """Return the rows from an offset on, sign by sign."""
    depth = groups = 0
    position = start
    while event := _EVENT.search(text, position):
        sign, position = event.group(), event.end()
        match sign:
            case "'" | '"' | "`":
                begins = text[max(start, position - 3) : position - 1]
                is_escaped = backslash or (sign == "'" and re.search(r"(?:^|\W)[eE]$", begins))
                is_escaped = is_escaped and sign != "`"
                position = _end_of_quote(text, position, sign, is_escaped=bool(is_escaped))
            case "--" | "#":
                position = _after(text, "\n", position)
            case "/*":
                position = _after(text, "*/", position)
            case "(":
                groups += depth == 0
                depth += 1
            case ")":
                depth -= 1
            case ";" if depth <= 0:
                break
            case _ if depth == 0 and sign[0].isalpha() and sign.upper() not in _ROW_WORDS:
                break
    return groups


def _after(text: str, mark: str, position: int) -> int:
    found = text.find(mark, position)
    return len(text) if found < 0 else found + len(mark)


def _end_of_quote(text: str, position: int, quote: str, *, is_escaped: bool) -> int:
    """Return the offset after a quoted text whose first character is at ``position``."""
    while (found := text.find(quote, position)) >= 0:
        slashes = len(text[position:found]) - len(text[position:found].rstrip("\\"))
        if is_escaped and slashes % 2:
            position = found + 1
        elif text.startswith(quote, found + 1):
            position = found + 2
        else:
            return found + 1
    return len(text)
