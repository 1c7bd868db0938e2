"""What the page of a forged folder shows, read from the folder, which may be a stranger's.

Nothing of it is run, so the plan is read from its file and not derived again.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from fluid_build.decisions.files import recorded_decisions
from fluid_build.errors import SourceUnreadableError
from fluid_build.forging.documents import MODEL_FILE, PLAN_FILE, PROFILE_FILE
from fluid_build.forging.report_file import folder_content, rendered_page
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Profile
from fluid_build.report.page.run_facts import RunFacts
from fluid_build.report.profile_json import read_profile
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.proof.manifest import digest, not_as_written, read_manifest, read_text
from fluid_build.transform.proof.proof import Proof
from fluid_build.transform.proof.written_proof import PROOF_FILE
from fluid_build.verification.untrusted_model import MOST_BYTES, read_model

_Part = TypeVar("_Part", bound=BaseModel)
_SHOWN = (PROFILE_FILE, MODEL_FILE, PLAN_FILE)


@dataclass(frozen=True, slots=True)
class PageSources:
    """What was measured, modelled, planned and proven, as the files of a folder say.

    ``is_edited`` says that one of them isn't as the forge wrote it.
    """

    folder: Path
    profile: Profile
    model: LogicalModel
    plan: TransformPlan
    proof: Proof
    is_edited: bool

    def page(self, run: RunFacts | None) -> str:
        """Return the page of the folder.

        Raises SourceUnreadableError where files were edited and don't fit together any more.
        """
        try:
            return rendered_page(
                folder_content(self.folder, self.profile, self.model, self.plan, self.proof, run)
            )
        except (LookupError, ValueError, TypeError, AssertionError, RecursionError) as error:
            if not self.is_edited:
                raise
            raise _contradictory(self.folder) from error


def read_page_sources(folder: Path) -> PageSources:
    """Read a forged folder.

    Raises SourceNotFoundError for a missing folder or file, SourceUnreadableError for a file that a
    forge wouldn't write, and DecisionError for invalid decisions.
    """
    manifest = read_manifest(folder)
    recorded_decisions(folder)
    path = folder / PROFILE_FILE
    profile = read_profile(read_text(path, MOST_BYTES), path)
    model = read_model(folder / MODEL_FILE)
    if _columns_of_profile(profile) != _columns_of_model(model):
        raise _contradictory(folder)
    return PageSources(
        folder,
        profile,
        model,
        _read(folder / PLAN_FILE, TransformPlan),
        _read(folder / PROOF_FILE, Proof),
        any(digest(folder / name) != manifest.files.get(name) for name in _SHOWN),
    )


def _read(path: Path, part: type[_Part]) -> _Part:
    text = read_text(path, MOST_BYTES)
    try:
        return part.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise not_as_written(path, error) from None


def _columns_of_profile(profile: Profile) -> list[tuple[str, list[str]]]:
    return [(table.name, [column.name for column in table.columns]) for table in profile.tables]


def _columns_of_model(model: LogicalModel) -> list[tuple[str, list[str]]]:
    return [
        (entity.name, [attribute.name for attribute in entity.attributes])
        for entity in model.conceptual.entities
    ]


def _contradictory(folder: Path) -> SourceUnreadableError:
    return SourceUnreadableError(
        f"{PROFILE_FILE}, {MODEL_FILE} and {PLAN_FILE} in {folder} don't fit together any more.",
        hint="One of them was edited, or they are of different runs. Run `fluid forge` again.",
    )
