"""Which host a catalog is at and what logs in there, so that no secret goes to another host."""

from fluid_build.errors import UsageError
from fluid_build.sources.catalogs.address import CatalogAddress
from fluid_build.sources.credentials import Credential, Secret


def chosen_host(
    address: CatalogAddress, credential: Credential, title: str, default: str = ""
) -> str:
    """Return the host of the address or of the credential, else the default one.

    Raises UsageError where none is known, and where a credential that has a host would be sent to
    another one.
    """
    own = credential.get("host")
    if own and address.host and bare_host(own) != bare_host(address.host):
        raise UsageError(
            f"The credential {credential.name} is for {own}, not for {address.host}.",
            hint="Pass the credential of that host, or leave the host out of the address.",
        )
    host = address.host or own or default
    if not host:
        raise UsageError(
            f"The host of {title} isn't known.",
            hint="Put it in the address, or set the field host of the credential.",
        )
    return own or host


def bare_host(host: str) -> str:
    """Return a host without its scheme and its path, in lower case."""
    return (
        host.partition("://")[2].partition("/")[0].lower()
        if "://" in host
        else (host.partition("/")[0].lower())
    )


def bearer(token: Secret | None) -> dict[str, str]:
    """Return the header that logs in with a token; none without one."""
    return {} if token is None else {"Authorization": f"Bearer {header_value(token)}"}


def header_value(secret: Secret) -> str:
    """Return a secret as the value of a header. Raises UsageError for one that can't be."""
    value = secret.reveal()
    if not value.isascii() or not value.isprintable():
        raise UsageError(
            "The token has characters that a token can't have.",
            hint="Copy it again, without quotes, spaces or line breaks.",
        )
    return value


def unknown_credential(name: str, title: str, field: str) -> UsageError:
    """Return the error for a credential that no place knows."""
    return UsageError(
        f"There's no credential {name} for {title}.",
        hint=f"Run `fluid credentials set {name} {field}`, or see docs/catalogs.md for the other"
        " places that it's looked for in.",
    )
