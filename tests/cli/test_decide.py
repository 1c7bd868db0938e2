"""fluid decide: a decision is checked, written, and followed by the next forge."""

import json
import shlex
from pathlib import Path
from typing import Any

import duckdb
import pytest

from fluid_build.cli.deciding.targets import FolderNames, reference_of
from fluid_build.decisions.files import read_decision_file
from fluid_build.decisions.language import AnyDecision
from tests.cli.running import Fluid
from tests.folders import artifacts_of
from tests.forges import forged


@pytest.fixture(scope="module")
def shop_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault of two tables, next to its source."""
    folder = tmp_path_factory.mktemp("shop")
    source = folder / "shop.duckdb"
    with duckdb.connect(str(source)) as database:
        database.execute(
            """
            CREATE TABLE customers AS SELECT i * 7 + 100 AS id, 'Town ' || i % 5 AS city,
                'C-' || (1000 + i) AS number FROM range(40) t(i);
            CREATE TABLE "order lines" AS SELECT i + 5000 AS "no.", (i * 11 % 40) * 7 + 100
                AS customer_id, i % 17 AS total FROM range(120) t(i);
            """
        )
    return forged(source, folder / "shop-model", "data_vault_2")


@pytest.fixture(autouse=True)
def undecided(shop_model: Path) -> None:
    """Each test starts without decisions."""
    (shop_model / "decisions.yaml").unlink(missing_ok=True)


def decisions(folder: Path) -> list[dict[str, object]]:
    recorded: tuple[AnyDecision, ...] = read_decision_file(folder / "decisions.yaml").decisions
    return [
        decision.model_dump(mode="json", exclude_defaults=True) | {"decision": decision.decision}
        for decision in recorded
    ]


LINES, REFERENCE = (
    "order lines",
    {
        "from_table": "order lines",
        "from_columns": ["customer_id"],
        "to_table": "customers",
        "to_columns": ["id"],
    },
)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["set-key", LINES, "no."], {"table": LINES, "columns": ["no."]}),
        (["business-key", "customers", "number"], {"table": "customers", "columns": ["number"]}),
        (["grain", LINES, "NO."], {"table": LINES, "columns": ["no."]}),
        (["add-relationship", "order lines.customer_id", "customers.id"], REFERENCE),
        (["drop_relationship", '"order lines".customer_id', "CUSTOMERS.id"], REFERENCE),
        (["classify", "customers", "hub"], {"table": "customers", "role": "hub"}),
        (
            ["measure", "order lines.total", "none"],
            {"table": LINES, "column": "total", "additivity": "none"},
        ),
        (
            ["personal-data", "customers.city", "--not"],
            {"table": "customers", "column": "city", "is_personal": False},
        ),
        (["rename", "order lines.no.", "n"], {"table": LINES, "column": "no.", "new_name": "n"}),
        (["rename", "hub_customers", "hub_buyer"], {"element": "hub_customers"}),
        (["describe", "customers", "Who buys."], {"table": "customers", "text": "Who buys."}),
        (["domain", "Sales"], {"domain": "Sales"}),
        (["owner", "Ann", "--email", "a@x.org"], {"team": "Ann", "email": "a@x.org"}),
        (["name", "Bike shop"], {"name": "Bike shop"}),
        (["ignore", "customers", "--reason", "It's old."], {"reason": "It's old."}),
    ],
)
def test_each_kind_is_written(
    fluid: Fluid, shop_model: Path, arguments: list[str], expected: dict[str, object]
) -> None:
    outcome = fluid("decide", shop_model, *arguments, "--json")
    assert outcome.code == 0, outcome.err
    (written,) = decisions(shop_model)
    assert written | expected == written
    assert written["decision"] == arguments[0].replace("-", "_")
    document = json.loads(outcome.out)
    assert document["written"] is True
    assert document["decision"]["by"] == "person"


def test_the_schema_is_written_next_to_the_file(fluid: Fluid, shop_model: Path) -> None:
    fluid("decide", shop_model, "domain", "Sales")
    assert (shop_model / "decisions.yaml").read_text().startswith("# yaml-language-server: $schema")
    schema = (shop_model / "decisions.schema.json").read_text()
    assert fluid("decide", "--schema").out == schema


def test_what_the_data_contradicts_is_refused_with_the_figure_and_the_query(
    fluid: Fluid, shop_model: Path
) -> None:
    outcome = fluid("decide", shop_model, "set-key", LINES, "customer_id")
    assert outcome.code == 1
    assert "isn't unique: 80 of 120 rows repeat a value." in outcome.out
    assert 'SELECT "customer_id", COUNT(*)' in outcome.out
    assert "Nothing was written." in outcome.out
    assert not (shop_model / "decisions.yaml").exists()


def test_a_person_may_insist(fluid: Fluid, shop_model: Path) -> None:
    arguments = ("set-key", LINES, "customer_id", "--despite-violations", "--json")
    outcome = fluid("decide", shop_model, *arguments)
    assert (outcome.code, json.loads(outcome.out)["status"]) == (0, "insisted")
    assert decisions(shop_model)[0]["despite_violations"] is True


def test_a_later_decision_replaces_the_one_about_the_same(fluid: Fluid, shop_model: Path) -> None:
    fluid("decide", shop_model, "owner", "Ann")
    fluid("decide", shop_model, "domain", "Sales")
    fluid("decide", shop_model, "owner", "Bob")
    assert decisions(shop_model) == [
        {"decision": "domain", "domain": "Sales"},
        {"decision": "owner", "team": "Bob"},
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["set-key", "custmers", "id"], "There's no table 'custmers'. Did you mean 'customers'?"),
        (["business-key", "customers", "idd"], "customers has no column 'idd'. Did you mean 'id'?"),
        (["measure", "customers", "none"], "'customers' names no column."),
        (["measure", "customers.id,city", "none"], "'customers.id,city' names several columns."),
        (["classify", "customers", "hob"], "This isn't a valid decision: role: "),
        (["rename", "customers", "a b"], "This isn't a valid decision: new name: "),
        (["rename", "hub_x", "hub_y", "--element"], "There's no element 'hub_x'."),
        (["type", "customers.city"], "needs exactly one of --date-format, --decimal and --text"),
        (["set-ky", "customers", "id"], "Unknown decision 'set-ky'. Did you mean 'set-key'?"),
    ],
)
def test_wrong_usage_says_what_is_right(
    fluid: Fluid, shop_model: Path, arguments: list[str], message: str
) -> None:
    outcome = fluid("decide", shop_model, *arguments)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
    assert not (shop_model / "decisions.yaml").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--date-format", "%d/%m/%Y"], {"read_as": "date", "date_format": "%d/%m/%Y"}),
        (["--date-format", "%d.%m.%y %H:%M"], {"read_as": "timestamp"}),
        (["--decimal", "comma"], {"read_as": "number", "decimal": "comma"}),
        (["--text"], {"read_as": "text"}),
    ],
)
def test_a_folder_without_a_forge_takes_any_name(
    fluid: Fluid, tmp_path: Path, options: list[str], expected: dict[str, str]
) -> None:
    outcome = fluid("decide", tmp_path / "new", "type", "crm.orders.placed", *options, "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["status"], document["next"]) == (0, "unchecked", None)
    (written,) = decisions(tmp_path / "new")
    assert written | expected | {"table": "crm.orders", "column": "placed"} == written


def test_a_file_that_is_not_valid_is_left_alone(fluid: Fluid, shop_model: Path) -> None:
    (shop_model / "decisions.yaml").write_text("decisions: [{decision: sing}, 3]\n")
    outcome = fluid("decide", shop_model, "domain", "Sales")
    assert outcome.code == 2
    assert "decisions.yaml has 2 problems." in outcome.err
    assert "       line 1, entry 2: not a mapping." in outcome.err
    assert (shop_model / "decisions.yaml").read_text() == "decisions: [{decision: sing}, 3]\n"


def test_a_source_that_can_not_be_opened_is_measured_by_the_next_forge(
    fluid: Fluid, shop_model: Path, tmp_path: Path
) -> None:
    manifest: Any = json.loads((shop_model / "forge.json").read_text())
    manifest["source"]["location"] = "../elsewhere/shop.duckdb"
    for file in shop_model.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "forge.json").write_text(json.dumps(manifest))
    outcome = fluid("decide", tmp_path, "set-key", LINES, "customer_id", "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["status"]) == (0, "unchecked")
    assert document["message"].endswith("the next forge will measure it.")


def test_the_next_forge_follows_the_decision_and_repeats_to_the_byte(
    fluid: Fluid, shop_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop_model.parent)
    fluid("decide", "shop-model", "business-key", "customers", "id")
    outcome = fluid("decide", "shop-model", "domain", "Sales", "--json")
    (_, *command) = shlex.split(json.loads(outcome.out)["next"])
    assert command[:3] == ["forge", "data-model", "from-source"]
    first = fluid(*command)
    assert first.code == 0, first.err
    model = json.loads((shop_model / "model.json").read_text())
    hub = next(hub for hub in model["dv2"]["hubs"] if hub["entity_name"] == "customers")
    assert hub["business_key_columns"] == ["id"]
    assert [entry.get("evidence") is not None for entry in decisions(shop_model)] == [True, False]
    before = artifacts_of(shop_model)
    second = fluid(*command)
    assert second.code == 0, second.err
    assert artifacts_of(shop_model) == before
    assert "Kept" not in second.out


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("a.b", ("a", ("b",))),
        ("a.b.c", ("a.b", ("c",))),
        ("a.b.c,d e", ("a.b", ("c", "d e"))),
        ("A.B.x,y", ("a.b", ("x,y",))),
        ('"a.b"."x,y",c', ("a.b", ("x,y", "c"))),
        ('a.b."x,y",c', ("a.b", ("x,y", "c"))),
        ('a."q""q"', ("a", ('q"q',))),
    ],
)
def test_names_are_looked_up_and_the_longest_table_is_meant(
    reference: str, expected: tuple[str, tuple[str, ...]]
) -> None:
    names = FolderNames({"a": ("b", 'q"q'), "a.b": ("c", "d e", "x,y")})
    assert reference_of(reference, names) == expected
