"""Files and folders that only their owner may read: a store holds what people and models wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TextIO

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents. Folders that exist stay as they are."""
    if not folder.is_dir():
        if folder.parent != folder:
            make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def create_private_file(path: Path) -> TextIO:
    """Create a file and open it for writing ASCII. Raises ``FileExistsError``."""
    return os.fdopen(os.open(path, _NEW_FILE, 0o600), "w", encoding="ascii")
