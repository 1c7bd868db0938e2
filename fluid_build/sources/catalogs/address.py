"""Where a catalog is: ``glue://eu-west-1/sales?login=prod``, which holds no secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from fluid_build.errors import UsageError
from fluid_build.sources.addresses.kinds import CREDENTIAL_PARAMETER, CatalogKind
from fluid_build.text import did_you_mean, listed


@dataclass(frozen=True, slots=True)
class CatalogAddress:
    """A catalog's address, taken apart.

    ``host`` is what comes before the path: a server with its port, a region, an account or a
    project. ``path`` narrows it down. ``credential`` names what to log in with; "" leaves that to
    the catalog's own tools.
    """

    host: str = ""
    path: tuple[str, ...] = ()
    credential: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def part(self, number: int) -> str:
        """Return a part of the path, counted from 0; "" where it has no such part."""
        return self.path[number] if number < len(self.path) else ""


def parse_address(place: str, kind: CatalogKind) -> CatalogAddress:
    """Take the address of a catalog apart.

    Raises UsageError for a login in it, a parameter that the catalog doesn't have, or a path that
    is too long.
    """
    remainder, _, query = place.partition("://")[2].partition("?")
    host, _, path = remainder.partition("/")
    if "@" in host:
        raise UsageError(
            "The address of a catalog holds no login.",
            hint="Store the login under a name and pass --credential-id NAME:"
            " see `fluid credentials set --help`.",
        )
    options = dict(_parameters(query))
    unknown = sorted(options.keys() - kind.harmless_parameters)
    if unknown:
        known = sorted(kind.harmless_parameters)
        raise UsageError(
            f"The address of {kind.label} has an unknown parameter {unknown[0]!r}.",
            hint=f"{did_you_mean(unknown[0], known)}Known parameters: {listed(known)}.",
        )
    parts = tuple(part for part in unquote(path).split("/") if part)
    if len(parts) > len(kind.path):
        raise UsageError(
            f"The address of {kind.label} has too many parts: {'/'.join(parts)}.",
            hint=f"Write it as {kind.usual_uri}.",
        )
    credential = options.pop(CREDENTIAL_PARAMETER, "")
    return CatalogAddress(unquote(host), parts, credential, options)


def _parameters(query: str) -> list[tuple[str, str]]:
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return [(unquote(name), unquote(value)) for name, _, value in pairs]
