"""Which server a connection string leads to, so that a person can be asked before it's contacted.

A connection string can mislead a reader: ``postgresql://trusted/db?host=evil`` contacts ``evil``.
It's taken apart once, shown in its parts, and only what was shown is connected to.
https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from fluid_build.sources.addresses.kinds import ServerKind

_PAIR = re.compile(r"\s*(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)", re.DOTALL)
_PORTS = re.compile(r"\d{0,5}(,\d{0,5})*")
_HOSTS = re.compile(r"[^\s@?#&=]*")
_PARTS = {"host": "host", "port": "port", "user": "user", "dbname": "database"}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server, database and login; an empty part is left to the client's own default.

    ``options`` are the other parameters, none of them a secret.
    """

    scheme: str
    host: str = ""
    port: str = ""
    user: str = ""
    database: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """The address as the one URI that says exactly this."""
        is_name = self.host and not re.search(r"[/,\[\]:]", self.host)
        is_simple = is_name and "," not in self.port
        query = dict(self.options)
        if not is_simple:
            placed = {"host": self.host, "port": self.port}
            query = {name: value for name, value in placed.items() if value} | query
        user = f"{_escaped(self.user)}@" if self.user else ""
        port = f":{self.port}" if is_simple and self.port else ""
        server = f"{_escaped(self.host)}{port}" if is_simple else ""
        parameters = "&".join(f"{name}={_escaped(value)}" for name, value in query.items())
        place = f"{self.scheme}://{user}{server}/{_escaped(self.database)}"
        return f"{place}?{parameters}" if parameters else place


def canonical_uri(uri: str, kind: ServerKind) -> str:
    """Return a URI with the usual scheme of its kind, and with its parameters percent-encoded.

    A path in a parameter is often written as it is, and not every client reads that.
    """
    place, mark, query = uri[uri.index(":") :].partition("?")
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    parameters = "&".join(
        f"{name}{equals}{_escaped(unquote(value))}" for name, equals, value in pairs
    )
    return f"{kind.schemes[0]}{place}{mark if parameters else ''}{parameters}"


def server_address(dsn: str, kind: ServerKind) -> ServerAddress:
    """Take a URI or keyword connection string of a kind of server apart.

    ValueError, with the reason as a sentence's end, where it can't be read or holds a parameter
    that could name a file or service of this machine, or a password.
    """
    is_uri = dsn.partition("://")[0].lower() in kind.schemes
    parameters = dict(_from_uri(dsn) if is_uri else _from_keywords(dsn))
    unknown = sorted(parameters.keys() - _PARTS.keys() - kind.harmless_parameters)
    if unknown:
        raise ValueError(f"it sets {', '.join(unknown)}")
    address = ServerAddress(
        scheme=kind.schemes[0],
        **{part: parameters.get(name, "") for name, part in _PARTS.items()},
        options={
            name: parameters[name] for name in sorted(kind.harmless_parameters & parameters.keys())
        },
    )
    if not _PORTS.fullmatch(address.port) or not _HOSTS.fullmatch(address.host):
        raise ValueError("its host or port can't be read")
    if "://" in address.database or "=" in address.database:
        raise ValueError("its database name is itself a connection string")
    return address


def password_in(uri: str) -> str:
    """Return the password between the user and the host of a URI, "" where there is none."""
    place = uri[uri.index("://") + 3 :].partition("?")[0]
    login, _, _ = place.rpartition("@")
    return unquote(login.partition(":")[2])


def _from_uri(dsn: str) -> Iterator[tuple[str, str]]:
    remainder, _, query = dsn[dsn.index("://") + 3 :].partition("?")
    place, _, database = remainder.partition("/")
    login, _, servers = place.rpartition("@")
    user, _, password = login.partition(":")
    hosts, ports = zip(*map(_host_and_port, servers.split(",")), strict=True)
    parts = {
        "user": user,
        "password": password,
        "host": ",".join(hosts).strip(","),
        "port": ",".join(ports).strip(","),
        "dbname": database,
    }
    yield from ((name, unquote(value)) for name, value in parts.items() if value)
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        yield unquote(name), unquote(value)


def _host_and_port(server: str) -> tuple[str, str]:
    address, closed, port = server.rpartition("]")
    if closed:
        return f"{address.removeprefix('[')}", port.removeprefix(":")
    host, _, port = server.partition(":")
    return host, port


def _from_keywords(dsn: str) -> Iterator[tuple[str, str]]:
    at = 0
    text = dsn.rstrip()
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            raise ValueError("it can't be read")
        value = pair[2] if pair[2] is not None else pair[3]
        yield pair[1], re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)
        at = pair.end()


def _escaped(text: str) -> str:
    return quote(text, safe="")
