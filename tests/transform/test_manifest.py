"""forge.json: what it holds, what it never holds, and how it is read again."""

import json
from pathlib import Path

import pytest

from fluid_build.errors import SourceNotFoundError, SourceUnreadableError, UsageError
from fluid_build.sources.uri import locate
from fluid_build.transform.proof.manifest import (
    ManifestSource,
    manifest_json,
    manifest_source,
    place_of,
    read_manifest,
)
from tests.transform.databases import database, modelled


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a manifest, next to its source."""
    path = database(tmp_path / "a.duckdb", "CREATE TABLE a AS SELECT 1 AS id")
    folder = tmp_path / "out"
    folder.mkdir()
    with modelled(path) as one:
        source = manifest_source(locate(str(path)), folder)
        text = manifest_json(one.model, source, {"b.txt": "b", "a.txt": b"a"})
    (folder / "forge.json").write_text(text)
    return folder


def test_the_source_is_named_by_its_path_from_the_folder(folder: Path) -> None:
    """The path is relative, so that both can be moved together; nothing names this machine."""
    manifest = read_manifest(folder)
    assert (manifest.technique, manifest.target) == ("flat", "duckdb")
    assert manifest.source == ManifestSource(kind="duckdb", location="../a.duckdb", nested="split")
    assert place_of(manifest.source, folder) == str((folder.parent / "a.duckdb").resolve())
    assert str(folder.parent) not in (folder / "forge.json").read_text()


def test_it_holds_the_digests_of_the_files(folder: Path) -> None:
    """Each file's SHA-256, sorted by name."""
    files = read_manifest(folder).files
    assert list(files) == ["a.txt", "b.txt"]
    assert files["a.txt"].startswith("ca978112ca1bbdca")


def test_a_glob_is_relative_as_well(tmp_path: Path) -> None:
    """Its wildcards stay as they are."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("a\n1\n")
    source = manifest_source(locate(str(tmp_path / "data" / "*.csv")), tmp_path / "out")
    assert source == ManifestSource(kind="files", location="../data/*.csv", nested="split")


def test_a_folder_behind_a_link_finds_its_source(tmp_path: Path) -> None:
    """The way back starts from where the folder really is."""
    (tmp_path / "deep" / "out").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "out")
    (tmp_path / "a.csv").write_text("a\n1\n")
    source = manifest_source(locate(str(tmp_path / "a.csv")), tmp_path / "link")
    assert source.location == "../../a.csv"


@pytest.mark.parametrize(
    ("dsn", "bare"),
    [
        ("postgresql://u:p@h/db", "postgresql://u@h/db"),
        ("postgresql://u@h:5432/db?sslmode=require", "postgresql://u@h:5432/db?sslmode=require"),
        (
            "postgres://u:p%40%2F@h/db?password=q&sslmode=require&sslpassword=r",
            "postgres://u@h/db?sslmode=require",
        ),
        ("postgresql:///db?user=x&password=y", "postgresql:///db?user=x"),
        ("postgresql:///db?password=y", "postgresql:///db"),
        ("host=h password='a b' dbname=x", "host=h  dbname=x"),
    ],
)
def test_no_password_is_kept(dsn: str, bare: str, tmp_path: Path) -> None:
    """What is left still connects, for those who need no password or have it elsewhere."""
    assert manifest_source(locate(dsn), tmp_path).location == bare


def test_a_location_that_may_contain_a_password_is_not_kept(tmp_path: Path) -> None:
    """Rather no location than a part of a password."""
    assert manifest_source(locate("postgresql://u:p/q@h/db"), tmp_path).location is None


def test_without_a_location_the_user_is_asked(folder: Path) -> None:
    """A folder that does not say where its source is can still be verified with --uri."""
    manifest = read_manifest(folder)
    unknown = manifest.model_copy(update={"source": ManifestSource(kind="duckdb", location=None)})
    with pytest.raises(UsageError) as caught:
        place_of(unknown.source, folder)
    assert "--uri" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"technique": "magic"},
        {"more": 1},
        {"source": {"kind": "duckdb", "location": 5}},
        {"files": ["a"]},
    ],
)
def test_a_manifest_that_is_none_is_refused(folder: Path, change: dict[str, object]) -> None:
    """Wrong types, unknown fields and unknown versions are named, without a guess."""
    path = folder / "forge.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(
        SourceUnreadableError, match=r"forge\.json isn't as `fluid forge` writes it at"
    ):
        read_manifest(folder)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    """No folder, a file in its place, and a folder without a manifest are three things."""
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceNotFoundError, match="doesn't exist"):
        read_manifest(tmp_path / "nowhere")
    with pytest.raises(SourceNotFoundError, match="is a file"):
        read_manifest(tmp_path / "file")
    with pytest.raises(SourceNotFoundError, match=r"no forge\.json"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"{", b""])
def test_broken_bytes_are_refused(folder: Path, content: bytes) -> None:
    """Neither text of another encoding nor half a file is taken for a manifest."""
    (folder / "forge.json").write_bytes(content)
    with pytest.raises(SourceUnreadableError):
        read_manifest(folder)
