"""What ``fluid export`` and ``fluid import`` share: one document, to stdout or to a file."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fluid_build.artifacts import write_artifacts
from fluid_build.cli import screen
from fluid_build.contract.exports.format import Unsaid
from fluid_build.errors import OutputError, UsageError
from fluid_build.text import counted

OutFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("-o", "--out", metavar="FILE", help="Where to write it; stdout by default."),
]
_SHOWN = 8


def check_target(out: Path | None, source: Path) -> None:
    """Refuse to write a document over the one that it is made from."""
    if out is not None and os.path.realpath(out) == os.path.realpath(source):
        raise UsageError(
            f"{out} is the document that is read.",
            hint="Name another file for the result.",
        )


def write_document(text: str, out: Path | None) -> None:
    """Write a document whole or not at all: to the file, or to stdout if none is named.

    OutputError where it cannot be written.
    """
    if out is not None:
        write_artifacts(out.parent, {out.name: text})
        return
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        raise OutputError(
            f"The document holds characters that {sys.stdout.encoding} cannot write.",
            hint="Write it to a file with -o, or set PYTHONIOENCODING=utf-8.",
        ) from None
    sys.stdout.write(text)


def tell_unsaid(unsaid: Sequence[Unsaid], format_: str) -> None:
    """Say on stderr what a format has no place for: how many values, and where they are."""
    if not unsaid:
        screen.tell(f"{format_} has a place for everything in the contract.")
        return
    values = counted(sum(part.count for part in unsaid), "value")
    screen.tell(f"{format_} has no place for {values}: {name_parts(unsaid)}.")


def name_parts(unsaid: Sequence[Unsaid]) -> str:
    """Return the places of what a format doesn't say, each with its number of values."""
    names = ", ".join(f"{part.path} ({part.count})" for part in unsaid[:_SHOWN])
    more = len(unsaid) - _SHOWN
    return names + (f" and {counted(more, 'more place')} (--json lists them)" if more > 0 else "")


def unsaid_as_json(unsaid: Sequence[Unsaid]) -> list[dict[str, object]]:
    """Return what a format doesn't say, for ``--json``."""
    return [{"path": part.path, "count": part.count} for part in unsaid]
