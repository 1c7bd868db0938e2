"""What is true of a relation by the way it is built, as tests of it."""

from fluid_build.modeling.sql_names import fit
from fluid_build.transform.plan.elements import BuildTest


def not_null(relation: str, column: str, reason: str) -> BuildTest:
    """A column is never null."""
    return BuildTest(
        name=fit(relation, column, "not_null"), kind="not_null", columns=(column,), reason=reason
    )
