"""``fluid demo``: a shop database that nobody documented, made and taken apart on the spot."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.cli import failures, screen, tables
from fluid_build.cli.built import built, files
from fluid_build.cli.folder_edits import kept_files, misfits
from fluid_build.cli.options import Debug
from fluid_build.cli.reading import reading
from fluid_build.demo import build_shop
from fluid_build.forge import Forged, Opened, forge
from fluid_build.modeling.attention import notices

_DATABASE = "shop.db"
_HOW_TO_GET_THEM_BACK = "To get them back as they were made, delete them and run the demo again."


def demo(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="Folder for the database and files.")
    ] = Path("demo-shop"),
    _debug: Debug = False,
) -> int:
    """Make a small shop database without any keys, and take it apart.

    \b
    Example:  fluid demo -o demo-shop
    """
    database = out / _DATABASE
    screen.tell(f"Making {database} ...")
    build_shop(database)
    with (
        screen.progress() as on_progress,
        reading(str(database), context.obj, on_progress=on_progress) as source,
    ):
        forged = forge(source, opened=Opened(str(database)), out=out, on_progress=on_progress)
    unfit = misfits(out, forged.kept)
    screen.show(_story(database, forged, unfit))
    return failures.CHECK_FAILED if forged.profile.skipped or unfit else failures.DONE


def _story(database: Path, forged: Forged, unfit: Sequence[str]) -> Iterator[RenderableType]:
    yield screen.text(
        f"{database} is a shop's database as one finds it: it declares no key, some names are "
        "unkind, and years of use have left their marks. This is what its data says."
    )
    yield Text()
    yield from tables.summary(forged.profile, notices(forged.profile, forged.model.conceptual))
    yield from built(forged)
    yield from files(forged.files)
    yield from kept_files(forged.kept, unfit, _HOW_TO_GET_THEM_BACK)
    yield from _next_steps(database)


def _next_steps(database: Path) -> Iterator[RenderableType]:
    fluid = _invoked_as()
    steps = (
        (f"{fluid} profile {database} --table customers", "one table, column by column"),
        (f"{fluid} verify {database.parent}", "prove again that nothing was lost"),
        (
            f"{fluid} forge data-model from-source --uri {database} --technique dv2",
            "the same shop as a Data Vault",
        ),
        (f"{fluid} profile postgresql://user@host/database", "your own data"),
    )
    yield screen.heading("Next")
    for command, remark in steps:
        yield Padding(
            Text.assemble(screen.text(command, "green"), "\n  ", screen.text(remark, "dim")),
            (0, 0, 0, 2),
        )


def _invoked_as() -> str:
    """How to call this command again: by its name where that finds it, else by its path."""
    here = Path(sys.argv[0])
    on_path = shutil.which("fluid")
    if on_path is not None and here.exists() and Path(on_path).samefile(here):
        return "fluid"
    if not here.name.startswith("fluid") or not here.exists():
        return "fluid"
    relative = os.path.relpath(here)
    return str(here) if relative.startswith("..") else relative
