"""``fluid rollback``: a warehouse and its folder taken back to an earlier deployment."""

from pathlib import Path
from typing import Annotated

import typer

from fluid_build.artifacts import restore_interrupted
from fluid_build.cli import failures, messages
from fluid_build.cli.checking.verify import refresh_page
from fluid_build.cli.deploying.arguments import Folder, WarehousePlace, command_line
from fluid_build.cli.deploying.screens import (
    deployments_document,
    deployments_screen,
    rollback_document,
    rollback_screen,
    rolled_back,
)
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.reading.consent import check_may_change, check_may_open
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.errors import UsageError
from fluid_build.evolution.deployments import read_deployments
from fluid_build.evolution.locations import locked, opened, warehouse_location
from fluid_build.evolution.rolling_back import (
    Rollback,
    plan_rollback,
    restore_folder,
    roll_back,
)
from fluid_build.evolution.warehouse import Location
from fluid_build.report.terminal.printing import show
from fluid_build.text import counted
from fluid_build.verification import read_folder


def rollback(
    folder: Folder,
    to: Annotated[
        int | None,
        typer.Option(
            "--to", metavar="N", help="The deployment to go back to; by default the one before."
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Show the deployments, and change nothing.")
    ] = False,
    warehouse: WarehousePlace = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Go back although some of it can't be taken back, or replaces edits."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Change the warehouse unasked.")] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Take a warehouse and its folder back to an earlier deployment.

    Rows that later loads added are deleted, relations and columns that came later are dropped, all
    in one transaction, and DIR is put back as it was then. What goes is said first, in rows.
    Relations that each load makes anew stay until the next `fluid apply`. What nothing can bring
    back is named, and refused without --force.

    \b
    Example:  fluid rollback shop-model --list
              fluid rollback shop-model --to 12
    """
    restore_interrupted(folder)
    options = {"--to": to, "--list": list_, "--force": force, "--json": json}
    command = command_line("rollback", folder, warehouse=warehouse, options=options)
    location = warehouse_location(folder / DBT_FOLDER, warehouse)
    if warehouse is None and not yes:
        check_may_open(location.place, folder, command)
    _check_there(location)
    if list_:
        with opened(location, read_only=True) as database:
            deployments = read_deployments(database)
        if json:
            messages.show_json(deployments_document(deployments))
        else:
            show(deployments_screen(folder, deployments))
        return failures.DONE
    with locked(location):
        with opened(location, read_only=True) as database:
            planned = plan_rollback(database, read_folder(folder), to)
        if not json:
            show(rollback_screen(folder, planned))
        if planned.needs_force and not force:
            raise _refused(planned)
        if not yes:
            statement = f"Going back changes the warehouse {location.shown} and {folder}."
            check_may_change(statement, f"Take {counted(planned.rows, 'row')} out?", command)
        with opened(location) as database:
            roll_back(database, planned)
        restore_folder(folder, planned)
        refresh_page(folder)
    if json:
        messages.show_json(rollback_document(planned))
    else:
        messages.tell(rolled_back(folder, planned))
    return failures.DONE


def _check_there(location: Location) -> None:
    if location.engine == "duckdb" and not Path(location.place).is_file():
        raise UsageError(
            f"The warehouse {location.shown} doesn't exist, so there is nothing to go back to.",
            hint="Pass it with --warehouse, or make it: `fluid apply DIR`.",
        )


def _refused(planned: Rollback) -> UsageError:
    reasons = []
    if planned.lasting:
        reasons.append("what is named above can't be taken back")
    if planned.edited:
        reasons.append("files were edited since the last deployment")
    return UsageError(
        f"Nothing was changed: {' and '.join(reasons)}.",
        hint="Add --force to go back all the same.",
    )
