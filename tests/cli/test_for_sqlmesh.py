"""``fluid forge --for sqlmesh``: from the option to the folder, and what to do next."""

import json
from pathlib import Path

import pytest

from fluid_build.cli.forging.again import forge_again
from fluid_build.verification import read_folder
from tests.cli.running import STATEMENTS, Fluid, run

FORGE = ("forge", "data-model", "from-source")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    run(tmp_path / "shop.duckdb", *STATEMENTS)
    return tmp_path / "shop.duckdb"


def test_the_folder_has_sqlmeshs_project_and_no_other(
    fluid: Fluid, shop: Path, tmp_path: Path
) -> None:
    """The screen names its commands, and the contract where it builds."""
    out = tmp_path / "out"
    outcome = fluid(*FORGE, "--uri", shop, "--technique", "dv2", "--for", "sqlmesh", "-o", out)
    assert outcome.code == 0, outcome.err
    for command in ("plan --auto-apply", "run", "audit"):
        assert f"sqlmesh && sqlmesh {command})" in outcome.out
    assert "dbt build" not in outcome.out
    assert (out / "sqlmesh" / "config.yaml").is_file()
    assert not (out / "dbt").exists()
    assert "sqlmesh/shop.duckdb" in (out / "contract.fluid.yaml").read_text(encoding="utf-8")
    assert json.loads((out / "forge.json").read_text(encoding="utf-8"))["project"] == "sqlmesh"
    assert fluid("validate", out / "contract.fluid.yaml").code == 0
    assert fluid("verify", out).code == 0
    forged = read_folder(out)
    assert "--for sqlmesh" in forge_again(out, forged.manifest, forged.model).command


def test_an_unknown_tool_is_refused(fluid: Fluid, shop: Path, tmp_path: Path) -> None:
    outcome = fluid(*FORGE, "--uri", shop, "--for", "sqlmash", "-o", tmp_path / "out")
    assert outcome.code == 2
    assert "Unknown tool 'sqlmash'." in outcome.err
    assert "sqlmesh" in outcome.err
