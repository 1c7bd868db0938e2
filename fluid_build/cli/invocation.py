"""How the user calls commands: what is printed to be pasted has to work where they are."""

import importlib.util
import os
import shlex
import shutil
import sys
from pathlib import Path


def fluid(*arguments: str) -> str:
    """A command line of ours, fit to be pasted into a shell in the current folder."""
    return " ".join((fluid_command(), shlex.join(arguments))).strip()


def fluid_command() -> str:
    """What calls this command: its name where the shell finds it, else the path to it, quoted."""
    here = Path(sys.argv[0])
    if here.name == "main.py" and here.parent == Path(__file__).parent:
        return f"{_spelled(Path(sys.executable))} -m fluid_build.cli.main"
    if here.stem != "fluid" or not here.exists():
        return "fluid"  # It was called by a program, so that nobody knows how a person would.
    return _spelled(here)


def is_dbt_installed() -> bool:
    """Whether our environment has dbt."""
    return _dbt().exists()


def dbt_command(folder: Path) -> str:
    """What calls the dbt of our environment from inside a folder, once it is installed."""
    return _spelled(_dbt(), folder)


def _dbt() -> Path:
    return Path(sys.executable).with_name("dbt.exe" if os.name == "nt" else "dbt")


def install_command(*packages: str) -> str:
    """A command line that installs packages into our environment."""
    python = _spelled(Path(sys.executable))
    # An environment that uv made has no pip of its own.
    pip = f"{python} -m pip install"
    install = pip if importlib.util.find_spec("pip") else f"uv pip install --python {python}"
    return f"{install} {shlex.join(packages)}"


def _spelled(program: Path, folder: Path = Path()) -> str:
    """A program's name if the shell would find just it, else the shortest path from a folder."""
    on_path = shutil.which(program.name)
    is_found = on_path is not None and program.exists() and program.samefile(on_path)
    if is_found and _is_shells_own_path():
        return shlex.quote(program.name)
    absolute = os.path.abspath(program)  # noqa: PTH100  a link to it must stay one
    if not Path(absolute).is_relative_to(Path.cwd()):
        return shlex.quote(absolute)
    relative = os.path.relpath(absolute, os.path.realpath(folder))
    return shlex.quote(relative if os.sep in relative else f".{os.sep}{relative}")


def _is_shells_own_path() -> bool:
    """Whether ``PATH`` is the user's shell's, as far as can be told.

    ``uv run``, ``poetry run`` and their like put an environment in front of it, for one command.
    Shells say in ``_`` what they started.
    """
    started = os.environ.get("_", "")
    ours = Path(started).name.startswith(("fluid", "python"))
    return "UV" not in os.environ and (not started or ours)
