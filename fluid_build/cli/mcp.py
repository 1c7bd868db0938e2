"""``fluid mcp``: the server that assistants in editors work with, and how to set one up."""

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.option_groups import with_option_groups
from fluid_build.cli.options import Debug
from fluid_build.cli.reading.read_arguments import DataReading
from fluid_build.cli.reading.source_options import split_name
from fluid_build.cli.reading.source_session import temporary_files
from fluid_build.errors import UsageError, unknown_name
from fluid_build.extras import install_command, needs_extra
from fluid_build.secrets import redact, surely_without_passwords
from fluid_build.sources.addresses.kinds import RemoteKind
from fluid_build.sources.options import READ_ALL
from fluid_build.sources.uri import locate
from fluid_build.stated_options import words

_SERVER = "fluid-forge"
_EDITORS: Mapping[str, tuple[str, str]] = {
    "claude-code": ("mcpServers", ".mcp.json in the project's folder"),
    "claude-desktop": ("mcpServers", "claude_desktop_config.json (Settings, Developer)"),
    "cursor": ("mcpServers", ".cursor/mcp.json in the project's folder, or in your home folder"),
    "vscode": ("servers", ".vscode/mcp.json in the project's folder"),
}
"""The editors whose configuration is known: the key above the servers, and the file."""

WorkspaceFolder: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--workspace", metavar="DIR", help="The folder that the assistant may read, and no other."
    ),
]
NamedSources: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME=URI",
        help="A server, or data outside of the workspace, which the assistant knows by its name"
        " alone (repeatable).",
    ),
]
AllowWrite: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-write", help="Let the assistant write decisions and forge folders in DIR."
    ),
]
ShareValues: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--share-values",
        help="Let the assistant see values of columns that aren't personal; otherwise it sees names"
        " and figures only.",
    ),
]


@with_option_groups
def serve(
    context: typer.Context,
    workspace: WorkspaceFolder = Path(),
    source: NamedSources = None,
    allow_write: AllowWrite = False,
    share_values: ShareValues = False,
    read: DataReading = READ_ALL,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP on this machine instead of stdio.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="NAME", help="With --http: a loopback address.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port",
            metavar="N",
            min=0,
            max=65535,
            help="With --http: the port; 0 is any free one.",
        ),
    ] = 8765,
    _debug: Debug = False,
) -> int:
    """Serve an assistant on stdin and stdout, or over HTTP on this machine.

    Your editor starts it; `fluid mcp config` prints what to tell the editor. The assistant can
    profile data, check keys and relationships on all rows, propose decisions, and forge. It stays
    in the workspace, and it writes nothing unless you allow that.

    The options on reading apply to every source as far as its kind takes them; --views, to named
    sources alone.

    Over HTTP, clients send a token: the value of FLUID_MCP_TOKEN, or a new one, shown once on
    stderr.

    \b
    Example:  fluid mcp serve --workspace ~/shop --source crm=postgresql://reader@db/crm
    """
    named = _named_sources(source or ())
    from fluid_build.assistants.settings import workspace_settings

    with needs_extra("mcp", "MCP"):
        from fluid_build.assistants.serving import serve_on_http, serve_on_stdio

    settings = workspace_settings(
        workspace, named, read, allow_write=allow_write, share_values=share_values
    )
    with temporary_files(context.obj):
        try:
            if http:
                serve_on_http(settings, host, port, _show_address)
            else:
                if sys.stdin.isatty():
                    messages.tell(
                        "Waiting for an MCP client on stdin. Usually an editor starts this command:"
                        " see `fluid mcp config`. Ctrl-C ends it."
                    )
                serve_on_stdio(settings)
        except KeyboardInterrupt:
            # That's how a server ends, so it's no failure.
            return failures.DONE
    return failures.DONE


@with_option_groups
def show_config(
    editor: Annotated[
        str,
        typer.Option("--editor", metavar="NAME", help=f"One of {', '.join(_EDITORS)}."),
    ] = "claude-code",
    workspace: WorkspaceFolder = Path(),
    source: NamedSources = None,
    allow_write: AllowWrite = False,
    share_values: ShareValues = False,
    read: DataReading = READ_ALL,
    _debug: Debug = False,
) -> int:
    """Print what to put into an editor's configuration.

    The file that it goes into is named on stderr. Passwords aren't put into it: the server takes
    them from the environment, such as PGPASSWORD, or from ~/.pgpass.

    \b
    Example:  fluid mcp config --editor cursor --allow-write
    """
    if editor not in _EDITORS:
        raise unknown_name("editor", editor, _EDITORS)
    if not workspace.is_dir():
        raise UsageError(f"{workspace} isn't a folder.", hint="Pass a folder with --workspace.")
    line = ["mcp", "serve", "--workspace", str(workspace.resolve())]
    for name, uri in _named_sources(source or ()).items():
        line += ["--source", f"{name}={_from_anywhere(uri)}"]
    line += ["--allow-write"] if allow_write else []
    line += ["--share-values"] if share_values else []
    line += words(read)
    key, file = _EDITORS[editor]
    kind = {"type": "stdio"} if editor == "vscode" else {}
    server = {**kind, "command": _own_command(), "args": line}
    _note_missing_extra()
    messages.tell(f"Put this into {file}:")
    sys.stdout.write(json.dumps({key: {_SERVER: server}}, indent=2) + "\n")
    return failures.DONE


def _named_sources(texts: Sequence[str]) -> dict[str, str]:
    """Return URIs by name; UsageError for one without a name or a name that's given twice."""
    named: dict[str, str] = {}
    for text in texts:
        name, uri = split_name(text)
        if not name:
            raise UsageError(
                f"--source {redact(text)} has no name.",
                hint="Write it as NAME=URI, such as crm=postgresql://user@host/crm.",
            )
        if named.setdefault(name, uri) != uri:
            raise UsageError(f"--source names two sources {name}.", hint="Rename one of them.")
    return named


def _without_password(uri: str) -> str:
    bare = surely_without_passwords(uri)
    if bare is None:
        raise UsageError(
            f"The password in {redact(uri)} can't be told apart from the rest.",
            hint="Leave it out: the server takes it from the environment.",
        )
    if bare != uri:
        messages.tell("The password is left out: put it into the environment or ~/.pgpass.")
    return bare


def _own_command() -> str:
    """Return the path of this command: an editor may not have it on its own path."""
    command = shutil.which(sys.argv[0]) or shutil.which("fluid")
    return _without_dots(command) if command else "fluid"


def _from_anywhere(uri: str) -> str:
    """Return a URI or path that doesn't depend on the folder in which an editor starts a server."""
    address = locate(uri)
    if isinstance(address.kind, RemoteKind):
        return _without_password(uri)
    return _without_dots(address.place)


def _without_dots(path: str) -> str:
    # A link is kept: the command in a virtual environment may be one.
    return os.path.abspath(path)  # noqa: PTH100


def _note_missing_extra() -> None:
    if importlib.util.find_spec("mcp") is None:
        messages.tell(f"Before the editor starts it, install the server: {install_command('mcp')}")


def _show_address(url: str, new_token: str | None) -> None:
    messages.tell(f"Serving at {url}")
    if new_token is not None:
        messages.tell(f"Token, shown once: {new_token}")
