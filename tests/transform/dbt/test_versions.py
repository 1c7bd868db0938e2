"""Versions of a published model, as the README says that they're made."""

import re
from pathlib import Path

import pytest
import yaml

from fluid_build.block_yaml import block_yaml
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import duckdb_access, manifest, written

ORDERS = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,"
    " ordered_at TIMESTAMP, amount DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'n' || i FROM range(1, 41) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 40, TIMESTAMP '2024-01-01' + i * INTERVAL '1 hour',"
    " i * 1.5 FROM range(1, 201) r(i)",
)


@pytest.mark.usefixtures("dbt")
def test_dbt_reads_a_version_that_is_made_as_the_readme_says(tmp_path: Path) -> None:
    """Both versions are there, the new one under the name that it had; the rest is as it was."""
    path = database(tmp_path / "shop.duckdb", *ORDERS)
    with modelled(path, "dimensional") as shop:
        plan = transform_plan(shop.model)
        files = dbt_project(plan, shop.model, access=duckdb_access(plan, path))
    section = files["README.md"].partition("## Versions")[2]
    block = re.search(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert block is not None
    (example,) = yaml.safe_load(block[1])["models"]
    build = plan.build(example["name"])
    *others, last = build.columns
    example["versions"][0]["columns"][1]["data_type"] = last.type
    marts = yaml.safe_load(files["models/marts/_marts.yml"])
    for entry in marts["models"]:
        if entry["name"] == build.name:
            entry |= example
    columns = [*(column.name for column in others), f"{last.name} AS old_{last.name}"]
    sql = f"SELECT {', '.join(columns)} FROM {{{{ ref('{build.name}', v=2) }}}}\n"
    edited = {
        "models/marts/_marts.yml": block_yaml(marts),
        f"models/marts/{build.name}_v1.sql": sql,
    }
    nodes = manifest(written({**files, **edited}, tmp_path / "dbt"), tmp_path / "t")["nodes"]
    assert isinstance(nodes, dict)
    versions = {
        node["version"]: (node["alias"], "old_amount" in node["columns"])
        for node in nodes.values()
        if node["resource_type"] == "model" and node["name"] == build.name
    }
    assert versions == {1: (f"{build.name}_v1", True), 2: (build.name, False)}
