"""``fluid verify``: what it proves, reports and refuses."""

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fluid_build.forging import forge
from fluid_build.modeling.techniques import TECHNIQUES
from fluid_build.sources import open_source
from tests.cli.running import STATEMENTS, Fluid, run
from tests.forges import forged, forged_copy
from tests.postgres import PostgresDatabase


def edit(path: Path, change: Callable[[Any], None]) -> None:
    """Change a JSON document in place."""
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


@pytest.fixture(scope="module")
def forged_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two tables in a DuckDB file, and next to it the folder of their flat model."""
    place = tmp_path_factory.mktemp("forged")
    run(place / "two.duckdb", *STATEMENTS)
    forged_copy(place / "two.duckdb", place / "shop-model")
    return place


@pytest.fixture
def duckdb_shop(forged_once: Path, tmp_path: Path) -> Path:
    """The two tables in a DuckDB file of the test's own."""
    return Path(shutil.copy(forged_once / "two.duckdb", tmp_path))


@pytest.fixture
def folder(forged_once: Path, duckdb_shop: Path) -> Path:
    """The flat model of the two tables, in a folder of the test's own."""
    return Path(shutil.copytree(forged_once / "shop-model", duckdb_shop.parent / "shop-model"))


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
def test_a_fresh_forge_is_proven(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path, technique: str
) -> None:
    """What was just forged verifies, for each technique, and nothing is remarked."""
    folder = forged_copy(duckdb_shop, tmp_path / "out", technique)
    before = (folder / "proof.json").read_bytes()
    outcome = fluid("verify", folder)
    assert outcome.code == 0
    assert "✓ Proven." in outcome.out
    assert re.search(r"customer +40 .*✓ same\n", outcome.out)
    assert re.search(r"orders +120 .*✓ same\n", outcome.out)
    assert "Changed since the folder was generated" not in outcome.out
    assert (folder / "proof.json").read_bytes() == before


def test_the_source_is_found_after_both_have_moved(
    fluid: Fluid, duckdb_shop: Path, folder: Path, tmp_path: Path
) -> None:
    """The folder knows its source by its relative path."""
    (tmp_path / "elsewhere").mkdir()
    for path in (duckdb_shop, folder):
        shutil.move(path, tmp_path / "elsewhere" / path.name)
    assert fluid("verify", tmp_path / "elsewhere" / folder.name).code == 0


def test_the_source_may_be_somewhere_else(
    fluid: Fluid, duckdb_shop: Path, folder: Path, tmp_path: Path
) -> None:
    """Where it has moved, the user says where to."""
    moved = tmp_path / "deep" / "moved.duckdb"
    moved.parent.mkdir()
    shutil.move(duckdb_shop, moved)
    lost = fluid("verify", folder)
    assert (lost.code, "Pass its current location with --uri" in lost.err) == (2, True)
    assert fluid("verify", folder, "--uri", moved).code == 0


def test_json_holds_everything(fluid: Fluid, duckdb_shop: Path, folder: Path) -> None:
    """Stdout is one document: the proof, the contract, what was edited, what the rows did."""
    run(duckdb_shop, "INSERT INTO orders VALUES (9000, 100, 1.25)")
    outcome = fluid("verify", folder, "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["holds"], document["proof"]["verdict"]) == (0, True, "proven")
    assert document["rows_changed"] == ["orders had 120 rows and has 121 now"]
    assert (document["contract"], document["edited"], document["dbt"]) == ([], [], None)


def test_the_proof_is_brought_up_to_date(fluid: Fluid, duckdb_shop: Path, folder: Path) -> None:
    """proof.json always holds what was found last."""
    run(duckdb_shop, "DELETE FROM orders WHERE order_id > 5009")
    outcome = fluid("verify", folder)
    assert "orders had 120 rows and has 10 now" in outcome.out
    proof = json.loads((folder / "proof.json").read_text())
    assert [table["rows"] for table in proof["tables"]] == [40, 10]


def test_the_page_shows_the_last_proof(fluid: Fluid, duckdb_shop: Path, folder: Path) -> None:
    """A page that was green isn't left so by a verification that found something else."""
    page = folder / "report.html"
    assert '<p class="verdict good"><strong>Proven:</strong>' in page.read_text()
    run(duckdb_shop, "DELETE FROM orders", "DELETE FROM customer")
    fluid("verify", folder)
    assert '<p class="verdict warn"><strong>Not proven:</strong>' in page.read_text()


def test_a_page_that_cannot_be_made_again_does_not_fail_the_proof(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    (folder / "plan.json").write_text("{}")
    run(duckdb_shop, "DELETE FROM orders WHERE order_id > 5009")
    outcome = fluid("verify", folder)
    assert outcome.code == 0
    assert "report.html still shows the proof before this one." in outcome.err


def test_a_folder_that_cannot_be_written_to_is_verified_all_the_same(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """The verdict doesn't depend on the file; that it is out of date is reported."""
    run(duckdb_shop, "DELETE FROM orders WHERE order_id > 5009")
    (folder / "proof.json").unlink()
    (folder / "proof.json").mkdir()
    outcome = fluid("verify", folder)
    assert outcome.code == 0
    assert "proof.json isn't writable" in outcome.err


def test_a_loss_is_shown_and_fails(
    fluid: Fluid, duckdb_shop: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the model's SQL loses a row there is no green tick, and the row is shown."""
    from fluid_build.verification import untrusted_model

    derive = untrusted_model.transform_plan

    def losing(model: Any) -> Any:
        plan = derive(model)
        builds = tuple(
            build.model_copy(update={"sql": f"{build.sql}\nWHERE customer_id <> 107"})
            if build.name == "customer"
            else build
            for build in plan.builds
        )
        return plan.model_copy(update={"builds": builds})

    monkeypatch.setattr(untrusted_model, "transform_plan", losing)
    outcome = fluid("verify", folder)
    assert outcome.code == 1
    assert "✓" not in outcome.out
    assert re.search(r"customer +40 +39 +1 +0 +equal +lost\n", outcome.out)
    assert "Lost. 1 of 2 tables differ from their source." in outcome.out
    assert "missing  customer_id 107 · email *** · city Town 1" in outcome.out
    assert "What to do\n  If the source has changed meanwhile, forge again." in outcome.out
    assert "example.org" not in outcome.out + (folder / "proof.json").read_text()
    assert json.loads((folder / "proof.json").read_text())["verdict"] == "lost"
    document = json.loads(fluid("verify", folder, "--json").out)
    assert (document["holds"], document["proof"]["verdict"]) == (False, "lost")


def test_a_source_that_has_changed_is_refused(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    """All changes are listed, the error names a few of them, and the old proof stays."""
    before = (folder / "proof.json").read_bytes()
    run(duckdb_shop, "ALTER TABLE orders ALTER total TYPE DOUBLE", "CREATE TABLE extra (a INT)")
    outcome = fluid("verify", folder)
    assert outcome.code == 2
    assert "orders.total is DOUBLE now, and was DECIMAL(8,2)" in outcome.err
    assert "orders.total is DOUBLE now, and was DECIMAL(8,2) · breaks" in outcome.out
    assert "extra is a new table with 0 rows · safe" in outcome.out
    assert (folder / "proof.json").read_bytes() == before


def test_json_has_all_changes_of_a_source_that_the_model_no_longer_fits(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    run(duckdb_shop, "ALTER TABLE customer RENAME city TO town")
    outcome = fluid("verify", folder, "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["holds"]) == (2, False)
    (change,) = document["changes"]
    assert (change["kind"], change["columns"]) == ("column_renamed", ["city"])
    assert [each["name"] for each in change["other_names"]] == ["town"]
    assert (change["effect"], change["evidence"]["rows_before"]) == ("needs_decision", 40)


def test_a_renaming_that_somebody_decided_is_no_question(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    run(duckdb_shop, "ALTER TABLE customer RENAME city TO town")
    assert fluid("decide", folder, "renamed", "customer.city", "town").code == 0
    outcome = fluid("verify", folder)
    assert outcome.code == 2
    assert "customer.city is called town now, as somebody decided · safe" in outcome.out


def test_changes_that_the_model_still_fits_are_listed_and_no_fault(
    fluid: Fluid, duckdb_shop: Path, folder: Path
) -> None:
    run(
        duckdb_shop,
        "UPDATE customer SET city = NULL WHERE customer_id = 107",
        "INSERT INTO orders VALUES (9000, 99, 1.25)",
    )
    outcome = fluid("verify", folder)
    assert outcome.code == 0
    assert "customer.city is null in 1 of 40 rows, and was never null · safe" in outcome.out
    assert "has 1 of 121 rows without a row in customer.customer_id" in outcome.out


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
def test_rows_of_a_broken_key_are_named_as_kept_in_every_technique(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path, technique: str
) -> None:
    """Two customers of one number are in quarantine, and the others are compared."""
    folder = forged_copy(duckdb_shop, tmp_path / "out", technique)
    run(duckdb_shop, "INSERT INTO customer VALUES (107, 'other@example.org', 'Bonn')")
    outcome = fluid("verify", folder)
    assert outcome.code == 0
    assert "2 rows of customer are in quarantine: repeated customer_id" in outcome.out


def test_another_kind_of_source_at_the_place_is_refused(
    fluid: Fluid, duckdb_shop: Path, folder: Path, sqlite_shop: Path
) -> None:
    """An SQLite file where a DuckDB file was is not read on."""
    shutil.copy(sqlite_shop, duckdb_shop)
    outcome = fluid("verify", folder)
    assert outcome.code == 2
    assert "was duckdb when the folder was generated, and is sqlite now" in outcome.err


def test_empty_tables_prove_nothing(fluid: Fluid, tmp_path: Path) -> None:
    """Where there is no row, nothing was compared, and that is not called proven."""
    path = tmp_path / "empty.duckdb"
    run(path, "CREATE TABLE a (id INTEGER)")
    outcome = fluid("verify", forged(path, tmp_path / "out"))
    assert outcome.code == 1
    assert "Not proven. There is no data to compare: no table has any rows." in outcome.out
    assert "✓" not in outcome.out


def test_ddl_proves_nothing(fluid: Fluid, tmp_path: Path) -> None:
    """A model of CREATE TABLE statements has nothing to be compared with."""
    path = tmp_path / "schema.sql"
    path.write_text("CREATE TABLE a (id INTEGER PRIMARY KEY);")
    outcome = fluid("verify", forged(path, tmp_path / "out"))
    assert outcome.code == 1
    assert "Not proven." in outcome.out


def test_a_table_that_cannot_be_read_is_no_part_of_a_proof(fluid: Fluid, tmp_path: Path) -> None:
    """The others are proven, and still not everything is: the table is named with the reason."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "good.csv").write_text("id,name\n1,a\n2,b\n")
    (data / "bad.parquet").write_text("this is no Parquet")
    outcome = fluid("verify", forged(data, tmp_path / "out"))
    assert outcome.code == 1
    assert re.search(r"good +2 +2 +0 +0 +equal", outcome.out)
    assert "✓" not in outcome.out
    assert "Not read, so not compared" in outcome.out
    assert "bad: " in outcome.out


@pytest.mark.parametrize(
    ("was", "is_now", "fault"),
    [
        ("type: 'decimal(8,2)'", "type: string", "orders.total: string in the contract"),
        ("name: total,", "name: amount,", "orders.amount: in the contract but not in the model"),
        ("exposeId: orders", "exposeId: sales", "sales: in the contract but not in the model"),
    ],
)
def test_a_contract_that_does_not_match_its_model_fails(
    fluid: Fluid, folder: Path, was: str, is_now: str, fault: str
) -> None:
    """The proof holds, and the contract promises something else: it is said what."""
    path = folder / "contract.fluid.yaml"
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, is_now))
    outcome = fluid("verify", folder)
    assert outcome.code == 1
    assert "The contract doesn't match its model" in outcome.out
    assert fault in outcome.out
    assert "✓ Proven." in outcome.out


def test_a_contract_may_be_completed_by_hand(fluid: Fluid, folder: Path) -> None:
    """An owner is what a person adds; nothing is said about it."""
    path = folder / "contract.fluid.yaml"
    path.write_text(path.read_text().replace("team: unassigned", "team: sales"))
    outcome = fluid("verify", folder)
    assert outcome.code == 0
    assert "Changed since the folder was generated" not in outcome.out


def test_edited_files_are_listed(fluid: Fluid, folder: Path) -> None:
    """The model was proven, not what somebody made of its files."""
    (folder / "plan.json").write_text("{}")
    (folder / "proof" / "orders.sql").unlink()
    (folder / "proof" / "more.sql").write_text("SELECT 1")
    (folder / "dbt" / "models" / "flat" / "more.sql").write_text("SELECT 1")
    outcome = fluid("verify", folder)
    assert outcome.code == 0
    for line in (
        "plan.json was edited",
        "proof/orders.sql is missing",
        "proof/more.sql was added",
        "dbt/models/flat/more.sql was added",
    ):
        assert line in outcome.out


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("forge.json", "{"),
        ("forge.json", "[]"),
        ("model.json", "{}"),
        ("model.json", "nothing"),
        ("contract.fluid.yaml", "a: 1"),
        ("contract.fluid.yaml", "a: ["),
    ],
)
def test_broken_files_are_refused(fluid: Fluid, folder: Path, name: str, content: str) -> None:
    """What is not what a forge writes is named, with a hint, and never guessed at."""
    (folder / name).write_text(content)
    outcome = fluid("verify", folder)
    assert (outcome.code, outcome.out) == (2, "")
    assert "bug" not in outcome.err
    assert len(outcome.err.splitlines()) == 2


@pytest.mark.parametrize("name", ["forge.json", "model.json", "contract.fluid.yaml"])
def test_missing_files_are_refused(fluid: Fluid, folder: Path, name: str) -> None:
    """The file that is not there is named."""
    (folder / name).unlink()
    outcome = fluid("verify", folder)
    assert outcome.code == 2
    assert name in outcome.err


def test_a_folder_that_was_never_forged_is_refused(fluid: Fluid, tmp_path: Path) -> None:
    """An empty folder, a file and nothing at all are three things."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    assert "has no forge.json" in fluid("verify", tmp_path / "empty").err
    assert "is a file" in fluid("verify", tmp_path / "file").err
    assert "doesn't exist" in fluid("verify", tmp_path / "nowhere").err


def test_a_model_without_its_layer_is_refused(fluid: Fluid, folder: Path) -> None:
    """A vault that holds no vault can be planned by nobody."""
    for name in ("forge.json", "model.json"):
        edit(folder / name, lambda document: document.update(technique="data_vault_2"))
    outcome = fluid("verify", folder)
    assert outcome.code == 2
    assert "its technique is data_vault_2, but that layer is missing" in outcome.err


_INJECTED = "INTEGER) AS x; ATTACH '{}' AS evil; SELECT CAST(1 AS INTEGER"


@pytest.mark.parametrize("field", ["source_type", "to_type"])
def test_no_sql_of_a_file_is_run(fluid: Fluid, folder: Path, tmp_path: Path, field: str) -> None:
    """A model in which a type is a statement is refused before anything is opened."""
    target = tmp_path / "evil.duckdb"
    injected = _INJECTED.format(target)

    def change(model: Any) -> None:
        attribute = model["conceptual"]["entities"][0]["attributes"][0]
        if field == "source_type":
            attribute["source_type"] = injected
        else:
            attribute["conversion"] = {"to_type": injected, "reversible": True}

    edit(folder / "model.json", change)
    outcome = fluid("verify", folder)
    assert (outcome.code, outcome.out) == (2, "")
    assert "bug" not in outcome.err
    assert not target.exists()


@pytest.fixture(scope="module")
def dated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The star of one table of dated orders, next to its source."""
    place = tmp_path_factory.mktemp("dated")
    run(
        place / "dated.duckdb",
        "CREATE TABLE orders AS SELECT i AS order_id, DATE '2024-01-01' + CAST(i AS INTEGER) AS"
        " ordered_on, CAST(i * 1.5 AS DECIMAL(8,2)) AS total FROM range(60) AS t (i)",
    )
    forged_copy(place / "dated.duckdb", place / "star", "dimensional")
    return place


def test_no_name_of_a_file_reads_another_file(
    fluid: Fluid, dated_once: Path, tmp_path: Path
) -> None:
    """A column that is really a query of its own is refused, though it would be one SELECT."""
    star = Path(shutil.copytree(dated_once / "star", tmp_path / "star"))
    secret = tmp_path / "secret.txt"
    secret.write_text("geheim")

    def change(model: Any) -> None:
        (reference,) = model["dimensional"]["facts"][0]["dimensions"]
        reading = f"(SELECT COUNT(*) FROM read_text('{secret}')) = 1"
        reference["to_columns"] = [f"full_date IS NULL AND {reading} OR dim_date.full_date"]

    edit(star / "model.json", change)
    outcome = fluid("verify", star, "--uri", dated_once / "dated.duckdb")
    assert (outcome.code, outcome.out) == (2, "")
    assert "a build reads something other than its relations" in outcome.err


def test_a_model_whose_parts_do_not_fit_is_refused(
    fluid: Fluid, dated_once: Path, tmp_path: Path
) -> None:
    """A column that a fact takes over from a dimension, which has no such one, is no crash."""
    star = Path(shutil.copytree(dated_once / "star", tmp_path / "star"))

    def change(model: Any) -> None:
        (reference,) = model["dimensional"]["facts"][0]["dimensions"]
        reference["carried"] = [["nothing", "nothing"]]

    edit(star / "model.json", change)
    outcome = fluid("verify", star, "--uri", dated_once / "dated.duckdb")
    assert (outcome.code, outcome.out) == (2, "")
    assert "its parts don't fit together" in outcome.err


@pytest.mark.parametrize("command", ["verify", "review"])
def test_a_name_that_was_given_twice_by_hand_is_refused(
    fluid: Fluid, folder: Path, command: str
) -> None:
    def change(model: Any) -> None:
        for entity in model["conceptual"]["entities"][:2]:
            entity["new_name"] = "same"

    edit(folder / "model.json", change)
    outcome = fluid(command, folder)
    assert (outcome.code, outcome.out) == (2, "")
    assert "'same' is the name of two tables or columns" in outcome.err


def test_a_password_is_never_shown(fluid: Fluid, folder: Path) -> None:
    """Not even where the server that it is for can't be reached."""
    outcome = fluid("verify", folder, "--uri", "postgresql://u:geheim@127.0.0.1:1/x")
    assert outcome.code == 2
    assert "geheim" not in outcome.out + outcome.err


def test_a_manifest_that_leads_out_reads_nothing_there(fluid: Fluid, folder: Path) -> None:
    """A file list that names other folders is not followed."""
    edit(
        folder / "forge.json",
        lambda manifest: manifest["files"].update({"proof/../../x": "0", "/etc/passwd": "0"}),
    )
    outcome = fluid("verify", folder)
    assert outcome.code == 0
    assert "passwd" not in outcome.out


def test_two_verifications_print_the_same(fluid: Fluid, folder: Path) -> None:
    """There is no time and no order of threads in what is shown."""
    assert fluid("verify", folder).out == fluid("verify", folder).out


def test_help_shows_an_example(fluid: Fluid) -> None:
    """Asking for help shows how it is used."""
    outcome = fluid("verify", "--help")
    assert outcome.code == 0
    assert "fluid verify shop-model" in outcome.out


@pytest.mark.usefixtures("dbt")
def test_what_dbt_built_is_proven_too(fluid: Fluid, folder: Path) -> None:
    """The project is built by dbt itself, and what it built is compared with the source."""
    outcome = fluid("verify", folder, "--dbt", "--trust", "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["holds"]) == (0, True), document["dbt"]
    assert (document["dbt"]["failed"], document["dbt"]["skipped"]) == ([], [])
    assert document["dbt"]["proof"] == document["proof"]


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_next_to_the_database_that_stands(fluid: Fluid, folder: Path) -> None:
    """What an earlier run built is neither repaired nor called proven: it is not checked."""
    standing = folder / "dbt" / "two.duckdb"
    run(standing, "CREATE TABLE customer AS SELECT 1 AS damaged")
    before = standing.read_bytes()
    outcome = fluid("verify", folder, "--dbt", "--trust")
    assert outcome.code == 0
    assert standing.read_bytes() == before
    assert f"\ndbt built in a new database; {standing} wasn't checked.\n" in outcome.out
    assert "To check it as it is, add --warehouse" in outcome.out
    (folder / "dbt" / "profiles.yml").write_text("two: {}")
    refused = fluid("verify", folder, "--dbt", "--trust")
    assert (refused.code, "doesn't use FLUID_DATABASE_PATH" in refused.err) == (
        2,
        True,
    )


@pytest.mark.usefixtures("dbt")
def test_what_dbt_loses_is_caught(fluid: Fluid, folder: Path) -> None:
    """A model of the project that was edited to leave rows out does not pass, and gets no tick."""
    model = folder / "dbt" / "models" / "flat" / "orders.sql"
    model.write_text(model.read_text() + "\nWHERE order_id > 5000\n")
    outcome = fluid("verify", folder, "--dbt", "--trust")
    assert outcome.code == 1
    assert "✓" not in outcome.out
    assert re.search(r"orders +120 +119 +1 +0 +equal +lost\n", outcome.out)
    assert "missing  order_id 5000" in outcome.out
    assert "dbt/models/flat/orders.sql was edited" in outcome.out


@pytest.mark.usefixtures("dbt")
def test_what_dbt_cannot_build_is_named(fluid: Fluid, folder: Path) -> None:
    """The model that failed is named with the reason, and nothing is called proven by dbt."""
    model = folder / "dbt" / "models" / "flat" / "orders.sql"
    model.write_text(model.read_text() + "\nWHERE nowhere\n")
    outcome = fluid("verify", folder, "--dbt", "--trust")
    assert outcome.code == 1
    assert "✓" not in outcome.out
    assert "1 failed" in outcome.out
    assert re.search(r"orders: .*nowhere", outcome.out, re.DOTALL)
    assert "dbt didn't build everything" in outcome.out


def test_dbt_for_another_database_is_not_proven_here(
    fluid: Fluid, duckdb_shop: Path, tmp_path: Path
) -> None:
    """What a warehouse would build cannot be read here, and is not passed over in silence."""
    with open_source(duckdb_shop) as opened:
        forge(opened, target="snowflake", out=tmp_path / "out")
    outcome = fluid("verify", tmp_path / "out", "--dbt", "--trust")
    assert outcome.code == 2
    assert "is for snowflake" in outcome.err


def test_a_database_on_a_server_is_found_again(
    fluid: Fluid, postgres: PostgresDatabase, tmp_path: Path
) -> None:
    """The connection string is kept without its password, and the refusal has it to be pasted."""
    postgres.run(";".join(STATEMENTS))
    uri = postgres.uri_of("postgres", "geheim")
    with open_source(uri) as opened:
        forge(opened, out=tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or "geheim" not in path.read_text(), path
    refused = fluid("verify", tmp_path / "out")
    assert refused.code == 2
    outcome = fluid(*shlex.split(refused.err.splitlines()[-1])[1:])
    assert (outcome.code, "✓ Proven." in outcome.out) == (0, True)
