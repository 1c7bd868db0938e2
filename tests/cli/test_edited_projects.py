"""What people write into the generated dbt project, when the source changes under it."""

from pathlib import Path

import duckdb
import pytest
import yaml

from fluid_build.transform.dbt.running import run_dbt
from tests.cli.running import Fluid, Outcome
from tests.forges import forged

TECHNIQUES = ("flat", "dimensional", "dv2")
EXPOSURE = """
exposures:
- name: weekly_report
  type: dashboard
  owner:
    name: Sales
  depends_on:
  - ref('stg_customer')
"""


def run(file: Path, *statements: str) -> None:
    with duckdb.connect(str(file)) as database:
        for statement in statements:
            database.execute(statement)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Customers and their orders."""
    run(
        tmp_path / "shop.duckdb",
        "CREATE TABLE customer AS SELECT i AS id, 'c' || i AS code, 'Lyon' AS city, i % 7 AS grade"
        " FROM range(1, 41) r(i)",
        "ALTER TABLE customer ADD PRIMARY KEY (id)",
        "CREATE TABLE sale AS SELECT i AS id, 1 + i % 40 AS customer_id, i * 1.5 AS amount,"
        " DATE '2024-01-01' + i::INT AS sold_on FROM range(1, 121) r(i)",
        "ALTER TABLE sale ADD PRIMARY KEY (id)",
    )
    return tmp_path / "shop.duckdb"


def forge(fluid: Fluid, source: Path, folder: Path, technique: str, *options: str) -> Outcome:
    command = ("forge", "data-model", "from-source", "--technique", technique)
    return fluid(*command, "--uri", source, "-o", folder, *options)


def edit_staging(folder: Path) -> Path:
    """Describe, tag and test columns as people do, one of which the source then drops."""
    path = folder / "dbt" / "models" / "staging" / "_staging.yml"
    document = yaml.safe_load(path.read_text())
    (model,) = (each for each in document["models"] if each["name"] == "stg_customer")
    model["config"]["tags"] = ["crm"]
    columns = {column["name"]: column for column in model["columns"]}
    columns["city"]["description"] = "Where the parcel goes."
    columns["city"]["data_tests"] = [{"accepted_values": {"arguments": {"values": ["Lyon"]}}}]
    columns["grade"]["description"] = "The grade of the credit agency."
    text = "# Ask Kim before you change this.\n" + yaml.safe_dump(document, sort_keys=False)
    path.write_text(text + EXPOSURE)
    return path


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_edits_live_through_a_new_structure_that_dbt_builds(
    fluid: Fluid, source: Path, tmp_path: Path, technique: str
) -> None:
    """A column comes, another goes with what was said of it, and nothing else is lost."""
    folder = forged(source, tmp_path / "out", technique)
    path = edit_staging(folder)
    run(source, "ALTER TABLE customer DROP COLUMN grade", "ALTER TABLE customer ADD segment TEXT")
    outcome = forge(fluid, source, folder, technique, "--redesign", "all")
    assert (outcome.code, "Proven." in outcome.out) == (0, True)
    assert "stg_customer.grade: description" in outcome.out
    assert path.read_text().startswith("# Ask Kim before you change this.\n")
    document = yaml.safe_load(path.read_text())
    (model,) = (each for each in document["models"] if each["name"] == "stg_customer")
    columns = {column["name"]: column for column in model["columns"]}
    assert columns.keys() >= {"id", "code", "city", "segment"} and "grade" not in columns
    assert columns["city"]["description"] == "Where the parcel goes."
    assert model["config"]["tags"] == ["crm"]
    assert [exposure["name"] for exposure in document["exposures"]] == ["weekly_report"]
    homeless = yaml.safe_load((folder / "dbt" / "edits_without_a_place.yml").read_text())
    ((gone,),) = (each["columns"] for each in homeless["models"])
    assert gone == {"name": "grade", "description": "The grade of the credit agency."}
    built = run_dbt(folder / "dbt")
    assert (built.ok, built.warned, built.warnings) == (True, (), ())
    assert any("accepted_values" in node.name for node in built.passed)
    again = forge(fluid, source, folder, technique)
    assert (again.code, "Edits without a place" in again.out) == (0, False)
    assert yaml.safe_load(path.read_text()) == document


@pytest.mark.usefixtures("dbt")
def test_edits_of_another_technique_have_no_place(
    fluid: Fluid, source: Path, tmp_path: Path
) -> None:
    """The file of its models goes, what it said is kept, and the project's variables stay."""
    folder = forged(source, tmp_path / "out")
    path = folder / "dbt" / "models" / "flat" / "_flat.yml"
    path.write_text(path.read_text().replace("name: city\n", "name: city\n    quote: true\n"))
    project = folder / "dbt" / "dbt_project.yml"
    project.write_text(project.read_text().replace("vars:\n", "vars:\n  region: EU  # Ours.\n"))
    outcome = forge(fluid, source, folder, "dv2")
    assert "customer.city: quote" in outcome.out
    assert (outcome.code, path.exists()) == (0, False)
    assert "\n  region: EU  # Ours.\n" in project.read_text()
    assert yaml.safe_load(project.read_text())["models"]["shop"].keys() >= {"raw_vault"}
    assert run_dbt(folder / "dbt").ok


def test_an_edited_model_of_an_earlier_structure_is_not_called_proven(
    fluid: Fluid, source: Path, tmp_path: Path
) -> None:
    """What dbt builds with it isn't what was compared: the screen says so, and the exit code."""
    folder = forged(source, tmp_path / "out")
    model = folder / "dbt" / "models" / "flat" / "customer.sql"
    model.write_text(model.read_text() + "-- Mine.\n")
    same = forge(fluid, source, folder, "flat")
    assert (same.code, "Proven." in same.out) == (0, True)
    run(source, "ALTER TABLE customer DROP COLUMN grade")
    outcome = forge(fluid, source, folder, "flat", "--redesign", "all")
    assert (outcome.code, "Proven." in outcome.out) == (1, False)
    assert "dbt/models/flat/customer.sql was edited for an earlier structure" in outcome.out
    assert model.read_text().endswith("-- Mine.\n")
    again = forge(fluid, source, folder, "flat")
    assert again.code == 1


def test_a_file_that_is_not_plain_yaml_is_kept_as_a_whole(
    fluid: Fluid, source: Path, tmp_path: Path
) -> None:
    """It's named, and once the structure changes it isn't called proven either."""
    folder = forged(source, tmp_path / "out")
    path = folder / "dbt" / "models" / "staging" / "_staging.yml"
    text = path.read_text() + "x-note: &note 1\n"
    path.write_text(text)
    assert forge(fluid, source, folder, "flat").code == 0
    run(source, "ALTER TABLE customer DROP COLUMN grade")
    outcome = forge(fluid, source, folder, "flat")
    assert (outcome.code, path.read_text()) == (1, text)
    assert forge(fluid, source, folder, "flat", "--force").code == 0
    assert path.read_text() != text
