"""What the commands that bring a folder to its warehouse are called with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli.reading.folder_sources import AnyFolder, without_password
from fluid_build.errors import UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.forging.decision_files import folder_decisions
from fluid_build.forging.recorded import recorded_options
from fluid_build.sources.addresses.kinds import DDL

NO_OPTIONS: Mapping[str, object] = {}
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that fluid forge wrote.")]
WarehousePlace = Annotated[
    str | None,
    typer.Option(
        "--warehouse",
        metavar="URI",
        help="The warehouse, if it isn't that of DIR's dbt profile: a DuckDB file or a PostgreSQL"
        " database.",
    ),
]


def command_line(
    command: str,
    folder: Path,
    *,
    uris: Sequence[str] = (),
    warehouse: str | None = None,
    options: Mapping[str, object] = NO_OPTIONS,
) -> tuple[str, ...]:
    """Return a command line that works when it's pasted: with its places, and without passwords.

    Passwords come from the environment then. ``options`` are its other options: those that are
    False or None weren't given, and of a tuple each is.
    """
    places = [*(("--uri", uri) for uri in uris), ("--warehouse", warehouse)]
    words = [part for name, place in places if place for part in (name, without_password(place))]
    for name, value in options.items():
        if value is True:
            words.append(name)
        elif isinstance(value, tuple):
            words += [part for each in value for part in (name, str(each))]
        elif value is not None and value is not False:
            words += [name, str(value)]
    return ("fluid", command, str(folder), *words)


def check_loadable(forged: AnyFolder) -> None:
    """Raise UsageError for a folder that has nothing to load, or not with dbt."""
    if forged.manifest.source.kind == DDL.name:
        raise UsageError(
            f"{forged.folder} was forged from statements, which have no rows to load.",
            hint="Forge from the database that they describe.",
        )
    if forged.manifest.project is not None:
        raise UsageError(
            f"The project in {forged.folder} is for {forged.manifest.project}, and only dbt"
            " projects can be applied.",
            hint="Run `fluid forge` without --for.",
        )


def options_of_folder(forged: AnyFolder) -> ForgeOptions:
    """Return the options that a folder is forged again with: as before, with its decisions."""
    recorded = folder_decisions(forged.folder)
    return replace(
        recorded_options(forged.manifest, forged.model),
        decisions=recorded.decisions,
        decisions_text=recorded.text,
    )
