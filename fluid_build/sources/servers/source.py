"""A server's tables as a source: chosen, staged and checked for what is left of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources.addresses.kinds import ServerKind
from fluid_build.sources.base import OpenSource, Table
from fluid_build.sources.declarations.catalog_facts import CatalogFacts, FetchedCatalog, TableFacts
from fluid_build.sources.declarations.source_names import database_name
from fluid_build.sources.engine.connection import Engine
from fluid_build.sources.loose_references import Collation, note_loose_references
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.scan_estimate import ScanEstimate, check_scan
from fluid_build.sources.schemas import (
    chosen_schemas,
    no_tables,
    views_left_out,
    warehouses_left_out,
    without_warehouses,
)
from fluid_build.sources.selection import placed_name, selected_tables
from fluid_build.sources.servers.row_limits import RowLimiter, first_rows
from fluid_build.sources.servers.rows import MOMENTS, ServerRows
from fluid_build.sources.servers.staging import C, ServerDialect, ServerStaging, ServerTable
from fluid_build.sources.table_choice import TableName


@dataclass(frozen=True)
class ServerCatalog(Generic[C]):
    """What a database on a server has: its name, and its tables by schema and name.

    ``views`` are the views that only ``--views`` reads, counted by what they are, in the plural.
    ``schemas`` are all that there are, where some may have no table. ``comment`` is what its owner
    says of the database, and ``notes`` are sentences that a user must see. ``facts`` are what tags
    say of tables, by schema and name; those without tags are left out. ``duration_ms`` is how long
    reading all of this took.
    """

    name: str
    tables: Sequence[ServerTable[C]]
    views: Mapping[str, int] = field(default_factory=dict)
    schemas: Sequence[str] = ()
    comment: str = ""
    notes: tuple[str, ...] = ()
    facts: Mapping[tuple[str, str], TableFacts] = field(default_factory=dict)
    duration_ms: float = 0.0


@dataclass(frozen=True)
class ServerReading(Generic[C]):
    """What differs between servers when their tables are read, apart from the dialect.

    ``limiter`` says in SQL how many rows of a table are read at most. ``container`` is the database
    or project that has the schemas, where they aren't found without. ``estimate`` says
    from the tables and their queries what will be scanned, where that costs something. ``rights``
    is the hint where no table could be read.
    """

    limiter: RowLimiter = first_rows
    container: str = ""
    estimate: Callable[[Sequence[ServerTable[C]], Sequence[str]], ScanEstimate] | None = None
    rights: str = "Check that this user may SELECT from them."


def staged_source(
    kind: ServerKind,
    engine: Engine,
    rows: ServerRows,
    dialect: ServerDialect[C],
    catalog: ServerCatalog[C],
    options: OpenOptions,
    reading: ServerReading[C] | None = None,
) -> OpenSource:
    """Stage the tables that the options choose; return them as a source.

    ``reading`` is how they're read where that isn't as for most servers. Where only parts were
    read, the source stays connected until it's closed, to look up keys. Raises EmptySourceError
    where there is no table, SourceNotFoundError for an unknown schema, ScanTooLargeError where
    nobody asked for that much, and SourceUnreadableError where no table can be read.
    """
    existing = catalog.schemas or list(dict.fromkeys(table.schema for table in catalog.tables))
    chosen = chosen_schemas(options.schemas, existing, catalog.name, folds_case=False)
    schemas, warehouses = without_warehouses(chosen, options.schemas, catalog.tables)
    tables = [table for table in catalog.tables if table.schema in schemas]
    views = {} if options.views else catalog.views
    if not tables:
        raise no_tables(catalog.name, options.schemas, views=sum(views.values()))
    tables = selected_tables(tables, placed_name, options, folds_case=False)
    reading = reading or ServerReading()
    staging = ServerStaging(
        engine.connection,
        rows,
        dialect,
        tables,
        sample=options.sample,
        limiter=reading.limiter,
        container=reading.container,
    )
    options.on_tables(staging.names)
    if reading.estimate is not None:
        estimate = reading.estimate(tables, staging.queries)
        check_scan(estimate, sample=options.sample, full=options.full)
        options.on_scan(estimate)
    engine.stage(0 if options.sample else sum(table.bytes for table in tables))
    staged, skipped = staging.stage(options.on_progress)
    if not staged:
        raise SourceUnreadableError(
            f"None of the {len(tables)} tables could be read. {skipped[0].reason}",
            hint=reading.rights,
        )
    return OpenSource(
        kind=kind.name,
        name=database_name(catalog.name, comment=catalog.comment, schemas=schemas),
        connection=engine.connection,
        tables=staged,
        skipped=skipped,
        notes=(
            *(views_left_out(label, number) for label, number in views.items() if number),
            *warehouses_left_out(warehouses),
            *catalog.notes,
        ),
        keys=staging.keys,
        cleanup=[engine, staging],
        catalog=_facts_of_staged(kind, catalog, staging.names, staged),
    )


def as_scanned(
    opened: OpenSource,
    tables: Sequence[ServerTable[C]],
    collation: Callable[[C], Collation | None],
    *,
    one_moment: bool,
) -> OpenSource:
    """Return a source that a scanner staged, with notes on what it compares and reads otherwise.

    ``collation`` says how the server compares a column's text, None for byte by byte.
    """
    collations = {
        (table.schema, table.name, column.name): found
        for table in tables
        for column in table.columns
        if (found := collation(column))
    }
    opened.tables = note_loose_references(opened.connection, opened.tables, collations)
    if not one_moment:
        opened.notes = (*opened.notes, MOMENTS)
    return opened


def _facts_of_staged(
    kind: ServerKind,
    catalog: ServerCatalog[C],
    names: Sequence[TableName],
    staged: Sequence[Table],
) -> FetchedCatalog | None:
    """Return the facts of the tables that were read, by their names; None without any."""
    read_names = {table.name for table in staged}
    facts = {
        name.shown: catalog.facts[name.schema, name.table]
        for name in names
        if name.shown in read_names and (name.schema, name.table) in catalog.facts
    }
    if not facts:
        return None
    return FetchedCatalog(kind.name, CatalogFacts(kind.label, facts), catalog.duration_ms)
