"""The Python API of Fluid Forge: profile, forge, verify and test from a program or a notebook.

``import fluid_build as fluid`` offers the same names. docs/api.md documents every one of them, and
how long each stays.
"""

from fluid_build.api.arguments import OpenSettings, SourceLike, open
from fluid_build.api.contracts import ContractLike, TestResult, ValidateResult, test, validate
from fluid_build.api.decisions import Decisions
from fluid_build.api.forged import ForgeResult, forge
from fluid_build.api.named_items import NamedItems
from fluid_build.api.profiled import ProfiledTable, ProfileResult, profile
from fluid_build.api.progress import ProgressBar, show_progress
from fluid_build.api.verified import VerifyResult, WarehouseResult, verify, verify_warehouse
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.live import CheckResult, ExposeResult
from fluid_build.contract.validation import Finding
from fluid_build.decisions.verdicts import Verdict
from fluid_build.errors import (
    BuildFailedError,
    ContractError,
    DbtError,
    DbtFailedError,
    DbtMissingError,
    DecisionError,
    EmptySourceError,
    FluidError,
    MissingExtraError,
    NotTrustedError,
    OutputError,
    ScanTooLargeError,
    SourceChangedError,
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
    UnknownSourceError,
    UsageError,
)
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Candidate, ColumnProfile, Evidence, ForeignKey
from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.base import Source
from fluid_build.transform.proof.proof import Proof

__all__ = [
    "BuildFailedError",
    "Candidate",
    "CheckResult",
    "ColumnProfile",
    "ContractError",
    "ContractLike",
    "DbtError",
    "DbtFailedError",
    "DbtMissingError",
    "DecisionError",
    "Decisions",
    "EmptySourceError",
    "Evidence",
    "ExposeResult",
    "Finding",
    "FluidContract",
    "FluidError",
    "ForeignKey",
    "ForgeResult",
    "LogicalModel",
    "MissingExtraError",
    "NamedItems",
    "NotTrustedError",
    "OnProgress",
    "OpenSettings",
    "OutputError",
    "ProfileResult",
    "ProfiledTable",
    "Progress",
    "ProgressBar",
    "Proof",
    "ScanTooLargeError",
    "Source",
    "SourceChangedError",
    "SourceError",
    "SourceLike",
    "SourceNotFoundError",
    "SourceUnreachableError",
    "SourceUnreadableError",
    "TestResult",
    "UnknownSourceError",
    "UsageError",
    "ValidateResult",
    "Verdict",
    "VerifyResult",
    "WarehouseResult",
    "forge",
    "open",
    "profile",
    "show_progress",
    "test",
    "validate",
    "verify",
    "verify_warehouse",
]
