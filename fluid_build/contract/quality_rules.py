"""Quality rules of a table: what was declared or measured to hold, as rules that can be run.

Every rule is a share of rows that must be reached (``operator`` >=). The label
``max-violations`` has the same limit as a whole number of rows, and ``sql`` returns those rows.
"""

from collections.abc import Iterator, Sequence

from fluid_build.contract.evidence_labels import (
    Labels,
    evidence_labels,
    names_label,
    reference_labels,
    share,
)
from fluid_build.contract.fluid import DqRule
from fluid_build.contract.fluid.quality import DqRuleType, DqSeverity
from fluid_build.modeling.accepted_values import accepted_values
from fluid_build.modeling.conceptual import Entity, EntityKey, Relationship
from fluid_build.modeling.naming import identifiers
from fluid_build.profiling import checks
from fluid_build.profiling.profile import Evidence, TableProfile

_ROWS_FOR_A_CANDIDATE = 100
_SURE = 0.9


def quality_rules(
    expose_id: str,
    entity: Entity,
    table: TableProfile,
    references: Sequence[Relationship],
    key_columns: set[str],
) -> list[DqRule]:
    """The rules of one table, in the order of completeness, uniqueness, values, references."""
    ids = {
        name: f"{expose_id}.{id_}"
        for name, id_ in identifiers(c.name for c in table.columns).items()
    }
    return [
        *_completeness(ids, entity),
        *_uniqueness(expose_id, entity),
        *_valid_values(ids, table, key_columns),
        *_references(expose_id, references),
    ]


def _completeness(ids: dict[str, str], entity: Entity) -> Iterator[DqRule]:
    primary = set(entity.primary_key.attributes) if entity.primary_key else set()
    for attribute in entity.attributes:
        if not attribute.required:
            continue
        evidence = attribute.evidence
        firm = evidence.origin == "declared" or attribute.name in primary
        yield _rule(
            f"{ids[attribute.name]}.not_null",
            "completeness",
            (attribute.name,),
            "error" if firm else "warn",
            evidence,
            attribute.reason,
        )


def _uniqueness(expose_id: str, entity: Entity) -> Iterator[DqRule]:
    keys = [key for key in entity.keys if key.kind != "candidate" or _is_telling(entity)]
    names = identifiers(names_label(key.attributes) for key in keys)
    for key in keys:
        yield _rule(
            f"{expose_id}.{names[names_label(key.attributes)]}.unique",
            "uniqueness",
            key.attributes,
            _key_severity(key),
            key.evidence,
            key.reason,
            {"key": key.kind},
        )


def _is_telling(entity: Entity) -> bool:
    """Whether the table has so many rows that a unique column is no accident."""
    return entity.rows >= _ROWS_FOR_A_CANDIDATE


def _key_severity(key: EntityKey) -> DqSeverity:
    if key.kind == "candidate":
        return "info"
    return "error" if key.holds else "warn"


def _valid_values(
    ids: dict[str, str], table: TableProfile, key_columns: set[str]
) -> Iterator[DqRule]:
    for column in table.columns:
        values = accepted_values(column, key_columns)
        if values is None:
            continue
        filled = column.rows - column.nulls
        evidence = Evidence(
            origin="measured",
            rows=filled,
            nulls=column.nulls,
            distinct=len(values),
            sql=checks.other_values(table.sql, column.name, values),
        )
        yield _rule(
            f"{ids[column.name]}.accepted_values",
            "valid_values",
            (column.name,),
            "warn",
            evidence,
            f"{len(values)} values in {filled} rows, none of them seen only once.",
            {"accepted-values": names_label(values)},
        )


def _references(expose_id: str, references: Sequence[Relationship]) -> Iterator[DqRule]:
    for relationship in references:
        if relationship.implied and relationship.origin != "declared":
            continue
        evidence = relationship.evidence
        sure = relationship.origin == "declared" or relationship.confidence >= _SURE
        yield _rule(
            f"{expose_id}.{relationship.name}.reference",
            "accuracy",
            relationship.from_attributes,
            "error" if sure and not evidence.orphans else "warn",
            evidence.model_copy(update={"violations": evidence.orphans}),
            relationship.reason,
            {
                **reference_labels(evidence, relationship.confidence),
                "rule": "reference",
                "to-table": relationship.to_entity,
                "to-columns": names_label(relationship.to_attributes),
                "cardinality": relationship.cardinality,
            },
        )


def _rule(
    id_: str,
    type_: DqRuleType,
    columns: tuple[str, ...],
    severity: DqSeverity,
    evidence: Evidence,
    description: str,
    more: Labels | None = None,
) -> DqRule:
    """A rule that the measured data passes: what already breaks it is allowed for."""
    labels = evidence_labels(evidence) | (more or {})
    labels["violations"] = labels["max-violations"] = str(evidence.violations)
    if len(columns) > 1:
        labels["columns"] = names_label(columns)
    return DqRule(
        id=id_,
        type=type_,
        selector=", ".join(columns),
        threshold=share(evidence.rows - evidence.violations, evidence.rows),
        operator=">=",
        severity=severity,
        description=description or None,
        labels=labels,
    )
