"""A database on a real MariaDB server, for tests.

The server is the machine's own ``mariadbd``, started without root's help on a port and a socket of
its own. On a desk without it the tests are skipped; where TESTS_REQUIRE_MARIADB is set, they fail.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pymysql
import pytest
from pymysql.constants import CLIENT

ANSI = "SET sql_mode = 'ANSI_QUOTES'"
"""Has the server read double quotes as other databases do."""
NOT_INSTALLED = "MariaDB's server isn't installed"
_REQUIRED = "TESTS_REQUIRE_MARIADB"
_MOST_SECONDS = 60
# Nobody needs these databases after a crash, so nothing waits for the disk.
_FAST = (
    "--skip-log-bin",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--innodb-doublewrite=0",
    "--innodb-log-file-size=16M",
    "--innodb-buffer-pool-size=64M",
    "--innodb-fast-shutdown=2",
    "--character-set-server=utf8mb4",
)


@dataclass(frozen=True)
class MariaDBServer:
    """A running server of our own, whose root has no password."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def socket(self) -> Path:
        """The socket, by which it's reached from this machine."""
        return self.folder / "socket"

    def run(self, sql: str, database: str | None = None) -> list[tuple[object, ...]]:
        """Run SQL statements as root; return the rows of the last one."""
        with (
            pymysql.connect(
                unix_socket=str(self.socket),
                user="root",
                database=database,
                charset="utf8mb4",
                autocommit=True,
                client_flag=CLIENT.MULTI_STATEMENTS,
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(sql)
            rows = cursor.fetchall()
            while cursor.nextset():
                rows = cursor.fetchall()
        return list(rows)

    def stop(self) -> None:
        """Kill the server and remove its files."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True)
class MariaDBDatabase:
    """A fresh database on the server."""

    server: MariaDBServer
    name: str

    @property
    def uri(self) -> str:
        """Its URI, for root."""
        return self.uri_of("root")

    def uri_of(self, user: str, password: str = "", database: str | None = None) -> str:
        """Return its URI, or that of another database, for another login."""
        login = f"{user}:{password}" if password else user
        place = self.name if database is None else database
        return f"mysql://{login}@127.0.0.1:{self.server.port}/{place}"

    def run(self, sql: str) -> list[tuple[object, ...]]:
        """Run SQL statements as root in the database; return the rows of the last one."""
        return self.server.run(sql, self.name)

    def insert(self, table: str, rows: Sequence[Sequence[object]]) -> None:
        """Insert rows as they are."""
        with (
            pymysql.connect(
                unix_socket=str(self.server.socket),
                user="root",
                database=self.name,
                charset="utf8mb4",
            ) as connection,
            connection.cursor() as cursor,
        ):
            marks = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            connection.commit()


def start_mariadb(parent: str, *options: str) -> MariaDBServer:
    """Start a server in a new folder; skip the test, or fail, where none is installed.

    ``options`` are more options of the server.
    """
    program = shutil.which(
        "mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    )
    install = shutil.which("mariadb-install-db")
    if program is None or install is None:
        if os.environ.get(_REQUIRED):
            pytest.fail(f"{NOT_INSTALLED}: run 'apt-get install mariadb-server' as root.")
        pytest.skip(f"{NOT_INSTALLED} (Debian's package is mariadb-server)")
    folder = Path(tempfile.mkdtemp(prefix="fluid-mariadb-", dir=parent))
    user = ("--user=root",) if os.getuid() == 0 else ()
    data = f"--datadir={folder / 'data'}"
    subprocess.run(
        [install, "--no-defaults", data, "--auth-root-authentication-method=normal", *user,
         "--skip-test-db", "--innodb-log-file-size=16M"],
        check=True,
        capture_output=True,
    )  # fmt: skip
    port = _free_port()
    process = subprocess.Popen(
        [program, "--no-defaults", data, f"--socket={folder / 'socket'}", f"--port={port}",
         "--bind-address=127.0.0.1", f"--pid-file={folder / 'pid'}", *user, *_FAST,
         f"--log-error={folder / 'log'}", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    server = MariaDBServer(folder, port, process)
    _wait_for(server)
    return server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(server: MariaDBServer) -> None:
    end = time.monotonic() + _MOST_SECONDS
    while True:
        # Without the socket, pymysql warns of its own that it leaves open.
        if server.socket.exists():
            server.run("SELECT 1")
            return
        if server.process.poll() is not None or time.monotonic() > end:
            log = (server.folder / "log").read_text(errors="replace")[-2000:]
            server.stop()
            pytest.fail(f"MariaDB didn't start: {log}")
        time.sleep(0.1)
