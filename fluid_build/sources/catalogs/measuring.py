"""Measuring the tables of a catalog: their rows, where they can be read, in place of a draft."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from fluid_build.errors import (
    ScanTooLargeError,
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    UsageError,
)
from fluid_build.sources.addresses.kinds import S3
from fluid_build.sources.base import OpenSource, Skipped, Table
from fluid_build.sources.catalogs.file_rows import (
    TableFiles,
    is_readable,
    list_files,
    log_in_to_s3,
    read_rows,
)
from fluid_build.sources.catalogs.snapshot import CatalogSnapshot, CatalogTable, FilesLocation
from fluid_build.sources.declared import settle_foreign_keys
from fluid_build.sources.engine.connection import starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.scan_estimate import ScanEstimate, check_scan
from fluid_build.text import counted

_TO_FILE = 2 * 1024**3
"""More than is staged in memory: compressed Parquet takes several times its size there."""

_ANOTHER_FORMAT = "Its files aren't Parquet, CSV or JSON in S3, so its rows weren't read."


def with_rows(
    declared: OpenSource,
    snapshot: CatalogSnapshot,
    login: Callable[[], Mapping[str, str]],
    options: OpenOptions,
) -> OpenSource:
    """Return the tables with their rows; as declared, with a note, where none can be read.

    A table that can't be read is skipped where others can. ``declared`` is closed where it isn't
    returned.
    """
    places = {(table.schema, table.name): table for table in snapshot.tables}
    described = [(table, _place(table, places)) for table in declared.tables]
    readable = [
        (table, place.location)
        for table, place in described
        if place is not None and place.location is not None and is_readable(place.location)
    ]
    if not readable:
        return declared
    try:
        measured = _measured(declared, readable, login(), options)
    except (SourceError, UsageError) as error:
        # A missing extension, or a scan that nobody asked for: the declared tables are a draft.
        is_large = isinstance(error, ScanTooLargeError)
        advice = "Pass --full to read them." if is_large else error.hint
        hint = f" {advice}" if advice else ""
        declared.notes = (*declared.notes, f"The rows weren't read: {error.message}{hint}")
        return declared
    if not measured.tables:
        first = measured.skipped[-1].reason
        measured.close()
        declared.notes = (*declared.notes, f"The rows couldn't be read: {first}")
        return declared
    declared.close()
    return measured


def _place(table: Table, places: Mapping[tuple[str, str], CatalogTable]) -> CatalogTable | None:
    own = table.name.removeprefix(f"{table.schema}.")
    return places.get((table.schema, table.name)) or places.get((table.schema, own))


def _measured(
    declared: OpenSource,
    readable: list[tuple[Table, FilesLocation]],
    login: Mapping[str, str],
    options: OpenOptions,
) -> OpenSource:
    named = {table.name for table, _ in readable}
    others = [table for table in declared.tables if table.name not in named]
    with starting(options.memory_limit, extensions=S3.extensions) as engine:
        log_in_to_s3(engine.connection, login)
        listed = [list_files(engine, *each) for each in readable]
        files = [each for each in listed if isinstance(each, TableFiles)]
        unlisted = [each for each in listed if isinstance(each, Skipped)]
        if not any(each.files for each in files):
            raise _nothing_there(unlisted)
        size = sum(each.bytes for each in files)
        scan = ScanEstimate(tables=len(files), bytes=size, basis="the sizes of the files")
        check_scan(scan, sample=options.sample, full=options.full)
        options.on_scan(scan)
        engine.stage(_TO_FILE)
        tables, unread = read_rows(engine, files, options.on_progress)
        read = counted(len(tables), "table is", "tables are")
        return replace(
            declared,
            connection=engine.connection,
            tables=settle_foreign_keys(tables),
            skipped=(
                *declared.skipped,
                *(Skipped(table.name, _ANOTHER_FORMAT) for table in others),
                *unlisted,
                *unread,
            ),
            notes=(declared.notes[0], f"{read} measured on the rows in S3.", *declared.notes[2:]),
            has_data=True,
            cleanup=[engine],
        )


def _nothing_there(unlisted: list[Skipped]) -> SourceError:
    if unlisted:
        return SourceUnreachableError(unlisted[0].reason)
    return SourceNotFoundError("There are no files where the catalog has its tables.")
