"""What the documents show is what the commands print."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fluid_build.cli.main import command_tree
from tests.documents import DOCUMENTS, ROOT, agrees, read_transcripts, run_command


def test_every_transcript_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run again in one empty folder, each command prints what the documents show."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))  # other tests leave memories
    for name in DOCUMENTS:
        transcripts = read_transcripts((ROOT / name).read_text(encoding="utf-8"))
        assert transcripts
        for transcript in transcripts:
            output = run_command(transcript.command)
            if output is not None:
                assert agrees(transcript.output, output), (
                    f"{name}: $ {transcript.command}\n{output}"
                )


def known_commands(group: Any, name: str) -> Iterator[str]:
    """Every command and group as it is called: ``fluid``, ``fluid profile`` …"""
    yield name
    for word in group.list_commands(None):
        command = group.get_command(None, word)
        if hasattr(command, "list_commands"):
            yield from known_commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}"


def test_every_command_is_described() -> None:
    """The command reference shows the help of each command there is."""
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    for command in known_commands(command_tree(), "fluid"):
        assert f"$ {command} --help" in text


def test_links_between_documents_lead_somewhere() -> None:
    """No relative link of a document is broken."""
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"
