"""Delta and Iceberg tables: the newest version, with what its schema declares."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from deltalake import DeltaTable, Field, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, TimestamptzType

from fluid_build.errors import SourceUnreadableError
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.transform.dbt.running import run_dbt
from tests.sources.object_store import ObjectStore
from tests.transform.dbt.opened_projects import built_alike, project_of

MOMENT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


def write_delta(folder: Path, *, checkpoint: bool = False) -> None:
    """Five rows in two partitions, one of them null; then one is deleted, and a column added."""
    schema = pyarrow.schema(
        [
            pyarrow.field("id", pyarrow.int64(), nullable=False, metadata={"comment": "Its key"}),
            pyarrow.field("region", pyarrow.string()),
            pyarrow.field("amount", pyarrow.decimal128(12, 2)),
            pyarrow.field("at", pyarrow.timestamp("us", tz="UTC")),
        ]
    )

    def rows(ids: list[int], region: str | None) -> pyarrow.Table:
        records = [(id_, region, Decimal("1.50"), MOMENT) for id_ in ids]
        return pyarrow.Table.from_pylist(
            [dict(zip(schema.names, record, strict=True)) for record in records], schema
        )

    write_deltalake(folder, rows([1, 2, 3], "eu"), partition_by=["region"], description="Orders")
    write_deltalake(folder, rows([4, 5], None), mode="append")
    table = DeltaTable(folder)
    table.delete("id = 2")
    table.alter.add_constraint({"positive": "id > 0"})
    table = DeltaTable(folder)
    table.alter.add_columns([Field("extra", "string")])  # type: ignore[arg-type]
    if checkpoint:
        DeltaTable(folder).create_checkpoint()


@contextmanager
def iceberg_catalog(folder: Path) -> Iterator[Any]:
    folder.mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog("c", uri="sqlite://", warehouse=f"file://{folder}")
    try:
        yield catalog
    finally:
        catalog.close()


def write_iceberg(folder: Path) -> Path:
    """Three rows, one deleted; then a column is added and one renamed. The table's own folder."""
    schema = Schema(
        NestedField(1, "id", LongType(), required=True, doc="Its key"),
        NestedField(2, "name", StringType()),
        NestedField(3, "at", TimestamptzType()),
        identifier_field_ids=[1],
    )
    key = pyarrow.field("id", pyarrow.int64(), nullable=False)
    moment = pyarrow.field("at", pyarrow.timestamp("us", tz="UTC"))
    with iceberg_catalog(folder) as catalog:
        catalog.create_namespace("shop")
        table = catalog.create_table(
            "shop.customers", schema=schema, properties={"comment": "Customers"}
        )
        name = pyarrow.field("name", pyarrow.string())
        first = pyarrow.schema([key, name, moment])
        records = [{"id": i, "name": n, "at": MOMENT} for i, n in ((1, "a"), (2, "b"), (3, None))]
        table.append(pyarrow.Table.from_pylist(records, first))
        table.delete("id = 2")
        with table.update_schema() as update:
            update.add_column("extra", IntegerType())
            update.rename_column("name", "full_name")
        full_name = pyarrow.field("full_name", pyarrow.string())
        second = pyarrow.schema([key, full_name, moment, pyarrow.field("extra", pyarrow.int32())])
        record = {"id": 9, "full_name": "z", "at": MOMENT, "extra": 7}
        table.append(pyarrow.Table.from_pylist([record], second))
        return Path(str(table.location()).removeprefix("file://"))


def ids(source: Source) -> list[int]:
    (table,) = source.tables
    rows = source.connection.execute(f"SELECT id FROM {table.relation} ORDER BY id").fetchall()
    return [row[0] for row in rows]


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_delta_table_is_read_with_what_it_declares(tmp_path: Path, checkpoint: bool) -> None:
    """Deleted rows are gone; the schema is that of the newest version, from log or checkpoint."""
    write_delta(tmp_path / "orders", checkpoint=checkpoint)
    with open_source(tmp_path / "orders") as source:
        assert ids(source) == [1, 3, 4, 5]
        (table,) = source.tables
        assert (table.name, table.comment) == ("orders", "Orders")
        assert [(c.name, c.type, c.nullable, c.comment) for c in table.columns] == [
            ("id", "BIGINT", False, "Its key"),
            ("region", "VARCHAR", True, None),
            ("amount", "DECIMAL(12,2)", True, None),
            ("at", "TIMESTAMP WITH TIME ZONE", True, None),
            ("extra", "VARCHAR", True, None),
        ]
        assert table.notes == ("It declares the check positive: id > 0.",)


def test_an_iceberg_table_is_read_with_what_it_declares(tmp_path: Path) -> None:
    """Deleted rows are gone, a renamed column keeps its values, and identifiers are its key."""
    folder = write_iceberg(tmp_path / "lake")
    with open_source(folder) as source:
        assert ids(source) == [1, 3, 9]
        (table,) = source.tables
        assert (table.name, table.comment, table.primary_key) == ("customers", "Customers", ("id",))
        assert [(c.name, c.type, c.nullable, c.comment) for c in table.columns] == [
            ("id", "BIGINT", False, "Its key"),
            ("full_name", "VARCHAR", True, None),
            ("at", "TIMESTAMP WITH TIME ZONE", True, None),
            ("extra", "INTEGER", True, None),
        ]


def test_a_copied_iceberg_table_is_read_from_where_it_is_now(tmp_path: Path) -> None:
    """Its metadata names the files by their old paths."""
    folder = write_iceberg(tmp_path / "lake")
    shutil.move(folder, tmp_path / "copy")
    with open_source(tmp_path / "copy") as source:
        assert ids(source) == [1, 3, 9]


def test_iceberg_metadata_leads_to_no_file_outside_of_the_table(tmp_path: Path) -> None:
    """A stranger's metadata may name any path."""
    folder = write_iceberg(tmp_path / "lake")
    outside = tmp_path / "outside"
    shutil.copytree(folder / "data", outside / "data")
    shutil.rmtree(folder / "data")
    for file in (folder / "metadata").glob("*.metadata.json"):
        document = json.loads(file.read_text())
        document["location"] = f"file://{outside}"
        file.write_text(json.dumps(document))
    with pytest.raises(SourceUnreadableError):
        open_source(folder)


@pytest.mark.parametrize("path", ["../outside/{name}", "..%2Foutside%2F{name}", "{folder}/{name}"])
def test_a_delta_log_leads_to_no_file_outside_of_the_table(tmp_path: Path, path: str) -> None:
    folder, outside = tmp_path / "lake", tmp_path / "outside"
    outside.mkdir()
    write_deltalake(folder, pyarrow.table({"id": [1]}))
    (file,) = folder.glob("*.parquet")
    shutil.move(file, outside / file.name)
    (commit,) = (folder / "_delta_log").glob("*.json")
    named = path.format(name=file.name, folder=outside)
    commit.write_text(commit.read_text().replace(file.name, named))
    with pytest.raises(SourceUnreadableError, match="outside of its own folder"):
        open_source(folder)


def test_iceberg_manifests_lead_to_no_file_above_the_table(tmp_path: Path) -> None:
    with iceberg_catalog(tmp_path / "lake") as catalog:
        catalog.create_namespace("shop")
        rows = pyarrow.table({"id": [1]})
        table = catalog.create_table("shop.customers", schema=rows.schema)
        folder = Path(str(table.location()).removeprefix("file://"))
        (folder / "data").mkdir(exist_ok=True)
        pyarrow.parquet.write_table(rows, tmp_path / "secret.parquet")
        table.add_files([f"{folder}/data/../../../../secret.parquet"])
    with pytest.raises(SourceUnreadableError, match="outside of its own folder"):
        open_source(folder)


def test_the_version_that_a_hint_names_is_read(tmp_path: Path) -> None:
    """A catalog in the file system says which version is current."""
    folder = write_iceberg(tmp_path / "lake")
    (first,) = (folder / "metadata").glob("00001-*.metadata.json")
    (folder / "metadata" / "v1.metadata.json").write_text(first.read_text())
    (folder / "metadata" / "version-hint.text").write_text("1")
    with open_source(folder) as source:
        assert ids(source) == [1, 2, 3]


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


def test_lake_tables_in_an_object_store_are_read_in_place(s3: ObjectStore, tmp_path: Path) -> None:
    """Nothing but their metadata is fetched."""
    write_delta(tmp_path / "lake" / "orders", checkpoint=True)
    shutil.copytree(write_iceberg(tmp_path / "written"), tmp_path / "lake" / "customers")
    url = s3.upload(tmp_path / "lake", "lake", "lake tables")
    with open_source(url) as source:
        counts = {
            table.name: source.connection.sql(f"SELECT count(*) FROM {table.relation}").fetchall()
            for table in source.tables
        }
        assert counts == {"customers": [(3,)], "orders": [(4,)]}
        assert {table.name: table.comment for table in source.tables} == {
            "customers": "Customers",
            "orders": "Orders",
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
