"""SQL expressions from one dialect to another, where sqlglot is sure of them."""

import re

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

_VALUES = (exp.Condition, exp.WithinGroup, exp.Filter, exp.Interval)
"""The nodes that sqlglot makes of a value. Types, and statements in a row, are others."""
_TEMPLATE = re.compile(r"\{[{%#]")
"""How Jinja begins, which sqlglot would take for a struct."""
_APPROXIMATE = (exp.ApproxQuantile, exp.ApproxDistinct)
"""What sqlglot writes in place of an exact aggregate that it thinks a target lacks."""


def translate(expression: str, source: str, target: str) -> str | None:
    """Return the expression in the target's SQL, None where it isn't one or can't be written.

    Source and target are sqlglot's names of dialects.
    """
    if _TEMPLATE.search(expression):
        return None
    try:
        tree = _parsed(expression, source)
        text = tree.transform(_exact).sql(dialect=target, unsupported_level=ErrorLevel.RAISE)
        written = _parsed(text, target)
    except (SqlglotError, RecursionError):
        return None
    if written.find(*_APPROXIMATE) and not tree.find(*_APPROXIMATE):
        return None
    return text if isinstance(tree, _VALUES) else None


def _parsed(expression: str, dialect: str) -> exp.Expr:
    """Return the tree of one value; ParseError for a statement, a query, or several of them."""
    return sqlglot.parse_one(
        expression, read=dialect, into=exp.Condition, error_level=ErrorLevel.RAISE
    )


def _exact(node: exp.Expr) -> exp.Expr:
    """Rewrite what sqlglot would translate to something else.

    It writes Databricks' ``TRUNC`` for ``DATE_TRUNC``, which knows no unit below a day.
    """
    if isinstance(node, exp.DateTrunc):
        return exp.TimestampTrunc(this=node.this, unit=node.args.get("unit"))
    return node
