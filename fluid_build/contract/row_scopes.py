"""The rows that a quality rule is about, as its label ``scope`` says: a RowScope in JSON."""

from pydantic import ValidationError

from fluid_build.contract.fluid import DqRule
from fluid_build.transform.plan.elements import EVERY_ROW, RowScope

LABEL = "scope"


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
