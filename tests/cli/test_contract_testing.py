"""``fluid test``: what it prints, and how it ends."""

import json
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest
import yaml

from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import built
from fluid_build.verification import read_folder
from tests.cli.running import Fluid


@pytest.fixture
def contract(fluid: Fluid, duckdb_shop: Path, tmp_path: Path) -> Path:
    """The contract that is forged of the two tables."""
    out = tmp_path / "model"
    made = fluid("forge", "data-model", "from-source", "--uri", duckdb_shop, "-o", out)
    assert made.code == 0, made.err
    return out / "contract.fluid.yaml"


def change(database: Path, *statements: str) -> None:
    with duckdb.connect(str(database)) as connection:
        for statement in statements:
            connection.execute(statement)


def loaded_without_tests(source: Path, folder: Path, warehouse: Path) -> Path:
    """A DuckDB file with what a folder's plan builds of a source, whatever its tests say."""
    plan = read_folder(folder).plan
    with open_source(source) as opened, built(opened, plan) as database:
        database.connection.execute(f"ATTACH '{warehouse}' AS warehouse")
        for build in plan.published:
            database.connection.execute(
                f"CREATE TABLE warehouse.{build.name} AS FROM model.{build.name}"
            )
        database.connection.execute("DETACH warehouse")
    return warehouse


def test_data_that_keeps_its_contract_ends_with_0(
    fluid: Fluid, contract: Path, duckdb_shop: Path
) -> None:
    """The screen gives the figures of each table, stderr only the progress."""
    outcome = fluid("test", contract, "--uri", duckdb_shop)
    assert (outcome.code, outcome.err) == (0, "Reading tables ...\nTesting ...\n")
    assert "two satisfies" in outcome.out
    assert "0 failed" in outcome.out
    assert "customer" in outcome.out


def test_a_broken_promise_ends_with_1(fluid: Fluid, contract: Path, duckdb_shop: Path) -> None:
    """It is named with what was observed, what was expected, and a query that shows the rows."""
    change(duckdb_shop, "INSERT INTO orders VALUES (5000, 100, 1.50)")
    outcome = fluid("test", contract, "--uri", duckdb_shop)
    assert outcome.code == 1
    assert "1 of 121 rows violates the rule (99.17% satisfy it)" in " ".join(outcome.out.split())
    assert "expected every row" in outcome.out
    assert 'SELECT "order_id", COUNT(*)' in outcome.out


def test_a_broken_key_of_a_vault_is_named_by_the_columns_of_the_source(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path
) -> None:
    """Its satellite has a hash as its key, which doesn't say what to look for."""
    folder, options = tmp_path / "vault", ("--uri", duckdb_shop, "--technique", "dv2")
    made = fluid("forge", "data-model", "from-source", *options, "-o", folder)
    assert made.code == 0, made.err
    warehouse = loaded_without_tests(duckdb_shop, folder, tmp_path / "warehouse.duckdb")
    change(warehouse, "INSERT INTO sat_customer FROM sat_customer LIMIT 1")
    outcome = fluid("test", folder / "contract.fluid.yaml", "--uri", warehouse)
    assert outcome.code == 1
    assert "failed  sat_customer.unique.unique  1 of 41 rows violates the rule" in outcome.out
    assert "customer_id identifies a row of customer" in outcome.out


def test_a_broken_warning_is_shown_and_ends_with_0(
    fluid: Fluid, contract: Path, duckdb_shop: Path
) -> None:
    """Only the severities error and critical make the test fail."""
    change(duckdb_shop, "INSERT INTO orders VALUES (9000, 100, NULL)")
    outcome = fluid("test", contract, "--uri", duckdb_shop)
    assert outcome.code == 0, outcome.out
    assert "1 warning" in outcome.out
    assert "warning  orders.total.not_null" in outcome.out


def test_json_has_every_check(fluid: Fluid, contract: Path, duckdb_shop: Path) -> None:
    """Stdout is one document, whose counts add up."""
    change(duckdb_shop, "INSERT INTO orders VALUES (5000, 99, 1.50)")
    outcome = fluid("test", contract, "--uri", duckdb_shop, "--json")
    report = json.loads(outcome.out)
    checks = [check for expose in report["exposes"] for check in expose["checks"]]
    assert (outcome.code, report["passed"]) == (1, False)
    assert sum(report["counts"].values()) == len(checks)
    failed = {check["type"] for check in checks if check["status"] == "failed"}
    assert failed == {"uniqueness", "accuracy"}


def test_junit_goes_to_a_file(
    fluid: Fluid, contract: Path, duckdb_shop: Path, tmp_path: Path
) -> None:
    """One suite per expose, along with whatever the screen shows."""
    change(duckdb_shop, "INSERT INTO orders VALUES (5000, 100, 1.50)")
    file = tmp_path / "results" / "junit.xml"
    outcome = fluid("test", contract, "--uri", duckdb_shop, "--junit", file)
    root = ElementTree.parse(file).getroot()
    assert outcome.code == 1
    assert [suite.attrib["name"] for suite in root] == ["customer", "orders"]
    assert root.attrib["failures"] == "1"


def test_junit_is_not_written_among_the_data(fluid: Fluid, contract: Path, tmp_path: Path) -> None:
    """No source is ever written to."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "customer.csv").write_text("customer_id,email,city\n1,a,b\n")
    outcome = fluid("test", contract, "--uri", data, "--junit", data / "junit.xml")
    assert outcome.code == 2
    assert not (data / "junit.xml").exists()


def test_junit_is_written_over_nothing_that_is_read(
    fluid: Fluid, contract: Path, duckdb_shop: Path
) -> None:
    """Neither the database nor the contract can be named for the result."""
    before = duckdb_shop.read_bytes(), contract.read_bytes()
    for target in (duckdb_shop, contract):
        assert fluid("test", contract, "--uri", duckdb_shop, "--junit", target).code == 2
    assert (duckdb_shop.read_bytes(), contract.read_bytes()) == before


def test_data_without_a_table_of_the_contract_ends_with_2(
    fluid: Fluid, contract: Path, tmp_path: Path
) -> None:
    """The message says what the contract describes, and where to look."""
    other = tmp_path / "other.duckdb"
    change(other, "CREATE TABLE something (n INTEGER)")
    outcome = fluid("test", contract, "--uri", other)
    assert (outcome.code, outcome.out) == (2, "")
    assert "It describes customer, orders" in outcome.err
    assert "build" in outcome.err


@pytest.mark.parametrize("text", ["a: [1", "kind: DataProduct\n"])
def test_an_unusable_contract_ends_with_2(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path, text: str
) -> None:
    """Neither broken YAML nor an invalid contract is tested."""
    file = tmp_path / "contract.yaml"
    file.write_text(text)
    outcome = fluid("test", file, "--uri", duckdb_shop)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("Error: ")


def test_a_schema_is_chosen_by_the_option(fluid: Fluid, contract: Path, duckdb_shop: Path) -> None:
    """Where two schemas hold the tables, one has to be named."""
    change(
        duckdb_shop,
        "CREATE SCHEMA other",
        "CREATE TABLE other.customer AS FROM customer",
        "CREATE TABLE other.orders AS FROM orders",
    )
    assert fluid("test", contract, "--uri", duckdb_shop).code == 2
    assert fluid("test", contract, "--uri", duckdb_shop, "--schema", "other").code == 0


def test_no_personal_value_is_printed(
    fluid: Fluid, contract: Path, duckdb_shop: Path, tmp_path: Path
) -> None:
    """Broken promises about e-mail addresses are reported as counts, wherever they go."""
    change(duckdb_shop, "INSERT INTO customer SELECT 1, email, city FROM customer LIMIT 2")
    file = tmp_path / "junit.xml"
    screen = fluid("test", contract, "--uri", duckdb_shop, "--junit", file)
    data = fluid("test", contract, "--uri", duckdb_shop, "--json")
    assert screen.code == data.code == 1
    for output in (screen.out, screen.err, data.out, file.read_text(encoding="utf-8")):
        assert "someone" not in output
        assert "example.org" not in output


@pytest.mark.parametrize(
    ("severity", "said", "code"),
    [("error", "broken promise", 1), ("warn", "warning", 0), ("info", "note", 0)],
)
def test_a_promise_is_called_broken_where_it_fails_the_test(
    fluid: Fluid, contract: Path, duckdb_shop: Path, tmp_path: Path,
    severity: str, said: str, code: int,
) -> None:  # fmt: skip
    """The words and the exit code agree, whatever the severity of what the data breaks."""
    document = yaml.safe_load(contract.read_text(encoding="utf-8"))
    for expose in document["exposes"]:
        for rule in expose["contract"]["dq"]["rules"]:
            rule["severity"] = severity
    file = tmp_path / "contract.json"
    file.write_text(json.dumps(document))
    change(duckdb_shop, "INSERT INTO customer SELECT 1, email, city FROM customer LIMIT 2")
    outcome = fluid("test", file, "--uri", duckdb_shop)
    assert outcome.code == code
    assert said in outcome.out
    assert ("broken promise" in outcome.out) == (code == 1)


def test_a_password_is_not_printed(fluid: Fluid, contract: Path) -> None:
    """A server that does not answer is named without it."""
    outcome = fluid("test", contract, "--uri", "postgresql://me:hunter2@127.0.0.1:1/shop")
    assert outcome.code == 2
    assert "hunter2" not in outcome.out + outcome.err


def test_a_strangers_names_do_not_act_on_the_terminal(
    fluid: Fluid, contract: Path, duckdb_shop: Path, tmp_path: Path
) -> None:
    """Control characters of a contract are shown as escapes."""
    document = yaml.safe_load(contract.read_text(encoding="utf-8"))
    rules = document["exposes"][0]["contract"]["dq"]["rules"]
    rules.append({"id": "\x1b[2Jx", "type": "drift_detection", "severity": "error"})
    file = tmp_path / "nasty.json"
    file.write_text(json.dumps(document))
    outcome = fluid("test", file, "--uri", duckdb_shop)
    assert "\x1b" not in outcome.out
    assert "\\x1b[2Jx" in outcome.out


def test_it_runs_as_a_process(fluid_process: Fluid, contract: Path, duckdb_shop: Path) -> None:
    """The real command, from an empty folder."""
    outcome = fluid_process("test", contract, "--uri", duckdb_shop)
    assert outcome.code == 0, outcome.err


def test_the_exposes_that_fail_are_shown_first_and_the_others_counted(
    fluid: Fluid, tmp_path: Path
) -> None:
    """Of 60 tables: 45 with a broken key, 14 that are gone, one as promised."""
    database, folder = tmp_path / "wide.duckdb", tmp_path / "model"
    names = [f"t{number:02d}" for number in range(60)]
    change(
        database, *(f"CREATE TABLE {name} AS SELECT i AS id FROM range(9) r(i)" for name in names)
    )
    made = fluid("forge", "data-model", "from-source", "--uri", database, "-o", folder)
    assert made.code == 0, made.err
    change(database, *(f"DROP TABLE {name}" for name in names[1:15]))
    change(database, *(f"INSERT INTO {name} VALUES (1)" for name in names[15:]))
    outcome = fluid("test", folder / "contract.fluid.yaml", "--uri", database)
    assert outcome.code == 1
    overview = outcome.out.partition("\nTables\n")[2].partition("\n\n")[0]
    assert "and 40 more: see --json" in overview
    assert "  t00 " not in overview
    missing = outcome.out.partition("\nMissing  14 tables\n")[2].partition("\n\n")[0]
    assert missing.count("failed  ") == 12
    assert "and 2 more: see --json" in missing
    assert outcome.out.count("1 broken promise\n") == 40
    assert "Further  5: see --json" in outcome.out
