"""The main road from a real source to its files."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import yaml

from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.validation import validate
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.errors import EmptySourceError, OutputError, UsageError
from fluid_build.forging import Forged, ForgeOptions, InvalidOwnContractError, forge, write_forged
from fluid_build.modeling.logical import LogicalModel
from fluid_build.progress import Progress
from fluid_build.sources import open_source
from fluid_build.sources.base import OpenSource
from tests.contract.official import validator as official
from tests.shared import CORPUS, FLUID_SCHEMA, on_databases

FILES = {
    "MODEL.md",
    "contract.fluid.yaml",
    "forge.json",
    "model.json",
    "plan.json",
    "profile.json",
    "proof.json",
    "proof/customer.sql",
    "proof/order_details.sql",
}


def build_shop(path: Path) -> Path:
    """Customers with e-mail addresses, and orders of which three refer to nobody."""
    with closing(sqlite3.connect(path)) as shop, shop:
        shop.execute('CREATE TABLE "Customer" ("Id" INTEGER, "Email" TEXT, "State" TEXT)')
        shop.execute('CREATE TABLE "Order Details" ("OrderId" INT, "CustomerId" INT, "Total" REAL)')
        shop.executemany(
            'INSERT INTO "Customer" VALUES (?, ?, ?)',
            [(n, f"someone{n}@example.com", "AB"[n % 2]) for n in range(1, 201)],
        )
        shop.executemany(
            'INSERT INTO "Order Details" VALUES (?, ?, ?)',
            [(n, n % 200 + 1 if n > 3 else 900 + n, n / 4) for n in range(1, 801)],
        )
    return path


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shop(tmp_path_factory.mktemp("secret_place") / "shop.sqlite")


@pytest.fixture(scope="module")
def forged(shop: Path) -> Mapping[str, str]:
    """The text of each file that a forge of the shop writes."""
    out = shop.parent / "out"
    with open_source(shop) as source:
        result = forge(source, out=out)
    texts = {
        file.relative_to(out).as_posix(): file.read_text(encoding="utf-8") for file in result.files
    }
    assert texts.keys() >= FILES
    return texts


def test_the_contract_on_disk_is_valid(forged: Mapping[str, str]) -> None:
    """What was written is a FLUID contract to us and to the official schema."""
    document = yaml.safe_load(forged["contract.fluid.yaml"])
    assert validate(document) == ()
    assert check_consistency(document) == ()
    if FLUID_SCHEMA.exists():
        assert official().is_valid(document)


def test_the_contract_names_keys_references_and_orphans(forged: Mapping[str, str]) -> None:
    """The key of the customers, the reference to them and its three orphans are in."""
    document = yaml.safe_load(forged["contract.fluid.yaml"])
    exposes = {expose["exposeId"]: expose for expose in document["exposes"]}
    primary = {"name": "customer", "type": "primary", "expr": "id"}
    assert primary in exposes["customer"]["semantics"]["entities"]
    rules = {rule["id"]: rule for rule in exposes["order_details"]["contract"]["dq"]["rules"]}
    reference = rules["order_details.order_details_customer_id_to_customer.reference"]
    assert reference["labels"]["to-table"] == "customer"
    assert json.loads(forged["evidence.json"])["rules"][reference["id"]]["orphans"] == 3
    states = {rule["id"]: rule for rule in exposes["customer"]["contract"]["dq"]["rules"]}
    assert states["customer.state.accepted_values"]["labels"]["accepted-values"] == '["A", "B"]'


def test_every_query_of_the_evidence_runs_and_returns_what_it_says(
    shop: Path, forged: Mapping[str, str]
) -> None:
    """Each rule's query, run on the source, returns as many rows as violations were counted."""
    document = yaml.safe_load(forged["contract.fluid.yaml"])
    rules = [rule for e in document["exposes"] for rule in e["contract"]["dq"]["rules"]]
    assert len(rules) >= 8
    evidence = json.loads(forged["evidence.json"])["rules"]
    assert evidence.keys() == {rule["id"] for rule in rules}
    with closing(sqlite3.connect(shop)) as database:
        for id_, found in evidence.items():
            assert len(database.execute(found["sql"]).fetchall()) == found["violations"], id_


@pytest.mark.skipif(shutil.which("git") is None, reason="git isn't there")
def test_git_takes_what_nobody_reviews_for_generated(
    forged: Mapping[str, str], tmp_path: Path
) -> None:
    """The contract, the SQL and the YAML of dbt and the DDL are what is left."""
    (tmp_path / ".gitattributes").write_text(forged[".gitattributes"], encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        ["git", "check-attr", "-z", "linguist-generated", "--stdin"],
        cwd=tmp_path,
        input="\0".join(forged),
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split("\0")
    marked = dict(zip(listed[::3], listed[2::3], strict=False))
    reviewed = {name for name, mark in marked.items() if name and mark != "set"}
    assert reviewed >= {"contract.fluid.yaml", "schema.sql", "dbt/dbt_project.yml"}
    assert not reviewed & {"evidence.json", "model.json", "MODEL.md", "dbt/README.md"}
    assert not [name for name in reviewed if name.startswith("proof")]


def test_the_model_on_disk_is_the_model(forged: Mapping[str, str]) -> None:
    """``model.json`` reads back as a logical model of both tables."""
    model = LogicalModel.model_validate_json(forged["model.json"])
    assert [entity.name for entity in model.conceptual.entities] == ["Customer", "Order Details"]


def test_the_profile_on_disk_begins_with_the_public_shape(forged: Mapping[str, str]) -> None:
    """``profile.json`` holds tables and foreign keys first, and then what else was measured."""
    profile = json.loads(forged["profile.json"])
    assert list(profile)[:2] == ["tables", "foreign_keys"]
    assert profile["source_name"] == "shop"


def test_no_personal_value_and_no_path_is_in_any_file(forged: Mapping[str, str]) -> None:
    """E-mail addresses of the data, and the place where it lies, are told to nobody."""
    for name, text in forged.items():
        assert "someone" not in text, name
        assert "secret_place" not in text, name
        assert "@example.com" not in text, name


def test_same_input_same_bytes_in_another_process_and_place(
    tmp_path: Path, forged: Mapping[str, str]
) -> None:
    """Another copy of the database, another folder, another hash seed: the same bytes."""
    script = (
        "import sys; from pathlib import Path; from fluid_build.forging import forge;"
        "from fluid_build.sources import open_source\n"
        "with open_source(sys.argv[1]) as source: forge(source, out=Path(sys.argv[2]))"
    )
    copy = tmp_path / "elsewhere" / "shop.sqlite"
    copy.parent.mkdir()
    build_shop(copy)
    subprocess.run(
        [sys.executable, "-c", script, str(copy), str(copy.parent / "out")],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
    )
    again = {name: (copy.parent / "out" / name).read_text(encoding="utf-8") for name in forged}
    assert again == dict(forged)


@on_databases(
    "broker chinook jaffle_shop northwind oracle_co",
    thorough="adventureworks_dw adventureworks_lt adventureworks_star car_dealership"
    " department_store derm_treatment gtfs_nyc pubs sakila sql_murder_mystery world",
)
def test_every_database_of_the_corpus_gets_a_valid_contract(name: str) -> None:
    """Real databases, whatever their shape, are forged to a contract without a finding."""
    with open_source(CORPUS / name / "data") as source:
        result = forge(source)
    document = as_document(result.contract)
    assert validate(document) == ()
    assert check_consistency(document) == ()
    if FLUID_SCHEMA.exists():
        assert official().is_valid(document)
    tables = {path.stem for path in (CORPUS / name / "data").glob("*.parquet")}
    assert {expose.title for expose in result.contract.exposes} == tables


def test_without_out_nothing_is_written(shop: Path) -> None:
    """Only a folder that was asked for is written to."""
    before = sorted(shop.parent.iterdir())
    with open_source(shop) as source:
        assert forge(source).files == ()
    assert sorted(shop.parent.iterdir()) == before


def test_stages_are_reported_in_order(shop: Path, tmp_path: Path) -> None:
    """Whoever waits hears of each stage once it begins."""
    heard: list[Progress] = []
    with open_source(shop) as source:
        forge(source, out=tmp_path / "out", on_progress=heard.append)
    stages = list(dict.fromkeys(progress.stage for progress in heard))
    assert stages[-6:] == ["model", "build", "prove", "contract", "project", "write"]


def test_an_unknown_technique_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    """A typing error does not cost the time of a profile: the source may even be closed."""
    source = OpenSource("duckdb", "closed", duckdb.connect(), tables=())
    source.close()
    with pytest.raises(UsageError):
        forge(source, technique="kimbal", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_source_of_which_nothing_could_be_read_is_an_error(tmp_path: Path) -> None:
    """No table, no files."""
    with (
        OpenSource("duckdb", "void", duckdb.connect(), tables=()) as source,
        pytest.raises(EmptySourceError) as caught,
    ):
        forge(source, out=tmp_path / "out")
    assert caught.value.hint
    assert not (tmp_path / "out").exists()


def test_our_own_invalid_contract_is_a_bug_and_never_written(shop: Path, tmp_path: Path) -> None:
    """Should the contract ever break the schema, the forge stops before it renders a file."""
    with open_source(shop) as source:
        result = forge(source)
        broken = result.contract.model_copy(update={"id": "Not an id!"})
        with pytest.raises(InvalidOwnContractError, match="invalid at id"):
            write_forged(source, replace(result, contract=broken), ForgeOptions(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_in_the_way_of_the_output_is_an_output_error(shop: Path, tmp_path: Path) -> None:
    """The refusal names the place, and the file there stays."""
    (tmp_path / "out").write_text("mine")
    with open_source(shop) as source, pytest.raises(OutputError, match="is a file"):
        forge(source, out=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def forge_to(shop: Path, out: Path, technique: str) -> Forged:
    """Forge the shop to a folder, as the command does."""
    with open_source(shop) as source:
        return forge(source, technique=technique, out=out)


def files_of(folder: Path) -> set[str]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_another_technique_leaves_nothing_of_the_one_before(shop: Path, tmp_path: Path) -> None:
    """A folder that held a vault and now holds a star has no model of the vault left."""
    forge_to(shop, tmp_path / "out", "dv2")
    forge_to(shop, tmp_path / "out", "kimball")
    forge_to(shop, tmp_path / "new", "kimball")
    assert files_of(tmp_path / "out") == files_of(tmp_path / "new")


def test_an_edited_file_is_kept_and_named(shop: Path, tmp_path: Path) -> None:
    """A file that the new forge does not write and that is no longer as it was stays."""
    forge_to(shop, tmp_path / "out", "dv2")
    edited = tmp_path / "out" / "dbt" / "models" / "raw_vault" / "hub_customer.sql"
    edited.write_text("SELECT 1 AS mine")
    result = forge_to(shop, tmp_path / "out", "flat")
    assert edited.read_text() == "SELECT 1 AS mine"
    assert [(change.name, change.owner) for change in result.kept] == [
        ("dbt/models/raw_vault/hub_customer.sql", "edited")
    ]


def test_a_file_of_the_user_is_left_alone(shop: Path, tmp_path: Path) -> None:
    """Only what a forge wrote is ever taken away."""
    own = tmp_path / "out" / "dbt" / "models" / "mine.sql"
    own.parent.mkdir(parents=True)
    own.write_text("SELECT 1 AS mine")
    forge_to(shop, tmp_path / "out", "dv2")
    forge_to(shop, tmp_path / "out", "flat")
    assert own.read_text() == "SELECT 1 AS mine"


@pytest.mark.parametrize("technique", ["flat", "dv2", "kimball"])
def test_the_contract_exposes_just_what_is_built(
    shop: Path, tmp_path: Path, technique: str
) -> None:
    """One expose for each published build, with its columns and types."""
    result = forge_to(shop, tmp_path / "out", technique)
    exposes = {expose.expose_id: expose for expose in result.contract.exposes}
    assert list(exposes) == [build.name for build in result.plan.published]
    for build in result.plan.published:
        columns = exposes[build.name].contract.columns
        assert columns is not None
        assert [(column.name, column.type) for column in columns] == [
            (column.name, column.contract_type) for column in build.columns
        ]
    (made,) = result.contract.builds or ()
    assert made["outputs"] == list(exposes)
    assert result.proof.verdict == "proven"


def test_lineage_leads_from_every_source_column(shop: Path, tmp_path: Path) -> None:
    """Each column of the source can be followed to where it went."""
    result = forge_to(shop, tmp_path / "out", "dv2")
    lineage = result.contract.lineage
    assert lineage is not None
    found = {
        (upstream["exposeId"], mapping["sourceField"])
        for upstream in lineage["upstream"]
        for mapping in upstream.get("fieldMappings", ())
    }
    assert found == {
        (source.id, column) for source in result.plan.sources for column, _ in source.columns
    }
