"""A catalog of Databricks, staged into DuckDB."""

from collections.abc import Sequence

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources.base import OpenSource
from fluid_build.sources.databricks.catalog import (
    DatabricksColumn,
    quoted,
    read_tables,
    schema_names,
    view_count,
)
from fluid_build.sources.databricks.client import DatabricksClient
from fluid_build.sources.databricks.connection import connect, databricks_place
from fluid_build.sources.databricks.types import DatabricksDialect
from fluid_build.sources.engine import starting
from fluid_build.sources.kinds import DATABRICKS
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.schemas import chosen_schemas, no_tables
from fluid_build.sources.selection import placed_name, selected_tables
from fluid_build.sources.server_rows import BatchedRows, ServerQueryError
from fluid_build.sources.server_staging import ServerStaging, ServerTable
from fluid_build.sources.source_names import database_name
from fluid_build.sources.warehouse_staging import announce_scan, closed_on_error, staged_source

_MOST_SIZES = 100
"""Tables whose sizes are asked for: each takes a statement."""


def open_databricks(uri: str, options: OpenOptions) -> OpenSource:
    """Stage the tables of a catalog of Databricks, or of some schemas of it.

    Raises SourceUnreachableError where the workspace isn't reached or refuses the login,
    SourceNotFoundError for an unknown schema, EmptySourceError where there is no table, and
    ScanTooLargeError where nobody asked for that much.
    """
    place = databricks_place(uri)
    with (
        starting(options.memory_limit) as engine,
        closed_on_error(DatabricksClient(connect(place))) as client,
    ):
        try:
            existing = schema_names(client.query, place.catalog)
            requested = tuple(options.schemas) or ((place.schema,) if place.schema else ())
            schemas = chosen_schemas(requested, existing, place.catalog)
            catalog = read_tables(client.query, place.catalog, schemas, views=options.views)
            if not catalog:
                views = view_count(client.query, place.catalog, schemas)
                raise no_tables(place.catalog, options.schemas, views=views)
            catalog = selected_tables(catalog, placed_name, options, folds_case=False)
        except ServerQueryError as error:
            raise SourceUnreadableError(
                f"The catalog {place.catalog} can't be read: {error}",
                hint="Check its name, and that this user has USE CATALOG on it. hive_metastore has"
                " no information schema, and isn't read.",
            ) from None
        staging = ServerStaging(
            engine.connection,
            BatchedRows(engine.connection, client.batches, client.close),
            DatabricksDialect(),
            catalog,
            sample=options.sample,
            container=place.catalog,
        )
        options.on_tables(staging.names)
        announce_scan(options, _estimate(client, place.catalog, catalog, sample=options.sample))
        return staged_source(
            engine,
            staging,
            catalog,
            options,
            kind=DATABRICKS,
            name=database_name(place.catalog, comment="", schemas=schemas),
            rights="Check that this user may SELECT from them.",
        )


def _estimate(
    client: DatabricksClient,
    catalog: str,
    tables: Sequence[ServerTable[DatabricksColumn]],
    *,
    sample: int | None,
) -> ScanEstimate:
    """Return the size of the tables' files; None where there are many tables."""
    sizes = (
        [_size(client, catalog, table) for table in tables] if len(tables) <= _MOST_SIZES else []
    )
    return ScanEstimate(
        tables=len(tables),
        bytes=sum(sizes) if sizes else None,
        basis="DESCRIBE DETAIL",
        compute="the SQL warehouse",
        is_at_most=sample is not None,
    )


def _size(client: DatabricksClient, catalog: str, table: ServerTable[DatabricksColumn]) -> int:
    place = ".".join(map(quoted, (catalog, table.schema, table.name)))
    try:
        (detail,) = client.query(f"DESCRIBE DETAIL {place}")
    except (ServerQueryError, ValueError):
        # A view or foreign table has no files of its own.
        return 0
    return int(str(detail.get("sizeinbytes") or 0))
