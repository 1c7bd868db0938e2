"""``fluid profile``: what is true in the data."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.machine_options import Memory, Scratch, Threads
from fluid_build.cli.next_steps import after_summary, next_steps
from fluid_build.cli.option_groups import with_option_groups
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.pages import page_section
from fluid_build.cli.reading.read_arguments import Reading
from fluid_build.cli.reading.source_session import source_session
from fluid_build.errors import SourceUnreadableError, UsageError
from fluid_build.forging.report_file import rendered_page
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile, TableProfile
from fluid_build.report.page.content import PageContent
from fluid_build.report.page.page_file import check_page_place, write_page
from fluid_build.report.profile_json import profile_json
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.source_screen import source_screen, table_screen
from fluid_build.report.terminal.summary_screen import MOST_TABLES_IN_FULL, summary_screen
from fluid_build.report.view import source_view
from fluid_build.sources.options import READ_ALL
from fluid_build.sources.table_choice import TableName, chosen_table, may_be_made
from fluid_build.text import listed


@with_option_groups
def profile(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A URI, file, folder or glob.")],
    read: Reading = READ_ALL,
    table: Annotated[
        str | None,
        typer.Option(
            "--table", metavar="NAME", help="Show the columns of one table: NAME or SCHEMA.NAME."
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Show everything, however many tables the source has."),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write all of it to FILE, as a page."),
    ] = None,
    _memory: Memory = None,
    _threads: Threads = None,
    _scratch: Scratch = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Show the keys and relationships that hold in the data, and what breaks them.

    Of a source with more than 25 tables, it shows a summary.

    \b
    Example:  fluid profile sqlite:///shop.db
    """
    _check_one_output({"--json": json, "--table": table is not None, "--all": everything})
    if html is not None:
        if table:
            raise UsageError(
                "--html and --table can't be combined.", hint="The page has every table."
            )
        check_page_place(html)
    choice = _TableChoice(table)
    with (
        messages.progress() as on_progress,
        source_session(
            source,
            context.obj,
            read=read,
            on_tables=choice.check,
            on_progress=on_progress,
        ) as opened,
    ):
        profiled = profile_source(opened, on_progress=on_progress)
    view = source_view(profiled)
    if html is not None:
        write_page(html, rendered_page(PageContent(view)))
    if json:
        messages.show_json(profile_json(profiled))
        tell_notes(profiled)
    elif table:
        show(table_screen(choice.profile_in(profiled)))
    elif everything:
        show(source_screen(view, most_findings=None))
    elif len(profiled.tables) <= MOST_TABLES_IN_FULL:
        show(source_screen(view))
    else:
        steps = after_summary(view, source, read=read)
        show((*summary_screen(view), *next_steps(steps, "See the rest")))
    if html is not None and json:
        messages.tell(f"The page is in {html}.")
    elif html is not None:
        show(page_section(html))
    return failures.CHECK_FAILED if profiled.skipped else failures.DONE


def _check_one_output(requested: Mapping[str, bool]) -> None:
    """UsageError where options ask for more than one form of the result."""
    options = [option for option, is_set in requested.items() if is_set]
    if len(options) > 1:
        raise UsageError(
            f"{listed(options)} can't be combined.", hint="Leave all but one of them out."
        )


def tell_notes(profiled: Profile) -> None:
    """Write to stderr, next to JSON on stdout, what was skipped and what to know of the rest."""
    for skipped in profiled.skipped:
        messages.tell(f"Skipped {skipped.name}: {skipped.reason}")
    for note in profiled.notes:
        messages.tell(f"Note: {note}")
    for table in profiled.tables:
        for note in table.notes:
            messages.tell(f"Note on {table.name}: {note}")


class _TableChoice:
    """The table that ``--table`` asks for, found once the tables of the source are known."""

    def __init__(self, requested: str | None) -> None:
        self._requested = requested
        self._name = ""

    def check(self, names: Sequence[TableName]) -> None:
        """Find the table; UsageError, before a row is read, where there is no such table.

        What tables are split or united into is only known once they are read.
        """
        if self._requested is None:
            return
        try:
            self._name = chosen_table(self._requested, names)
        except UsageError:
            if not may_be_made(self._requested, names):
                raise

    def profile_in(self, profiled: Profile) -> TableProfile:
        """Return its profile; SourceUnreadableError, with the reason, where it was skipped."""
        if self._requested is not None and not self._name:
            names = [TableName(table.name) for table in profiled.tables]
            self._name = chosen_table(self._requested, names)
        for table in profiled.tables:
            if table.name == self._name:
                return table
        reasons = {skipped.name: skipped.reason for skipped in profiled.skipped}
        raise SourceUnreadableError(
            f"{self._name} can't be read: {reasons.get(self._name, 'it is broken')}",
            hint="Run the command without --table to see what can be read.",
        )
