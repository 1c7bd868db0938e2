"""Pipes and devices where a folder's files should be end with a sentence, and never hang."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fluid_build.regular_files import read_regular
from tests.cli.running import Fluid
from tests.forges import forged_copy

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


def _zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


MAKERS: dict[str, Callable[[Path], None]] = {"pipe": os.mkfifo, "device": _zeros}


@pytest.fixture(params=MAKERS.values(), ids=MAKERS.keys())
def make(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Puts a pipe or a link to an endless device where a file was."""

    def replace(path: Path) -> None:
        path.unlink(missing_ok=True)
        request.param(path)

    return replace


@pytest.fixture
def folder(duckdb_shop: Path, tmp_path: Path) -> Path:
    """A forged folder, next to its source."""
    return forged_copy(duckdb_shop, tmp_path / "shop-model")


@pytest.mark.parametrize("name", ["forge.json", "model.json"])
def test_verify_reads_no_pipe_and_no_device(
    fluid_process: Fluid, folder: Path, make: Callable[[Path], None], name: str
) -> None:
    """It names the file, and says what to do."""
    make(folder / name)
    outcome = fluid_process("verify", folder)
    assert outcome.code == 2
    output = " ".join(outcome.err.split())
    assert f"{name} isn't a regular file" in output
    assert "Replace it with a regular file" in output


@pytest.mark.parametrize(
    "command", ["validate", "export odcs", "import odcs", "test --uri shop.duckdb"]
)
def test_no_command_reads_a_contract_from_a_pipe_or_a_device(
    fluid_process: Fluid, tmp_path: Path, make: Callable[[Path], None], command: str
) -> None:
    """Whatever it wants the contract for."""
    make(tmp_path / "contract.fluid.yaml")
    outcome = fluid_process(*command.split(), tmp_path / "contract.fluid.yaml")
    assert outcome.code == 2
    assert "isn't a regular file" in " ".join(outcome.err.split())


def test_diff_reads_no_pipe_and_no_device(
    fluid_process: Fluid, folder: Path, make: Callable[[Path], None], tmp_path: Path
) -> None:
    """Neither of its two documents."""
    make(tmp_path / "other.json")
    outcome = fluid_process("diff", folder / "model.json", tmp_path / "other.json")
    assert outcome.code == 2
    assert "isn't a regular file" in " ".join(outcome.err.split())


def test_a_pipe_or_a_device_is_no_source(
    fluid_process: Fluid, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """Its start isn't looked at, since that could take for ever."""
    make(tmp_path / "shop.db")
    outcome = fluid_process("profile", tmp_path / "shop.db")
    assert outcome.code == 2
    assert "isn't a regular file" in " ".join(outcome.err.split())


def test_a_folder_is_forged_again_next_to_a_pipe_or_a_device(
    fluid_process: Fluid, folder: Path, duckdb_shop: Path, make: Callable[[Path], None]
) -> None:
    """What took the place of a file counts as an edit, which is kept and shown without reading."""
    make(folder / "contract.fluid.yaml")
    command = ("forge", "data-model", "from-source", "--uri", duckdb_shop, "-o", folder)
    assert "1 file that you edited or added" in fluid_process(*command).out
    assert "contract.fluid.yaml" in fluid_process(*command, "--diff").out
    assert not (folder / "contract.fluid.yaml").is_file()


def test_a_link_to_a_regular_file_is_read(tmp_path: Path) -> None:
    """Links are fine; only where they lead matters."""
    (tmp_path / "there").write_bytes(b"text")
    (tmp_path / "here").symlink_to(tmp_path / "there")
    assert read_regular(tmp_path / "here", 4, too_large="") == b"text"
