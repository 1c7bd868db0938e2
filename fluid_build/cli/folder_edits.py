"""Files that a forge finds in its folder: what it kept, and what it would change, on a screen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.cli.grid import Grid
from fluid_build.cli.screen import Copyable, Part, heading, name, text
from fluid_build.errors import FluidError
from fluid_build.forge import Preview
from fluid_build.text import clip, counted
from fluid_build.transform.proof.folder_changes import Action, FileChange
from fluid_build.verification import read_folder

WITH_OPTIONS = (
    "To see the differences, run the same command with --diff; to overwrite your edits, run it with"
    " --force."
)
_WORDS: dict[Action, str] = {
    "create": "to create",
    "replace": "to change",
    "remove": "to remove",
    "keep": "to keep",
    "nothing": "unchanged",
}
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_MOST_FILES = 20
_MOST_LINES_OF_A_FILE = 80
_MOST_LINES = 800
_LONGEST_LINE = 200


def misfits(folder: Path, kept: Sequence[FileChange]) -> tuple[str, ...]:
    """Where kept files contradict the files that were forged beside them, each as a sentence."""
    if not kept:
        return ()
    try:
        found = read_folder(folder)
    except FluidError as error:
        return (error.message,)
    return (*map(str, found.disagreements), *found.outdated)


def kept_files(
    kept: Sequence[FileChange], unfit: Sequence[str], advice: str = WITH_OPTIONS
) -> Iterator[Part]:
    """Each file that was kept and why, what to do, and where it contradicts the others."""
    if not kept:
        return
    yield heading("Kept", f"{counted(len(kept), 'file')} of yours, not overwritten")
    yield _indented(_files(kept))
    yield _indented(text(advice))
    if unfit:
        yield heading("The kept files don't fit the forged ones", counted(len(unfit), "difference"))
        yield from _listed(unfit)
    elif any(change.name.startswith("dbt/") for change in kept):
        yield _indented(text("`fluid verify --dbt` shows whether dbt still builds the model."))


def as_documents(changes: Sequence[FileChange]) -> list[dict[str, str]]:
    """Files for ``--json``."""
    return [
        {"file": change.name, "change": change.action, "owner": change.owner} for change in changes
    ]


def preview_document(preview: Preview) -> dict[str, object]:
    """What a forge would change, for ``--json``; unchanged files are left out."""
    changes = [change for change in preview.changes if change.action != "nothing"]
    shown = {name: "\n".join(lines) for name, lines, _ in _bounded(preview, changes)}
    return {
        "changes": [
            {**document, "diff": shown.get(document["file"], "")}
            for document in as_documents(changes)
        ]
    }


def preview_lines(folder: Path, preview: Preview) -> Iterator[Part]:
    """What a forge would change: in figures, file by file, and as unified diffs."""
    changes = [change for change in preview.changes if change.action != "nothing"]
    yield Text.assemble(text(str(folder), "bold"), "  ", text("nothing was written", "dim"))
    if not changes:
        yield _indented(text("Nothing would change.", "green"))
        return
    found = Counter(change.action for change in preview.changes)
    figures = (f"{found[action]:,} {word}" for action, word in _WORDS.items() if found[action])
    yield _indented(text(f"{', '.join(figures)}."))
    kept = [change for change in changes if change.action == "keep"]
    if kept:
        yield heading("Kept", "overwritten only with --force")
        yield _indented(_files(kept))
    for action, title in (("create", "Created"), ("replace", "Changed"), ("remove", "Removed")):
        names = [change for change in changes if change.action == action]
        if names:
            yield heading(title, counted(len(names), "file"))
            yield _indented(_files(names))
    for _, lines, left in _bounded(preview, changes):
        yield Text()
        yield from (Copyable(line, _STYLES.get(line[:1], ""), indent=0) for line in lines)
        if left:
            yield text(f"... {counted(left, 'more line')}", "dim")


def _bounded(
    preview: Preview, changes: Sequence[FileChange]
) -> Iterator[tuple[str, list[str], int]]:
    """Each difference by its file, edited ones first: its lines, and how many were left out."""
    room = _MOST_LINES
    for change in sorted(changes, key=lambda change: (change.owner != "edited", change.name)):
        lines = preview.differences.get(change.name, ())
        if not lines:
            continue
        most = min(room, _MOST_LINES_OF_A_FILE)
        shown = [clip(line, _LONGEST_LINE) for line in lines[:most]]
        room -= len(shown)
        if shown:
            yield change.name, shown, len(lines) - len(shown)


def _files(changes: Sequence[FileChange]) -> RenderableType:
    grid = Grid(show_header=False)
    grid.add_column(style="yellow")
    grid.add_column(style="dim")
    for change in changes[:_MOST_FILES]:
        grid.add_row(name(change.name), text(_remark(change)))
    if len(changes) > _MOST_FILES:
        grid.add_row(text(f"and {len(changes) - _MOST_FILES:,} more", "dim"), "")
    return grid


def _remark(change: FileChange) -> str:
    if change.owner == "edited":
        return "edited since it was forged"
    return "not written by Fluid Forge" if change.owner == "foreign" else ""


def _listed(lines: Sequence[str]) -> Iterator[Part]:
    for line in lines[:_MOST_FILES]:
        yield _indented(text(line, "red"))
    if len(lines) > _MOST_FILES:
        yield _indented(text(f"and {len(lines) - _MOST_FILES:,} more", "dim"))


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))
