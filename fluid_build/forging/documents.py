"""The documents of a forged folder, all but the dbt project and the manifest."""

from collections.abc import Mapping, Sequence

from pydantic_core import to_json

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.read.files import CONTRACT_FILE
from fluid_build.contract.validation import validate
from fluid_build.contract.write.evidence import EVIDENCE_FILE, evidence_document
from fluid_build.contract.write.yaml_text import as_document, contract_yaml
from fluid_build.forging.decision_files import decision_documents
from fluid_build.forging.design_file import DESIGN_FILE, basis_json
from fluid_build.forging.stages import Designed
from fluid_build.modeling.logical import model_json
from fluid_build.report.diagrams.model_diagram import model_diagram
from fluid_build.report.markdown_document import model_document
from fluid_build.report.profile_json import profile_document
from fluid_build.report.view import source_view
from fluid_build.transform.proof.written_proof import PROOF_FILE

MODEL_FILE = "model.json"
PLAN_FILE = "plan.json"
PROFILE_FILE = "profile.json"
DOCUMENT_FILE = "MODEL.md"
NEVER_SHOWN = (PROFILE_FILE, PROOF_FILE, DESIGN_FILE)
"""Files with values of rows, which an older version may not have marked as personal."""
REPORT_FILE = "report.html"
ATTRIBUTES_FILE = ".gitattributes"
GENERATED = (
    MODEL_FILE,
    PLAN_FILE,
    PROFILE_FILE,
    PROOF_FILE,
    DESIGN_FILE,
    EVIDENCE_FILE,
    REPORT_FILE,
)
"""Files for programs, or of figures: nobody reviews them line by line."""


class InvalidOwnContractError(AssertionError):
    """The generated contract breaks the FLUID schema: a bug in Fluid Forge."""


def contract_faults(contract: FluidContract) -> tuple[str, ...]:
    """Return where a contract breaks the FLUID schema, each fault as a sentence."""
    findings = validate(as_document(contract))
    errors = (finding for finding in findings if finding.level == "error")
    return tuple(f"{finding.path}: {finding.message}" for finding in errors)


def refuse_invalid(faults: Sequence[str]) -> None:
    """Raise InvalidOwnContractError where a generated contract has faults."""
    if faults:
        message = f"the generated contract is invalid at {faults[0]}"
        raise InvalidOwnContractError(message)


def documents(
    designed: Designed,
    contract: FluidContract,
    schema: Mapping[str, str],
    previous_decisions: str,
) -> Mapping[str, str]:
    """Return all documents but the proof by name; whether the contract is valid isn't asked here.

    ``schema`` are the DDL files, ``previous_decisions`` the text that decisions were read from.
    """
    model, plan, profile = designed.model, designed.plan, designed.profile
    return {
        CONTRACT_FILE: contract_yaml(contract),
        EVIDENCE_FILE: to_json(evidence_document(profile, plan), indent=1).decode() + "\n",
        MODEL_FILE: model_json(model),
        PROFILE_FILE: to_json(profile_document(profile), indent=2).decode() + "\n",
        DOCUMENT_FILE: model_document(
            source_view(profile, model, plan), model_diagram(model, plan)
        ),
        DESIGN_FILE: basis_json(designed.basis),
        PLAN_FILE: plan.model_dump_json(indent=1, exclude_defaults=True) + "\n",
        **schema,
        **decision_documents(previous_decisions, designed.verdicts),
    }
