"""Each tool, over both transports, on a server that only reads and shares no value."""

from __future__ import annotations

from pathlib import Path

import pytest

from fluid_build.forging import CONTRACT_FILE
from tests.mcp.clients import Caller
from tests.mcp.conftest import CANARY

SHOP = {"source": "shop.db"}
TO_CUSTOMER = {
    **SHOP,
    "from_table": "orders",
    "from_columns": ["customer_no"],
    "to_table": "customer",
    "to_columns": ["customer_no"],
}


def test_ten_tools_are_listed_and_none_of_them_writes(reader: Caller) -> None:
    tools = {tool.name: tool for tool in reader.ask("list_tools").tools}
    assert [*tools] == [
        "list_sources",
        "profile_source",
        "describe_table",
        "check_key",
        "check_relationship",
        "propose_decision",
        "forge",
        "verify",
        "validate_contract",
        "search_memory",
    ]
    for tool in tools.values():
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"


def test_the_sources_are_the_data_files_and_not_what_a_forge_wrote(reader: Caller) -> None:
    listing = reader.call("list_sources").document
    assert [source["source"] for source in listing["sources"]] == ["cities.csv", "shop.db"]
    assert listing["forged_folders"] == ["shop-model"]
    assert (listing["is_read_only"], listing["values_shared"]) == (True, False)


def test_a_profile_has_tables_keys_and_relationships(reader: Caller) -> None:
    answer = reader.call("profile_source", **SHOP)
    profile = answer.document
    tables = {table["name"]: table for table in profile["tables"]}
    assert {name: table["rows"] for name, table in tables.items()} == {
        "customer": 60,
        "orders": 240,
    }
    assert tables["orders"]["primary_key"] == ["order_no"]
    assert tables["customer"]["personal_columns"] == 1
    (key,) = profile["relationships"]
    assert (key["from_columns"], key["to_table"], key["orphans"]) == (
        ["customer_no"],
        "customer",
        9,
    )
    assert "`orders`: 240 rows" in answer.text


def test_a_profile_of_some_tables_has_no_others(reader: Caller) -> None:
    profile = reader.call("profile_source", **SHOP, tables=["CUSTOMER"]).document
    assert [table["name"] for table in profile["tables"]] == ["customer"]


def test_a_table_is_described_column_by_column(reader: Caller) -> None:
    table = reader.call("describe_table", **SHOP, table="customer").document
    columns = {column["name"]: column for column in table["columns"]}
    assert [*columns] == ["customer_no", "email", "grade"]
    assert columns["email"]["is_personal"] is True
    assert columns["grade"]["distinct"] == 4
    assert table["primary_key"] == ["customer_no"]


def test_some_columns_of_a_table_can_be_described(reader: Caller) -> None:
    table = reader.call("describe_table", **SHOP, table="customer", columns=["Grade"]).document
    assert [column["name"] for column in table["columns"]] == ["grade"]


def test_a_glob_and_a_file_uri_name_sources_of_the_workspace(reader: Caller) -> None:
    for source in (
        "*.csv",
        "file:cities.csv",
        "file:///cities.csv",
        "sqlite:///shop.db",
        "./shop.db",
    ):
        assert not reader.call("profile_source", source=source).is_error, source


def test_a_schema_without_rows_is_a_source_too(reader: Caller, workspace: Path) -> None:
    (workspace / "schema.sql").write_text(
        "CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (a_id INT REFERENCES a (id));"
    )
    profile = reader.call("profile_source", source="schema.sql").document
    assert (profile["has_data"], len(profile["relationships"])) == (False, 1)
    check = reader.call("check_key", source="schema.sql", table="a", columns=["id"]).document
    assert check["holds"] is False
    assert "There are no rows to check it on" in check["finding"]


def test_a_key_that_holds_is_a_key(reader: Caller) -> None:
    check = reader.call("check_key", **SHOP, table="orders", columns=["order_no"]).document
    assert check["holds"] is True
    assert check["figures"] == {"rows": 240, "null_rows": 0, "distinct": 240, "repeated_rows": 0}


def test_a_key_that_repeats_is_none_and_the_figures_say_why(reader: Caller) -> None:
    check = reader.call("check_key", **SHOP, table="orders", columns=["batch"]).document
    assert check["holds"] is False
    assert check["figures"] == {"rows": 240, "null_rows": 0, "distinct": 120, "repeated_rows": 120}
    assert "120 of 240 rows repeat a value" in check["finding"]
    assert check["sql"].startswith('SELECT "batch"')
    assert check["repeated_values"] is None


def test_a_relationship_has_its_orphans_counted(reader: Caller) -> None:
    check = reader.call("check_relationship", **TO_CUSTOMER).document
    assert check["holds"] is False
    figures = check["figures"]
    assert (figures["rows"], figures["matched"], figures["orphans"]) == (240, 231, 9)
    assert "LEFT JOIN" in check["sql"]
    assert check["orphan_values"] is None


def test_a_relationship_to_what_repeats_is_none(reader: Caller) -> None:
    arguments = {**TO_CUSTOMER, "from_table": "customer", "to_table": "orders"}
    check = reader.call("check_relationship", **arguments).document
    assert check["holds"] is False
    assert check["figures"]["is_parent_unique"] is False


def test_a_decision_is_measured_and_not_written(reader: Caller, workspace: Path) -> None:
    decision = {
        "decision": "set_key",
        "table": "orders",
        "columns": ["order_no"],
        "reason": "Unique.",
    }
    proposed = reader.call("propose_decision", folder="shop-model", decision=decision).document
    assert proposed["outcome"] == "accepted"
    assert proposed["is_written"] is False
    assert "--allow-write" in proposed["why_not_written"]
    assert proposed["command"].startswith("fluid decide shop-model set-key")
    assert not (workspace / "shop-model/decisions.yaml").exists()


def test_a_decision_that_the_data_contradicts_is_refused(reader: Caller) -> None:
    decision = {"decision": "set_key", "table": "orders", "columns": ["batch"]}
    proposed = reader.call("propose_decision", folder="shop-model", decision=decision).document
    assert proposed["outcome"] == "refused"
    assert "isn't unique" in proposed["finding"]


def test_a_forge_says_what_it_would_write(reader: Caller, workspace: Path) -> None:
    forged = reader.call("forge", **SHOP, technique="dimensional", folder="star").document
    assert forged["proof"] == "proven"
    assert forged["is_written"] is False
    assert "--allow-write" in forged["why_not_written"]
    assert forged["changes"]["added"] == forged["changes"]["files"] > 10
    assert not (workspace / "star").exists()


def test_a_folder_is_verified(reader: Caller, workspace: Path) -> None:
    proof = (workspace / "shop-model/proof.json").stat().st_mtime_ns
    verified = reader.call("verify", folder="shop-model").document
    assert (verified["holds"], verified["proof"], verified["is_recorded"]) == (
        True,
        "proven",
        False,
    )
    assert [table["verdict"] for table in verified["tables"]] == ["proven", "proven"]
    assert (workspace / "shop-model/proof.json").stat().st_mtime_ns == proof


def test_a_contract_is_validated(reader: Caller) -> None:
    valid = reader.call("validate_contract", path=f"shop-model/{CONTRACT_FILE}").document
    assert (valid["is_valid"], valid["findings"]) == (True, [])
    faulty = reader.call("validate_contract", contract={"kind": "DataProduct"}).document
    assert faulty["is_valid"] is False
    assert faulty["findings"]


def test_memory_is_searched(reader: Caller) -> None:
    assert reader.call("search_memory", query="orders").document["models"] == []


def test_contract_and_model_are_resources(reader: Caller) -> None:
    uris = [resource.uri for resource in reader.ask("list_resources").resources]
    assert uris == [
        "fluid://workspace/shop-model/MODEL.md",
        f"fluid://workspace/shop-model/{CONTRACT_FILE}",
    ]
    assert "# Data model" in reader.read(uris[0])
    assert "fluidVersion" in reader.read(uris[1])
    templates = reader.ask("list_resource_templates").resource_templates
    assert "fluid://workspace/{+folder}/MODEL.md" in [each.uri_template for each in templates]


def test_no_answer_holds_a_value(reader: Caller) -> None:
    answers = [
        reader.call("profile_source", **SHOP),
        reader.call("describe_table", **SHOP, table="orders"),
        reader.call("describe_table", **SHOP, table="customer"),
        reader.call("check_key", **SHOP, table="orders", columns=["status"]),
        reader.call("check_relationship", **TO_CUSTOMER),
        reader.call("forge", **SHOP, folder="star"),
        reader.call("verify", folder="shop-model"),
    ]
    documents = [reader.read(r.uri) for r in reader.ask("list_resources").resources]
    for text in (*(answer.text + str(answer.document) for answer in answers), *documents):
        assert CANARY not in text


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("check_key", {**SHOP, "table": "order", "columns": ["x"]}, "There's no table `order`."),
        ("check_key", {**SHOP, "table": "orders", "columns": ["x"]}, "no column"),
        ("check_key", {**SHOP, "table": "orders"}, "columns"),
        ("check_key", {**SHOP, "table": "orders", "columns": ["a"], "b": 1}, "arguments"),
        ("describe_table", {**SHOP, "table": "orders", "columns": ["x"]}, "no column"),
        ("check_relationship", {**TO_CUSTOMER, "to_columns": ["a", "b"]}, "different lengths"),
        ("profile_source", {"source": "nothing.db"}, "doesn't exist in the workspace"),
        ("profile_source", {"source": "notes.txt.png"}, "can't be read as data"),
        ("profile_source", {"source": "a\0b"}, "can't be read as data"),
        ("verify", {"folder": "nowhere"}, "Pass source"),
        ("validate_contract", {}, "either path or contract"),
        ("validate_contract", {"path": "shop.db"}, "A contract is a"),
        ("no_such_tool", {}, "The tools are list_sources"),
        ("propose_decision", {"folder": "new", "decision": {"decision": "se"}}, "unknown decision"),
        (
            "propose_decision",
            {"folder": "new", "decision": {"decision": "name", "name": "n", "by": "person"}},
            "can't set 'by'",
        ),
    ],
)
def test_a_wrong_call_is_an_error_that_says_what_to_do(
    reader: Caller, tool: str, arguments: dict[str, object], expected: str
) -> None:
    refusal = reader.refusal(tool, **arguments)
    assert expected in refusal
    assert "Traceback" not in refusal


def test_a_name_that_no_file_can_have_is_refused(reader: Caller) -> None:
    """Before Python 3.14 the path can't be resolved; since then nothing is there."""
    refusal = reader.refusal("profile_source", source="x" * 900)
    assert "can't be read as data" in refusal or "doesn't exist in the workspace" in refusal
