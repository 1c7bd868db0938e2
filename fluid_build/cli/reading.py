"""Opening a source for a command, with its temporary files in a place that is surely removed."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from fluid_build.cli.interrupts import Interrupts
from fluid_build.errors import UsageError
from fluid_build.progress import OnProgress
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.table_choice import OnTables, any_tables
from fluid_build.temporary import owned_folder


@contextmanager
def reading(
    place: str,
    watch: Interrupts,
    *,
    schemas: Sequence[str] = (),
    dialect: str | None = None,
    conventions: Conventions = NO_ANSWERS,
    on_tables: OnTables = any_tables,
    on_progress: OnProgress,
) -> Iterator[Source]:
    """The source at a URI or path, open as long as the block lasts."""
    if not place.strip():
        raise UsageError("The source is empty text.", hint="Name a URI, a file or a folder.")
    with (
        _temporary_files(watch),
        open_source(
            place,
            schemas=schemas,
            dialect=dialect,
            conventions=conventions,
            on_tables=on_tables,
            on_progress=on_progress,
        ) as source,
    ):
        yield source


@contextmanager
def _temporary_files(watch: Interrupts) -> Iterator[None]:
    """Have every temporary file of the process in one folder, which goes even with force."""
    before = tempfile.tempdir
    with owned_folder() as folder:
        watch.remove_at_the_end(folder.path)
        tempfile.tempdir = str(folder.path)
        try:
            yield
        finally:
            tempfile.tempdir = before
