"""A folder in a warehouse: only the product's text, the same bytes, and confined when it's back."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from fluid_build.errors import WarehouseError
from fluid_build.evolution import folder_archive
from fluid_build.evolution.folder_archive import archived, unpacked
from fluid_build.transform.proof.manifest import Manifest, ManifestSource, digest

FILES = {"model.json": "{}", "dbt/models/a.sql": "SELECT 1", "dbt/land/a.parquet": "PAR1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {**FILES, "forge.json": "{}", "mine.txt": "x", "report.html": "<p>"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def manifest(*foreign: str) -> Manifest:
    names = (*FILES, "report.html", "../outside", "gone.json")
    return Manifest(
        technique="flat",
        source=ManifestSource(kind="duckdb", location="x.duckdb"),
        files={name: digest("") for name in names},
        foreign=foreign,
    )


def zipped(files: Mapping[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def test_only_the_products_text_is_kept(folder: Path) -> None:
    """Neither a stranger's file nor a copy of a table, the page or what is outside."""
    files = unpacked(archived(folder, manifest("model.json")))
    assert [*files] == ["dbt/models/a.sql", "forge.json"]
    assert files["dbt/models/a.sql"] == b"SELECT 1"


def test_the_same_files_make_the_same_bytes(folder: Path) -> None:
    first = archived(folder, manifest())
    for path in folder.rglob("*.json"):
        path.touch()
    assert archived(folder, manifest()) == first


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hidden")
    (folder / "model.json").unlink()
    (folder / "model.json").symlink_to(tmp_path / "secret")
    assert "model.json" not in unpacked(archived(folder, manifest()))


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/x", "a/../../x", "a//b", "a\\b", "C:x", "", ".", "a/./b", "a\nb", "x" * 2000],
)
def test_a_file_outside_of_the_folder_is_refused(name: str) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        entry = zipfile.ZipInfo("x")
        entry.filename = name
        archive.writestr(entry, "x")
    with pytest.raises(WarehouseError, match="outside of the folder"):
        unpacked(content.getvalue())


def test_more_than_a_folder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_archive, "MOST_BYTES", 10)
    with pytest.raises(WarehouseError, match="larger"):
        unpacked(zipped({"a": "x" * 11}))


def test_a_size_that_is_a_lie_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_archive, "MOST_BYTES", 1000)
    content = bytearray(zipped({"a": "x" * 5000}))
    size = (5000).to_bytes(4, "little")
    while (at := content.find(size)) >= 0:
        content[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(WarehouseError):
        unpacked(bytes(content))


@pytest.mark.parametrize(
    "content",
    [b"", b"PK", b"not a zip", zipped({"a": "x"})[:20]],
    ids=["nothing", "two letters", "text", "cut off"],
)
def test_what_is_no_archive_is_refused(content: bytes) -> None:
    with pytest.raises(WarehouseError, match="can't be used"):
        unpacked(content)
