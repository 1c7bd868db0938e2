"""``fluid validate``: whether a file is a FLUID contract, and if not, exactly why."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column
from rich.text import Text

from fluid_build.cli import failures, messages
from fluid_build.cli.options import Debug, Json
from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.read.files import read_located
from fluid_build.contract.validation import Finding
from fluid_build.contract.validation import validate as validate_document
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import Part, heading, indented, text, whole
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.text import counted

_KEYS = ("level", "path", "line", "message", "found", "allowed", "nearest")
_DETAILS = ("found", "allowed", "nearest")


def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A contract, YAML or JSON.")],
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Check a data contract against FLUID 0.7.2.

    Errors are what the schema forbids. Warnings are names that refer to nothing or are used twice;
    they don't make a contract invalid.

    \b
    Example:  fluid validate contract.fluid.yaml
    """
    located = read_located(file)
    errors = validate_document(located.document, lines=located.lines)
    findings = errors or check_consistency(located.document, lines=located.lines)
    if json:
        documents = [{key: getattr(finding, key) for key in _KEYS} for finding in findings]
        messages.show_json({"file": str(file), "valid": not errors, "findings": documents})
    elif errors:
        show(_invalid_screen(file, errors))
    else:
        show(_valid_screen(file, located.document, findings))
    return failures.CHECK_FAILED if errors else failures.DONE


def _invalid_screen(file: Path, errors: Sequence[Finding]) -> Iterator[Part]:
    yield Text.assemble(
        text(whole(file), "bold"),
        text(" isn't a valid FLUID 0.7.2 contract: ", "red"),
        text(counted(len(errors), "finding")),
    )
    yield from (Padding(_finding(error), (1, 0, 0, 2)) for error in errors)


def _valid_screen(file: Path, document: Any, warnings: Sequence[Finding]) -> Iterator[Part]:
    yield Text.assemble(
        text(whole(file), "bold"), text(" is a valid FLUID 0.7.2 contract", "green")
    )
    yield indented(f"Checked: {_checked(document)}.", "dim")
    if warnings:
        yield heading("Warnings", counted(len(warnings), "finding"))
    yield from (indented(_finding(warning)) for warning in warnings)


def _finding(finding: Finding) -> RenderableType:
    place = f"line {finding.line}: " if finding.line is not None else ""
    line = Text.assemble(
        text(place, "dim"),
        text(finding.path or "the document", "cyan"),
        text(f": {finding.message}"),
    )
    grid = Grid(Column(style="dim"), "", show_header=False)
    for detail in _DETAILS:
        value = getattr(finding, detail)
        if value:
            grid.add_row(text(detail), text(value))
    return Group(line, indented(grid))


def _checked(document: Any) -> str:
    """Return how much of a valid contract there was to check."""
    promises = [expose["contract"] for expose in document["exposes"]]
    columns = sum(len(promise.get("schema") or ()) for promise in promises)
    rules = sum(len((promise.get("dq") or {}).get("rules") or ()) for promise in promises)
    parts = (
        counted(len(promises), "expose"),
        counted(columns, "column"),
        counted(rules, "quality rule"),
    )
    return ", ".join(parts)
