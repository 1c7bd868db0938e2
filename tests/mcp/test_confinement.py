"""What an assistant can't reach: files outside of the workspace, servers, secrets, other pages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import duckdb
import httpx
import pyarrow
import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp.clients import Caller, HttpServer, http_server
from tests.mcp.conftest import stdio_caller
from tests.postgres import PostgresDatabase

OUTSIDE = "leads out of the workspace"
SERVER = "A connection string can't be chosen here"
PASSWORD = "pw-canary-55512345"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("../outside/salaries.csv", OUTSIDE),
        ("shop-model/../../outside/salaries.csv", OUTSIDE),
        ("{outside}/salaries.csv", OUTSIDE),
        ("ways-out", OUTSIDE),
        ("ways-out/linked.csv", OUTSIDE),
        ("ways-out/linked/salaries.csv", OUTSIDE),
        ("ways-out/*.csv", OUTSIDE),
        ("ways-out/linked/*.csv", OUTSIDE),
        ("../outside/*.csv", OUTSIDE),
        ("{outside}/*.csv", OUTSIDE),
        ("*/../../outside/*.csv", OUTSIDE),
        ("file:../outside/salaries.csv", OUTSIDE),
        ("file:..%2Foutside%2Fsalaries.csv", OUTSIDE),
        ("file:////{outside}/salaries.csv", OUTSIDE),
        ("sqlite:////etc/passwd", OUTSIDE),
        ("duckdb:../outside/x.db", OUTSIDE),
        ("~/shop.db", "doesn't exist in the workspace"),
        ("postgresql://reader@localhost/shop", SERVER),
        ("host=localhost dbname=shop", SERVER),
        ("mysql://root@localhost/shop", SERVER),
        ("s3://bucket/key.csv", SERVER),
        ("https://example.org/x.csv", SERVER),
        ("md:shop", SERVER),
    ],
)
def test_no_source_outside_of_the_workspace_is_read(
    reader: Caller, workspace: Path, source: str, expected: str
) -> None:
    outside = workspace.parent / "outside"
    refusal = reader.refusal("profile_source", source=source.format(outside=outside))
    assert expected in refusal
    assert str(workspace.parent) not in refusal


@pytest.mark.parametrize("tool", ["verify", "forge", "propose_decision"])
@pytest.mark.parametrize("folder", ["../outside", "ways-out/linked", "/tmp/model", "ways-out"])
def test_no_folder_outside_of_the_workspace_is_used(writer: Caller, tool: str, folder: str) -> None:
    arguments: dict[str, object] = {"folder": folder, "source": "shop.db"}
    if tool == "propose_decision":
        arguments["decision"] = {"decision": "ignore", "table": "orders"}
    assert OUTSIDE in writer.refusal(tool, **arguments)


def test_no_contract_outside_of_the_workspace_is_read(reader: Caller) -> None:
    for path in ("../outside/contract.yaml", "/etc/contract.yaml"):
        assert "outside of the workspace" in reader.refusal("validate_contract", path=path)


@pytest.mark.parametrize(
    "uri",
    [
        "fluid://workspace/../outside/MODEL.md",
        "fluid://workspace/..%2Foutside%2FMODEL.md",
        "fluid://workspace//etc/MODEL.md",
        "fluid://workspace/shop-model/profile.json",
        "fluid://workspace/shop-model/../cities.csv",
        "fluid://workspace/MODEL.md",
        "file:///etc/passwd",
    ],
)
def test_only_documents_of_forged_folders_are_resources(reader: Caller, uri: str) -> None:
    with pytest.raises(MCPError) as refused:
        reader.read(uri)
    assert "List the resources" in str(refused.value) or "Resources are" in str(refused.value)


def test_a_document_that_is_a_link_out_of_the_workspace_is_no_resource(
    writer: Caller, writable: Path
) -> None:
    folder = writable / "strangers-model"
    folder.mkdir()
    (folder / "forge.json").write_text((writable / "shop-model/forge.json").read_text())
    (writable.parent / "outside/MODEL.md").write_text("secret")
    (folder / "MODEL.md").symlink_to(writable.parent / "outside/MODEL.md")
    try:
        uris = [resource.uri for resource in writer.ask("list_resources").resources]
        assert not [uri for uri in uris if "strangers" in uri]
        with pytest.raises(MCPError, match="outside of the workspace"):
            writer.read("fluid://workspace/strangers-model/MODEL.md")
    finally:
        (folder / "MODEL.md").unlink()
        (folder / "forge.json").unlink()


def test_a_folder_never_chooses_a_source_outside_of_the_workspace(
    writer: Caller, writable: Path
) -> None:
    manifest = json.loads((writable / "shop-model/forge.json").read_text())
    places = {
        OUTSIDE: {**manifest["source"], "location": "../../outside/salaries.csv", "kind": "files"},
        "a folder never chooses one": {
            "kind": "postgres",
            "location": "postgresql://reader@evil.example/shop",
        },
    }
    folder = writable / "lured"
    folder.mkdir()
    for name in ("model.json", "contract.fluid.yaml"):
        (folder / name).write_text((writable / "shop-model" / name).read_text())
    for expected, source in places.items():
        (folder / "forge.json").write_text(json.dumps({**manifest, "source": source}))
        assert expected in writer.refusal("verify", folder="lured")


def test_a_named_source_is_known_by_its_name_and_its_password_by_nobody(
    workspace: Path, tmp_path: Path
) -> None:
    outside = workspace.parent / "outside/salaries.csv"
    uri = f"postgresql://reader:{PASSWORD}@127.0.0.1:9/shop"
    options = ("--workspace", str(workspace), "--source", f"crm={uri}")
    with stdio_caller(tmp_path, *options, "--source", f"pay={outside}") as caller:
        listing = caller.call("list_sources")
        assert {"source": "crm", "kind": "PostgreSQL"} in listing.document["sources"]
        assert "named these sources: crm and pay" in caller.client.instructions
        assert caller.call("profile_source", source="pay").document["source"] == "pay"
        refusal = caller.refusal("profile_source", source="crm")
    log = (tmp_path / "server.log").read_text()
    for text in (listing.text, str(listing.document), refusal, log):
        assert PASSWORD not in text
        assert str(workspace.parent) not in text


def test_a_named_server_is_measured_forged_and_verified_by_its_name(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    postgres.run(
        "CREATE TABLE city (city_no int PRIMARY KEY, name text);"
        "INSERT INTO city SELECT n, 'city ' || n FROM generate_series(1, 50) n;"
        f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}';"
        "GRANT SELECT ON city TO reader"
    )
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    source = f"crm={postgres.uri_of('reader', PASSWORD)}"
    options = ("--workspace", str(workspace), "--source", source, "--allow-write")
    try:
        with stdio_caller(tmp_path, *options) as caller:
            profile = caller.call("profile_source", source="crm")
            forged = caller.call("forge", source="crm", folder="city-model")
            refusal = caller.refusal("verify", folder="city-model")
            verified = caller.call("verify", folder="city-model", source="crm")
            postgres.run("INSERT INTO city VALUES (51, 'one more')")
            kept = caller.call("profile_source", source="crm").document
            read_again = caller.call("profile_source", source="crm", refresh=True).document
    finally:
        postgres.run("DROP OWNED BY reader; DROP ROLE reader")
    assert (profile.document["kind"], forged.document["is_written"]) == ("postgres", True)
    assert "a folder never chooses one" in refusal
    assert verified.document["holds"] is True
    assert [each["tables"][0]["rows"] for each in (kept, read_again)] == [50, 51]
    written = "".join(path.read_text() for path in workspace.rglob("*") if path.is_file())
    answers = f"{profile} {forged} {verified} {refusal}"
    assert PASSWORD not in written + answers + (tmp_path / "server.log").read_text()


def test_a_delta_table_is_read_only_where_it_was_named(workspace: Path, tmp_path: Path) -> None:
    table = workspace / "lake/sales"
    from deltalake import write_deltalake

    write_deltalake(str(table), pyarrow.table({"sale_no": [1, 2, 3]}))
    options = ("--workspace", str(workspace), "--source", f"sales={table}")
    try:
        with stdio_caller(tmp_path, *options) as caller:
            for source in ("lake", "lake/sales"):
                refusal = caller.refusal("profile_source", source=source)
                assert "A Delta table's log may name files" in refusal
            profile = caller.call("profile_source", source="sales").document
    finally:
        shutil.rmtree(workspace / "lake")
    assert profile["tables"][0]["rows"] == 3


def test_a_view_of_a_database_in_the_workspace_leads_nowhere(
    workspace: Path, tmp_path: Path
) -> None:
    outside = workspace.parent / "outside/salaries.csv"
    path = workspace / "views.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE city (id INTEGER)")
        database.execute("INSERT INTO city VALUES (1), (2)")
        database.execute(f"CREATE VIEW salaries AS SELECT * FROM read_csv('{outside}')")
    options = ("--workspace", str(workspace), "--views", "--share-values")
    try:
        with stdio_caller(tmp_path, *options) as caller:
            profile = caller.call("profile_source", source=path.name).document
    finally:
        path.unlink()
    assert [table["name"] for table in profile["tables"]] == ["city"]


INITIALIZE = {
    "jsonrpc": "2.0",
    "method": "initialize",
    "id": 1,
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8000"}, 200),
        ({"authorization": ""}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
        ({"origin": "http://localhost:3000"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_over_http_only_who_bears_the_token_and_comes_from_this_machine_is_served(
    http: HttpServer, headers: dict[str, str], status: int
) -> None:
    sent = {
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {http.token}",
        **headers,
    }
    assert httpx.post(http.url, json=INITIALIZE, headers=sent).status_code == status


def test_the_token_of_the_environment_is_used_and_not_shown(
    workspace: Path, tmp_path: Path
) -> None:
    token = "token-of-the-environment"
    options = ("--workspace", str(workspace))
    with http_server(tmp_path, *options, FLUID_MCP_TOKEN=token) as server:
        sent = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {token}"}
        assert httpx.post(server.url, json=INITIALIZE, headers=sent).status_code == 200
        server.process.terminate()
        assert server.process.stderr is not None
        assert token not in server.process.stderr.read()
