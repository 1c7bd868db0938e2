"""Levels of a member that events change: the balance of an account, a stock, a salary."""

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.dimensional.column_purposes import kind
from fluid_build.profiling.names.words import singular, words

_CREDIT_LIMIT = frozenset({"credit", "limit"})
"""What is granted at a time, though a limit of something else isn't a level."""


def is_level(attribute: Attribute) -> bool:
    """Return whether a column holds a level that events change: a balance, a stock, a salary.

    A size isn't one, such as a population: it describes. Nor is a running total.
    """
    if attribute.measure is None or attribute.evidence.distinct == 1:
        return False
    parts = {singular(word) for word in words(attribute.name)}
    if attribute.measure.additivity != "semi-additive":
        return parts >= _CREDIT_LIMIT
    return (
        not parts & terms("size") and not parts & terms("bound") and not is_running_total(attribute)
    )


def is_running_total(attribute: Attribute) -> bool:
    """Return whether a number is added up over all events so far."""
    if kind(attribute) not in {"integer", "decimal", "float"}:
        return False
    return bool(terms("running", "cumulative") & set(words(attribute.name)))
