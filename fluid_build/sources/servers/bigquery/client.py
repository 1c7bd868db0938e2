"""What BigQuery is asked: its tables, what a query would scan, and the Arrow batches of queries."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from fluid_build.sources.servers.arrow_batches import reader_of
from fluid_build.sources.servers.bigquery.types import arrow_schema
from fluid_build.sources.servers.rows import ServerQueryError
from fluid_build.sources.servers.server_errors import client_message

if TYPE_CHECKING:
    import pyarrow as pa
    from google.cloud.bigquery import Client
    from google.cloud.bigquery.table import RowIterator
    from google.cloud.bigquery_storage import BigQueryReadClient

_STATEMENT_SECONDS = 3600
_LABELS = {"application": "fluid-forge"}


@dataclass(slots=True)
class BigQueryClient:
    """A client that only ever reads.

    ``storage`` downloads results many times faster than the API for queries does. It's None where
    there is none, or this user may not use it.
    """

    client: "Client"
    storage: "BigQueryReadClient | None" = None

    def scanned_bytes(self, sql: str) -> int:
        """Return how many bytes a query would scan, which costs nothing to ask.

        Raises ServerQueryError.
        """
        from google.api_core.exceptions import GoogleAPIError
        from google.cloud.bigquery import QueryJobConfig

        config = QueryJobConfig(dry_run=True, use_query_cache=False, labels=_LABELS)
        try:
            job = self.client.query(sql, job_config=config)
        except (GoogleAPIError, OSError) as error:
            raise ServerQueryError(client_message(error)) from None
        return int(job.total_bytes_processed or 0)

    @contextmanager
    def batches(self, sql: str) -> Iterator["pa.RecordBatchReader"]:
        """Yield the rows of a query as they come. Raises ServerQueryError."""
        from google.api_core.exceptions import GoogleAPIError
        from google.auth.exceptions import GoogleAuthError
        from google.cloud.bigquery import QueryJobConfig

        errors = (GoogleAPIError, GoogleAuthError, OSError)
        config = QueryJobConfig(labels=_LABELS, job_timeout_ms=_STATEMENT_SECONDS * 1000)
        try:
            rows = self.client.query(sql, job_config=config).result()
            batches = self._download(rows)
        except errors as error:
            raise ServerQueryError(client_message(error)) from None
        with reader_of(arrow_schema(rows.schema), batches, errors, client_message) as reader:
            yield reader

    def _download(self, rows: "RowIterator") -> Iterator["pa.RecordBatch"]:
        """Return the batches of a result; the first is there already."""
        from google.api_core.exceptions import Forbidden

        batches = iter(rows.to_arrow_iterable(bqstorage_client=self.storage))
        try:
            first = next(batches, None)
        except Forbidden:
            if self.storage is None:
                raise
            # Reading sessions need a permission of their own, which the API for queries doesn't.
            self.storage = None
            return self._download(rows)
        return batches if first is None else chain((first,), batches)

    def close(self) -> None:
        """Free the client."""
        self.client.close()  # type: ignore[no-untyped-call]
