"""How the tables of a large source are laid out on each target."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt.large_tables import LARGE_FROM, layouts
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.targets import TARGETS, Target
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import schema_access

SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, city VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,"
    " ordered_at TIMESTAMP, amount DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'n' || i, 'c' || i % 5 FROM range(1, 41) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 40, TIMESTAMP '2024-01-01' + i * INTERVAL '1 hour',"
    " i * 1.5 FROM range(1, 201) r(i)",
)


def sized(path: Path, technique: str, rows: int) -> tuple[TransformPlan, LogicalModel]:
    """The plan and the model of the shop, as if each of its tables had that many rows."""
    with modelled(path, technique) as shop:
        conceptual = shop.model.conceptual
        entities = [each.model_copy(update={"rows": rows}) for each in conceptual.entities]
        whole = conceptual.model_copy(update={"entities": tuple(entities)})
        model = shop.model.model_copy(update={"conceptual": whole})
        return transform_plan(model), model


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database(tmp_path_factory.mktemp("large") / "shop.duckdb", *SHOP)


def laid_out(path: Path, technique: str, target: Target) -> Mapping[str, object]:
    return layouts(*sized(path, technique, LARGE_FROM.get(target, 10**12)), target)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("duckdb", None),
        ("postgres", {"indexes": [{"columns": ["ordered_date_key"]}, {"columns": ["ordered_at"]}]}),
        ("snowflake", {"cluster_by": ["ordered_date_key"]}),
        ("bigquery", {"cluster_by": ["ordered_at"]}),
        ("databricks", {"liquid_clustered_by": ["ordered_date_key"]}),
    ],
)
def test_a_fact_is_laid_out_by_the_date_of_its_event(
    shop: Path, target: Target, expected: object
) -> None:
    """By what the target skips rows by: queries name the date, and join by the key of the day."""
    assert laid_out(shop, "dimensional", target).get("fct_orders") == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("duckdb", None),
        # The index of the primary key is one by the same columns.
        ("postgres", None),
        ("snowflake", None),
        ("bigquery", {"cluster_by": ["customer_hk", "load_date"]}),
        ("databricks", {"liquid_clustered_by": ["customer_hk", "load_date"]}),
    ],
)
def test_a_history_is_laid_out_by_its_key_and_load(
    shop: Path, target: Target, expected: object
) -> None:
    """Unless it is by itself, as rows are loaded or as a key is declared."""
    assert laid_out(shop, "data_vault_2", target).get("sat_customer") == expected


def test_a_history_of_which_text_is_a_key_has_an_index_without_it(shop: Path) -> None:
    """It has no primary key on PostgreSQL, for the same reason."""
    plan, model = sized(shop, "data_vault_2", 10**7)
    build = next(build for build in plan.published if "load_date" in build.key[1:])
    text = build.column("load_date").model_copy(
        update={"name": "language", "type": "VARCHAR", "contract_type": "string", "tags": ()}
    )
    several = build.model_copy(
        update={"key": (*build.key, "language"), "columns": (*build.columns, text)}
    )
    found = layouts(plan.model_copy(update={"builds": (several,)}), model, "postgres")
    assert found == {build.name: {"indexes": [{"columns": list(build.key)}]}}


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional", "flat"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_row_less_is_no_large_table(shop: Path, technique: str, target: Target) -> None:
    """The project of a small source says nothing of it."""
    assert layouts(*sized(shop, technique, LARGE_FROM.get(target, 2) - 1), target) == {}


def test_the_layout_is_in_the_yaml_file_and_in_the_readme(shop: Path) -> None:
    """Where it can be changed."""
    plan, model = sized(shop, "dimensional", 10**6)
    access = schema_access(plan, "raw", {"type": "bigquery"})
    files = dbt_project(plan, model, target="bigquery", access=access)
    entries = yaml.safe_load(files["models/marts/_marts.yml"])["models"]
    configs = {entry["name"]: entry["config"] for entry in entries}
    assert configs["fct_orders"]["cluster_by"] == ["ordered_at"]
    assert "cluster_by" not in configs["dim_date"]
    assert "## Large tables" in files["README.md"]
