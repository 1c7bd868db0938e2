"""The main road: from a source to its profile, its model, its contract, and the files of them.

Each stage hands typed values to the next. Nothing is written before the contract has passed the
validator, and then everything is written at once.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic_core import to_json

from fluid_build.artifacts import write_artifacts
from fluid_build.block_yaml import block_yaml
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.from_model import contract_from_model
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
from fluid_build.transform.plans import transform_plan

CONTRACT_FILE = "contract.fluid.yaml"
MODEL_FILE = "model.json"
PROFILE_FILE = "profile.json"
DOCUMENT_FILE = "MODEL.md"
_STAGES = ("model", "contract", "write")


class InvalidOwnContractError(AssertionError):
    """The contract that we made ourselves breaks the FLUID schema: a bug of ours, not a user's."""


@dataclass(frozen=True, slots=True)
class Forged:
    """What came of a source. ``files`` are the paths that were written, sorted, if any were."""

    profile: Profile
    model: LogicalModel
    contract: FluidContract
    files: tuple[Path, ...] = ()


def forge(
    source: Source,
    *,
    technique: str = "flat",
    out: Path | None = None,
    on_progress: OnProgress = ignore,
) -> Forged:
    """Profile a source, model it, put the model under contract, and write the files to ``out``.

    Raises UsageError for an unknown technique, SourceError where the source cannot be read or
    holds no readable table, OutputError where ``out`` cannot be written. The bytes of the files
    depend on the source and the technique alone.
    """
    check_technique(technique)
    profile = profile_source(source, on_progress=on_progress)
    if not profile.tables:
        raise EmptySourceError(
            f"{profile.source_name!r} has no table that could be read{_reasons(profile)}",
            hint="Check that it is the right source, and that you may read its tables.",
        )
    _report(on_progress, "model")
    model = build_model(profile, technique)
    plan = transform_plan(model)
    _report(on_progress, "contract")
    contract = contract_from_model(profile, model, plan)
    files = artifacts(profile, model, contract)
    _report(on_progress, "write")
    paths = write_artifacts(out, files) if out is not None else ()
    return Forged(profile=profile, model=model, contract=contract, files=paths)


def artifacts(profile: Profile, model: LogicalModel, contract: FluidContract) -> dict[str, str]:
    """The files of a forge by name, once the contract has passed the validator."""
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


def _report(on_progress: OnProgress, stage: str) -> None:
    on_progress(Progress(stage=stage, done=_STAGES.index(stage), total=len(_STAGES)))


def _reasons(profile: Profile) -> str:
    if not profile.skipped:
        return ""
    first = profile.skipped[0]
    return f": {len(profile.skipped)} were skipped, {first.name!r} because {first.reason}"
