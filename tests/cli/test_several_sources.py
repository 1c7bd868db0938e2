"""Several sources on one vault, from the command to the files and back."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.running import Fluid
from tests.cli.several_sources import crm, shop

FROM_SOURCE = ("forge", "data-model", "from-source")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``crm.db`` and the folder ``shop``; tests don't change it."""
    folder = tmp_path_factory.mktemp("several")
    crm(folder / "crm.db")
    shop(folder / "shop")
    return folder


@pytest.fixture
def both(sources: Path, tmp_path: Path) -> Path:
    """Return a folder of a test's own with both sources."""
    shutil.copytree(sources, tmp_path / "both")
    return tmp_path / "both"


def forge_both(fluid: Fluid, folder: Path, *options: str) -> Path:
    """Forge both sources of a folder into ``out``, and return that."""
    out = folder / "out"
    outcome = fluid(
        *FROM_SOURCE, "--uri", folder / "crm.db", "--uri", folder / "shop",
        "--technique", "dv2", "-o", out, *options,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err + outcome.out
    assert "✓ Proven" in outcome.out
    return out


def test_every_table_of_each_source_is_rebuilt(fluid: Fluid, both: Path) -> None:
    out = forge_both(fluid, both)
    proof = json.loads((out / "proof.json").read_text())
    rebuilt = {table["table"]: table["rebuilt"] for table in proof["tables"]}
    assert rebuilt == {
        "crm.customers": 160,
        "crm.products": 120,
        "crm.tickets": 300,
        "shop.customers": 140,
        "shop.order_lines": 500,
        "shop.orders": 250,
        "shop.products": 120,
    }


def test_the_folder_is_verified_with_both_sources_and_with_one_that_moved(
    fluid: Fluid, both: Path
) -> None:
    out = forge_both(fluid, both)
    assert fluid("verify", out).code == 0
    (both / "crm.db").rename(both / "customers.db")
    lost = fluid("verify", out)
    assert lost.code == 2
    assert "--uri" in lost.err
    assert fluid("verify", out, "--uri", f"crm={both / 'customers.db'}").code == 0


def test_a_uri_that_names_no_source_of_the_folder_is_refused(fluid: Fluid, both: Path) -> None:
    out = forge_both(fluid, both)
    outcome = fluid("verify", out, "--uri", both / "crm.db")
    assert outcome.code == 2
    assert "crm and shop" in outcome.err


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_the_vault_of_both_sources(fluid: Fluid, both: Path) -> None:
    out = forge_both(fluid, both)
    outcome = fluid("verify", out, "--dbt", "--trust")
    assert outcome.code == 0, outcome.out + outcome.err


def test_sources_are_named_by_the_user_or_else_after_their_files(fluid: Fluid, both: Path) -> None:
    outcome = fluid(
        *FROM_SOURCE, "--uri", f"sales={both / 'crm.db'}", "--uri", both / "crm.db",
        "--technique", "dv2", "-o", both / "out",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    manifest = json.loads((both / "out" / "forge.json").read_text())
    assert list(manifest["source"]["parts"]) == ["sales", "crm"]


@pytest.mark.parametrize("technique", ["flat", "dimensional"])
def test_a_technique_for_one_source_says_what_several_sources_need(
    fluid: Fluid, both: Path, technique: str
) -> None:
    outcome = fluid(
        *FROM_SOURCE, "--uri", both / "crm.db", "--uri", both / "shop", "--technique", technique,
        "-o", both / "out",
    )  # fmt: skip
    assert outcome.code == 2
    assert "Data Vault only" in outcome.err
    assert not (both / "out").exists()


def test_two_sources_of_one_name_are_refused(fluid: Fluid, both: Path) -> None:
    outcome = fluid(
        *FROM_SOURCE, "--uri", f"a={both / 'crm.db'}", "--uri", f"a={both / 'shop'}",
        "--technique", "dv2", "-o", both / "out",
    )  # fmt: skip
    assert outcome.code == 2
    assert "Two sources are called a" in outcome.err
