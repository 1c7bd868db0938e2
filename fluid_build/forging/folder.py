"""The folder that a forge writes: its files, its manifest, and what it would change."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from fluid_build.artifacts import Content, restore_interrupted, write_artifacts
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.forging.documents import NEVER_SHOWN
from fluid_build.forging.options import ForgeOptions
from fluid_build.modeling.logical import LogicalModel
from fluid_build.sources.addresses.kinds import KINDS, Kind, ServerKind
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource
from fluid_build.sources.origin import InDatabase
from fluid_build.temporary import owned_folder
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.source_access import combined_access, source_access, write_copies
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.proof.folder_changes import FileChange, difference, folder_changes
from fluid_build.transform.proof.manifest import (
    MANIFEST_FILE,
    ManifestSource,
    combined_source,
    manifest_json,
    manifest_source,
)


@dataclass(frozen=True, slots=True)
class DbtProject:
    """The files of a dbt project by their path in the folder, and how it reaches the source.

    ``access`` is None where the source has no address, so that there can't be a project.
    """

    files: Mapping[str, str]
    access: SourceAccess | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the project should know."""
        return self.access.notes if self.access else ()


@dataclass(frozen=True, slots=True)
class WrittenFolder:
    """The files that were written, sorted, and those that were left alone."""

    files: tuple[Path, ...]
    kept: tuple[FileChange, ...]


def project_files(
    source: Source, model: LogicalModel, plan: TransformPlan, options: ForgeOptions, out: Path
) -> DbtProject:
    """Return the dbt project of a plan, in a folder of ``out``."""
    folder = out / DBT_FOLDER
    if isinstance(source, CombinedSource):
        access = combined_access(source, plan, project_dir=folder)
    elif source.opened_as is not None:
        address = source.opened_as.address
        access = source_access(source, plan, address, project_dir=folder, target=options.warehouse)
    else:
        return DbtProject({})
    project = dbt_project(plan, model, target=options.warehouse, access=access)
    return DbtProject({f"{DBT_FOLDER}/{name}": text for name, text in project.items()}, access)


@contextmanager
def folder_contents(
    source: Source, plan: TransformPlan, documents: Mapping[str, str], project: DbtProject
) -> Iterator[Mapping[str, Content]]:
    """Provide every file of a folder except its manifest.

    Copies of tables are there as long as the block lasts.
    """
    files: dict[str, Content] = {**documents, **project.files}
    if project.access is None:
        yield files
        return
    with owned_folder() as aside:
        landed = write_copies(source, plan, project.access, aside.path)
        yield files | {f"{DBT_FOLDER}/{name}": path for name, path in landed.items()}


def write_folder(
    source: Source,
    model: LogicalModel,
    files: Mapping[str, Content],
    options: ForgeOptions,
    out: Path,
    *,
    overwrite: bool,
) -> WrittenFolder:
    """Write files and their manifest to ``out``, all or none.

    Files that were edited or added since are kept unless ``overwrite`` is set. Raises OutputError.
    """
    restore_interrupted(out)
    changes = folder_changes(out, files, overwrite=overwrite)
    kept = tuple(change for change in changes if change.action == "keep")
    foreign = [change.name for change in kept if change.owner == "foreign"]
    manifest = manifest_json(
        model, _origin(source, out), files, target=options.warehouse, foreign=foreign
    )
    written = {name: files[name] for name in files.keys() - {change.name for change in kept}}
    removed = [change.name for change in changes if change.action == "remove"]
    paths = write_artifacts(out, {**written, MANIFEST_FILE: manifest}, remove=removed)
    return WrittenFolder(paths, kept)


def folder_differences(
    out: Path, changes: Sequence[FileChange], files: Mapping[str, Content]
) -> dict[str, tuple[str, ...]]:
    """Return unified diffs, by file name, of what would be replaced or what somebody edited."""
    return {
        change.name: difference(out, change, files[change.name])
        for change in changes
        if change.name in files
        and change.name not in NEVER_SHOWN
        and (change.action == "replace" or change.owner == "edited")
    }


def _origin(source: Source, out: Path) -> ManifestSource:
    if isinstance(source, CombinedSource):
        return combined_source({part.name: _origin(part, out) for part in source.parts})
    if source.opened_as is None:
        return ManifestSource(kind=cast("Kind", source.kind), location=None)
    options = source.opened_as.options
    return manifest_source(
        source.opened_as.address,
        out,
        replace(options, schemas=options.schemas or _schemas_of_server(source)),
    )


def _schemas_of_server(source: Source) -> tuple[str, ...]:
    """Return the schemas of a server's tables; dbt may later build in another schema there."""
    if not isinstance(KINDS[source.kind], ServerKind):
        return ()
    origins = [table.origin for table in source.tables]
    schemas = (origin.schema for origin in origins if isinstance(origin, InDatabase))
    return tuple(dict.fromkeys(schemas))
