"""``fluid credentials``: what logs in to data catalogs, kept in the system's keyring."""

import getpass
import re
import sys
from typing import Annotated

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.options import Debug, Json
from fluid_build.copilot.unified_config import current_config
from fluid_build.errors import UsageError, unknown_name
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.screen_parts import indented, text
from fluid_build.sources.addresses.kinds import CATALOGS
from fluid_build.sources.credentials import (
    check_credential_name,
    forget_secrets,
    store_secret,
    stored_names,
    stored_secrets,
    variable_name,
)

_FIELDS = tuple(
    sorted({name for kind in CATALOGS for name in (*kind.plain_fields, *kind.secret_fields)})
)
_NAME_HELP = "Name of the credential, as --credential-id has it."

CredentialName = Annotated[str, typer.Argument(metavar="NAME", help=_NAME_HELP)]


def set_credential(
    name: CredentialName,
    field: Annotated[
        str, typer.Argument(metavar="FIELD", help=f"One of its fields: {', '.join(_FIELDS)}.")
    ],
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="Read the value from standard input.")
    ] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Store a field of a credential in the system's keyring; the value is asked for, unseen.

    A variable FLUID_CREDENTIAL_NAME_FIELD wins over the keyring, and the keyring over the
    configuration.

    \b
    Example:  fluid credentials set datahub-prod token
    """
    check_credential_name(name)
    key = field.lower().replace("-", "_")
    if key not in _FIELDS:
        raise unknown_name("field", field, _FIELDS)
    store_secret(name, key, _read_value(name, key, from_stdin=from_stdin))
    if json:
        messages.show_json({"credential": name, "field": key, "place": "keyring"})
    else:
        show([text(f"The field {key} of {name} is stored in the system's keyring.")])
    return failures.DONE


def list_credentials(json: Json = False, _debug: Debug = False) -> int:
    """List the credentials with their fields and where each is, without any value.

    \b
    Example:  fluid credentials list
    """
    configured = current_config().sources.sources
    names = sorted({*stored_names(), *configured})
    listed = [
        {
            "credential": name,
            "catalog": configured.get(name, {}).get("catalog"),
            "keyring": sorted(stored_secrets(name)),
            "configuration": sorted(map(str, configured.get(name, {}))),
        }
        for name in names
    ]
    if json:
        messages.show_json({"credentials": listed})
    elif not listed:
        show([text("No credential is stored or configured.")])
    else:
        show([indented(_describe(entry)) for entry in listed])
    return failures.DONE


def remove_credential(name: CredentialName, json: Json = False, _debug: Debug = False) -> int:
    """Remove a credential from the system's keyring.

    \b
    Example:  fluid credentials rm datahub-prod
    """
    if not forget_secrets(name):
        raise UsageError(
            f"The keyring has no credential {name}.",
            hint="`fluid credentials list` shows those there are.",
        )
    if json:
        messages.show_json({"removed": name})
    else:
        show([text(f"{name} is removed from the system's keyring.")])
    return failures.DONE


def _read_value(name: str, key: str, *, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.read()
    if not sys.stdin.isatty():
        raise UsageError(
            "There's no terminal to ask for the value.",
            hint=f"Pipe it in with --stdin, or set {variable_name(name, key)} instead.",
        )
    return getpass.getpass(f"{key} of {name}: ", stream=sys.stderr)


def _describe(entry: dict[str, object]) -> str:
    places = [
        f"{place}: {', '.join(fields)}"
        for place in ("keyring", "configuration")
        if isinstance(fields := entry[place], list) and fields
    ]
    catalog = f" ({entry['catalog']})" if entry["catalog"] else ""
    return re.sub(r"\s+", " ", f"{entry['credential']}{catalog}  {'; '.join(places)}")
