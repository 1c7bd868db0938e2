"""``fluid plan``: what an apply would change, and what somebody has to decide before."""

from pathlib import Path
from typing import Annotated

import typer

from fluid_build.artifacts import write_artifacts
from fluid_build.cli import failures, messages
from fluid_build.cli.deploying.arguments import (
    Folder,
    WarehousePlace,
    check_loadable,
    command_line,
    options_of_folder,
)
from fluid_build.cli.deploying.plan_screen import plan_screen
from fluid_build.cli.deploying.watching import Notify, keep_planned
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.reading.consent import check_may_open
from fluid_build.cli.reading.folder_sources import (
    Uris,
    folder_session,
    moved_places,
    source_places,
)
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.evolution.comparing import plan_folder
from fluid_build.evolution.locations import warehouse_location
from fluid_build.evolution.planning import DeploymentPlan, Outcome, plan_json
from fluid_build.forging.recorded import given_name
from fluid_build.report.terminal.printing import show
from fluid_build.verification import read_folder_head

_CODES: dict[Outcome, int] = {
    "nothing": failures.DONE,
    "changes": failures.CHANGES,
    "needs_decision": failures.NEEDS_DECISION,
}


def plan(
    context: typer.Context,
    folder: Folder,
    uri: Uris = None,
    warehouse: WarehousePlace = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write the plan to FILE, for an apply that does this and nothing else.",
        ),
    ] = None,
    notify: Notify = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Say what an apply would change: source, model, contract and warehouse.

    Compares what DIR promises, what the source is now, and what the warehouse of DIR's dbt profile
    holds. All three are only read.

    Exit codes: 0 nothing to do but load rows, 3 changes, 4 some of them need a decision or destroy
    something, 2 it couldn't be done.

    \b
    Example:  fluid plan shop-model
              fluid plan shop-model --out tonight.json
    """
    head = read_folder_head(folder)
    check_loadable(head)
    uris = tuple(uri or ())
    command = command_line(
        "plan", folder, uris=uris, warehouse=warehouse, options={"--out": out, "--json": json}
    )
    location = warehouse_location(folder / DBT_FOLDER, warehouse)
    if warehouse is None:
        check_may_open(location.place, folder, command)
    messages.tell(f"Warehouse: {location.shown}")
    places = source_places(head, moved_places(head, uris), command)
    options = options_of_folder(head)
    name = given_name(head.model.name, head.manifest, places)
    with (
        messages.progress() as on_progress,
        folder_session(
            context.obj, head, places, on_progress, name=name, decisions=options.decisions
        ) as source,
    ):
        found = plan_folder(
            source, head, options, location, shown_as=str(folder), on_progress=on_progress
        )
    planned = found.plan
    keep_planned(head, location, found, notify)
    if out is not None:
        write_artifacts(out.parent, {out.name: plan_json(planned)})
    if json:
        messages.show_json(plan_document(planned))
    else:
        apply = command_line(
            "apply", folder, uris=uris, warehouse=warehouse, options={"--plan": out}
        )

        def allowing(table: str) -> tuple[str, ...]:
            options = {"--allow-loss": (table,)}
            return command_line("apply", folder, uris=uris, warehouse=warehouse, options=options)

        show(plan_screen(folder, planned, apply, allowing, is_exact=out is not None))
    return _CODES[planned.outcome]


def plan_document(planned: DeploymentPlan) -> dict[str, object]:
    """Return a plan as one JSON document."""
    return {"outcome": planned.outcome, **planned.model_dump(mode="json")}
