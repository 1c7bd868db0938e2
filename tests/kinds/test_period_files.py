"""Files for one period each, built by dbt."""

from pathlib import Path

import pytest

from tests.sources.period_files import write
from tests.transform.dbt.opened_projects import project_of


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_dbt_reads_the_next_month_too(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project names the files by a pattern, and the column has their period."""
    data, project = tmp_path / "data", tmp_path / "out"
    project.mkdir()
    monkeypatch.chdir(project)
    texts = {"csv": "id,v\n1,a\n", "jsonl": '{"id": 1, "v": "a"}\n'}
    text = texts.get(ending, "SELECT 1::BIGINT AS id, 'a' AS v")
    for month in ("01", "02"):
        write(data, f"sales_2024_{month}.{ending}", text)
    write(data, f"salesmen.{ending}", text)
    with project_of(str(data), project) as made:
        assert made.access.copies == ()
        assert made.differing("sales") == 0
        assert "sales[-_. ][0-9]*" in made.external("sales")
