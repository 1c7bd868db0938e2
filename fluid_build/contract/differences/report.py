"""Differences as JSON data."""

from fluid_build.contract.differences.change import LEVELS, Difference
from fluid_build.contract.differences.differing import Differences


def differences_document(differences: Differences) -> dict[str, object]:
    """Return what ``fluid diff --json`` prints."""
    return {
        "kind": differences.kind,
        "breaks": differences.breaks,
        "counts": {level: len(differences.of(level)) for level in LEVELS},
        "bump": differences.bump,
        "versions": [
            {
                "expose_id": advice.expose_id,
                "old": advice.old,
                "new": advice.new,
                "suggested": advice.suggested,
                "bump": advice.bump,
            }
            for advice in differences.versions
        ],
        "changes": [_change(change) for change in differences.changes],
    }


def _change(change: Difference) -> dict[str, object]:
    return {
        "level": change.level,
        "action": change.action,
        "kind": change.kind,
        "names": list(change.names),
        "field": change.field,
        "before": change.before,
        "after": change.after,
        "reason": change.reason,
        "renamed_to": change.renamed_to,
    }
