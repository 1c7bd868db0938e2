"""A connection to Snowflake, with the credentials that Snowflake's own tools use.

They come from a named connection in ``connections.toml`` or ``config.toml``, from the URI, or from
the variables of the Snowflake command line (``SNOWFLAKE_ACCOUNT``, ``SNOWFLAKE_USER``, …).
https://docs.snowflake.com/en/developer-guide/python-connector/python-connector-connect
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from fluid_build.errors import SourceError, SourceNotFoundError, SourceUnreachableError
from fluid_build.extras import needs_extra
from fluid_build.sources.servers.arrow_batches import Fetched
from fluid_build.sources.servers.server_errors import client_message
from fluid_build.sources.servers.snowflake.types import arrow_schema
from fluid_build.sources.servers.warehouse_address import WarehouseAddress, warehouse_address
from fluid_build.sources.servers.warehouse_client import WarehouseClient

if TYPE_CHECKING:
    from snowflake.connector import SnowflakeConnection
    from snowflake.connector.cursor import SnowflakeCursor

SnowflakeClient: TypeAlias = "WarehouseClient[SnowflakeConnection]"

SHAPE = "snowflake://CONNECTION/DATABASE or snowflake://USER@ACCOUNT/DATABASE/SCHEMA?warehouse=NAME"

APPLICATION = "FluidForge"
QUERY_TAG = "fluid-forge"
_LOGIN_SECONDS = 30
_STATEMENT_SECONDS = 3600
"""Snowflake's own default is two days, which nobody waits for. The connector cancels a statement
that takes longer than its network timeout, so that this one has to be longer."""

# https://docs.snowflake.com/en/developer-guide/snowflake-cli/connecting/configure-connections
_ENVIRONMENT = {
    "account": ("SNOWFLAKE_ACCOUNT",),
    "user": ("SNOWFLAKE_USER",),
    "password": ("SNOWFLAKE_PASSWORD",),
    "role": ("SNOWFLAKE_ROLE",),
    "warehouse": ("SNOWFLAKE_WAREHOUSE",),
    "authenticator": ("SNOWFLAKE_AUTHENTICATOR",),
    "private_key_file": ("SNOWFLAKE_PRIVATE_KEY_FILE", "SNOWFLAKE_PRIVATE_KEY_PATH"),
    "private_key_file_pwd": ("PRIVATE_KEY_PASSPHRASE", "SNOWFLAKE_PRIVATE_KEY_PASSPHRASE"),
    "token": ("SNOWFLAKE_TOKEN",),
    "host": ("SNOWFLAKE_HOST",),
    "port": ("SNOWFLAKE_PORT",),
    "protocol": ("SNOWFLAKE_PROTOCOL",),
}
_FOR_ANY_ACCOUNT = ("role", "warehouse")
"""What the environment fills in for another account than its own: nothing to log in with."""
# The parameters of https://docs.snowflake.com/en/developer-guide/python-connector/sqlalchemy too.
_PARAMETERS = {
    "role": "role",
    "warehouse": "warehouse",
    "authenticator": "authenticator",
    "private_key_file": "private_key_file",
    "private_key_path": "private_key_file",
    "private_key_file_pwd": "private_key_file_pwd",
    "private_key_passphrase": "private_key_file_pwd",
    "token": "token",
}


@dataclass(frozen=True, slots=True)
class SnowflakePlace:
    """A database of an account, one of its schemas or all, and the connector's arguments.

    ``connection`` is the name of a connection in Snowflake's files, "" where there is none.
    """

    connection: str = ""
    database: str = ""
    schema: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict, repr=False)


def snowflake_place(uri: str, connections: Mapping[str, Mapping[str, object]]) -> SnowflakePlace:
    """Return what a URI names; ``connections`` are those of Snowflake's files.

    A host without a user is a connection's name if there is such a connection, else an account.
    Raises SourceError for a URI that can't be read, or that names no database.
    """
    address = warehouse_address(uri, "Snowflake", SHAPE, sorted(_PARAMETERS), most_parts=2)
    connection = _connection_name(address, connections)
    settings = connections.get(connection, {})
    database, schema = (*address.path, "", "")[:2]
    database = database or str(settings.get("database") or os.environ.get("SNOWFLAKE_DATABASE", ""))
    if not database:
        raise SourceError("The URI names no database.", hint=f"Write it as {SHAPE}.")
    return SnowflakePlace(
        connection=connection,
        database=database,
        schema=schema,
        arguments=_arguments(address, is_named=bool(connection)),
    )


def _connection_name(
    address: WarehouseAddress, connections: Mapping[str, Mapping[str, object]]
) -> str:
    if address.user:
        return ""
    if address.host:
        return address.host if address.host in connections else ""
    name = os.environ.get("SNOWFLAKE_DEFAULT_CONNECTION_NAME", "default")
    return name if name in connections else ""


def _arguments(address: WarehouseAddress, *, is_named: bool) -> dict[str, str]:
    """Return the connector's arguments; the environment fills in what a URI leaves out."""
    arguments = {_PARAMETERS[name]: value for name, value in address.parameters.items()}
    if not is_named:
        parts = {"account": address.host, "user": address.user, "password": address.password}
        arguments |= {name: value for name, value in parts.items() if value}
        own_account = os.environ.get("SNOWFLAKE_ACCOUNT", "")
        is_elsewhere = bool(address.host and own_account) and address.host != own_account
        for name, variables in _ENVIRONMENT.items():
            if is_elsewhere and name not in _FOR_ANY_ACCOUNT:
                continue
            value = next(filter(None, map(os.environ.get, variables)), None)
            if value and name not in arguments:
                arguments[name] = value
    if "private_key_file" in arguments:
        arguments.setdefault("authenticator", "SNOWFLAKE_JWT")
    return arguments


def connections_of_files() -> Mapping[str, Mapping[str, object]]:
    """Return the named connections of ``connections.toml`` and ``config.toml``.

    Raises SourceError where a file can't be read.
    """
    with needs_extra("snowflake", "Reading Snowflake"):
        from snowflake.connector.config_manager import CONFIG_MANAGER
        from snowflake.connector.errors import Error
    try:
        connections = CONFIG_MANAGER["connections"]
    except Error as error:
        raise SourceError(
            f"Snowflake's file of connections can't be read: {client_message(error)}",
            hint="Correct connections.toml or config.toml.",
        ) from None
    if not isinstance(connections, Mapping):
        return {}
    return {str(name): dict(settings) for name, settings in connections.items()}


def connect(place: SnowflakePlace) -> SnowflakeClient:
    """Connect to an account.

    Raises SourceUnreachableError where it isn't reached or refuses the login, and
    SourceNotFoundError where no account is named.
    """
    with needs_extra("snowflake", "Reading Snowflake"):
        import snowflake.connector
        from snowflake.connector.errors import Error
    arguments: dict[str, object] = dict(place.arguments)
    if place.connection:
        arguments["connection_name"] = place.connection
    elif "account" not in arguments:
        raise SourceNotFoundError(
            "No Snowflake account is named.",
            hint="Name a connection of connections.toml or an account in the URI, or set"
            " SNOWFLAKE_ACCOUNT and SNOWFLAKE_USER.",
        )
    try:
        connection = snowflake.connector.connect(
            **arguments,
            database=place.database,
            application=APPLICATION,
            # Without it the connector turns a NUMBER with a scale into a double.
            arrow_number_to_decimal=True,
            login_timeout=_LOGIN_SECONDS,
            network_timeout=_STATEMENT_SECONDS + _LOGIN_SECONDS,
            session_parameters={
                "QUERY_TAG": QUERY_TAG,
                "TIMEZONE": "UTC",
                "STATEMENT_TIMEOUT_IN_SECONDS": _STATEMENT_SECONDS,
                "CLIENT_TELEMETRY_ENABLED": False,
            },
        )
    except (Error, OSError, ValueError, TypeError) as error:
        secrets = tuple(
            place.arguments.get(name, "") for name in ("password", "token", "private_key_file_pwd")
        )
        raise SourceUnreachableError(
            f"Snowflake can't be reached: {client_message(error, secrets)}",
            hint="Check the account, user and credentials; `snow connection test` tries them.",
        ) from None
    return WarehouseClient(connection, (Error, OSError), _fetched)


def _fetched(cursor: "SnowflakeCursor") -> Fetched:
    tables = cursor.fetch_arrow_batches()
    batches = (batch for table in tables for batch in table.to_batches())
    return arrow_schema(cursor.description), batches
