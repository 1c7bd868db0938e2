"""What was declared or measured of an entity, as tests of the relation that holds it.

Known violations are allowed, so that a test only fails on new ones.
"""

from collections.abc import Iterator, Mapping, Sequence

from fluid_build.modeling.conceptual import ConceptualModel, Entity, EntityKey, Relationship
from fluid_build.modeling.identifiers import identifiers
from fluid_build.modeling.sql_names import SqlNames, fit
from fluid_build.profiling import checks
from fluid_build.profiling.profile import Evidence
from fluid_build.transform.plan.elements import BuildTest, Severity

_ROWS_FOR_A_CANDIDATE = 100
"""Rows from which on a candidate key is tested: among fewer, most columns are unique by chance."""

_SURE = 0.9
"""The confidence from which on a reference fails its test instead of warning; below it, a person
should look first."""


def evidence_tests(
    conceptual: ConceptualModel, names: SqlNames, models: Mapping[str, str]
) -> dict[str, tuple[BuildTest, ...]]:
    """For each entity the tests of its relation; ``models`` names the relation of each entity.

    In the order of completeness, uniqueness, accepted values, references. What only a sample shows
    warns at most.
    """
    references: dict[str, list[Relationship]] = {}
    for relationship in conceptual.relationships:
        references.setdefault(relationship.from_entity, []).append(relationship)
    return {
        entity.name: tuple(
            _of_sample(test)
            for test in (
                *_not_null(entity, names, models[entity.name]),
                *_unique(entity, names, models[entity.name]),
                *_accepted_values(entity, names, models[entity.name]),
                *_references(references.get(entity.name, ()), names, models),
            )
        )
        for entity in conceptual.entities
    }


def _of_sample(test: BuildTest) -> BuildTest:
    is_claim = test.evidence is not None and test.evidence.is_sampled
    if not is_claim or test.severity != "error":
        return test
    return test.model_copy(update={"severity": "warn"})


def _not_null(entity: Entity, names: SqlNames, model: str) -> Iterator[BuildTest]:
    primary = set(entity.primary_key.attributes) if entity.primary_key else set()
    for attribute in entity.attributes:
        if not attribute.required:
            continue
        column = names.column(entity.name, attribute.name)
        is_certain = attribute.evidence.origin == "declared" or attribute.name in primary
        yield BuildTest(
            name=fit(model, column, "not_null"),
            kind="not_null",
            columns=(column,),
            severity="error" if is_certain else "warn",
            evidence=attribute.evidence,
            reason=attribute.reason,
        )


def _unique(entity: Entity, names: SqlNames, model: str) -> Iterator[BuildTest]:
    keys = [
        key
        for key in entity.keys
        if key.kind != "candidate" or entity.rows >= _ROWS_FOR_A_CANDIDATE
    ]
    labels = identifiers(" ".join(key.attributes) for key in keys)
    for key in keys:
        yield BuildTest(
            name=fit(model, labels[" ".join(key.attributes)], "unique"),
            kind="unique",
            columns=names.columns_of(entity.name, key.attributes),
            severity=_key_severity(key),
            allowed=key.evidence.violations,
            evidence=key.evidence,
            key_kind=key.kind,
            reason=key.reason,
        )


def _key_severity(key: EntityKey) -> Severity:
    if key.kind == "candidate":
        return "info"
    return "error" if key.holds else "warn"


def _accepted_values(entity: Entity, names: SqlNames, model: str) -> Iterator[BuildTest]:
    for attribute in entity.attributes:
        if not attribute.accepted_values:
            continue
        column = names.column(entity.name, attribute.name)
        evidence = attribute.evidence
        filled = evidence.rows - evidence.nulls
        values = attribute.accepted_values
        part = " of a sample" if evidence.is_sampled else ""
        yield BuildTest(
            name=fit(model, column, "accepted_values"),
            kind="accepted_values",
            columns=(column,),
            values=values,
            severity="warn",
            evidence=Evidence(
                origin="measured",
                rows=filled,
                nulls=evidence.nulls,
                distinct=len(values),
                exact=not evidence.is_sampled,
                sample=evidence.sample,
                sample_of=evidence.sample_of,
                sql=checks.other_values(entity.sql, attribute.name, values),
            ),
            reason=f"{len(values)} values in {filled} rows{part}, each of them more than once.",
        )


def _references(
    references: Sequence[Relationship], names: SqlNames, models: Mapping[str, str]
) -> Iterator[BuildTest]:
    for relationship in references:
        if not is_promised(relationship):
            continue
        child = relationship.from_entity
        yield reference_test(
            relationship,
            name=fit(models[child], relationship.name, "reference"),
            columns=names.columns_of(child, relationship.from_attributes),
            to_model=models[relationship.to_entity],
            to_columns=names.columns_of(relationship.to_entity, relationship.to_attributes),
        )


def is_promised(relationship: Relationship) -> bool:
    """Whether a relationship is a promise: one that only follows from others isn't."""
    return not relationship.implied or relationship.origin == "declared"


def reference_promise(relationship: Relationship) -> str:
    """Return the name of what a relationship promises, in columns of the source."""
    columns, to_columns = (
        ", ".join(relationship.from_attributes),
        ", ".join(relationship.to_attributes),
    )
    return (
        f"reference {relationship.from_entity}({columns}) to {relationship.to_entity}({to_columns})"
    )


def reference_test(
    relationship: Relationship,
    *,
    name: str,
    columns: tuple[str, ...],
    to_model: str,
    to_columns: tuple[str, ...],
) -> BuildTest:
    """Return a relationship as a test of the relation with its columns, allowing known orphans."""
    evidence = relationship.evidence
    is_sure = relationship.origin == "declared" or relationship.confidence >= _SURE
    is_certain = is_sure and not evidence.orphans and not evidence.is_sampled
    return BuildTest(
        name=name,
        kind="relationships",
        columns=columns,
        to_model=to_model,
        to_columns=to_columns,
        severity="error" if is_certain else "warn",
        allowed=evidence.orphans,
        evidence=evidence.model_copy(update={"violations": evidence.orphans}),
        confidence=relationship.confidence,
        cardinality=relationship.cardinality,
        role=relationship.role,
        promise=reference_promise(relationship),
        reason=relationship.reason,
    )
