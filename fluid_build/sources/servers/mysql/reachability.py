"""Whether a MySQL server answers at all, which its client would wait minutes for."""

import os
import re
import socket
from urllib.parse import unquote

from fluid_build.errors import SourceUnreachableError
from fluid_build.sources.addresses.kinds import MYSQL

_SECONDS = 10.0
_PORT = 3306
_PLACE = re.compile(
    r"[a-z]+://(?:.*@)?(?:\[(?P<v6>[^\]]*)\]|(?P<host>[^:/?@]*))(?::(?P<port>\d+))?"
)


def check_reachable(uri: str) -> None:
    """Wait for the server's greeting; raise SourceUnreachableError where none comes.

    The client has no option for how long it waits. Sockets of this machine, and what can't be read
    here, are left to the client.
    """
    match = _PLACE.match(uri.partition("?")[0])
    if match is None or "socket=" in uri or os.environ.get("MYSQL_UNIX_PORT"):
        return
    host = unquote(match["v6"] or match["host"]) or os.environ.get(MYSQL.environment["host"], "")
    port = match["port"] or os.environ.get(MYSQL.environment["port"], "")
    if host in ("", "localhost"):
        return
    number = int(port) if port.isdigit() else 0
    try:
        with socket.create_connection((host, number or _PORT), _SECONDS) as connection:
            connection.settimeout(_SECONDS)
            connection.recv(1)
    except TimeoutError:
        raise SourceUnreachableError(
            f"The MySQL server can't be reached: {host} didn't answer within"
            f" {_SECONDS:.0f} seconds.",
            hint="Check the host and port, and that no firewall is in between.",
        ) from None
    except (OSError, UnicodeError, OverflowError):
        # The client says better what is wrong.
        return
