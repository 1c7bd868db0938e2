"""The folder that a forge writes: its files, its manifest, and what it would change."""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from fluid_build.artifacts import Content, restore_interrupted, write_artifacts
from fluid_build.contract.fluid import FluidContract
from fluid_build.decisions.language import Exposure, Owner
from fluid_build.decisions.verdicts import applied
from fluid_build.forging.changed_conventions import changed_conventions
from fluid_build.forging.contract_version import ContractChange, continued, earlier_contract
from fluid_build.forging.documents import (
    ATTRIBUTES_FILE,
    DOCUMENT_FILE,
    GENERATED,
    NEVER_SHOWN,
    documents,
)
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.project_edits import (
    HOMELESS_FILE,
    NO_EDITS,
    NOTHING_MERGED,
    RECORD_FILE,
    KeptEdits,
    merged_files,
    record,
)
from fluid_build.forging.results import Forged, Preview
from fluid_build.forging.stages import Designed
from fluid_build.forging.table_choice import source_as_read
from fluid_build.regular_files import read_regular
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource
from fluid_build.temporary import owned_folder
from fluid_build.transform.dbt.freshness import source_freshness
from fluid_build.transform.dbt.migrations import FOLDER as MIGRATIONS
from fluid_build.transform.dbt.migrations import is_migration_file
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.source_access import combined_access, source_access, write_copies
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.ddl.schema_sql import ddl_files
from fluid_build.transform.plan.project_tools import ProjectTool
from fluid_build.transform.proof.folder_changes import FileChange, difference, folder_changes
from fluid_build.transform.proof.manifest import (
    MANIFEST_FILE,
    manifest_json,
)
from fluid_build.transform.proof.proof import Proof
from fluid_build.transform.proof.written_proof import QUERIES_FOLDER, proof_files
from fluid_build.transform.sqlmesh.project import sqlmesh_project

_RENDERED = ("README.md", "macros/**", "osi/**", "semantic/**", "models/**/_unit_tests.yml")
"""What a project has that says the same of its models again, or is the same in all projects."""
_MOST_BYTES = 4 * 1024 * 1024
"""Of a file of migrations: one of a thousand columns has a tenth of it."""


@dataclass(frozen=True, slots=True)
class Project:
    """The files of a project by their path in the folder, and how it reaches the source.

    It's written for ``tool``, in a folder of that name. ``access`` is None where the source has no
    address, so that there can't be a project.
    """

    tool: ProjectTool
    files: Mapping[str, str]
    access: SourceAccess | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the project should know."""
        return self.access.notes if self.access else ()


@dataclass
class Outputs:
    """What is written of a model to ``out``, but for its proof: each computed on first use.

    The source must be open, and as it was then: the dbt project is checked on it, and may need
    copies of its tables. ``generated`` is the contract as if it were the first one. With
    ``overwrite``, files that were edited or added since are replaced too. The contract's version is
    none of the ``taken_versions``.
    """

    source: Source
    options: ForgeOptions
    out: Path
    designed: Designed
    generated: FluidContract
    overwrite: bool = False
    taken_versions: Set[str] = frozenset()

    @cached_property
    def contract_change(self) -> ContractChange | None:
        """Return the contract as the next version of that in the folder; None for the first."""
        earlier = earlier_contract(self.out, overwrite=self.overwrite)
        return continued(self.generated, earlier, self.taken_versions)

    @property
    def contract(self) -> FluidContract:
        """Return the contract in its version."""
        change = self.contract_change
        return self.generated if change is None else change.contract

    @cached_property
    def project(self) -> Project:
        """Return the project that builds the model."""
        return _project_files(self.source, self.designed, self.options, self.out)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know, by the folder as it was before it's written."""
        change = self.contract_change
        found = (
            *self.designed.notes,
            *self.project.notes,
            changed_conventions(self.out, self.designed.model),
            change.note if change is not None else "",
        )
        return tuple(filter(None, found))

    @cached_property
    def schema(self) -> Mapping[str, str]:
        """Return the DDL of what the plan publishes."""
        return ddl_files(self.designed.plan, self.options.warehouse)

    @cached_property
    def documents(self) -> Mapping[str, str]:
        """Return the contract, the model, their descriptions and the decisions."""
        previous = self.options.decisions_text
        return documents(self.designed, self.contract, self.schema, previous)

    def forged(
        self,
        proof: Proof,
        files: tuple[Path, ...] = (),
        kept: tuple[FileChange, ...] = (),
        edits: KeptEdits = NO_EDITS,
    ) -> Forged:
        """Return all of it with its proof, the files that were written and those that weren't."""
        return Forged(
            self.designed.profile,
            self.designed.model,
            self.designed.plan,
            self.contract,
            proof,
            files,
            kept,
            self.notes,
            self.designed.verdicts,
            edits,
            basis=self.designed.basis,
        )


def write_folder(outputs: Outputs, proof: Proof) -> Forged:
    """Write all files and their manifest, all or none.

    Files that were edited or added since are kept unless they're overwritten; edits to the YAML of
    the dbt project are kept entry by entry. Raises OutputError.
    """
    out, options, notes = outputs.out, outputs.options, outputs.notes
    overwrite = outputs.overwrite
    with _folder_contents(outputs, proof) as generated:
        restore_interrupted(out)
        merged = NOTHING_MERGED if overwrite else merged_files(out, generated)
        files: Mapping[str, Content] = {**generated, **merged.contents}
        changes = folder_changes(out, files, overwrite=overwrite, merged=merged.files)
        kept = tuple(change for change in changes if change.action == "keep")
        outdated = [change.name for change in kept if change.outdated]
        foreign = [change.name for change in kept if change.owner == "foreign"]
        origin, model = source_as_read(outputs.source, out), outputs.designed.model
        # Of a merged file, what was generated is told from what somebody wrote.
        homeless = {name: files[name] for name in (HOMELESS_FILE,) if name in files}
        known = {**homeless, **generated}
        manifest = manifest_json(
            model,
            origin,
            known,
            target=options.warehouse,
            tool=options.tool,
            foreign=foreign,
            outdated={name: out / name for name in outdated},
        )
        written = {name: files[name] for name in files.keys() - {change.name for change in kept}}
        removed = [change.name for change in changes if change.action == "remove"]
        paths = write_artifacts(out, {**written, MANIFEST_FILE: manifest}, remove=removed)
    return replace(outputs.forged(proof, paths, kept, merged.edits), notes=notes)


def preview_folder(outputs: Outputs, proof: Proof) -> Preview:
    """Return what ``write_folder`` would change."""
    overwrite = outputs.overwrite
    with _folder_contents(outputs, proof) as generated:
        merged = NOTHING_MERGED if overwrite else merged_files(outputs.out, generated)
        files: Mapping[str, Content] = {**generated, **merged.contents}
        changes = folder_changes(outputs.out, files, overwrite=overwrite, merged=merged.files)
        differences = _differences(outputs.out, changes, files)
    return Preview(outputs.forged(proof, edits=merged.edits), changes, differences)


def _project_files(source: Source, designed: Designed, options: ForgeOptions, out: Path) -> Project:
    """Return the project of a plan, in a folder of ``out``."""
    plan, folder = designed.plan, out / options.tool
    if isinstance(source, CombinedSource):
        access = combined_access(source, plan, project_dir=folder)
    elif source.opened_as is not None:
        address = source.opened_as.address
        access = source_access(source, plan, address, project_dir=folder, target=options.warehouse)
    else:
        return Project(options.tool, {})
    if options.tool == "sqlmesh":
        project = sqlmesh_project(plan, designed.model, target=options.warehouse, access=access)
        files = {f"{options.tool}/{name}": text for name, text in project.items()}
        return Project(options.tool, files, access)
    decisions = applied(designed.verdicts)
    project = dbt_project(
        plan,
        designed.model,
        target=options.warehouse,
        access=access,
        freshness=source_freshness(source, designed.model),
        exposures=[each for each in decisions if isinstance(each, Exposure)],
        owner=next((each for each in decisions if isinstance(each, Owner)), None),
        migrations=_earlier_migrations(folder),
    )
    files = {f"{options.tool}/{name}": text for name, text in project.items()}
    return Project(options.tool, files, access)


def _earlier_migrations(project: Path) -> dict[str, str]:
    """Return the files of migrations that a project has: warehouses have recorded them by name."""
    return {
        name: read_regular(path, _MOST_BYTES, too_large="A migration is a few lines.").decode()
        for path in sorted((project / MIGRATIONS).glob("*.sql"))
        if is_migration_file(name := f"{MIGRATIONS}/{path.name}")
    }


@contextmanager
def _folder_contents(outputs: Outputs, proof: Proof) -> Iterator[Mapping[str, Content]]:
    """Provide every file of a folder except its manifest.

    Copies of tables are there as long as the block lasts.
    """
    plan, project = outputs.designed.plan, outputs.project
    proven = proof_files(proof, outputs.designed.model, plan)
    files: dict[str, Content] = {**outputs.documents, **proven, **project.files}
    if project.tool == "dbt" and project.files:
        files[RECORD_FILE] = record(files)
    files[ATTRIBUTES_FILE] = _attributes(project.tool)
    if project.access is None:
        yield files
        return
    with owned_folder() as aside:
        landed = write_copies(outputs.source, plan, project.access, aside.path)
        yield files | {f"{project.tool}/{name}": path for name, path in landed.items()}


def _attributes(tool: ProjectTool) -> str:
    """Return what tells Git, and who shows its changes, which files nobody reviews."""
    long = (*GENERATED, MANIFEST_FILE, *((RECORD_FILE,) if tool == "dbt" else ()))
    short = (DOCUMENT_FILE, f"{QUERIES_FOLDER}/**", *(f"{tool}/{name}" for name in _RENDERED))
    lines = [
        *(f"/{name} linguist-generated -diff\n" for name in long),
        *(f"/{name} linguist-generated\n" for name in short),
    ]
    return "".join(lines)


def _differences(
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
