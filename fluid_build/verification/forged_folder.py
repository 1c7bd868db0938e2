"""A folder that a forge wrote, read again: its model and plan, and what was changed since."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from fluid_build.contract.model_agreement import Disagreement, disagreements
from fluid_build.contract.read.files import CONTRACT_FILE, read_contract
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.errors import SourceUnreadableError
from fluid_build.forging import MODEL_FILE, PLAN_FILE, PROFILE_FILE
from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.project_tools import PROJECT_TOOLS
from fluid_build.transform.proof.manifest import (
    GENERATOR,
    MANIFEST_FILE,
    Manifest,
    digest,
    read_manifest,
    read_text,
)
from fluid_build.transform.proof.written_proof import QUERIES_FOLDER
from fluid_build.verification.untrusted_model import MOST_BYTES, plan_of_file, read_model

_WATCHED = (MODEL_FILE, PLAN_FILE, PROFILE_FILE)
_WATCHED_FOLDERS = (QUERIES_FOLDER, *PROJECT_TOOLS)


@dataclass(frozen=True, slots=True)
class FolderHead:
    """What a folder says of itself: what it was forged from and how, and its model."""

    folder: Path
    manifest: Manifest
    model: LogicalModel


@dataclass(frozen=True, slots=True)
class ForgedFolder:
    """What a forge wrote, read again and checked.

    ``disagreements`` are between contract and model. ``outdated`` are relations that the dbt
    project builds and an edited ``model.json`` no longer describes, each as a sentence. ``edited``
    are files that aren't as the forge wrote them, each as a sentence.
    """

    folder: Path
    manifest: Manifest
    model: LogicalModel
    plan: TransformPlan
    disagreements: tuple[Disagreement, ...]
    outdated: tuple[str, ...]
    edited: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether model, contract and dbt project describe the same relations."""
        return not self.disagreements and not self.outdated


def read_folder_head(folder: Path) -> FolderHead:
    """Read what a forge says of a folder, without its plan and its contract, which take longer.

    The errors are those of ``read_folder`` for these files.
    """
    manifest = read_manifest(folder)
    model = read_model(folder / MODEL_FILE)
    if model.technique != manifest.technique:
        raise SourceUnreadableError(
            f"{MANIFEST_FILE} in {folder} says {manifest.technique}, but {MODEL_FILE} says"
            f" {model.technique}.",
            hint="Use files from the same run, or run `fluid forge` again.",
        )
    return FolderHead(folder, manifest, model)


def read_folder(folder: Path) -> ForgedFolder:
    """Read what a forge wrote to a folder.

    Raises SourceNotFoundError for a missing folder or file, SourceUnreadableError for a file that
    a forge wouldn't write, and ContractError for an invalid contract.
    """
    head = read_folder_head(folder)
    manifest, model = head.manifest, head.model
    plan = plan_of_file(folder / MODEL_FILE, model)
    contract = parse_contract(read_contract(folder / CONTRACT_FILE))
    return ForgedFolder(
        folder=folder,
        manifest=manifest,
        model=model,
        plan=plan,
        disagreements=disagreements(contract, plan),
        outdated=tuple(_outdated(folder, manifest, plan)),
        edited=tuple(_edited(folder, manifest)),
    )


def _outdated(folder: Path, manifest: Manifest, plan: TransformPlan) -> Iterator[str]:
    """Return how ``plan.json``, which the dbt project was made from, differs from the model.

    They differ only where ``model.json`` was edited, or kept while the others were forged again.
    Another version of the forge may plan the same model differently, so it isn't compared.
    """
    if manifest.generator != GENERATOR or _is_as_forged(folder, MODEL_FILE, manifest):
        return
    if not _is_as_forged(folder, PLAN_FILE, manifest):
        return  # It's reported among the edited files.
    text = read_text(folder / PLAN_FILE, MOST_BYTES)
    try:
        written = TransformPlan.model_validate_json(text)
    except ValidationError:
        return
    in_model, in_project = _relations_of(plan), _relations_of(written)
    for name in sorted(in_model.keys() | in_project.keys()):
        if name not in in_model:
            yield f"{name} is built by dbt/ but isn't in {MODEL_FILE}"
        elif name not in in_project:
            yield f"{name} is in {MODEL_FILE} but isn't built by dbt/"
        elif in_model[name] != in_project[name]:
            yield f"{name} is built by dbt/ differently than {MODEL_FILE} describes"


def _relations_of(plan: TransformPlan) -> dict[str, tuple[object, ...]]:
    return {
        build.name: (
            build.sql,
            build.next_sql,
            *((column.name, column.type) for column in build.columns),
        )
        for build in plan.builds
    }


def _is_as_forged(folder: Path, name: str, manifest: Manifest) -> bool:
    path = folder / name
    return path.is_file() and digest(path) == manifest.files.get(name)


def _edited(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Return the files that aren't as the forge wrote them, of those that the proof depends on."""
    watched = {name for name in manifest.files if _is_watched(name)}
    for name in sorted(watched):
        path = folder / name
        if not path.is_file():
            yield f"{name} is missing"
        elif digest(path) != manifest.files[name]:
            foreign = name in manifest.foreign
            yield f"{name} was there before `fluid forge` ran" if foreign else f"{name} was edited"
    for name in sorted(set(_queries_on_disk(folder)) - watched):
        yield f"{name} was added"


def _is_watched(name: str) -> bool:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        return False
    return name in _WATCHED or path.parts[0] in _WATCHED_FOLDERS


def _queries_on_disk(folder: Path) -> Iterable[str]:
    for place in (folder / QUERIES_FOLDER, folder / DBT_FOLDER / "models"):
        for path in place.rglob("*.sql"):
            yield path.relative_to(folder).as_posix()
