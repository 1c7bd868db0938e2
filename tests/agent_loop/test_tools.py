"""The built-in tools of the agent loop."""

import json
from pathlib import Path

import pytest

from fluid_build.cli.forge_copilot_agent_loop import (
    AGENT_SYSTEM_PROMPT,
    dispatch_tool_call,
    get_tool_definitions,
)
from fluid_build.copilot.retrieval import write_semantic_record
from fluid_build.copilot.store.configured import open_store
from fluid_build.copilot.tools.registry import FORGE_TOOL_REGISTRY

DOCUMENTED = (
    "discover_workspace",
    "read_sample_schema",
    "propose_contract",
    "validate_contract",
    "list_templates",
    "list_schedulers",
)
ADDED = ("profile_source", "describe_table", "check_key", "check_relationship", "search_memory")
PATHS = {
    "discover_workspace": "folder",
    "read_sample_schema": "path",
    "profile_source": "source",
    "validate_contract": "path",
}


@pytest.mark.parametrize("name", [*DOCUMENTED, *ADDED])
def test_a_tool_is_registered_described_and_in_the_prompt(name: str) -> None:
    definitions = {tool["name"]: tool for tool in get_tool_definitions()}
    assert definitions[name]["description"]
    assert definitions[name]["input_schema"]["additionalProperties"] is False or name == (
        "propose_contract"
    )
    assert f"- {name}:" in AGENT_SYSTEM_PROMPT
    assert FORGE_TOOL_REGISTRY[name].read_only


def test_the_workspace_is_listed(workspace: Path) -> None:
    result = dispatch_tool_call("discover_workspace", {}, workspace)
    assert {file["path"]: file["is_data"] for file in result["files"]} == {
        "notes.md": False,
        "shop.db": True,
    }


def test_the_schema_of_a_file_is_read(workspace: Path) -> None:
    (workspace / "items.csv").write_text("sku,price\na,1.50\nb,2.25\n")
    result = dispatch_tool_call("read_sample_schema", {"path": "items.csv"}, workspace)
    assert result["tables"][0]["rows"] == 2
    assert [column["name"] for column in result["tables"][0]["columns"]] == ["sku", "price"]


@pytest.mark.parametrize(("tool", "field"), PATHS.items())
@pytest.mark.parametrize("path", ["../secret.csv", "/etc/passwd", "link.csv", "../../../.."])
def test_no_tool_leaves_the_workspace(workspace: Path, tool: str, field: str, path: str) -> None:
    (workspace / "link.csv").symlink_to(workspace.parent / "secret.csv")
    result = dispatch_tool_call(tool, {field: path}, workspace)
    assert result["error"] in {"path_outside_workspace", "PathTraversalError"}
    assert "canary" not in json.dumps(result)
    assert str(workspace.parent) not in json.dumps(result)


@pytest.mark.parametrize(("tool", "field"), PATHS.items())
@pytest.mark.parametrize("path", ["a" * 10_000, "b/" * 5_000 + "x.csv", "nul\0.csv", "half\ud800"])
def test_a_path_that_no_file_can_have_is_refused(
    workspace: Path, tool: str, field: str, path: str
) -> None:
    result = dispatch_tool_call(tool, {field: path}, workspace)
    assert result["error"] in {"unsupported_file_type", "ToolValidationError", "FileNotFoundError"}


def test_a_folder_with_a_link_that_leads_out_is_refused(workspace: Path) -> None:
    folder = workspace / "files"
    folder.mkdir()
    (folder / "a.csv").write_text("id\n1\n")
    (folder / "b.csv").symlink_to(workspace.parent / "secret.csv")
    result = dispatch_tool_call("profile_source", {"source": "files"}, workspace)
    assert result["error"] == "path_outside_workspace"


@pytest.mark.parametrize("link", ["files/linked", "elsewhere/linked"])
def test_a_folder_with_a_linked_folder_that_leads_out_is_refused(
    workspace: Path, link: str
) -> None:
    """Whether it is in the folder itself, or in one that a link of the folder leads to."""
    for name in ("files", "elsewhere"):
        (workspace / name).mkdir()
        (workspace / name / "a.csv").write_text("id\n1\n")
    (workspace / "files" / "further").symlink_to(workspace / "elsewhere")
    (workspace / link).symlink_to(workspace.parent)
    result = dispatch_tool_call("profile_source", {"source": "files"}, workspace)
    assert result["error"] == "path_outside_workspace"


def test_a_link_in_a_circle_is_followed_once(workspace: Path) -> None:
    (workspace / "files").mkdir()
    (workspace / "files" / "a.csv").write_text("id\n1\n2\n")
    (workspace / "files" / "again").symlink_to(workspace / "files")
    result = dispatch_tool_call("discover_workspace", {"folder": "files"}, workspace)
    assert [file["path"] for file in result["files"]] == ["files/a.csv"]


def test_a_folder_with_more_files_than_are_checked_is_refused(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fluid_build.assistants.paths.MAX_ENTRIES", 2)
    (workspace / "files").mkdir()
    for number in range(3):
        (workspace / "files" / f"{number}.csv").write_text("id\n1\n")
    result = dispatch_tool_call("profile_source", {"source": "files"}, workspace)
    assert result["error"] == "file_too_large"


def test_other_types_of_files_are_refused(workspace: Path) -> None:
    result = dispatch_tool_call("read_sample_schema", {"path": "notes.md"}, workspace)
    assert result["error"] == "unsupported_file_type"


def test_a_source_is_profiled_without_its_values(workspace: Path) -> None:
    result = dispatch_tool_call("profile_source", {"source": "shop.db"}, workspace)
    assert {table["name"]: table["primary_key"] for table in result["tables"]} == {
        "customer": ["id"],
        "orders": ["order_no"],
    }
    relationship = result["relationships"][0]
    assert (relationship["from_table"], relationship["from_columns"]) == ("orders", ["customer_id"])
    described = dispatch_tool_call(
        "describe_table", {"source": "shop.db", "table": "customer"}, workspace
    )
    assert [column["name"] for column in described["columns"]] == ["id", "email", "city"]
    for answer in (result, described):
        assert "canary" not in json.dumps(answer)
        assert "Town" not in json.dumps(answer)


def test_a_source_that_has_changed_is_profiled_again(workspace: Path) -> None:
    file = workspace / "items.csv"
    file.write_text("sku,price\na,1\nb,2\n")
    first = dispatch_tool_call("profile_source", {"source": "items.csv"}, workspace)
    file.write_text("sku,price\na,1\nb,2\nc,3\nd,4\n")
    second = dispatch_tool_call("profile_source", {"source": "items.csv"}, workspace)
    assert (first["tables"][0]["rows"], second["tables"][0]["rows"]) == (2, 4)


@pytest.mark.parametrize(
    ("table", "columns", "holds"),
    [("customer", ["id"], True), ("customer", ["city"], False)],
)
def test_a_key_is_checked_on_every_row(
    workspace: Path, table: str, columns: list[str], holds: bool
) -> None:
    arguments = {"source": "shop.db", "table": table, "columns": columns}
    result = dispatch_tool_call("check_key", arguments, workspace)
    assert result["holds"] is holds
    assert result["finding"]


def test_a_name_that_the_source_lacks_is_refused(workspace: Path) -> None:
    arguments = {"source": "shop.db", "table": "orders", "columns": ["nothing"]}
    result = dispatch_tool_call("check_key", arguments, workspace)
    assert result["error"] == "ToolValidationError"
    assert "nothing" in result["message"]


@pytest.mark.parametrize(("column", "holds"), [("customer_id", True), ("order_no", False)])
def test_a_relationship_is_checked_on_every_row(workspace: Path, column: str, holds: bool) -> None:
    arguments = {
        "source": "shop.db",
        "from_table": "orders",
        "from_columns": [column],
        "to_table": "customer",
        "to_columns": ["id"],
    }
    result = dispatch_tool_call("check_relationship", arguments, workspace)
    assert result["holds"] is holds
    assert result["figures"]["rows"] == 120


@pytest.mark.parametrize("template", ["starter", "data_vault_2", "dimensional"])
def test_a_proposed_contract_is_built_proven_and_valid(workspace: Path, template: str) -> None:
    arguments = {"context": {"data_sources": ["shop.db"]}, "template": template}
    result = dispatch_tool_call("propose_contract", arguments, workspace)
    assert (result["valid"], result["proof"]) == (True, "proven")
    if "contract" in result:
        check = dispatch_tool_call("validate_contract", {"contract": result["contract"]}, workspace)
        assert (check["is_valid"], check["findings"]) == (True, [])


def test_a_proposed_contract_has_all_sources_and_says_what_it_is_for(workspace: Path) -> None:
    rows = "".join(f"{n},{n * 10}\n" for n in range(1, 30))
    (workspace / "budget.csv").write_text(f"budget_id,planned\n{rows}")
    context = {
        "data_sources": ["shop.db", "budget.csv"],
        "project_goal": "Compare sales with plans",
        "use_case": "Monthly review",
        "mood": "hurried",
    }
    result = dispatch_tool_call("propose_contract", {"context": context}, workspace)
    assert (result.get("valid"), result.get("proof")) == (True, "proven"), result
    exposed = " ".join(expose["id"] for expose in result["exposes"])
    assert "budget" in exposed
    assert "customer" in exposed
    assert result["description"].startswith("Compare sales with plans. Monthly review. ")
    assert result["unused"] == ["mood"]


@pytest.mark.parametrize(
    ("context", "field"),
    [
        ({}, "data_sources"),
        ({"data_sources": []}, "data_sources"),
        ({"data_sources": ["shop.db", 3]}, "data_sources"),
        ({"data_sources": ["x"] * 50}, "data_sources"),
        ({"data_sources": "shop.db", "project_goal": ["a"]}, "project_goal"),
        ({"data_sources": "shop.db", "use_case": 3}, "use_case"),
        ({"data_sources": ["shop.db", "notes.db"]}, "data_sources"),
    ],
)
def test_what_a_contract_cannot_be_proposed_for_is_refused_by_name(
    workspace: Path, context: dict[str, object], field: str
) -> None:
    arguments = {"context": context, "template": "flat"}
    result = dispatch_tool_call("propose_contract", arguments, workspace)
    assert result["error"] == "ToolValidationError"
    assert f"context.{field}" in result["message"]


def test_no_source_of_several_is_outside_the_workspace(workspace: Path) -> None:
    context = {"data_sources": ["shop.db", "../other.db"]}
    result = dispatch_tool_call("propose_contract", {"context": context}, workspace)
    assert result["error"] == "path_outside_workspace"


def test_a_contract_with_faults_is_described(workspace: Path) -> None:
    result = dispatch_tool_call("validate_contract", {"contract": {"kind": "x"}}, workspace)
    assert not result["is_valid"]
    assert {finding["path"] for finding in result["findings"]} >= {"kind"}


def test_memory_is_searched(workspace: Path) -> None:
    store = open_store()
    write_semantic_record(store, "shop", {}, text="customer orders")
    store.close()
    result = dispatch_tool_call("search_memory", {"query": "orders"}, workspace)
    assert [found["name"] for found in result["models"]] == ["shop"]


def test_the_staged_tool_needs_its_variable(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = {"source": "shop.db", "technique": "data_vault_2"}
    refused = dispatch_tool_call("forge_data_model", arguments, workspace)
    assert refused["error"] == "UnknownTool"
    monkeypatch.setenv("FLUID_FORGE_STAGED_TOOL_LOOP", "1")
    result = dispatch_tool_call("forge_data_model", arguments, workspace)
    assert result["proof"] == "proven"
    assert "hub_customer" in result["built"]
