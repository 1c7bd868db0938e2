"""``fluid demo``: a shop database that nobody documented, made and taken apart on the spot."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fluid_build.cli import failures, screen, tables
from fluid_build.cli.built import built, files
from fluid_build.cli.folder_edits import kept_files, misfits
from fluid_build.cli.invocation import fluid
from fluid_build.cli.next_steps import Step, next_steps
from fluid_build.cli.options import Debug
from fluid_build.cli.reading import reading
from fluid_build.demo import build_shop
from fluid_build.forge import Forged, Opened, forge
from fluid_build.report.notices import notices

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


def _story(database: Path, forged: Forged, unfit: Sequence[str]) -> Iterator[screen.Part]:
    yield screen.text(
        f"{database} is a shop's database as one finds it: it declares no key, some names are "
        "unkind, and years of use have left their marks. This is what its data says."
    )
    yield Text()
    yield from tables.summary(forged.profile, notices(forged.profile, forged.model.conceptual))
    yield from built(forged)
    yield from files(forged.files)
    yield from kept_files(forged.kept, unfit, _HOW_TO_GET_THEM_BACK)
    yield from next_steps(_next_steps(database))


def _next_steps(database: Path) -> tuple[Step, ...]:
    source, folder = str(database), str(database.parent)
    forge_vault = ("forge", "data-model", "from-source", "--uri", source, "--technique", "dv2")
    return (
        Step(fluid("profile", source, "--table", "customers"), "one table, column by column"),
        Step(fluid("verify", folder), "prove again that nothing was lost"),
        Step(fluid(*forge_vault), "the same shop as a Data Vault"),
        Step(fluid("profile", "postgresql://user@host/database"), "your own data"),
    )
