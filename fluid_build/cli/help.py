"""``fluid help``: the help of a command, as ``--help`` shows it."""

from typing import Annotated

import typer

from fluid_build.cli import failures


def show_help(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND", help="A command, such as forge data-model, or the code of an error."
        ),
    ] = None,
) -> int:
    """Show the help of a command, of all of them, or of an error.

    \b
    Example:  fluid help forge data-model from-source
    """
    # The root rewrites `help COMMAND` to `COMMAND --help`, so this only describes it.
    raise AssertionError(context, command, failures.DONE)
