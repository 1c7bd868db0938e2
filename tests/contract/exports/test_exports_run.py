"""Exported contracts run: the public command line finds the data, and what is wrong with it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from fluid_build.contract.exports.formats import export
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.validation import parse_contract
from fluid_build.forging import forge
from fluid_build.sources import open_source
from fluid_build.transform.dbt.running import run_dbt
from tests.transform.databases import database

DATACONTRACT = os.environ.get("DATACONTRACT") or shutil.which("datacontract")
SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, kind VARCHAR, photo BLOB, waits INTERVAL)",
    "INSERT INTO customer SELECT i, CASE i % 2 WHEN 0 THEN 'gold' ELSE 'plain' END, 'x'::BLOB,"
    " INTERVAL 3 DAY FROM range(100) r(i)",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer_id INTEGER, shop_id INTEGER)",
    "INSERT INTO sale SELECT i, i % 103, i % 7 FROM range(1000) r(i)",
    "CREATE TABLE shop (shop_id INTEGER PRIMARY KEY, name VARCHAR)",
    "INSERT INTO shop SELECT i, 'shop ' || i FROM range(7) r(i)",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a forge wrote of a shop with orphans, binary values and intervals."""
    place = tmp_path_factory.mktemp("shop")
    path = database(place / "shop.duckdb", *SHOP)
    with open_source(path) as source:
        forge(source, out=place / "forged")
    return place / "forged"


@pytest.fixture(scope="module")
def contract(folder: Path) -> FluidContract:
    """The contract in that folder."""
    return parse_contract(read_contract(folder / "contract.fluid.yaml"))


def odcs_columns(document: dict[str, Any], table: str) -> dict[str, Any]:
    """The columns of a table of an ODCS document by name."""
    schema = next(one for one in document["schema"] if one["name"] == table)
    return {column["name"]: column for column in schema["properties"]}


def test_the_server_is_the_file_that_dbt_builds(contract: FluidContract) -> None:
    """In ODCS and in DCS it is a DuckDB server, whose database is a path."""
    (odcs,) = export(contract, "odcs").document["servers"]
    (dcs,) = export(contract, "dcs").document["servers"].values()
    for server in (odcs, dcs):
        assert (server["type"], server["database"]) == ("duckdb", "dbt/shop.duckdb")


def test_a_reference_with_known_orphans_is_not_a_foreign_key(contract: FluidContract) -> None:
    """A foreign key knows no exceptions; the check that counts them stays."""
    columns = odcs_columns(export(contract, "odcs").document, "sale")
    assert "relationships" not in columns["customer_id"]
    (check,) = [c for c in columns["customer_id"]["quality"] if c["type"] == "sql"]
    assert (check["mustBeLessOrEqualTo"], check["unit"]) == (5, "percent")
    with duckdb.connect() as connection:
        connection.execute(";".join(SHOP))
        assert connection.execute(check["query"]).fetchone() == (2.7,)
    assert columns["shop_id"]["relationships"][0]["to"] == "shop.shop_id"
    fields = export(contract, "dcs").document["models"]["sale"]["fields"]
    assert "references" not in fields["customer_id"]
    assert fields["customer_id"]["config"]["references"] == ["customer.id"]
    assert fields["shop_id"]["references"] == "shop.shop_id"


def test_a_type_that_a_format_lacks_is_left_to_the_physical_type(contract: FluidContract) -> None:
    """An interval said to be text fails every check of its type."""
    exported = export(contract, "odcs")
    columns = odcs_columns(exported.document, "customer")
    assert exported.version == "3.1.0"
    for name, type_ in (("photo", "binary"), ("waits", "interval")):
        assert "logicalType" not in columns[name]
        assert columns[name]["physicalType"] == type_
    fields = export(contract, "dcs").document["models"]["customer"]["fields"]
    assert "type" not in fields["waits"]


def test_a_path_is_relative_to_where_the_export_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And back again: an import tells it from the folder of the contract."""
    monkeypatch.chdir(folder.parent)
    out = folder.parent / "shop.odcs.yaml"
    _fluid("export", "odcs", "forged/contract.fluid.yaml", "-o", str(out))
    (server,) = yaml.safe_load(out.read_text(encoding="utf-8"))["servers"]
    assert server["database"] == "forged/dbt/shop.duckdb"
    _fluid("import", "odcs", "shop.odcs.yaml", "-o", "forged/again.fluid.yaml")
    again = parse_contract(read_contract(folder / "again.fluid.yaml"))
    assert again.exposes[0].binding.location.path == "dbt/shop.duckdb"


@pytest.mark.usefixtures("dbt")
@pytest.mark.skipif(
    DATACONTRACT is None,
    reason="datacontract-cli is not there; set DATACONTRACT to its command (see bench/exports.py)",
)
@pytest.mark.parametrize("format_", ["odcs", "dcs"])
def test_the_public_command_line_passes_what_dbt_built_and_fails_what_was_broken(
    folder: Path, contract: FluidContract, tmp_path: Path, format_: str
) -> None:
    """Many orphans and an unknown value are found; what our rules warn of, it warns of."""
    built = folder / "dbt" / "shop.duckdb"
    if not built.exists():
        assert run_dbt(folder / "dbt").ok
    copied = tmp_path / "dbt" / "shop.duckdb"
    copied.parent.mkdir()
    shutil.copy(built, copied)
    document = tmp_path / "contract.yaml"
    document.write_text(export(contract, format_).text, encoding="utf-8")
    assert _found(document) == {}
    with duckdb.connect(str(copied)) as connection:
        connection.execute("UPDATE customer SET kind = 'other' WHERE id = 1")
        connection.execute("DELETE FROM customer WHERE id < 5")
        connection.execute("DELETE FROM shop WHERE shop_id = 5")
    found = _found(document)
    assert found.keys() == {"customer.kind", "sale.customer_id", "sale.shop_id"}
    assert found["sale.shop_id"] == "failed"


def _fluid(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "fluid_build.cli.main", *arguments], check=True)


def _found(document: Path) -> dict[str, str]:
    """The checks that didn't pass, by column."""
    assert DATACONTRACT is not None
    report = document.with_name("report.json")
    report.unlink(missing_ok=True)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run(
        [DATACONTRACT, "test", document.name, "--output", report, "--output-format", "json"],
        cwd=document.parent,
        env=environment,
        capture_output=True,
        check=False,
    )
    checks = json.loads(report.read_text(encoding="utf-8"))["checks"]
    assert any(check["result"] == "passed" for check in checks)
    return {
        f"{check['model']}.{check['field']}": check["result"]
        for check in reversed(checks)
        if check["model"] and check["result"] != "passed"
    }
