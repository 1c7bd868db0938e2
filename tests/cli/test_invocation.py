"""Printed arguments are what a shell passes on when they are pasted."""

import os
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from fluid_build.cli.invocation import shell_word
from fluid_build.report.terminal.visible_text import visible
from tests.modeling.profiles import NASTY

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
BYTES = st.binary(max_size=8).map(lambda name: os.fsdecode(name.replace(b"\0", b"")))


@settings(max_examples=60)
@given(st.lists(NAMES | BYTES | st.sampled_from([n for n in NASTY if "\0" not in n]), min_size=1))
def test_any_argument_reaches_the_command_as_it_was(arguments: list[str]) -> None:
    """Blanks, quotes, line ends, marks of direction, and names that aren't valid text."""
    words = [shell_word(argument) for argument in arguments]
    assert all(visible(word) == word for word in words)
    command = f"printf '%s\\0' {' '.join(words)}"
    outcome = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    assert outcome.stdout.split(b"\0")[:-1] == [os.fsencode(argument) for argument in arguments]
