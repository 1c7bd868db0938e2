"""Delta and Iceberg tables, profiled and built by dbt."""

import shutil
from pathlib import Path

import pytest

from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.dbt.running import run_dbt
from tests.sources.lake_tables import write_delta, write_iceberg
from tests.transform.dbt.opened_projects import built_alike, project_of


def test_a_folder_of_lake_tables_and_files_is_one_source(tmp_path: Path) -> None:
    """Each table by its own log, files as files; one that is broken costs only itself."""
    write_delta(tmp_path / "lake" / "orders")
    write_delta(tmp_path / "lake" / "bronze" / "raw_orders")
    shutil.copytree(write_iceberg(tmp_path / "written"), tmp_path / "lake" / "customers")
    (tmp_path / "lake" / "ok.csv").write_text("a,b\n1,2\n")
    (tmp_path / "lake" / "broken" / "_delta_log").mkdir(parents=True)
    with open_source(tmp_path / "lake") as source:
        names = [table.name for table in source.tables]
        assert names == ["bronze.raw_orders", "customers", "ok", "orders"]
        assert [entry.name for entry in source.skipped] == ["broken"]
        profile = profile_source(source)
    assert {table.name: table.rows for table in profile.tables} == {
        "bronze.raw_orders": 4,
        "customers": 3,
        "ok": 1,
        "orders": 4,
    }


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_from_lake_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads them in place, so that it reads the newest version whenever it's run."""
    data, project = tmp_path / "data", tmp_path / "out"
    project.mkdir()
    monkeypatch.chdir(project)
    write_delta(data / "orders")
    shutil.copytree(write_iceberg(tmp_path / "written"), data / "customers")
    with project_of(str(data), project) as made:
        assert made.access.copies == ()
        assert "delta_scan" in made.external("orders")
        assert "iceberg_scan" in made.external("customers")
        built_alike(made, run_dbt(project), published=2)
