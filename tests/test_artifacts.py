"""Artifacts are written whole or not at all."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from fluid_build.artifacts import restore_interrupted, write_artifacts
from fluid_build.errors import OutputError


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its relative name; hidden ones and empty folders too."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"<folder>"
        for path in sorted(folder.rglob("*"))
    }


def test_writes_text_and_bytes_into_a_new_folder(tmp_path: Path) -> None:
    """A missing folder is made, with its parents, and holds the files and nothing else."""
    out = tmp_path / "a" / "b"
    paths = write_artifacts(out, {"z.txt": "grün\n", "a.bin": b"\x00\xff"})
    assert paths == (out / "a.bin", out / "z.txt")
    assert tree(tmp_path / "a") == {
        "b": b"<folder>",
        "b/a.bin": b"\x00\xff",
        "b/z.txt": "grün\n".encode(),
    }


def test_files_and_folders_get_the_permissions_of_the_users_umask(tmp_path: Path) -> None:
    """The output is as readable as anything else the user makes, not private to a temp folder."""
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "file").write_text("")
    write_artifacts(tmp_path / "out", {"file": ""})
    assert (tmp_path / "out").stat().st_mode == plain.stat().st_mode
    assert (tmp_path / "out" / "file").stat().st_mode == (plain / "file").stat().st_mode


def test_replaces_its_files_and_leaves_others_alone(tmp_path: Path) -> None:
    """In a folder that exists, files of the same names are replaced and the rest stays."""
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "a.txt").write_text("old")
    write_artifacts(tmp_path, {"a.txt": "new", "sub/b.txt": "b"})
    assert tree(tmp_path) == {
        "a.txt": b"new",
        "mine.txt": b"mine",
        "sub": b"<folder>",
        "sub/b.txt": b"b",
    }


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a/../../x", "", "a//b", ".", "C:\\x", "C:x", "a\\b", "a\0b", "a/"]
)
def test_refuses_names_that_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    """A name that is not plainly inside the folder is refused, and nothing is written."""
    with pytest.raises(OutputError):
        write_artifacts(tmp_path / "out", {"good.txt": "x", name: "x"})
    assert tree(tmp_path) == {}


def test_refuses_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    """A file in the place of the output folder is named as what is wrong."""
    (tmp_path / "out").write_text("I am a file")
    with pytest.raises(OutputError, match="is a file") as caught:
        write_artifacts(tmp_path / "out", {"a": "x"})
    assert caught.value.hint
    assert (tmp_path / "out").read_text() == "I am a file"


def test_refuses_a_file_in_the_path_of_the_folder(tmp_path: Path) -> None:
    """A file where a parent folder should be is reported, not a traceback."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="couldn't be written"):
        write_artifacts(tmp_path / "file" / "out", {"a": "x"})


def test_refuses_to_write_through_a_link_out_of_the_folder(tmp_path: Path) -> None:
    """A symbolic link inside the folder cannot send a file elsewhere."""
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (out / "sub").symlink_to(outside)
    with pytest.raises(OutputError, match="symbolic link"):
        write_artifacts(out, {"sub/a.txt": "x"})
    assert tree(outside) == {}


def test_replaces_a_link_rather_than_the_file_it_points_at(tmp_path: Path) -> None:
    """A symbolic link of an artifact's name is replaced; what it points at is not touched."""
    secret, out = tmp_path / "secret.txt", tmp_path / "out"
    secret.write_text("secret")
    out.mkdir()
    (out / "a.txt").symlink_to(secret)
    write_artifacts(out, {"a.txt": "new"})
    assert secret.read_text() == "secret"
    assert (out / "a.txt").read_text() == "new"
    assert not (out / "a.txt").is_symlink()


def test_follows_a_link_that_is_the_output_folder_itself(tmp_path: Path) -> None:
    """An output folder that is a link to a folder is the user's own choice."""
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    write_artifacts(tmp_path / "out", {"a": "x"})
    assert tree(tmp_path / "real") == {"a": b"x"}


def test_a_folder_in_the_place_of_a_file_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """An obstacle met for the last file takes back the first ones too."""
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "z.txt").mkdir()
    before = tree(tmp_path)
    with pytest.raises(OutputError, match="is a folder"):
        write_artifacts(tmp_path, {"a.txt": "new", "z.txt": "new"})
    assert tree(tmp_path) == before


@pytest.mark.parametrize("exists", [True, False])
def test_a_refused_write_leaves_the_old_files_and_nothing_else(
    tmp_path: Path, exists: bool
) -> None:
    """When the system stops a write half-way, the old files are whole and no trace is left."""
    out = tmp_path / "out"
    if exists:
        out.mkdir()
        (out / "a.txt").write_text("old")
    before = tree(tmp_path)
    script = """
        import resource, sys
        from pathlib import Path
        from fluid_build.artifacts import restore_interrupted, write_artifacts
        from fluid_build.errors import OutputError
        resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        try:
            write_artifacts(Path(sys.argv[1]), {"a.txt": "new", "b.txt": "x" * 1_000_000})
        except OutputError as error:
            print(error.message, "|", error.hint)
    """
    done = subprocess.run(
        [sys.executable, "-B", "-c", dedent(script), str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "larger than the system allows" in done.stdout
    assert tree(tmp_path) == before


@pytest.mark.parametrize("calls", range(1, 8))
def test_an_interrupt_between_any_two_moves_takes_them_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """An interrupt during the moves leaves either all of the old files or all of the new."""
    out = tmp_path / "out"
    out.mkdir()
    old = {f"{name}.txt": b"old" for name in "abc"}
    for name, content in old.items():
        (out / name).write_bytes(content)
    real, seen = Path.rename, 0

    def interrupted(self: Path, target: Path) -> Path:
        nonlocal seen
        seen += 1
        if seen == calls:
            raise KeyboardInterrupt
        return real(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    new = dict.fromkeys(old, "new")
    if calls <= 6:
        with pytest.raises(KeyboardInterrupt):
            write_artifacts(out, new)
        assert tree(out) == old
    else:
        write_artifacts(out, new)
        assert tree(out) == dict.fromkeys(old, b"new")


def test_a_system_folder_that_takes_no_files_is_reported(tmp_path: Path) -> None:
    """A place where the kernel lets nobody make a folder gives a sentence and a hint."""
    if not Path("/proc/self").is_dir():
        pytest.skip("there is no /proc here to refuse a folder")
    with pytest.raises(OutputError, match="couldn't be written") as caught:
        write_artifacts(Path("/proc/self/fluid-out"), {"a": "x"})
    assert caught.value.hint


def test_files_are_taken_away_with_the_rest_or_not_at_all(tmp_path: Path) -> None:
    """What is to be removed goes when everything else is written, and stays where that fails."""
    write_artifacts(tmp_path, {"a/old": "1", "keep": "1"})
    (tmp_path / "way").mkdir()
    with pytest.raises(OutputError):
        write_artifacts(tmp_path, {"way": "2"}, remove=["a/old"])
    assert (tmp_path / "a" / "old").read_text() == "1"
    write_artifacts(tmp_path, {"new": "2"}, remove=["a/old", "never/there"])
    assert not (tmp_path / "a" / "old").exists()
    assert (tmp_path / "keep").read_text() == "1"


def test_a_file_that_is_written_is_not_taken_away(tmp_path: Path) -> None:
    """A name on both lists is written."""
    write_artifacts(tmp_path, {"a": "1"})
    write_artifacts(tmp_path, {"a": "2"}, remove=["a"])
    assert (tmp_path / "a").read_text() == "2"


def test_a_file_may_hold_what_another_one_does(tmp_path: Path) -> None:
    """Content that is too large for memory is copied from a file."""
    (tmp_path / "from").write_bytes(b"\0\1")
    write_artifacts(tmp_path / "out", {"to": tmp_path / "from"})
    assert (tmp_path / "out" / "to").read_bytes() == b"\0\1"


def test_nothing_outside_is_taken_away(tmp_path: Path) -> None:
    """A name that leads out of the folder is refused."""
    (tmp_path / "mine").write_text("1")
    with pytest.raises(OutputError):
        write_artifacts(tmp_path / "out", {"a": "1"}, remove=["../mine"])
    assert (tmp_path / "mine").read_text() == "1"


def test_a_file_that_cannot_be_synced_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up only when the data reaches it is an error like any other."""

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("fluid_build.artifacts.os.fsync", full)
    with pytest.raises(OutputError, match="there is no space left"):
        write_artifacts(tmp_path / "out", {f"{number}.txt": "text" for number in range(50)})
    assert tree(tmp_path) == {}


def write_and_die(folder: Path, files: dict[str, str], remove: tuple[str, ...], moves: int) -> bool:
    """Write in a child process that SIGKILL ends before its nth move; return whether it did."""
    child = os.fork()
    if child == 0:
        left = iter(range(moves))
        rename = Path.rename

        def dying(self: Path, target: Path) -> Path:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return rename(self, target)

        Path.rename = dying  # type: ignore[method-assign, assignment]
        write_artifacts(folder, files, remove=remove)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_a_process_killed_between_two_moves_leaves_a_folder_that_is_restored(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "out"
    write_artifacts(folder, {"a.txt": "old a", "b.txt": "old b", "gone.txt": "old"})
    before = tree(folder)
    files = {"a.txt": "new a", "b.txt": "new b", "c.txt": "new c"}
    moves = 0
    while write_and_die(folder, files, ("gone.txt",), moves):
        restore_interrupted(folder)
        assert tree(folder) == before, f"killed before move {moves + 1}"
        moves += 1
    assert moves == 6
    assert tree(folder) == {"a.txt": b"new a", "b.txt": b"new b", "c.txt": b"new c"}


def test_a_process_killed_before_a_new_folder_has_its_name_leaves_nothing_for_long(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "out"
    assert write_and_die(folder, {"a.txt": "a"}, (), 0)
    assert not folder.exists()
    write_artifacts(folder, {"a.txt": "a"})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_staging_of_a_process_that_lives_is_left_alone(tmp_path: Path) -> None:
    class Restoring(dict[str, str]):
        """Files during whose writing another process restores the folder."""

        def __getitem__(self, name: str) -> str:
            restore_interrupted(tmp_path)
            return super().__getitem__(name)

    write_artifacts(tmp_path, Restoring({"a.txt": "a", "b.txt": "b"}))
    assert tree(tmp_path) == {"a.txt": b"a", "b.txt": b"b"}
