"""What a folder from someone else may do only after its user has agreed.

A generated folder names its source and contains a dbt project, and anybody may have written it. It
never chooses a server, since libpq would send that server the user's password, nor a file outside
of its neighbourhood, and none of its code runs without a question.
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fluid_build.cli import messages
from fluid_build.cli.reading.source_options import named_uri
from fluid_build.errors import NotTrustedError
from fluid_build.secrets import MASK, redact, without_passwords
from fluid_build.sources.addresses.kinds import (
    KINDS,
    POSTGRES,
    CatalogKind,
    RemoteFilesKind,
    ServerKind,
)
from fluid_build.sources.addresses.server_address import ServerAddress, server_address
from fluid_build.sources.neighbourhood import stray
from fluid_build.transform.proof.manifest import MANIFEST_FILE, ManifestSource, place_of


def allowed_place(
    source: ManifestSource, folder: Path, command: Sequence[str], *, name: str = ""
) -> str:
    """Return where a folder says its source is, if it may choose that or its user confirms it.

    ``command`` is the command line that was called; the hint repeats it with ``--uri``. ``name`` is
    that of the source where the folder has several. Raises NotTrustedError, before anything is
    contacted, where nobody can be asked or the answer is no.
    """
    place = place_of(source, folder)
    kind = KINDS[source.kind]
    if isinstance(kind, CatalogKind):
        return _allowed_catalog(place, kind, command, name)
    if isinstance(kind, ServerKind):
        return _allowed_server(place, kind, command, name)
    if isinstance(kind, RemoteFilesKind):
        return _allowed_url(place, kind, command, name)
    outside = stray(place, folder)
    if outside is None:
        return place
    path = redact(str(outside))
    _confirm(
        f"{MANIFEST_FILE} says that the data is at {path}, which isn't next to the folder.",
        {},
        "Read it?",
        refusal=f"{MANIFEST_FILE} points to {path}, and a folder may only choose files in it or"
        " next to it.",
        hint="If that is where the data is, run:",
        command=[*command, "--uri", named_uri(name, place)],
    )
    return place


def check_code_trusted(folder: Path, command: Sequence[str]) -> None:
    """Ask whether a folder's dbt project may run; NotTrustedError where the answer isn't yes."""
    project = folder / "dbt"
    _confirm(
        f"dbt runs the code in {project} as you, with access to your files and passwords.",
        {},
        "Do you trust its author?",
        refusal=f"Building with dbt runs the code in {project}.",
        hint="If you trust its author, run:",
        command=[*command, "--trust"],
    )


def check_may_change(statement: str, question: str, command: Sequence[str]) -> None:
    """Ask whether a command may do what it says; NotTrustedError where the answer isn't yes."""
    _confirm(
        statement,
        {},
        question,
        refusal=statement,
        hint="If that's what you want, run:",
        command=[*command, "--yes"],
    )


def check_may_open(warehouse: str, folder: Path, command: Sequence[str]) -> None:
    """Ask whether the warehouse of a folder's profile may be opened, unless it's a file near it.

    ``warehouse`` is a path or a connection string.
    """
    if "://" not in warehouse and stray(warehouse, folder) is None:
        return
    _confirm(
        f"The dbt profile in {folder} says that the warehouse is {redact(warehouse)}.",
        {},
        "Open it, with your stored login if it asks for one?",
        refusal=f"The dbt profile in {folder} names the warehouse {redact(warehouse)}, and a folder"
        " may only choose files in it or next to it.",
        hint="If that is your warehouse, run:",
        command=[*command, "--warehouse", without_passwords(warehouse)],
    )


def _allowed_url(place: str, kind: RemoteFilesKind, command: Sequence[str], name: str) -> str:
    url = redact(place)
    _confirm(
        f"{MANIFEST_FILE} says that the data is at {url} ({kind.label}).",
        {},
        "Read it, with your login if it needs one?",
        refusal=f"{MANIFEST_FILE} points to {url}, and a folder may never choose a place on a"
        " network.",
        hint="If that is where the data is, run:",
        command=[*command, "--uri", named_uri(name, url)],
    )
    return place


def _allowed_catalog(place: str, kind: CatalogKind, command: Sequence[str], name: str) -> str:
    address = redact(place)
    _confirm(
        f"{MANIFEST_FILE} says that the data is in {kind.label}, at {address}.",
        {},
        "Ask it, with the credential that the address names?",
        refusal=f"{MANIFEST_FILE} names a catalog ({address}), and a folder may never choose where"
        " a login is sent.",
        hint="If that is where the data is, run:",
        command=[*command, "--uri", named_uri(name, address)],
    )
    return place


def _allowed_server(place: str, kind: ServerKind, command: Sequence[str], name: str) -> str:
    try:
        server = server_address(place, kind)
    except ValueError as error:
        raise NotTrustedError(
            f"{MANIFEST_FILE} names a server in a way that can't be confirmed: {error}.",
            hint=f"Pass the server yourself, with --uri {kind.schemes[0]}://user@host:port/database.",
        ) from None
    parts = _parts(server, kind)
    address = ", ".join(f"{name} {value}" for name, value in parts.items())
    _confirm(
        f"{MANIFEST_FILE} says that the data is on a server:",
        parts,
        f"Connect? Your stored {_login(kind)} sent if the server asks for one.",
        refusal=f"{MANIFEST_FILE} names a server ({address}), and a folder may never choose a"
        " server.",
        hint="If that is where the data is, run:",
        command=[*command, "--uri", named_uri(name, server.uri)],
    )
    return server.uri


def _login(kind: ServerKind) -> str:
    if kind is POSTGRES:
        return f"password ({kind.password_variable} or ~/.pgpass) is"
    return f"login ({kind.password_variable} or the client's own files) is"


def _parts(server: ServerAddress, kind: ServerKind) -> Mapping[str, str]:
    """Return the parts of an address by name, with what the client fills in for those missing."""
    parts = {
        name: getattr(server, name) or _default(variable)
        for name, variable in kind.environment.items()
    }
    return parts | dict(server.options)


def _default(variable: str) -> str:
    value = os.environ.get(variable)
    return f"{value} (from {variable})" if value else "your default"


def _confirm(
    statement: str,
    details: Mapping[str, str],
    question: str,
    *,
    refusal: str,
    hint: str,
    command: Sequence[str],
) -> None:
    """Ask on a terminal; NotTrustedError where there is none, or the answer isn't yes.

    A command that has a secret which isn't shown says that it has to be filled in.
    """
    if any(MASK in argument for argument in command):
        hint = f"Its secret isn't shown: put it in place of {MASK}. {hint}"
    refused = NotTrustedError(refusal, hint=hint, command=shlex.join(command))
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise refused
    messages.tell(statement)
    for name, value in details.items():
        messages.tell(f"  {name:<9} {value}")
    if messages.ask(f"{question} [y/N] ").strip().lower() not in ("y", "yes"):
        raise refused
