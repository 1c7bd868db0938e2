"""What a user sees when something goes wrong: a sentence on what happened, one on what to do."""

import errno
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

import typer

from fluid_build.cli.error_pages import code_of
from fluid_build.cli.invocation import fluid_command, install_command
from fluid_build.errors import (
    FaultyFileError,
    FluidError,
    MissingExtraError,
    UndecidedError,
    VersionsLostError,
)
from fluid_build.extras import install_command as pip_command
from fluid_build.report.terminal.visible_text import for_stream, visible
from fluid_build.secrets import redact
from fluid_build.sources.text_values.personal_text import without_values
from fluid_build.text import as_sentence

DONE = 0
CHECK_FAILED = 1
NOT_DONE = 2
CHANGES = 3
"""There is something to do, which `fluid plan` says: for a script that decides what comes next."""
NEEDS_DECISION = 4
READER_GONE = 128 + 13
"""What the shell reports of a process that SIGPIPE ended: its reader closed the pipe."""

_LABEL = "Error: "
_INSTALL = "pip install "
_MOST_DETAILS = 20
"""Lines about one failure: as many as a terminal shows with the prompt still in sight."""
_NO_BREAK = "\0"
"""Stands for a blank while text is wrapped; text that is shown never contains it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What to show: ``message`` says what happened, ``hint`` what to do about it.

    ``commands`` are command lines to paste, if the hint mentions any. ``details`` are all that the
    message counts or names. A program gets them, and a person where the message ``counts`` them,
    each on a line of its own.
    """

    message: str
    hint: str
    commands: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    counts: bool = False


def explain(error: Exception) -> Failure:
    """Return the two sentences for an error; an unforeseen error is reported as a bug."""
    if isinstance(error, MissingExtraError):
        return Failure(error.message, "Install it:", (pip_command(error.extra),), error.details)
    if isinstance(error, UndecidedError):
        return Failure(error.message, error.hint or "", error.commands, error.details)
    if isinstance(error, FluidError):
        hint = error.hint or "Run the command with --help to see how it is used."
        commands = (error.command,) if error.command else ()
        # The message itself has a single problem of a user's file.
        counts = isinstance(error, FaultyFileError) and len(error.problems) > 1
        return Failure(error.message, hint, commands, error.details, counts)
    if isinstance(error, typer.TyperException):
        # Whoever forgets --uri passes the address, with its password, as a command.
        return Failure(redact(error.format_message()), _usage_hint(error))
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, MemoryError):
        return Failure(
            "The machine ran out of memory.",
            "Close other programs, or read fewer tables at a time (--schema).",
        )
    return Failure(
        f"A bug in Fluid Forge stopped the command ({type(error).__name__}).",
        "Run the same command with --debug and report what it prints, after checking it for "
        "anything private.",
    )


def exit_code_of(error: BaseException) -> int:
    """Return with which code a command ends that an error stopped."""
    if isinstance(error, UndecidedError):
        return NEEDS_DECISION
    return CHECK_FAILED if isinstance(error, VersionsLostError) else NOT_DONE


def _shown_details(failure: Failure) -> list[str]:
    """Return the details that a person sees: a screen of them, and how many are left."""
    details = failure.details if failure.counts else ()
    left = len(details) - _MOST_DETAILS
    return [*details[:_MOST_DETAILS], *([f"and {left:,} more"] if left > 0 else ())]


def _usage_hint(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "fluid"
    # "{DIR}" is how help prints an argument; a command to paste has none of its marks.
    command = path.replace("{", "").replace("}", "")
    return f"Run `{command} --help` to see its options."


def _of_system(error: OSError) -> Failure:
    place = f"{error.filename}: " if error.filename else ""
    reason = error.strerror or type(error).__name__
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return Failure(
            f"{place}the disk is full ({reason}).",
            "Free some space, and run the command again.",
        )
    return Failure(
        f"{place}the system refused access ({reason}).",
        "Check that the path exists and that you have permission to read and write there.",
    )


def show(failure: Failure, stream: TextIO | None = None) -> None:
    """Print a failure: wrapped and coloured on a terminal, elsewhere one line per sentence."""
    stream = stream or sys.stderr
    message, hint = (
        for_stream(visible(_sentence(text)), stream) for text in (failure.message, failure.hint)
    )
    # A command in a hint must work when it is pasted.
    message, hint = (part.replace("`fluid ", f"`{fluid_command()} ") for part in (message, hint))
    indent = " " * len(_LABEL)
    command = [f"{indent}{_pasteable(each)}" for each in failure.commands]
    details = [for_stream(visible(_sentence(detail)), stream) for detail in _shown_details(failure)]
    if not stream.isatty():
        parts = [f"{_LABEL}{message}", *(f"{indent}{part}" for part in (*details, hint)), *command]
        stream.write("\n".join(parts) + "\n")
        return
    below = [line for part in (*details, hint) for line in _wrapped(part, indent, indent)]
    lines = [*_wrapped(message, _LABEL, indent), *below, *command]
    text = "\n".join(lines)
    if _may_colour():
        text = text.replace(_LABEL, f"\x1b[1;31m{_LABEL}\x1b[0m", 1)
    stream.write(text + "\n")


def _pasteable(command: str) -> str:
    """Return a command line as the user has to call it: ours, or our environment's pip."""
    if command.startswith(_INSTALL):
        return visible(install_command(*shlex.split(command.removeprefix(_INSTALL))))
    return visible(re.sub(r"^fluid(?= )", lambda _: fluid_command(), command))


def tell(
    error: BaseException,
    failure: Failure,
    exit_code: int,
    *,
    as_json: bool,
    more: Mapping[str, object] | None = None,
) -> int:
    """Say what went wrong, to a person and as JSON to a program; return the exit code.

    ``more`` is what the command's own document says of it. Every failure of a command is told here.
    """
    show(failure)
    if as_json:
        with suppress(OSError):
            _show_json(failure, code_of(error), exit_code, more or {})
    return exit_code


def _show_json(failure: Failure, code: str, exit_code: int, more: Mapping[str, object]) -> None:
    """Print a failure on stdout, for a program; in ASCII, so that no encoding can spoil it."""
    document = {
        "error": code,
        "message": _sentence(failure.message),
        "hint": _sentence(failure.hint),
        "commands": list(failure.commands),
        "details": list(failure.details),
        "exit_code": exit_code,
        **more,
    }
    sys.stdout.write(f"{json.dumps(document, indent=2)}\n")


def show_traceback(error: BaseException) -> None:
    """Print where an error came from, for ``--debug``."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        sys.stderr.write(visible(without_values(redact(line))) + "\n")


def _sentence(text: str) -> str:
    return as_sentence(" ".join(text.split()))


def _wrapped(text: str, first_indent: str, next_indent: str) -> list[str]:
    """Return the text in lines of the terminal's width; a command in backticks stays whole."""
    whole = re.sub(r"`[^`]*`", lambda command: command[0].replace(" ", _NO_BREAK), text)
    lines = textwrap.wrap(
        whole,
        width=max(40, shutil.get_terminal_size().columns),
        initial_indent=first_indent,
        subsequent_indent=next_indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _may_colour() -> bool:
    return (
        os.name == "posix" and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
