"""A Snowflake database, staged into DuckDB."""

import time
from collections.abc import Sequence

from fluid_build.errors import SourceNotFoundError, SourceUnreadableError
from fluid_build.sources.addresses.kinds import SNOWFLAKE
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.schemas import chosen_schemas
from fluid_build.sources.servers.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.servers.rows import BatchedRows, ServerQueryError, closed_on_error
from fluid_build.sources.servers.snowflake.catalog import (
    SnowflakeColumn,
    read_tables,
    read_tags,
    schema_names,
    view_count,
)
from fluid_build.sources.servers.snowflake.connection import (
    SnowflakeClient,
    connect,
    connections_of_files,
    snowflake_place,
)
from fluid_build.sources.servers.snowflake.types import SnowflakeDialect
from fluid_build.sources.servers.source import ServerCatalog, ServerReading, staged_source
from fluid_build.sources.servers.staging import ServerTable


def open_snowflake(uri: str, options: OpenOptions) -> OpenSource:
    """Stage the tables of a Snowflake database, or of some schemas of it.

    Raises SourceUnreachableError where the account isn't reached or refuses the login,
    SourceNotFoundError for an unknown database, and what ``staged_source`` does.
    """
    place = snowflake_place(uri, connections_of_files())
    chosen = options.in_schema(place.schema)
    with (
        starting(options.memory_limit) as engine,
        closed_on_error(connect(place)) as client,
    ):
        database, warehouse = client.connection.database, client.connection.warehouse
        if not database:
            raise SourceNotFoundError(
                f"This role sees no database {place.database!r}.",
                hint="Check the name, and that the role has USAGE on it.",
            )
        try:
            catalog = _catalog(client, database, chosen)
        except ServerQueryError as error:
            raise SourceUnreadableError(
                f"Snowflake's catalog can't be read: {error}",
                hint="Check that the role may use the database.",
            ) from None
        reading = ServerReading[SnowflakeColumn](
            limiter=limited,
            container=database,
            estimate=lambda tables, _: _estimate(tables, warehouse, sample=options.sample),
            rights="Check that the role may SELECT from them, and that it has a warehouse:"
            " ?warehouse=NAME.",
        )
        rows = BatchedRows(engine.connection, client.batches, client.close)
        return staged_source(SNOWFLAKE, engine, rows, SnowflakeDialect(), catalog, chosen, reading)


def _catalog(
    client: SnowflakeClient, database: str, options: OpenOptions
) -> ServerCatalog[SnowflakeColumn]:
    began = time.perf_counter()
    existing = schema_names(client.query, database)
    schemas = chosen_schemas(options.schemas, existing, database, folds_case=False)
    tables = read_tables(client.query, database, schemas, views=options.views)
    facts, notes = read_tags(client.query, database)
    return ServerCatalog(
        database,
        tables,
        {"views": view_count(client.query, database, schemas)},
        existing,
        notes=notes,
        facts=facts,
        duration_ms=(time.perf_counter() - began) * 1000,
    )


def _estimate(
    tables: Sequence[ServerTable[SnowflakeColumn]], warehouse: str | None, *, sample: int | None
) -> ScanEstimate:
    return ScanEstimate(
        tables=len(tables),
        bytes=sum(table.bytes for table in tables) or None,
        rows=sum(table.rows or 0 for table in tables),
        basis="by the catalog",
        compute=f"the warehouse {warehouse}" if warehouse else "",
        is_at_most=sample is not None,
    )


_BLOCK_BYTES = 16 * 1024 * 1024
"""About the compressed size of a micro-partition.
https://docs.snowflake.com/en/user-guide/tables-clustering-micropartitions"""
_FEWEST_BLOCKS = 8
"""Blocks that a sample comes from at least: the rows of one were loaded together, and are alike."""
_BLOCKS_WORTH_SAMPLING = 64
"""Of a table with fewer blocks all are read, and single rows are sampled."""


def limited(table: SizedTable, rows: int) -> RowLimit:
    """Return how a table is bounded: by blocks where it's large, else row by row.

    Both are repeatable, and neither is possible on a view.
    """
    at_end = f"LIMIT {rows}"
    if table.is_view or not table.rows:
        return RowLimit(at_end=at_end)
    blocks = table.bytes / _BLOCK_BYTES
    if blocks < _BLOCKS_WORTH_SAMPLING:
        percent = percent_of(rows, table.rows)
        return RowLimit(after_table=f"SAMPLE BERNOULLI ({percent:g}) SEED (1)", at_end=at_end)
    percent = percent_of(rows, table.rows, least=100 * _FEWEST_BLOCKS / blocks)
    return RowLimit(after_table=f"SAMPLE SYSTEM ({percent:g}) SEED (1)", at_end=at_end)
