"""SQL wrapped for a screen into lines that are still the same query when they are copied."""

import re
from itertools import pairwise

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
