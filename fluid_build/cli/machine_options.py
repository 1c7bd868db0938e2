"""What of the machine a command may use: options that say the same as the variables, for once."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fluid_build.errors import UsageError
from fluid_build.sources.engine.machine import MEMORY_VARIABLE, THREADS_VARIABLE
from fluid_build.temporary import SCRATCH_VARIABLE


def _says(variable: str) -> Callable[[typer.Context, str | None], str | None]:
    """Return what puts an option into a variable until the command has ended."""

    def said(context: typer.Context, value: str | None) -> str | None:
        asked = os.environ.get(variable) if value is None else value
        if variable == SCRATCH_VARIABLE and asked and not Path(asked).is_dir():
            raise UsageError(
                f"The folder for temporary files, {asked}, isn't there.",
                hint="Make it, or pass another one with --scratch.",
            )
        if value is not None:
            before = os.environ.get(variable)
            os.environ[variable] = value
            context.call_on_close(lambda: _restore(variable, before))
        return value

    return said


def _restore(variable: str, before: str | None) -> None:
    if before is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = before


Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Memory that DuckDB may use, such as 8GB; by default half of the machine's.",
        callback=_says(MEMORY_VARIABLE),
    ),
]
Threads: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--threads",
        metavar="N",
        help="Threads that DuckDB may use; by default one for each core.",
        callback=_says(THREADS_VARIABLE),
    ),
]
Scratch: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scratch",
        metavar="DIR",
        help="Folder for temporary files; by default the system's.",
        callback=_says(SCRATCH_VARIABLE),
    ),
]
