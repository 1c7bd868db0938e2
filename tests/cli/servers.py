"""A server that says it is PostgreSQL and asks for a password in clear text, as a thief's would.

No real server can stand for it: a real one never tells what it was sent.
"""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_ENCRYPTION_REQUESTS = (80877103, 80877104)
_ASK_FOR_PASSWORD = b"R" + struct.pack("!ii", 8, 3)


@dataclass
class PasswordThief:
    """What came to the server's door: how many connections, and which passwords."""

    port: int
    connections: int = 0
    passwords: list[str] = field(default_factory=list)


@contextmanager
def password_thief() -> Iterator[PasswordThief]:
    """Listen on a free port of this machine until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thief = PasswordThief(listener.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(listener, thief), daemon=True)
        thread.start()
        try:
            yield thief
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(timeout=10)


def _serve(listener: socket.socket, thief: PasswordThief) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            thief.connections += 1
            connection.settimeout(5)
            _take_login(connection, thief)


def _take_login(connection: socket.socket, thief: PasswordThief) -> None:
    try:
        while True:
            length, code = struct.unpack("!ii", _exactly(connection, 8))
            _exactly(connection, length - 8)
            if code not in _ENCRYPTION_REQUESTS:
                break
            connection.sendall(b"N")
        connection.sendall(_ASK_FOR_PASSWORD)
        kind, length = struct.unpack("!ci", _exactly(connection, 5))
        if kind == b"p":
            thief.passwords.append(_exactly(connection, length - 4).rstrip(b"\0").decode())
    except (ConnectionError, TimeoutError):
        return


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = connection.recv(size - len(found))
        if not more:
            raise ConnectionError
        found += more
    return found
