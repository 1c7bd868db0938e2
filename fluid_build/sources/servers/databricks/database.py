"""A catalog of Databricks, staged into DuckDB."""

import time
from collections.abc import Sequence

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources.addresses.kinds import DATABRICKS
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.schemas import chosen_schemas
from fluid_build.sources.servers.databricks.catalog import (
    DatabricksColumn,
    quoted,
    read_tables,
    read_tags,
    schema_names,
    view_count,
)
from fluid_build.sources.servers.databricks.connection import (
    DatabricksClient,
    connect,
    databricks_place,
)
from fluid_build.sources.servers.databricks.types import DatabricksDialect
from fluid_build.sources.servers.rows import BatchedRows, ServerQueryError, closed_on_error
from fluid_build.sources.servers.source import ServerCatalog, ServerReading, staged_source
from fluid_build.sources.servers.staging import ServerTable

_MOST_SIZES = 100
"""Tables whose sizes are asked for: each takes a statement."""


def open_databricks(uri: str, options: OpenOptions) -> OpenSource:
    """Stage the tables of a catalog of Databricks, or of some schemas of it.

    Raises SourceUnreachableError where the workspace isn't reached or refuses the login,
    and what ``staged_source`` does.
    """
    place = databricks_place(uri)
    chosen = options.in_schema(place.schema)
    with (
        starting(options.memory_limit) as engine,
        closed_on_error(connect(place)) as client,
    ):
        try:
            catalog = _catalog(client, place.catalog, chosen)
        except ServerQueryError as error:
            raise SourceUnreadableError(
                f"The catalog {place.catalog} can't be read: {error}",
                hint="Check its name, and that this user has USE CATALOG on it. hive_metastore has"
                " no information schema, and isn't read.",
            ) from None
        reading = ServerReading[DatabricksColumn](
            container=place.catalog,
            estimate=lambda tables, _: _estimate(
                client, place.catalog, tables, sample=options.sample
            ),
        )
        rows = BatchedRows(engine.connection, client.batches, client.close)
        return staged_source(
            DATABRICKS, engine, rows, DatabricksDialect(), catalog, chosen, reading
        )


def _catalog(
    client: DatabricksClient, name: str, options: OpenOptions
) -> ServerCatalog[DatabricksColumn]:
    began = time.perf_counter()
    existing = schema_names(client.query, name)
    schemas = chosen_schemas(options.schemas, existing, name)
    tables = read_tables(client.query, name, schemas, views=options.views)
    facts, notes = read_tags(client.query, name, schemas)
    return ServerCatalog(
        name,
        tables,
        {"views": view_count(client.query, name, schemas)},
        existing,
        notes=notes,
        facts=facts,
        duration_ms=(time.perf_counter() - began) * 1000,
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
        basis="by DESCRIBE DETAIL",
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
