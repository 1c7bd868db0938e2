"""How dbt reads files in an object store and on the web: in place, logged in at run time."""

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from fluid_build.transform.dbt.running import run_dbt
from tests.sources.web_server import web_server
from tests.transform.dbt.opened_projects import built_alike, project_of

if TYPE_CHECKING:
    from tests.sources.object_store import ObjectStore


def write_shop(folder: Path) -> Path:
    """CSV with a quote, JSON, Parquet in partitions and months."""
    folder.mkdir(parents=True)
    (folder / "customers.csv").write_text("id,name\n1,Zoë\n2,O'Brien\n")
    (folder / "events.jsonl").write_text('{"id": 1, "at": "2024-01-02"}\n{"id": 2}\n')
    for year in (2023, 2024):
        part = folder / "orders" / f"year={year}"
        part.mkdir(parents=True)
        duckdb.sql(f"SELECT {year} AS id, 9.5 AS amount").write_parquet(str(part / "0.parquet"))
    for month in ("01", "02"):
        (folder / f"sales_2024_{month}.csv").write_text("id,v\n1,a\n")
    return folder


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_from_an_object_store(
    s3: "ObjectStore", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads every format in place; no login is in the project."""
    project = tmp_path / "out"
    project.mkdir()
    monkeypatch.chdir(project)
    url = s3.upload(write_shop(tmp_path / "shop"), "lake", "it's/sho p")
    with project_of(url, project) as made:
        assert made.access.copies == ()
        assert "s3://lake/it" in made.external("orders")
        built_alike(made, run_dbt(project), published=4)
        written = "".join(
            path.read_text(errors="replace")
            for path in project.rglob("*")
            if path.is_file() and path.suffix in {".py", ".yml", ".sql", ".md"}
        )
    assert "testing" not in written
    assert {"aws", "httpfs"} <= {
        package.split("==")[0].rpartition("-")[2] for package in made.access.packages
    }


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_from_the_web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query belongs to the address."""
    project = tmp_path / "out"
    project.mkdir()
    monkeypatch.chdir(project)
    with (
        web_server(write_shop(tmp_path / "shop")) as address,
        project_of(f"{address}/customers.csv?version=2", project) as made,
    ):
        assert made.access.copies == ()
        assert "version=2" in made.external("customers")
        built_alike(made, run_dbt(project), published=1)


@pytest.mark.usefixtures("dbt")
def test_a_signed_address_is_asked_for_and_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable has it when dbt is run."""
    project = tmp_path / "out"
    project.mkdir()
    monkeypatch.chdir(project)
    with web_server(write_shop(tmp_path / "shop")) as address:
        url = f"{address}/customers.csv?X-Amz-Signature=5ecre7abc"
        with project_of(url, project) as made:
            written = "".join(path.read_text() for path in project.rglob("*.*") if path.is_file())
            assert "5ecre7abc" not in written
            assert list(made.access.variables) == ["FLUID_SOURCE_PATH"]
            result = run_dbt(project, environment={"FLUID_SOURCE_PATH": url})
            built_alike(made, result, published=1)
