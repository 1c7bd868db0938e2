"""A guessed key that stops holding, met by ``dbt build``: nothing is loaded, and it says why."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import DbtResult, run_dbt
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import reference
from tests.transform.databases import database
from tests.transform.dbt.projects import duckdb_access, written

_STAFF = (
    "CREATE TABLE staff (id INTEGER, name VARCHAR)",
    "CREATE TABLE job (id VARCHAR, title VARCHAR, pay INTEGER, area VARCHAR)",
    "CREATE TABLE job_history (staff_id INTEGER, job_id VARCHAR, since DATE)",
    "INSERT INTO staff SELECT i, 'n' || i FROM range(1, 9) r(i)",
    "INSERT INTO job SELECT 'j' || i, 't' || i, i, 'a' FROM range(1, 5) r(i)",
    "INSERT INTO job_history SELECT 1 + i % 8, 'j' || (1 + i // 8), DATE '2024-01-01'"
    " FROM range(20) r(i)",
)


@pytest.fixture(scope="module")
def results(
    dbt: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DbtResult, DbtResult, Path]:
    """What came of a build, of another one after the key broke, and the database."""
    folder = tmp_path_factory.mktemp("staff")
    file = database(folder / "staff.duckdb", *_STAFF)
    with open_source(file) as source:
        profile = profile_source(source)
    history = profile.table("job_history").model_copy(
        update={"primary_key": ("staff_id", "job_id")}
    )
    tables = tuple(history if table.name == history.name else table for table in profile.tables)
    references = (
        reference("job_history", "staff_id", "staff", "id"),
        reference("job_history", "job_id", "job", "id"),
    )
    model = build_model(
        profile.model_copy(update={"tables": tables, "foreign_keys": references}), "data_vault_2"
    )
    plan = transform_plan(model)
    project = written(dbt_project(plan, model, access=duckdb_access(plan, file)), folder / "dbt")
    first = run_dbt(project, variables={"load_date": "2024-01-01 00:00:00"})
    with duckdb.connect(str(file)) as connection:
        connection.execute("INSERT INTO job_history VALUES (1, 'j1', DATE '2025-01-01')")
        connection.execute("INSERT INTO staff VALUES (9, 'n9')")
    second = run_dbt(project, variables={"load_date": "2024-01-02 00:00:00"})
    return first, second, project / "staff.duckdb"


def test_the_key_is_tested_before_anything_is_loaded(
    results: tuple[DbtResult, DbtResult, Path],
) -> None:
    """It holds at first; then its test fails, and what is loaded from the table is left out."""
    first, second, _ = results
    assert first.ok
    assert [node.kind for node in second.failed] == ["test"]
    assert "job_history" in second.failed[0].name
    skipped = {node.name for node in second.skipped if node.kind == "model"}
    assert skipped == {"hub_job", "hub_staff", "lnk_job_history", "sat_job_history"}


def test_nothing_is_loaded_of_a_table_whose_key_is_broken(
    results: tuple[DbtResult, DbtResult, Path],
) -> None:
    """The link and its satellite are as they were; other tables' satellites are loaded."""
    _, _, built = results
    with duckdb.connect(str(built), read_only=True) as connection:
        for name in ("lnk_job_history", "sat_job_history"):
            assert connection.sql(f"SELECT count(*) FROM {name}").fetchone() == (20,)
        assert connection.sql("SELECT count(*) FROM sat_staff").fetchone() == (9,)
