"""The datasets of a BigQuery project, staged into DuckDB."""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from fluid_build.errors import SourceNotFoundError, SourceUnreachableError
from fluid_build.sources.addresses.kinds import BIGQUERY
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine.connection import starting
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.schemas import chosen_schemas
from fluid_build.sources.servers.bigquery.catalog import (
    BigQueryColumn,
    dataset_names,
    described_table,
    listed_tables,
)
from fluid_build.sources.servers.bigquery.client import BigQueryClient
from fluid_build.sources.servers.bigquery.connection import bigquery_place, connect
from fluid_build.sources.servers.bigquery.labels import labeled_facts
from fluid_build.sources.servers.bigquery.types import BigQueryDialect
from fluid_build.sources.servers.row_limits import RowLimit, SizedTable, percent_of
from fluid_build.sources.servers.rows import BatchedRows, ServerQueryError, closed_on_error
from fluid_build.sources.servers.server_errors import client_message
from fluid_build.sources.servers.source import ServerCatalog, ServerReading, staged_source
from fluid_build.sources.servers.staging import ServerTable

_MOST_DRY_RUNS = 100
"""Queries that are tried without running them; of more tables the sizes are added up."""
_PRICE_OF_TEBIBYTE = 6.25
_PRICE_SOURCE = "$6.25 a TiB in the US, cloud.google.com/bigquery/pricing"

Result = TypeVar("Result")


def open_bigquery(uri: str, options: OpenOptions) -> OpenSource:
    """Stage the tables of a BigQuery project's datasets, or of one of them.

    Raises SourceUnreachableError without credentials or an answer, SourceNotFoundError for an
    unknown project or dataset, and what ``staged_source`` does.
    """
    place = bigquery_place(uri)
    chosen = options.in_schema(place.dataset)
    with (
        starting(options.memory_limit) as engine,
        closed_on_error(connect(place)) as client,
    ):
        project = place.project or client.client.project
        catalog = _catalog(client, project, place.dataset, chosen)
        reading = ServerReading[BigQueryColumn](
            limiter=limited,
            container=project,
            estimate=lambda tables, queries: _estimate(
                client, tables, queries, sample=options.sample
            ),
            rights="Check that this account has the roles BigQuery Data Viewer and Job User.",
        )
        rows = BatchedRows(engine.connection, client.batches, client.close)
        return staged_source(BIGQUERY, engine, rows, BigQueryDialect(), catalog, chosen, reading)


def _catalog(
    client: BigQueryClient, project: str, dataset: str, options: OpenOptions
) -> ServerCatalog[BigQueryColumn]:
    began = time.perf_counter()
    existing = _asked(lambda: dataset_names(client.client, project))
    if dataset and dataset not in existing:
        # A dataset that is shared, but not listed, can be read by its name.
        existing.append(dataset)
    datasets = chosen_schemas(options.schemas, existing, project, folds_case=False)
    listed = _asked(lambda: listed_tables(client.client, project, datasets))
    resources = _asked(
        lambda: [
            client.client.get_table(table.path)
            for table in listed
            if options.views or not table.is_view
        ]
    )
    return ServerCatalog(
        project,
        [described_table(resource, project) for resource in resources],
        {"views": sum(table.is_view for table in listed)},
        existing,
        facts={
            (resource.dataset_id, resource.table_id): labeled_facts(resource, project)
            for resource in resources
            if resource.labels or any(field.policy_tags for field in resource.schema)
        },
        duration_ms=(time.perf_counter() - began) * 1000,
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
        scanned, basis = sum(table.bytes for table in catalog), "the tables' sizes"
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
        # As good as random, and the same each time.
        order = "AS t ORDER BY FARM_FINGERPRINT(TO_JSON_STRING(t))"
        return RowLimit(after_table=order, at_end=at_end)
    least = max(_FEWEST_PERCENT, 100 * _BLOCK_BYTES / table.bytes)
    percent = percent_of(rows, table.rows, least=least)
    return RowLimit(after_table=f"TABLESAMPLE SYSTEM ({percent:g} PERCENT)", at_end=at_end)
