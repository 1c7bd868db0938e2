"""DataHub, over its GraphQL API: datasets of one platform or of all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fluid_build.errors import SourceUnreachableError, SourceUnreadableError
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.sources.catalogs.address import CatalogAddress
from fluid_build.sources.catalogs.answers import (
    member,
    name_of,
    objects_of,
    text_of,
    texts_of,
    token_of,
)
from fluid_build.sources.catalogs.http import MOST_PAGES, Endpoint, JsonClient, base_url
from fluid_build.sources.catalogs.logins import bearer, chosen_host, unknown_credential
from fluid_build.sources.catalogs.native_types import known_type
from fluid_build.sources.catalogs.snapshot import (
    CatalogColumn,
    CatalogForeignKey,
    CatalogSnapshot,
    CatalogTable,
    Selection,
    merge_tags,
)
from fluid_build.sources.credentials import Credential, Secret
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from fluid_build.sources.declarations.catalog_labels import domain_in, owners_in

_TITLE = "DataHub"
_PAGE = 50
"""Datasets of a page: their fields, tags and lineage come with them."""

_DIALECTS = {
    "athena": "hive", "bigquery": "bigquery", "clickhouse": "clickhouse",
    "databricks": "databricks", "delta-lake": "spark", "duckdb": "duckdb", "glue": "hive",
    "hive": "hive", "iceberg": "spark", "mariadb": "mysql", "mssql": "tsql", "mysql": "mysql",
    "oracle": "oracle", "postgres": "postgres", "presto": "presto", "redshift": "redshift",
    "snowflake": "snowflake", "spark": "spark", "teradata": "teradata", "trino": "trino",
}  # fmt: skip
"""sqlglot's names for the engines that DataHub calls platforms."""

_GENERAL_TYPES = {
    "ARRAY": "VARCHAR[]", "BOOLEAN": "BOOLEAN", "BYTES": "BLOB", "DATE": "DATE32",
    "ENUM": "VARCHAR", "FIXED": "BLOB", "MAP": "JSON", "NUMBER": "DOUBLE", "STRING": "VARCHAR",
    "STRUCT": "JSON", "TIME": "TIMESTAMP_NTZ", "UNION": "JSON",
}  # fmt: skip
"""Types that mean the same in every dialect, for DataHub's own where the native one is unknown."""

_PATH_MARK = re.compile(r"\[[^\]]*\]\.?")
"""The marks of version 2 of its paths: ``[version=2.0].[type=struct].[type=string].city``."""

_LABELS = "tags { tags { tag { name properties { name } } }"
_TERMS = "glossaryTerms { terms { term { name properties { name } } } }"
_QUERY = (
    """
query datasets($input: ScrollAcrossEntitiesInput!) {
  scrollAcrossEntities(input: $input) {
    nextScrollId
    searchResults {
      entity {
        urn
        ... on Dataset {
          name
          platform { name }
          subTypes { typeNames }
          properties { name qualifiedName description customProperties { key value } }
          editableProperties { description }
          ownership {
            owners {
              owner {
                ... on CorpUser { username properties { displayName email } }
                ... on CorpGroup { name properties { displayName email } }
              }
            }
          }
          domain { domain { properties { name } } }
          """
    + _LABELS
    + " } "
    + _TERMS
    + """
          schemaMetadata {
            primaryKeys
            foreignKeys {
              sourceFields { fieldPath }
              foreignFields { fieldPath }
              foreignDataset { urn name }
            }
            fields {
              fieldPath nativeDataType type nullable description isPartOfKey
              """
    + _LABELS
    + " } "
    + _TERMS
    + """
            }
          }
          editableSchemaMetadata {
            editableSchemaFieldInfo {
              fieldPath description
              """
    + _LABELS
    + " } "
    + _TERMS
    + """
            }
          }
          upstream: lineage(input: {direction: UPSTREAM, start: 0, count: 100}) {
            relationships { entity { ... on Dataset { name platform { name } } } }
          }
        }
      }
    }
  }
}
"""
)


@dataclass(frozen=True)
class DataHubCatalog:
    """A DataHub server: the schemas are what is before the last dot of a dataset's name."""

    address: CatalogAddress
    credential: Credential

    def fetch(self, selection: Selection) -> CatalogSnapshot:
        """Return the selected datasets with their owners, domains, tags, terms and lineage."""
        credential = self.credential
        if credential.name and credential.is_empty:
            raise unknown_credential(credential.name, _TITLE, "token")
        environment = "" if credential.name else os.environ.get("DATAHUB_GMS_URL", "").strip()
        host = chosen_host(self.address, credential, _TITLE, environment)
        token = credential.secret("token") or _token_of_environment(credential)
        url = base_url(host, _TITLE)
        platform = self.address.part(0) or credential.get("platform")
        with JsonClient(Endpoint(_TITLE, url, bearer(token), credential)) as client:
            tables = tuple(_tables(client, platform, selection))
        schemas = {table.schema for table in tables}
        return CatalogSnapshot(
            title=_TITLE,
            name=(schemas.pop() if len(schemas) == 1 else "") or platform or "datahub",
            tables=tables,
        )


def _token_of_environment(credential: Credential) -> Secret | None:
    token = "" if credential.name else os.environ.get("DATAHUB_GMS_TOKEN", "").strip()
    return Secret(token) if token else None


def _tables(client: JsonClient, platform: str, selection: Selection) -> Iterator[CatalogTable]:
    used: set[str] = set()
    for dataset in _datasets(client, platform):
        schema, name = _names(name_of(dataset, "name"))
        urn = text_of(dataset, "urn")
        if urn not in used and selection.takes_table(schema, name):
            used.add(urn)
            yield _table(dataset, schema, name)


def _datasets(client: JsonClient, platform: str) -> Iterator[JsonObject]:
    chosen: JsonObject = {"field": "platform", "values": [f"urn:li:dataPlatform:{platform}"]}
    scroll = ""
    for _ in range(MOST_PAGES):
        request: JsonObject = {
            "types": ["DATASET"],
            "query": "*",
            "count": _PAGE,
            **({"orFilters": [{"and": [chosen]}]} if platform else {}),
            **({"scrollId": scroll} if scroll else {}),
        }
        answer = client.post("/api/graphql", {"query": _QUERY, "variables": {"input": request}})
        page = _data(answer)
        for result in objects_of(page, "searchResults"):
            entity = member(result, "entity")
            if isinstance(entity, Mapping) and name_of(entity, "name"):
                yield entity
        following = token_of(page, "nextScrollId")
        if not following or following == scroll:
            return
        scroll = following


def _data(answer: JsonValue) -> JsonValue:
    """Return the page of an answer; GraphQL reports errors in an answer that is fine by itself."""
    page = member(answer, "data", "scrollAcrossEntities")
    if isinstance(page, Mapping):
        return page
    error = next(objects_of(answer, "errors"), {})
    message = text_of(error, "message").rstrip(".")[:240]
    code = member(error, "extensions", "code")
    if code in (401, 403) or "unauthorized" in message.lower():
        raise SourceUnreachableError(
            f"{_TITLE} refused the login: {message}.", hint="Check the token and its policies."
        )
    raise SourceUnreadableError(
        f"{_TITLE} couldn't answer: {message or 'its answer has no datasets'}.",
        hint="Check the host: the address of DataHub's metadata service is needed.",
    )


def _names(dataset: str) -> tuple[str, str]:
    """Return the schema and the table in a dataset's name: ``shop.public.orders``."""
    if "/" in dataset:
        folder, _, name = dataset.rpartition("/")
        return folder, name
    schema, _, name = dataset.rpartition(".")
    return schema, name


def _table(dataset: JsonObject, schema: str, name: str) -> CatalogTable:
    properties = {
        name_of(entry, "key"): text_of(entry, "value")
        for entry in objects_of(dataset, "properties", "customProperties")
    }
    platform = name_of(dataset, "platform", "name")
    kinds = " ".join(texts_of(dataset, "subTypes", "typeNames")).lower()
    return CatalogTable(
        schema=schema,
        name=name,
        columns=tuple(_columns(dataset, _DIALECTS.get(platform, ""))),
        address=f"{platform}:{name_of(dataset, 'name')}",
        dialect=_DIALECTS.get(platform, ""),
        comment=text_of(dataset, "editableProperties", "description")
        or text_of(dataset, "properties", "description"),
        primary_key=_primary_key(dataset),
        foreign_keys=tuple(_foreign_keys(dataset)),
        tags=_tags(dataset),
        owners=_owners(dataset) or owners_in(properties),
        domain=text_of(dataset, "domain", "domain", "properties", "name") or domain_in(properties),
        upstream=tuple(_upstream(dataset)),
        is_view="view" in kinds,
    )


def _columns(dataset: JsonObject, dialect: str) -> Iterator[CatalogColumn]:
    edited = {
        _column_name(name_of(info, "fieldPath")): info
        for info in objects_of(dataset, "editableSchemaMetadata", "editableSchemaFieldInfo")
    }
    used: set[str] = set()
    for column in objects_of(dataset, "schemaMetadata", "fields"):
        name = _column_name(name_of(column, "fieldPath"))
        if not name or name in used:
            continue  # A field inside a nested column, which is a part of that column.
        used.add(name)
        changes = edited.get(name, {})
        yield CatalogColumn(
            name=name,
            native_type=_type(column, dialect),
            nullable=column.get("nullable") is not False,
            comment=text_of(changes, "description") or text_of(column, "description"),
            tags=merge_tags(_tags(column), _tags(changes)),
        )


def _column_name(path: str) -> str:
    """Return the column of a field's path; "" for a field inside a nested column."""
    if not path.startswith("[version="):
        return path
    plain = _PATH_MARK.sub("", path)
    return "" if "." in plain else plain


def _type(column: JsonObject, dialect: str) -> str:
    native = member(column, "nativeDataType")
    if isinstance(native, str) and known_type(native, dialect):
        return native
    return _GENERAL_TYPES.get(name_of(column, "type"), native if isinstance(native, str) else "")


def _primary_key(dataset: JsonObject) -> tuple[str, ...]:
    named = tuple(map(_column_name, texts_of(dataset, "schemaMetadata", "primaryKeys")))
    return named or tuple(
        _column_name(name_of(column, "fieldPath"))
        for column in objects_of(dataset, "schemaMetadata", "fields")
        if column.get("isPartOfKey") is True
    )


def _foreign_keys(dataset: JsonObject) -> Iterator[CatalogForeignKey]:
    for key in objects_of(dataset, "schemaMetadata", "foreignKeys"):
        schema, table = _names(name_of(key, "foreignDataset", "name"))
        own, theirs = (
            tuple(_column_name(name_of(f, "fieldPath")) for f in objects_of(key, fields))
            for fields in ("sourceFields", "foreignFields")
        )
        if table and own:
            yield CatalogForeignKey(own, schema, table, theirs)


def _tags(labelled: JsonObject) -> tuple[str, ...]:
    tags = (member(entry, "tag") for entry in objects_of(labelled, "tags", "tags"))
    terms = (member(entry, "term") for entry in objects_of(labelled, "glossaryTerms", "terms"))
    return merge_tags([_label(label) for label in (*tags, *terms)])


def _label(label: JsonValue) -> str:
    return text_of(label, "properties", "name") or text_of(label, "name")


def _owners(dataset: JsonObject) -> tuple[CatalogOwner, ...]:
    owners = (member(entry, "owner") for entry in objects_of(dataset, "ownership", "owners"))
    named = (
        CatalogOwner(
            text_of(owner, "properties", "displayName")
            or text_of(owner, "name")
            or text_of(owner, "username"),
            text_of(owner, "properties", "email"),
        )
        for owner in owners
    )
    return tuple(dict.fromkeys(owner for owner in named if owner.name))


def _upstream(dataset: JsonObject) -> Iterator[str]:
    for relationship in objects_of(dataset, "upstream", "relationships"):
        name = name_of(relationship, "entity", "name")
        if name:
            yield f"{name_of(relationship, 'entity', 'platform', 'name')}:{name}"
