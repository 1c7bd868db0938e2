"""The ways to ask for help, and the ways to start the command."""

import re
import subprocess
import sys

import pytest

from fluid_build import __version__
from tests.cli.running import Fluid


@pytest.mark.parametrize(
    "command", ["", "forge", "forge data-model", "forge data-model from-source", "runs list"]
)
def test_help_is_shown_however_it_is_asked_for(fluid: Fluid, command: str) -> None:
    words = command.split()
    shown = fluid(*words, "--help")
    assert shown.code == 0
    assert fluid(*words, "-h") == fluid("help", *words) == shown
    assert re.search(r"^Usage: fluid", shown.out)


def test_help_has_help_itself(fluid: Fluid) -> None:
    assert "fluid help" in fluid("help", "--help").out
    assert fluid("help", "help").out == fluid("help", "-h").out


def test_no_summary_of_a_command_is_cut_off(fluid: Fluid) -> None:
    for words in ([], ["forge"]):
        commands = fluid(*words, "--help").out.partition("Commands:")[2]
        assert not re.search(r"\.\.\.$", commands, re.MULTILINE)


def test_help_of_no_command_guesses(fluid: Fluid) -> None:
    outcome = fluid("help", "profiel")
    assert outcome.code == 2
    assert "profile" in outcome.err


def test_the_package_is_the_command() -> None:
    command = [sys.executable, "-m", "fluid_build", "--version"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert process.stdout == f"fluid {__version__}\n"
