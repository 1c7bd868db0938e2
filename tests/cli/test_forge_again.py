"""Forging into a folder that is there already: edits are kept, overwritten, or only shown."""

import json
from copy import deepcopy
from pathlib import Path

import duckdb
import pytest
import yaml

from tests.cli.running import Fluid, Outcome
from tests.folders import artifacts_of
from tests.forges import forged_copy

FROM_SOURCE = ("forge", "data-model", "from-source")


def forge(fluid: Fluid, source: Path, folder: Path, *options: str) -> Outcome:
    return fluid(*FROM_SOURCE, "--uri", source, "-o", folder, *options)


@pytest.fixture
def folder(duckdb_shop: Path, tmp_path: Path) -> Path:
    """What was forged of the two tables."""
    return forged_copy(duckdb_shop, tmp_path / "out")


def owned_by_sales(folder: Path) -> str:
    """Edit the contract as a person would: give it an owner. Returns its text."""
    contract = folder / "contract.fluid.yaml"
    text = contract.read_text().replace("team: unassigned", "team: sales")
    assert "team: sales" in text
    contract.write_text(text)
    return text


def test_an_edited_contract_keeps_its_edits(fluid: Fluid, duckdb_shop: Path, folder: Path) -> None:
    """The owner is still there, the screen says so, and nothing went wrong."""
    text = owned_by_sales(folder)
    outcome = forge(fluid, duckdb_shop, folder)
    assert (folder / "contract.fluid.yaml").read_text() == text
    assert outcome.code == 0
    output = " ".join(outcome.out.split())
    assert "Your edits still in 1 file, with what is new contract.fluid.yaml" in output
    assert fluid("verify", folder).code == 0


def test_an_edited_contract_has_what_the_source_has_now(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """A person's words stay beside a new column; those of a column that is gone are named."""
    path = folder / "contract.fluid.yaml"
    document = yaml.safe_load(owned_by_sales(folder))
    expose = next(each for each in document["exposes"] if each["exposeId"] == "orders")
    columns = {each["name"]: each for each in expose["contract"]["schema"]}
    expose["tags"] = ["gold"]
    for column in columns.values():
        column["description"] = f"What we call {column['name']}."
    rules = expose["contract"]["dq"]["rules"]
    *others, gone = columns
    rule = deepcopy(next(each for each in rules if each["selector"] in others)) | {"id": "ours"}
    rules.append(rule)
    path.write_text("# Ask Kim.\n" + yaml.safe_dump(document, sort_keys=False))
    with duckdb.connect(str(duckdb_shop)) as database:
        database.execute("ALTER TABLE orders ADD COLUMN note TEXT")
        database.execute(f"ALTER TABLE orders DROP COLUMN {gone}")
    outcome = forge(fluid, duckdb_shop, folder, "--redesign", "all")
    assert outcome.code == 0, outcome.out
    assert f"orders.{gone}: description" in outcome.out
    assert path.read_text().startswith("# Ask Kim.\n")
    document = yaml.safe_load(path.read_text())
    expose = next(each for each in document["exposes"] if each["exposeId"] == "orders")
    now = {each["name"]: each.get("description") for each in expose["contract"]["schema"]}
    assert now.keys() == {*columns, "note"} - {gone}
    assert now[others[0]] == f"What we call {others[0]}."
    assert document["metadata"]["owner"]["team"] == "sales" and expose["tags"] == ["gold"]
    assert rule in expose["contract"]["dq"]["rules"]
    assert fluid("verify", folder).code == 0


def test_an_edit_is_kept_however_often_it_is_forged(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """The manifest of the second forge doesn't take the edited file for its own."""
    text = owned_by_sales(folder)
    for _ in range(3):
        outcome = forge(fluid, duckdb_shop, folder)
        assert "still in 1 file, with what is new" in " ".join(outcome.out.split())
    assert (folder / "contract.fluid.yaml").read_text() == text


def test_force_makes_the_folder_as_a_fresh_forge_would(
    fluid: Fluid, duckdb_shop: Path, folder: Path, tmp_path: Path
) -> None:
    """Edited and foreign files are overwritten; edited files of another technique go.

    Only the contract's version goes on: its readers see another one.
    """
    owned_by_sales(folder)
    (folder / "dbt" / "README.md").write_text("mine")
    (folder / "dbt" / "models" / "flat" / "orders.sql").write_text("SELECT 1 AS mine")
    assert forge(fluid, duckdb_shop, folder, "--technique", "dv2", "--force").code == 0
    assert forge(fluid, duckdb_shop, tmp_path / "new", "--technique", "dv2").code == 0
    forced, new = artifacts_of(folder), artifacts_of(tmp_path / "new")
    versioned = {"contract.fluid.yaml", "dbt/.generated.json", "forge.json"}
    assert {name for name in forced if forced[name] != new.get(name)} == versioned
    assert forced.keys() == new.keys()


def test_deleted_files_come_back(fluid: Fluid, duckdb_shop: Path, folder: Path) -> None:
    """Deleting is no edit to keep: the file is written again."""
    before = artifacts_of(folder)
    (folder / "contract.fluid.yaml").unlink()
    (folder / "dbt" / "dbt_project.yml").unlink()
    outcome = forge(fluid, duckdb_shop, folder)
    assert (outcome.code, "Kept" in outcome.out) == (0, False)
    assert artifacts_of(folder) == before


def test_files_that_no_forge_wrote_are_left_alone(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path
) -> None:
    """A dbt project and a document of somebody else's stay, however often it is forged."""
    out = tmp_path / "out"
    theirs = {"dbt/dbt_project.yml": "name: theirs\n", "MODEL.md": "# Theirs\n"}
    for name, text in theirs.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    for _ in range(2):
        outcome = forge(fluid, duckdb_shop, out)
        for name, text in theirs.items():
            assert (out / name).read_text() == text
            assert f"{name}  " in outcome.out
        assert outcome.out.count("not written by Fluid Forge") == 2
    assert "dbt/dbt_project.yml was there before `fluid forge` ran" in fluid("verify", out).out
    forge(fluid, duckdb_shop, out, "--technique", "dv2")
    forge(fluid, duckdb_shop, out, "--technique", "flat", "--force")
    assert "theirs" not in (out / "dbt/dbt_project.yml").read_text()


def test_an_edited_contract_that_does_not_fit_fails(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """It lacks a column of the model, as somebody wanted: forge and verify exit with 1."""
    path = folder / "contract.fluid.yaml"
    document = yaml.safe_load(owned_by_sales(folder))
    expose = next(each for each in document["exposes"] if each["exposeId"] == "orders")
    gone = expose["contract"]["schema"].pop()["name"]
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    outcome = forge(fluid, duckdb_shop, folder)
    assert outcome.code == 1
    assert "The files that you edited don't match the newly generated ones" in outcome.out
    assert f"orders.{gone}: in the model but not in the contract" in outcome.out
    assert fluid("verify", folder).code == 1
    assert forge(fluid, duckdb_shop, folder, "--force").code == 0
    assert fluid("verify", folder).code == 0


def test_an_edited_model_is_kept_and_verify_says_that_dbt_builds_another(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """An edit that changes what is built makes the project outdated; wording doesn't."""
    path = folder / "model.json"
    original = path.read_text()
    document = json.loads(original)
    document["conceptual"]["entities"][0]["description"] = "People who buy."
    path.write_text(json.dumps(document))
    assert forge(fluid, duckdb_shop, folder).code == 0
    assert "People who buy." in path.read_text()
    path.write_text(original.replace('"email"', '"e_mail"'))
    outcome = forge(fluid, duckdb_shop, folder)
    assert outcome.code == 1
    assert "e_mail" in path.read_text()


def test_a_model_that_was_edited_without_a_new_forge_is_reported_by_verify(
    fluid: Fluid, duckdb_shop: Path, fluid_vault: Path
) -> None:
    """What dbt builds was made of the model as it was: no green exit."""
    path = fluid_vault / "model.json"
    path.write_text(path.read_text().replace("hub_customer", "hub_buyer"))
    outcome = fluid("verify", fluid_vault, "--json")
    outdated = json.loads(outcome.out)["outdated"]
    assert outcome.code == 1
    assert "hub_buyer is in model.json but isn't built by dbt/" in outdated
    assert "hub_customer is built by dbt/ but isn't in model.json" in outdated


@pytest.fixture
def fluid_vault(fluid: Fluid, duckdb_shop: Path, tmp_path: Path) -> Path:
    """The two tables as a vault."""
    assert forge(fluid, duckdb_shop, tmp_path / "vault", "--technique", "dv2").code == 0
    return tmp_path / "vault"


def test_diff_shows_what_would_change_and_writes_nothing(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """A unified diff of the edited file, the others by name; not a byte of the folder changes."""
    with (folder / "dbt" / "README.md").open("a") as file:
        file.write("Ask Kim.\n")
    (folder / "MODEL.md").unlink()
    before = artifacts_of(folder)
    outcome = forge(fluid, duckdb_shop, folder, "--diff")
    assert (outcome.code, artifacts_of(folder)) == (0, before)
    lines = outcome.out.splitlines()
    assert "--- dbt/README.md" in lines
    assert "-Ask Kim." in lines
    assert "1 to create, 1 to keep" in outcome.out
    forced = forge(fluid, duckdb_shop, folder, "--diff", "--force")
    assert "1 to create, 1 to change" in forced.out
    assert artifacts_of(folder) == before


def test_diff_of_a_folder_that_is_up_to_date(
    fluid: Fluid, duckdb_shop: Path, folder: Path, tmp_path: Path
) -> None:
    """Nothing would change; and a folder that isn't there isn't made."""
    assert "Nothing would change." in forge(fluid, duckdb_shop, folder, "--diff").out
    forge(fluid, duckdb_shop, tmp_path / "nowhere", "--diff")
    assert not (tmp_path / "nowhere").exists()


def test_diff_is_bounded_escaped_and_without_personal_values(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """However much somebody put into a file, the screen stays short, and nothing acts on it."""
    contract = folder / "contract.fluid.yaml"
    contract.write_text(
        contract.read_text() + "# \x1b[31mred\x1b[0m\n" + f"# {'x' * 5000}\n" + "# more\n" * 4000
    )
    profile = folder / "profile.json"
    profile.write_text(profile.read_text() + '{"top": "someone1@example.org"}\n')
    (folder / "proof.json").write_text('{"leak": "someone2@example.org"}')
    outcome = forge(fluid, duckdb_shop, folder, "--diff")
    assert "\x1b" not in outcome.out and "\\x1b[31mred" in outcome.out
    assert "example.org" not in outcome.out
    assert len(outcome.out.splitlines()) < 200
    assert max(map(len, outcome.out.splitlines())) <= 220
    assert "more lines" in outcome.out
    as_json = json.loads(forge(fluid, duckdb_shop, folder, "--diff", "--json").out)
    assert "example.org" not in json.dumps(as_json)


def test_a_foreign_file_is_named_and_its_content_not_shown(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path
) -> None:
    """What no forge wrote may hold anything."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "model.json").write_text('{"secret": "hunter2"}\n')
    outcome = forge(fluid, duckdb_shop, out, "--diff")
    assert "model.json  not written by Fluid Forge" in outcome.out
    assert "hunter2" not in outcome.out


def test_json_lists_what_was_kept(fluid: Fluid, duckdb_shop: Path, folder: Path) -> None:
    """Machines hear of it too, in the forge and in the preview."""
    (folder / "dbt" / "README.md").write_text("Ask Kim.\n")
    shown = json.loads(forge(fluid, duckdb_shop, folder, "--diff", "--json").out)
    (change,) = shown["changes"]
    assert (change["file"], change["change"], change["owner"]) == (
        "dbt/README.md",
        "keep",
        "edited",
    )
    assert "Ask Kim." in change["diff"]
    outcome = json.loads(forge(fluid, duckdb_shop, folder, "--json").out)
    name = str(folder / "dbt" / "README.md")
    assert outcome["kept"] == [{"file": name, "owner": "edited"}]
    assert outcome["misfits"] == []
    assert name not in outcome["files"]


def test_a_folder_whose_manifest_cannot_be_read_is_not_written_to(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """Without it nobody can tell what was edited; --force says that it doesn't matter."""
    owned_by_sales(folder)
    (folder / "forge.json").write_text("{")
    before = artifacts_of(folder)
    outcome = forge(fluid, duckdb_shop, folder)
    assert (outcome.code, artifacts_of(folder)) == (2, before)
    assert "nothing was written" in outcome.err and "--force" in outcome.err
    assert forge(fluid, duckdb_shop, folder, "--force").code == 0
    contract = yaml.safe_load((folder / "contract.fluid.yaml").read_text())
    assert contract["metadata"]["owner"]["team"] == "unassigned"


def test_copies_of_tables_are_brought_up_to_date(fluid: Fluid, tmp_path: Path) -> None:
    """dbt/land belongs to the forge like any other file: it changes with the source."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "t.json").write_text('[{"id": 1, "s": {"a": 1}}, {"id": 2, "s": {"a": 2}}]')
    (data / "u.csv").write_bytes(b"id;n\r\n1;\xe4\r\n2;b;\n3;c\n")
    assert forge(fluid, data, tmp_path / "out").code == 0
    landed = list((tmp_path / "out" / "dbt" / "land").glob("*"))
    if not landed:
        pytest.skip("dbt reads all of these files where they lie")
    (data / "u.csv").write_bytes(b"id;n\r\n1;\xe4\r\n2;b;\n3;c\n4;d\n")
    before = artifacts_of(tmp_path / "out" / "dbt" / "land")
    outcome = forge(fluid, data, tmp_path / "out")
    assert "Kept" not in outcome.out
    assert artifacts_of(tmp_path / "out" / "dbt" / "land") != before
