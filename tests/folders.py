"""Folders that a forge wrote, as their files."""

from pathlib import Path

from fluid_build.forging.documents import REPORT_FILE


def every_file(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder, by its relative name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def artifacts_of(folder: Path) -> dict[str, bytes]:
    """The files that are the same whenever they're forged: not the page, which shows the run."""
    return {name: content for name, content in every_file(folder).items() if name != REPORT_FILE}
