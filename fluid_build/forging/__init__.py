"""The main road, from a source to its profile, model, plan, contract, dbt project and proof.

Each stage hands typed values to the next, and none reaches back.
"""

from fluid_build.contract.read.files import CONTRACT_FILE
from fluid_build.forging.documents import (
    DOCUMENT_FILE,
    MODEL_FILE,
    PLAN_FILE,
    PROFILE_FILE,
    InvalidOwnContractError,
    artifacts,
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
    "artifacts",
    "forge",
    "preview",
    "write_forged",
]
