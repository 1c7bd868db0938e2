"""dbt's unit tests of how models are loaded: what they expect, and that they notice a change."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fluid_build.modeling.logical import Technique
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import run_dbt
from fluid_build.transform.dbt.unit_tests import UNIT_TESTS, VARIABLE, unit_test_files
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import duckdb_access, written
from tests.transform.dbt.test_called_models import SHOP as VAULT
from tests.transform.dimensional.shop import SHOP as STAR

_HISTORIES = {"vault_satellite", "vault_reference_table", "dimension_versions"}


@pytest.fixture(scope="module", params=["data_vault_2", "dimensional"])
def technique(request: pytest.FixtureRequest) -> Technique:
    found: Technique = request.param
    return found


@pytest.fixture(scope="module")
def project(technique: Technique, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The files of a vault or a star."""
    statements = VAULT if technique == "data_vault_2" else STAR
    path = database(tmp_path_factory.mktemp(technique) / "shop.duckdb", *statements)
    with modelled(path, technique) as shop:
        plan = transform_plan(shop.model)
        return dbt_project(plan, shop.model, access=duckdb_access(plan, path))


def unit_tests(files: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for name, text in files.items():
        if name.endswith(UNIT_TESTS):
            yield from yaml.safe_load(text)["unit_tests"]


def macro_of(test: Mapping[str, Any], files: Mapping[str, str]) -> str:
    (model,) = (text for name, text in files.items() if name.endswith(f"/{test['model']}.sql"))
    return model.split("{{ ")[-1].split("(")[0]


def test_each_macro_that_loads_has_a_unit_test(
    project: Mapping[str, str], technique: Technique
) -> None:
    expected = {
        "data_vault_2": {"vault_hub", "vault_link", "vault_satellite", "vault_reference_table"},
        "dimensional": {"dimension", "versioned_dimension", "dimension_versions", "fact"},
    }
    assert {macro_of(test, project) for test in unit_tests(project)} >= expected[technique]


def test_a_history_gets_a_row_for_what_changed_went_or_came_back(
    project: Mapping[str, str],
) -> None:
    """And none for what stayed as it was."""
    histories = [
        test
        for test in unit_tests(project)
        if macro_of(test, project) in _HISTORIES and test["name"].endswith("_next_load")
    ]
    assert histories
    for test in histories:
        (before,) = (given["rows"] for given in test["given"] if given["input"] == "this")
        rows = test["expect"]["rows"]
        key = next(name for name in rows[0] if name not in {"load_date", "is_deleted"})
        found = {str(row[key]): row["is_deleted"] for row in rows}
        has_changing = len(before) == 5
        words = {"changed": False} if has_changing else {}
        words |= {"deleted": True, "returned": False}
        numbers = {"changed": "2", "deleted": "3", "returned": "4"}
        assert found in (words, {numbers[word]: gone for word, gone in words.items()})
        assert {row["load_date"] for row in rows} == {"2000-01-03 00:00:00"}


def test_the_rows_of_a_fact_find_the_version_of_their_day(tmp_path: Path) -> None:
    path = database(tmp_path / "shop.duckdb", *STAR)
    with modelled(path, "dimensional") as shop:
        files = unit_test_files(transform_plan(shop.model))
    facts = [test for test in unit_tests(files) if test["model"].startswith("fct_")]
    versions = [
        [{v for v in row.values() if str(v).startswith("member")} for row in test["expect"]["rows"]]
        for test in facts
    ]
    assert [set(), {"member 1, version 1"}, {"member 2, version 2"}] in versions


@pytest.mark.usefixtures("dbt")
def test_dbt_runs_them_only_when_asked_and_they_fail_if_a_macro_forgets_deletions(
    project: Mapping[str, str], tmp_path: Path
) -> None:
    folder = written(project, tmp_path)
    build = run_dbt(folder)
    assert build.ok and build.warnings == ()
    assert not [node for node in build.nodes if node.kind == "unit_test"]
    names = {f"{test['model']}.{test['name']}" for test in unit_tests(project)}
    assert run_unit_tests(folder) == dict.fromkeys(names, "pass")
    history = folder / "macros" / "history.sql"
    text = history.read_text("utf-8")
    forgets = text.replace(
        "FROM {{ this }} AS stored\nINNER JOIN differing",
        "FROM {{ this }} AS stored\nINNER JOIN later AS differing",
    )
    assert forgets != text
    history.write_text(forgets, "utf-8")
    failing = {name for name, status in run_unit_tests(folder).items() if status != "pass"}
    expected = {
        f"{test['model']}.{test['name']}"
        for test in unit_tests(project)
        if macro_of(test, project) in _HISTORIES and test["name"].endswith("_next_load")
    }
    assert failing == expected


def run_unit_tests(project: Path) -> dict[str, str]:
    """The status of each unit test by its model and name."""
    subprocess.run(
        [
            *(sys.executable, "-m", "dbt.cli.main", "test", "--select", "test_type:unit"),
            *("--vars", f"{{{VARIABLE}: true}}", "--no-partial-parse"),
        ],
        cwd=project,
        capture_output=True,
        check=False,
    )
    results = json.loads((project / "target" / "run_results.json").read_text("utf-8"))["results"]
    return {
        result["unique_id"].split(".", 2)[2]: result["status"]
        for result in results
        if result["unique_id"].startswith("unit_test.")
    }
