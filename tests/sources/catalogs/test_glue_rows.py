"""The rows of Glue's tables, measured where the login may read their files."""

import pytest

from fluid_build.sources import open_source
from fluid_build.sources.scan_estimate import ScanEstimate
from tests.sources.catalogs.glue_server import (
    add_table,
    column,
    make_database,
    put_rows,
)
from tests.sources.catalogs.measured_glue import aws as aws
from tests.sources.catalogs.measured_glue import server as server


def test_nested_columns_become_tables(server: str) -> None:
    make_database(server, "nested")
    columns = [column("id", "int"), column("lines", "array<struct<sku:string>>")]
    kind = {"classification": "parquet"}
    add_table(server, "nested", "orders", columns=columns, Parameters=kind)
    put_rows(server, "SELECT 1 AS id, [{sku: 'a'}, {sku: 'b'}] AS lines", "nested/orders/part-0")
    with open_source("glue:///nested?login=aws") as source:
        assert [table.name for table in source.tables] == ["orders", "orders__lines"]
        assert source.relation(source.tables[1]).fetchall() == [(1, 1, "a"), (1, 2, "b")]


def test_the_user_is_told_what_is_read_before_it_is() -> None:
    scans: list[ScanEstimate] = []
    open_source("glue:///measured?login=aws", on_scan=scans.append).close()
    assert [scan.tables for scan in scans] == [2]


def test_more_than_is_read_unasked_stays_a_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fluid_build.sources.scan_estimate.MOST_BYTES", 10)
    with open_source("glue:///measured?login=aws") as source:
        assert source.has_data is False
        assert "isn't scanned unasked" in source.notes[-1]
    with open_source("glue:///measured?login=aws", full=True) as source:
        assert source.has_data is True


def test_rows_can_be_left_unread() -> None:
    with open_source("glue:///measured?login=aws&rows=none") as source:
        assert source.has_data is False


def test_csv_and_json_are_read_as_the_catalog_declares_them(aws: str) -> None:
    make_database(aws, "texts")
    put_rows(
        aws, "SELECT 7 AS n, 'a;b' AS t", "texts/semicolons/0", "FORMAT csv, HEADER, DELIM ';'"
    )
    put_rows(aws, "SELECT 8 AS n", "texts/lines/0", "FORMAT json")
    add_table(
        aws,
        "texts",
        "semicolons",
        columns=[column("number", "int"), column("text", "string")],
        storage={
            "SerdeInfo": {
                "SerializationLibrary": "org.apache.hadoop.hive.serde2.OpenCSVSerde",
                "Parameters": {"separatorChar": ";", "skip.header.line.count": "1"},
            }
        },
    )
    add_table(
        aws,
        "texts",
        "lines",
        Parameters={"classification": "json"},
        columns=[column("n", "int"), column("absent", "string")],
    )
    with open_source("glue:///texts?login=aws") as source:
        lines, semicolons = source.tables
        assert source.relation(semicolons).fetchall() == [(7, "a;b")]
        assert source.relation(lines).fetchall() == [(8, None)]


def test_a_table_that_cannot_be_read_does_not_stop_the_others(aws: str) -> None:
    make_database(aws, "mixed")
    put_rows(aws, "SELECT 1 AS n", "mixed/fine/0")
    put_rows(aws, "SELECT 'no number' AS n", "mixed/wrong/0")
    parquet = {"classification": "parquet"}
    for name in ("fine", "wrong", "empty"):
        add_table(aws, "mixed", name, Parameters=parquet, columns=[column("n", "int")])
    add_table(
        aws, "mixed", "orc", Parameters={"classification": "orc"}, columns=[column("n", "int")]
    )
    with open_source("glue:///mixed?login=aws") as source:
        assert [table.name for table in source.tables] == ["empty", "fine"]
        assert "There are no files" in source.tables[0].notes[0]
        assert {skipped.name for skipped in source.skipped} == {"wrong", "orc"}


def test_files_that_store_a_column_in_other_types_keep_every_digit(aws: str) -> None:
    """Their type in common, or the declared one, would round."""
    make_database(aws, "mixed")
    columns = [
        column("exact", "decimal(20,2)"),
        column("whole", "int"),
        column("text", "string"),
    ]
    add_table(aws, "mixed", "t", columns=columns, Parameters={"classification": "parquet"})
    first = (
        "SELECT 123456789012345678.91::DECIMAL(20,2) AS exact, 1.5::DOUBLE AS whole, TRUE AS text"
    )
    put_rows(aws, first, "mixed/t/part-0")
    put_rows(aws, "SELECT 0.5::DOUBLE AS exact, 2.0::DOUBLE AS whole, 5 AS text", "mixed/t/part-1")
    with open_source("glue:///mixed?login=aws") as source:
        (table,) = source.tables
        rows = source.relation(table).order("exact").fetchall()
    assert sorted([str(value) for value in row] for row in rows) == [
        ["0.50", "2.0", "5"],
        ["123456789012345678.91", "1.5", "true"],
    ]
    notes = {column.name: column.notes for column in table.columns}
    assert "declares INTEGER, which would change" in notes["whole"][0]
    assert "different types" in notes["text"][0]
