"""How the SQL of a plan is laid out: select lists, queries, joins, nested relations."""

import re
from collections.abc import Iterable, Sequence

Column = str | tuple[str, str]
"""A column to select: an expression as it is, or an expression and the name to give it."""

_INDENT = "    "
_LINE_BREAK = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|\n""")
"""A quoted text or name is matched as a whole: a line break inside it is part of a value."""


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
