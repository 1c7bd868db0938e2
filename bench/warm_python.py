"""A Python that is started often and imports once: command lines run in forks of a warm process.

``fluid apply`` starts Python for itself and twice for dbt, and half of a small load is imports.
``warm_python`` imports them in one process and writes an executable that takes ``-m`` and ``-c`` as
Python does. A command line runs in a fork of that process, with the arguments, environment, folder
and streams of its caller: the code that runs, and that it runs in a process of its own, is the
same. Only on Unix. What runs before the first fork may leave no threads, so it opens no database.
"""

import array
import gc
import json
import os
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_CLIENT = """\
#!{python} -SEs
import array, json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    streams = array.array("i", [0, 1, 2])
    server.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    with server.makefile("w") as request:
        json.dump([sys.argv[1:], os.getcwd(), dict(os.environ)], request)
    server.shutdown(socket.SHUT_WR)
    for stream in streams:
        os.close(stream)
    code = server.recv(4)
os._exit(int.from_bytes(code, "big") if len(code) == 4 else 70)
"""


@contextmanager
def warm_python(imports: Sequence[str], prepare: Callable[[], None]) -> Iterator[Path]:
    """Start a process that has imported modules and is prepared; return what runs forks of it.

    What they call ``sys.executable`` is that executable too, so that they start warm processes.
    """
    with tempfile.TemporaryDirectory(prefix="warm-") as name:
        executable, address = Path(name, "python"), str(Path(name, "socket"))
        executable.write_text(_CLIENT.format(python=sys.executable, address=address))
        executable.chmod(0o700)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(address)
            server.listen(8)
            process = os.fork()
            if not process:
                _serve(server, str(executable), imports, prepare)
        try:
            yield executable
        finally:
            os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)


def _serve(
    server: socket.socket, executable: str, imports: Sequence[str], prepare: Callable[[], None]
) -> None:
    """Import, prepare, and fork for each command line until the process is ended."""
    try:
        # multiprocessing keeps the executable that it sees first, and passes files to it.
        for name in ("multiprocessing.spawn", "multiprocessing.resource_tracker"):
            __import__(name)
        sys.executable = executable
        for name in imports:
            __import__(name)
        prepare()
        gc.freeze()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            client, _ = server.accept()
            if not os.fork():
                server.close()
                _run_for(client)
            client.close()
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    os._exit(70)


def _run_for(client: socket.socket) -> None:
    """Run the command line of a client, and end with its exit code."""
    code = 70
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        streams = array.array("i")
        _, ancillary, _, _ = client.recvmsg(1, socket.CMSG_LEN(3 * streams.itemsize))
        streams.frombytes(ancillary[0][2])
        with client.makefile() as request:
            arguments, folder, environment = json.load(request)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        # What Python made of the server's streams doesn't fit those of its callers.
        sys.stdin = open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
        sys.stderr = open(  # noqa: SIM115
            2, "w", closefd=False, encoding="utf-8", buffering=1
        )
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        code = _exit_code(arguments)
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        client.sendall(code.to_bytes(4, "big"))
        os._exit(code)


def _exit_code(arguments: Sequence[str]) -> int:
    """Run ``-m MODULE`` or ``-c CODE`` as ``__main__``, and return what Python would exit with."""
    kind, what, *rest = arguments
    sys.argv = [kind, *rest]
    source = f"import runpy; runpy.run_module({what!r}, run_name='__main__', alter_sys=True)"
    try:
        exec(compile(what if kind == "-c" else source, "<warm>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        return 1
    return 0
