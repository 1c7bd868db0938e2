"""What a product is called, in every file that is written."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.running import Fluid

FROM_SOURCE = ("forge", "data-model", "from-source", "--uri")


def test_the_product_is_called_as_the_user_says(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model, the contract, the dbt project and the folder have the name."""
    monkeypatch.chdir(tmp_path)
    assert fluid(*FROM_SOURCE, duckdb_shop, "--name", "Bike sales").code == 0
    folder = tmp_path / "Bike-sales-model"
    contract = yaml.safe_load((folder / "contract.fluid.yaml").read_text())
    project = yaml.safe_load((folder / "dbt" / "dbt_project.yml").read_text())
    assert json.loads((folder / "model.json").read_text())["name"] == "Bike sales"
    assert (contract["id"], contract["name"]) == ("bike_sales", "Bike sales")
    assert project["name"] == "bike_sales"
    assert fluid("verify", folder).code == 0


def test_ddl_is_called_as_the_user_says(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("schema.sql").write_text("CREATE TABLE t (a INT PRIMARY KEY);")
    outcome = fluid("forge", "data-model", "from-ddl", "schema.sql", "--name", "Bikes")
    assert outcome.code == 0 and Path("Bikes-model").is_dir()


def test_profile_and_forge_use_the_same_name(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bikes" / "data"
    folder.mkdir(parents=True)
    duckdb_shop.rename(folder / "main.duckdb")
    monkeypatch.chdir(tmp_path)
    assert fluid("profile", folder / "main.duckdb").out.startswith("bikes")
    assert fluid(*FROM_SOURCE, folder / "main.duckdb").code == 0
    assert (tmp_path / "bikes-model" / "model.json").is_file()


def test_a_name_without_a_letter_is_refused_before_the_source_is_read(
    fluid: Fluid, tmp_path: Path
) -> None:
    (tmp_path / "broken.duckdb").write_text("")
    outcome = fluid(*FROM_SOURCE, tmp_path / "broken.duckdb", "--name", " - ")
    assert outcome.code == 2 and '--name "Bike sales"' in outcome.err
