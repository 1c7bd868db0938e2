"""Snowflake's own catalog (Horizon): its keys and comments, with tags, owners and lineage."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.errors import SourceNotFoundError, SourceUnreadableError, UsageError
from fluid_build.sources.catalogs.address import CatalogAddress
from fluid_build.sources.catalogs.logins import unknown_credential
from fluid_build.sources.catalogs.snapshot import (
    CatalogColumn,
    CatalogForeignKey,
    CatalogSnapshot,
    CatalogTable,
    Selection,
)
from fluid_build.sources.credentials import Credential
from fluid_build.sources.declarations.catalog_facts import TableFacts
from fluid_build.sources.declarations.catalog_labels import owner_named
from fluid_build.sources.servers.rows import ServerQueryError, left_out
from fluid_build.sources.servers.snowflake.catalog import (
    SnowflakeColumn,
    read_tables,
    read_tags,
    schema_names,
)
from fluid_build.sources.servers.snowflake.connection import (
    SnowflakeClient,
    SnowflakePlace,
    connect,
    connections_of_files,
    snowflake_place,
)
from fluid_build.sources.servers.staging import ServerTable
from fluid_build.sources.sql import literal

_TITLE = "Snowflake Horizon"
_ARGUMENTS = {
    "account": "account",
    "user": "user",
    "warehouse": "warehouse",
    "role": "role",
    "host": "host",
    "port": "port",
    "protocol": "protocol",
    "private_key_file": "private_key_file",
}
_SECRETS = {
    "password": "password",
    "token": "token",
    "private_key_passphrase": "private_key_file_pwd",
}
_AUTHENTICATORS = {
    "browser": "externalbrowser",
    "externalbrowser": "externalbrowser",
    "key_pair": "SNOWFLAKE_JWT",
    "keypair": "SNOWFLAKE_JWT",
    "oauth": "oauth",
    "pat": "PROGRAMMATIC_ACCESS_TOKEN",
    "programmatic_access_token": "PROGRAMMATIC_ACCESS_TOKEN",
    "password": "snowflake",
}
"""The connector's words for what the configuration calls ``auth_method``."""


@dataclass(frozen=True)
class SnowflakeCatalog:
    """A database: its schemas are the schemas."""

    address: CatalogAddress
    credential: Credential

    def fetch(self, selection: Selection) -> CatalogSnapshot:
        """Return the selected tables with their keys, comments, tags, owners and lineage."""
        client = connect(self.place())
        try:
            database = client.connection.database
            if not database:
                raise SourceNotFoundError(
                    "This role sees no such database.",
                    hint="Check the name, and that the role has USAGE on it.",
                )
            return _Reading(client, database, selection).snapshot(self.address.part(1))
        except ServerQueryError as error:
            raise SourceUnreadableError(
                f"Snowflake's catalog can't be read: {error}",
                hint="Check that the role may use the database.",
            ) from None
        finally:
            client.close()

    def place(self) -> SnowflakePlace:
        """Return the database and the login: the credential's, or a connection's of its name."""
        credential = self.credential
        database = self.address.part(0) or credential.get("database")
        if credential.is_empty:
            connections = connections_of_files()
            if credential.name and credential.name not in connections:
                raise unknown_credential(credential.name, _TITLE, "password")
            return snowflake_place(
                f"snowflake://{credential.name or self.address.host}/{database}", connections
            )
        account = credential.get("account")
        if account and self.address.host and account.lower() != self.address.host.lower():
            raise UsageError(
                f"The credential {credential.name} is for {account}, not for {self.address.host}.",
                hint="Pass the credential of that account, or leave the account out.",
            )
        database = database or os.environ.get("SNOWFLAKE_DATABASE", "")
        if not database:
            raise UsageError(
                "The Snowflake database isn't known.",
                hint="Put it in the address, such as snowflake-catalog:///SALES, or set the field"
                f" database of the credential {credential.name}.",
            )
        arguments = _arguments(credential)
        arguments.setdefault("account", self.address.host)
        return SnowflakePlace("", database, self.address.part(1), arguments)


def _arguments(credential: Credential) -> dict[str, str]:
    arguments = {
        theirs: credential.get(ours) for ours, theirs in _ARGUMENTS.items() if credential.get(ours)
    }
    for ours, theirs in _SECRETS.items():
        secret = credential.secret(ours)
        if secret is not None:
            arguments[theirs] = secret.reveal()
    method = credential.get("auth_method").lower()
    if method and method not in _AUTHENTICATORS:
        raise UsageError(
            f"The credential {credential.name} has an unknown auth_method {method!r}.",
            hint=f"Known methods: {', '.join(_AUTHENTICATORS)}.",
        )
    authenticator = credential.get("authenticator") or _AUTHENTICATORS.get(method, "")
    if not authenticator and "private_key_file" in arguments:
        authenticator = _AUTHENTICATORS["key_pair"]
    return arguments | ({"authenticator": authenticator} if authenticator else {})


@dataclass
class _Reading:
    client: SnowflakeClient
    database: str
    selection: Selection
    notes: list[str] = field(default_factory=list)

    def snapshot(self, requested: str) -> CatalogSnapshot:
        existing = schema_names(self.client.query, self.database)
        existing_name = requested if requested in existing else requested.upper()
        schemas = [
            schema
            for schema in existing
            if (not requested or schema == existing_name) and self.selection.takes_schema(schema)
        ]
        tables = [
            table
            for table in read_tables(self.client.query, self.database, schemas, views=True)
            if self.selection.takes_table(table.schema, table.name)
        ]
        tagged, notes = read_tags(self.client.query, self.database)
        self.notes.extend(notes)
        owners, upstream = self._owners(), self._upstream()
        return CatalogSnapshot(
            title=_TITLE,
            name=schemas[0] if len(schemas) == 1 and schemas != ["PUBLIC"] else self.database,
            tables=tuple(self._table(table, tagged, owners, upstream) for table in tables),
            notes=tuple(self.notes),
        )

    def _table(
        self,
        table: ServerTable[SnowflakeColumn],
        tagged: Mapping[tuple[str, str], TableFacts],
        owners: Mapping[tuple[str, str], str],
        upstream: Mapping[tuple[str, str], tuple[str, ...]],
    ) -> CatalogTable:
        place = (table.schema, table.name)
        facts = tagged.get(place, TableFacts())
        return CatalogTable(
            schema=table.schema,
            name=table.name,
            columns=tuple(
                CatalogColumn(
                    column.name,
                    column.declared_type,
                    nullable=column.nullable,
                    comment=column.comment or "",
                    tags=facts.column_tags.get(column.name, ()),
                )
                for column in table.columns
            ),
            address=f"{self.database}.{table.schema}.{table.name}",
            dialect="snowflake",
            comment=table.comment or "",
            primary_key=table.primary_key,
            unique_keys=tuple(table.unique_keys),
            foreign_keys=tuple(CatalogForeignKey(*key) for key in table.foreign_keys),
            tags=facts.tags,
            owners=facts.owners or owner_named(owners.get(place, "")),
            domain=facts.domain,
            upstream=upstream.get(place, ()),
            is_view=table.is_view,
        )

    def _owners(self) -> dict[tuple[str, str], str]:
        rows = self._optional(
            "owners",
            "SELECT table_schema, table_name, table_owner FROM information_schema.tables",
        )
        return {
            (_text(row, "table_schema"), _text(row, "table_name")): _text(row, "table_owner")
            for row in rows
        }

    def _upstream(self) -> dict[tuple[str, str], tuple[str, ...]]:
        rows = self._optional(
            "lineage",
            "SELECT referencing_schema, referencing_object_name, referenced_database,"
            " referenced_schema, referenced_object_name"
            " FROM snowflake.account_usage.object_dependencies"
            f" WHERE referencing_database = {literal(self.database)}",
        )
        upstream: dict[tuple[str, str], tuple[str, ...]] = {}
        for row in rows:
            place = (_text(row, "referencing_schema"), _text(row, "referencing_object_name"))
            parts = ("referenced_database", "referenced_schema", "referenced_object_name")
            source = ".".join(_text(row, part) for part in parts)
            upstream[place] = (*upstream.get(place, ()), source)
        return upstream

    def _optional(self, what: str, sql: str) -> Sequence[Mapping[str, object]]:
        """Return rows that not every role may see; a note says so where this one may not."""
        try:
            return self.client.query(sql)
        except ServerQueryError as error:
            self.notes.append(left_out(what, error))
            return ()


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value)
