"""Google Dataplex (Knowledge Catalog): the entries of a group, with aspects and lineage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fluid_build.errors import SourceError, SourceUnreachableError, UsageError
from fluid_build.extras import needs_extra
from fluid_build.json_types import JsonObject
from fluid_build.sources.base import Skipped
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
from fluid_build.sources.catalogs.logins import bearer
from fluid_build.sources.catalogs.snapshot import (
    CatalogColumn,
    CatalogSnapshot,
    CatalogTable,
    Selection,
    merge_tags,
)
from fluid_build.sources.credentials import Credential, Secret
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from fluid_build.sources.declarations.catalog_labels import as_tags, domain_in, owners_in
from fluid_build.sources.sql import quote as quote_name

# Logging in to Google's APIs: a token, a service account's key, or this machine's defaults.

_SCOPE = "https://www.googleapis.com/auth/cloud-platform.read-only"


def google_token(credential: Credential, title: str) -> Secret:
    """Return a token that reads Google's APIs.

    Raises SourceUnreachableError where there's no login, or Google refuses it.
    """
    token = credential.secret("token")
    if token is not None:
        return token
    with needs_extra("catalogs", f"Asking {title}"):
        import google.auth
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request
        from google.oauth2 import service_account
    key_file = credential.get("key_file")
    try:
        if key_file:
            factory: Any = service_account.Credentials
            login = factory.from_service_account_file(key_file, scopes=[_SCOPE])
        else:
            login, _ = google.auth.default(scopes=[_SCOPE])
        login.refresh(Request())
    except (GoogleAuthError, OSError, ValueError) as error:
        raise SourceUnreachableError(
            f"There's no login for {title}: {type(error).__name__}.",
            hint="Run `gcloud auth application-default login`, or set the field key_file of the"
            " credential to a service account's key.",
        ) from None
    return Secret(str(login.token))


_TITLE = "Google Dataplex"
_ENTRIES = "https://dataplex.googleapis.com"
_LINEAGE = "https://datalineage.googleapis.com"
_GROUP = "@bigquery"
"""The entry group that Google fills with the tables of BigQuery."""
_PAGE = "500"
_AT_ONCE = 8
_DEEPEST = 15
"""Levels of nested columns: BigQuery's limit."""

_SYSTEM_ASPECTS = frozenset(
    "schema overview contacts storage bigquery-table bigquery-dataset bigquery-view generic"
    " usage data-profile data-quality-scorecard queries refresh-cadence".split()
)
"""Aspects of Google's own, which describe an entry and don't tag it."""


@dataclass(frozen=True)
class DataplexCatalog:
    """An entry group of a project and a location: datasets are its schemas."""

    address: CatalogAddress
    credential: Credential

    def fetch(self, selection: Selection) -> CatalogSnapshot:
        """Return the selected tables with their schema, contacts, aspects and lineage."""
        credential = self.credential
        project = self.address.host or credential.get("project")
        location = self.address.part(0) or credential.get("location")
        if not project or not location:
            raise UsageError(
                "Dataplex needs a project and a location.",
                hint="Write them in the address, such as dataplex://my-project/eu, or set the"
                " fields project and location of the credential.",
            )
        group = self.address.part(1) or _GROUP
        headers = bearer(google_token(credential, _TITLE))
        own = credential.get("endpoint")
        entries, lineage = (
            Endpoint(_TITLE, base_url(own or url, _TITLE), headers, credential)
            for url in (_ENTRIES, _LINEAGE)
        )
        place = f"/v1/projects/{quote(project)}/locations/{quote(location)}"
        with JsonClient(entries) as client, JsonClient(lineage) as lineage_client:
            reading = _Reading(client, lineage_client, place, selection)
            tables, skipped = reading.tables(f"{place}/entryGroups/{quote(group)}")
        schemas = {table.schema for table in tables}
        return CatalogSnapshot(
            title=_TITLE,
            name=schemas.pop() if len(schemas) == 1 else project,
            tables=tables,
            skipped=skipped,
            notes=reading.notes,
        )


@dataclass
class _Reading:
    client: JsonClient
    lineage_client: JsonClient
    place: str
    selection: Selection
    has_lineage: bool = True

    @property
    def notes(self) -> tuple[str, ...]:
        return () if self.has_lineage else ("The lineage couldn't be read, so it's left out.",)

    def tables(self, group: str) -> tuple[tuple[CatalogTable, ...], tuple[Skipped, ...]]:
        listed = [e for e in self._entries(group) if _is_table(e) and self._is_selected(e)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            described = list(pool.map(self._table_or_reason, listed))
        return (
            tuple(each for each in described if isinstance(each, CatalogTable)),
            tuple(each for each in described if isinstance(each, Skipped)),
        )

    def _entries(self, group: str) -> Iterator[JsonObject]:
        token = ""
        for _ in range(MOST_PAGES):
            params = {"pageSize": _PAGE, **({"pageToken": token} if token else {})}
            answer = self.client.get(f"{group}/entries", params)
            yield from objects_of(answer, "entries")
            following = token_of(answer, "nextPageToken")
            if not following or following == token:
                return
            token = following

    def _is_selected(self, entry: JsonObject) -> bool:
        schema, name = _names(entry)
        return self.selection.takes_table(schema, name)

    def _table_or_reason(self, listed: JsonObject) -> CatalogTable | Skipped:
        try:
            return self._table(listed)
        except SourceError as error:
            return Skipped(".".join(filter(None, _names(listed))), error.message)

    def _table(self, listed: JsonObject) -> CatalogTable:
        """Return a table with its aspects, which a list leaves out."""
        path = quote(text_of(listed, "name"), safe="/@:")
        entry = self.client.get(f"/v1/{path}", {"view": "ALL"})
        assert isinstance(entry, Mapping)
        schema, name = _names(listed)
        aspects = _aspects(entry)
        labels = _labels(entry)
        own = [name for name in aspects if "@" not in name and name not in _SYSTEM_ASPECTS]
        return CatalogTable(
            schema=schema,
            name=name,
            columns=tuple(_columns(aspects)),
            address=text_of(entry, "fullyQualifiedName"),
            dialect="bigquery",
            comment=text_of(entry, "entrySource", "description")
            or text_of(aspects.get("overview"), "content"),
            tags=merge_tags(as_tags(labels), own),
            owners=_contacts(aspects) or owners_in(labels),
            domain=domain_in(labels) or _domain(aspects),
            upstream=self._upstream(text_of(entry, "fullyQualifiedName")),
            is_view="view" in text_of(entry, "entryType"),
        )

    def _upstream(self, address: str) -> tuple[str, ...]:
        if not address or not self.has_lineage:
            return ()
        body: JsonObject = {"target": {"fullyQualifiedName": address}, "pageSize": 100}
        try:
            answer = self.lineage_client.post(f"{self.place}:searchLinks", body)
        except SourceError:
            self.has_lineage = False  # The API isn't enabled, or the login may not use it.
            return ()
        links = objects_of(answer, "links")
        sources = (text_of(link, "source", "fullyQualifiedName") for link in links)
        return tuple(dict.fromkeys(filter(None, sources)))


def _is_table(entry: JsonObject) -> bool:
    type_ = text_of(entry, "entryType").rpartition("/")[2]
    return type_.endswith(("table", "view")) or type_ == "generic"


def _names(entry: JsonObject) -> tuple[str, str]:
    """Return the schema and the table of a full name: ``bigquery:project.dataset.table``."""
    address = text_of(entry, "fullyQualifiedName").partition(":")[2]
    parts = [part.strip("`") for part in address.split(".")]
    if len(parts) >= 2:
        return parts[-2], parts[-1]
    own = text_of(entry, "name").rpartition("/")[2]
    return "", text_of(entry, "entrySource", "displayName") or own


def _aspects(entry: JsonObject) -> dict[str, JsonObject]:
    """Return the aspects of an entry by their type, and ``type@path`` for one of a column.

    A key is ``PROJECT.LOCATION.TYPE`` with ``@Schema.column`` for a column's.
    """
    aspects = member(entry, "aspects")
    by_type: dict[str, JsonObject] = {}
    for key, aspect in aspects.items() if isinstance(aspects, Mapping) else ():
        type_, at, path = key.partition("@")
        data = member(aspect, "data")
        name = f"{type_.rpartition('.')[2]}{at}{path}"
        by_type[name] = data if isinstance(data, Mapping) else {}
    return by_type


def _labels(entry: JsonObject) -> dict[str, str]:
    labels = member(entry, "entrySource", "labels")
    return {name: text_of(labels, name) for name in labels} if isinstance(labels, Mapping) else {}


def _contacts(aspects: Mapping[str, JsonObject]) -> tuple[CatalogOwner, ...]:
    contacts = aspects.get("contacts", {})
    owners = (
        CatalogOwner(text_of(person, "name") or text_of(person, "id"), text_of(person, "id"))
        for person in objects_of(contacts, "identities")
        if "owner" in text_of(person, "role").lower()
    )
    return tuple(
        CatalogOwner(owner.name, owner.email if "@" in owner.email else "")
        for owner in owners
        if owner.name
    )


def _domain(aspects: Mapping[str, JsonObject]) -> str:
    """Return the domain that an aspect of the user's own has as a field."""
    own = (data for name, data in aspects.items() if "@" not in name)
    fields = ({key: text_of(data, key) for key in data} for data in own)
    return next(filter(None, map(domain_in, fields)), "")


def _columns(aspects: Mapping[str, JsonObject]) -> Iterator[CatalogColumn]:
    for column in objects_of(aspects.get("schema", {}), "fields"):
        name = name_of(column, "name")
        suffix = f"@Schema.{name}"
        yield CatalogColumn(
            name=name,
            native_type=_type(column, 0),
            nullable=text_of(column, "mode").upper() != "REQUIRED",
            comment=text_of(column, "description"),
            tags=merge_tags(
                [key.removesuffix(suffix) for key in aspects if key.endswith(suffix)],
                [*texts_of(column, "policyTags")],
            ),
        )


def _type(column: JsonObject, depth: int) -> str:
    fields = [*objects_of(column, "fields")] if depth < _DEEPEST else []
    mode = text_of(column, "mode").upper()
    type_ = text_of(column, "dataType")
    if fields:
        listed = (f"{quote_name(name_of(f, 'name'))} {_type(f, depth + 1)}" for f in fields)
        type_ = f"STRUCT<{', '.join(listed)}>"
    # A repeated column may say so in its type already.
    is_list = mode == "REPEATED" and not type_.upper().startswith("ARRAY")
    return f"ARRAY<{type_}>" if is_list else type_
