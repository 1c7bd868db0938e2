"""What ``plan`` and ``apply`` keep of a night, and whom they tell when something is off."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import messages
from fluid_build.cli.deploying.screens import why_not_applied
from fluid_build.cli.reading.folder_sources import AnyFolder
from fluid_build.copilot.store.configured import open_store
from fluid_build.errors import FluidError
from fluid_build.evolution.applying import Applied
from fluid_build.evolution.comparing import PlannedFolder
from fluid_build.evolution.migrating import Mark
from fluid_build.evolution.warehouse import Location
from fluid_build.monitoring.figures import figures_of
from fluid_build.monitoring.history import Night, Seen, history_of, keep_night
from fluid_build.monitoring.notices import notice_of, send
from fluid_build.text import as_sentence

Notify = Annotated[
    str | None,
    typer.Option(
        "--notify",
        envvar="FLUID_NOTIFY",
        metavar="COMMAND",
        help="Run COMMAND, or POST to a URL, with JSON when figures of the source are unusual, an"
        " apply fails, or all is well again.",
    ),
]


def keep_planned(head: AnyFolder, location: Location, found: PlannedFolder, to: str | None) -> None:
    """Keep what a plan saw tonight, and tell whoever has to know."""
    moment, planned = _now(), found.plan
    open_ = [each for each in planned.source if each.mark is not Mark.SAFE]
    steps = [each for each in planned.warehouse if each.mark is not Mark.SAFE]
    told = (*(str(each.change) for each in open_), *(each.sentence for each in steps))
    seen = Seen(moment=moment, outcome=planned.outcome, told=tuple(map(as_sentence, told)))
    figures = figures_of(found.measured, moment)
    night = Night(moment=moment, figures=figures, planned=seen)
    _keep(head, location, night, to)


def keep_applied(head: AnyFolder, location: Location, applied: Applied, to: str | None) -> None:
    """Keep what an apply saw and did tonight, and tell whoever has to know."""
    moment = applied.load_date
    outcome, told = ("done", ()) if applied.holds else ("failed", why_not_applied(applied))
    seen = Seen.model_validate({"moment": moment, "outcome": outcome, "told": told})
    figures = figures_of(applied.forged.profile, moment)
    night = Night(moment=moment, figures=figures, applied=seen)
    _keep(head, location, night, to)


def keep_failed(
    head: AnyFolder,
    location: Location,
    error: FluidError,
    to: str | None,
    moment: datetime | None = None,
) -> None:
    """Keep why an apply couldn't be done tonight, and tell whoever has to know."""
    moment = moment or _now()
    seen = Seen(moment=moment, outcome="failed", told=(as_sentence(error.message),))
    _keep(head, location, Night(moment=moment, applied=seen), to)


def folder_history(head: AnyFolder, location: Location) -> str:
    """Return the name of a folder's history."""
    is_file = location.engine == "duckdb"
    place = str(Path(location.place).resolve()) if is_file else location.shown
    return history_of(head.model.name, place, location.schema)


def _keep(head: AnyFolder, location: Location, night: Night, to: str | None) -> None:
    """Store a night and send its notice; the command's own work is done, whatever fails here."""
    history = folder_history(head, location)
    try:
        with closing(open_store()) as store:
            kept = keep_night(store, history, night)
        for alarm in kept.night.alarms:
            messages.tell(f"Unusual: {alarm}")
        notice = notice_of(str(head.folder), kept.before, kept.night)
        if notice is not None and to is not None:
            send(notice, to)
    except FluidError as error:
        messages.tell(f"{error.message} {error.hint or ''}".strip())


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)
