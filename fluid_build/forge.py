"""The pipeline from a source to its profile, model, plan, contract, dbt project and proof.

Each stage hands typed values to the next. Nothing is written before the contract has passed the
validator, and then everything is written at once.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pydantic_core import to_json

from fluid_build.artifacts import Content, write_artifacts
from fluid_build.block_yaml import block_yaml
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.read.files import CONTRACT_FILE as CONTRACT_FILE
from fluid_build.contract.validation import validate
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.errors import EmptySourceError, UsageError
from fluid_build.modeling.dimensional.elements import DEFAULT_CALENDAR, CalendarSettings
from fluid_build.modeling.logical import LogicalModel, Technique, model_json
from fluid_build.modeling.techniques import (
    build_model,
    check_combinable,
    check_event_dates,
    check_technique,
)
from fluid_build.observations.combined_sources import observe_combined
from fluid_build.observations.observe import observe
from fluid_build.observations.observed import Observations
from fluid_build.profiling import profile_source
from fluid_build.profiling.combined_sources import profile_combined
from fluid_build.profiling.profile import Profile
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.report.markdown_document import model_document
from fluid_build.report.profile_json import profile_json
from fluid_build.report.view import source_view
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource
from fluid_build.sources.kinds import KINDS, Kind, ServerKind
from fluid_build.sources.origin import InDatabase
from fluid_build.temporary import owned_folder
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.source_access import combined_access, source_access, write_copies
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target, check_target
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.folder_changes import FileChange, difference, folder_changes
from fluid_build.transform.proof.manifest import (
    MANIFEST_FILE,
    ManifestSource,
    combined_source,
    manifest_json,
    manifest_source,
)
from fluid_build.transform.proof.proof import Proof, build_and_prove
from fluid_build.transform.proof.written_proof import PROOF_FILE, proof_files

MODEL_FILE = "model.json"
PLAN_FILE = "plan.json"
PROFILE_FILE = "profile.json"
DOCUMENT_FILE = "MODEL.md"
_STAGES = ("model", "contract", "project", "write")
_NEVER_SHOWN = (PROFILE_FILE, PROOF_FILE)
"""Files with values of rows, which an older version may not have marked as personal."""


class InvalidOwnContractError(AssertionError):
    """The generated contract breaks the FLUID schema: a bug in Fluid Forge."""


@dataclass(frozen=True, slots=True)
class Forged:
    """What was generated. ``files`` are the paths that were written, sorted, if any were.

    ``kept`` are files in the same folder that were left alone, because somebody edited or added
    them.
    """

    profile: Profile
    model: LogicalModel
    plan: TransformPlan
    contract: FluidContract
    proof: Proof
    files: tuple[Path, ...] = ()
    kept: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """What ``forge`` would do to its folder.

    ``differences`` are unified diffs, by file name, of the files that would be replaced or that
    somebody edited.
    """

    forged: Forged
    changes: tuple[FileChange, ...]
    differences: Mapping[str, tuple[str, ...]]


def forge(
    source: Source,
    *,
    technique: str = "flat",
    variant: str | None = None,
    calendar: CalendarSettings = DEFAULT_CALENDAR,
    event_dates: Mapping[str, str] | None = None,
    business_vault: bool = False,
    target: str = "duckdb",
    out: Path | None = None,
    overwrite: bool = False,
    on_progress: OnProgress = ignore,
) -> Forged:
    """Profile a source, model it, build it, prove it, and write everything to ``out``.

    A source that ``open_source`` didn't open has no address: it gets no dbt project, and
    ``fluid verify`` needs --uri. Files in ``out`` that were edited or added since are kept
    unless ``overwrite`` is set. ``event_dates`` are the dates that the user chose for events, by
    table. Raises UsageError for an unknown technique, variant, target or date, or a business vault
    of another technique than a Data Vault, SourceError where the source can't be read or has no
    readable table, BuildFailedError where the model doesn't build, OutputError where ``out`` can't
    be written. The bytes of the files depend on the source, the options, and the path from ``out``
    to the source. A model that loses something is written too, and its proof says so.
    """
    results = _results(
        source,
        technique,
        variant,
        calendar,
        target,
        on_progress,
        event_dates=event_dates,
        business_vault=business_vault,
    )
    if out is None:
        return results.forged
    with _contents(results, source, out, on_progress) as contents:
        _report(on_progress, "write")
        files = contents.files
        changes = folder_changes(out, files, overwrite=overwrite)
        kept = tuple(change for change in changes if change.action == "keep")
        foreign = [change.name for change in kept if change.owner == "foreign"]
        manifest = manifest_json(
            results.forged.model,
            _origin(source, out),
            files,
            target=results.target,
            foreign=foreign,
        )
        written = {name: files[name] for name in files.keys() - {change.name for change in kept}}
        removed = [change.name for change in changes if change.action == "remove"]
        paths = write_artifacts(out, {**written, MANIFEST_FILE: manifest}, remove=removed)
    return replace(results.forged, files=paths, kept=kept, notes=contents.notes)


def preview(
    source: Source,
    *,
    out: Path,
    technique: str = "flat",
    variant: str | None = None,
    calendar: CalendarSettings = DEFAULT_CALENDAR,
    event_dates: Mapping[str, str] | None = None,
    business_vault: bool = False,
    target: str = "duckdb",
    overwrite: bool = False,
    on_progress: OnProgress = ignore,
) -> Preview:
    """Do all that ``forge`` does except writing, and return what it would change in ``out``.

    The parameters and errors are the same.
    """
    results = _results(
        source,
        technique,
        variant,
        calendar,
        target,
        on_progress,
        event_dates=event_dates,
        business_vault=business_vault,
    )
    with _contents(results, source, out, on_progress) as contents:
        files = contents.files
        changes = folder_changes(out, files, overwrite=overwrite)
        differences = {
            change.name: difference(out, change, files[change.name])
            for change in changes
            if change.name in files
            and change.name not in _NEVER_SHOWN
            and (change.action == "replace" or change.owner == "edited")
        }
    return Preview(replace(results.forged, notes=contents.notes), changes, differences)


@dataclass(frozen=True, slots=True)
class _Results:
    """What was generated and its documents by name, without the dbt project."""

    forged: Forged
    documents: Mapping[str, str]
    target: Target


def _results(
    source: Source,
    technique: str,
    variant: str | None,
    calendar: CalendarSettings,
    target: str,
    on_progress: OnProgress,
    *,
    event_dates: Mapping[str, str] | None,
    business_vault: bool,
) -> _Results:
    known, _ = check_technique(technique, variant, calendar, business_vault=business_vault)
    check_event_dates(technique, event_dates)
    warehouse = check_target(target)
    if isinstance(source, CombinedSource):
        check_several(known, warehouse)
    profile, observations = _measure(source, on_progress)
    _report(on_progress, "model")
    model = build_model(
        profile,
        technique,
        variant,
        observations,
        calendar,
        event_dates,
        business_vault=business_vault,
    )
    plan = transform_plan(model)
    proof = build_and_prove(source, plan, model, on_progress=on_progress)
    _report(on_progress, "contract")
    contract = contract_from_model(profile, model, plan, target=warehouse)
    documents = artifacts(profile, model, contract) | {
        PLAN_FILE: plan.model_dump_json(indent=1, exclude_defaults=True) + "\n",
        **proof_files(proof, model, plan),
    }
    return _Results(Forged(profile, model, plan, contract, proof), documents, warehouse)


def _measure(source: Source, on_progress: OnProgress) -> tuple[Profile, Observations]:
    """Return what is known of a source's data; EmptySourceError where no table can be read."""
    profile = (
        profile_combined(source, on_progress=on_progress)
        if isinstance(source, CombinedSource)
        else profile_source(source, on_progress=on_progress)
    )
    if not profile.tables:
        raise EmptySourceError(
            f"{profile.source_name!r} has no readable table{_reasons(profile)}",
            hint="Check that it's the right source and that you're allowed to read its tables.",
        )
    if isinstance(source, CombinedSource):
        return profile, observe_combined(source, profile, on_progress)
    return profile, observe(source, profile, on_progress)


def check_several(technique: Technique, target: Target) -> None:
    """Raise UsageError for a technique or target that takes one source only."""
    check_combinable(technique)
    if target != "duckdb":
        raise UsageError(
            f"Several sources can be built in DuckDB only, not in {TARGET_LABELS[target]}.",
            hint="Leave --target out, or forge each source by itself.",
        )


def artifacts(profile: Profile, model: LogicalModel, contract: FluidContract) -> dict[str, str]:
    """Return the generated documents by name, once the contract has passed the validator."""
    document = as_document(contract)
    broken = [finding for finding in validate(document) if finding.level == "error"]
    if broken:
        first = broken[0]
        message = f"the generated contract is invalid at {first.path}: {first.message}"
        raise InvalidOwnContractError(message)
    return {
        CONTRACT_FILE: block_yaml(document),
        MODEL_FILE: model_json(model),
        PROFILE_FILE: to_json(profile_json(profile), indent=2).decode() + "\n",
        DOCUMENT_FILE: model_document(source_view(profile, model)),
    }


@dataclass(frozen=True, slots=True)
class _Contents:
    """Every file of a folder except its manifest, and notes on the dbt project."""

    files: Mapping[str, Content]
    notes: tuple[str, ...] = ()


@contextmanager
def _contents(
    results: _Results, source: Source, out: Path, on_progress: OnProgress
) -> Iterator[_Contents]:
    """Provide the files to write to a folder.

    Copies of tables are there as long as the block lasts.
    """
    plan, folder = results.forged.plan, out / DBT_FOLDER
    if isinstance(source, CombinedSource):
        access = combined_access(source, plan, project_dir=folder)
    elif source.opened_as is not None:
        address = source.opened_as.address
        access = source_access(source, plan, address, project_dir=folder, target=results.target)
    else:
        yield _Contents(results.documents)
        return
    _report(on_progress, "project")
    project = dbt_project(plan, results.forged.model, target=results.target, access=access)
    with owned_folder() as aside:
        landed = write_copies(source, plan, access, aside.path)
        files: dict[str, Content] = dict(results.documents)
        files |= {f"{DBT_FOLDER}/{name}": text for name, text in project.items()}
        files |= {f"{DBT_FOLDER}/{name}": path for name, path in landed.items()}
        yield _Contents(files, access.notes)


def _origin(source: Source, out: Path) -> ManifestSource:
    if isinstance(source, CombinedSource):
        return combined_source({part.name: _origin(part, out) for part in source.parts})
    if source.opened_as is None:
        return ManifestSource(kind=cast("Kind", source.kind), location=None)
    options = source.opened_as.options
    return manifest_source(
        source.opened_as.address,
        out,
        schemas=options.schemas or _schemas_read(source),
        dialect=options.dialect,
        conventions=options.conventions,
    )


def _schemas_read(source: Source) -> tuple[str, ...]:
    """Return the schemas of a server's tables; dbt may later build in another schema there."""
    if not isinstance(KINDS[source.kind], ServerKind):
        return ()
    origins = [table.origin for table in source.tables]
    schemas = (origin.schema for origin in origins if isinstance(origin, InDatabase))
    return tuple(dict.fromkeys(schemas))


def _report(on_progress: OnProgress, stage: str) -> None:
    on_progress(Progress(stage=stage, done=_STAGES.index(stage), total=len(_STAGES)))


def _reasons(profile: Profile) -> str:
    if not profile.skipped:
        return ""
    first = profile.skipped[0]
    return f": {len(profile.skipped)} were skipped, {first.name!r} because {first.reason}"
