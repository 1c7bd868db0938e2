"""Quality rules of a built table: the tests of its build, as rules that can be run.

Every rule is a share of rows that must be reached (``operator`` >=). The label
``max-violations`` has the same limit as a whole number of rows, and ``sql``, where the claim is
about a table of the source, returns those rows there.
"""

from collections.abc import Mapping

from fluid_build.contract.evidence_labels import (
    Labels,
    evidence_labels,
    names_label,
    reference_labels,
    share,
)
from fluid_build.contract.fluid import DqRule
from fluid_build.contract.fluid.quality import DqRuleType
from fluid_build.profiling.profile import Evidence, ForeignKeyEvidence
from fluid_build.transform.plan.elements import EVERY_ROW, Build, BuildTest, TestKind

_TYPES: Mapping[TestKind, DqRuleType] = {
    "not_null": "completeness",
    "unique": "uniqueness",
    "accepted_values": "valid_values",
    "relationships": "accuracy",
}
_ENDINGS: Mapping[TestKind, str] = {
    "not_null": "not_null",
    "unique": "unique",
    "accepted_values": "accepted_values",
    "relationships": "reference",
}


def quality_rules(build: Build) -> list[DqRule]:
    """Return the rules of one table, in the order of its tests."""
    return [_rule(build, test) for test in build.tests]


def _rule(build: Build, test: BuildTest) -> DqRule:
    """Return a rule that the measured data passes: what already breaks it is allowed for."""
    evidence = test.evidence
    labels = _evidence(test, evidence) | _structure(test)
    if test.promise:
        labels["promise"] = test.promise
    if test.scope != EVERY_ROW:
        labels["scope"] = test.scope.model_dump_json(exclude_defaults=True)
    labels["violations"] = labels["max-violations"] = str(test.allowed)
    if len(test.columns) > 1:
        labels["columns"] = names_label(test.columns)
    rows = evidence.rows if evidence is not None else 0
    return DqRule(
        id=_id(build, test),
        type=_TYPES[test.kind],
        selector=", ".join(test.columns),
        threshold=share(rows - test.allowed, rows),
        operator=">=",
        severity=test.severity,
        description=test.reason or None,
        labels=labels,
    )


def _id(build: Build, test: BuildTest) -> str:
    ending = _ENDINGS[test.kind]
    middle = test.name.removeprefix(f"{build.name}_").removesuffix(f"_{ending}")
    return f"{build.name}.{middle}.{ending}"


def _evidence(test: BuildTest, evidence: Evidence | None) -> Labels:
    if evidence is None:
        return {"origin": "built"}
    if isinstance(evidence, ForeignKeyEvidence) and test.confidence is not None:
        return reference_labels(evidence, test.confidence)
    return evidence_labels(evidence)


def _structure(test: BuildTest) -> Labels:
    """Return what a rule compares with as labels, so that it's run without reading its SQL."""
    labels: Labels = {}
    if test.kind == "unique" and test.key_kind is not None:
        labels["key"] = test.key_kind
    if test.kind == "accepted_values":
        labels["accepted-values"] = names_label(test.values)
    if test.kind == "relationships" and test.to_model is not None:
        labels["rule"] = "reference" if test.is_join else "values"
        labels["to-table"] = test.to_model
        labels["to-columns"] = names_label(test.to_columns)
        if test.cardinality is not None:
            labels["cardinality"] = test.cardinality
    return labels
