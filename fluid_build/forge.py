"""The main road: from a source to its profile, model, plan, contract, dbt project and proof.

Each stage hands typed values to the next. Nothing is written before the contract has passed the
validator, and then everything is written at once.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pydantic_core import to_json

from fluid_build.artifacts import Content, write_artifacts
from fluid_build.block_yaml import block_yaml
from fluid_build.contract.files import CONTRACT_FILE as CONTRACT_FILE
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.from_model import DBT_FOLDER, contract_from_model
from fluid_build.contract.validation import validate
from fluid_build.contract.yaml_text import as_document
from fluid_build.errors import EmptySourceError
from fluid_build.modeling.document import model_document
from fluid_build.modeling.logical import LogicalModel, model_json
from fluid_build.modeling.techniques import build_model, check_technique
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.profiling.report import profile_json
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source
from fluid_build.sources.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.uri import Kind
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.reading import landed_files, readings
from fluid_build.transform.dbt.source_entries import Readings
from fluid_build.transform.dbt.targets import Target, check_target
from fluid_build.transform.manifest import (
    MANIFEST_FILE,
    ManifestSource,
    leftovers,
    manifest_json,
    manifest_source,
)
from fluid_build.transform.plan import TransformPlan
from fluid_build.transform.plans import transform_plan
from fluid_build.transform.proof import Proof, prove
from fluid_build.transform.proof_files import proof_files
from fluid_build.transform.run import built

MODEL_FILE = "model.json"
PLAN_FILE = "plan.json"
PROFILE_FILE = "profile.json"
DOCUMENT_FILE = "MODEL.md"
_STAGES = ("model", "contract", "project", "write")


class InvalidOwnContractError(AssertionError):
    """The contract that we made ourselves breaks the FLUID schema: a bug of ours, not a user's."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What a source was opened by: its URI or path, and the options that went with it."""

    place: str
    schemas: Sequence[str] = ()
    dialect: str | None = None
    conventions: Conventions = NO_ANSWERS


@dataclass(frozen=True, slots=True)
class Forged:
    """What came of a source. ``files`` are the paths that were written, sorted, if any were."""

    profile: Profile
    model: LogicalModel
    plan: TransformPlan
    contract: FluidContract
    proof: Proof
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def forge(
    source: Source,
    *,
    technique: str = "flat",
    variant: str | None = None,
    target: str = "duckdb",
    opened: Opened | None = None,
    out: Path | None = None,
    on_progress: OnProgress = ignore,
) -> Forged:
    """Profile a source, model it, build it, prove it, and write everything to ``out``.

    ``opened`` says where the source lies, so that the folder can find it again; without it there
    is no dbt project, and ``fluid verify`` has to be told. Raises UsageError for an unknown
    technique, variant or target, SourceError where the source cannot be read or holds no readable
    table, BuildFailedError where the model does not build, OutputError where ``out`` cannot be
    written. The bytes of the files depend on the source, the options, and on where ``out`` lies
    from it. A model that loses something is written too, and its proof says so.
    """
    check_technique(technique, variant)
    warehouse = check_target(target)
    profile = profile_source(source, on_progress=on_progress)
    if not profile.tables:
        raise EmptySourceError(
            f"{profile.source_name!r} has no table that could be read{_reasons(profile)}",
            hint="Check that it is the right source, and that you may read its tables.",
        )
    _report(on_progress, "model")
    model = build_model(profile, technique, variant)
    plan = transform_plan(model)
    with built(source, plan, on_progress=on_progress) as database:
        proof = prove(database, model, on_progress=on_progress)
    _report(on_progress, "contract")
    contract = contract_from_model(profile, model, plan, target=warehouse)
    files = artifacts(profile, model, contract) | {
        PLAN_FILE: plan.model_dump_json(indent=1, exclude_defaults=True) + "\n",
        **proof_files(proof, model),
    }
    forged = Forged(profile, model, plan, contract, proof)
    if out is None:
        return forged
    _report(on_progress, "project")
    project = _project(source, forged, opened, out / DBT_FOLDER, warehouse) if opened else None
    _report(on_progress, "write")
    return _written(out, files, forged, source, opened, project, warehouse)


def artifacts(profile: Profile, model: LogicalModel, contract: FluidContract) -> dict[str, str]:
    """The documents of a forge by name, once the contract has passed the validator."""
    document = as_document(contract)
    broken = [finding for finding in validate(document) if finding.level == "error"]
    if broken:
        first = broken[0]
        message = f"our own contract is invalid at {first.path}: {first.message}"
        raise InvalidOwnContractError(message)
    return {
        CONTRACT_FILE: block_yaml(document),
        MODEL_FILE: model_json(model),
        PROFILE_FILE: to_json(profile_json(profile), indent=2).decode() + "\n",
        DOCUMENT_FILE: model_document(profile, model),
    }


@dataclass(frozen=True, slots=True)
class _Project:
    """The dbt project: its files, and how it reads the source."""

    files: Mapping[str, str]
    reading: Readings


def _project(
    source: Source, forged: Forged, opened: Opened, folder: Path, target: Target
) -> _Project:
    reading = readings(
        source, forged.plan, project_dir=folder, location=opened.place, target=target
    )
    files = dbt_project(forged.plan, forged.model, target=target, reading=reading)
    return _Project({f"{DBT_FOLDER}/{name}": text for name, text in files.items()}, reading)


def _written(
    out: Path,
    documents: Mapping[str, str],
    forged: Forged,
    source: Source,
    opened: Opened | None,
    project: _Project | None,
    target: Target,
) -> Forged:
    """Write the folder, and take away what an earlier forge wrote there and this one does not."""
    origin = (
        ManifestSource(kind=cast("Kind", source.kind), location=None)
        if opened is None
        else manifest_source(
            opened.place,
            out,
            schemas=opened.schemas,
            dialect=opened.dialect,
            conventions=opened.conventions,
        )
    )
    texts = {**documents, **(project.files if project else {})}
    manifest = manifest_json(forged.model, origin, texts, target=target)
    with tempfile.TemporaryDirectory(prefix="fluid-") as aside:
        landed = _landed(source, forged.plan, project, Path(aside))
        files: dict[str, Content] = {**texts, MANIFEST_FILE: manifest, **landed}
        stale, edited = leftovers(out, files)
        paths = write_artifacts(out, files, remove=stale)
    notes = project.reading.notes if project else ()
    kept = (f"Kept, as it was edited since it was forged: {name}." for name in edited)
    return replace(forged, files=paths, notes=(*notes, *kept))


def _landed(
    source: Source, plan: TransformPlan, project: _Project | None, folder: Path
) -> dict[str, Path]:
    if project is None:
        return {}
    copies = landed_files(source, plan, project.reading, folder)
    return {f"{DBT_FOLDER}/{name}": path for name, path in copies.items()}


def _report(on_progress: OnProgress, stage: str) -> None:
    on_progress(Progress(stage=stage, done=_STAGES.index(stage), total=len(_STAGES)))


def _reasons(profile: Profile) -> str:
    if not profile.skipped:
        return ""
    first = profile.skipped[0]
    return f": {len(profile.skipped)} were skipped, {first.name!r} because {first.reason}"
