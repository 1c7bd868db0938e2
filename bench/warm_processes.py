"""Processes of ``fluid`` and dbt that start with their imports done.

Most of the time of a small load goes to importing dbt and Fluid Forge. Here a server does that once
and forks itself for each run, which is a process of its own all the same, with its folder,
environment, output and exit code. A ``fluid`` that is started like this starts its dbt like this.
The server never opens a database, so that its forks begin without one.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import IO, Any, Literal, NoReturn, Self

from fluid_build.transform.dbt import running
from fluid_build.transform.dbt.running import DBT

Program = Literal["fluid", "dbt"]
_LONGEST_REQUEST = 200_000
_PROJECT = {
    "dbt_project.yml": "{name: warm, profile: warm, version: '1.0', model-paths: []}",
    "profiles.yml": "{warm: {target: dev, outputs: {dev: {type: duckdb, path: ':memory:'}}}}",
}
"""An empty project: reading it loads dbt's own macros, and starts no threads."""


@dataclass
class WarmRun:
    """A run under way, with as much of ``Popen`` as is needed."""

    pid: int
    _connection: socket.socket
    stdin: int
    stdout: IO[str]
    returncode: int | None = field(default=None, init=False)

    def wait(self) -> int:
        """Return the exit code when the run has ended; -9 if it was killed."""
        if self.returncode is None:
            answer = self._connection.recv(16)
            self._connection.close()
            os.close(self.stdin)
            self.returncode = int(answer) if answer else -int(signal.SIGKILL)
        return self.returncode

    def is_over(self) -> bool:
        """Whether the run has ended by itself."""
        self._connection.setblocking(False)
        try:
            return bool(self._connection.recv(16, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        finally:
            self._connection.setblocking(True)

    def kill(self) -> None:
        """End it with SIGKILL, unless it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stdout.close()
        self.wait()


@dataclass(frozen=True)
class WarmProcesses:
    """A server that forks; ``address`` is the file of its socket."""

    address: str

    def start(
        self,
        program: Program,
        arguments: Sequence[str],
        cwd: Path,
        stderr: IO[str],
        env: Mapping[str, str] | None = None,
    ) -> WarmRun:
        """Start a program, which reads from a pipe that closes with us, and writes to one."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.connect(self.address)
        stdin, our_stdin = os.pipe()
        our_stdout, stdout = os.pipe()
        request = {
            "program": program,
            "arguments": [*arguments],
            "cwd": str(Path(cwd).absolute()),
            "env": dict(os.environ if env is None else env),
        }
        socket.send_fds(
            connection, [json.dumps(request).encode()], [stdin, stdout, stderr.fileno()]
        )
        os.close(stdin)
        os.close(stdout)
        output = os.fdopen(our_stdout, encoding="utf-8", errors="replace")
        return WarmRun(int(connection.recv(16)), connection, our_stdin, output)

    def run(
        self, program: Program, arguments: Sequence[str], cwd: Path
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, and return what it said."""
        with tempfile.TemporaryFile("w+", encoding="utf-8") as stderr:
            with self.start(program, arguments, cwd, stderr) as process:
                said = process.stdout.read()
            stderr.seek(0)
            return subprocess.CompletedProcess(
                [program, *arguments], process.wait(), said, stderr.read()
            )

    def popen(self, command: Sequence[str], **options: Any) -> WarmRun:
        """Start dbt where ``subprocess.Popen`` would."""
        assert tuple(command[: 1 + len(DBT)]) == (sys.executable, *DBT), command
        arguments = command[1 + len(DBT) :]
        return self.start("dbt", arguments, options["cwd"], options["stderr"], options["env"])


@contextmanager
def warm_processes() -> Iterator[WarmProcesses]:
    """Start a server, which ends with the block."""
    with tempfile.TemporaryDirectory(prefix="fluid-warm-") as folder:
        address = str(Path(folder, "socket"))
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(address)
        listener.listen()
        command = [sys.executable, "-m", "bench.warm_processes", str(listener.fileno()), address]
        environment = {**os.environ, "PYTHONUTF8": "1", "DO_NOT_TRACK": "1", "NO_COLOR": "1"}
        with subprocess.Popen(
            command, pass_fds=[listener.fileno()], env=environment, stdout=subprocess.DEVNULL
        ) as server:
            listener.close()
            try:
                yield WarmProcesses(address)
            finally:
                server.kill()


def serve(listener: socket.socket, address: str) -> NoReturn:
    """Fork for each connection, until the server is killed."""
    _warm_up(WarmProcesses(address))
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(connection)
        connection.close()


def _warm_up(processes: WarmProcesses) -> None:
    import babel.dates  # noqa: F401  as agate does with the first result
    import daff  # noqa: F401  as dbt does with the first test
    import dbt.adapters.duckdb
    import dbt.adapters.postgres  # noqa: F401
    import duckdb  # noqa: F401
    import psycopg2  # noqa: F401
    import sqlglot  # noqa: F401
    from dbt.cli.main import dbtRunner

    import fluid_build.cli.deploying
    import fluid_build.cli.main
    import fluid_build.evolution.applying
    import fluid_build.forging
    import fluid_build.verification  # noqa: F401

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, text in _PROJECT.items():
            (folder / path).write_text(text, encoding="utf-8")
        places = ("--project-dir", name, "--profiles-dir", name, "--log-path", name)
        result = dbtRunner().invoke(["--log-level-file", "none", "parse", *places])
    if not result.success:
        raise RuntimeError("dbt can't read the project that warms it up") from result.exception
    stand_in = SimpleNamespace(Popen=processes.popen, PIPE=subprocess.PIPE)
    running.subprocess = stand_in  # type: ignore[assignment]


def _answer(connection: socket.socket) -> NoReturn:
    """Run what is asked for in this process, and send its exit code."""
    message, descriptors, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, 3)
    request = json.loads(message)
    for place, descriptor in enumerate(descriptors):
        os.dup2(descriptor, place)
        os.close(descriptor)
    # The server's streams are of files; these may be pipes.
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = [request["program"], *request["arguments"]]
    connection.send(str(os.getpid()).encode())
    code = 1
    try:
        _program(request["program"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  nothing of the server's may run in its fork
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.send(str(code).encode())
        os._exit(code)


def _program(name: Program) -> None:
    if name == "fluid":
        from fluid_build.cli.main import main

        main()
        return
    from dbt.cli.main import cli

    # As in ``DBT``: the end of dbt comes with that of the one who started it.
    threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
    cli()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
