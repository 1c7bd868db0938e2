"""Completion in bash, zsh and fish: the scripts, their installation, and what completes a word.

What completes a word is looked up in ``completions.json``, which has every command with its
options: importing the command itself would take a second at each press of the tab key. ``python
tests/documents.py`` writes the file again.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

from fluid_build.errors import OutputError, UsageError, unknown_name

VARIABLE = "_FLUID_COMPLETE"
"""The environment variable with which a script calls us: it says which shell asks."""
DATA = "completions.json"


class OptionData(TypedDict, total=False):
    """An option: its summary, whether it takes a value, and the values that are known."""

    help: str
    takes_value: bool
    values: list[str]


class CommandData(TypedDict, total=False):
    """A command or group: its summary, its options and its commands by name."""

    help: str
    options: dict[str, OptionData]
    commands: "dict[str, CommandData]"


_BASH = """\
_fluid_completion() {
    local IFS=$'\\n'
    COMPREPLY=( $(_FLUID_COMPLETE=bash "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) )
}
complete -o default -o bashdefault -F _fluid_completion fluid
"""
_ZSH = """\
#compdef fluid
_fluid() {
    local -a completions
    completions=("${(@f)$(
        _FLUID_COMPLETE=zsh "${words[1]}" "${(@Q)words[2,CURRENT]}" 2>/dev/null
    )}")
    if [[ -n "${completions[1]}" ]]; then
        _describe fluid completions
    else
        _files
    fi
}
if [[ "${funcstack[1]}" == _fluid ]]; then
    _fluid "$@"
else
    compdef _fluid fluid
fi
"""
_FISH = """\
function __fluid_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l completions (env _FLUID_COMPLETE=fish $words[1] $words[2..-1] 2>/dev/null)
    if test (count $completions) -gt 0
        printf '%s\\n' $completions
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command fluid --no-files --arguments '(__fluid_complete)'
"""
SCRIPTS: Mapping[str, str] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def complete(words: Sequence[str], shell: str) -> None:
    """Print what may take the place of the last word, one completion a line."""
    for value, summary in completions(words):
        sys.stdout.write(_completion_line(value, summary, shell) + "\n")


def completions(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what may take the place of the last word, each with its summary.

    There's nothing where a file or a name is due that only the user knows; the shell then offers
    the files.
    """
    *before, incomplete = [*words] or [""]
    before = before[1:] if before[:1] == ["help"] else before
    if incomplete == "=":  # bash takes `--target=` apart
        before, incomplete = [*before, "="], ""
    command, option = _position(before)
    if option is not None:
        yield from _starting_with(dict.fromkeys(option.get("values", []), ""), incomplete)
    elif incomplete.startswith("-"):
        name, sign, value = incomplete.partition("=")
        if sign:
            values = command.get("options", {}).get(name, {}).get("values", [])
            yield from _starting_with({f"{name}={each}": "" for each in values}, f"{name}={value}")
        else:
            summaries = {name: each.get("help", "") for name, each in _options(command).items()}
            yield from _starting_with(summaries, incomplete)
    else:
        summaries = {
            name: each.get("help", "") for name, each in command.get("commands", {}).items()
        }
        yield from _starting_with(summaries, incomplete)


def _position(before: Sequence[str]) -> tuple[CommandData, OptionData | None]:
    """Return the command that the words lead to, and the option whose value comes next."""
    command, pending = command_data(), None
    for word in before:
        if word == "=":
            continue
        if pending is not None:
            pending = None
        elif word.startswith("-"):
            option = command.get("options", {}).get(word)
            pending = option if option is not None and option.get("takes_value") else None
        elif word in command.get("commands", {}):
            command = command["commands"][word]
    return command, pending


def _options(command: CommandData) -> Mapping[str, OptionData]:
    return {**command.get("options", {}), "--help": {"help": "Show the help"}}


def _starting_with(summaries: Mapping[str, str], incomplete: str) -> Iterator[tuple[str, str]]:
    return (pair for pair in summaries.items() if pair[0].startswith(incomplete))


def _completion_line(value: str, summary: str, shell: str) -> str:
    if shell == "zsh":
        value = value.replace(":", r"\:")
        return f"{value}:{summary}" if summary else value
    return f"{value}\t{summary}" if shell == "fish" and summary else value


def command_data() -> CommandData:
    """Return the root of all commands, as ``completions.json`` has it."""
    data: CommandData = json.loads(Path(__file__).with_name(DATA).read_text("utf-8"))
    return data


def script(shell: str) -> str:
    """Return the script for a shell; raise UsageError for one that has none."""
    if shell not in SCRIPTS:
        raise unknown_name("shell", shell, SCRIPTS)
    return SCRIPTS[shell]


def current_shell() -> str:
    """Return the name of the shell that called us, else of the user's; UsageError if unknown."""
    shellingham: Any = import_module("shellingham")
    try:
        name = str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        name = Path(os.environ.get("SHELL", "")).name
    if not name:
        raise UsageError(
            "Your shell isn't known.", hint="Name it: fluid --show-completion bash, zsh or fish."
        )
    return name


def install(shell: str) -> Path:
    """Write the script to where the shell looks for it, and return that file.

    bash and zsh don't look anywhere by themselves, so a line of their start file leads there.
    Raises OutputError.
    """
    text = script(shell)
    home = Path("~").expanduser()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    path = {
        "bash": data / "fluid/completion.bash",
        "zsh": home / ".zfunc/_fluid",
        "fish": config / "fish/completions/fluid.fish",
    }[shell]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if shell == "bash":
            _add_line(home / ".bashrc", f"source '{path}'")
        elif shell == "zsh":
            _add_line(home / ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit")
    except OSError as error:
        raise OutputError(
            f"{error.filename} can't be written: {error.strerror}.",
            hint=f"Put the output of `fluid --show-completion {shell}` there yourself.",
        ) from None
    return path


def _add_line(path: Path, line: str) -> None:
    """Add a line to the end of a file, unless it's there."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if line not in text.splitlines():
        separator = "" if not text or text.endswith("\n") else "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{separator}{line}\n")
