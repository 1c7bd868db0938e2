"""Versioned dimensions by sqlmesh's own kind: SCD_TYPE_2_BY_COLUMN keeps the versions.

The plan keeps them in a relation that only gets rows added, one for each version and one for each
deletion. Here sqlmesh keeps them with the time in which each is valid, and the plan's relation is a
view of that with the same rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fluid_build.modeling.sql_names import fit, free_identifier
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.plan.sql_layout import nested, query, union_all
from fluid_build.transform.plan.validity import APPLIED

_OF_LOADS = ("load_date", "is_deleted")
_HASH = "row_hash"


@dataclass(frozen=True, slots=True)
class KeptVersions:
    """A plan in which sqlmesh keeps the versions; ``kinds`` are those of the builds that do."""

    plan: TransformPlan
    kinds: dict[str, str]


def with_kept_versions(plan: TransformPlan) -> KeptVersions:
    """Return a plan with the same relations, of which those with versions are views."""
    names = {build.name for build in plan.builds}
    kinds: dict[str, str] = {}
    builds: list[Build] = []
    for build in plan.builds:
        if not _has_versions(build):
            builds.append(build)
            continue
        name = free_identifier(fit(build.name, "scd2"), names)
        names.add(name)
        kinds[name] = _kind(build)
        builds += _kept(build, name), _view(build, name)
    return KeptVersions(plan.model_copy(update={"builds": tuple(builds)}), kinds)


def _has_versions(build: Build) -> bool:
    columns = {column.name for column in build.columns}
    is_history = build.layer == "mart" and build.materialization == "incremental"
    return is_history and columns.issuperset((*_OF_LOADS, _HASH)) and "load_date" in build.key


def _kind(build: Build) -> str:
    keys = ", ".join(name for name in build.key if name != "load_date")
    return (
        f"SCD_TYPE_2_BY_COLUMN (\n    unique_key ({keys}),\n    columns ({_HASH}),\n"
        "    execution_time_as_valid_from true,\n    invalidate_hard_deletes true\n  )"
    )


def _own_columns(build: Build) -> list[str]:
    return [
        column.name
        for column in build.columns
        if column.name not in _OF_LOADS and APPLIED not in column.tags
    ]


def _kept(build: Build, name: str) -> Build:
    """Return the relation that sqlmesh keeps, of the rows that a load brings."""
    columns = _own_columns(build)
    return build.model_copy(
        update={
            "name": name,
            "sql": query(columns, f"{nested(build.sql)} AS arriving"),
            "next_load": None,
            "columns": tuple(column for column in build.columns if column.name in columns),
            "description": f"The versions that {build.name} shows, with when each was valid.",
            "key": (),
            "tests": (),
        }
    )


def _view(build: Build, name: str) -> Build:
    """Return the plan's relation: a row for each version, and one where a member was gone."""
    keys = [key for key in build.key if key != "load_date"]
    same = [f"next_one.{key} = ended.{key}" for key in keys]
    following = query(["1"], f"model.{name} AS next_one", where=(*same, _AT_ONCE))
    versions = query(list(_selected(build, "valid_from", "FALSE")), f"model.{name} AS ended")
    deletions = query(
        list(_selected(build, "valid_to", "TRUE")),
        f"model.{name} AS ended",
        where=("ended.valid_to IS NOT NULL", f"NOT EXISTS {nested(following)}"),
    )
    return build.model_copy(
        update={
            "materialization": "view",
            "sql": union_all(versions, deletions),
            "next_load": None,
            "ref_models": (name,),
        }
    )


_AT_ONCE = "next_one.valid_from = ended.valid_to"


def _selected(build: Build, load_date: str, is_deleted: str) -> Iterator[tuple[str, str]]:
    values = {"load_date": f"ended.{load_date}", "is_deleted": is_deleted}
    # Versions hold from when sqlmesh loads them.
    values |= {each.name: f"ended.{load_date}" for each in build.columns if APPLIED in each.tags}
    for column in build.columns:
        yield values.get(column.name, f"ended.{column.name}"), column.name
