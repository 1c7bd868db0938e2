"""Files of schedulers and CIs: what a stranger's folder is called can't act in any of them."""

import ast
import configparser
import shlex
from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.automation.files import Ci, Scheduler, ci_files, schedule_files
from fluid_build.automation.routine import Routine

NAMES = st.text(st.characters(exclude_categories=("C", "Z"))).map(lambda text: f"x{text}")
FOLDERS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


def routine(folder: str = "models/shop-star", *relations: str) -> Routine:
    return Routine(
        name="shop_star",
        folder=folder,
        requirement="fluid-build[dbt,postgres]==0.2.0",
        secrets=("PGPASSWORD",),
        relations=relations or ("dim_customers", "fct_orders"),
        sources=("--uri", folder),
        hour=3,
        minute=5,
    )


@pytest.mark.parametrize("scheduler", ["airflow", "dagster", "prefect"])
@given(folder=FOLDERS, relation=NAMES)
def test_a_name_is_a_text_in_python(scheduler: Scheduler, folder: str, relation: str) -> None:
    (content,) = schedule_files(routine(folder, relation), scheduler).values()
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(content).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in {"FOLDER", "RELATIONS"}
    }
    assert values["FOLDER"] == folder
    assert values.get("RELATIONS", [relation]) == [relation]


@given(folder=FOLDERS)
def test_a_name_is_one_word_in_scripts_cron_and_systemd(folder: str) -> None:
    files = ci_files(routine(folder), "github")
    for name, content in files.items():
        if name.endswith(".sh"):
            (line,) = [each for each in content.splitlines() if each.startswith("folder=")]
            assert shlex.split(line) == [f"folder={folder}"]
    (cron,) = schedule_files(routine(folder), "cron").values()
    command = cron.splitlines()[-1].replace("\\%", "%").partition("fluid apply ")[2]
    assert shlex.split(command)[:3] == [folder, "--uri", folder]
    unit = schedule_files(routine(folder), "systemd")["shop-star.service"]
    parser = configparser.RawConfigParser(strict=True, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment]
    parser.read_string(unit)
    assert len(parser["Service"]) == 3


@pytest.mark.parametrize("ci", sorted({*get_args(Ci)} - {"jenkins"}))
@given(folder=FOLDERS)
def test_a_name_is_a_text_in_yaml(ci: Ci, folder: str) -> None:
    """So a document has the same shape, whatever the folder is called."""
    name, usual = next(iter(ci_files(routine(), ci).items()))
    found = yaml.safe_load(ci_files(routine(folder), ci)[name])
    assert shape(found) == shape(yaml.safe_load(usual))


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


@pytest.mark.parametrize("ci", get_args(Ci))
def test_secrets_are_named_and_never_there(ci: Ci) -> None:
    content = "".join(ci_files(routine(), ci).values())
    assert "PGPASSWORD" in content
    assert "PGPASSWORD=" not in content
