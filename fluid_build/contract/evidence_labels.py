"""Evidence as labels: what a claim of the contract rests on, in strings as FLUID wants them."""

import json
import math
from collections.abc import Sequence

from fluid_build.profiling.profile import Evidence, ForeignKeyEvidence

Labels = dict[str, str]


def evidence_labels(evidence: Evidence) -> Labels:
    """Where a claim comes from, its figures, and the query that returns what breaks it."""
    labels = {
        "origin": evidence.origin,
        "rows": str(evidence.rows),
        "violations": str(evidence.violations),
        "exact": "true" if evidence.exact else "false",
    }
    if evidence.nulls:
        labels["nulls"] = str(evidence.nulls)
    if evidence.distinct is not None:
        labels["distinct"] = str(evidence.distinct)
    if evidence.sample is not None:
        labels["sample"] = str(evidence.sample)
    if evidence.sample_of is not None:
        labels["sample_of"] = str(evidence.sample_of)
    if evidence.sql:
        labels["sql"] = evidence.sql
    return labels


def reference_labels(evidence: ForeignKeyEvidence, confidence: float) -> Labels:
    """Return the evidence of a relationship."""
    labels = evidence_labels(evidence)
    if not evidence.is_measured:
        labels["measured"] = "false"
    labels["matched"] = str(evidence.matched)
    labels["orphans"] = str(evidence.orphans)
    if evidence.standing_for_none:
        labels["standing_for_none"] = str(evidence.standing_for_none)
    labels["confidence"] = figure(confidence)
    if evidence.coverage is not None:
        labels["coverage"] = figure(evidence.coverage)
    return labels


def names_label(names: Sequence[str]) -> str:
    """Return names or values as one label: a JSON array, as any of them may have a comma."""
    return json.dumps(list(names), ensure_ascii=False)


def figure(value: float) -> str:
    """Return a share, to four digits after the point."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def share(keeping: int, rows: int) -> float:
    """Return the share of rows that keep a rule, rounded down so that measured data passes."""
    return 1.0 if keeping >= rows or rows == 0 else math.floor(keeping / rows * 1e6) / 1e6
