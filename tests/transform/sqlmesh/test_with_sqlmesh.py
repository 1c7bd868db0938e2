"""A real sqlmesh plans and runs the project, and has the rows that the plan's own loads make."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from fluid_build.modeling.logical import PartialDelivery
from fluid_build.transform.plan.execution import FIRST_LOAD
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, loaded, modelled
from tests.transform.dbt.projects import written
from tests.transform.sqlmesh.test_project import SHOP, TECHNIQUES, files_of

COMMAND = os.environ.get("FLUID_SQLMESH") or shutil.which("sqlmesh")
"""sqlmesh asks for one version of sqlglot, so it's installed in an environment of its own."""
needs_sqlmesh = pytest.mark.skipif(
    COMMAND is None, reason="sqlmesh isn't there: set FLUID_SQLMESH to its command"
)
CHANGES = (
    (
        "UPDATE {0}customer SET name = 'other', city_id = 2 WHERE id % 7 = 0",
        "CREATE TABLE {0}gone AS SELECT * FROM {0}orders WHERE id % 9 = 0",
        "DELETE FROM {0}orders WHERE id % 9 = 0",
        "INSERT INTO {0}city VALUES (40, 'new')",
        "DELETE FROM {0}customer WHERE id > 55",
    ),
    (
        "INSERT INTO {0}orders SELECT * FROM {0}gone WHERE id % 18 = 0",
        "INSERT INTO {0}customer VALUES (56, 'back', 40, 'b@ck')",
        "UPDATE {0}customer SET name = 'n7' WHERE id = 7",
        "UPDATE {0}city SET name = 'renamed' WHERE id = 3",
    ),
)
"""New, changed, deleted and returned rows before the second and the third load; {0} is where."""
_WITHOUT_KEYS = [re.sub(r" REFERENCES \w+ \(id\)| PRIMARY KEY", "", sql) for sql in SHOP]
"""DuckDB refuses to change rows that others refer to."""


@needs_sqlmesh
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_sqlmesh_has_the_rows_of_the_plan_after_each_load(tmp_path: Path, technique: str) -> None:
    """Each relation is the same, load dates included."""
    _has_the_rows_of_the_plan(tmp_path, technique, CHANGES)


@needs_sqlmesh
def test_what_was_delivered_is_kept(tmp_path: Path) -> None:
    """Of customers, what changed is delivered, and of orders what came."""
    deliveries = (
        PartialDelivery(table="customer", kind="delta"),
        PartialDelivery(table="orders", kind="append"),
    )
    nights = (
        (
            "UPDATE {0}customer SET name = 'other', city_id = 2 WHERE id % 7 = 0",
            "DELETE FROM {0}customer WHERE id % 7 <> 0",
            "DELETE FROM {0}orders WHERE id > 3",
        ),
        ("DELETE FROM {0}customer WHERE id > 7", "DELETE FROM {0}orders"),
    )
    _has_the_rows_of_the_plan(tmp_path, "data_vault_2", nights, deliveries)


def _has_the_rows_of_the_plan(
    tmp_path: Path,
    technique: str,
    nights: Sequence[Sequence[str]],
    deliveries: tuple[PartialDelivery, ...] | None = None,
) -> None:
    shop = database(tmp_path / "shop.duckdb", *_WITHOUT_KEYS)
    with modelled(shop, technique) as found:
        made = found.model.model_copy(update={"deliveries": deliveries})
        model = replace(found, model=made)
        plan = transform_plan(model.model)
        project = written(files_of(model, tmp_path / "sqlmesh"), tmp_path / "sqlmesh")
        tables = model.source.tables
    copy = Path(shutil.copy(shop, tmp_path / "copy.duckdb"))
    stored = [build for build in plan.builds if build.materialization != "view"]
    with loaded(copy, tables, plan) as expected:
        for number, changes in enumerate(((), *nights)):
            day = FIRST_LOAD + timedelta(days=number)
            database(shop, *(change.format("") for change in changes))
            run_sqlmesh(project, str(day), again=number > 0)
            if changes:
                for change in changes:
                    expected.connection.execute(change.format("shop.main."))
                expected.load(day)
            with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
                for build in stored:
                    columns = ", ".join(column.name for column in build.columns)
                    found = connection.execute(f"SELECT {columns} FROM main.{build.name}")
                    planned = expected.connection.execute(
                        f"SELECT {columns} FROM model.{build.name}"
                    )
                    assert sorted(map(repr, found.fetchall())) == sorted(
                        map(repr, planned.fetchall())
                    ), (build.name, day)


def run_sqlmesh(project: Path, day: str, *, again: bool) -> None:
    """Load as on that day."""
    assert COMMAND is not None
    arguments = ["plan", "--auto-apply", "--no-prompts", "--execution-time", day]
    done = subprocess.run(
        [COMMAND, *arguments, *(["--run"] if again else [])],
        cwd=project,
        env={
            **os.environ,
            # A first plan loads the days since then; by default, those since yesterday.
            "SQLMESH__MODEL_DEFAULTS__START": str((FIRST_LOAD - timedelta(days=1)).date()),
            "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "true",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr


@needs_sqlmesh
def test_a_first_load_that_is_repeated_has_all_rows(tmp_path: Path) -> None:
    """Sqlmesh makes the table again where it didn't note the load, as when it was interrupted."""
    shop = database(tmp_path / "shop.duckdb", *_WITHOUT_KEYS)
    with modelled(shop, "data_vault_2") as model:
        project = written(files_of(model, tmp_path / "sqlmesh"), tmp_path / "sqlmesh")
    run_sqlmesh(project, str(FIRST_LOAD), again=False)
    with duckdb.connect(str(project / "shop.duckdb")) as connection:
        connection.execute("DELETE FROM sqlmesh._intervals")
    run_sqlmesh(project, str(FIRST_LOAD + timedelta(days=1)), again=True)
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        found = connection.execute("SELECT count(*) FROM main.sat_orders").fetchall()
    assert found == [(200,)]
