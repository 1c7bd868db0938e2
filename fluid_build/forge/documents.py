"""The documents of a forged folder, all but the dbt project and the manifest."""

from collections.abc import Mapping

from pydantic_core import to_json

from fluid_build.block_yaml import block_yaml
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.read.files import CONTRACT_FILE
from fluid_build.contract.validation import validate
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.forge.decision_files import decision_documents
from fluid_build.forge.stages import Designed
from fluid_build.modeling.logical import LogicalModel, model_json
from fluid_build.profiling.profile import Profile
from fluid_build.report.markdown_document import model_document
from fluid_build.report.profile_json import profile_json
from fluid_build.report.view import source_view
from fluid_build.transform.proof.proof import Proof
from fluid_build.transform.proof.written_proof import PROOF_FILE, proof_files

MODEL_FILE = "model.json"
PLAN_FILE = "plan.json"
PROFILE_FILE = "profile.json"
DOCUMENT_FILE = "MODEL.md"
NEVER_SHOWN = (PROFILE_FILE, PROOF_FILE)
"""Files with values of rows, which an older version may not have marked as personal."""


class InvalidOwnContractError(AssertionError):
    """The generated contract breaks the FLUID schema: a bug in Fluid Forge."""


def documents(
    profile: Profile,
    designed: Designed,
    contract: FluidContract,
    proof: Proof,
    decisions_text: str,
) -> Mapping[str, str]:
    """Return all documents by name, once the contract has passed the validator.

    ``decisions_text`` is the file that the decisions were read from, "" where there was none.
    """
    model, plan = designed.model, designed.plan
    return {
        **artifacts(profile, model, contract),
        PLAN_FILE: plan.model_dump_json(indent=1, exclude_defaults=True) + "\n",
        **proof_files(proof, model, plan),
        **decision_documents(decisions_text, designed.verdicts),
    }


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
