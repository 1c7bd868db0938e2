"""The way back: from a forged folder to its source, and whether the one still fits the other.

The folder may be a stranger's. SQL is never read from it: the plan is derived again from its model.
The page that is made of a folder runs nothing that it reads, follows no link out of it, and says
nothing of where it lies but its name.
"""

from fluid_build.verification.changes import ChangesSince, ModelOutdatedError
from fluid_build.verification.dbt import DbtVerified, verify_dbt
from fluid_build.verification.forged_folder import (
    FolderHead,
    ForgedFolder,
    read_folder,
    read_folder_head,
)
from fluid_build.verification.source import Verified, refresh_proof, verify
from fluid_build.verification.warehouse import WarehouseVerified, verify_warehouse

__all__ = [
    "ChangesSince",
    "DbtVerified",
    "FolderHead",
    "ForgedFolder",
    "ModelOutdatedError",
    "Verified",
    "WarehouseVerified",
    "read_folder",
    "read_folder_head",
    "refresh_proof",
    "verify",
    "verify_dbt",
    "verify_warehouse",
]
