"""Measures how fast nested documents become child tables, next to dlt: the same file, one run.

Make an environment of its own, and run it there:

    python -m venv peers
    peers/bin/pip install -r bench/nested_peers.txt -e .
    peers/bin/python bench/nested.py

The work: a file of 100,000 orders, one JSON document a line, with a customer and an address as
objects, tags, and lines that have discounts; both sides make the same four tables of it. For dlt
that's extracting and normalizing, for which the documents come in lists of 1,000, parsed by orjson;
for this tool it's opening the source. Then both load the tables into a DuckDB file. Every round
runs in processes of its own; a figure is the median of the rounds, the ratio the median of the
ratios within each round. Seconds of processor time are those of the process and its children, which
other work on the machine affects least.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

DOCUMENTS = 100_000
ROUNDS = 3
BATCH = 1_000
TABLES = {"orders", "orders__lines", "orders__lines__discounts", "orders__tags"}


def write_documents(path: Path, number: int) -> None:
    """Write the same orders each time."""
    chance = random.Random(15)
    with path.open("w", encoding="utf-8") as file:
        for order in range(1, number + 1):
            file.write(json.dumps(_order(order, chance)) + "\n")


def _order(number: int, chance: random.Random) -> dict[str, object]:
    return {
        "id": number,
        "placed_at": f"2024-{1 + number % 12:02}-{1 + number % 28:02}T10:{number % 60:02}:00",
        "status": chance.choice(("open", "sent", "returned")),
        "customer": {
            "number": f"C-{chance.randrange(20_000):05}",
            "segment": chance.choice(("home", "office")),
            "address": {"city": f"City {chance.randrange(500)}", "zip": f"{number % 90_000:05}"},
        },
        "tags": chance.sample(("new", "gift", "express", "pickup"), chance.randrange(3)),
        "lines": [
            {
                "sku": f"S-{chance.randrange(3_000):04}",
                "quantity": chance.randrange(1, 9),
                "price": round(chance.random() * 100, 2),
                "discounts": [
                    {"code": f"D{chance.randrange(30)}", "percent": chance.choice((5.0, 7.5))}
                    for _ in range(chance.randrange(3))
                ],
            }
            for _ in range(chance.randrange(1, 6))
        ],
    }


class Stopwatch:
    """Seconds since it was made, on the clock and of processor time, by what was done by then."""

    def __init__(self) -> None:
        self._started = self._now()
        self.figures: dict[str, float] = {}

    def take(self, name: str) -> None:
        clock, processor = (b - a for a, b in zip(self._started, self._now(), strict=True))
        self.figures |= {name: clock, f"{name}, processor": processor}

    def _now(self) -> tuple[float, float]:
        times = os.times()
        return time.perf_counter(), sum(times[:4])


def split(documents: Path, folder: Path) -> dict[str, float]:
    """Split the documents with this tool; seconds until they are tables, and until loaded."""
    from fluid_build.sources import open_source
    from fluid_build.sources.nested import tables as _  # noqa: F401 - imports aren't measured

    watch = Stopwatch()
    with open_source(documents) as source:
        watch.take("tables")
        assert {table.name for table in source.tables} == TABLES
        source.connection.execute(f"ATTACH '{folder / 'orders.duckdb'}' AS loaded")
        for table in source.tables:
            source.connection.execute(f"CREATE TABLE loaded.{table.name} AS FROM {table.relation}")
        source.connection.execute("DETACH loaded")
        watch.take("loaded")
    return watch.figures


def normalize(documents: Path, folder: Path) -> dict[str, float]:
    """Do the same with dlt."""
    import dlt
    import orjson

    def batches() -> Iterator[list[object]]:
        batch: list[object] = []
        with documents.open("rb") as file:
            for line in file:
                batch.append(orjson.loads(line))
                if len(batch) == BATCH:
                    yield batch
                    batch = []
        yield batch

    pipeline = dlt.pipeline(
        pipeline_name="orders",
        pipelines_dir=str(folder / "dlt"),
        destination=dlt.destinations.duckdb(str(folder / "orders.duckdb")),
        dataset_name="loaded",
    )
    orders = dlt.resource(batches, name="orders", primary_key="id")
    watch = Stopwatch()
    pipeline.extract(orders, loader_file_format="parquet")
    pipeline.normalize()
    watch.take("tables")
    assert set(pipeline.default_schema.data_table_names()) == TABLES
    pipeline.load()
    watch.take("loaded")
    return watch.figures


SIDES: dict[str, Callable[[Path, Path], dict[str, float]]] = {"ours": split, "dlt": normalize}


def measure(side: str, documents: Path) -> dict[str, float]:
    """Run one side in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--side", side, str(documents), folder]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures: dict[str, float] = json.loads(output.splitlines()[-1])
    return figures


def compare(documents: int, rounds: int) -> None:
    """Measure both sides in turn, and print seconds and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "orders.jsonl"
        write_documents(path, documents)
        megabytes = path.stat().st_size / 1e6
        print(f"{documents:,} documents, {megabytes:.0f} MB; dlt {version('dlt')}")
        results = [{side: measure(side, path) for side in SIDES} for _ in range(rounds)]
    for figure in results[0]["ours"]:
        ours, dlt = ([result[side][figure] for result in results] for side in SIDES)
        ratio = statistics.median(b / a for a, b in zip(ours, dlt, strict=True))
        print(
            f"{figure}: ours {statistics.median(ours):.2f} s, dlt {statistics.median(dlt):.2f} s,"
            f" {ratio:.1f} times as fast"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--side", nargs=3, metavar=("SIDE", "DOCUMENTS", "FOLDER"))
    arguments = parser.parse_args()
    if arguments.side:
        name, place, target = arguments.side
        print(json.dumps(SIDES[name](Path(place), Path(target))))
    else:
        compare(arguments.documents, arguments.rounds)
