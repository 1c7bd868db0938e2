"""The command as a whole: its help, its start, its ends."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import fluid_build
from fluid_build.cli.main import LazyCommand, command_tree, imported
from tests.cli.running import Fluid

COMMANDS = (
    ("demo",),
    ("profile",),
    ("forge", "data-model", "from-source"),
    ("forge", "data-model", "from-ddl"),
    ("validate",),
)


def lazy_commands(group: Any = None) -> Iterator[LazyCommand]:
    group = group or command_tree()
    for command in (group.get_command(None, name) for name in group.list_commands(None)):
        if isinstance(command, LazyCommand):
            yield command
        elif hasattr(command, "list_commands"):
            yield from lazy_commands(command)


def test_the_version_is_printed(fluid: Fluid) -> None:
    """``fluid --version`` prints the package's version and ends well."""
    outcome = fluid("--version")
    assert (outcome.code, outcome.out) == (0, f"fluid {fluid_build.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself_with_an_example(
    fluid: Fluid, command: tuple[str, ...]
) -> None:
    """``--help`` gives one sentence and an example that names the command."""
    outcome = fluid(*command, "--help")
    assert outcome.code == 0
    assert f"Example:  fluid {' '.join(command)}" in outcome.out
    assert "--debug" in outcome.out


@pytest.mark.parametrize("command", list(lazy_commands()), ids=lambda command: command.place)
def test_a_summary_is_the_first_sentence_of_the_commands_help(command: LazyCommand) -> None:
    """What the list of commands says is what the command says of itself."""
    documentation = inspect.getdoc(imported(command.place))
    assert documentation is not None
    assert documentation.splitlines()[0] == command.help


@pytest.mark.parametrize("arguments", [(), ("config",), ("forge", "data-model")], ids=" ".join)
def test_a_group_without_a_command_shows_its_help_and_fails(
    fluid: Fluid, arguments: tuple[str, ...]
) -> None:
    """Calling a group alone is wrong usage, answered with the help, on stderr."""
    outcome = fluid(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Usage: fluid")


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("profle",), "Did you mean 'profile'?"),
        (("profile",), "Missing argument 'SOURCE'."),
        (("profile", "x", "--jsn"), "No such option: --jsn (Possible options: --json)."),
        (("profile", "a", "b"), "Got unexpected extra argument(s) (b)."),
        (("forge", "data-model", "from-source"), "Missing option '--uri'."),
        (("validate", "--technique"), "No such option: --technique"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage_is_two_sentences_and_code_2(
    fluid: Fluid, arguments: tuple[str, ...], output: str
) -> None:
    """A usage error says what is wrong and where to read more, in the form of all other errors."""
    outcome = fluid(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    happened, to_do = outcome.err.splitlines()
    assert happened.startswith("Error: ")
    assert output in happened
    assert re.fullmatch(r"       Run `fluid[a-z -]* --help` to see its options\.", to_do)


def test_start_up_imports_nothing_heavy() -> None:
    """``fluid --help`` waits for no engine, parser, validator or painter of tables."""
    heavy = {"duckdb", "sqlglot", "yaml", "pydantic", "rich", "sqlite3", "stdnum", "asyncio"}
    script = (
        "import sys\n"
        "from fluid_build.cli.interrupts import Interrupts\n"
        "from fluid_build.cli.main import run\n"
        "run(['--help'], Interrupts())\n"
        f"print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert process.stderr == "[]\n"
