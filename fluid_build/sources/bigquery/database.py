"""The datasets of a BigQuery project, staged into DuckDB."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from fluid_build.errors import SourceNotFoundError, SourceUnreachableError
from fluid_build.sources.base import OpenSource
from fluid_build.sources.bigquery.catalog import (
    BigQueryColumn,
    dataset_names,
    described_table,
    listed_tables,
)
from fluid_build.sources.bigquery.client import BigQueryClient
from fluid_build.sources.bigquery.connection import bigquery_place, connect
from fluid_build.sources.bigquery.types import BigQueryDialect
from fluid_build.sources.engine import starting
from fluid_build.sources.kinds import BIGQUERY
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.schemas import chosen_schemas, no_tables
from fluid_build.sources.selection import placed_name, selected_tables
from fluid_build.sources.server_rows import BatchedRows, ServerQueryError
from fluid_build.sources.server_staging import ServerStaging, ServerTable
from fluid_build.sources.source_names import database_name
from fluid_build.sources.warehouse_errors import client_message
from fluid_build.sources.warehouse_staging import announce_scan, closed_on_error, staged_source

_MOST_DRY_RUNS = 100
"""Queries that are tried without running them; of more tables the sizes are added up."""
_PRICE_OF_TEBIBYTE = 6.25
_PRICE_SOURCE = "$6.25 a TiB in the US, cloud.google.com/bigquery/pricing"

Result = TypeVar("Result")


def open_bigquery(uri: str, options: OpenOptions) -> OpenSource:
    """Stage the tables of a BigQuery project's datasets, or of one of them.

    Raises SourceUnreachableError without credentials or an answer, SourceNotFoundError for an
    unknown project or dataset, EmptySourceError where there is no table, and ScanTooLargeError
    where nobody asked for that much.
    """
    place = bigquery_place(uri)
    with (
        starting(options.memory_limit) as engine,
        closed_on_error(connect(place)) as client,
    ):
        project = place.project or client.client.project
        existing = _asked(lambda: dataset_names(client.client, project))
        if place.dataset and place.dataset not in existing:
            # A dataset that is shared, but not listed, can be read by its name.
            existing.append(place.dataset)
        requested = tuple(options.schemas) or ((place.dataset,) if place.dataset else ())
        datasets = chosen_schemas(requested, existing, project)
        listed = _asked(lambda: listed_tables(client.client, project, datasets))
        catalog = _asked(
            lambda: [
                described_table(client.client.get_table(table.path), project)
                for table in listed
                if options.views or not table.is_view
            ]
        )
        if not catalog:
            views = sum(table.is_view for table in listed)
            raise no_tables(project, options.schemas, views=views)
        catalog = selected_tables(catalog, placed_name, options, folds_case=False)
        staging = ServerStaging(
            engine.connection,
            BatchedRows(engine.connection, client.batches, client.close),
            BigQueryDialect(),
            catalog,
            sample=options.sample,
            limiter=limited,
            container=project,
        )
        options.on_tables(staging.names)
        announce_scan(options, _estimate(client, catalog, staging.queries, sample=options.sample))
        return staged_source(
            engine,
            staging,
            catalog,
            options,
            kind=BIGQUERY,
            name=database_name(project, comment="", schemas=datasets),
            rights="Check that this account has the roles BigQuery Data Viewer and Job User.",
        )


def _asked(question: Callable[[], Result]) -> Result:
    """Return the answer of the API; its errors become those that users see."""
    from google.api_core.exceptions import GoogleAPIError, NotFound
    from google.auth.exceptions import GoogleAuthError

    try:
        return question()
    except NotFound as error:
        raise SourceNotFoundError(
            f"BigQuery doesn't find it: {client_message(error)}",
            hint="Check the project and dataset, whose names are case-sensitive.",
        ) from None
    except (GoogleAPIError, GoogleAuthError, OSError) as error:
        raise SourceUnreachableError(
            f"BigQuery refused: {client_message(error)}",
            hint="Check the credentials, and that this account has the role BigQuery Data Viewer.",
        ) from None


def _estimate(
    client: BigQueryClient,
    catalog: Sequence[ServerTable[BigQueryColumn]],
    queries: Sequence[str],
    *,
    sample: int | None,
) -> ScanEstimate:
    """Return what the queries would scan, by a dry run of each."""
    rows = sum(table.rows or 0 for table in catalog)
    if len(queries) > _MOST_DRY_RUNS:
        scanned, basis = sum(table.bytes for table in catalog), "the sizes of the tables"
    else:
        scanned, basis = 0, "a dry run"
        for query in queries:
            try:
                scanned += client.scanned_bytes(query)
            except ServerQueryError:
                # The query fails when it's run, too, and then the table is skipped with the reason.
                continue
    return ScanEstimate(
        tables=len(catalog),
        bytes=scanned,
        rows=rows,
        basis=basis,
        is_at_most=sample is not None,
        price=scanned / 2**40 * _PRICE_OF_TEBIBYTE,
        price_source=_PRICE_SOURCE,
    )


_BLOCK_BYTES = 1024**3
"""About the size from which a table has several blocks: the whole of a smaller one is scanned.
https://cloud.google.com/bigquery/docs/table-sampling"""
_FEWEST_PERCENT = 0.01


def limited(table: SizedTable, rows: int) -> RowLimit:
    """Return how a table is bounded: LIMIT alone would scan all of it, TABLESAMPLE doesn't."""
    at_end = f"LIMIT {rows}"
    if table.is_view or not table.rows:
        return RowLimit(at_end=at_end)
    if table.bytes < _BLOCK_BYTES:
        percent = percent_of(rows, table.rows)
        return RowLimit(after_table=f"WHERE RAND() < {percent / 100:.6f}", at_end=at_end)
    least = max(_FEWEST_PERCENT, 100 * _BLOCK_BYTES / table.bytes)
    percent = percent_of(rows, table.rows, least=least)
    return RowLimit(after_table=f"TABLESAMPLE SYSTEM ({percent:g} PERCENT)", at_end=at_end)
