"""``fluid apply``: a folder brought to its warehouse, proven, without losing a version of a row."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.artifacts import restore_interrupted
from fluid_build.cli import failures, messages
from fluid_build.cli.deploying.arguments import (
    Folder,
    WarehousePlace,
    check_loadable,
    command_line,
    options_of_folder,
)
from fluid_build.cli.deploying.screens import applied_document, applied_screen, stopped_lines
from fluid_build.cli.deploying.watching import Notify, keep_applied, keep_failed
from fluid_build.cli.machine_options import Memory, Scratch, Threads
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.reading.consent import check_may_change
from fluid_build.cli.reading.folder_sources import (
    Uris,
    folder_session,
    moved_places,
    source_places,
)
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.errors import FluidError, UndecidedError, UsageError, VersionsLostError
from fluid_build.evolution.applying import ApplyRequest, Builds, Step
from fluid_build.evolution.applying import apply as apply_folder
from fluid_build.evolution.locations import warehouse_location
from fluid_build.evolution.planning import read_plan
from fluid_build.forging.recorded import given_name
from fluid_build.report.terminal.printing import show
from fluid_build.verification import read_folder
from fluid_build.verification.dbt import environment_of


def apply(
    context: typer.Context,
    folder: Folder,
    uri: Uris = None,
    warehouse: WarehousePlace = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            help="Do what this plan of `fluid plan --out` says, or nothing if it's outdated.",
        ),
    ] = None,
    load_date: Annotated[
        str | None,
        typer.Option(
            "--load-date",
            metavar="TIME",
            help="The moment that the load is dated with, in UTC; by default now.",
        ),
    ] = None,
    build: Annotated[
        Builds,
        typer.Option(
            "--build",
            help="What dbt builds: all, or what changed in the model and what depends on it.",
        ),
    ] = "all",
    accept_lost: Annotated[
        bool,
        typer.Option(
            "--accept-lost",
            help="Take the warehouse as it is now, without the rows that an unfinished apply lost.",
        ),
    ] = False,
    allow_loss: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-loss",
            metavar="TABLE",
            help="A table of which a delivery may lack any number of the keys that are held.",
        ),
    ] = None,
    notify: Notify = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Change the warehouse, and run DIR's code, unasked.")
    ] = False,
    _memory: Memory = None,
    _threads: Threads = None,
    _scratch: Scratch = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Bring a folder to its warehouse: forge again, migrate, load, and prove what is there.

    The source is read again and DIR is forged again with its decisions. dbt loads the warehouse
    of DIR's dbt profile, and the warehouse is compared with the source. Every row that it held
    before has to be there afterwards. Only then the deployment is recorded.

    With --build changed, tables that the change doesn't touch aren't loaded, and those that have
    other rows by now are named.

    One apply works on a warehouse at a time. One that failed or was killed is continued by the
    next. Exit codes: 0 done, 1 a check failed, 2 it couldn't be done, 4 somebody has to
    decide before what a name is that may be a new one; then nothing was changed.

    \b
    Example:  fluid apply shop-model
              fluid apply shop-model --uri postgresql://user@host/shop --yes
    """
    restore_interrupted(folder)
    forged = read_folder(folder)
    check_loadable(forged)
    moment = None if load_date is None else parsed_load_date(load_date)
    uris = tuple(uri or ())
    may_lose = tuple(allow_loss or ())
    command = command_line(
        "apply",
        folder,
        uris=uris,
        warehouse=warehouse,
        options={
            "--plan": plan,
            "--load-date": load_date,
            "--accept-lost": accept_lost,
            "--allow-loss": may_lose,
            "--build": None if build == "all" else build,
            "--json": json,
        },
    )
    planned = None if plan is None else read_plan(plan)
    location = warehouse_location(folder / DBT_FOLDER, warehouse)
    messages.tell(f"Warehouse: {location.shown}")
    if not yes:
        code = folder / DBT_FOLDER
        statement = f"Applying runs the code in {code} as you, and changes that warehouse."
        check_may_change(statement, "Apply it, if you trust its author?", command)
    moved = moved_places(forged, uris)
    places = source_places(forged, moved, command)
    environment: dict[str, str] = {}
    for name, place in moved.items():
        environment |= environment_of(name, place, folder / DBT_FOLDER)
    request = ApplyRequest(
        folder,
        location,
        options_of_folder(forged),
        environment,
        moment,
        accepts_losses=accept_lost,
        may_lose=may_lose,
        plan=planned,
        shown_as=str(folder),
        builds=build,
    )
    done: list[Step] = []
    try:
        with (
            messages.progress() as on_progress,
            folder_session(
                context.obj,
                forged,
                places,
                on_progress,
                name=given_name(forged.model.name, forged.manifest, places),
                decisions=request.options.decisions,
            ) as source,
        ):
            applied = apply_folder(
                source, forged, request, on_step=done.append, on_progress=on_progress
            )
    except FluidError as error:
        keep_failed(forged, location, error, notify, moment)
        if not isinstance(error, UndecidedError | VersionsLostError):
            for line in stopped_lines(done):
                messages.tell(line)
        raise
    keep_applied(forged, location, applied, notify)
    if json:
        messages.show_json(applied_document(applied, done))
    else:
        allow = tuple(node.stopped_delivery for node in applied.stopped)
        options = {"--allow-loss": (*may_lose, *allow)}
        again = command_line("apply", folder, uris=uris, warehouse=warehouse, options=options)
        show(applied_screen(folder, applied, done, again))
    return failures.DONE if applied.holds else failures.CHECK_FAILED


def parsed_load_date(text: str) -> datetime:
    """Return a moment in UTC without a zone; UsageError for what isn't one."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        raise UsageError(
            f"--load-date {text!r} isn't a moment in UTC.",
            hint="Write it as 2026-03-01 or 2026-03-01T04:30:00.",
        )
    return moment
