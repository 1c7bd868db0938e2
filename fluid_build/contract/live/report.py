"""The result of a live test as JSON data."""

from collections.abc import Mapping

from fluid_build.contract.live.results import ExposeResult, LiveResult

_CHECK = (
    "id subject type columns severity status expected observed rows violations reason description "
    "sql"
).split()
"""The keys of a check, in their order."""


def result_document(result: LiveResult) -> dict[str, object]:
    """Return what ``fluid test --json`` prints; no value of a row is in it."""
    return {
        "contract": {"id": result.contract_id, "name": result.contract_name},
        "source": {"name": result.source_name, "kind": result.source_kind},
        "passed": result.passed,
        "counts": counts(result),
        "exposes": [_expose(expose) for expose in result.exposes],
    }


def counts(result: LiveResult | ExposeResult) -> Mapping[str, int]:
    """Return how many checks passed, failed, gave a warning or a note, or weren't done."""
    checks = list(result.checks)
    failed = sum(check.fails for check in checks)
    warnings = sum(check.warns for check in checks)
    broken = sum(check.status == "failed" for check in checks)
    return {
        "passed": sum(check.status == "passed" for check in checks),
        "failed": failed,
        "warnings": warnings,
        "notes": broken - failed - warnings,
        "not_checked": sum(check.status == "not_checked" for check in checks),
    }


def _expose(expose: ExposeResult) -> dict[str, object]:
    return {
        "expose_id": expose.expose_id,
        "table": expose.table,
        "rows": expose.rows,
        "checks": [{key: getattr(check, key) for key in _CHECK} for check in expose.checks],
    }
