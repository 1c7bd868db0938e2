"""Building only what changed since the last deployment, and which tables that leaves as they were.

dbt compares the project with the one that was deployed, which the warehouse keeps. What is known of
how dbt reaches a database is taken from the folder: only models and macros come from the warehouse.
"""

import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.errors import DbtError
from fluid_build.evolution.folder_archive import unpacked
from fluid_build.transform.dbt.running import changed_since, write_manifest
from fluid_build.transform.plan.elements import TransformPlan

_OF_THE_PLACE = ("profiles.yml", "plugins")
"""What of a project runs as code of ours, or says where a database is."""


def changed_selection(
    content: bytes, project: Path, scratch: Path, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return dbt's arguments that build what differs from a deployed folder's project.

    ``content`` is the deployed folder's archive, and ``scratch`` an empty folder.
    """
    deployed = scratch / "project"
    for name, text in _project_files(unpacked(content)):
        path = deployed / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    for name in _OF_THE_PLACE:
        if (project / name).is_dir():
            shutil.copytree(project / name, deployed / name)
        elif (project / name).is_file():
            shutil.copyfile(project / name, deployed / name)
    try:
        return changed_since(write_manifest(deployed, scratch, environment=environment))
    except DbtError as error:
        raise type(error)(
            f"What was deployed can't be compared with the project: {error}.",
            hint="Apply with --build all.",
        ) from error


def _project_files(files: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name, text in files.items():
        parts = PurePosixPath(name).parts
        if parts[0] == DBT_FOLDER and parts[1] not in _OF_THE_PLACE:
            yield str(PurePosixPath(*parts[1:])), text


def unloaded_tables(plan: TransformPlan, built: Collection[str]) -> frozenset[str]:
    """Return the tables of which a relation reads that wasn't built.

    A view has the rows of its source whether it's made again or not.
    """
    tables = {source.id: source.table for source in plan.sources}
    reads: dict[str, frozenset[str]] = {}
    left: set[str] = set()
    for build in plan.builds:
        own = {tables[id_] for id_ in build.ref_sources if id_ in tables}
        reads[build.name] = frozenset(own).union(
            *(reads[name] for name in build.ref_models if name in reads)
        )
        if build.name not in built and build.materialization != "view":
            left |= reads[build.name]
    return frozenset(left)
