"""The ways to ask for help, and the ways to start the command."""

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence

import pytest

from fluid_build import __version__
from tests.cli.running import Fluid
from tests.commands import KnownCommand, known_commands


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


def paragraphs(fluid: Fluid, known: KnownCommand) -> list[str]:
    """Return the paragraphs of a command's help, the usage first."""
    shown = fluid(*known.words[1:], "--help")
    assert shown.code == 0, shown.err
    assert not shown.err
    return shown.out.split("\n\n")


def examples(text: Sequence[str]) -> list[str]:
    """Return the calls below "Example:" in the paragraphs of a help."""
    (paragraph,) = [each for each in text if each.lstrip().startswith("Example:")]
    return [line.strip() for line in paragraph.replace("Example:", "").splitlines()]


def test_every_command_says_in_a_sentence_what_it_does(fluid: Fluid) -> None:
    for known in known_commands():
        usage, summary, *_ = paragraphs(fluid, known)
        expected = " ".join(known.words).replace("DIR", "{DIR}")
        assert usage.startswith(f"Usage: {expected} ")
        assert re.fullmatch(r"\s*[A-Z][^.]+\.(?s:.*)", summary), summary


def test_every_command_has_an_example_that_it_understands(fluid: Fluid) -> None:
    """What an example passes is parsed by the command itself."""
    for known in known_commands():
        if known.is_group:
            continue
        for example in examples(paragraphs(fluid, known)):
            program, *words = shlex.split(example)
            assert program == "fluid"
            for word in known.words[1:]:
                if word == "DIR":
                    words.pop(0)
                elif words[0] == word:
                    words.remove(word)
                else:  # An example may use a shorter way to the same command.
                    assert known.name in ("fluid forge guided", "fluid forge data-model diff")
            known.command.make_context(known.words[-1], words)
