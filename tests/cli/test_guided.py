"""``fluid forge`` without a command: it looks at the folder, proposes, and asks little."""

import io
import json
import shutil
from pathlib import Path

import pytest

from fluid_build.cli.nearby_sources import nearby_sources
from tests.cli.running import Fluid


class Terminal(io.StringIO):
    """Standard input with answers, which says that it's a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def folder(tmp_path: Path, sqlite_shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database and a folder of files; it's the current one."""
    place = tmp_path / "project"
    (place / "exports").mkdir(parents=True)
    shutil.copy(sqlite_shop, place / "shop.sqlite")
    (place / "exports" / "a.csv").write_text("id,name\n1,x\n2,y\n")
    (place / "exports" / "b.csv").write_text("id,a_id\n1,1\n2,2\n")
    (place / "notes.txt").write_text("nothing\n")
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(place)
    return place


def test_databases_come_before_files(folder: Path) -> None:
    assert [source.path for source in nearby_sources(folder)] == ["shop.sqlite", "exports"]


def test_forged_folders_are_no_sources(fluid: Fluid, folder: Path) -> None:
    fluid("forge", "--yes", "-o", "model")
    assert [source.path for source in nearby_sources(folder)] == ["shop.sqlite", "exports"]


def test_yes_does_what_is_proposed(fluid: Fluid, folder: Path) -> None:
    outcome = fluid("forge", "--yes", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["technique"] == "flat"
    assert (folder / "shop-model" / "contract.fluid.yaml").exists()


def test_answers_choose_source_purpose_and_folder(
    fluid: Fluid, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("2\n9\n3\nvault\n"))
    outcome = fluid("forge", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["technique"] == "data_vault_2"
    assert (folder / "vault" / "model.json").exists()
    assert "Answer with a number from 1 to 3." in outcome.err
    assert outcome.err.count("]: ") == 4  # one of them twice


def test_without_a_terminal_nothing_is_asked_or_done(fluid: Fluid, folder: Path) -> None:
    outcome = fluid("forge")
    assert outcome.code == 2
    assert "--yes" in outcome.err
    assert not list(folder.glob("*-model"))


def test_an_empty_folder_is_an_error_that_says_what_to_do(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    outcome = fluid("forge", "--yes")
    assert outcome.code == 2
    assert "from-source --uri" in outcome.err
