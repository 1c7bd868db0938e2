"""The AWS Glue Data Catalog, with the tags of Lake Formation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
    UsageError,
)
from fluid_build.extras import needs_extra
from fluid_build.secrets import redact
from fluid_build.sources.base import Skipped
from fluid_build.sources.catalogs.address import CatalogAddress
from fluid_build.sources.catalogs.answers import (
    member,
    name_of,
    objects_of,
    printable,
    text_of,
    texts_of,
)
from fluid_build.sources.catalogs.snapshot import (
    CatalogColumn,
    CatalogSnapshot,
    CatalogTable,
    FilesLocation,
    Selection,
    merge_tags,
)
from fluid_build.sources.credentials import Credential
from fluid_build.sources.declarations.catalog_labels import (
    as_tags,
    domain_in,
    owner_named,
    owners_in,
)
from fluid_build.text import as_sentence, clip

_TITLE = "AWS Glue"
_CONNECT_SECONDS = 10
_READ_SECONDS = 30
_ATTEMPTS = 4
_TAG_ATTEMPTS = 2
"""Tags are asked for one table at a time, and a draft can do without them."""
_LONGEST_REASON = 240
_AT_ONCE = 8
"""Requests at the same time; boto3 keeps ten connections."""

_REFUSED = (
    "AccessDenied",
    "AuthFailure",
    "ExpiredToken",
    "InvalidClientTokenId",
    "InvalidSignature",
    "SignatureDoesNotMatch",
    "UnrecognizedClient",
)
"""Beginnings of the codes of errors about the login or its rights."""

_KEY_PARAMETERS = (
    "primary_key",
    "primaryKey",
    "hoodie.table.recordkey.fields",
    "hoodie.datasource.write.recordkey.field",
)
"""Parameters in which engines declare a table's key, because Glue has no field for it."""

_FORMATS = {
    "parquet": "parquet",
    "orc": "orc",
    "avro": "avro",
    "json": "json",
    "opencsv": "csv",
    "lazysimple": "csv",
    "csv": "csv",
    "text": "csv",
}
"""Words in a classification, a serializer or an input format, and the format they mean."""


@dataclass(frozen=True)
class GlueCatalog:
    """Glue in a region: the databases are its schemas."""

    address: CatalogAddress
    credential: Credential

    def fetch(self, selection: Selection) -> CatalogSnapshot:
        """Return the selected tables, each with its columns, partition columns and tags."""
        with needs_extra("glue", "Reading AWS Glue"):
            import boto3  # type: ignore[import-untyped]  # noqa: F401  the reading below needs it
        with _typed_errors(self.credential):
            return _Reading(self.address, self.credential).snapshot(selection)

    def store_login(self) -> dict[str, str]:
        """Return the parameters of DuckDB's secret for S3: the login that reads the catalog."""
        with _typed_errors(self.credential):
            session = _Reading(self.address, self.credential).session()
            provider = session.get_credentials()
            login = provider.get_frozen_credentials() if provider else None
        if login is None:
            return {}
        endpoint = self.credential.get("endpoint") or _s3_endpoint(session)
        parts = urlsplit(endpoint)
        server = {
            "ENDPOINT": parts.netloc,
            "USE_SSL": "false" if parts.scheme == "http" else "true",
            "URL_STYLE": "path",
        }
        parameters = {
            "KEY_ID": login.access_key,
            "SECRET": login.secret_key,
            "SESSION_TOKEN": login.token,
            "REGION": session.region_name,
            **(server if endpoint else {}),
        }
        return {name: str(value) for name, value in parameters.items() if value}


def _s3_endpoint(session: Any) -> str:
    """Return the address of S3 where AWS's own settings name another than Amazon's; else ""."""
    address = str(session.client("s3").meta.endpoint_url)
    return (
        ""
        if urlsplit(address).netloc.endswith((".amazonaws.com", ".amazonaws.com.cn"))
        else address
    )


@dataclass
class _Reading:
    address: CatalogAddress
    credential: Credential
    notes: list[str] = field(default_factory=list)
    has_tags: bool = True

    def snapshot(self, selection: Selection) -> CatalogSnapshot:
        """Return the selected tables."""
        session = self.session()
        self._glue = self._client(session, "glue")
        self._lake_formation = self._client(session, "lakeformation", attempts=_TAG_ATTEMPTS)
        databases = list(self._databases(selection))
        tables: list[CatalogTable] = []
        skipped: list[Skipped] = []
        for database in databases:
            try:
                tables += self._tables(database, selection)
            except SourceUnreachableError as error:
                if len(databases) == 1:
                    raise
                skipped.append(Skipped(name_of(database, "Name"), error.message))
        only = databases[0] if len(databases) == 1 else {}
        labels = _parameters(only)
        return CatalogSnapshot(
            title=_TITLE,
            name=name_of(only, "Name") or self._glue.meta.region_name or "glue",
            tables=tuple(tables),
            skipped=tuple(skipped),
            notes=tuple(dict.fromkeys(self.notes)),
            owner=next(iter(owners_in(labels)), None),
            domain=domain_in(labels),
        )

    def session(self) -> Any:
        """Return the login: the credential's, or a profile's of AWS's own tools."""
        import boto3

        credential = self.credential
        profile = credential.get("profile")
        region = self.address.host or credential.get("region") or None
        if credential.name and credential.is_empty:
            if credential.name not in boto3.Session().available_profiles:
                raise _unknown_credential(credential.name)
            profile = credential.name
        secret, token = credential.secret("secret_access_key"), credential.secret("session_token")
        return boto3.Session(
            aws_access_key_id=credential.get("access_key_id") or None,
            aws_secret_access_key=secret.reveal() if secret else None,
            aws_session_token=token.reveal() if token else None,
            profile_name=profile or None,
            region_name=region,
        )

    def _client(self, session: Any, service: str, *, attempts: int = _ATTEMPTS) -> Any:
        from botocore.config import Config  # type: ignore[import-untyped]

        return session.client(
            service,
            endpoint_url=self.credential.get("endpoint") or None,
            config=Config(
                connect_timeout=_CONNECT_SECONDS,
                read_timeout=_READ_SECONDS,
                retries={"total_max_attempts": attempts, "mode": "standard"},
            ),
        )

    def _databases(self, selection: Selection) -> Iterator[Mapping[str, Any]]:
        requested = self.address.part(0)
        if requested:
            yield self._glue.get_database(Name=requested, **self._catalog)["Database"]
            return
        pages = self._glue.get_paginator("get_databases").paginate(**self._catalog)
        for page in pages:
            for database in objects_of(page, "DatabaseList"):
                if selection.takes_schema(name_of(database, "Name")):
                    yield database

    @property
    def _catalog(self) -> dict[str, str]:
        """The account of the catalog, if it isn't the login's own."""
        account = self.address.options.get("catalog_id") or self.credential.get("catalog_id")
        return {"CatalogId": account} if account else {}

    def _tables(self, database: Mapping[str, Any], selection: Selection) -> Iterator[CatalogTable]:
        name = name_of(database, "Name")
        with _typed_errors(self.credential):
            pages = self._glue.get_paginator("get_tables").paginate(
                DatabaseName=name, **self._catalog
            )
            selected = [
                table
                for page in pages
                for table in objects_of(page, "TableList")
                if selection.takes_table(name, name_of(table, "Name"))
            ]
            # Tags are asked for one table at a time, and most of that time is spent waiting.
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                yield from pool.map(partial(self._table, database), selected)

    def _resolved(self, table: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the table that a link of Lake Formation leads to, under the link's name."""
        target = member(table, "TargetTable")
        if not isinstance(target, Mapping):
            return table
        place = {key: target[key] for key in ("CatalogId", "DatabaseName", "Name") if key in target}
        return {**self._glue.get_table(**place)["Table"], "Name": table.get("Name")}

    def _table(self, database: Mapping[str, Any], linked: Mapping[str, Any]) -> CatalogTable:
        table = self._resolved(linked)
        schema, name = name_of(database, "Name"), name_of(table, "Name")
        parameters = _parameters(table)
        tags, column_tags = self._tags(schema, name, [c.name for c in _columns(table, {})])
        inherited = _parameters(database)
        labels = {**parameters, **tags}
        partitions = tuple(name_of(key, "Name") for key in objects_of(table, "PartitionKeys"))
        return CatalogTable(
            schema=schema,
            name=name,
            columns=tuple(_columns(table, column_tags)),
            address=f"{schema}.{name}",
            dialect="hive",
            comment=text_of(table, "Description")
            or clip(printable(parameters.get("comment", "")), 2_000),
            primary_key=_declared_key(parameters),
            tags=merge_tags(as_tags(tags)),
            owners=owners_in(labels)
            or owner_named(text_of(table, "Owner"))
            or owners_in(inherited),
            domain=domain_in(labels) or domain_in(inherited),
            location=_location(table, parameters, partitions),
            is_view=table.get("TableType") == "VIRTUAL_VIEW",
        )

    def _tags(
        self, schema: str, table: str, columns: Sequence[str]
    ) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
        """Return the tags of Lake Formation on a table and on its columns, by name."""
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

        if not self.has_tags:
            return {}, {}
        place = {"DatabaseName": schema, "Name": table, **self._catalog}
        ask = self._lake_formation.get_resource_lf_tags
        try:
            answer = ask(Resource={"Table": place})
            wide = {"TableWithColumns": {**place, "ColumnNames": columns}}
            of_columns = ask(Resource=wide) if columns else {}
        except (ClientError, BotoCoreError) as error:
            # Without the right, asking for the other tables would only take longer.
            self.has_tags = not _code(error).startswith(_REFUSED)
            self.notes.append(
                f"The tags of Lake Formation couldn't be read ({_code(error)}), so they are"
                " left out."
            )
            return {}, {}
        tags = _lf_tags(answer, "LFTagOnDatabase") | _lf_tags(answer, "LFTagsOnTable")
        column_tags = {
            name_of(entry, "Name"): as_tags(_lf_tags(entry, "LFTags"))
            for entry in objects_of(of_columns, "LFTagsOnColumns")
        }
        return tags, column_tags


def _parameters(described: Mapping[str, Any]) -> dict[str, str]:
    parameters = member(described, "Parameters")
    if not isinstance(parameters, Mapping):
        return {}
    return {str(name): printable(str(value)) for name, value in parameters.items()}


def _lf_tags(answer: Mapping[str, Any], key: str) -> dict[str, str]:
    return {
        name_of(tag, "TagKey"): next(texts_of(tag, "TagValues"), "")
        for tag in objects_of(answer, key)
    }


def _columns(
    table: Mapping[str, Any], tags: Mapping[str, tuple[str, ...]]
) -> Iterator[CatalogColumn]:
    columns = [
        *objects_of(table, "StorageDescriptor", "Columns"),
        *objects_of(table, "PartitionKeys"),
    ]
    for column in columns:
        parameters = _parameters(column)
        # Glue keeps the columns that an Iceberg table once had.
        if parameters.get("iceberg.field.current") == "false":
            continue
        name = name_of(column, "Name")
        yield CatalogColumn(
            name=name,
            native_type=name_of_type(column),
            nullable=parameters.get("iceberg.field.optional") != "false",
            comment=text_of(column, "Comment"),
            tags=tags.get(name, ()),
        )


def name_of_type(column: Mapping[str, Any]) -> str:
    """Return a column's type; Glue has structs of many thousand characters."""
    type_ = member(column, "Type")
    return type_ if isinstance(type_, str) else ""


def _declared_key(parameters: Mapping[str, str]) -> tuple[str, ...]:
    text = next((parameters[key] for key in _KEY_PARAMETERS if parameters.get(key)), "")
    return tuple(column.strip() for column in text.split(",") if column.strip())


def _location(
    table: Mapping[str, Any], parameters: Mapping[str, str], partitions: Sequence[str]
) -> FilesLocation | None:
    storage = member(table, "StorageDescriptor")
    uri = text_of(storage, "Location")
    format_ = _format(storage, parameters)
    if not uri or not format_:
        return None
    serde = member(storage, "SerdeInfo", "Parameters")
    options = dict(serde) if isinstance(serde, Mapping) else {}
    return FilesLocation(uri, format_, tuple(partitions), {k: str(v) for k, v in options.items()})


def _format(storage: Any, parameters: Mapping[str, str]) -> str:
    table_type = parameters.get("table_type", "").lower()
    provider = parameters.get("spark.sql.sources.provider", "").lower()
    for lake_format in ("iceberg", "delta"):
        if lake_format in (table_type, provider):
            return lake_format
    texts = (
        parameters.get("classification", ""),
        text_of(storage, "SerdeInfo", "SerializationLibrary"),
        text_of(storage, "InputFormat"),
    )
    for text in texts:
        for word, format_ in _FORMATS.items():
            if word in text.lower():
                return format_
    return ""


def _unknown_credential(name: str) -> UsageError:
    return UsageError(
        f"There's no credential {name}, nor an AWS profile of that name.",
        hint=f"Run `fluid credentials set {name} secret_access_key`, add a profile with"
        f" `aws configure --profile {name}`, or leave --credential-id out.",
    )


@contextmanager
def _typed_errors(credential: Credential) -> Iterator[None]:
    """Turn the errors of boto3 into ours; a message of theirs goes without secrets."""
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        NoCredentialsError,
        NoRegionError,
        PartialCredentialsError,
        ProfileNotFound,
    )

    try:
        yield
    except (NoCredentialsError, PartialCredentialsError, ProfileNotFound) as error:
        raise SourceUnreachableError(
            f"There's no complete AWS login: {_reason(error, credential)}",
            hint="Run `aws configure`, set AWS_PROFILE, or pass --credential-id.",
        ) from None
    except NoRegionError:
        raise UsageError(
            "The AWS region of the Glue catalog isn't known.",
            hint="Put it in the address, such as glue://eu-west-1, or set AWS_REGION.",
        ) from None
    except ClientError as error:
        raise _client_error(error, credential) from None
    except (BotoCoreError, ValueError) as error:
        raise SourceUnreachableError(
            f"{_TITLE} can't be reached: {_reason(error, credential)}",
            hint="Check the region, the endpoint and your network.",
        ) from None


def _client_error(error: Exception, credential: Credential) -> SourceError:
    code, reason = _code(error), _reason(error, credential)
    if code == "EntityNotFoundException":
        return SourceNotFoundError(
            f"{_TITLE} doesn't have that: {reason}", hint="Check the region and the database."
        )
    if code.startswith(_REFUSED):
        return SourceUnreachableError(
            f"{_TITLE} refused the login: {reason}",
            hint="It needs glue:GetDatabase, glue:GetDatabases, glue:GetTable and glue:GetTables.",
        )
    return SourceUnreadableError(
        f"{_TITLE} couldn't answer: {reason}", hint="Try again, or choose another database."
    )


def _code(error: Exception) -> str:
    answer = getattr(error, "response", None)
    return text_of(answer, "Error", "Code") or type(error).__name__


def _reason(error: Exception, credential: Credential) -> str:
    message = text_of(getattr(error, "response", None), "Error", "Message") or str(error)
    text = " ".join(printable(redact(message, credential.known_values)).split())
    return as_sentence(clip(text, _LONGEST_REASON))
