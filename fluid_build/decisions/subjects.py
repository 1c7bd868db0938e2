"""What a decision is about, and how to say it on a line."""

from collections.abc import Sequence

from fluid_build.decisions.language import (
    STAR_ROLES,
    AddRelationship,
    AnyDecision,
    BaseDecision,
    BusinessKey,
    Classify,
    Describe,
    Domain,
    DropRelationship,
    Exposure,
    Grain,
    Merge,
    OneTable,
    Owner,
    ProductName,
    Rename,
    Renamed,
    Separate,
    SetConventions,
    SetDelivery,
    SetKey,
    SetValidity,
    Split,
)


def subject(decision: AnyDecision) -> tuple[object, ...]:
    """Return what a decision is about; of two about the same, the later one wins."""
    match decision:
        case AddRelationship() | DropRelationship():
            columns = sorted(zip(decision.from_columns, decision.to_columns, strict=True))
            return ("relationship", decision.from_table, decision.to_table, tuple(columns))
        case Rename() | Describe():
            return (decision.decision, decision.table, decision.column, decision.element)
        case Domain() | Owner() | ProductName() | SetConventions():
            return (decision.decision,)
        case Exposure():
            return (decision.decision, decision.name)
        case Split():
            return (decision.decision, decision.table, decision.entity)
        case SetValidity():
            return (decision.decision, decision.table)
        case OneTable() | Separate():
            return ("parts", decision.table)
        case Classify():
            return (decision.decision, decision.table, decision.role in STAR_ROLES)
        case Renamed():
            return (decision.decision, decision.table, decision.column, decision.was)
        case _:
            return (decision.decision, decision.table, getattr(decision, "column", None))


def decision_line(decision: AnyDecision) -> str:
    """Return what a decision says on one line: ``set_key orders (order_no)``."""
    match decision:
        case AddRelationship() | DropRelationship():
            child = _columns_label(decision.from_table, decision.from_columns)
            parent = _columns_label(decision.to_table, decision.to_columns)
            return f"{decision.decision} {child} to {parent}"
        case Merge():
            rows = _columns_label(decision.table, decision.columns)
            into = _columns_label(decision.into_table, decision.into_columns)
            return f"merge {rows} into {into}"
        case Split():
            rows = _columns_label(decision.table, decision.columns)
            return f"split {rows} as {decision.entity}"
        case Renamed(table=table, column=column, was=was):
            verb = "renamed" if decision.is_renamed else "not renamed"
            return f"{verb} {was} to {table if column is None else f'{table}.{column}'}"
        case SetDelivery(deleted_column=str(column)):
            values = ",".join(decision.deleted_values or ())
            mark = f"{column}={values}" if values else column
            return f"delivery {decision.table} {decision.delivers}, deleted where {mark}"
        case Exposure():
            return f"exposure {decision.name} of {', '.join(decision.models)}"
        case OneTable():
            return f"one_table {decision.table} of {', '.join(decision.parts)}"
        case SetKey() | BusinessKey() | Grain():
            return f"{decision.decision} {decision.table} ({', '.join(decision.columns)})"
        case SetConventions():
            parts = [name for name in ("prefixes", "columns", "hashing") if getattr(decision, name)]
            return " ".join(filter(None, ("conventions", decision.preset, *parts)))
        case _:
            hidden = {*BaseDecision.model_fields, "decision", "despite_violations"}
            fields = decision.model_dump(exclude=hidden, exclude_none=True)
            names = [str(fields.pop(name)) for name in ("table", "column") if name in fields]
            return " ".join(
                (
                    decision.decision,
                    *([".".join(names)] if names else ()),
                    *(_value_label(value) for value in fields.values()),
                )
            )


def _value_label(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _columns_label(table: str, columns: Sequence[str]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}.({', '.join(columns)})"
