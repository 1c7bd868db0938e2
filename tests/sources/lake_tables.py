"""Delta and Iceberg tables with a history, written by their own clients."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from deltalake import DeltaTable, Field, write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, TimestamptzType

from fluid_build.sources.base import Source

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
