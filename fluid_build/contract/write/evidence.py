"""What a contract's promises rest on: the evidence, by the ids of its rules and columns.

It changes with the rows of each night, and the contract doesn't: so they're two files.
"""

from fluid_build.contract.write.exposes import Measured, rule_id, type_reason, whole_table
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.profiling.profile import ColumnProfile, Profile
from fluid_build.transform.plan.elements import Build, BuildTest, PlanColumn, TransformPlan

EVIDENCE_FILE = "evidence.json"


def evidence_document(profile: Profile, plan: TransformPlan) -> JsonObject:
    """Return the evidence of a contract, and which promises of the source it doesn't state.

    Rules are by their id, columns as ``expose.column``, and tables by their expose.
    """
    measured = Measured.of(profile)
    return {
        "version": 1,
        "tables": {build.name: _of_table(build, measured) for build in plan.published},
        "columns": {
            f"{build.name}.{column.name}": found
            for build in plan.published
            for column in build.columns
            if (found := _of_column(column, measured))
        },
        "rules": {
            rule_id(build, test): _of_rule(test) for build in plan.published for test in build.tests
        },
        "not_stated": {each.promise: each.reason for each in plan.unstated},
    }


def _of_table(build: Build, measured: Measured) -> JsonObject:
    table = whole_table(build, measured)
    if table is None:
        return _said(reason=build.reason)
    return _said(
        reason=build.reason,
        rows=table.rows if measured.has_data else None,
        key_origin=table.primary_key_origin,
        key_reason=table.primary_key_reason,
        notes=list(table.notes),
    )


def _of_column(column: PlanColumn, measured: Measured) -> JsonObject:
    """Return why a column is added up as it is, and what was measured of its one source column."""
    measure = _said(measure_reason=column.measure.reason if column.measure else "")
    if len(column.source_columns) != 1:
        return measure
    (origin,) = column.source_columns
    found = measured.column(origin)
    figures = _said(nulls=found.nulls, distinct=found.distinct, exact=found.distinct_exact)
    return {
        "source": f"{origin.table}.{origin.column}",
        "origin": "declared" if not measured.has_data or _is_declared(found) else "measured",
        **(figures if measured.has_data else {}),
        **_said(
            source_type=found.declared_type or found.type,
            type_reason=type_reason(found),
            semantic_reason=found.semantic_reason if found.semantic_type is not None else "",
            notes=list(found.notes),
        ),
        **measure,
    }


def _is_declared(column: ColumnProfile) -> bool:
    return not column.nullable and not column.nulls


def _of_rule(test: BuildTest) -> JsonObject:
    """Return where a claim comes from, its figures, and the query that returns what breaks it."""
    evidence = test.evidence
    found = evidence.model_dump(mode="json", exclude_none=True) if evidence else {}
    return {
        "origin": "built",
        **found,
        **_said(confidence=test.confidence, promise=test.promise, reason=test.reason),
    }


def _said(**values: JsonValue) -> JsonObject:
    """Return values without those that say nothing."""
    return {key: value for key, value in values.items() if value not in (None, "", [])}
