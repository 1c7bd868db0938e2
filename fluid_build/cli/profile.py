"""``fluid profile``: what is true in the data."""

from collections.abc import Sequence
from typing import Annotated

import typer

from fluid_build.cli import failures, screen, tables
from fluid_build.cli.conventions import conventions
from fluid_build.cli.options import DateOrder, Debug, Decimal, Dialect, Json, Schemas
from fluid_build.cli.reading import reading
from fluid_build.errors import SourceUnreadableError, UsageError
from fluid_build.modeling.entities import conceptual_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile, TableProfile
from fluid_build.report.notices import notices
from fluid_build.report.profile_json import profile_json
from fluid_build.sources.table_choice import TableName, chosen_table


def profile(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A URI, file, folder or glob.")],
    schema: Schemas = None,
    dialect: Dialect = None,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="NAME", help="Show one table's columns; SCHEMA.NAME too."),
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
    choice = _Choice(table)
    answers = conventions(decimal, date_order)
    with (
        screen.progress() as on_progress,
        reading(
            source,
            context.obj,
            schemas=schema or (),
            dialect=dialect,
            conventions=answers,
            on_tables=choice.among,
            on_progress=on_progress,
        ) as opened,
    ):
        found = profile_source(opened, on_progress=on_progress)
    if json:
        screen.show_json(profile_json(found))
        tell_remarks(found)
    elif table:
        screen.show(tables.detail(choice.of(found)))
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


class _Choice:
    """The table that is asked for, once it is known which tables there are."""

    def __init__(self, requested: str | None) -> None:
        self._requested = requested
        self._shown = ""

    def among(self, names: Sequence[TableName]) -> None:
        """Choose; UsageError, before a row is read, where there is no such table."""
        if self._requested is not None:
            self._shown = chosen_table(self._requested, names)

    def of(self, found: Profile) -> TableProfile:
        """Its profile; SourceUnreadableError, with the reason, where it could not be read."""
        for table in found.tables:
            if table.name == self._shown:
                return table
        reasons = {skipped.name: skipped.reason for skipped in found.skipped}
        raise SourceUnreadableError(
            f"{self._shown} could not be read: {reasons.get(self._shown, 'it is broken')}",
            hint="Run the command without --table to see what was read.",
        )
