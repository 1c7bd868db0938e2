"""Relations that the source no longer has anything for: they keep their rows, and get none.

Rows that the source deletes are marked as deleted. What it no longer delivers isn't deleted, and
nobody knows what it would be today.
"""

from fluid_build.modeling.evolution import EMPTIED, GONE, RETIRED
from fluid_build.transform.plan.elements import Build
from fluid_build.transform.plan.sql_layout import query


def retired_build(build: Build) -> Build:
    """Return a build that is only made where its relation doesn't exist, and stays then."""
    description = " ".join(filter(None, (build.description, RETIRED)))
    return build.model_copy(
        update={
            "materialization": "incremental",
            "next_load": query(["*"], f"model.{build.name}", where=["FALSE"]),
            "replaced": "",
            "is_retired": True,
            "filling": None,
            "description": description,
        }
    )


def told_as_emptied(build: Build) -> Build:
    """Return a build whose columns say where no row could keep what the source dropped.

    That is in marts whose rows are all made again.
    """
    if build.layer != "mart" or build.materialization != "table" or build.next_load is not None:
        return build
    columns = tuple(
        column.model_copy(update={"description": column.description.replace(GONE, EMPTIED)})
        if column.description.endswith(GONE)
        else column
        for column in build.columns
    )
    return build.model_copy(update={"columns": columns})
