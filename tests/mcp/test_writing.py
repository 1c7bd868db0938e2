"""A server that may write, and shares values of columns that aren't personal."""

from __future__ import annotations

from pathlib import Path

from fluid_build.decisions.files import read_decision_file
from tests.mcp.clients import Caller
from tests.mcp.conftest import CANARY

SHOP = {"source": "shop.db"}
KEY = {"decision": "set_key", "table": "orders", "columns": ["order_no"], "reason": "Unique."}


def test_the_tools_that_write_say_so(writer: Caller) -> None:
    annotations = {tool.name: tool.annotations for tool in writer.ask("list_tools").tools}
    writing = [name for name, each in annotations.items() if not each.read_only_hint]
    assert writing == ["propose_decision", "forge", "verify"]
    assert [name for name, each in annotations.items() if each.destructive_hint] == ["forge"]


def test_an_accepted_decision_is_written_as_the_models(writer: Caller, writable: Path) -> None:
    proposed = writer.call("propose_decision", **SHOP, folder="decided", decision=KEY).document
    assert proposed["is_written"] is True
    assert proposed["file"] == "decided/decisions.yaml"
    (written,) = read_decision_file(writable / "decided/decisions.yaml").decisions
    assert (written.decision, written.by, written.reason) == ("set_key", "model", "Unique.")


def test_a_refused_decision_is_not_written(writer: Caller, writable: Path) -> None:
    decision = {"decision": "set_key", "table": "orders", "columns": ["status"]}
    proposed = writer.call("propose_decision", **SHOP, folder="refused", decision=decision).document
    assert (proposed["outcome"], proposed["is_written"]) == ("refused", False)
    assert not (writable / "refused").exists()


def test_a_persons_decision_is_not_overruled(writer: Caller, writable: Path) -> None:
    folder = writable / "personal"
    folder.mkdir()
    text = "version: 1\ndecisions:\n- {decision: domain, domain: Sales}\n"
    (folder / "decisions.yaml").write_text(text)
    decision = {"decision": "domain", "domain": "Logistics"}
    refusal = writer.refusal("propose_decision", **SHOP, folder="personal", decision=decision)
    assert "A person has decided about this: domain Sales" in refusal
    assert (folder / "decisions.yaml").read_text() == text


def test_a_forge_writes_a_folder_follows_its_decisions_and_can_be_verified(
    writer: Caller, writable: Path
) -> None:
    decision = {"decision": "domain", "domain": "Logistics", "reason": "Orders and customers."}
    writer.call("propose_decision", **SHOP, folder="new/star", decision=decision)
    arguments = {**SHOP, "technique": "dimensional", "folder": "new/star"}
    forged = writer.call("forge", **arguments).document
    assert (forged["is_written"], forged["proof"]) == (True, "proven")
    assert [each["outcome"] for each in forged["decisions"]] == ["accepted"]
    assert "domain: Logistics" in writer.read("fluid://workspace/new/star/contract.fluid.yaml")
    models = writer.call("search_memory", query="orders customer").document["models"]
    assert any(model["name"].startswith("shop-dimensional") for model in models)
    verified = writer.call("verify", folder="new/star").document
    assert (verified["holds"], verified["is_recorded"]) == (True, True)
    again = writer.call("forge", **arguments, preview=True).document
    assert again["is_written"] is False
    changes = again["changes"]
    assert (changes["added"], changes["replaced"], changes["removed"]) == (0, 0, 0)


def test_a_file_that_somebody_edited_is_kept(writer: Caller, writable: Path) -> None:
    writer.call("forge", **SHOP, folder="edited")
    document = writable / "edited/MODEL.md"
    document.write_text("My own words.")
    forged = writer.call("forge", **SHOP, folder="edited").document
    assert forged["changes"]["kept"] == ["MODEL.md"]
    assert document.read_text() == "My own words."


def test_a_forge_never_writes_into_its_source(writer: Caller, writable: Path) -> None:
    (writable / "exports").mkdir()
    (writable / "exports/cities.csv").write_text("city_no,city\n1,Bern\n2,Basel\n")
    refusal = writer.refusal("forge", source="exports", folder="exports/model")
    assert "never writes to a source" in refusal
    assert str(writable) not in refusal


def test_shared_values_are_those_of_columns_that_are_not_personal(writer: Caller) -> None:
    customer = writer.call("describe_table", **SHOP, table="customer")
    columns = {column["name"]: column["values"] for column in customer.document["columns"]}
    assert columns["email"] is None
    assert len(columns["grade"]["most_frequent"]) == 4
    assert f"{CANARY}1" in customer.text
    assert "@example.org" not in customer.text + str(customer.document)


def test_examples_of_repeats_and_orphans_are_shared(writer: Caller) -> None:
    key = writer.call("check_key", **SHOP, table="orders", columns=["batch"]).document
    assert len(key["repeated_values"]) == 5
    assert all(CANARY in value for (value,) in key["repeated_values"])
    relationship = {"from_table": "orders", "to_table": "customer"}
    columns = {"from_columns": ["customer_no"], "to_columns": ["customer_no"]}
    check = writer.call("check_relationship", **SHOP, **relationship, **columns).document
    assert sorted(check["orphan_values"]) == [["520"], ["527"], ["534"]]


def test_examples_of_personal_columns_are_never_shared(writer: Caller) -> None:
    arguments = {"from_table": "customer", "from_columns": ["email"], "to_table": "orders"}
    check = writer.call("check_relationship", **SHOP, **arguments, to_columns=["batch"])
    assert "@example.org" not in check.text + str(check.document)


def test_a_source_that_changes_is_measured_again(writer: Caller, writable: Path) -> None:
    path = writable / "growing.csv"
    path.write_text("id,city\n1,Bern\n2,Basel\n")
    first = writer.call("profile_source", source="growing.csv").document
    path.write_text("id,city\n1,Bern\n2,Basel\n3,Chur\n")
    second = writer.call("profile_source", source="growing.csv").document
    assert [each["tables"][0]["rows"] for each in (first, second)] == [2, 3]


def test_a_folder_that_was_forged_from_a_glob_is_verified(writer: Caller, writable: Path) -> None:
    (writable / "regions").mkdir()
    for name in ("north", "south"):
        (writable / f"regions/{name}.csv").write_text(f"city_no,city\n1,{name}\n2,Basel\n")
    forged = writer.call("forge", source="regions/*.csv", folder="regions-model").document
    assert forged["is_written"] is True
    assert writer.call("verify", folder="regions-model").document["holds"] is True


def test_a_model_cannot_say_which_tables_are_one_and_reads_them_as_a_person_said(
    writer: Caller, writable: Path
) -> None:
    place = writable / "visits"
    place.mkdir()
    for name in ("north", "south"):
        (place / f"visits_{name}.csv").write_text("visit_no,city\n1,Bern\n2,Basel\n")
    folder = writable / "visited"
    folder.mkdir()
    (folder / "decisions.yaml").write_text(
        "version: 1\ndecisions:\n- {decision: one_table, table: visits, parts: ['visits_*']}\n"
    )
    arguments = {"source": "visits", "folder": "visited"}
    key = {"decision": "set_key", "table": "visits", "columns": ["visit_no", "part"]}
    proposed = writer.call("propose_decision", **arguments, decision=key).document
    assert (proposed["outcome"], proposed["is_written"]) == ("accepted", True)
    separate = {"decision": "separate", "table": "other"}
    refused = writer.call("propose_decision", **arguments, decision=separate).document
    assert "Only a person knows which tables are one." in refused["finding"]
    forged = writer.call("forge", **arguments).document
    assert [each["outcome"] for each in forged["decisions"]] == ["accepted", "accepted"]
