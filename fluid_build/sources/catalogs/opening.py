"""A catalog opened as a source: its tables without rows, with what it says of each."""

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fluid_build.errors import (
    EmptySourceError,
    ScanTooLargeError,
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    UsageError,
)
from fluid_build.sources.addresses.kinds import CATALOGS, S3, CatalogKind
from fluid_build.sources.base import Column, DeclaredForeignKey, OpenSource, Skipped, Table
from fluid_build.sources.catalogs.address import parse_address
from fluid_build.sources.catalogs.file_rows import (
    TableFiles,
    is_readable,
    list_files,
    log_in_to_s3,
    read_rows,
)
from fluid_build.sources.catalogs.native_types import known_type
from fluid_build.sources.catalogs.snapshot import (
    Catalog,
    CatalogColumn,
    CatalogSnapshot,
    CatalogTable,
    FilesLocation,
    MeasurableCatalog,
    Selection,
)
from fluid_build.sources.credentials import find_credential
from fluid_build.sources.declarations.catalog_facts import CatalogFacts, FetchedCatalog, TableFacts
from fluid_build.sources.declarations.source_names import title
from fluid_build.sources.declared import qualified, settle_foreign_keys, unique_names
from fluid_build.sources.engine.connection import Engine, starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.scan_estimate import ScanEstimate, check_scan
from fluid_build.sources.sql import quote
from fluid_build.sources.sql_text.ddl.types import TEXT
from fluid_build.sources.table_choice import TableName
from fluid_build.text import counted

# Measuring the tables of a catalog: their rows, where they can be read, in place of a draft.

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


_HOME = "declared"
NOT_MEASURED = (
    "No rows were read, so nothing is measured: keys, types and relationships are as declared."
)
"""The note on a source that is only declared."""
_MOST_TABLES = 20_000
"""Tables that are read at once; a model of as many can't be looked at by anyone."""


def open_catalog(place: str, options: OpenOptions) -> OpenSource:
    """Open the selected tables of a catalog, each without a row.

    Raises UsageError for an address or a credential that can't be used, SourceUnreachableError
    where the catalog doesn't answer or refuses, SourceNotFoundError for a schema that it doesn't
    have, EmptySourceError where nothing is selected.
    """
    kind = _kind_of(place)
    address = parse_address(place, kind)
    credential = find_credential(
        address.credential,
        (kind.warehouse or kind.name, kind.name),
        kind.plain_fields,
        kind.secret_fields,
        settings=options.settings,
    )
    module, _, name = kind.catalog.partition(":")
    catalog: Catalog = getattr(importlib.import_module(module), name)(address, credential)
    selection = Selection(options.schemas, options.include, options.exclude)
    began = time.perf_counter()
    snapshot = catalog.fetch(selection)
    duration_ms = (time.perf_counter() - began) * 1000
    declared = open_snapshot(kind, snapshot, duration_ms, options)
    if not isinstance(catalog, MeasurableCatalog) or address.options.get("rows") == "none":
        return declared
    try:
        return with_rows(declared, snapshot, catalog.store_login, options)
    except BaseException:
        declared.close()
        raise


def open_snapshot(
    kind: CatalogKind, snapshot: CatalogSnapshot, duration_ms: float, options: OpenOptions
) -> OpenSource:
    """Return a source of the tables that a catalog declares, each without a row."""
    selected, views = _without_views(snapshot, views=options.views)
    tables, skipped = _readable(selected)
    if not tables:
        raise _no_tables(snapshot, skipped, views)
    names = qualified([(table.schema, table.name) for table in tables])
    options.on_tables(
        [
            TableName(name, table.schema, table.name)
            for name, table in zip(names, tables, strict=True)
        ]
    )
    with starting(options.memory_limit) as engine:
        declared = _declare(engine, tables, names)
        return OpenSource(
            kind=kind.name,
            name=title(snapshot.name) or snapshot.name or kind.name,
            connection=engine.connection,
            tables=settle_foreign_keys(declared),
            skipped=skipped,
            notes=(_describe(snapshot, len(tables)), NOT_MEASURED, *selected.notes),
            has_data=False,
            cleanup=[engine],
            catalog=FetchedCatalog(
                kind.warehouse or kind.name, _facts(snapshot, tables, names), duration_ms
            ),
        )


def _kind_of(place: str) -> CatalogKind:
    scheme = place.partition("://")[0].lower()
    return next(kind for kind in CATALOGS if scheme in kind.schemes)


def _without_views(snapshot: CatalogSnapshot, *, views: bool) -> tuple[CatalogSnapshot, int]:
    """Return a snapshot without its views unless they are asked for, and how many are left out."""
    if views:
        return snapshot, 0
    tables = tuple(table for table in snapshot.tables if not table.is_view)
    count = len(snapshot.tables) - len(tables)
    notes = (f"{counted(count, 'view')} left out; --views reads them.",) if count else ()
    return replace(snapshot, tables=tables, notes=(*snapshot.notes, *notes)), count


def _no_tables(
    snapshot: CatalogSnapshot, skipped: Sequence[Skipped], views: int
) -> EmptySourceError:
    if views:
        return EmptySourceError(
            f"{snapshot.title} has no table there, only {counted(views, 'view')}.",
            hint="Pass --views to read them.",
        )
    first = f" {skipped[0].name}: {skipped[0].reason}" if skipped else ""
    return EmptySourceError(
        f"{snapshot.title} shows no table there.{first}",
        hint="Check the names in the address, --schema, --include and --exclude, and that the"
        " login may see the tables.",
    )


def _describe(snapshot: CatalogSnapshot, count: int) -> str:
    what = "1 table is" if count == 1 else f"{count:,} tables are"
    return f"{what} declared in {snapshot.title}."


def _readable(snapshot: CatalogSnapshot) -> tuple[list[CatalogTable], tuple[Skipped, ...]]:
    """Return the tables that have columns, in order of their names, and what was left out."""
    ordered = sorted(snapshot.tables, key=lambda t: (t.schema.lower(), t.name.lower(), t.name))
    tables = [table for table in ordered if table.columns]
    empty = [
        Skipped(f"{table.schema}.{table.name}" if table.schema else table.name, _NO_COLUMNS)
        for table in ordered
        if not table.columns
    ]
    skipped = [*snapshot.skipped, *empty]
    if len(tables) > _MOST_TABLES:
        reason = f"Only {_MOST_TABLES:,} tables are read. Choose some with --schema or --include."
        skipped.append(Skipped(f"{len(tables) - _MOST_TABLES:,} more tables", reason))
    return tables[:_MOST_TABLES], tuple(skipped)


_NO_COLUMNS = "The catalog declares no columns of it."


def _declare(engine: Engine, tables: Sequence[CatalogTable], names: Sequence[str]) -> list[Table]:
    """Create every table, empty, and return it as declared."""
    connection = engine.connection
    shown = {(table.schema, table.name): name for table, name in zip(tables, names, strict=True)}
    places = unique_names(names)
    connection.begin()
    connection.execute(f"CREATE SCHEMA {quote(_HOME)}")
    declared = []
    for table, name, place in zip(tables, names, places, strict=True):
        relation = f"memory.{quote(_HOME)}.{quote(place)}"
        columns = _columns(table)
        listed = ", ".join(f"{quote(column.alias)} {column.type}" for column in columns)
        connection.execute(f"CREATE TABLE {relation} ({listed})")
        types = connection.sql(f"FROM {relation}").types
        declared.append(
            Table(
                name=name,
                columns=tuple(
                    replace(column, type=str(type_))
                    for column, type_ in zip(columns, types, strict=True)
                ),
                relation=relation,
                primary_key=_existing_key(table, table.primary_key),
                unique_keys=_unique_keys(table),
                foreign_keys=_foreign_keys(table, shown),
                schema=table.schema,
                comment=table.comment or None,
                notes=table.notes,
            )
        )
    connection.commit()
    return declared


def _columns(table: CatalogTable) -> list[Column]:
    aliases = unique_names(column.name for column in table.columns)
    return [
        _column(table, column, alias) for column, alias in zip(table.columns, aliases, strict=True)
    ]


def _column(table: CatalogTable, column: CatalogColumn, alias: str) -> Column:
    type_ = known_type(column.native_type, table.dialect)
    note = f"Its type {column.native_type} isn't known and is read as text."
    return Column(
        name=column.name,
        alias=alias,
        type=type_ or TEXT,
        declared_type=column.native_type,
        nullable=column.nullable and column.name not in table.primary_key,
        comment=column.comment or None,
        notes=(note,) if type_ is None and column.native_type else (),
    )


def _existing_key(table: CatalogTable, key: Sequence[str]) -> tuple[str, ...]:
    """Return a key as its columns are spelled; empty where one of them doesn't exist."""
    exact = {column.name: column.name for column in table.columns}
    folded = {column.name.lower(): column.name for column in reversed(table.columns)}
    columns = tuple(exact.get(name) or folded.get(name.lower(), "") for name in key)
    return columns if all(columns) else ()


def _unique_keys(table: CatalogTable) -> tuple[tuple[str, ...], ...]:
    keys = (_existing_key(table, key) for key in table.unique_keys)
    return tuple(dict.fromkeys(filter(None, keys)))


def _foreign_keys(
    table: CatalogTable, shown: dict[tuple[str, str], str]
) -> tuple[DeclaredForeignKey, ...]:
    return tuple(
        DeclaredForeignKey(
            key.columns,
            shown.get((key.to_schema or table.schema, key.to_table), key.to_table),
            key.to_columns,
        )
        for key in table.foreign_keys
    )


def _facts(
    snapshot: CatalogSnapshot, tables: Sequence[CatalogTable], names: Sequence[str]
) -> CatalogFacts:
    return CatalogFacts(
        catalog=snapshot.title,
        tables={name: _table_facts(table) for table, name in zip(tables, names, strict=True)},
        product=title(snapshot.product),
        owner=snapshot.owner,
        domain=title(snapshot.domain),
    )


def _table_facts(table: CatalogTable) -> TableFacts:
    return TableFacts(
        address=table.address,
        owners=table.owners,
        domain=table.domain,
        tags=table.tags,
        column_tags={column.name: column.tags for column in table.columns if column.tags},
        upstream=table.upstream,
    )
