"""The transcripts in the documents: read, run again, and compared or rewritten.

A block fenced as ``console`` holds commands after ``$`` and what each of them prints on stdout. A
line ``[...]`` stands for omitted lines. ``python tests/documents.py`` rewrites all blocks that omit
nothing.
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
DOCUMENTS = (
    "README.md",
    "docs/own-data.md",
    "docs/overruling.md",
    "docs/second-day.md",
    "docs/commands.md",
    "docs/json.md",
)
"""Those with transcripts, in the order in which they're run: each goes on with the folders of those
before it."""
OMITTED = "[...]"
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_MAKE = "make "
_FLUID_OF_MAKE = ".venv/bin/fluid "
_OUR_COMMAND = re.compile(r"^(  (?:# [\w ]+: )?)fluid ", re.MULTILINE)


@dataclass(frozen=True)
class Transcript:
    """A command, and what it prints according to a document."""

    command: str
    output: str


def read_transcripts(document: str) -> list[Transcript]:
    """Return every command of a document with its output, in order."""
    transcripts = []
    for block in _BLOCK.findall(document):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            transcripts.append(Transcript(command, output))
    return transcripts


def run_command(command: str) -> str | None:
    """Run a command in the current folder and return what it prints; None if it isn't ours."""
    if command.startswith(_MAKE):
        output = run_command(command.replace(_MAKE, "fluid ", 1))
        return output and _OUR_COMMAND.sub(rf"\1{_FLUID_OF_MAKE}", output)
    program, *arguments = shlex.split(command)
    if program != "fluid":
        return None
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        run(arguments, Interrupts())
    out.seek(0)
    return out.read()


def agrees(transcript: str, output: str) -> bool:
    """Return True if the output is that of the transcript, whose ``[...]`` stands for any lines."""
    parts = (
        re.escape(part) for part in re.split(rf"^{re.escape(OMITTED)}\n", transcript, flags=re.M)
    )
    return re.fullmatch(r"(?s:.*)".join(parts), output) is not None


def refresh(document: str) -> str:
    """Return the document with the current output of every command."""

    def block(match: re.Match[str]) -> str:
        text = ""
        for transcript in read_transcripts(f"```console\n{match.group()}```\n"):
            output = run_command(transcript.command)
            if output is None or OMITTED in transcript.output:
                output = transcript.output
            text += f"$ {transcript.command}\n{output}"
        return text

    return _BLOCK.sub(block, document)


def main() -> None:
    os.environ["COLUMNS"] = "80"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in DOCUMENTS:
            path = ROOT / name
            path.write_text(refresh(path.read_text(encoding="utf-8")), encoding="utf-8")
    # A script finds the modules next to it, and not those of the folder that it's run in.
    sys.path.insert(0, str(ROOT))
    from tests import completions

    completions.main()
    sys.stdout.write("Rewrote " + ", ".join((*DOCUMENTS, completions.PLACE.name)) + "\n")


if __name__ == "__main__":
    main()
