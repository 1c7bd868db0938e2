"""A connection to Databricks SQL, with the credentials that Databricks' own tools use.

They come from a profile of ``~/.databrickscfg``, from the URI, or from ``DATABRICKS_HOST``,
``DATABRICKS_TOKEN`` and ``DATABRICKS_HTTP_PATH``. Without a token the connector logs in through the
browser.
https://docs.databricks.com/en/dev-tools/auth/config-profiles.html
"""

import configparser
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fluid_build.errors import SourceError, SourceNotFoundError, SourceUnreachableError
from fluid_build.extras import needs_extra
from fluid_build.sources.servers.arrow_batches import Fetched
from fluid_build.sources.servers.server_errors import client_message
from fluid_build.sources.servers.warehouse_address import WarehouseAddress, warehouse_address
from fluid_build.sources.servers.warehouse_client import WarehouseClient
from fluid_build.text import did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa
    from databricks.sql.client import Connection, Cursor

DatabricksClient: TypeAlias = "WarehouseClient[Connection]"

SHAPE = "databricks://PROFILE_OR_HOST/CATALOG/SCHEMA?http_path=/sql/1.0/warehouses/ID"

USER_AGENT = "fluid-forge"
_STATEMENT_SECONDS = 3600
_BATCH_ROWS = 100_000
_DEFAULT_PROFILE = "DEFAULT"
# The names of SQLAlchemy's dialect, and of the profile.
_PARAMETERS = ("http_path", "catalog", "schema", "warehouse_id", "auth_type")


@dataclass(frozen=True, slots=True)
class DatabricksPlace:
    """A catalog of a workspace, one of its schemas or all, and how to log in."""

    host: str
    http_path: str
    catalog: str
    schema: str = ""
    token: str = field(default="", repr=False)
    auth_type: str = ""


def databricks_place(uri: str) -> DatabricksPlace:
    """Return what a URI names, filled in from the profile and the environment.

    A host without a dot is the name of a profile. Raises SourceError for a URI that can't be read
    and SourceNotFoundError where a part is missing everywhere.
    """
    address = warehouse_address(uri, "Databricks", SHAPE, _PARAMETERS, most_parts=2)
    settings = _settings(address)
    catalog, schema = (*address.path, "", "")[:2]
    place = DatabricksPlace(
        host=settings.get("host", "").removeprefix("https://").rstrip("/"),
        http_path=settings.get("http_path", ""),
        catalog=catalog or settings.get("catalog", ""),
        schema=schema or settings.get("schema", ""),
        token=settings.get("token", ""),
        auth_type=settings.get("auth_type", ""),
    )
    _check(place)
    return place


def _settings(address: WarehouseAddress) -> dict[str, str]:
    """Return what the URI says, then its profile, then the environment."""
    is_profile = bool(address.host) and "." not in address.host and not address.user
    profile = address.host if is_profile else os.environ.get("DATABRICKS_CONFIG_PROFILE", "")
    settings = dict(address.parameters)
    if address.host and not is_profile:
        settings["host"] = address.host
        # SQLAlchemy's dialect puts the token in the place of the password, after the user "token".
        settings["token"] = address.password
    for further in (_profile(profile, is_required=is_profile), _environment()):
        own_host = settings.get("host")
        if own_host and further.get("host") and _bare(further["host"]) != _bare(own_host):
            # A token is never sent to another host than the one it was written down for.
            further = {name: value for name, value in further.items() if name != "token"}
        settings |= {name: value for name, value in further.items() if not settings.get(name)}
    if not settings.get("http_path") and settings.get("warehouse_id"):
        settings["http_path"] = f"/sql/1.0/warehouses/{settings['warehouse_id']}"
    return settings


def _bare(host: str) -> str:
    return host.removeprefix("https://").rstrip("/").lower()


def _environment() -> dict[str, str]:
    names = ("host", "token", "http_path", "warehouse_id", "auth_type", "catalog")
    values = {name: os.environ.get(f"DATABRICKS_{name.upper()}", "") for name in names}
    return {name: value for name, value in values.items() if value}


def _profile(name: str, *, is_required: bool) -> Mapping[str, str]:
    path = Path(os.environ.get("DATABRICKS_CONFIG_FILE") or "~/.databrickscfg").expanduser()
    parser = configparser.ConfigParser(interpolation=None, default_section="")
    try:
        parser.read(path, encoding="utf-8")
    except (OSError, configparser.Error, UnicodeDecodeError):
        raise SourceError(f"{path.name} can't be read.", hint="Correct the file.") from None
    section = name or _DEFAULT_PROFILE
    if parser.has_section(section):
        return dict(parser[section])
    if is_required:
        raise SourceNotFoundError(
            f"{path.name} has no profile {name!r}.",
            hint=f"{did_you_mean(name, parser.sections())}A host has a dot in it:"
            " adb-123.4.azuredatabricks.net.",
        )
    return {}


def _check(place: DatabricksPlace) -> None:
    for value, meaning, variable in (
        (place.host, "workspace", "DATABRICKS_HOST"),
        (place.http_path, "SQL warehouse", "DATABRICKS_HTTP_PATH"),
        (place.catalog, "catalog", "DATABRICKS_CATALOG"),
    ):
        if not value:
            raise SourceNotFoundError(
                f"No {meaning} is named.", hint=f"Write the URI as {SHAPE}, or set {variable}."
            )


def connect(place: DatabricksPlace) -> DatabricksClient:
    """Connect to a SQL warehouse. Raises SourceUnreachableError."""
    with needs_extra("databricks", "Reading Databricks"):
        from databricks import sql
        from databricks.sql.exc import Error
    login: dict[str, str] = {"access_token": place.token} if place.token else {}
    if place.auth_type in ("databricks-oauth", "azure-oauth") and not place.token:
        login = {"auth_type": place.auth_type}
    try:
        connection = sql.connect(
            server_hostname=place.host,
            http_path=place.http_path,
            **login,
            user_agent_entry=USER_AGENT,
            session_configuration={
                "STATEMENT_TIMEOUT": str(_STATEMENT_SECONDS),
                "TIMEZONE": "UTC",
            },
        )
    except (Error, OSError, ValueError, RuntimeError) as error:
        raise SourceUnreachableError(
            f"Databricks can't be reached: {client_message(error, (place.token,))}",
            hint="Check the host, the HTTP path of the warehouse and the token.",
        ) from None
    return WarehouseClient(connection, (Error, OSError), _fetched)


def _fetched(cursor: "Cursor") -> Fetched:
    first = cursor.fetchmany_arrow(_BATCH_ROWS)

    def batches() -> Iterator["pa.RecordBatch"]:
        table = first
        while table.num_rows:
            yield from table.to_batches()
            table = cursor.fetchmany_arrow(_BATCH_ROWS)

    return first.schema, batches()
