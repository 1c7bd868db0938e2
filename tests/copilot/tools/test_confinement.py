"""Confinement: whatever path a model names, nothing outside of the workspace is read or written."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.errors import ToolValidationError
from fluid_build.copilot.tools import confinement
from fluid_build.copilot.tools.confinement import (
    FileTooLargeError,
    ForbiddenPathError,
    PathTraversalError,
    read_confined,
    resolve_confined,
    write_confined,
)

SECRET = b"canary-outside"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "data" / "deep").mkdir(parents=True)
    (root / "a.csv").write_bytes(b"inside")
    (root / "data" / "b.CSV").write_bytes(b"inside")
    (root / "data" / "deep" / "c.csv").write_bytes(b"inside")
    (root / "notes.txt").write_bytes(b"inside")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_bytes(SECRET)
    (tmp_path / "workspace2").mkdir()
    (tmp_path / "workspace2" / "secret.csv").write_bytes(SECRET)
    (root / "link.csv").symlink_to(outside / "secret.csv")
    (root / "folder_link").symlink_to(outside)
    (root / "inner.csv").symlink_to(root / "a.csv")
    (root / "loop.csv").symlink_to(root / "loop.csv")
    return root


def read_csv(root: Path, path: Any, max_bytes: int = 1000) -> bytes:
    return read_confined(root, path, suffixes=[".csv"], max_bytes=max_bytes)


@pytest.mark.parametrize(
    "path", ["a.csv", "data/b.CSV", "data/../a.csv", "./data//deep/c.csv", "inner.csv"]
)
def test_inside(workspace: Path, path: str) -> None:
    """Files of the workspace are read, by relative and absolute paths and links within it."""
    assert read_csv(workspace, path) == b"inside"
    assert read_csv(workspace, workspace / path) == b"inside"


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.csv",
        "data/../../outside/secret.csv",
        "link.csv",
        "folder_link/secret.csv",
        "../workspace2/secret.csv",
        "/etc/passwd",
        "~/secret.csv/../../../../../../etc/x.csv",
    ],
)
def test_outside(workspace: Path, path: str) -> None:
    """Dots, links and absolute paths that lead out are refused."""
    with pytest.raises(PathTraversalError):
        read_csv(workspace, path)


@pytest.mark.parametrize(
    "path", ["notes.txt", "", ".", "a", "a.csv.exe", "a\0.csv", "x" * 5000 + ".csv"]
)
def test_forbidden(workspace: Path, path: str) -> None:
    """What is not on the list of endings, or no path at all, is refused."""
    with pytest.raises(ForbiddenPathError):
        read_csv(workspace, path)


def test_a_link_to_itself(workspace: Path) -> None:
    """A loop of links is refused, as whatever the Python version takes it for."""
    with pytest.raises(ToolValidationError):
        read_csv(workspace, "loop.csv")


def test_absent(workspace: Path) -> None:
    """A missing file is a FileNotFoundError."""
    with pytest.raises(FileNotFoundError):
        read_csv(workspace, "none.csv")
    with pytest.raises(FileNotFoundError):
        read_csv(workspace, "none/none.csv")


def test_errors_are_tool_errors_and_tell_no_path(workspace: Path) -> None:
    """The errors are ToolValidationErrors, and say nothing of where things are."""
    for path in ("../outside/secret.csv", "notes.txt"):
        with pytest.raises(ToolValidationError) as caught:
            read_csv(workspace, path)
        assert str(workspace) not in str(caught.value)


def test_only_regular_files(workspace: Path) -> None:
    """Folders, pipes and devices are refused, and a pipe does not hang the reader."""
    (workspace / "folder.csv").mkdir()
    os.mkfifo(workspace / "pipe.csv")
    for path in ("folder.csv", "pipe.csv"):
        with pytest.raises(ForbiddenPathError):
            read_csv(workspace, path)


def test_size_cap(workspace: Path) -> None:
    """A file of just the size is read, a larger one refused."""
    (workspace / "big.csv").write_bytes(b"x" * 1001)
    (workspace / "fits.csv").write_bytes(b"x" * 1000)
    assert len(read_csv(workspace, "fits.csv")) == 1000
    with pytest.raises(FileTooLargeError):
        read_csv(workspace, "big.csv")
    with pytest.raises(FileTooLargeError):
        read_confined(Path("/proc/self"), "status", suffixes=[""], max_bytes=1)


def test_a_file_that_grows_while_it_is_open(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cap holds for what is read, not only for what was measured."""
    real = os.fstat

    def grow(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        (workspace / "a.csv").write_bytes(b"x" * 2000)
        return status

    monkeypatch.setattr(confinement.os, "fstat", grow)
    with pytest.raises(FileTooLargeError):
        read_csv(workspace, "a.csv")


def test_write_whole_or_not_at_all(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is replaced in one step; if that fails, the old one is there and nothing else."""
    path = write_confined(workspace, "data/new.csv", b"1", suffixes=[".csv"])
    assert path.read_bytes() == b"1"
    before = sorted((workspace / "data").iterdir())

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(confinement.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_confined(workspace, "data/new.csv", b"2", suffixes=[".csv"])
    assert path.read_bytes() == b"1"
    assert sorted((workspace / "data").iterdir()) == before


@pytest.mark.parametrize("path", ["link.csv", "folder_link/new.csv", "../outside/new.csv"])
def test_write_outside(workspace: Path, path: str) -> None:
    """Nothing is written outside, through links either."""
    with pytest.raises(PathTraversalError):
        write_confined(workspace, path, b"x", suffixes=[".csv"])
    assert (workspace.parent / "outside" / "secret.csv").read_bytes() == SECRET
    assert not (workspace.parent / "outside" / "new.csv").exists()


@pytest.mark.parametrize("part", ["file", "folder"])
@pytest.mark.parametrize("action", ["read", "write"])
def test_a_link_put_there_after_the_check(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, part: str, action: str
) -> None:
    """Between the check and the use, a link in the file's or its folder's place gains nothing."""
    real = resolve_confined

    def resolve_then_swap(*args: Any, **options: Any) -> Path:
        resolved = real(*args, **options)
        outside = workspace.parent / "outside"
        if part == "file":
            resolved.unlink()
            resolved.symlink_to(outside / "secret.csv")
        else:
            (workspace / "data").rename(workspace / "moved")
            (workspace / "data").symlink_to(outside)
        return resolved

    monkeypatch.setattr(confinement, "resolve_confined", resolve_then_swap)
    path = "a.csv" if part == "file" else "data/b.CSV"
    if (part, action) == ("file", "write"):  # the link itself is replaced
        write_confined(workspace, path, b"new", suffixes=[".csv"])
        assert (workspace / path).read_bytes() == b"new"
    elif action == "write":
        with pytest.raises(PathTraversalError):
            write_confined(workspace, path, b"new", suffixes=[".csv"])
    else:
        with pytest.raises(PathTraversalError):
            read_csv(workspace, path)
    assert (workspace.parent / "outside" / "secret.csv").read_bytes() == SECRET
    assert [path.name for path in (workspace.parent / "outside").iterdir()] == ["secret.csv"]


def test_a_race_is_never_won(workspace: Path) -> None:
    """While another process keeps swapping a file for a link, no reader ever sees the outside."""
    target, outside = workspace / "race.csv", workspace.parent / "outside" / "secret.csv"
    stop = threading.Event()

    def swap() -> None:
        spare = workspace / "spare"
        while not stop.is_set():
            spare.symlink_to(outside)
            spare.replace(target)
            spare.write_bytes(b"inside")
            spare.replace(target)

    swapper = threading.Thread(target=swap)
    swapper.start()
    seen = set()
    try:
        for _ in range(400):
            try:
                seen.add(read_csv(workspace, "race.csv"))
            except (PathTraversalError, FileNotFoundError, ForbiddenPathError):
                continue
    finally:
        stop.set()
        swapper.join()
    assert seen <= {b"inside", b""}


NAMES = (
    ".. . data deep DATA folder_link inner.csv a.csv b.CSV link.csv outside workspace workspace2 "
    "secret.csv ~ \u202e c: %2e%2e"
)
PARTS = st.sampled_from(["", "x" * 300, *NAMES.split(" ")]) | st.text(max_size=4)


@given(parts=st.lists(PARTS, min_size=1, max_size=6), is_absolute=st.booleans())
def test_no_path_leads_out(workspace: Path, parts: list[str], is_absolute: bool) -> None:
    """Of all paths, those that are read are in the workspace, and all others are refused."""
    path = ("/" if is_absolute else "") + "/".join(parts)
    try:
        content = read_csv(workspace, path)
    except (ToolValidationError, FileNotFoundError):
        return
    assert content == b"inside"
