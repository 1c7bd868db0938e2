"""What somebody else's folder may only do once its user has said so.

A folder that ``fluid forge`` wrote names its source and holds a dbt project, and anybody may have
written it. It never chooses a server, since libpq would send that server the user's password, nor
a file far away from it, and none of its code is run unasked.
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fluid_build.cli import screen
from fluid_build.errors import NotTrustedError
from fluid_build.secrets import redact
from fluid_build.sources.kinds import KINDS, ServerKind
from fluid_build.sources.neighbourhood import stray
from fluid_build.sources.server_address import ServerAddress, server_address
from fluid_build.transform.proof.manifest import MANIFEST_FILE, Manifest, place_of


def allowed_place(manifest: Manifest, folder: Path, command: Sequence[str]) -> str:
    """Where a folder says that its source is, if it may choose that or its user confirms it.

    ``command`` is the command line that is asked for, so that it can be said whole with ``--uri``.
    Raises NotTrustedError where nobody can be asked, or the answer is no; nothing was contacted
    then.
    """
    place = place_of(manifest, folder)
    kind = KINDS[manifest.source.kind]
    if isinstance(kind, ServerKind):
        return _allowed_server(place, kind, command)
    outside = stray(place, folder)
    if outside is None:
        return place
    where = redact(str(outside))
    _confirm(
        f"{MANIFEST_FILE} says that the data is at {where}, which isn't beside the folder.",
        {},
        "Read it?",
        refusal=f"{MANIFEST_FILE} leads to {where}, and a folder only chooses files in or beside"
        " itself.",
        hint="If that is where the data is, run:",
        command=[*command, "--uri", place],
    )
    return place


def check_code_trusted(folder: Path, command: Sequence[str]) -> None:
    """Ask whether a folder's dbt project may run; NotTrustedError where the answer isn't yes."""
    project = f"{folder / 'dbt'}"
    _confirm(
        f"dbt runs the code of the project in {project}, as you and with your passwords at hand.",
        {},
        "Do you trust whoever wrote it?",
        refusal=f"Building with dbt runs the code of the project in {project}.",
        hint="If you trust whoever wrote it, run:",
        command=[*command, "--trust"],
    )


def _allowed_server(place: str, kind: ServerKind, command: Sequence[str]) -> str:
    try:
        server = server_address(place, kind)
    except ValueError as error:
        raise NotTrustedError(
            f"{MANIFEST_FILE} names a server in a way that can't be confirmed: {error}.",
            hint=f"Name the server yourself, with --uri {kind.schemes[0]}://user@host:port/database.",
        ) from None
    parts = _parts(server, kind)
    named = ", ".join(f"{name} {value}" for name, value in parts.items())
    _confirm(
        f"{MANIFEST_FILE} says that the data is on a server:",
        parts,
        "Connect to it? If it asks for a password, it gets yours.",
        refusal=f"{MANIFEST_FILE} names a server ({named}), and a folder never chooses which"
        " server is contacted.",
        hint="If that is where the data is, run:",
        command=[*command, "--uri", server.uri],
    )
    return server.uri


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
    what: str,
    details: Mapping[str, str],
    question: str,
    *,
    refusal: str,
    hint: str,
    command: Sequence[str],
) -> None:
    """Ask on a terminal; NotTrustedError where there is none, or the answer isn't yes."""
    refused = NotTrustedError(refusal, hint=hint, command=shlex.join(command))
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise refused
    screen.tell(what)
    for name, value in details.items():
        screen.tell(f"  {name:<9} {value}")
    screen.ask(f"{question} [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise refused
