"""``fluid diff``: what changed between two contracts or two models, and what it breaks."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column
from rich.text import Text

from fluid_build.cli import failures, messages
from fluid_build.cli.options import Debug, Json
from fluid_build.contract.differences import (
    LEVELS,
    Differences,
    DocumentChange,
    Level,
    VersionAdvice,
    differences,
    differences_document,
    read_comparable,
)
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Part,
    heading,
    indented,
    more,
    text,
    unbroken,
    whole,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.text import counted

_STYLES: dict[Level, str] = {"breaking": "red", "additive": "green", "cosmetic": "dim"}
_MOST_OF_A_LEVEL = 40
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="A contract, a model.json or a generated folder.")
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The newer version.")],
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Compare two contracts or two models.

    Each change is breaking, additive or cosmetic, as a reader of the data would judge it. Fails if
    any change is breaking, and suggests the next semantic version.

    \b
    Example:  fluid diff shop-model new-shop-model
    """
    changes = differences(read_comparable(old), read_comparable(new))
    if json:
        messages.show_json({"old": str(old), "new": str(new), **differences_document(changes)})
    else:
        show(_screen(old, new, changes))
    return failures.CHECK_FAILED if changes.breaks else failures.DONE


def _screen(old: Path, new: Path, changes: Differences) -> Iterator[Part]:
    yield Text.assemble(text(whole(old), "bold"), text(" → ", "dim"), text(whole(new), "bold"))
    if not changes.changes:
        yield indented("Nothing changed.", "green")
        return
    figures = ", ".join(f"{len(changes.of(level)):,} {level}" for level in LEVELS)
    yield indented(f"{counted(len(changes.changes), 'change')}: {figures}.", "dim")
    for level in LEVELS:
        yield from _level_section(level, changes.of(level), changes.kind)
    yield heading("Next version", "unchanged" if changes.bump == "none" else changes.bump)
    if changes.versions:
        yield indented(_versions(changes.versions[:_MOST_OF_A_LEVEL]))
        yield from more(len(changes.versions) - _MOST_OF_A_LEVEL, ": see --json")


def _level_section(level: Level, changes: Sequence[DocumentChange], kind: str) -> Iterator[Part]:
    if not changes:
        return
    yield heading(level.capitalize(), counted(len(changes), "change"))
    for path, group in groupby(changes[:_MOST_OF_A_LEVEL], key=lambda change: change.names[:1]):
        yield indented(path[0] if path else f"the {kind}", "cyan")
        yield from (indented(_change_line(change), by=4) for change in group)
    yield from more(len(changes) - _MOST_OF_A_LEVEL, ": see --json")


def _change_line(change: DocumentChange) -> Text:
    """Return a change, named from inside its expose or entity, and why it has its level."""
    inner = ".".join(change.names[1:])
    subject = f"{change.kind} {inner}" if inner else change.kind
    line = Text.assemble(
        text(f"{_MARKS[change.action]} ", _STYLES[change.level]),
        text(subject, "bold"),
        text(_description(change)),
    )
    if change.field and change.level != "cosmetic":
        line.append_text(text(f"  {change.reason}", "dim"))
    return line


def _description(change: DocumentChange) -> str:
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


def _versions(versions: Sequence[VersionAdvice]) -> Grid:
    grid = Grid(Column("expose", style="cyan"), "old", "new", "suggested")
    for advice in versions:
        grid.add_row(
            unbroken(advice.expose_id),
            text(advice.old),
            text(advice.new),
            text(advice.suggested, "green" if advice.is_followed else "yellow"),
        )
    return grid
