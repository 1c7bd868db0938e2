"""``fluid profile``: what is true in the data."""

from typing import Annotated

import typer

from fluid_build.cli import failures, screen, tables
from fluid_build.cli.conventions import conventions
from fluid_build.cli.options import DateOrder, Debug, Decimal, Dialect, Json, Schemas
from fluid_build.cli.reading import reading
from fluid_build.errors import UsageError
from fluid_build.modeling.attention import notices
from fluid_build.modeling.entities import conceptual_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile, TableProfile
from fluid_build.profiling.report import profile_json


def profile(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A URI, file, folder or glob.")],
    schema: Schemas = None,
    dialect: Dialect = None,
    table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="Show one table's columns.")
    ] = None,
    decimal: Decimal = None,
    date_order: DateOrder = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Show the keys, relationships and dirt that are really in the data.

    \b
    Example:  fluid profile sqlite:///shop.db
    """
    if json and table:
        raise UsageError("--json and --table cannot go together.", hint="Leave one of them out.")
    answers = conventions(decimal, date_order)
    with (
        screen.progress() as on_progress,
        reading(
            source,
            context.obj,
            schemas=schema or (),
            dialect=dialect,
            conventions=answers,
            on_progress=on_progress,
        ) as opened,
    ):
        found = profile_source(opened, on_progress=on_progress)
    if json:
        screen.show_json(profile_json(found))
        tell_remarks(found)
    elif table:
        screen.show(tables.detail(_table(found, table)))
    else:
        screen.show(tables.summary(found, notices(found, conceptual_model(found))))
    return exit_code(found)


def exit_code(found: Profile) -> int:
    """Done, unless a table had to be left out."""
    return failures.CHECK_FAILED if found.skipped else failures.DONE


def tell_remarks(found: Profile) -> None:
    """Say on stderr, for whoever reads JSON, what was left out and what was met on the way."""
    for skipped in found.skipped:
        screen.tell(f"Skipped {skipped.name}: {skipped.reason}")
    for note in found.notes:
        screen.tell(f"Note: {note}")
    for table in found.tables:
        for note in table.notes:
            screen.tell(f"Note on {table.name}: {note}")


def _table(found: Profile, name: str) -> TableProfile:
    for table in found.tables:
        if table.name == name:
            return table
    names = ", ".join(table.name for table in found.tables[:10])
    raise UsageError(f"There is no table {name}.", hint=f"The tables are: {names}.")
