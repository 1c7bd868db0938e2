"""Forged folders and the demo's database: made once in a run, and copied for each test."""

import os
import shutil
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from fluid_build.demo import build_shop
from fluid_build.forging import forge
from fluid_build.sources import open_source

MADE = "FLUID_TESTS_MADE"
"""The variable that names the folder of what was made, which all workers of a run share."""


def forged(source: Path, folder: Path, technique: str = "flat") -> Path:
    """Forge a source into a folder, and return the folder."""
    with open_source(source) as opened:
        forge(opened, technique=technique, out=folder)
    return folder


def forged_copy(source: Path, folder: Path, technique: str = "flat") -> Path:
    """Copy to a new folder beside a file what was forged of the same bytes, once in a run."""
    assert source.parent == folder.parent, "a folder leads to its source by its relative path"
    content = sha256(source.read_bytes()).hexdigest()

    def make(place: Path) -> None:
        forged(Path(shutil.copy(source, place)), place / folder.name, technique)

    made = _made_once(f"{content}-{source.name}-{folder.name}-{technique}", make)
    return Path(shutil.copytree(made / folder.name, folder))


def demo_shop(path: Path) -> Path:
    """Copy the database of the demo, which takes seconds to build, to a path."""
    made = _made_once("demo-shop", lambda place: build_shop(place / "shop.db"))
    return Path(shutil.copy(made / "shop.db", path))


def _made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of that name; of two workers that make it at a time, the first counts."""
    made = Path(os.environ[MADE], name)
    if not made.exists():
        folder = Path(tempfile.mkdtemp(dir=made.parent))
        make(folder)
        try:
            folder.rename(made)
        except OSError:
            shutil.rmtree(folder)
    return made
