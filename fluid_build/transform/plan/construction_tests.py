"""What is true of a relation by the way it's built, as tests of it."""

from collections.abc import Sequence

from fluid_build.modeling.sql_names import fit
from fluid_build.transform.plan.elements import BuildTest


def not_null(relation: str, column: str, reason: str) -> BuildTest:
    """Return the test that a column is never null."""
    return BuildTest(
        name=fit(relation, column, "not_null"), kind="not_null", columns=(column,), reason=reason
    )


def unique(relation: str, columns: Sequence[str], reason: str, *, label: str = "") -> BuildTest:
    """Return the test that no two rows agree in all of the columns, which are the key."""
    return BuildTest(
        name=fit(relation, *filter(None, (label, "unique"))),
        kind="unique",
        columns=tuple(columns),
        key_kind="primary",
        reason=reason,
    )


def reference(
    relation: str, column: str, parent: str, parent_key: str, reason: str, *, role: str = ""
) -> BuildTest:
    """Return the test that every value of a column is a key of another relation."""
    return BuildTest(
        name=fit(relation, column, "reference"),
        kind="relationships",
        columns=(column,),
        to_model=parent,
        to_columns=(parent_key,),
        confidence=1.0,
        cardinality="many-to-one",
        role=role,
        reason=reason,
    )


def every_key_exists(parent: str) -> str:
    """Return why a relation of the vault has every key by which others refer to it."""
    source = f"{parent} is loaded from every table that refers to it"
    return f"Every key exists in {parent}, since {source}."
