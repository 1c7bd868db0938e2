"""Measures as decided: a decision overrules what names, values and rows suggest."""

from collections.abc import Mapping, Set

from fluid_build.decisions.language import Measure
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.element import Alternative
from fluid_build.modeling.measures.formula_evidence import TableMeasures
from fluid_build.modeling.measures.measure_role import (
    MeasureRole,
    additive,
    non_additive,
    semi_additive,
)
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.profile import Profile

_ROLES = {"additive": additive, "semi-additive": semi_additive, "non-additive": non_additive}
NO_MEASURE = Alternative(choice="a plain attribute", reason="nothing shows that it's a quantity")


def with_decided(
    profile: Profile,
    measures: Mapping[str, TableMeasures],
    key_columns: Mapping[str, Set[str]],
    decisions: Mapping[tuple[str, str], Measure],
) -> Mapping[str, TableMeasures]:
    """Return the measures of each table as decided, by table and column.

    A column that isn't numeric, or is part of a key or reference, can't be made a measure.
    """
    if not decisions:
        return measures
    numbers = {
        (table.name, column.name)
        for table in profile.tables
        for column in table.columns
        if column.name not in key_columns[table.name]
        and family(column_type(column)) in {"integer", "decimal", "float"}
    }
    decided = {table: dict(roles) for table, roles in measures.items()}
    for (table, column), decision in decisions.items():
        if decision.additivity == "none":
            decided.get(table, {}).pop(column, None)
        elif (table, column) in numbers:
            decided[table][column] = _role(decision, decided[table].get(column))
    return decided


def _role(decision: Measure, suggested: MeasureRole | None) -> MeasureRole:
    """Return the decided role; what we'd have chosen is among its alternatives."""
    sentence = decided_reason(decision)
    reason = (sentence[0].lower() + sentence[1:]).rstrip(".")
    if suggested is None:
        return _ROLES[decision.additivity](reason, NO_MEASURE)
    if suggested.additivity == decision.additivity:
        return suggested.model_copy(update={"reason": f"{reason}; {suggested.reason}"})
    article = "an" if suggested.additivity == "additive" else "a"
    return _ROLES[decision.additivity](
        reason,
        Alternative(choice=f"{article} {suggested.additivity} measure", reason=suggested.reason),
    )
