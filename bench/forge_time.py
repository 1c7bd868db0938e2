"""How long a forge of Chinook takes: the whole process, and each stage of it.

    python bench/forge_time.py [--corpus DIR] [--runs N]

The SQLite file is built from the corpus' Parquet in a temporary folder and is not part of the
time. The process is timed from its start to its end, files written; the best and the median of
the runs are printed, since other work on the machine only ever adds. The stages are timed inside
one process, imports included, in CPU seconds.
"""

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
LIMIT = 1.5

STAGES = """
import json, sys, time
from pathlib import Path

clock, stages = time.process_time, {"start of Python": time.process_time()}


def passed(name, since):
    stages[name] = clock() - since
    return clock()


at = clock()
import duckdb
import pydantic

at = passed("import duckdb, pydantic", at)
import fluid_build.profiling

at = passed("import profiling", at)
import fluid_build.modeling.document
import fluid_build.modeling.techniques

at = passed("import modeling", at)
import fluid_build.forge

at = passed("import contract", at)
from fluid_build.artifacts import write_artifacts
from fluid_build.contract.from_model import contract_from_model
from fluid_build.forge import artifacts
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

source = open_source(sys.argv[1])
at = passed("open", at)
profile = profile_source(source)
at = passed("profile", at)
model = build_model(profile, "flat")
at = passed("model", at)
contract = contract_from_model(profile, model)
at = passed("contract", at)
files = artifacts(profile, model, contract)
at = passed("check and render", at)
write_artifacts(Path(sys.argv[2]), files)
passed("write", at)
source.close()
print(json.dumps(stages))
"""


def build_sqlite(parquet: Path, target: Path) -> None:
    """Chinook as SQLite with its columns' types, without any declared key."""
    with duckdb.connect() as reader, sqlite3.connect(target) as writer:
        for file in sorted(parquet.glob("*.parquet")):
            rows = reader.execute("SELECT * FROM read_parquet(?)", [str(file)])
            names = [f'"{column[0]}" {column[1]}' for column in rows.description or ()]
            writer.execute(f'CREATE TABLE "{file.stem}" ({", ".join(names)})')
            marks = ", ".join("?" * len(names))
            writer.executemany(
                f'INSERT INTO "{file.stem}" VALUES ({marks})',
                [[_plain(value) for value in row] for row in rows.fetchall()],
            )


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | bytes | None) else str(value)


def time_process(database: Path, out: Path) -> float:
    """Seconds of wall time of one run of the command."""
    command = [
        str(Path(sys.executable).with_name("fluid")),
        *("forge", "data-model", "from-source", "--source", "sqlite"),
        *("--uri", f"sqlite:///{database}", "-o", str(out)),
    ]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def time_stages(database: Path, out: Path) -> dict[str, float]:
    """CPU seconds of each stage in a process of its own."""
    command = [sys.executable, "-c", STAGES, f"sqlite:///{database}", str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    stages: dict[str, float] = json.loads(done.stdout)
    return stages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "chinook.sqlite")
        build_sqlite(options.corpus / "chinook" / "data", database)
        walls = [time_process(database, Path(folder, "out")) for _ in range(options.runs)]
        stages = time_stages(database, Path(folder, "stages"))
    print(f"process, best of {len(walls)}    {min(walls):6.3f} s (limit {LIMIT} s)")
    print(f"process, median         {statistics.median(walls):6.3f} s")
    for name, seconds in stages.items():
        print(f"  {name:24}{seconds:6.3f} s of CPU")
    print(f"  {'sum':24}{sum(stages.values()):6.3f} s of CPU")
    return 0 if min(walls) <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
