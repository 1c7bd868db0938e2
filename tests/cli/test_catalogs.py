"""A data catalog, forged by the command without an address: contract, dbt project, review."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keyring
import pytest
import yaml

from fluid_build.copilot.events import Event, get_event_bus
from tests.cli.running import Fluid
from tests.sources.catalogs import datahub_api, google_api, mesh_api, unity_api
from tests.sources.catalogs.api_server import Handler, serving
from tests.sources.test_credentials import MemoryKeyring
from tests.transform.dbt.projects import manifest

if TYPE_CHECKING:
    from tests.snowflake import SnowflakeDatabase

Fields = dict[str, str]

SECRETS = (
    unity_api.TOKEN,
    datahub_api.TOKEN,
    mesh_api.KEY,
    google_api.TOKEN,
    "aws-secret-of-tests",
)


@contextmanager
def _glue() -> Iterator[Fields]:
    from tests.sources.catalogs.glue_server import REGION, glue_server, make_shop

    with glue_server() as address:
        make_shop(address, "draft")
        yield {
            "endpoint": address,
            "region": REGION,
            "access_key_id": "testing",
            "secret_access_key": "aws-secret-of-tests",
        }


def _api(handler: Handler, field: str = "host", **fields: str) -> Callable[[], Any]:
    @contextmanager
    def running() -> Iterator[Fields]:
        with serving(handler) as api:
            yield {field: f"http://{api.host}", **fields}

    return running


CATALOGS: dict[str, Callable[[], Any]] = {
    "glue": _glue,
    "unity": _api(unity_api.databricks, token=unity_api.TOKEN),
    "datahub": _api(datahub_api.datahub, token=datahub_api.TOKEN),
    "datamesh-manager": _api(mesh_api.mesh, api_key=mesh_api.KEY),
    "bigquery": _api(google_api.bigquery, "BIGQUERY_EMULATOR_HOST", project=google_api.PROJECT),
    "dataplex": _api(
        google_api.dataplex,
        "endpoint",
        token=google_api.TOKEN,
        project=google_api.PROJECT,
        location="eu",
    ),
}
"""What runs each catalog, and yields the fields of its credential, or variables in upper case."""
SCHEMA = {"glue": ("--schema", "draft")}
"""Stand-ins for AWS in one process share their data, which other tests fill too."""
OWNERS = {
    "bigquery": "order-desk",
    "glue": "Order desk",
    "unity": "Orders",
    "datahub": "Order desk",
    "datamesh-manager": "unassigned",  # Two teams own the products.
    "dataplex": "Order desk",
}
KEYS = {
    "bigquery": {"customers": ["customer_id"], "orders": ["order_id"]},
    "glue": {"customers": ["customer_id"], "orders": ["order_id"]},
    "unity": {"customers": ["customer_id"], "orders": ["order_id"]},
    "datahub": {"customers": ["id"], "orders": ["order_id"]},
    "datamesh-manager": {
        "orders.customers": ["customer_id"],
        "orders.orders": ["order_id"],
        "people.tbl_person": ["id"],
    },
    "dataplex": {"orders": None},
}


@pytest.fixture(scope="module", params=CATALOGS)
def catalog(request: pytest.FixtureRequest) -> Iterator[tuple[str, Fields]]:
    with CATALOGS[request.param]() as fields:
        yield request.param, fields


@pytest.fixture
def name(catalog: tuple[str, Fields], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The catalog, with a credential in the environment and a home of the test's own."""
    name, fields = catalog
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    for field, value in fields.items():
        variable = field if field.isupper() else f"FLUID_CREDENTIAL_MY_LOGIN_{field.upper()}"
        monkeypatch.setenv(variable, value)
    return name


@pytest.fixture
def folder(name: str, fluid: Fluid, tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    outcome = fluid(
        *("forge", "data-model", "from-source", "--source", name),
        *("--credential-id", "my-login", "-o", folder, "--receipt", tmp_path / "receipt.json"),
        *SCHEMA.get(name, ()),
    )
    # A contract of Data Mesh Manager is gone, and what is missing is never passed over.
    assert outcome.code == (1 if name == "datamesh-manager" else 0), outcome.err
    assert "No rows were read, so nothing is measured" in outcome.out
    return folder


def contract_of(folder: Path) -> Any:
    return yaml.safe_load((folder / "contract.fluid.yaml").read_text(encoding="utf-8"))


def test_the_draft_has_what_the_catalog_declares(name: str, folder: Path) -> None:
    profile = json.loads((folder / "profile.json").read_text())
    assert profile["has_data"] is False
    assert {table["name"]: table["primary_key"] for table in profile["tables"]} == KEYS[name]
    contract = contract_of(folder)
    assert contract["metadata"]["owner"]["team"] == OWNERS[name]
    labels = [label for expose in contract["exposes"] for label in expose.get("labels", {})]
    assert "catalog-tables" in labels


def test_no_secret_is_written_or_shown(folder: Path, fluid: Fluid, tmp_path: Path) -> None:
    places = [folder, tmp_path / "home", tmp_path / "receipt.json"]
    files = [file for place in places for file in [place, *place.rglob("*")] if file.is_file()]
    assert len(files) > 10
    written = b"".join(file.read_bytes() for file in files).decode(errors="replace")
    shown = fluid("runs", "list").out + fluid("review", folder).out
    assert not [secret for secret in SECRETS if secret in written + shown]


def test_the_receipt_has_the_time_that_the_catalog_took(
    name: str, folder: Path, tmp_path: Path
) -> None:
    receipt = json.loads((tmp_path / "receipt.json").read_text())
    assert list(receipt["catalog_fetch_ms"]) == [name]
    assert receipt["catalog_fetch_ms"][name] > 0


def test_the_contract_is_valid_and_the_folder_can_be_reviewed(folder: Path, fluid: Fluid) -> None:
    assert fluid("validate", folder / "contract.fluid.yaml").code == 0
    review = json.loads(fluid("review", folder, "--json").out)
    assert {"domain", "owner"} <= {question["id"] for question in review["questions"]}


def test_verify_asks_before_a_login_is_sent(folder: Path, fluid: Fluid) -> None:
    outcome = fluid("verify", folder)
    assert outcome.code == 2
    assert "a folder may never choose where a login is sent" in outcome.err
    again = json.loads((folder / "forge.json").read_text())["source"]["location"]
    outcome = fluid("verify", folder, "--uri", again)
    assert outcome.code == 1
    assert "There is no data to compare" in outcome.out


@pytest.mark.parametrize("catalog", ["glue"], indirect=True)
def test_the_fetch_is_an_event(name: str, fluid: Fluid, tmp_path: Path) -> None:
    events: list[Event] = []
    unsubscribe = get_event_bus().subscribe(events.append)
    try:
        fluid(
            *("forge", "data-model", "from-source", "--source", name),
            *("--credential-id", "my-login", "-o", tmp_path / "model", *SCHEMA["glue"]),
        )
    finally:
        unsubscribe()
    (event,) = [event for event in events if event.event_type == "catalog.fetch_completed"]
    assert event.payload["catalog_name"] == "glue"
    assert event.payload["duration_ms"] > 0


@pytest.mark.parametrize("catalog", ["glue"], indirect=True)
@pytest.mark.usefixtures("dbt")
def test_dbt_reads_the_project(folder: Path, tmp_path: Path) -> None:
    document = manifest(folder / "dbt", tmp_path / "target")
    assert isinstance(document["sources"], dict)
    assert {source["name"] for source in document["sources"].values()} == {"customers", "orders"}


@pytest.mark.parametrize("catalog", ["glue"], indirect=True)
def test_what_the_catalog_names_can_be_accepted_or_overruled(folder: Path, fluid: Fluid) -> None:
    assert fluid("review", folder, "--answer", "domain=1", "--answer", "owner=Sales team").code == 0
    decisions = yaml.safe_load((folder / "decisions.yaml").read_text(encoding="utf-8"))["decisions"]
    assert {"decision": "domain", "domain": "Sales"}.items() <= decisions[0].items()
    assert {"decision": "owner", "team": "Sales team"}.items() <= decisions[1].items()


@pytest.mark.parametrize("catalog", ["glue"], indirect=True)
def test_a_personal_tag_makes_a_column_personal(folder: Path) -> None:
    (customers,) = (e for e in contract_of(folder)["exposes"] if e["exposeId"] == "customers")
    mailbox = customers["contract"]["schema"][1]
    assert (mailbox["name"], mailbox["sensitivity"]) == ("mailbox", "pii")
    assert json.loads(mailbox["labels"]["catalog-tags"]) == ["pii"]


@pytest.mark.parametrize("catalog", ["glue"], indirect=True)
def test_rows_that_can_be_read_are_measured_and_copied_for_dbt(
    catalog: tuple[str, Fields], name: str, fluid: Fluid, tmp_path: Path
) -> None:
    address = catalog[1]["endpoint"]
    from tests.sources.catalogs.glue_server import make_shop, put_rows

    make_shop(address, "forged")
    orders = "SELECT range + 10 AS order_id, 1 AS customer_id, 2.5 AS amount FROM range(4)"
    put_rows(address, orders, "forged/orders/day=2024-05-01/part-0")
    put_rows(address, "SELECT 1 AS customer_id, 'a@x.org' AS mailbox", "forged/customers/part-0")
    outcome = fluid(
        *("forge", "data-model", "from-source", "--uri", "glue:///forged"),
        *("--credential-id", "my-login", "-o", tmp_path / "model"),
    )
    assert outcome.code == 0, outcome.err
    assert json.loads((tmp_path / "model/proof.json").read_text())["verdict"] == "proven"
    copies = [path.name for path in (tmp_path / "model/dbt").rglob("*.parquet")]
    assert len(copies) == 2
    build = contract_of(tmp_path / "model")
    assert build["metadata"]["owner"]["team"] == "Order desk"
    location = json.loads((tmp_path / "model/forge.json").read_text())["source"]["location"]
    assert fluid("verify", tmp_path / "model", "--uri", location).code == 0


def test_snowflake_is_forged_without_an_address(
    snowflake: "SnowflakeDatabase", fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snowflake.run("CREATE TABLE orders (id INTEGER PRIMARY KEY) COMMENT = 'Every order'")
    for name, value in snowflake.environment.items():
        field = name.removeprefix("SNOWFLAKE_")
        monkeypatch.setenv(f"FLUID_CREDENTIAL_SNOWFLAKE_PROD_{field}", value)
    monkeypatch.setenv("FLUID_CREDENTIAL_SNOWFLAKE_PROD_DATABASE", snowflake.name)
    outcome = fluid(
        *("forge", "data-model", "from-source", "--source", "snowflake"),
        *("--credential-id", "snowflake-prod", "-o", tmp_path / "model"),
    )
    assert outcome.code == 0, outcome.err
    (orders,) = contract_of(tmp_path / "model")["exposes"]
    assert "Every order" in orders["description"]
    keys = [c["name"] for c in orders["contract"]["schema"] if "primary-key" in c.get("tags", ())]
    assert keys == ["id"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "glue", "--credential-id", "a b"], "can't be the name of a credential"),
        (["--source", "sqlite", "--credential-id", "prod"], "Missing option '--uri'"),
        (["--uri", "shop.db", "--credential-id", "prod"], "--uri names something else"),
        (["--uri", "glue://?login=a", "--credential-id", "b"], "names a credential already"),
        (["--source", "snowflake"], "add --credential-id NAME"),
        (["--source", "gleu"], "Did you mean 'glue'?"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    fluid: Fluid, arguments: list[str], message: str
) -> None:
    outcome = fluid("forge", "data-model", "from-source", *arguments)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_credential_is_stored_listed_and_removed(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLUID_HOME", str(tmp_path))
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    try:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{datahub_api.TOKEN}\n"))
        stored = fluid("credentials", "set", "hub", "token", "--stdin")
        listed = fluid("credentials", "list", "--json")
        removed = fluid("credentials", "rm", "hub")
        gone = fluid("credentials", "rm", "hub")
    finally:
        keyring.set_keyring(before)
    assert [outcome.code for outcome in (stored, listed, removed, gone)] == [0, 0, 0, 2]
    (entry,) = json.loads(listed.out)["credentials"]
    assert (entry["credential"], entry["keyring"]) == ("hub", ["token"])
    assert datahub_api.TOKEN not in stored.out + listed.out + removed.out


def test_a_value_is_never_an_argument(fluid: Fluid) -> None:
    """It would stay in the history of the shell."""
    assert fluid("credentials", "set", "hub", "token", "the-value").code == 2
