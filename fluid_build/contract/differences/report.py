"""Differences as JSON data."""

from dataclasses import asdict

from fluid_build.contract.differences.change import LEVELS
from fluid_build.contract.differences.differing import Differences


def differences_document(differences: Differences) -> dict[str, object]:
    """Return what ``fluid diff --json`` prints."""
    return {
        "kind": differences.kind,
        "breaks": differences.breaks,
        "counts": {level: len(differences.of(level)) for level in LEVELS},
        "bump": differences.bump,
        "versions": [asdict(advice) for advice in differences.versions],
        "changes": [asdict(change) for change in differences.changes],
    }
