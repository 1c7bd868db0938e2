"""The rows of a relation that a claim is about, as SQL."""

from fluid_build.sources.sql import literal, quote, quote_all
from fluid_build.transform.plan.elements import EVERY_ROW, RowScope

_RECENCY = "promised_recency"


def rows_in(relation: str, scope: RowScope) -> str:
    """Return SQL to follow FROM: the rows of a relation in a scope."""
    if scope == EVERY_ROW:
        return relation
    if scope.latest_of:
        relation = (
            f"(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY"
            f" {quote_all(scope.latest_of)} ORDER BY {quote(scope.loaded)} DESC)"
            f" AS {quote(_RECENCY)} FROM {relation}) AS history WHERE {quote(_RECENCY)} = 1"
            f" AND NOT {quote(scope.deleted)}) AS latest"
        )
    conditions = [f"{quote(name)} IS NOT NULL" for name in scope.filled]
    conditions += [f"{quote(name)} <> {literal(value)}" for name, value in scope.other_than]
    conditions += [f"{quote(scope.blank)} IS NULL"] if scope.blank else []
    conditions += [quote(scope.current)] if scope.current else []
    conditions += [f"NOT {quote(scope.gone)}"] if scope.gone else []
    if not conditions:
        return relation
    return f"(SELECT * FROM {relation} WHERE {' AND '.join(conditions)}) AS spoken_of"
