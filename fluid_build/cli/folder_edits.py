"""Files that a forge finds in its folder: the ones it kept, and what it would change."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Column
from rich.text import Text

from fluid_build.cli.invocation import fluid
from fluid_build.errors import FluidError
from fluid_build.forging import Forged, Preview
from fluid_build.forging.project_edits import HOMELESS_FILE, KeptEdits
from fluid_build.report.terminal.screen_parts import (
    Copyable,
    Part,
    first_line,
    heading,
    indented,
    lines,
    more,
    text,
    unbroken,
    whole,
)
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.text import clip, counted
from fluid_build.transform.proof.folder_changes import Action, FileChange
from fluid_build.verification import read_folder

WITH_OPTIONS = (
    "To see the differences, run the same command with --diff; to overwrite your edits, run it with"
    " --force."
)
_COUNTED: dict[Action, str] = {
    "create": "to create",
    "replace": "to change",
    "merge": "to change with your edits",
    "remove": "to remove",
    "keep": "to keep",
    "nothing": "unchanged",
}
_SECTIONS: dict[Action, str] = {
    "create": "Created",
    "replace": "Changed",
    "merge": "Changed, with your edits",
    "remove": "Removed",
}
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_MOST_FILES = 20
# A preview is read on a screen: far longer diffs are for a diff tool on two folders.
_MOST_LINES_OF_A_FILE = 80
_MOST_LINES = 800
_LONGEST_LINE = 200


def contradictions(folder: Path, forged: Forged) -> tuple[str, ...]:
    """Return where edited files don't match the newly generated ones, each as a sentence."""
    if not (forged.kept or forged.edits.files):
        return ()
    stale = (f"{name} was edited for an earlier structure of the model" for name in forged.outdated)
    try:
        there = read_folder(folder)
    except FluidError as error:
        return (error.message, *stale)
    return (*map(str, there.disagreements), *there.outdated, *stale)


def edits_section(edits: KeptEdits) -> Iterator[Part]:
    """Yield which files were written with somebody's edits, and which edits have no place."""
    if edits.files:
        count = counted(len(edits.files), "file")
        yield heading("Your edits", f"still in {count}, with what is new")
        yield from lines(edits.files, "yellow", most=_MOST_FILES)
    if edits.homeless:
        yield heading("Edits without a place", f"their model or column is gone: {HOMELESS_FILE}")
        yield from lines(edits.homeless, "yellow", most=_MOST_FILES)
    if edits.overruled:
        yield heading("Edits that were replaced", "the source has changed there as well")
        yield from lines(edits.overruled, "yellow", most=_MOST_FILES)


def kept_section(
    kept: Sequence[FileChange], contradicting: Sequence[str], advice: str = WITH_OPTIONS
) -> Iterator[Part]:
    """Yield each kept file and why it was kept, what to do, and where it contradicts the others."""
    if kept:
        yield heading("Kept", f"{counted(len(kept), 'file')} that you edited or added")
        yield from _files(kept)
        yield indented(advice)
    if contradicting:
        count = counted(len(contradicting), "difference")
        yield heading("The files that you edited don't match the newly generated ones", count)
        yield from lines(contradicting, "red", most=_MOST_FILES)
    elif any(change.name.startswith("dbt/") for change in kept):
        yield indented(f"`{fluid('verify')} DIR --dbt` shows whether dbt still builds the model.")


def preview_document(preview: Preview) -> dict[str, object]:
    """Return what `fluid forge` would change, for ``--json``; unchanged files are left out."""
    changes = _changes(preview)
    diffs = {name: "\n".join(diff) for name, diff, _ in _clipped_diffs(preview, changes)}
    return {
        "changes": [
            {
                "file": change.name,
                "change": change.action,
                "owner": change.owner,
                "diff": diffs.get(change.name, ""),
            }
            for change in changes
        ]
    }


def preview_screen(folder: Path, preview: Preview) -> Iterator[Part]:
    """Yield what `fluid forge` would change: in figures, file by file, and as unified diffs."""
    changes = _changes(preview)
    yield first_line(whole(folder), "nothing was written")
    if not changes:
        yield indented("Nothing would change.", "green")
        return
    counts = Counter(change.action for change in preview.changes)
    figures = (
        f"{counts[action]:,} {label}" for action, label in _COUNTED.items() if counts[action]
    )
    yield indented(f"{', '.join(figures)}.")
    kept = [change for change in changes if change.action == "keep"]
    if kept:
        yield heading("Kept", "overwritten only with --force")
        yield from _files(kept)
    for action, title in _SECTIONS.items():
        changed = [change for change in changes if change.action == action]
        if changed:
            yield heading(title, counted(len(changed), "file"))
            yield from _files(changed)
    for _, diff, left in _clipped_diffs(preview, changes):
        yield Text()
        yield from (Copyable(line, _DIFF_STYLES.get(line[:1], ""), indent=0) for line in diff)
        if left:
            yield text(f"... {counted(left, 'more line')}", "dim")


def _changes(preview: Preview) -> list[FileChange]:
    return [change for change in preview.changes if change.action != "nothing"]


def _clipped_diffs(
    preview: Preview, changes: Sequence[FileChange]
) -> Iterator[tuple[str, list[str], int]]:
    """Yield each file, edited ones first, with its diff and how many lines of it are left out."""
    room = _MOST_LINES
    for change in sorted(changes, key=lambda change: (change.owner != "edited", change.name)):
        diff = preview.differences.get(change.name, ())
        clipped = [clip(line, _LONGEST_LINE) for line in diff[: min(room, _MOST_LINES_OF_A_FILE)]]
        room -= len(clipped)
        if clipped:
            yield change.name, clipped, len(diff) - len(clipped)


def _files(changes: Sequence[FileChange]) -> Iterator[Part]:
    grid = Grid(Column(style="yellow"), Column(style="dim"), show_header=False)
    for change in changes[:_MOST_FILES]:
        grid.add_row(unbroken(change.name), text(_remark(change)))
    yield indented(grid)
    yield from more(len(changes) - _MOST_FILES)


def _remark(change: FileChange) -> str:
    if change.owner == "edited":
        return "edited since it was generated"
    return "not written by Fluid Forge" if change.owner == "foreign" else ""
