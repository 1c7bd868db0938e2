"""How fast files in an object store are staged, against what DuckDB needs alone.

    python bench/remote.py
    python bench/remote.py --rows 5000000 --hive

The first form starts an S3 server in this process (moto), puts Parquet files of ``--rows`` rows
there, and times in turn a bare ``CREATE TABLE AS`` of each through the same extensions, and
``open_source`` on the folder. CSV files are compared with the same files on this disk, since their
types are found over every value: the share is what fetching them costs. The least of ``--repeat``
times counts. The share is how much of that speed is reached; the server's own work is part of it.

``--hive`` measures a local folder of hive partitions of ``--rows`` rows: opening it and profiling
it. Run it in two checkouts, in turn, to compare them; the times are seconds of processor time.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

_QUERY = (
    "SELECT i AS id, i % 977 AS customer, 'name ' || (i * 7919 % 100003) AS name,"
    " DATE '2020-01-01' + CAST(i % 1500 AS INTEGER) AS day, (i * 31 % 10000) / 100 AS amount"
)


def main() -> int:
    options = read_options()
    with tempfile.TemporaryDirectory() as scratch:
        if options.hive:
            measure_hive(Path(scratch), options)
        else:
            measure_store(Path(scratch), options)
    return 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--hive", action="store_true")
    return parser.parse_args()


def measure_hive(scratch: Path, options: argparse.Namespace) -> None:
    folder = scratch / "events"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY ({_QUERY}, i % 4 + 2020 AS year, i % 12 + 1 AS month"
            f" FROM range({options.rows}) AS t(i)) TO '{folder}'"
            " (FORMAT parquet, PARTITION_BY (year, month))"
        )
    opened, profiled = [], []
    for _ in range(options.repeat):
        start = processor_time()
        with open_source(folder) as source:
            middle = processor_time()
            profile_source(source)
            profiled.append(processor_time() - middle)
        opened.append(middle - start)
    print(f"{options.rows:,} rows in hive partitions: opened in {min(opened):.2f} s, profiled in")
    print(f"{min(profiled):.2f} s of processor time")


def measure_store(scratch: Path, options: argparse.Namespace) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from tests.sources.object_store import object_store

    with object_store() as store, duckdb.connect() as writer:
        os.environ.update(store.environment)
        for ending in ("parquet", "csv"):
            for number in range(options.files):
                file = scratch / ending / f"t{number}.{ending}"
                file.parent.mkdir(exist_ok=True)
                rows = options.rows // options.files
                writer.execute(f"COPY ({_QUERY} FROM range({rows}) AS t(i)) TO '{file}'")
            url = store.upload(scratch / ending, "lake", ending)
            measure_format(ending, url, scratch / ending, options)


def measure_format(ending: str, url: str, folder: Path, options: argparse.Namespace) -> None:
    def bare() -> None:
        with open_source(f"{url}/t0.parquet") as source:
            # A source's connection has the extensions and the login; its own table stays apart.
            start = time.perf_counter()
            for number in range(options.files):
                source.connection.execute(
                    f"CREATE TABLE staged.main.bare{number} AS"
                    f" FROM read_parquet('{url}/t{number}.parquet')"
                )
            times["bare"].append(time.perf_counter() - start)

    def local() -> None:
        timed("bare", str(folder))

    def remote() -> None:
        timed("remote", url)

    def timed(name: str, place: str) -> None:
        start = time.perf_counter()
        with open_source(place):
            times[name].append(time.perf_counter() - start)

    times: dict[str, list[float]] = {"bare": [], "remote": []}
    for _ in range(options.repeat):
        bare() if ending == "parquet" else local()
        remote()
    least = {name: min(seconds) for name, seconds in times.items()}
    what = "CREATE TABLE AS" if ending == "parquet" else "from this disk"
    print(
        f"{ending:8} {options.rows:,} rows: {what} {least['bare']:.2f} s, from the store"
        f" {least['remote']:.2f} s: {least['bare'] / least['remote']:.0%} of that speed",
        flush=True,
    )


def processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
