"""How the SQL of a plan is laid out: select lists, queries, joins, nested relations."""

import re
from collections.abc import Iterable, Sequence

Column = str | tuple[str, str]
"""A column to select: an expression as it is, or an expression and the name to give it."""

_INDENT = "    "
_LINE_BREAK = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|\n""")
"""A quoted text or name is matched as a whole: a line break inside it is part of a value."""
LINE_WIDTH = 100
"""The longest line of a model: sqlfluff's and dbt's style guides ask for 80 to 100."""
_JINJA = r"\{\{.*?\}\}|\{%.*?%\}"
_PIECE = {
    is_escape: re.compile(
        rf"""{_JINJA}|{text}|"(?:[^"]|"")*"|`[^`]*`|\n|[(),]|[ ]+|[^\s(),'"`{{]+|.""", re.DOTALL
    )
    for is_escape, text in ((False, r"'(?:[^']|'')*'"), (True, r"'(?:[^'\\]|\\.|'')*'"))
}
"""What no line is broken in, by whether a backslash escapes in a text."""


def indent(sql: str) -> str:
    """Return SQL moved to the right; line breaks inside of texts and quoted names stay."""
    if "\n" not in sql or ("'" not in sql and '"' not in sql):
        return _INDENT + sql.replace("\n", f"\n{_INDENT}")
    return _INDENT + _LINE_BREAK.sub(lambda match: match[1] or f"\n{_INDENT}", sql)


def select_list(columns: Iterable[Column]) -> str:
    """Return columns one a line; a name is only given where the expression hasn't got it."""
    return ",\n".join(indent(_column(column)) for column in columns)


def _column(column: Column) -> str:
    if isinstance(column, str):
        return column
    expression, name = column
    return expression if expression.rpartition(".")[2] == name else f"{expression} AS {name}"


def query(
    columns: Iterable[Column],
    relation: str,
    *joins: str,
    where: Sequence[str] = (),
    group_by: Sequence[str] = (),
    distinct: bool = False,
) -> str:
    """Return a SELECT from a relation and what is joined to it; all conditions must hold."""
    lines = ["SELECT DISTINCT" if distinct else "SELECT", select_list(columns), f"FROM {relation}"]
    lines += joins
    if where:
        lines.append(f"WHERE\n{conditions(where)}")
    if group_by:
        lines.append(f"GROUP BY {', '.join(group_by)}")
    return "\n".join(lines)


def conditions(parts: Sequence[str], operator: str = "AND") -> str:
    """Return conditions one a line, indented."""
    return indent(f"\n{operator} ".join(parts))


def join(kind: str, relation: str, alias: str, on: Sequence[str]) -> str:
    """Return a join clause; ``relation`` is a name or a query in parentheses."""
    return f"{kind} {relation} AS {alias}\n    ON " + "\n    AND ".join(on)


def nested(sql: str) -> str:
    """Return a query in parentheses, to be read as a relation."""
    return f"(\n{indent(sql)}\n)"


def exists(relation: str, where: Sequence[str]) -> str:
    """Return the condition that a relation has such a row."""
    return f"EXISTS {nested(query(['1'], relation, where=where))}"


def with_ctes(ctes: Iterable[tuple[str, str]], sql: str) -> str:
    """Return a query after the common table expressions that it reads, by name and query."""
    return "WITH " + ",\n".join(f"{name} AS {nested(cte)}" for name, cte in ctes) + f"\n{sql}"


def union_all(*queries: str) -> str:
    """Return the rows of all queries."""
    return "\nUNION ALL\n".join(queries)


def as_text(expression: str, type_: str) -> str:
    """Return a value as text."""
    return expression if type_ == "VARCHAR" else f"CAST({expression} AS VARCHAR)"


def within_width(sql: str, *, backslashes: bool = False, width: int = LINE_WIDTH) -> str:
    """Return SQL in lines no longer than a model's or ``width``, where they can be broken.

    A long line is broken at the parentheses that hold the most of it, an argument a line, or else
    before a word. Texts, names and Jinja stay whole. ``backslashes`` escape in some dialects.
    """
    if all(len(line) <= width for line in sql.split("\n")):
        return sql
    lines: list[list[str]] = [[]]
    for piece in _PIECE[backslashes].findall(sql):
        if piece == "\n":
            lines.append([])
        else:
            lines[-1].append(piece)
    return "\n".join(broken for line in lines for broken in _broken(line, width))


def _broken(line: list[str], width: int) -> list[str]:
    """Return a line as lines that are short enough, as far as they can be."""
    text = "".join(line)
    if len(text) <= width:
        return [text]
    margin = line[0] if line and line[0].isspace() else ""
    if (group := _widest_group(line)) is not None:
        start, end = group
        arguments = _split(line[start + 1 : end])
        inner = f"{margin}{_INDENT}"
        head = _broken(line[: start + 1], width)
        body = [part for argument in arguments for part in _broken([inner, *argument], width)]
        return [*head, *body, *_broken([*([margin] if margin else []), *line[end:]], width)]
    return _filled_lines(line, margin, width)


def _widest_group(line: list[str]) -> tuple[int, int] | None:
    """Return where the longest parentheses of a line open and close, if there are any to break."""
    opened: list[int] = []
    groups: list[tuple[int, int]] = []
    for place, piece in enumerate(line):
        if piece == "(":
            opened.append(place)
        elif piece == ")" and opened:
            groups.append((opened.pop(), place))
    wide = [group for group in groups if group[1] - group[0] > 1]
    return max(wide, key=lambda group: len("".join(line[group[0] : group[1]])), default=None)


def _split(pieces: list[str]) -> list[list[str]]:
    """Return the arguments in parentheses, each with the comma that follows it."""
    arguments: list[list[str]] = [[]]
    depth = 0
    for piece in pieces:
        depth += (piece == "(") - (piece == ")")
        if arguments[-1] or not piece.isspace():
            arguments[-1].append(piece)
        if piece == "," and depth == 0:
            arguments.append([])
    while arguments[-1] and arguments[-1][-1].isspace():
        arguments[-1].pop()
    return [argument for argument in arguments if argument]


def _filled_lines(line: list[str], margin: str, width: int) -> list[str]:
    """Return a line broken at its spaces; what follows the first is indented more."""
    lines = [""]
    for piece in line:
        is_long = len(lines[-1]) + len(piece) > width
        if is_long and lines[-1].strip() and lines[-1][-1].isspace():
            lines[-1] = lines[-1].rstrip()
            lines.append(f"{margin}{_INDENT}")
        lines[-1] += piece
    return [text.rstrip() for text in lines]
