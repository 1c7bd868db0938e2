"""``fluid forge data-model from-intent``: from what the business wants to a data product."""

import json
from pathlib import Path

import duckdb
import pytest
import yaml

from fluid_build.pipeline.intent.intent import Intent
from fluid_build.pipeline.intent.reading import read_intent
from fluid_build.pipeline.intent.schema_sql import schema_sql
from tests.cli.running import Fluid
from tests.fault_server import LoopbackServer, Reply
from tests.folders import artifacts_of

ANSWER = {
    "name": "Orders",
    "domain": "Sales",
    "entities": [
        {
            "name": "customer",
            "description": "Somebody who buys.",
            "key": ["customer_no"],
            "attributes": [
                {"name": "customer_no", "type": "integer"},
                {"name": "email", "type": "text", "is_personal": True},
            ],
            "references": [],
        },
        {
            "name": "sales_order",
            "description": "What was bought.",
            "key": [],
            "attributes": [{"name": "ordered_on", "type": "date"}],
            "references": [{"to": "customer"}, {"to": "planet"}],
        },
    ],
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a home of its own and no model."""
    for name in ("FLUID_LLM_PROVIDER", "FLUID_LLM_MODEL", "FLUID_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _intent(fluid: Fluid, *arguments: str) -> dict:
    outcome = fluid("forge", "data-model", "from-intent", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def _contract(folder: Path) -> dict:
    return yaml.safe_load((folder / "contract.fluid.yaml").read_text())


def test_the_template_can_be_forged_as_it_is(fluid: Fluid, place: Path) -> None:
    text = fluid("forge", "data-model", "from-intent", "--template").out
    (place / "wishes.yaml").write_text(text)
    document = _intent(fluid, "wishes.yaml", "-o", "orders")
    assert document["technique"] == "dimensional"
    assert "fct_sales_order" in document["built"]
    contract = _contract(place / "orders")
    assert (contract["name"], contract["domain"]) == ("Orders", "Sales")


def test_the_same_intent_gives_the_same_bytes(fluid: Fluid, place: Path) -> None:
    text = fluid("forge", "data-model", "from-intent", "--template").out
    (place / "wishes.yaml").write_text(text)

    def files() -> dict[str, bytes]:
        _intent(fluid, "wishes.yaml", "-o", "orders")
        return artifacts_of(place / "orders")

    assert files() == files()


def test_entities_become_decisions_about_the_tables_of_a_source(
    fluid: Fluid, place: Path, sqlite_shop: Path
) -> None:
    (place / "wishes.yaml").write_text(
        "domain: Sales\n"
        "entities:\n"
        "  - {name: client, table: customer, description: Who buys., key: [customer_id]}\n"
        "  - name: order\n"
        "    attributes: [{name: amount, column: total}, {name: missing}]\n"
    )
    arguments = ("wishes.yaml", "--uri", str(sqlite_shop), "-o", "shop")
    outcome = fluid("forge", "data-model", "from-intent", *arguments)
    assert outcome.code == 0
    assert "order.missing" in outcome.err
    exposes = {expose["exposeId"]: expose for expose in _contract(place / "shop")["exposes"]}
    assert set(exposes) == {"client", "orders"}
    columns = [column["name"] for column in exposes["orders"]["contract"]["schema"]]
    assert "amount" in columns


def test_a_key_of_the_intent_that_does_not_hold_is_refused(
    fluid: Fluid, place: Path, sqlite_shop: Path
) -> None:
    (place / "wishes.yaml").write_text("entities: [{name: customer, key: [city]}]\n")
    document = _intent(fluid, "wishes.yaml", "--uri", str(sqlite_shop), "-o", "shop")
    (entry,) = document["receipt"]["decisions"]
    assert (entry["decision"]["decision"], entry["status"]) == ("set_key", "refused")


def test_references_become_relationships_that_the_data_has_to_bear_out(
    fluid: Fluid, place: Path, sqlite_shop: Path
) -> None:
    (place / "wishes.yaml").write_text(
        "entities:\n"
        "  - {name: client, table: customer, key: [customer_id]}\n"
        "  - name: order\n"
        "    references:\n"
        "      [{to: client}, {to: client, columns: [total]}, {to: client, columns: [x]}]\n"
    )
    arguments = ("wishes.yaml", "--uri", str(sqlite_shop), "-o", "shop")
    outcome = fluid("forge", "data-model", "from-intent", *arguments, "--json")
    assert outcome.code == 0
    entries = json.loads(outcome.out)["receipt"]["decisions"]
    relationships = {
        tuple(entry["decision"]["from_columns"]): entry["status"]
        for entry in entries
        if entry["decision"]["decision"] == "add_relationship"
    }
    assert relationships == {("customer_id",): "accepted", ("total",): "refused"}
    assert "order's reference to client" in outcome.err


def test_types_that_the_source_decides_are_named_once(
    fluid: Fluid, place: Path, sqlite_shop: Path
) -> None:
    (place / "wishes.yaml").write_text(
        "entities:\n"
        "  - name: customer\n"
        "    attributes: [{name: city, type: integer}, {name: name, is_required: true}]\n"
    )
    arguments = ("wishes.yaml", "--uri", str(sqlite_shop), "-o", "shop")
    outcome = fluid("forge", "data-model", "from-intent", *arguments)
    assert outcome.err.count("the intent's aren't used: customer.city, customer.name.") == 1
    own_schema = fluid("forge", "data-model", "from-intent", "wishes.yaml", "-o", "own")
    assert "aren't used" not in own_schema.err


def test_a_model_reads_a_text_and_its_reading_is_kept(
    fluid: Fluid, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LoopbackServer([Reply(json.dumps(ANSWER)), Reply('{"decisions": []}')]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        model = ("--llm-provider", "openai", "--llm-model", "gpt-4.1")
        address = ("--llm-endpoint", server.base_url("openai"))
        _intent(fluid, "Which customers order what?", *model, *address, "-o", "orders")
        assert "Which customers order what?" in server.requests[0].raw.decode()
    intent = read_intent(str(place / "orders" / "intent.yaml"))
    assert [entity.name for entity in intent.entities] == ["customer", "sales_order"]
    assert [reference.to for reference in intent.entities[1].references] == ["customer"]
    again = _intent(fluid, "orders/intent.yaml", "-o", "again", "--deterministic")
    assert again["tables"] == 2


def test_a_text_without_model_or_source_says_what_to_do(fluid: Fluid) -> None:
    outcome = fluid("forge", "data-model", "from-intent", "Which customers order what?")
    assert outcome.code == 2
    assert "--template" in outcome.err


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("entities: [{name: a}, {name: a}]", "line 1: two entities have the name a."),
        ("entities:\n  - name: a b\n", "line 2: `entities.name` isn't a plain name."),
        (
            "entities: [{name: ab, references: [{to: abc}]}]",
            "ab refers to abc, which isn't an entity. Did you mean 'ab'?",
        ),
        ("domain: x\nentitys: []\n", "line 2: unknown field 'entitys'. Did you mean 'entities'?"),
        ("owner: Sales\n", "line 1: `owner` isn't a mapping. Fields of an owner: team and email."),
        (
            "decisions: [{decision: set_kee}]\n",
            "unknown decision 'set_kee'. Did you mean 'set_key'?",
        ),
        ("name: !!python/object/apply:os.system [id]\n", "isn't"),
    ],
)
def test_a_broken_intent_is_refused_with_its_place(
    fluid: Fluid, place: Path, text: str, complaint: str
) -> None:
    (place / "wishes.yaml").write_text(text)
    outcome = fluid("forge", "data-model", "from-intent", "wishes.yaml")
    assert outcome.code == 2
    assert complaint in " ".join(outcome.err.split()) or complaint == "isn't"
    assert "Error: " in outcome.err


def test_a_required_model_that_nobody_configured_leaves_no_folder(
    fluid: Fluid, place: Path
) -> None:
    (place / "wishes.yaml").write_text("entities: [{name: customer}]\n")
    arguments = ("wishes.yaml", "-o", "orders", "--require-llm")
    assert fluid("forge", "data-model", "from-intent", *arguments).code == 2
    assert not (place / "orders").exists()


def test_everything_wrong_with_an_intent_is_said_at_once_in_plain_sentences(
    fluid: Fluid, place: Path
) -> None:
    (place / "wishes.yaml").write_text(
        "entities:\n"
        "  - name: customer\n"
        "    attributes:\n"
        "      - {name: age, typ: integer}\n"
        "      - {name: age, type: int}\n"
        "  - name: sales_order\n"
        "    references: [{to: customr}]\n"
        "decisions: [{decision: set_key, table: a, colums: [b]}]\n"
    )
    outcome = fluid("forge", "data-model", "from-intent", "wishes.yaml")
    assert outcome.code == 2
    message = " ".join(outcome.err.split())
    assert "wishes.yaml has 6 problems" in message
    for sentence in (
        "line 4: unknown field 'typ'. Did you mean 'type'?",
        "line 5: `entities.attributes.type` isn't valid. Allowed: 'text',",
        "line 5: two attributes of customer have the name age.",
        "line 7: sales_order refers to customr, which isn't an entity. Did you mean 'customer'?",
        "line 8: `decisions.columns` is missing.",
        "line 8: unknown field 'colums'. Did you mean 'columns'?",
    ):
        assert sentence in message
    assert "Value error" not in message


def test_texts_of_an_intent_stay_texts_in_its_schema() -> None:
    intent = Intent.model_validate(
        {"entities": [{"name": "a", "description": "it's; DROP TABLE a; --"}]}
    )

    with duckdb.connect() as connection:
        connection.execute(schema_sql(intent))
        query = "SELECT comment FROM duckdb_tables()"
        assert connection.execute(query).fetchall() == [("it's; DROP TABLE a; --",)]
