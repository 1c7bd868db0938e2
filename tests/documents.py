"""The transcripts in the documents: found, run again, and compared or written anew.

A block fenced as ``console`` holds commands after ``$`` and what each of them prints on stdout. A
line ``[...]`` stands for lines that are left out. ``python tests/documents.py`` writes all
blocks that leave nothing out anew.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run

ROOT = Path(__file__).parent.parent
DOCUMENTS = ("README.md", "docs/commands.md", "docs/json.md")
LEFT_OUT = "[...]"
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_MADE = "make "
_MADE_WITH = ".venv/bin/fluid "


@dataclass(frozen=True)
class Transcript:
    """A command and what a document says that it prints."""

    command: str
    output: str


def transcripts(document: str) -> list[Transcript]:
    """Every command of a document with its output, in order."""
    found = []
    for block in _BLOCK.findall(document):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append(Transcript(command, output))
    return found


def printed(command: str) -> str | None:
    """What a command prints, run in the current folder; None for one that is not ours."""
    if command.startswith(_MADE):
        made = printed(command.replace(_MADE, "fluid ", 1))
        return made and made.replace("\n  fluid ", f"\n  {_MADE_WITH}")
    program, *arguments = shlex.split(command)
    if program != "fluid":
        return None
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        run(arguments, Interrupts())
    out.seek(0)
    return out.read()


def agrees(said: str, real: str) -> bool:
    """Whether the output is what was said; a line ``[...]`` stands for any lines."""
    parts = (re.escape(part) for part in re.split(rf"^{re.escape(LEFT_OUT)}\n", said, flags=re.M))
    return re.fullmatch(r"(?s:.*)".join(parts), real) is not None


def refreshed(document: str) -> str:
    """The document with the output of every command as it is now."""

    def block(match: re.Match[str]) -> str:
        text = ""
        for each in transcripts(f"```console\n{match.group()}```\n"):
            real = printed(each.command)
            keep = real is None or LEFT_OUT in each.output
            text += f"$ {each.command}\n{each.output if keep else real}"
        return text

    return _BLOCK.sub(block, document)


def main() -> None:
    os.environ["COLUMNS"] = "80"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in DOCUMENTS:
            path = ROOT / name
            path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write("Written anew: " + ", ".join(DOCUMENTS) + "\n")


if __name__ == "__main__":
    main()
