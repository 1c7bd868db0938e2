"""What must be true of a built relation, as tests of it."""

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.sql_names import fit
from fluid_build.transform.plan.construction_tests import not_null
from fluid_build.transform.plan.elements import BuildTest, Severity


def key_tests(relation: str, key: str) -> tuple[BuildTest, ...]:
    """A surrogate key is there, and names one row."""
    return (
        not_null(relation, key, "A surrogate key is made for every row."),
        BuildTest(
            name=fit(relation, key, "unique"),
            kind="unique",
            columns=(key,),
            key_kind="primary",
            reason="A surrogate key names one row.",
        ),
    )


def reference_tests(
    relation: str, key: str, dimension: str, to_column: str, role: str = ""
) -> tuple[BuildTest, ...]:
    """A key of a dimension is there, and the dimension has it."""
    return (
        not_null(relation, key, "What has no member refers to the unknown one."),
        BuildTest(
            name=fit(relation, key, "reference"),
            kind="relationships",
            columns=(key,),
            to_model=dimension,
            to_columns=(to_column,),
            confidence=1.0,
            cardinality="many-to-one",
            role=role,
            reason=f"Every key of {dimension} is one of its members.",
        ),
    )


def grain_test(relation: str, columns: tuple[str, ...], entity: Entity) -> tuple[BuildTest, ...]:
    """The grain: these columns identify a row, as the source's key does."""
    if not columns:
        return ()
    key = entity.primary_key
    severity: Severity = "error" if key is not None and key.holds else "warn"
    return (
        BuildTest(
            name=fit(relation, "grain", "unique"),
            kind="unique",
            columns=columns,
            severity=severity,
            evidence=key.evidence if key is not None else None,
            key_kind="primary",
            reason="The grain: one row for each.",
        ),
    )
