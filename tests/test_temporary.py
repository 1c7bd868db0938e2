"""Temporary folders: a later run removes those whose owner was killed, and no other."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fluid_build.temporary import PREFIX, owned_folder

OWNER = """
import sys
from fluid_build.temporary import owned_folder
folder = owned_folder()
(folder.path / "staged.db").write_text("rows")
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def _owner(place: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_goes_with_its_block() -> None:
    """It is there inside, private, and gone afterwards."""
    with owned_folder() as folder:
        assert folder.path.stat().st_mode & 0o077 == 0
        (folder.path / "file").write_text("rows")
    assert not folder.path.exists()


def test_a_killed_owners_folder_is_removed_by_the_next_run(place: Path) -> None:
    """SIGKILL leaves it behind; whoever comes next removes it."""
    process, left = _owner(place)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (left / "staged.db").exists()
    with owned_folder():
        assert not left.exists()


def test_a_living_owners_folder_is_left_alone(place: Path) -> None:
    """Another run at work keeps its files."""
    process, theirs = _owner(place)
    with process, owned_folder():
        assert (theirs / "staged.db").exists()
        process.communicate("")


def test_a_run_keeps_its_own_folders(place: Path) -> None:
    """A second folder of the same process doesn't take the first for abandoned."""
    with owned_folder() as first, owned_folder() as second:
        assert first.path.exists()
        assert second.path.exists()


def test_what_is_not_ours_is_left_alone(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Neither a folder without our mark nor what a link leads to is touched."""
    (place / f"{PREFIX}of-others").mkdir()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / ".owner").write_text("")
    (place / f"{PREFIX}link").symlink_to(elsewhere)
    with owned_folder():
        assert (place / f"{PREFIX}of-others").exists()
        assert (elsewhere / ".owner").exists()
