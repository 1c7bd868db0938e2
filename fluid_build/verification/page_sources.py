"""What the page of a forged folder shows, read from the folder, which may be a stranger's."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from fluid_build.decisions.files import recorded_decisions
from fluid_build.errors import SourceUnreadableError
from fluid_build.forge.documents import MODEL_FILE, PROFILE_FILE
from fluid_build.forge.report_file import folder_content
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Profile
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.run_facts import RunFacts
from fluid_build.report.profile_json import read_profile
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.proof.manifest import not_as_written, read_manifest, read_text
from fluid_build.transform.proof.proof import Proof
from fluid_build.transform.proof.written_proof import PROOF_FILE
from fluid_build.verification.untrusted_model import MOST_BYTES, plan_of_file, read_model


@dataclass(frozen=True, slots=True)
class PageSources:
    """What was measured, modelled and proven, as the files of a folder say."""

    folder: Path
    profile: Profile
    model: LogicalModel
    plan: TransformPlan
    proof: Proof

    def content(self, run: RunFacts | None) -> PageContent:
        """Return what the page of the folder shows.

        Raises SourceUnreadableError where the files contradict each other.
        """
        try:
            return folder_content(self.folder, self.profile, self.model, self.plan, self.proof, run)
        except (LookupError, ValueError, AssertionError, RecursionError) as error:
            raise _contradictory(self.folder) from error


def read_page_sources(folder: Path) -> PageSources:
    """Read a forged folder.

    Raises SourceNotFoundError for a missing folder or file, SourceUnreadableError for a file that a
    forge wouldn't write, and DecisionError for invalid decisions.
    """
    read_manifest(folder)
    recorded_decisions(folder)
    path = folder / PROFILE_FILE
    profile = read_profile(read_text(path, MOST_BYTES), path)
    model = read_model(folder / MODEL_FILE)
    if _columns_of_profile(profile) != _columns_of_model(model):
        raise _contradictory(folder)
    plan = plan_of_file(folder / MODEL_FILE, model)
    return PageSources(folder, profile, model, plan, _read_proof(folder / PROOF_FILE))


def _read_proof(path: Path) -> Proof:
    text = read_text(path, MOST_BYTES)
    try:
        return Proof.model_validate_json(text, strict=True)
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
        f"{MODEL_FILE} and {PROFILE_FILE} in {folder} describe different tables or columns.",
        hint="Use files from the same run, or run `fluid forge` again.",
    )
