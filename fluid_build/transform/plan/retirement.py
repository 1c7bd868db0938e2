"""Relations that the source no longer has anything for: they keep their rows, and get none.

Rows that the source deletes are marked as deleted. What it no longer delivers isn't deleted, and
nobody knows what it would be today.
"""

from fluid_build.transform.plan.elements import Build
from fluid_build.transform.plan.sql_layout import query

_WHY = (
    "The source no longer has what it's loaded from: its rows stay as they were, and none are"
    " added."
)


def retired_build(build: Build) -> Build:
    """Return a build that is only made where its relation doesn't exist, and stays then."""
    description = " ".join(filter(None, (build.description, _WHY)))
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
