"""A database on a server that answers as Snowflake does, for tests; DuckDB is behind it."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import fakesnow
import snowflake.connector
from fakesnow.transforms.stage import LOCAL_BUCKET_PATH

SnowflakeArguments: TypeAlias = dict[str, object]
"""What a client connects with."""


@dataclass(frozen=True)
class SnowflakeDatabase:
    """A fresh database; the variables of ``environment`` lead Snowflake's client to it."""

    name: str
    connection: snowflake.connector.SnowflakeConnection
    environment: dict[str, str]

    @property
    def uri(self) -> str:
        """The database of the account that the environment names."""
        return f"snowflake:///{self.name}"

    def run(self, *statements: str) -> None:
        """Run SQL statements."""
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


@contextmanager
def snowflake_server() -> Iterator[SnowflakeArguments]:
    """Run the server in a thread, and yield what its client connects with."""
    with fakesnow.server() as arguments:
        # Each of its requests is a line of the log.
        for name in ("fakesnow.server", "uvicorn", "uvicorn.access"):
            logging.getLogger(name).setLevel(logging.WARNING)
        yield arguments
    shutil.rmtree(LOCAL_BUCKET_PATH, ignore_errors=True)


def connect(arguments: SnowflakeArguments, name: str) -> SnowflakeDatabase:
    """Create a database with the schema PUBLIC, and connect to it."""
    connection = snowflake.connector.connect(**arguments, database=name, schema="PUBLIC")
    environment = {
        "SNOWFLAKE_ACCOUNT": str(arguments["account"]),
        "SNOWFLAKE_USER": str(arguments["user"]),
        "SNOWFLAKE_PASSWORD": str(arguments["password"]),
        "SNOWFLAKE_HOST": str(arguments["host"]),
        "SNOWFLAKE_PORT": str(arguments["port"]),
        "SNOWFLAKE_PROTOCOL": str(arguments["protocol"]),
    }
    return SnowflakeDatabase(name, connection, environment)
