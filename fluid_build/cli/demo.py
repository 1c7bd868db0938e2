"""``fluid demo``: an undocumented shop database, generated and modeled on the spot."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fluid_build.cli import failures, messages
from fluid_build.cli.folder_edits import contradictions, edits_section, kept_section
from fluid_build.cli.forging.receipt_screen import receipt_section
from fluid_build.cli.forging.runs import ForgeCommand
from fluid_build.cli.forging.screen import files_section, forged_view
from fluid_build.cli.forging.stage_lines import watching
from fluid_build.cli.invocation import fluid
from fluid_build.cli.next_steps import Step, next_steps, report_step
from fluid_build.cli.options import Debug
from fluid_build.cli.reading.source_options import source_requests
from fluid_build.cli.reading.source_session import open_sources
from fluid_build.copilot.store.configured import open_store
from fluid_build.demo import build_shop
from fluid_build.forging import Forged, ForgeOptions
from fluid_build.pipeline.receipt import Receipt
from fluid_build.pipeline.requests import ModelUse
from fluid_build.pipeline.running import begin_run, start_run
from fluid_build.report.terminal.model_screen import model_section
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import Part, text, whole
from fluid_build.report.terminal.source_screen import source_screen
from fluid_build.sources.options import READ_ALL

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
    sources = tuple(source_requests(None, [str(database)], READ_ALL))
    without_model = ModelUse(deterministic=True)
    command = ForgeCommand("from-source", sources, ForgeOptions(), without_model, out=out)
    with (
        messages.progress() as on_progress,
        open_sources(sources, None, context.obj, on_progress) as source,
    ):
        request = command.request(source)
        store, record, notes = begin_run(open_store(), request)
        watched = watching(on_progress, request, json_lines=False)
        result = start_run(source, store, record, watching=watched, notes=notes)
    forged, receipt = result.forged, result.receipt
    for note in receipt.notes:
        messages.tell(note)
    contradicting = contradictions(out, forged)
    show(_story(database, forged, receipt, contradicting))
    holds = not forged.profile.skipped and not contradicting and not receipt.errors
    return failures.DONE if holds else failures.CHECK_FAILED


def _story(
    database: Path, forged: Forged, receipt: Receipt, contradicting: Sequence[str]
) -> Iterator[Part]:
    view = forged_view(forged)
    yield text(
        f"{whole(database)} is a typical shop database: it declares no keys, some of its names are "
        "cryptic, and years of use have left errors in its data. Here is what the data says."
    )
    yield Text()
    yield from source_screen(view)
    yield from model_section(view, forged.notes, forged.outdated)
    yield from receipt_section(receipt)
    yield from files_section(forged.files)
    yield from edits_section(forged.edits)
    yield from kept_section(forged.kept, contradicting, _HOW_TO_RESTORE)
    yield from next_steps(_next_steps(database))


def _next_steps(database: Path) -> tuple[Step, ...]:
    source, folder = str(database), str(database.parent)
    forge_vault = ("forge", "data-model", "from-source", "--uri", source, "--technique", "dv2")
    return (
        report_step(database.parent),
        Step(fluid("profile", source, "--table", "customers"), "one table, column by column"),
        Step(fluid("verify", folder), "prove again that nothing was lost"),
        Step(fluid(*forge_vault), "the same shop as a Data Vault"),
        # Only a remark: pasted with the other commands, it would fail.
        Step("", f"your own data: {fluid('profile', 'postgresql://user@host/database')}"),
    )
