"""Fluid Forge: from an undocumented database to a data product that can be trusted.

``import fluid_build as fluid`` offers the names of ``fluid_build.api``, and imports what they need
when one of them is used first. ``__init__.pyi`` has their types.
"""

__version__ = "0.2.0"

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

_OFFERED = (*__all__, "open")
"""With one name that `import *` leaves alone, since it would hide Python's own."""
_MODULES = ("api", "errors")


def __getattr__(name: str) -> object:
    """Return a name of the API, or one of its two documented modules."""
    # Python asks for names such as __path__, and for submodules that are imported by themselves.
    if name not in _OFFERED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    value: object = getattr(importlib.import_module(f"{__name__}.api"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of the API as well, for completion."""
    return sorted({*globals(), *_OFFERED})
