"""Nested data from a file or a database to a dbt project that builds, and back."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from fluid_build.forging import forge
from fluid_build.sources import open_source
from tests.cli.running import Fluid
from tests.postgres import PostgresDatabase

ORDERS: list[dict[str, Any]] = [
    {
        "id": number,
        "customer": None
        if number % 7 == 0
        else {"name": f"Customer {number % 5}", "address": {"city": f"Town {number % 3}"}},
        "tags": [["new", "gift"], [], None][number % 3],
        "lines": [
            {
                "sku": f"S-{line}",
                "quantity": line + number % 2,
                "discounts": [{"code": f"D{line}", "percent": 2.5}] * (number % 3),
            }
            for line in range(1 + number % 4)
        ],
    }
    for number in range(1, 41)
]
"""Orders with lines, nested twice, where nulls and empty lists both occur."""

CHILDREN = {"orders", "orders__tags", "orders__lines", "orders__lines__discounts"}


def json_lines(folder: Path) -> Path:
    (folder / "orders.jsonl").write_text("\n".join(map(json.dumps, ORDERS)))
    return folder / "orders.jsonl"


def parquet(folder: Path) -> Path:
    lines = json_lines(folder)
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM '{lines}') TO '{folder / 'orders.parquet'}'")
    lines.unlink()
    return folder / "orders.parquet"


def duckdb_file(folder: Path) -> Path:
    lines = json_lines(folder)
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute(f"CREATE TABLE orders AS FROM '{lines}'")
    lines.unlink()
    return folder / "shop.duckdb"


def without_ids(folder: Path) -> Path:
    records = [{k: v for k, v in order.items() if k != "id"} for order in ORDERS]
    (folder / "orders.json").write_text(json.dumps(records))
    return folder / "orders.json"


MAKERS = {"jsonl": json_lines, "parquet": parquet, "duckdb": duckdb_file, "no ids": without_ids}


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize(
    ("kind", "technique"),
    [
        ("jsonl", "dv2"),
        ("jsonl", "dimensional"),
        ("parquet", "flat"),
        ("duckdb", "flat"),
        ("no ids", "flat"),
    ],
)
def test_dbt_builds_child_tables_from_the_source_itself(
    fluid: Fluid, tmp_path: Path, kind: str, technique: str
) -> None:
    """The project reads the nested data where it is, and every document can be rebuilt."""
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    source = MAKERS[kind](data)
    forged = fluid("forge", "data-model", "from-source", "--uri", source, "-o", out, "--technique",
                   technique, "--deterministic")  # fmt: skip
    assert forged.code == 0, forged.err
    assert not (out / "dbt" / "land").exists()
    proof = json.loads((out / "proof.json").read_text())
    assert {table["table"] for table in proof["tables"]} == CHILDREN
    (nested,) = [table["nested"] for table in proof["tables"] if table["nested"]]
    assert (nested["documents"], nested["missing"], nested["unexpected"]) == (40, 0, 0)
    verified = fluid("verify", out, "--dbt", "--trust")
    assert verified.code == 0, verified.out + verified.err
    assert "40 documents rebuilt exactly from 4 tables" in verified.out


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_child_tables_from_postgres(
    fluid: Fluid, tmp_path: Path, postgres: PostgresDatabase
) -> None:
    """A table with a key is split where it is; one without is numbered once, and copied."""
    rows = ", ".join(
        f"({order['id']}, '{json.dumps(order)}', ARRAY['a', 'b', NULL]::text[])" for order in ORDERS
    )
    postgres.run(
        "CREATE TABLE keyed (id int PRIMARY KEY, document jsonb NOT NULL, labels text[]);"
        f"INSERT INTO keyed VALUES {rows}; CREATE TABLE bare AS SELECT labels FROM keyed;"
        "COMMENT ON COLUMN keyed.labels IS 'what people call it';"
    )
    out = tmp_path / "out"
    forged = fluid("forge", "data-model", "from-source", "--uri", postgres.uri, "-o", out,
                   "--deterministic")  # fmt: skip
    assert forged.code == 0, forged.err
    copies = {path.name for path in (out / "dbt" / "land").iterdir()}
    assert copies == {"bare.parquet", "bare_labels.parquet"}
    verified = fluid("verify", out, "--dbt", "--trust", "--uri", postgres.uri)
    assert verified.code == 0, verified.out + verified.err
    assert "keyed: 40 documents rebuilt exactly from 5 tables" in verified.out


def test_a_part_of_a_document_that_is_lost_is_red(tmp_path: Path) -> None:
    """A line that never reached its table, or changed, is a loss, whatever is built of the rest."""
    for damage in ("DELETE FROM {} WHERE sku = 'S-2'", "UPDATE {} SET quantity = 99"):
        with open_source(json_lines(tmp_path)) as source:
            lines = next(table for table in source.tables if table.name == "orders__lines")
            source.connection.execute(damage.format(lines.relation))
            proof = forge(source, technique="flat").proof
        assert proof.verdict == "lost"
        assert "nested documents of orders" in proof.reason
        nested = proof.tables[0].nested
        assert nested is not None
        assert nested.missing
        assert nested.unexpected


def test_nested_columns_are_kept_where_that_is_asked(fluid: Fluid, tmp_path: Path) -> None:
    """``--nested keep`` leaves one wide table, the folder records it, and verify follows it."""
    source, out = json_lines(tmp_path), tmp_path / "out"
    forged = fluid("forge", "data-model", "from-source", "--uri", source, "-o", out, "--nested",
                   "keep", "--deterministic")  # fmt: skip
    assert forged.code == 0, forged.err
    proof = json.loads((out / "proof.json").read_text())
    assert [table["table"] for table in proof["tables"]] == ["orders"]
    assert json.loads((out / "forge.json").read_text())["source"]["nested"] == "keep"
    assert fluid("verify", out).code == 0


def test_a_folder_of_before_keeps_its_nested_columns(fluid: Fluid, tmp_path: Path) -> None:
    """A folder whose manifest says nothing of nested columns was forged with them."""
    source, out = json_lines(tmp_path), tmp_path / "out"
    fluid("forge", "data-model", "from-source", "--uri", source, "-o", out, "--nested", "keep",
          "--deterministic")  # fmt: skip
    manifest = json.loads((out / "forge.json").read_text())
    del manifest["source"]["nested"]
    (out / "forge.json").write_text(json.dumps(manifest))
    assert fluid("verify", out).code == 0


def test_a_split_table_is_profiled_by_its_name(fluid: Fluid, tmp_path: Path) -> None:
    """``--table`` finds what only reading brings to light, and a typo gets a guess."""
    source = json_lines(tmp_path)
    profiled = fluid("profile", source, "--table", "orders__lines")
    assert profiled.code == 0
    assert "orders__id, position" in profiled.out
    assert "Its lists became" in fluid("profile", source, "--table", "orders").out
    missed = fluid("profile", source, "--table", "orders__lins")
    assert missed.code == 2
    assert "orders__lines" in missed.err


def test_several_sources_are_split_alike(fluid: Fluid, tmp_path: Path) -> None:
    """Each source of several has its own child tables."""
    out = tmp_path / "out"
    places = []
    for name in ("web", "shop"):
        (tmp_path / name).mkdir()
        places += ["--uri", f"{name}={json_lines(tmp_path / name)}"]
    forged = fluid("forge", "data-model", "from-source", *places, "-o", out, "--technique", "dv2",
                   "--deterministic")  # fmt: skip
    assert forged.code == 0, forged.err
    proof = json.loads((out / "proof.json").read_text())
    assert {table["table"] for table in proof["tables"]} == {
        f"{source}.{table}" for source in ("web", "shop") for table in CHILDREN
    }
