"""Avro files: logical types, unions, comments, and several files as one table."""

from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest

from fluid_build.errors import FluidError, SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.sql import quote
from tests.sources.avro_orders import ORDERS, order
from tests.sources.avro_writer import decimal, number, text, write_avro


def test_logical_types_unions_and_comments_are_read(tmp_path: Path) -> None:
    """Decimals are exact, negative ones too; DuckDB by itself reads them as bytes."""
    amounts = [150, -150, 0, -1, 128, -129, 999_999_999_999, -999_999_999_999, None]
    write_avro(tmp_path / "orders.avro", ORDERS, [order(i, a) for i, a in enumerate(amounts)])
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert (table.name, table.comment) == ("orders", "Orders of the shop")
        assert [(c.name, c.type, c.nullable, c.comment) for c in table.columns] == [
            ("id", "BIGINT", False, "Its number"),
            ("note", "VARCHAR", True, None),
            ("day", "DATE", False, None),
            ("at", "TIMESTAMP", False, None),
            ("amount", "DECIMAL(12,2)", True, None),
            ("state", "ENUM('open', 'paid')", False, None),
        ]
        rows = source.connection.execute(f"FROM {table.relation} ORDER BY id").fetchall()
    assert [row[4] for row in rows] == [
        None if amount is None else Decimal(amount) / 100 for amount in amounts
    ]
    moment = datetime(2023, 11, 14, 22, 13, 20)
    assert rows[0][:4] == (0, "ü", date(2022, 1, 8), moment)
    assert rows[0][5] == "paid"


def test_files_with_another_schema_are_one_table_with_nulls(tmp_path: Path) -> None:
    """Partitions become columns."""
    later = {**ORDERS, "fields": [*ORDERS["fields"], {"name": "extra", "type": "long"}]}  # type: ignore[misc]
    folder = tmp_path / "orders"
    write_avro(folder / "year=2023" / "0.avro", ORDERS, [order(1, 5)])
    write_avro(folder / "year=2024" / "0.avro", later, [order(2, 5) + number(7)])
    with open_source(tmp_path) as source:
        (table,) = source.tables
        found = source.connection.execute(
            f"SELECT id, extra, year FROM {table.relation} ORDER BY id"
        ).fetchall()
    assert found == [(1, None, 2023), (2, 7, 2024)]


@pytest.mark.parametrize("content", [b"", b"PK", b"Obj\x01", b"Obj\x01\xff\xff\xff\xff\xff\xff"])
def test_a_broken_file_is_said_and_costs_only_itself(tmp_path: Path, content: bytes) -> None:
    """The others are read."""
    (tmp_path / "broken.avro").write_bytes(content)
    with pytest.raises(SourceUnreadableError, match=r"broken\.avro could not be read"):
        open_source(tmp_path / "broken.avro")
    write_avro(tmp_path / "orders.avro", ORDERS, [order(1, 5)])
    with open_source(tmp_path) as source:
        assert [table.name for table in source.tables] == ["orders"]
        assert [entry.name for entry in source.skipped] == ["broken"]


MOMENT = datetime(2023, 11, 14, 22, 13, 20, 123_000)
MILLIS = 1_700_000_000_123
LOGICAL = {
    "time-millis": ("int", number(36_000_001), time(10, 0, 0, 1000)),
    "time-micros": ("long", number(36_000_000_001), time(10, 0, 0, 1)),
    "timestamp-millis": ("long", number(MILLIS), MOMENT),
    "timestamp-micros": ("long", number(MILLIS * 1000), MOMENT),
    "timestamp-nanos": ("long", number(MILLIS * 1_000_000), MOMENT),
    "local-timestamp-millis": ("long", number(MILLIS), MOMENT),
    "local-timestamp-micros": ("long", number(MILLIS * 1000), MOMENT),
    "local-timestamp-nanos": ("long", number(MILLIS * 1_000_000), MOMENT),
    "of somebody's own": ("long", number(17), 17),
    "timestamp-seconds": ("int", number(17), 17),
}


@pytest.mark.parametrize("shape", ["plain", "optional", "nested"])
@pytest.mark.parametrize("logical", LOGICAL)
def test_a_logical_type_is_read_or_ignored(tmp_path: Path, logical: str, shape: str) -> None:
    """DuckDB refuses those that it doesn't know, and misreads moments in an int."""
    stored, value, expected = LOGICAL[logical]
    type_: object = {"type": stored, "logicalType": logical}
    if shape == "optional":
        type_, value = ["null", type_], number(1) + value
    elif shape == "nested":
        type_, value = {"type": "array", "items": type_}, number(1) + value + number(0)
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": type_}]}
    write_avro(tmp_path / "a b%20[1].avro", schema, [value] * 3)
    with open_source(tmp_path) as source:
        table, column = source.tables[-1], source.tables[-1].columns[-1]
        query = f"SELECT {quote(column.alias)} FROM {table.relation}"
        assert source.connection.execute(query).fetchall() == [(expected,)] * 3
        assert column.notes == ()


FIXED = {"type": "fixed", "name": "f", "logicalType": "decimal", "scale": 2}


@pytest.mark.parametrize("size", [1, 4, 8, 9, 16])
def test_decimals_of_a_fixed_size_are_exact(tmp_path: Path, size: int) -> None:
    precision = len(str(2 ** (8 * size - 1))) - 1
    type_ = {**FIXED, "size": size, "precision": precision}
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": type_}]}
    values = [0, -1, 57, -57, 10**precision - 1, 1 - 10**precision]
    rows = [value.to_bytes(size, "big", signed=True) for value in values]
    write_avro(tmp_path / "t.avro", schema, rows)
    with open_source(tmp_path) as source:
        found = source.connection.execute(f"FROM {source.tables[0].relation}").fetchall()
    assert found == [(Decimal(f"{value}E-2"),) for value in values]


UNREAD = {
    "a duration": (
        {"type": "fixed", "name": "f", "size": 12, "logicalType": "duration"},
        bytes(12),
    ),
    "wide": ({"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 2}, decimal(1)),
    "wide and fixed": ({**FIXED, "size": 21, "precision": 50}, bytes(21)),
}


@pytest.mark.parametrize("case", UNREAD)
def test_bytes_whose_meaning_is_not_read_are_noted(tmp_path: Path, case: str) -> None:
    type_, value = UNREAD[case]
    schema = {"type": "record", "name": "r", "fields": [{"name": "x", "type": type_}]}
    write_avro(tmp_path / "t.avro", schema, [value])
    with open_source(tmp_path) as source:
        (column,) = source.tables[0].columns
    assert (column.type, len(column.notes)) == ("BLOB", 1)


@pytest.mark.parametrize("key", ["id=1", "ID=2"])
def test_a_field_that_a_key_of_the_path_would_replace_is_refused(tmp_path: Path, key: str) -> None:
    """Its value would be lost, unless it's the key."""
    write_avro(tmp_path / "orders" / key / "0.avro", ORDERS, [order(1, 5)])
    if key == "ID=2":
        with pytest.raises(FluidError, match="other values than ID=2"):
            open_source(tmp_path)
        return
    with open_source(tmp_path) as source:
        assert source.tables[0].name == "orders"


def test_fields_whose_names_differ_in_case_alone_are_read_apart(tmp_path: Path) -> None:
    """DuckDB refuses such columns, and gives both fields of a record the value of the first."""
    twins = [{"name": "a", "type": "long"}, {"name": "A", "type": "long"}]
    record = {"name": "n", "type": {"type": "record", "name": "inner", "fields": twins}}
    schema = {"type": "record", "name": "r", "fields": [*twins, record]}
    write_avro(tmp_path / "t.avro", schema, [number(1) + number(2) + number(3) + number(4)])
    with open_source(tmp_path / "t.avro") as source:
        (table,) = source.tables
        names = [column.name for column in table.columns]
        assert dict(zip(names, source.relation(table).fetchall()[0], strict=True)) == {
            "a": 1,
            "A_2": 2,
            "n__a": 3,
            "n__A_2": 4,
        }


@pytest.mark.parametrize(("depth", "is_read"), [(66, True), (67, False), (20_000, False)])
def test_a_schema_of_types_deep_inside_each_other_is_refused(
    tmp_path: Path, depth: int, *, is_read: bool
) -> None:
    text = '"long"'
    for level in range(depth):
        text = f'{{"type":"record","name":"r{level}","fields":[{{"name":"a","type":{text}}}]}}'
    head = b"Obj\x01" + number(1) + number(11) + b"avro.schema" + number(len(text))
    sync = bytes(16)
    block = number(1) + number(1) + number(1)
    (tmp_path / "t.avro").write_bytes(head + text.encode() + number(0) + sync + block + sync)
    if is_read:
        with open_source(tmp_path / "t.avro") as source:
            assert source.tables
    else:
        with pytest.raises(SourceUnreadableError, match="too many types inside each other"):
            open_source(tmp_path / "t.avro")


def test_what_becomes_of_a_key_that_is_twice_in_a_map_is_noted(tmp_path: Path) -> None:
    """DuckDB reads one of the two, and nothing shows that there were two."""
    schema = {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "m", "type": {"type": "array", "items": {"type": "map", "values": "long"}}},
        ],
    }
    pairs = number(2) + text("a") + number(1) + text("a") + number(2) + number(0)
    write_avro(tmp_path / "r.avro", schema, [number(1) + number(1) + pairs + number(0)])
    with open_source(tmp_path / "r.avro", nested="keep") as source:
        (table,) = source.tables
    assert table.column("m").notes == (
        "Of a key that is twice in one of its maps, only the last value is read.",
    )
    assert not table.column("id").notes
