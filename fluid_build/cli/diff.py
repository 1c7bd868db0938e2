"""``fluid diff``: what changed between two contracts or two models, and whom it hurts."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.cli import failures, screen
from fluid_build.cli.grid import Grid
from fluid_build.cli.options import Debug, Json
from fluid_build.contract.differences import (
    LEVELS,
    Difference,
    Differences,
    Level,
    VersionAdvice,
    differences,
    differences_document,
    read_comparable,
)
from fluid_build.text import counted

_STYLES: dict[Level, str] = {"breaking": "red", "additive": "green", "cosmetic": "dim"}
_MOST_OF_A_LEVEL = 40
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="A contract, a model.json or a forged folder.")
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The same, a version later.")],
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Compare two contracts or two models.

    What breaks, what is added, what is cosmetic, judged as a reader of the data would. Fails
    where something breaks, and suggests the next semantic version.

    \b
    Example:  fluid diff shop-model new-shop-model
    """
    found = differences(read_comparable(old), read_comparable(new))
    if json:
        screen.show_json(
            {"old": str(old), "new": str(new), **differences_document(found)},
        )
    else:
        screen.show(_verdict(old, new, found))
    return failures.CHECK_FAILED if found.breaks else failures.DONE


def _verdict(old: Path, new: Path, found: Differences) -> Iterator[RenderableType]:
    yield Text.assemble(
        screen.text(str(old), "bold"), screen.text(" → ", "dim"), screen.text(str(new), "bold")
    )
    if not found.changes:
        yield screen.text("  Nothing changed.", "green")
        return
    figures = ", ".join(f"{len(found.of(level)):,} {level}" for level in LEVELS)
    yield screen.text(f"  {counted(len(found.changes), 'change')}: {figures}.", "dim")
    for level in LEVELS:
        yield from _of_level(level, found.of(level), found.kind)
    yield screen.heading("Next version", "unchanged" if found.bump == "none" else found.bump)
    if found.versions:
        yield Padding(_versions(found.versions), (0, 0, 0, 2))


def _of_level(level: Level, changes: Sequence[Difference], kind: str) -> Iterator[RenderableType]:
    if not changes:
        return
    yield screen.heading(level.capitalize(), counted(len(changes), "change"))
    for name, group in groupby(changes[:_MOST_OF_A_LEVEL], key=lambda change: change.names[:1]):
        yield Padding(screen.text(name[0] if name else f"the {kind}", "cyan"), (0, 0, 0, 2))
        for change in group:
            yield Padding(_line(change), (0, 0, 0, 4))
    left = len(changes) - _MOST_OF_A_LEVEL
    if left > 0:
        yield screen.text(f"  and {left:,} more: see --json", "dim")


def _line(change: Difference) -> Text:
    """A change, named from inside its expose or entity, and why it is of its level."""
    mark = screen.text(f"{_MARKS[change.action]} ", _STYLES[change.level])
    inner = ".".join(change.names[1:])
    subject = f"{change.kind} {inner}" if inner else change.kind
    line = Text.assemble(mark, screen.text(subject, "bold"), screen.text(_what(change)))
    if change.field and change.level != "cosmetic":
        line.append_text(screen.text(f"  {change.reason}", "dim"))
    return line


def _what(change: Difference) -> str:
    if not change.field:
        renamed = f", probably renamed to {change.renamed_to}" if change.renamed_to else ""
        return f" {change.action}{renamed}"
    if change.action == "added":
        return f": {change.field} added ({change.after})"
    if change.action == "removed":
        return f": {change.field} removed ({change.before})"
    if not change.before:
        return f": {change.field} changed ({change.after})"
    if change.before == change.after:
        return f": {change.field} changed"
    return f": {change.field} {change.before} → {change.after}"


def _versions(versions: Sequence[VersionAdvice]) -> RenderableType:
    grid = Grid()
    grid.add_column("expose", style="cyan")
    for name in ("old", "new", "suggested"):
        grid.add_column(name)
    for advice in versions:
        style = "green" if advice.is_followed else "yellow"
        grid.add_row(
            screen.name(advice.expose_id),
            screen.text(advice.old),
            screen.text(advice.new),
            screen.text(advice.suggested, style),
        )
    return grid
