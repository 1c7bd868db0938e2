"""``fluid validate``: whether a file is a FLUID contract, and if not, exactly why."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.cli import failures, screen
from fluid_build.cli.grid import Grid
from fluid_build.cli.options import Debug, Json
from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.read.files import read_located
from fluid_build.contract.read.located import LocatedDocument
from fluid_build.contract.validation import Finding
from fluid_build.contract.validation import validate as validate_document
from fluid_build.text import counted


def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A contract, YAML or JSON.")],
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Check a data contract against FLUID 0.7.2.

    Errors are what the schema forbids. Warnings are names that refer to nothing or stand twice;
    they do not make a contract invalid.

    \b
    Example:  fluid validate contract.fluid.yaml
    """
    located = read_located(file)
    errors = validate_document(located.document, lines=located.lines)
    found = errors or check_consistency(located.document, lines=located.lines)
    if json:
        findings = [{k: getattr(finding, k) for k in _KEYS} for finding in found]
        screen.show_json({"file": str(file), "valid": not errors, "findings": findings})
    else:
        screen.show(_verdict(file, located, errors, found))
    return failures.CHECK_FAILED if errors else failures.DONE


_KEYS = ("level", "path", "line", "message", "found", "allowed", "nearest")


def _verdict(
    file: Path, located: LocatedDocument, errors: tuple[Finding, ...], found: tuple[Finding, ...]
) -> Iterator[RenderableType]:
    if errors:
        yield Text.assemble(
            screen.text(str(file), "bold"),
            screen.text(" isn't a valid FLUID 0.7.2 contract: ", "red"),
            screen.text(counted(len(errors), "finding")),
        )
    else:
        yield Text.assemble(
            screen.text(str(file), "bold"), screen.text(" is a valid FLUID 0.7.2 contract", "green")
        )
        yield screen.text(f"  Checked: {_checked(located.document)}.", "dim")
    if found and not errors:
        yield screen.heading("Warnings", counted(len(found), "finding"))
    for finding in found:
        yield Padding(_finding(finding), (1 if errors else 0, 0, 0, 2))


def _finding(finding: Finding) -> RenderableType:
    place = f"line {finding.line}: " if finding.line is not None else ""
    line = Text.assemble(
        screen.text(place, "dim"),
        screen.text(finding.path or "the document", "cyan"),
        screen.text(f": {finding.message}"),
    )
    grid = Grid(show_header=False)
    grid.add_column(style="dim")
    grid.add_column()
    for name in ("found", "allowed", "nearest"):
        value = getattr(finding, name)
        if value:
            grid.add_row(screen.text(name), screen.text(value))
    return Group(line, Padding(grid, (0, 0, 0, 2)))


def _checked(document: Any) -> str:
    """How much of a valid contract there was to check."""
    promises = [expose["contract"] for expose in document["exposes"]]
    columns = sum(len(promise.get("schema") or ()) for promise in promises)
    rules = sum(len((promise.get("dq") or {}).get("rules") or ()) for promise in promises)
    parts = (
        counted(len(promises), "expose"),
        counted(columns, "column"),
        counted(rules, "quality rule"),
    )
    return ", ".join(parts)
