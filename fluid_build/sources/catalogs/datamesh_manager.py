"""Data Mesh Manager: data products, and the data contracts of their output ports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

from fluid_build.json_types import JsonObject
from fluid_build.sources.base import Skipped
from fluid_build.sources.catalogs.address import CatalogAddress
from fluid_build.sources.catalogs.answers import member, name_of, objects_of, text_of, texts_of
from fluid_build.sources.catalogs.contract_tables import contract_tables
from fluid_build.sources.catalogs.http import MOST_PAGES, Endpoint, JsonClient, base_url
from fluid_build.sources.catalogs.logins import chosen_host, header_value, unknown_credential
from fluid_build.sources.catalogs.snapshot import (
    CatalogSnapshot,
    CatalogTable,
    Selection,
    merge_tags,
)
from fluid_build.sources.credentials import Credential, Secret
from fluid_build.sources.declarations.catalog_facts import CatalogOwner

_TITLE = "Data Mesh Manager"
_HOST = "api.datamesh-manager.com"
_DIALECTS = {
    "athena": "hive", "bigquery": "bigquery", "databricks": "databricks", "glue": "hive",
    "mysql": "mysql", "oracle": "oracle", "postgres": "postgres", "redshift": "redshift",
    "snowflake": "snowflake", "sqlserver": "tsql", "trino": "trino",
}  # fmt: skip
"""sqlglot's names for the engines that servers of contracts have."""


@dataclass(frozen=True)
class DataMeshManagerCatalog:
    """The data products of an organization: each is a schema, with the tables of its contracts."""

    address: CatalogAddress
    credential: Credential

    def fetch(self, selection: Selection) -> CatalogSnapshot:
        """Return the tables of the selected data products, with their teams, domains and tags."""
        credential = self.credential
        if credential.name and credential.is_empty:
            raise unknown_credential(credential.name, _TITLE, "api_key")
        host = chosen_host(self.address, credential, _TITLE, _HOST)
        endpoint = Endpoint(_TITLE, base_url(host, _TITLE), _headers(credential), credential)
        with JsonClient(endpoint) as client:
            return _Reading(client, selection).snapshot(self.address.part(0))


def _headers(credential: Credential) -> dict[str, str]:
    key = credential.secret("api_key")
    if key is None and not credential.name:
        value = os.environ.get("DATAMESH_MANAGER_API_KEY", "").strip()
        key = Secret(value) if value else None
    return {} if key is None else {"x-api-key": header_value(key)}


@dataclass
class _Reading:
    client: JsonClient
    selection: Selection

    def snapshot(self, requested: str) -> CatalogSnapshot:
        self._teams: dict[str, CatalogOwner] = {}
        tables: list[CatalogTable] = []
        skipped: list[Skipped] = []
        products = [p for p in self._products(requested) if self.selection.takes_schema(_id(p))]
        for product in products:
            for contract_id in dict.fromkeys(_contract_ids(product)):
                contract = self.client.find(f"/api/datacontracts/{quote(contract_id, safe='')}")
                if isinstance(contract, Mapping):
                    tables += self._tables(product, contract)
                else:
                    reason = f"The catalog doesn't have the data contract {contract_id}."
                    skipped.append(Skipped(f"{_id(product)}.{contract_id}", reason))
        only = products[0] if len(products) == 1 else {}
        return CatalogSnapshot(
            title=_TITLE,
            name=_title(only) or "data products",
            tables=tuple(_distinct(tables)),
            skipped=tuple(skipped),
            product=_title(only),
            owner=self._owner(only) if only else None,
            domain=_domain(only),
        )

    def _products(self, requested: str) -> Iterator[JsonObject]:
        if requested:
            product = self.client.get(f"/api/dataproducts/{quote(requested, safe='')}")
            if isinstance(product, Mapping):
                yield product
            return
        first_ids: set[str] = set()
        for number in range(MOST_PAGES):
            answer = self.client.get("/api/dataproducts", {"p": str(number)})
            page = [*objects_of({"page": answer}, "page")]
            if not page or _id(page[0]) in first_ids:
                return
            first_ids.add(_id(page[0]))
            yield from page

    def _tables(self, product: JsonObject, contract: JsonObject) -> Iterator[CatalogTable]:
        schema = _id(product)
        tags = [*texts_of(product, "tags"), *texts_of(contract, "tags")]
        owner = self._owner(contract) or self._owner(product)
        for table in contract_tables(contract, schema):
            if self.selection.takes_table(schema, table.name):
                yield replace(
                    table,
                    dialect=_dialect(contract),
                    address=f"{_id(contract)}#{table.name}",
                    tags=merge_tags(table.tags, tags),
                    owners=(owner,) if owner else (),
                    domain=_domain(contract) or _domain(product),
                    upstream=tuple(_upstream(product)),
                )

    def _owner(self, described: JsonObject) -> CatalogOwner | None:
        """Return the team of a product or contract, by the name that people know it by."""
        team = (
            name_of(described, "info", "ownerId")
            or name_of(described, "info", "owner")
            or name_of(described, "team", "name")
            or name_of(described, "team")
            or name_of(described, "owner")
        )
        if not team:
            return None
        if team not in self._teams:
            answer = self.client.find(f"/api/teams/{quote(team, safe='')}")
            email = text_of(answer, "contact", "email") or text_of(answer, "email")
            self._teams[team] = CatalogOwner(text_of(answer, "name") or team, email)
        return self._teams[team]


def _id(described: JsonObject) -> str:
    return name_of(described, "id") or name_of(described, "info", "id")


def _title(product: JsonObject) -> str:
    return (
        text_of(product, "info", "title")
        or text_of(product, "info", "name")
        or text_of(product, "name")
        or _id(product)
    )


def _domain(described: JsonObject) -> str:
    return text_of(described, "info", "domain") or text_of(described, "domain")


def _contract_ids(product: JsonObject) -> Iterator[str]:
    for port in objects_of(product, "outputPorts"):
        contract = name_of(port, "dataContractId") or name_of(port, "contractId")
        if contract:
            yield contract


def _upstream(product: JsonObject) -> Iterator[str]:
    for port in objects_of(product, "inputPorts"):
        source = name_of(port, "sourceSystemId") or name_of(port, "sourceOutputPortId")
        source = (
            source or name_of(port, "contractId") or name_of(port, "name") or name_of(port, "id")
        )
        if source:
            yield source


def _dialect(contract: JsonObject) -> str:
    """Return the engine of a contract's tables: that of its first server."""
    servers = member(contract, "servers")
    if isinstance(servers, Mapping):
        types = [text_of(server, "type") for server in servers.values()]
    else:
        types = [text_of(server, "type") for server in objects_of(contract, "servers")]
    return next((_DIALECTS[type_.lower()] for type_ in types if type_.lower() in _DIALECTS), "")


def _distinct(tables: list[CatalogTable]) -> Iterator[CatalogTable]:
    """Yield each table of a product once: several ports may offer the same contract."""
    used: set[tuple[str, str]] = set()
    for table in tables:
        if (table.schema, table.name) not in used:
            used.add((table.schema, table.name))
            yield table
