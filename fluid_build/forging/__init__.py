"""The main road, from a source to its profile, model, plan, contract, dbt project and proof.

``stages`` has the stages as functions, each of what the ones before it returned. ``forge`` calls
them one after another, and the pipeline's coordinator calls the same functions. Nothing is written
before the contract has passed the validator; then all files are written together, or none is.

``decision_files`` reads a folder's decisions before a forge and writes what became of them.
``documents`` renders the files, ``folder`` writes them with their manifest, and ``report_file``
writes the page.
"""

from fluid_build.contract.read.files import CONTRACT_FILE
from fluid_build.forging.documents import (
    DOCUMENT_FILE,
    MODEL_FILE,
    PLAN_FILE,
    PROFILE_FILE,
    InvalidOwnContractError,
)
from fluid_build.forging.forging import forge, preview, write_forged
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.results import Forged, Preview

__all__ = [
    "CONTRACT_FILE",
    "DOCUMENT_FILE",
    "MODEL_FILE",
    "PLAN_FILE",
    "PROFILE_FILE",
    "ForgeOptions",
    "Forged",
    "InvalidOwnContractError",
    "Preview",
    "forge",
    "preview",
    "write_forged",
]
