"""Delta and Iceberg tables: the newest version, with what its schema declares."""

import json
import shutil
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from deltalake import write_deltalake

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources import open_source
from tests.sources.lake_tables import iceberg_catalog, ids, write_delta, write_iceberg
from tests.sources.object_store import ObjectStore


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
