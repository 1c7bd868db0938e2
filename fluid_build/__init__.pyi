# What type checkers see: the names of the API, which __init__.py imports when they are used.
from fluid_build import api, errors
from fluid_build.api.arguments import OpenSettings, SourceLike
from fluid_build.api.arguments import open as open
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
    "api",
    "errors",
    "forge",
    "profile",
    "show_progress",
    "test",
    "validate",
    "verify",
    "verify_warehouse",
]

__version__: str
