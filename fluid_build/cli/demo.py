"""``fluid demo``: an undocumented shop database, generated and modeled on the spot."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fluid_build.cli import failures, messages
from fluid_build.cli.folder_edits import contradictions, kept_section
from fluid_build.cli.forged_screen import files_section, forged_view
from fluid_build.cli.invocation import fluid
from fluid_build.cli.next_steps import Step, next_steps
from fluid_build.cli.options import Debug
from fluid_build.cli.source_session import source_session
from fluid_build.demo import build_shop
from fluid_build.forge import Forged, forge
from fluid_build.report.terminal.model_screen import model_section
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import Part, text
from fluid_build.report.terminal.source_screen import source_screen

_DATABASE = "shop.db"
_HOW_TO_RESTORE = "To restore the originals, delete these files and run the demo again."


def demo(
    context: typer.Context,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="Folder for the database and files.")
    ] = Path("demo-shop"),
    _debug: Debug = False,
) -> int:
    """Make a small shop database without keys, and show what its data says.

    \b
    Example:  fluid demo -o demo-shop
    """
    database = out / _DATABASE
    messages.tell(f"Making {database} ...")
    build_shop(database)
    with (
        messages.progress() as on_progress,
        source_session(str(database), context.obj, on_progress=on_progress) as source,
    ):
        forged = forge(source, out=out, on_progress=on_progress)
    contradicting = contradictions(out, forged.kept)
    show(_story(database, forged, contradicting))
    return failures.CHECK_FAILED if forged.profile.skipped or contradicting else failures.DONE


def _story(database: Path, forged: Forged, contradicting: Sequence[str]) -> Iterator[Part]:
    view = forged_view(forged)
    yield text(
        f"{database} is a typical shop database: it declares no keys, some of its names are "
        "cryptic, and years of use have left errors in its data. Here is what the data says."
    )
    yield Text()
    yield from source_screen(view)
    yield from model_section(view, forged.notes)
    yield from files_section(forged.files)
    yield from kept_section(forged.kept, contradicting, _HOW_TO_RESTORE)
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
