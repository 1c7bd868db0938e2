"""What `fluid forge` reports at its end: a screen or a JSON document, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from fluid_build.cli import failures, messages
from fluid_build.cli.folder_edits import contradictions, preview_document, preview_screen
from fluid_build.cli.forging.receipt_screen import receipt_section
from fluid_build.cli.forging.screen import forged_screen
from fluid_build.cli.forging.stage_lines import print_line
from fluid_build.cli.next_steps import after_forge
from fluid_build.cli.profile import tell_notes
from fluid_build.forging import Forged
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.receipt import Receipt
from fluid_build.pipeline.requests import ForgeRequest
from fluid_build.pipeline.running import RunResult
from fluid_build.report.terminal.printing import show
from fluid_build.sources.uri import Address
from fluid_build.text import as_sentence, counted


def report_run(
    result: RunResult,
    request: ForgeRequest,
    places: Mapping[str, Address],
    *,
    as_json: bool,
    as_line: bool,
) -> int:
    """Show what a run has made, or would make, and return the exit code."""
    forged, out, receipt = result.forged, request.out, result.receipt
    contradicting = contradictions(out, forged)
    _tell_banner(receipt)
    if as_json:
        document = (
            {"folder": str(out), **preview_document(result.preview), **run_document(receipt)}
            if result.preview is not None
            else forged_document(out, forged, contradicting, receipt)
        )
        print_line(document) if as_line else messages.show_json(document)
        tell_notes(forged.profile)
    elif result.preview is not None:
        show((*preview_screen(out, result.preview), *receipt_section(receipt)))
    else:
        steps = after_forge(out, forged, places, request.options)
        show(forged_screen(forged, contradicting, steps, receipt_section(receipt)))
    _tell_errors(receipt)
    holds = _holds(forged) and not contradicting and not receipt.errors
    return failures.DONE if holds else failures.CHECK_FAILED


def forged_document(
    out: Path, forged: Forged, contradicting: Sequence[str], receipt: Receipt
) -> dict[str, object]:
    """Return what was generated, for ``--json``."""
    profile, dimensional = forged.profile, forged.model.dimensional
    return {
        "technique": forged.model.technique,
        "variant": dimensional.variant if dimensional else None,
        "tables": len(profile.tables),
        "primary_keys": sum(table.primary_key is not None for table in profile.tables),
        "foreign_keys": len(profile.foreign_keys),
        "skipped": [skipped.model_dump() for skipped in profile.skipped],
        "built": [build.name for build in forged.plan.published],
        "renamed": [renaming.model_dump() for renaming in forged.plan.renamed],
        "proof": "not proven" if forged.outdated else forged.proof.verdict,
        "notes": list(forged.notes),
        "files": [str(path) for path in forged.files],
        "kept": [{"file": str(out / change.name), "owner": change.owner} for change in forged.kept],
        "edits": asdict(forged.edits),
        "misfits": list(contradicting),
        **run_document(receipt),
    }


def run_document(receipt: Receipt) -> JsonObject:
    """Return what a JSON document says of its run."""
    return {
        "run": receipt.run,
        "fallback_used": receipt.fallback_used,
        "receipt": receipt.model_dump(mode="json"),
    }


def _tell_banner(receipt: Receipt) -> None:
    """Say on stderr, before anything else, that the model of a run has failed."""
    for reason in receipt.fallback_reasons:
        messages.tell(f"WARNING: the model failed, so the result is the draft without it. {reason}")
    for note in receipt.notes:
        messages.tell(note)


def _tell_errors(receipt: Receipt) -> None:
    """Say on stderr, after everything else, why the exit code isn't 0."""
    if receipt.errors:
        first, count = receipt.errors[0], counted(len(receipt.errors), "error")
        messages.tell(f"FAILED: the results have {count}: {as_sentence(first)}")


def _holds(forged: Forged) -> bool:
    return not forged.profile.skipped and forged.proof.verdict != "lost"
