"""Whose the files of a folder are, and what a forge may do to each."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import OutputError
from fluid_build.transform.proof.folder_changes import FileChange, folder_changes
from fluid_build.transform.proof.manifest import Manifest, ManifestSource, digest

NAMES = ("MODEL.md", "dbt/a.sql", "dbt/b.sql", "proof.json", "contract.fluid.yaml")
texts = st.sampled_from(["old", "new", "edited", "other"])
folders = st.dictionaries(st.sampled_from(NAMES), texts)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def manifest(folder: Path, files: dict[str, str], foreign: tuple[str, ...] = ()) -> None:
    digests = {name: digest(text) for name, text in files.items() if name != "proof.json"}
    written = Manifest(
        technique="flat",
        source=ManifestSource(kind="duckdb", location=None),
        files=digests,
        foreign=foreign,
    )
    (folder / "forge.json").write_text(written.model_dump_json())


@given(forged=folders, there=folders, new=folders.filter(bool), has_manifest=st.booleans())
def test_nothing_that_somebody_wrote_is_ever_replaced_or_removed(
    forged: dict[str, str], there: dict[str, str], new: dict[str, str], has_manifest: bool
) -> None:
    """Only what is missing, or just as the last forge left it, is touched; and that always is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, there)
        if has_manifest:
            manifest(folder, forged)
        for change in folder_changes(folder, new):
            on_disk = there.get(change.name)
            was_forged = has_manifest and (
                change.name == "proof.json" or forged.get(change.name) == on_disk
            )
            expected = (
                "create"
                if on_disk is None
                else "nothing"
                if on_disk == new.get(change.name)
                else "keep"
                if not was_forged
                else "replace"
                if change.name in new
                else "remove"
            )
            assert change.action == expected, change
        assert {change.name for change in folder_changes(folder, new)} >= set(new)


@given(forged=folders, there=folders, new=folders)
def test_overwriting_keeps_nothing(
    forged: dict[str, str], there: dict[str, str], new: dict[str, str]
) -> None:
    """And still it removes nothing that no forge ever wrote."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, there)
        manifest(folder, forged)
        for change in folder_changes(folder, new, overwrite=True):
            assert change.action != "keep"
            if change.action == "remove":
                assert change.name in forged


def test_a_foreign_file_is_never_removed(tmp_path: Path) -> None:
    """The manifest knows that the forge found it there."""
    write(tmp_path, {"dbt/a.sql": "theirs"})
    manifest(tmp_path, {"dbt/a.sql": "ours"}, foreign=("dbt/a.sql",))
    assert folder_changes(tmp_path, {}, overwrite=True) == ()
    (change,) = folder_changes(tmp_path, {"dbt/a.sql": "ours"})
    assert change == FileChange("dbt/a.sql", "keep", "foreign")


def test_a_name_in_a_manifest_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    """A stranger's manifest removes nothing outside of its folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    write(tmp_path, {"secret": "x"})
    manifest(folder, {"../secret": "x", str(tmp_path / "secret"): "x"})
    assert folder_changes(folder, {}) == ()


def test_a_manifest_that_cannot_be_read_stops_the_forge(tmp_path: Path) -> None:
    """Unless everything may be overwritten."""
    (tmp_path / "forge.json").write_text("not ours")
    with pytest.raises(OutputError, match="nothing was written"):
        folder_changes(tmp_path, {"MODEL.md": "x"})
    (change,) = folder_changes(tmp_path, {"MODEL.md": "x"}, overwrite=True)
    assert change.action == "create"
