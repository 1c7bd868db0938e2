"""BigQuery's own catalog: datasets, labels, policy tags and the constraints of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fluid_build.errors import SourceError, SourceNotFoundError, SourceUnreachableError
from fluid_build.extras import needs_extra
from fluid_build.sources.base import Skipped
from fluid_build.sources.catalogs.address import CatalogAddress
from fluid_build.sources.catalogs.snapshot import (
    CatalogColumn,
    CatalogForeignKey,
    CatalogSnapshot,
    CatalogTable,
    Selection,
)
from fluid_build.sources.credentials import Credential
from fluid_build.sources.declarations.catalog_labels import domain_in, owners_in
from fluid_build.sources.servers.bigquery.catalog import (
    dataset_names,
    described_table,
    listed_tables,
)
from fluid_build.sources.servers.bigquery.connection import BigQueryPlace, connect
from fluid_build.sources.servers.bigquery.labels import labeled_facts
from fluid_build.sources.servers.server_errors import client_message

if TYPE_CHECKING:
    from google.cloud.bigquery import Client, Table

_TITLE = "BigQuery"
_AT_ONCE = 8


@dataclass(frozen=True)
class BigQueryCatalog:
    """A project: its datasets are the schemas."""

    address: CatalogAddress
    credential: Credential

    def fetch(self, selection: Selection) -> CatalogSnapshot:
        """Return the selected tables with their labels, policy tags, keys and comments."""
        with needs_extra("bigquery", "Reading BigQuery"):
            import google.cloud.bigquery  # noqa: F401  the reading below needs it
        place = BigQueryPlace(
            project=self.address.host or self.credential.get("project"),
            key_file=self.credential.get("key_file"),
        )
        bigquery = connect(place)
        try:
            project = place.project or bigquery.client.project
            return _Reading(bigquery.client, project, selection).snapshot(self.address.part(0))
        finally:
            bigquery.close()


@dataclass(frozen=True)
class _Reading:
    client: Client
    project: str
    selection: Selection

    def snapshot(self, requested: str) -> CatalogSnapshot:
        with _typed_errors():
            names = [requested] if requested else dataset_names(self.client, self.project)
            datasets = [name for name in names if self.selection.takes_schema(name)]
            labels = {name: self._dataset_labels(name) for name in datasets}
            listed = [
                (table.path, name)
                for name in datasets
                for table in listed_tables(self.client, self.project, [name])
                if self.selection.takes_table(name, table.path.rpartition(".")[2])
            ]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            described = list(
                pool.map(lambda each: self._table_or_reason(each[0], labels[each[1]]), listed)
            )
        only = labels[datasets[0]] if len(datasets) == 1 else {}
        return CatalogSnapshot(
            title=_TITLE,
            name=datasets[0] if len(datasets) == 1 else self.project,
            tables=tuple(each for each in described if isinstance(each, CatalogTable)),
            skipped=tuple(each for each in described if isinstance(each, Skipped)),
            owner=next(iter(owners_in(only)), None),
            domain=domain_in(only),
        )

    def _dataset_labels(self, dataset: str) -> Mapping[str, str]:
        return dict(self.client.get_dataset(f"{self.project}.{dataset}").labels or {})

    def _table_or_reason(self, path: str, inherited: Mapping[str, str]) -> CatalogTable | Skipped:
        try:
            with _typed_errors():
                return self._table(self.client.get_table(path), inherited)
        except SourceError as error:
            return Skipped(path.partition(".")[2], error.message)

    def _table(self, table: Table, inherited: Mapping[str, str]) -> CatalogTable:
        described = described_table(table, self.project)
        facts = labeled_facts(table, self.project, inherited)
        return CatalogTable(
            schema=described.schema,
            name=described.name,
            columns=tuple(
                CatalogColumn(
                    column.name,
                    column.declared_type,
                    nullable=column.nullable,
                    comment=column.comment or "",
                    tags=facts.column_tags.get(column.name, ()),
                )
                for column in described.columns
            ),
            address=facts.address,
            dialect="bigquery",
            comment=described.comment or table.friendly_name or "",
            primary_key=described.primary_key,
            foreign_keys=tuple(CatalogForeignKey(*key) for key in described.foreign_keys),
            tags=facts.tags,
            owners=facts.owners,
            domain=facts.domain,
            is_view=described.is_view,
        )


@contextmanager
def _typed_errors() -> Iterator[None]:
    """Turn the errors of Google's client into ours."""
    from google.api_core.exceptions import GoogleAPIError, NotFound
    from google.auth.exceptions import GoogleAuthError

    try:
        yield
    except NotFound as error:
        raise SourceNotFoundError(
            f"{_TITLE} doesn't have that: {client_message(error)}",
            hint="Check the project and the dataset.",
        ) from None
    except (GoogleAPIError, GoogleAuthError, OSError) as error:
        raise SourceUnreachableError(
            f"{_TITLE} refused: {client_message(error)}",
            hint="It needs bigquery.datasets.get, bigquery.tables.list and bigquery.tables.get."
            " Run `gcloud auth application-default login`, or set the field key_file of the"
            " credential.",
        ) from None
