"""Warehouses through the command: profile, forge, verify and dbt, on a stand-in for Snowflake."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.cli.running import Fluid

if TYPE_CHECKING:
    from tests.snowflake import SnowflakeDatabase


@pytest.fixture
def shop(snowflake: "SnowflakeDatabase") -> "SnowflakeDatabase":
    customers = ", ".join(f"({number * 7}, 'c{number}')" for number in range(1, 401))
    orders = ", ".join(f"({number}, {(number % 400 + 1) * 7})" for number in range(1, 901))
    snowflake.run(
        "CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR)",
        f"INSERT INTO customers VALUES {customers}",
        "CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT)",
        f"INSERT INTO orders VALUES {orders}",
    )
    return snowflake


def _forge(fluid: Fluid, shop: "SnowflakeDatabase", folder: Path, *options: str) -> str:
    outcome = fluid("forge", "data-model", "from-source", "--uri", shop.uri, "-o", folder, *options)
    assert outcome.code == 0, outcome.err
    return outcome.out + outcome.err


def test_the_size_of_the_scan_is_a_line_before_the_tables_are_read(
    fluid: Fluid, shop: "SnowflakeDatabase"
) -> None:
    """It's on stderr, like all progress."""
    outcome = fluid("profile", shop.uri)
    assert outcome.code == 0
    lines = outcome.err.splitlines()
    (scan,) = [line for line in lines if line.startswith("Reading 2 tables")]
    assert "1,300 rows" in scan
    assert lines.index(scan) < lines.index("Reading tables ...")


def test_dbt_builds_from_the_copies_and_the_source_is_opened_again(
    fluid: Fluid, shop: "SnowflakeDatabase", tmp_path: Path, dbt: None
) -> None:
    """DuckDB can't attach Snowflake, and a note says that the project has copies."""
    folder = tmp_path / "shop"
    assert "land/customers.parquet, a copy of its rows" in _forge(fluid, shop, folder)
    assert json.loads((folder / "forge.json").read_text())["source"]["location"] == shop.uri
    outcome = fluid("verify", folder, "--uri", shop.uri, "--dbt", "--trust")
    assert outcome.code == 0, outcome.out + outcome.err
    assert "What dbt built" in outcome.out


def test_a_project_for_snowflake_reads_the_tables_where_they_are(
    fluid: Fluid, shop: "SnowflakeDatabase", tmp_path: Path
) -> None:
    """Database and schema are the source's own."""
    _forge(fluid, shop, tmp_path / "shop", "--target", "snowflake")
    project = tmp_path / "shop" / "dbt"
    (path,) = project.rglob("_sources.yml")
    (source,) = yaml.safe_load(path.read_text())["sources"]
    assert (source["database"], source["schema"]) == (shop.name, "PUBLIC")
    assert shop.name in (project / "profiles.yml").read_text()
    assert not (project / "land").exists()


def test_nothing_that_a_sample_shows_is_called_proven(
    fluid: Fluid, shop: "SnowflakeDatabase", tmp_path: Path
) -> None:
    """Neither screen, proof, contract nor tests claim more than the rows that were read."""
    folder = tmp_path / "shop"
    screen = _forge(fluid, shop, folder, "--sample", "200")
    assert "rows (a sample)" in screen
    assert "Holds in the sample." in screen
    assert "Proven" not in screen
    proof = json.loads((folder / "proof.json").read_text())
    assert proof["verdict"] == "holds in the sample"
    assert proof["sampled"] == ["CUSTOMERS", "ORDERS"]
    profile = json.loads((folder / "profile.json").read_text())
    assert profile["tables"][0]["sample"] == {"rows": 200, "total": 400, "is_estimate": False}
    contract = yaml.safe_load((folder / "contract.fluid.yaml").read_text())
    evidence = json.loads((folder / "evidence.json").read_text())["rules"]
    rules = [
        rule
        for expose in contract["exposes"]
        for rule in expose["contract"]["dq"]["rules"]
        if "sample" in evidence[rule["id"]]
    ]
    assert rules
    assert {rule["severity"] for rule in rules} <= {"warn", "info"}
    assert fluid("verify", folder, "--uri", shop.uri).code == 0


def test_sample_and_full_contradict_each_other(fluid: Fluid) -> None:
    """Neither is ignored."""
    outcome = fluid("profile", "snowflake:///shop", "--sample", "10", "--full")
    assert outcome.code == 2
    assert "contradict" in outcome.err


def test_full_is_for_warehouses_only(fluid: Fluid, tmp_path: Path) -> None:
    """Nothing is charged for reading a file."""
    path = tmp_path / "orders.csv"
    path.write_text("id\n1\n2\n")
    outcome = fluid("profile", path, "--full")
    assert outcome.code == 2
    assert "--full" in outcome.err


def test_a_connection_of_snowflakes_own_file_is_enough(
    fluid_process: Fluid, shop: "SnowflakeDatabase", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Account, login and database come from it; nothing of the login is shown or stored."""
    settings = {
        "account": "fakesnow",
        "user": "fake",
        "password": "snow-secret",
        "host": shop.environment["SNOWFLAKE_HOST"],
        "protocol": "http",
        "database": shop.name,
        "schema": "PUBLIC",
    }
    lines = [f'{name} = "{value}"' for name, value in settings.items()]
    path = tmp_path / "connections.toml"
    path.write_text("\n".join(["[dev]", *lines, f"port = {shop.environment['SNOWFLAKE_PORT']}"]))
    path.chmod(0o600)
    for variable in shop.environment:
        monkeypatch.delenv(variable)
    folder = tmp_path / "shop"
    outcome = fluid_process(
        "forge", "data-model", "from-source", "--uri", "snowflake://dev", "-o", folder,
        SNOWFLAKE_HOME=str(tmp_path),
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    written = [file.read_text() for file in folder.rglob("*.*") if file.suffix != ".parquet"]
    assert not any("snow-secret" in text for text in (*written, outcome.out, outcome.err))
    assert json.loads((folder / "forge.json").read_text())["source"]["location"] == (
        "snowflake://dev"
    )
