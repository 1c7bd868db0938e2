"""A process that has dbt in memory, and forks itself for each run.

Two thirds of the time of a small ``dbt build`` go to importing dbt and reading its macros for the
first time. Here that happens once. Each run is still a process of its own, with its own folder,
environment, output and exit code, as it is for ``python -m dbt.cli.main``.
"""

import gc
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NoReturn, Self

import pytest

from fluid_build.extras import python_for, runs_here
from fluid_build.transform.dbt.running import DBT

_LONGEST_REQUEST = 200_000
_PROJECT = {
    "dbt_project.yml": "{name: warm, profile: warm, version: '1.0', model-paths: []}",
    "profiles.yml": "{warm: {target: dev, outputs: {dev: {type: duckdb, path: ':memory:'}}}}",
}
"""An empty project: reading it loads dbt's own macros, and starts no threads."""


def skip_where_dbt_does_not_run() -> None:
    """Skip the test that calls this on a Python that is too new for dbt."""
    if not runs_here("dbt"):
        pytest.skip(f"dbt needs {python_for('dbt')}")


@dataclass
class DbtServer:
    """Stands in for ``subprocess.Popen`` where that runs dbt; starts with the first run."""

    is_allowed: bool = False
    _connection: socket.socket | None = None
    _process: subprocess.Popen[bytes] | None = None

    def popen(self, command: Sequence[str], **options: Any) -> "DbtRun | subprocess.Popen[str]":
        """Run dbt in a fork of the server; anything else as a process like any other."""
        is_dbt = tuple(command[:3]) == (sys.executable, *DBT)
        assert self.is_allowed or not is_dbt, "a test that runs dbt requests the fixture dbt"
        # Elsewhere forking is less safe, and these sockets don't exist.
        if not is_dbt or sys.platform != "linux":
            return subprocess.Popen(command, **options)
        return self._run(command[3:], options["cwd"], options["env"], options["stderr"])

    def _run(
        self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], stderr: IO[str]
    ) -> "DbtRun":
        connection = self._connection or self._start()
        read_end, write_end = os.pipe()
        request = json.dumps({"arguments": arguments, "cwd": str(cwd), "env": dict(env)})
        socket.send_fds(connection, [request.encode()], [write_end, stderr.fileno()])
        os.close(write_end)
        return DbtRun(connection, os.fdopen(read_end, encoding="utf-8", errors="replace"))

    def _start(self) -> socket.socket:
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONUTF8": "1"},
            )
        return self._connection

    def close(self) -> None:
        """End the server."""
        if self._connection is not None and self._process is not None:
            self._connection.close()
            self._process.wait()


@dataclass
class DbtRun:
    """A run of dbt under way, with as much of ``Popen`` as is needed."""

    _connection: socket.socket
    stdout: IO[str]
    returncode: int | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stdout.close()
        self.wait()

    def wait(self) -> int:
        """Return the code of the run when it's over."""
        if self.returncode is None:
            self.returncode = int(self._connection.recv(16))
        return self.returncode


def serve(connection: socket.socket) -> None:
    """Fork for each request and answer with the exit code, until the other side hangs up."""
    _warm_up()
    gc.freeze()
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, 2)
        if not message:
            return
        child = os.fork()
        if child == 0:
            _run_dbt(json.loads(message), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        with suppress(BrokenPipeError):
            connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def _warm_up() -> None:
    # Only the server may import dbt, which keeps state: not the tests, which import this module.
    import babel.dates  # noqa: F401  as agate does with the first result
    import daff  # noqa: F401  as dbt does with the first test
    from dbt.cli.main import dbtRunner

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in _PROJECT.items():
            (folder / path).write_text(text, encoding="utf-8")
        places = ("--project-dir", name, "--profiles-dir", name, "--log-path", name)
        result = dbtRunner().invoke(["--log-level-file", "none", "parse", *places])
    if not result.success:
        raise RuntimeError("dbt can't read the project that warms it up") from result.exception


def _run_dbt(request: Mapping[str, Any], stdout: int, stderr: int) -> NoReturn:
    from dbt.cli.main import cli

    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["dbt", *request["arguments"]]
    code = 0
    try:
        cli()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    sys.stdout.flush()
    sys.stderr.flush()
    # A fork lacks the threads of its parent, which DuckDB would end with the interpreter.
    os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
