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
    """Tell on stderr what a format does not say: how many values, and of which kinds."""
    if not unsaid:
        screen.tell(f"Everything is said in {format_}.")
        return
    values = counted(sum(kind.count for kind in unsaid), "value")
    named = ", ".join(f"{kind.path} ({kind.count})" for kind in unsaid[:_SHOWN])
    more = len(unsaid) - _SHOWN
    rest = f" and {counted(more, 'more kind')} (--json lists them)" if more > 0 else ""
    screen.tell(f"{format_} cannot say {values}: {named}{rest}.")


def unsaid_as_json(unsaid: Sequence[Unsaid]) -> list[dict[str, object]]:
    """What a format does not say, for ``--json``."""
    return [{"path": kind.path, "count": kind.count} for kind in unsaid]
