"""``fluid forge --business-vault``: from the option to the folder, and back to its source."""

import json
from pathlib import Path

import pytest

from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import built
from fluid_build.verification import read_folder
from tests.cli.running import Fluid, run

STATEMENTS = (
    "CREATE TABLE region (id INTEGER PRIMARY KEY, label VARCHAR, anthem VARCHAR, area INTEGER)",
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR, street VARCHAR,"
    " region_id INTEGER REFERENCES region (id))",
    "CREATE TABLE customer_detail (customer_id INTEGER PRIMARY KEY REFERENCES customer (id),"
    " hobby VARCHAR, shoe_size INTEGER)",
    "CREATE TABLE payment (customer_id INTEGER REFERENCES customer (id), payment_no INTEGER,"
    " amount DECIMAL(10, 2), PRIMARY KEY (customer_id, payment_no))",
    "INSERT INTO region SELECT i, 'r' || i, 'a' || i, i * 7 FROM range(1, 41) r(i)",
    "INSERT INTO customer SELECT i, 'n' || i, 'c' || i % 7, 's' || i, 1 + i % 40"
    " FROM range(1, 121) r(i)",
    "INSERT INTO customer_detail SELECT i, 'h' || i % 9, 36 + i % 10 FROM range(1, 91) r(i)",
    "INSERT INTO payment SELECT 1 + i % 120, i // 120, i * 1.25 FROM range(360) r(i)",
)
FORGE = ("forge", "data-model", "from-source", "--business-vault")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    run(tmp_path / "shop.duckdb", *STATEMENTS)
    return tmp_path / "shop.duckdb"


def test_the_option_needs_a_vault(fluid: Fluid, shop: Path, tmp_path: Path) -> None:
    outcome = fluid(*FORGE, "--uri", shop, "--technique", "star", "-o", tmp_path / "out")
    assert outcome.code == 2
    assert outcome.err.startswith(
        "Error: A business vault is part of a Data Vault, and the technique is dimensional."
    )
    assert "choose --technique dv2" in outcome.err
    assert not (tmp_path / "out").exists()


def test_the_folder_is_verified_with_its_business_vault(
    fluid: Fluid, shop: Path, tmp_path: Path
) -> None:
    """The option is in the model, so the plan that verify derives has the same relations."""
    folder = tmp_path / "out"
    forged = fluid(*FORGE, "--uri", shop, "--technique", "dv2", "-o", folder, "--json")
    assert forged.code == 0
    names = {"snapshot_dates", "pit_customer", "bridge_payment"}
    assert names <= set(json.loads(forged.out)["built"])
    again = read_folder(folder)
    assert again.agrees and again.manifest.business_vault
    assert names <= {build.name for build in again.plan.published}
    verified = fluid("verify", folder, "--json")
    assert verified.code == 0
    checks = [
        check["name"]
        for table in json.loads(verified.out)["proof"]["tables"]
        for check in table["checks"]
        if ", by " in check["name"]
    ]
    assert checks == [
        "rows of customer in sat_customer, by pit_customer",
        "rows of customer in sat_customer_personal, by pit_customer",
        "rows of customer_detail in sat_customer_detail, by pit_customer",
        "rows of payment in sat_payment, by bridge_payment",
    ]


def test_what_was_loaded_keeps_its_contract(fluid: Fluid, shop: Path, tmp_path: Path) -> None:
    folder, warehouse = tmp_path / "out", tmp_path / "warehouse.duckdb"
    fluid(*FORGE, "--uri", shop, "--technique", "dv2", "-o", folder)
    plan = read_folder(folder).plan
    with open_source(shop) as source, built(source, plan) as outcome:
        outcome.connection.execute(f"ATTACH '{warehouse}' AS warehouse")
        for build in plan.published:
            table = f"warehouse.main.{build.name}"
            outcome.connection.execute(f"CREATE TABLE {table} AS FROM model.{build.name}")
        outcome.connection.execute("DETACH warehouse")
    contract = folder / "contract.fluid.yaml"
    assert fluid("test", contract, "--uri", warehouse).code == 0
    run(warehouse, "DELETE FROM sat_customer_detail WHERE hobby = 'h1'")
    tested = fluid("test", contract, "--uri", warehouse, "--json")
    assert tested.code == 1
    assert "pit_customer.sat_customer_detail_hk.reference" in tested.out
