"""The parts of a warehouse's URI, in the shapes that its own tools and SQLAlchemy write."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from fluid_build.errors import SourceError
from fluid_build.text import did_you_mean


@dataclass(frozen=True, slots=True)
class WarehouseAddress:
    """What ``scheme://user:password@host:port/database/schema?name=value`` says, unescaped.

    An empty part is left to the environment or the tool's own files. The password and the
    parameters, which may hold secrets, are left out of the representation.
    """

    host: str = ""
    port: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    path: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)


def warehouse_address(
    uri: str, label: str, shape: str, parameters: Iterable[str], *, most_parts: int
) -> WarehouseAddress:
    """Take a URI apart; ``shape`` is shown where it can't be read.

    ``parameters`` are those that it may have, and ``most_parts`` is how many names the path may
    have. Raises SourceError.
    """
    try:
        parts = urlsplit(uri)
        port = parts.netloc.rpartition("@")[2].partition(":")[2]
        # A user without a colon has no password, and a colon in a password stays in it.
        login = parts.netloc.rpartition("@")[0]
        user, _, password = login.partition(":")
        host = parts.netloc.rpartition("@")[2].partition(":")[0]
        path = tuple(part for part in unquote(parts.path).split("/") if part)
        given = dict(parse_qsl(parts.query, keep_blank_values=False))
    except ValueError:
        raise _unreadable(shape) from None
    if len(path) > most_parts or (port and not port.isdigit()):
        raise _unreadable(shape)
    known = tuple(parameters)
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise SourceError(
            f"A {label} URI has no parameter {unknown[0]}.",
            hint=f"{did_you_mean(unknown[0], known)}It takes {', '.join(known)}.",
        )
    return WarehouseAddress(unquote(host), port, unquote(user), unquote(password), path, given)


def _unreadable(shape: str) -> SourceError:
    # The URI itself isn't shown: what can't be read can't be redacted with certainty.
    return SourceError("The URI of the source can't be read.", hint=f"Write it as {shape}.")
