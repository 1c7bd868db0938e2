"""Command lines as the user has to type them in the current folder, so that pasting works."""

import importlib.util
import os
import shlex
import shutil
import string
import sys
from pathlib import Path

from fluid_build.report.terminal.visible_text import visible

_PLAIN = frozenset(string.ascii_letters + string.digits + " ._/:=@%+,-")
"""Characters that mean themselves in ``$'…'``; all others are written as bytes."""


def fluid(*arguments: str) -> str:
    """Return a command line of ours that can be pasted into a shell in the current folder."""
    return " ".join((fluid_command(), *map(shell_word, arguments)))


def shell_word(argument: str) -> str:
    """Return an argument as a word of a shell, without a character that acts on a terminal.

    Such a character, or a byte of a file's name that isn't text, is written as its bytes in
    ``$'…'``, which bash, zsh and ksh understand.
    """
    if visible(argument) == argument:
        return shlex.quote(argument)
    plain = (
        chr(byte) if chr(byte) in _PLAIN else f"\\{byte:03o}" for byte in os.fsencode(argument)
    )
    return f"$'{''.join(plain)}'"


def path_from_here(path: str) -> str:
    """Return an absolute path as it's shortest to type: relative, unless that is a long way up."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) and len(relative) > len(path) else relative


def fluid_command() -> str:
    """Return what calls this command: its name if the shell finds it, else its quoted path."""
    here = Path(sys.argv[0])
    if here.name == "main.py" and here.parent == Path(__file__).parent:
        return f"{_program_path(Path(sys.executable))} -m fluid_build.cli.main"
    if here.stem != "fluid" or not here.exists():
        return "fluid"  # A program called it, so how a person would is unknown.
    return _program_path(here)


def is_dbt_installed() -> bool:
    """Return whether our environment has dbt."""
    return _dbt().exists()


def dbt_command(folder: Path) -> str:
    """Return what calls our environment's dbt from inside a folder, once it is installed."""
    return _program_path(_dbt(), folder)


def _dbt() -> Path:
    return Path(sys.executable).with_name("dbt.exe" if os.name == "nt" else "dbt")


def install_command(*packages: str) -> str:
    """Return a command line that installs packages into our environment."""
    return f"{_installer('install')} {shlex.join(packages)}"


def uninstall_command(*packages: str) -> str:
    """Return a command line that removes packages from our environment."""
    return f"{_installer('uninstall')} {shlex.join(packages)}"


def _installer(command: str) -> str:
    """Return a command of our environment's pip, or of uv where it made one without pip."""
    python = _program_path(Path(sys.executable))
    if importlib.util.find_spec("pip"):
        return f"{python} -m pip {command}"
    return f"uv pip {command} --python {python}"


def _program_path(program: Path, folder: Path = Path()) -> str:
    """Return a program's name if the shell finds that very one, else its path from a folder."""
    on_path = shutil.which(program.name)
    is_found = on_path is not None and program.exists() and program.samefile(on_path)
    if is_found and _is_shells_own_path():
        return shlex.quote(program.name)
    absolute = os.path.abspath(program)  # noqa: PTH100  resolve() would follow links
    if not Path(absolute).is_relative_to(Path.cwd()):
        return shlex.quote(absolute)
    relative = os.path.relpath(absolute, os.path.realpath(folder))
    return shlex.quote(relative if os.sep in relative else f".{os.sep}{relative}")


def _is_shells_own_path() -> bool:
    """Return whether ``PATH`` is the one of the user's shell, as far as can be told.

    ``uv run``, ``poetry run`` and the like put an environment in front of it for one command.
    Shells set ``_`` to the program that they started.
    """
    started = os.environ.get("_", "")
    ours = Path(started).name.startswith(("fluid", "python"))
    return "UV" not in os.environ and (not started or ours)
