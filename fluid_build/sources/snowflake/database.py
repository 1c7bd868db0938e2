"""A Snowflake database, staged into DuckDB."""

from collections.abc import Sequence

from fluid_build.errors import SourceNotFoundError, SourceUnreadableError
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine import starting
from fluid_build.sources.kinds import SNOWFLAKE
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.schemas import chosen_schemas, no_tables
from fluid_build.sources.selection import placed_name, selected_tables
from fluid_build.sources.server_rows import BatchedRows, ServerQueryError
from fluid_build.sources.server_staging import ServerStaging, ServerTable
from fluid_build.sources.snowflake.catalog import (
    SnowflakeColumn,
    read_tables,
    schema_names,
    view_count,
)
from fluid_build.sources.snowflake.client import SnowflakeClient
from fluid_build.sources.snowflake.connection import (
    connect,
    connections_of_files,
    snowflake_place,
)
from fluid_build.sources.snowflake.types import SnowflakeDialect
from fluid_build.sources.source_names import database_name
from fluid_build.sources.warehouse_staging import announce_scan, closed_on_error, staged_source


def open_snowflake(uri: str, options: OpenOptions) -> OpenSource:
    """Stage the tables of a Snowflake database, or of some schemas of it.

    Raises SourceUnreachableError where the account isn't reached or refuses the login,
    SourceNotFoundError for an unknown database or schema, EmptySourceError where there is no
    table, and ScanTooLargeError where nobody asked for that much.
    """
    place = snowflake_place(uri, connections_of_files())
    with (
        starting(options.memory_limit) as engine,
        closed_on_error(SnowflakeClient(connect(place))) as client,
    ):
        try:
            database = client.connection.database
            if not database:
                raise SourceNotFoundError(
                    f"This role sees no database {place.database!r}.",
                    hint="Check the name, and that the role has USAGE on it.",
                )
            existing = schema_names(client.query, database)
            requested = tuple(options.schemas) or ((place.schema,) if place.schema else ())
            schemas = chosen_schemas(_folded(requested, existing), existing, database)
            catalog = read_tables(client.query, database, schemas, views=options.views)
            if not catalog:
                views = view_count(client.query, database, schemas)
                raise no_tables(database, options.schemas, views=views)
            catalog = selected_tables(catalog, placed_name, options, folds_case=False)
        except ServerQueryError as error:
            raise SourceUnreadableError(
                f"Snowflake's catalog can't be read: {error}",
                hint="Check that the role may use the database.",
            ) from None
        rows = BatchedRows(engine.connection, client.batches, client.close)
        staging = ServerStaging(
            engine.connection,
            rows,
            SnowflakeDialect(),
            catalog,
            sample=options.sample,
            limiter=limited,
            container=database,
        )
        options.on_tables(staging.names)
        announce_scan(
            options, _estimate(catalog, client.connection.warehouse, sample=options.sample)
        )
        return staged_source(
            engine,
            staging,
            catalog,
            options,
            kind=SNOWFLAKE,
            name=database_name(database, comment="", schemas=schemas),
            rights="Check that the role may SELECT from them, and that it has a warehouse:"
            " ?warehouse=NAME.",
        )


def _folded(requested: Sequence[str], existing: Sequence[str]) -> list[str]:
    """Return names as they exist; a name that was never quoted was folded to upper case."""
    return [
        name.upper() if name not in existing and name.upper() in existing else name
        for name in requested
    ]


def _estimate(
    catalog: Sequence[ServerTable[SnowflakeColumn]], warehouse: str | None, *, sample: int | None
) -> ScanEstimate:
    return ScanEstimate(
        tables=len(catalog),
        bytes=sum(table.bytes for table in catalog) or None,
        rows=sum(table.rows or 0 for table in catalog),
        basis="the catalog",
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
