"""``fluid forge data-model validate``: a forged folder, reviewed by rule, without its source."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fluid_build.cli import failures, messages
from fluid_build.cli.forging.receipt_screen import SEVERITY_LABELS, severity_figures
from fluid_build.cli.next_steps import after_review, next_steps
from fluid_build.cli.options import Debug, Json
from fluid_build.contract.read.files import CONTRACT_FILE, read_contract
from fluid_build.copilot.scratchpad import CriticFinding
from fluid_build.decisions.files import recorded_decisions
from fluid_build.pipeline.conformance import ConformanceAgent, ConformanceReport
from fluid_build.pipeline.critic.agent import review_everything
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Part,
    folder_label,
    heading,
    indented,
    lines,
    more,
    text,
)
from fluid_build.text import as_sentence, counted
from fluid_build.verification.forged_folder import ForgedFolder, read_folder

_STYLES = {"error": "red", "warning": "yellow", "info": "dim"}
_MOST_FINDINGS = 30


def validate_model(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that `fluid forge` wrote.")
    ],
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Review a forged model, and check it against its standards.

    The critic's rules review the model, the contract and the plan; conformance checks FLUID, OSI
    and what ODCS and DCS need. The source isn't read: `fluid verify` does that. Exit code 1 means
    an error, or that contract and model disagree.

    \b
    Example:  fluid forge data-model validate shop-model
    """
    forged = read_folder(folder)
    document = read_contract(folder / CONTRACT_FILE)
    recorded_decisions(folder)
    findings = review_everything(forged.model, document, forged.plan)
    conformance = ConformanceAgent().run(logical=forged.model, contract=document)
    is_valid = (
        forged.agrees
        and conformance.ok
        and not any(finding.severity == "error" for finding in findings)
    )
    disagreements = [*map(str, forged.disagreements), *forged.outdated]
    if json:
        messages.show_json(
            {
                "folder": str(folder),
                "valid": is_valid,
                "findings": [asdict(finding) for finding in findings],
                "conformance": {
                    "summary": conformance.summary(),
                    "findings": [asdict(finding) for finding in conformance.findings],
                },
                "disagreements": disagreements,
                "edited": list(forged.edited),
            }
        )
    else:
        show(_screen(folder, forged, findings, conformance, disagreements, is_valid=is_valid))
    return failures.DONE if is_valid else failures.CHECK_FAILED


def _screen(
    folder: Path,
    forged: ForgedFolder,
    findings: Sequence[CriticFinding],
    conformance: ConformanceReport,
    disagreements: Sequence[str],
    *,
    is_valid: bool,
) -> Iterator[Part]:
    verdict = text(" is valid", "green") if is_valid else text(" isn't valid", "red")
    yield Text.assemble(text(folder_label(folder), "bold"), verdict)
    yield indented(f"{forged.model.technique}, {counted(len(forged.plan.published), 'relation')}.")
    if findings:
        yield heading("Findings", severity_figures(finding.severity for finding in findings))
        yield from map(_finding_line, findings[:_MOST_FINDINGS])
        yield from more(len(findings) - _MOST_FINDINGS, ": see --json")
    yield heading("Conformance")
    yield indented(conformance.summary())
    for title, remarks in (("Disagreements", disagreements), ("Edited", forged.edited)):
        if remarks:
            yield heading(title, f"{len(remarks):,}")
            yield from lines(remarks)
    steps = after_review(folder, forged.manifest)
    if steps:
        yield from next_steps(steps)


def _finding_line(finding: CriticFinding) -> Part:
    suggestion = finding.suggestion or ""
    advice = f" {as_sentence(suggestion[0].upper() + suggestion[1:])}" if suggestion else ""
    return indented(
        Text.assemble(
            text(SEVERITY_LABELS[finding.severity], _STYLES[finding.severity]),
            text(f"  {as_sentence(finding.message)}"),
            text(advice, "dim"),
        )
    )
