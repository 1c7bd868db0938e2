"""What must be true of dimensions, facts and bridges, as tests of them."""

from fluid_build.modeling.conceptual import Entity
from fluid_build.transform.plan.construction_tests import not_null, reference, unique
from fluid_build.transform.plan.elements import BuildTest


def surrogate_key_tests(relation: str, key: str) -> tuple[BuildTest, ...]:
    """Return the tests that every row has a surrogate key of its own."""
    return (
        not_null(relation, key, "Every row has a surrogate key."),
        unique(relation, (key,), "A surrogate key identifies one row.", label=key),
    )


def reference_tests(
    relation: str, key: str, dimension: str, dimension_key: str, role: str = ""
) -> tuple[BuildTest, ...]:
    """Return the tests that every row refers to a member of a dimension."""
    reason = f"Every reference to {dimension} finds its member."
    return (
        not_null(relation, key, "A row that matches no member refers to the unknown member."),
        reference(relation, key, dimension, dimension_key, reason, role=role),
    )


def grain_tests(relation: str, columns: tuple[str, ...], entity: Entity) -> tuple[BuildTest, ...]:
    """Return the test of the grain: these columns identify a row, as the source's key does."""
    if not columns:
        return ()
    key = entity.primary_key
    test = unique(relation, columns, "The grain: these columns identify a row.", label="grain")
    return (
        test.model_copy(
            update={
                "severity": "error" if key is not None and key.holds else "warn",
                "evidence": key.evidence if key is not None else None,
            }
        ),
    )
