"""The rows that a quality rule is about, as its label ``scope`` says: a RowScope in JSON."""

from pydantic import ValidationError

from fluid_build.contract.fluid import DqRule
from fluid_build.sources.sql import literal, quote, quote_all
from fluid_build.transform.plan.elements import EVERY_ROW, RowScope

LABEL = "scope"
_RECENCY = "promised_recency"


def scope_of(rule: DqRule) -> RowScope | None:
    """Return a rule's scope, every row by default; None where its label can't be read."""
    text = (rule.labels or {}).get(LABEL)
    if text is None:
        return EVERY_ROW
    try:
        return RowScope.model_validate_json(text)
    except ValidationError:
        return None


def columns_of_scope(scope: RowScope) -> tuple[str, ...]:
    """Return every column that a scope reads."""
    history = (*scope.latest_of, scope.loaded, scope.deleted) if scope.latest_of else ()
    flags = (name for name in (scope.current, scope.gone) if name)
    return (*history, *flags, *scope.filled, *(name for name, _ in scope.other_than))


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
    conditions += [quote(scope.current)] if scope.current else []
    conditions += [f"NOT {quote(scope.gone)}"] if scope.gone else []
    if not conditions:
        return relation
    return f"(SELECT * FROM {relation} WHERE {' AND '.join(conditions)}) AS spoken_of"
