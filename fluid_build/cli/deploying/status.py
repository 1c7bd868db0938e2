"""``fluid status``: how a folder is doing, in ten lines."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.deploying.arguments import Folder, WarehousePlace, command_line
from fluid_build.cli.deploying.watching import folder_history
from fluid_build.cli.invocation import fluid
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.reading.consent import check_may_open
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.copilot.store.configured import open_store
from fluid_build.evolution.comparing import read_warehouse
from fluid_build.evolution.locations import warehouse_location
from fluid_build.monitoring.history import count_nights, read_nights
from fluid_build.monitoring.status import Status, status_of
from fluid_build.monitoring.usual import FIRST_NIGHTS
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import (
    Copyable,
    Part,
    first_line,
    folder_label,
    heading,
    indented,
    lines,
    text,
)
from fluid_build.text import counted
from fluid_build.verification import read_folder_head

_MOST_TROUBLES = 5
"""What is off is half of the screen; the rest of it is in `fluid plan` and in --json."""


def status(
    _context: typer.Context,
    folder: Folder,
    warehouse: WarehousePlace = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Show how a folder is doing: what was deployed, what is off, and what to do.

    Nothing is measured: it's what the last `fluid plan` and `fluid apply` saw, and what the
    warehouse has on record. After a week of nights, figures that aren't as usual are named.

    Exit codes: 0 all is well, 1 something is off or nothing was deployed yet, 2 it couldn't be
    done.

    \b
    Example:  fluid status shop-model
    """
    head = read_folder_head(folder)
    location = warehouse_location(folder / DBT_FOLDER, warehouse)
    if warehouse is None:
        check_may_open(location.place, folder, command_line("status", folder))
    deployments = read_warehouse(location).deployments
    with closing(open_store()) as store:
        history = folder_history(head, location)
        nights = read_nights(store, history, most_days=1)
        found = status_of(deployments, nights[-1] if nights else None, count_nights(store, history))
    if json:
        messages.show_json(status_document(found))
    else:
        show(status_screen(folder, found))
    return failures.DONE if found.is_fine else failures.CHECK_FAILED


def status_screen(folder: Path, found: Status) -> Iterator[Part]:
    """Yield how a folder is doing."""
    yield first_line(folder_label(folder), "all is well" if found.is_fine else "needs a look")
    yield indented(_deployed(found))
    night = found.night
    if night is None:
        yield indented("Source: not looked at since figures are kept")
    else:
        yield indented(f"Source: looked at {night.moment:%Y-%m-%d %H:%M}{_size(found)}")
        yield indented(_comparison(found))
    troubles = list(found.troubles)
    if troubles:
        yield heading("What is off")
        yield from lines(troubles, "yellow", most=_MOST_TROUBLES)
    yield text("")
    yield Copyable(fluid("apply" if found.deployed is None else "plan", str(folder)))


def _deployed(found: Status) -> str:
    if found.deployed is None:
        return "Deployed: never"
    each = found.deployed
    version = f" · contract {each.contract_version}" if each.contract_version else ""
    return (
        f"Deployed: {each.load_date:%Y-%m-%d %H:%M}, deployment {each.number} ·"
        f" {counted(each.rows, 'row')}{version}"
    )


def _size(found: Status) -> str:
    figures = None if found.night is None else found.night.figures
    if figures is None:
        return ""
    newest = "" if found.newest is None else f" · newest date {found.newest:%Y-%m-%d}"
    tables = counted(len(figures.tables), "table")
    return f" · {tables}, {counted(figures.rows, 'row')}{newest}"


def _comparison(found: Status) -> str:
    if found.known <= FIRST_NIGHTS:
        return f"Figures: {counted(found.known, 'night')} known; compared from the eighth on"
    return f"Figures: compared with {counted(found.known - 1, 'night')} before"


def status_document(found: Status) -> dict[str, object]:
    """Return how a folder is doing as one JSON document."""
    deployed, night = found.deployed, found.night
    return {
        "fine": found.is_fine,
        "troubles": list(found.troubles),
        "deployed": None
        if deployed is None
        else {
            "deployment": deployed.number,
            "load_date": deployed.load_date.isoformat(timespec="seconds"),
            "contract_version": deployed.contract_version,
            "rows": deployed.rows,
        },
        "unfinished": None if found.unfinished is None else found.unfinished.number,
        "nights": found.known,
        "newest": None if found.newest is None else found.newest.isoformat(),
        "night": None if night is None else night.model_dump(mode="json"),
    }
