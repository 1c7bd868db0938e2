"""A page as a file: recognised by its mark, so that only our own pages are replaced."""

import os
import re
from pathlib import Path

from fluid_build.artifacts import write_artifacts
from fluid_build.errors import OutputError, SourceUnreadableError
from fluid_build.regular_files import open_regular

GENERATOR = "Fluid Forge"
"""The mark that a page was made by this program, so that it may be replaced."""

_MARK = re.compile(rf'<meta name="generator" content="{GENERATOR} [^"]*">'.encode())
_HEAD_BYTES = 4096
"""The mark is in the first lines of a page, after a policy of a few hundred bytes."""


def is_page(path: Path) -> bool:
    """Return whether a file is a page that this program made."""
    try:
        with open_regular(path) as file:
            return _MARK.search(file.read(_HEAD_BYTES)) is not None
    except (OSError, SourceUnreadableError):
        return False


def check_page_place(path: Path, *, overwrite: bool = False) -> None:
    """Raise OutputError where a page can't be written, or would replace somebody's own file.

    With ``overwrite`` any file may be replaced.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a folder.", hint="Name a file for the page in it.")
    if not path.parent.is_dir():
        what = "is a file" if path.parent.exists() else "doesn't exist"
        raise OutputError(
            f"The folder '{path.parent}' {what}.", hint="Make the folder, or choose another file."
        )
    if os.path.lexists(path) and not overwrite and not is_page(path):
        raise OutputError(
            f"{path} exists, and isn't a page that Fluid Forge wrote.",
            hint="Choose another file, or move that one out of the way.",
        )
    if not os.access(path.parent, os.W_OK):
        raise OutputError(
            f"{path} can't be written: permission is denied.",
            hint="Choose a folder that you can write to.",
        )


def write_page(path: Path, html: str, *, overwrite: bool = False) -> None:
    """Write a page, whole or not at all. Raises OutputError as ``check_page_place`` does."""
    check_page_place(path, overwrite=overwrite)
    write_artifacts(path.parent, {path.name: html})
