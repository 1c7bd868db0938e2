"""Avro files, built by dbt."""

from pathlib import Path

import pytest

from tests.sources.avro_orders import ORDERS, order
from tests.sources.avro_writer import number, write_avro
from tests.transform.dbt.opened_projects import project_of


def test_dbt_reads_the_same_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place, with the extension from its wheel."""
    data, project = tmp_path / "data", tmp_path / "out"
    project.mkdir()
    monkeypatch.chdir(project)
    for month in ("01", "02"):
        write_avro(data / f"orders_2024_{month}.avro", ORDERS, [order(1, -5), order(2, None)])
    with project_of(str(data), project) as made:
        assert made.access.copies == ()
        assert made.differing("orders") == 0
        assert "plugins/fluid_extension.py" in made.access.files
        assert any("duckdb-extension-avro" in package for package in made.access.packages)


def test_dbt_reads_a_copy_where_duckdb_cannot_read_the_file(tmp_path: Path) -> None:
    type_ = {"type": "long", "logicalType": "local-timestamp-micros"}
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": type_}]}
    (tmp_path / "data").mkdir()
    write_avro(tmp_path / "data" / "t.avro", schema, [number(5)])
    with project_of(str(tmp_path / "data"), tmp_path / "out") as made:
        assert made.access.copies
