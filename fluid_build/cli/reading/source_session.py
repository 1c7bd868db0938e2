"""A source that a command works on: opened, with its temporary files where they are removed."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from fluid_build.cli import messages
from fluid_build.cli.interrupts import Interrupts
from fluid_build.copilot.unified_config import current_config
from fluid_build.errors import UsageError
from fluid_build.progress import OnProgress
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource, SourceRequest, open_several
from fluid_build.sources.options import READ_ALL, ReadOptions
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.table_choice import OnTables, any_tables
from fluid_build.sources.uri import Address
from fluid_build.temporary import owned_folder


def configured_credential(name: str) -> Mapping[str, object]:
    """Return what the configuration says of a named credential."""
    # Most sources have none, and don't wait for this import.
    from fluid_build.copilot.unified_config import credential_settings

    return credential_settings(name)


@contextmanager
def source_session(
    place: str | Address,
    interrupts: Interrupts,
    *,
    read: ReadOptions = READ_ALL,
    name: str | None = None,
    on_tables: OnTables = any_tables,
    on_progress: OnProgress,
) -> Iterator[Source]:
    """Yield the source at a URI or path, open as long as the block lasts."""
    if isinstance(place, str) and not place.strip():
        raise UsageError("The source is empty.", hint="Pass a URI, a file or a folder.")
    with (
        temporary_files(interrupts),
        open_source(
            place,
            name=name,
            on_tables=on_tables,
            on_scan=tell_scan,
            on_progress=on_progress,
            settings=configured_credential,
            **read.as_settings(),
        ) as source,
    ):
        yield source


def tell_scan(estimate: ScanEstimate) -> None:
    """Say what the queries of a warehouse will scan, before they run."""
    if not current_config().behavior.quiet:
        messages.tell(estimate.sentence)


@contextmanager
def combined_session(
    requests: Sequence[SourceRequest],
    interrupts: Interrupts,
    *,
    name: str | None = None,
    on_progress: OnProgress,
) -> Iterator[CombinedSource]:
    """Yield several sources as one, open as long as the block lasts."""
    with (
        temporary_files(interrupts),
        open_several(requests, name=name, on_progress=on_progress) as source,
    ):
        yield source


def open_sources(
    requests: Sequence[SourceRequest],
    name: str | None,
    interrupts: Interrupts,
    on_progress: OnProgress,
) -> AbstractContextManager[Source]:
    """Open one source, or several as one."""
    if len(requests) > 1:
        return combined_session(requests, interrupts, name=name, on_progress=on_progress)
    (request,) = requests
    return source_session(
        request.address,
        interrupts,
        read=request.read,
        name=name,
        on_progress=on_progress,
    )


@contextmanager
def temporary_files(interrupts: Interrupts) -> Iterator[None]:
    """Keep every temporary file of the process in one folder, removed even on a forced end."""
    before = tempfile.tempdir
    with owned_folder() as folder:
        interrupts.remove_at_the_end(folder.path)
        tempfile.tempdir = str(folder.path)
        try:
            yield
        finally:
            tempfile.tempdir = before
