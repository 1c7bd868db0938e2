"""Every command there is, as its own help shows it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fluid_build.cli.main import command_tree


@dataclass(frozen=True)
class KnownCommand:
    """A command or a group of commands; ``words`` call it, and DIR stands for a folder."""

    words: tuple[str, ...]
    command: Any

    @property
    def is_group(self) -> bool:
        return hasattr(self.command, "list_commands")

    @property
    def name(self) -> str:
        return " ".join(word for word in self.words if word != "DIR")


def known_commands() -> Iterator[KnownCommand]:
    """Yield ``fluid``, and all commands below it."""
    yield from _below((), "fluid", command_tree())


def _below(path: tuple[str, ...], word: str, command: Any) -> Iterator[KnownCommand]:
    if hasattr(command, "load"):
        command = command.load()
    words = (*path, word)
    yield KnownCommand(words, command)
    if hasattr(command, "list_commands"):
        has_folder = any(each.param_type_name == "argument" for each in command.params)
        for name in command.list_commands(None):
            below = (*words, "DIR") if has_folder else words
            yield from _below(below, name, command.get_command(None, name))
