"""The way back: from a forged folder to its source, and whether the one still fits the other."""

from fluid_build.verification.dbt import DbtVerified, verify_dbt
from fluid_build.verification.forged_folder import ForgedFolder, read_folder
from fluid_build.verification.source import Verified, refresh_proof, verify
from fluid_build.verification.warehouse import WarehouseVerified, verify_warehouse

__all__ = [
    "DbtVerified",
    "ForgedFolder",
    "Verified",
    "WarehouseVerified",
    "read_folder",
    "refresh_proof",
    "verify",
    "verify_dbt",
    "verify_warehouse",
]
