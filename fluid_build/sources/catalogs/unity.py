"""Unity Catalog: the open-source server and Databricks, over their common HTTP API 2.1."""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from fluid_build.errors import SourceError
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
from fluid_build.sources.catalogs.snapshot import (
    CatalogColumn,
    CatalogForeignKey,
    CatalogSnapshot,
    CatalogTable,
    FilesLocation,
    Selection,
)
from fluid_build.sources.credentials import Credential, Secret
from fluid_build.sources.declarations.catalog_labels import (
    as_tags,
    domain_in,
    owner_named,
    owners_in,
)

_TITLE = "Unity Catalog"
_API = "/api/2.1/unity-catalog"
_LINEAGE = "/api/2.0/lineage-tracking/table-lineage"
_PAGE = "50"
"""Tables of a page: the most that the open-source server sends."""
_AT_ONCE = 8
_SYSTEM_SCHEMAS = frozenset({"information_schema"})
_SYSTEM_CATALOGS = frozenset({"system", "__databricks_internal", "samples"})


@dataclass(frozen=True)
class UnityCatalog:
    """A metastore: its schemas are those of one catalog, or of all of them."""

    address: CatalogAddress
    credential: Credential

    def fetch(self, selection: Selection) -> CatalogSnapshot:
        """Return the selected tables with their constraints, tags and lineage where it has them."""
        credential = _with_profile(self.credential)
        host = chosen_host(
            self.address, credential, _TITLE, os.environ.get("DATABRICKS_HOST", "").strip()
        )
        url = base_url(host, _TITLE)
        token = _token(credential) or _service_principal_token(url, credential)
        endpoint = Endpoint(_TITLE, url, bearer(token), credential)
        with JsonClient(endpoint) as client:
            catalog = self.address.part(0) or credential.get("catalog")
            return _Reading(client, selection, catalog, self.address.part(1)).snapshot()


@dataclass
class _Reading:
    """``unanswered`` are the questions that this server doesn't know, asked only once."""

    client: JsonClient
    selection: Selection
    catalog: str
    schema: str
    unanswered: set[str] = field(default_factory=set)

    def snapshot(self) -> CatalogSnapshot:
        schemas = list(self._schemas())
        is_one = len({name_of(schema, "catalog_name") for schema in schemas}) <= 1
        described = [(schema, table) for schema in schemas for table in self._tables_of(schema)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            tables = pool.map(lambda each: self._table(*each, is_one=is_one), described)
            selected = tuple(tables)
        only: JsonObject = schemas[0] if len(schemas) == 1 else {}
        labels = _properties(only)
        return CatalogSnapshot(
            title=_TITLE,
            name=name_of(only, "name") or self.catalog or "unity",
            tables=selected,
            notes=tuple(
                f"This server doesn't answer questions about {what}."
                for what in sorted(self.unanswered)
            ),
            owner=next(iter(owners_in(labels) or owner_named(text_of(only, "owner"))), None),
            domain=domain_in(labels),
        )

    def _schemas(self) -> Iterator[JsonObject]:
        for catalog in self._catalogs():
            for schema in self._pages("/schemas", "schemas", {"catalog_name": catalog}):
                name = name_of(schema, "name")
                is_named = not self.schema or name == self.schema
                is_system = name in _SYSTEM_SCHEMAS and not self.schema
                if is_named and not is_system and self.selection.takes_schema(name):
                    yield {**schema, "catalog_name": catalog}

    def _catalogs(self) -> Iterator[str]:
        if self.catalog:
            yield self.catalog
            return
        for catalog in self._pages("/catalogs", "catalogs", {}):
            name = name_of(catalog, "name")
            if name and name not in _SYSTEM_CATALOGS:
                yield name

    def _tables_of(self, schema: JsonObject) -> Iterator[JsonObject]:
        place = {
            "catalog_name": name_of(schema, "catalog_name"),
            "schema_name": name_of(schema, "name"),
        }
        for table in self._pages("/tables", "tables", place):
            if self.selection.takes_table(place["schema_name"], name_of(table, "name")):
                yield table

    def _pages(self, path: str, key: str, params: Mapping[str, str]) -> Iterator[JsonObject]:
        token = ""
        for _ in range(MOST_PAGES):
            page = {"max_results": _PAGE, **params, **({"page_token": token} if token else {})}
            answer = self.client.get(f"{_API}{path}", page)
            yield from objects_of(answer, key)
            following = token_of(answer, "next_page_token")
            if not following or following == token:
                return
            token = following

    def _table(self, schema: JsonObject, listed: JsonObject, *, is_one: bool) -> CatalogTable:
        catalog, schema_name = name_of(schema, "catalog_name"), name_of(schema, "name")
        name = name_of(listed, "name")
        address = f"{catalog}.{schema_name}.{name}"
        detail = self._detail(listed, address)
        tags = self._tags(address)
        labels = {**_properties(schema), **_properties(detail), **tags}
        owner = owner_named(text_of(detail, "owner"))
        primary_key, foreign_keys = _constraints(detail)
        return CatalogTable(
            schema=schema_name if is_one else f"{catalog}.{schema_name}",
            name=name,
            columns=tuple(_columns(detail)),
            address=address,
            dialect="databricks",
            comment=text_of(detail, "comment"),
            primary_key=primary_key,
            foreign_keys=foreign_keys,
            tags=as_tags(tags),
            owners=owners_in(labels) or owner,
            domain=domain_in(labels),
            upstream=self._upstream(address),
            location=_location(detail),
            is_view="VIEW" in text_of(detail, "table_type"),
        )

    def _detail(self, listed: JsonObject, address: str) -> JsonObject:
        """Return all of a table: a list leaves out its constraints, and on some servers more."""
        answer = self._asked("constraints", f"{_API}/tables/{quote(address, safe='')}", {})
        return {**listed, **answer} if isinstance(answer, Mapping) else listed

    def _tags(self, address: str) -> dict[str, str]:
        path = f"{_API}/entity-tag-assignments/tables/{quote(address, safe='')}/tags"
        answer = self._asked("tags", path, {})
        return {
            name_of(tag, "tag_key"): text_of(tag, "tag_value")
            for tag in objects_of(answer, "tag_assignments")
        }

    def _upstream(self, address: str) -> tuple[str, ...]:
        answer = self._asked("lineage", _LINEAGE, {"table_name": address})
        tables = (member(entry, "tableInfo") for entry in objects_of(answer, "upstreams"))
        parts = ("catalog_name", "schema_name", "name")
        return tuple(".".join(name_of(table, part) for part in parts) for table in tables if table)

    def _asked(self, what: str, path: str, params: Mapping[str, str]) -> JsonValue:
        """Return an answer; None where the server doesn't know such questions or refuses them."""
        if what in self.unanswered:
            return None
        try:
            return self.client.get(path, params)
        except SourceError:
            self.unanswered.add(what)
        return None


def _properties(described: JsonObject) -> dict[str, str]:
    properties = member(described, "properties")
    if not isinstance(properties, Mapping):
        return {}
    return {name: text_of(properties, name) for name in properties}


def _columns(table: JsonObject) -> Iterator[CatalogColumn]:
    columns = [*objects_of(table, "columns")]
    columns.sort(key=_position)
    for column in columns:
        type_text = member(column, "type_text")
        yield CatalogColumn(
            name=name_of(column, "name"),
            native_type=type_text if isinstance(type_text, str) else "",
            nullable=column.get("nullable") is not False,
            comment=text_of(column, "comment"),
        )


def _position(column: JsonObject) -> int:
    position = column.get("position")
    return position if isinstance(position, int) else 0


def _constraints(
    table: JsonObject,
) -> tuple[tuple[str, ...], tuple[CatalogForeignKey, ...]]:
    primary_key: tuple[str, ...] = ()
    foreign_keys = []
    for constraint in objects_of(table, "table_constraints"):
        primary_key = tuple(texts_of(constraint, "primary_key_constraint", "child_columns")) or (
            primary_key
        )
        parent = text_of(constraint, "foreign_key_constraint", "parent_table").split(".")
        if len(parent) == 3:
            foreign_keys.append(
                CatalogForeignKey(
                    tuple(texts_of(constraint, "foreign_key_constraint", "child_columns")),
                    parent[1],
                    parent[2],
                    tuple(texts_of(constraint, "foreign_key_constraint", "parent_columns")),
                )
            )
    return primary_key, tuple(foreign_keys)


def _location(table: JsonObject) -> FilesLocation | None:
    uri = text_of(table, "storage_location")
    format_ = text_of(table, "data_source_format").lower()
    return FilesLocation(uri, format_) if uri and format_ else None


def _token(credential: Credential) -> Secret | None:
    token = credential.secret("token")
    if token is not None or not credential.is_empty:
        return token
    from_environment = os.environ.get("DATABRICKS_TOKEN", "").strip()
    return Secret(from_environment) if from_environment else None


def _service_principal_token(url: str, credential: Credential) -> Secret | None:
    """Return the token of a Databricks service principal; None where the credential has none.

    https://docs.databricks.com/aws/en/dev-tools/auth/oauth-m2m
    """
    name, secret = credential.get("client_id"), credential.secret("client_secret")
    if not name or secret is None:
        return None
    form = {"grant_type": "client_credentials", "scope": "all-apis"}
    with JsonClient(Endpoint(_TITLE, url, {}, credential)) as client:
        answer = client.token(f"{url}/oidc/v1/token", (name, secret.reveal()), form)
    token = token_of(answer, "access_token")
    return Secret(token) if token else None


def _with_profile(credential: Credential) -> Credential:
    """Return a credential with what a profile of the Databricks tools has, where it names one."""
    profile = credential.get("profile") or (credential.name if credential.is_empty else "")
    if not profile:
        return credential
    path = Path(os.environ.get("DATABRICKS_CONFIG_FILE", "~/.databrickscfg")).expanduser()
    profiles = configparser.ConfigParser(interpolation=None)
    try:
        profiles.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        profiles.clear()
    if profile != "DEFAULT" and not profiles.has_section(profile):
        raise unknown_credential(profile, _TITLE, "token")
    settings = profiles[profile]
    plain, secret = (
        {key: settings[key].strip() for key in keys if settings.get(key, "").strip()}
        for keys in (("host", "client_id"), ("token", "client_secret"))
    )
    return Credential(
        credential.name,
        {**plain, **credential.fields},
        {**{key: Secret(value) for key, value in secret.items()}, **credential.secrets},
    )
