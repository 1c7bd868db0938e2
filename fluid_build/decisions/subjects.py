"""What a decision is about: of two about the same, the later one wins."""

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    Describe,
    Domain,
    DropRelationship,
    Owner,
    ProductName,
    Rename,
    Split,
)


def subject(decision: AnyDecision) -> tuple[object, ...]:
    """Return what a decision is about, equal for two decisions that can't both apply."""
    match decision:
        case AddRelationship() | DropRelationship():
            columns = sorted(zip(decision.from_columns, decision.to_columns, strict=True))
            return ("relationship", decision.from_table, decision.to_table, tuple(columns))
        case Rename() | Describe():
            return (decision.decision, decision.table, decision.column, decision.element)
        case Domain() | Owner() | ProductName():
            return (decision.decision,)
        case Split():
            return (decision.decision, decision.table, decision.entity)
        case _:
            return (decision.decision, decision.table, getattr(decision, "column", None))
