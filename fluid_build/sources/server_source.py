"""A server's tables as a source: chosen, staged and checked for what is left of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine import Engine
from fluid_build.sources.kinds import ServerKind
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.schemas import chosen_schemas, no_tables
from fluid_build.sources.server_rows import ServerRows
from fluid_build.sources.server_staging import C, ServerDialect, ServerStaging, ServerTable
from fluid_build.sources.source_names import database_name


@dataclass(frozen=True)
class ServerCatalog(Generic[C]):
    """What a database on a server has: its name, and its tables by schema and name.

    ``views`` is how many views there are. ``export`` says how one of them can be made a file.
    """

    name: str
    tables: Sequence[ServerTable[C]]
    views: int = 0
    export: str = ""


def staged_source(
    kind: ServerKind,
    engine: Engine,
    rows: ServerRows,
    dialect: ServerDialect[C],
    catalog: ServerCatalog[C],
    options: OpenOptions,
) -> OpenSource:
    """Stage the tables that the options choose; return them as a source.

    Raises EmptySourceError where there is no table, SourceNotFoundError for an unknown schema and
    SourceUnreadableError where no table can be read.
    """
    existing = list(dict.fromkeys(table.schema for table in catalog.tables))
    schemas = chosen_schemas(options.schemas, existing, catalog.name)
    tables = [table for table in catalog.tables if table.schema in schemas]
    if not tables:
        raise no_tables(catalog.name, options.schemas, views=catalog.views, export=catalog.export)
    staging = ServerStaging(engine.connection, rows, dialect, tables)
    options.on_tables(staging.names)
    engine.stage(sum(table.bytes for table in tables))
    staged, skipped = staging.stage(options.on_progress)
    if not staged:
        raise SourceUnreadableError(
            f"None of the {len(tables)} tables could be read. {skipped[0].reason}",
            hint="Check that this user may SELECT from them.",
        )
    has_views = catalog.views and not options.views
    return OpenSource(
        kind=kind.name,
        name=database_name(catalog.name, comment="", schemas=schemas),
        connection=engine.connection,
        tables=staged,
        skipped=skipped,
        notes=(f"Views aren't read ({catalog.views} found).",) if has_views else (),
        cleanup=[engine],
    )
