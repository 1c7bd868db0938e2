"""``fluid generate``: files with which a team's own scheduler or CI runs a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.artifacts import write_artifacts
from fluid_build.automation.files import CI_NOTES, Ci, Scheduler, ci_files, schedule_files
from fluid_build.automation.routine import Routine, routine_of
from fluid_build.cli import failures
from fluid_build.cli.deploying.arguments import (
    Folder,
    WarehousePlace,
    check_loadable,
    command_line,
)
from fluid_build.cli.options import Debug
from fluid_build.cli.reading.folder_sources import (
    Uris,
    moved_places,
    source_places,
    without_password,
)
from fluid_build.errors import OutputError, UsageError
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import indented, text
from fluid_build.verification import read_folder

Place = Annotated[
    Path,
    typer.Option("-o", "--out", metavar="DIR", help="Where to write them, such as a repository."),
]
At = Annotated[str, typer.Option("--at", metavar="TIME", help="When it runs each night, in UTC.")]
Replace = Annotated[bool, typer.Option("--force", help="Replace files that are there and differ.")]


def schedule(
    folder: Folder,
    for_: Annotated[Scheduler, typer.Option("--for", help="What runs it.")],
    out: Place = Path(),
    uri: Uris = None,
    warehouse: WarehousePlace = None,
    at: At = "02:00",
    force: Replace = False,
    _debug: Debug = False,
) -> int:
    """Write the files with which a scheduler brings DIR to its warehouse every night.

    They are short, and yours to edit. Logins stand in them as variables only.

    \b
    Example:  fluid generate schedule shop-star --for airflow
              fluid generate schedule shop-star --for systemd --at 03:30
    """
    command = _command("schedule", for_, folder, out, uri, warehouse)
    routine = _routine(folder, folder.resolve().as_posix(), at, command, uri, warehouse)
    _write(out, schedule_files(routine, for_), force=force)
    return failures.DONE


def ci(
    folder: Folder,
    for_: Annotated[Ci, typer.Option("--for", help="Whose files to write.")],
    out: Place = Path(),
    uri: Uris = None,
    warehouse: WarehousePlace = None,
    at: At = "02:00",
    force: Replace = False,
    _debug: Debug = False,
) -> int:
    """Write the files with which a CI reviews changes of DIR, and loads its warehouse every night.

    A review checks the contract, says what changes for its readers and for the warehouse, and
    fails where somebody has to decide first. What runs are two scripts in ci/.

    \b
    Example:  fluid generate ci shop-star --for github
    """
    try:
        place = folder.resolve().relative_to(out.resolve()).as_posix()
    except ValueError:
        raise UsageError(
            f"{folder} isn't in {out.resolve()}, so a checkout of the one wouldn't have the other.",
            hint="Pass the repository that has the folder with --out.",
        ) from None
    command = _command("ci", for_, folder, out, uri, warehouse)
    routine = _routine(folder, place, at, command, uri, warehouse)
    _write(out, ci_files(routine, for_), force=force)
    show([text(CI_NOTES[for_])])
    return failures.DONE


def _routine(
    folder: Path,
    place: str,
    at: str,
    command: Sequence[str],
    uris: Sequence[str] | None,
    warehouse: str | None,
) -> Routine:
    """Return the routine of a folder, of which a person has said where everything is."""
    forged = read_folder(folder)
    check_loadable(forged)
    source_places(forged, moved_places(forged, uris or ()), command)
    if warehouse is None and forged.manifest.target != "duckdb":
        raise UsageError(
            f"The warehouse of {folder} is a server, and a folder may not choose that by itself.",
            hint="Pass it with --warehouse; its password stays in the environment.",
        )
    known = None if warehouse is None else without_password(warehouse)
    return routine_of(forged, place, at, list(map(without_password, uris or ())), known)


def _command(
    name: str,
    for_: str,
    folder: Path,
    out: Path,
    uris: Sequence[str] | None,
    warehouse: str | None,
) -> tuple[str, ...]:
    """Return the command line as it was called, for a hint that adds to it."""
    options = {"--for": for_, "--out": out}
    line = command_line(name, folder, uris=uris or (), warehouse=warehouse, options=options)
    return ("fluid", "generate", *line[1:])


def _write(out: Path, files: Mapping[str, str], *, force: bool) -> None:
    differing = [
        name
        for name, content in files.items()
        if (out / name).exists() and (out / name).read_bytes() != content.encode()
    ]
    if differing and not force:
        raise OutputError(
            f"{differing[0]} is there already, and differs.",
            hint="Look at it, and replace it with --force, or write somewhere else with --out.",
        )
    write_artifacts(out, files)
    show(indented(name) for name in files)
