"""What the documents show is what the commands print."""

from pathlib import Path

import pytest

from tests.documents import DOCUMENTS, ROOT, agrees, read_transcripts, run_command


@pytest.mark.parametrize("names", [DOCUMENTS[:1], DOCUMENTS], ids=["readme", "all"])
def test_every_transcript_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """Run again in one empty folder, each command prints what the documents show."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))  # other tests leave memories
    for name in names:
        transcripts = read_transcripts((ROOT / name).read_text(encoding="utf-8"))
        assert transcripts
        for transcript in transcripts:
            output = run_command(transcript.command)
            if output is not None:
                assert agrees(transcript.output, output), (
                    f"{name}: $ {transcript.command}\n{output}"
                )
