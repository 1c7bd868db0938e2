"""How fast a source is profiled, against the floor and against what people use.

    python bench/profiling.py tpch tpcds corpus chinook wide
    python bench/profiling.py --many-tables 500

In one run, on the same data in the same DuckDB connection, it times three queries and prints the
ratios: the floor (one DuckDB pass with count, min, max and approximate distinct of every column),
DuckDB's ``SUMMARIZE`` of every table, and all of ``profile_source``: columns, keys, foreign keys
and semantic types. They run ``--repeat`` times in turn and the least time counts. Times are
seconds of processor time, which other work on the machine affects least; the last column has the
seconds that the profile took on the clock.

``tpch`` and ``tpcds`` are generated at ``--scale`` by the DuckDB extensions of those names, from
the wheels ``duckdb-extension-tpch`` and ``duckdb-extension-tpcds``. ``wide`` is a generated source
of 1,000 tables and 15,000 columns. ``--many-tables`` measures a generated business database of that
many small tables with keys and foreign keys among them (``synthetic.py``).

``csv`` is a generated file of 12 mixed columns and ``--csv-rows`` rows (some 368 MB). All three
then read the file itself, including its opening.
"""

import argparse
import importlib.util
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
from synthetic import write_duckdb

from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.sql import literal, quote

CSV = "csv"
HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "shared" / "corpus"
SETS = ("tpch", "tpcds", "corpus", "chinook", "wide", CSV)
USUAL = ["tpch", "corpus", "chinook"]
MANY = "many"


def main() -> int:
    options = read_options()
    heads = "rows", "columns", "floor s", "SUMMARIZE s", "profile s", "x floor", "x SUMM.", "MB"
    heads += ("clock s",)
    print(f"{'data':10}" + "".join(f"{head:>13}" for head in heads))
    many = [MANY] if options.many_tables else []
    for name in [*options.sets, *many] or USUAL:
        with tempfile.TemporaryDirectory() as scratch:
            total = measure_csv(Path(scratch), options) if name == CSV else Times()
            for path in () if name == CSV else build(name, Path(scratch), options):
                with open_source(f"duckdb:///{path}") as source:
                    total.add(measure(source, options))
        print(f"{name:10}" + total.line(), flush=True)
    return 0


@dataclass
class Times:
    """The rows and columns that were read, and the least seconds that each of the three took.

    ``clock`` is the least time of the profile on the clock, the others are processor time.
    """

    rows: int = 0
    columns: int = 0
    floor: float = 0.0
    summarize: float = 0.0
    profile: float = 0.0
    clock: float = 0.0

    def add(self, other: "Times") -> None:
        self.rows += other.rows
        self.columns += other.columns
        self.floor += other.floor
        self.summarize += other.summarize
        self.profile += other.profile
        self.clock += other.clock

    def line(self) -> str:
        """Return the figures, the two ratios and the peak memory of the process so far."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return (
            f"{self.rows:13,}{self.columns:13,}{self.floor:13.2f}{self.summarize:13.2f}"
            f"{self.profile:13.2f}{self.profile / self.floor:13.2f}"
            f"{self.profile / self.summarize:13.2f}{peak:13.0f}{self.clock:13.2f}"
        )


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    names = f"any of {', '.join(SETS)}; default: {', '.join(USUAL)}"
    parser.add_argument("sets", nargs="*", help=names)
    parser.add_argument("--many-tables", type=int, default=0, metavar="N")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--csv-rows", type=int, default=2_340_000, metavar="N")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    unknown = sorted({*options.sets} - {*SETS})
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(SETS)}")
    return options


def build(name: str, scratch: Path, options: argparse.Namespace) -> list[Path]:
    """Write the data as DuckDB files, one for each database."""
    if name == "corpus":
        folders = sorted(path.parent for path in options.corpus.glob("*/truth.json"))
        return [load(folder, scratch) for folder in folders]
    if name == "chinook":
        return [load(options.corpus / "chinook", scratch)]
    path = scratch / f"{name}.duckdb"
    if name == MANY:
        write_duckdb(path, options.many_tables)
        return [path]
    with duckdb.connect(str(path)) as connection:
        if name == "wide":
            build_wide(connection)
        else:
            connection.execute(f"LOAD {literal(str(extension(name)))}")
            generator = "dbgen" if name == "tpch" else "dsdgen"
            connection.execute(f"CALL {generator}(sf={options.scale})")
    return [path]


def extension(name: str) -> Path:
    found = importlib.util.find_spec(f"duckdb_extension_{name}")
    if found is None or found.origin is None:
        wheel = f"duckdb-extension-{name}=={duckdb.__version__}"
        sys.exit(f"To generate {name}, install its wheel: pip install {wheel}")
    return next(Path(found.origin).parent.rglob("*.duckdb_extension"))


def load(folder: Path, scratch: Path) -> Path:
    files = sorted(folder.glob("data/*.parquet"))
    if not files:
        sys.exit(f"No Parquet files under {folder}.")
    path = scratch / f"{folder.name}.duckdb"
    with duckdb.connect(str(path)) as connection:
        for file in files:
            connection.execute(f"CREATE TABLE {quote(file.stem)} AS FROM {literal(str(file))}")
    return path


def build_wide(connection: duckdb.DuckDBPyConnection, tables: int = 1000) -> None:
    """Create tables of 15 columns and 2,000 rows: key, three references, text, measures, dates."""
    for index in range(tables):
        references = ", ".join(
            f"(i * {7 + k} + {index}) % 2000 + 1 AS area{(index * 31 + k * 97) % tables}_item_id"
            for k in range(3)
        )
        connection.execute(
            f"CREATE TABLE area{index}_item AS SELECT i + 1 AS area{index}_item_id, {references},"
            " 'name ' || hash(i) % 1500 AS name, 'code' || i AS code, i % 7 AS status,"
            " (i * 37 % 10000) / 100.0 AS amount, (i * 17 % 991)::INTEGER AS quantity,"
            " DATE '2020-01-01' + (i % 900)::INTEGER AS created, i % 2 = 0 AS active,"
            f" md5('{index} ' || i) AS token,"
            " 'text of row ' || i || ' and more' AS description,"
            " TIMESTAMP '2021-01-01' + INTERVAL (i) MINUTE AS updated, random() AS noise"
            " FROM range(2000) t(i)"
        )


def measure(source: Source, options: argparse.Namespace) -> Times:
    """Time the three in turn, several times; the least time of each counts."""
    source.connection.execute(f"SET threads = {options.threads}")
    tasks: list[Callable[[Source], object]] = [floor, summarize, profile_source]
    times = least_times([partial(task, source) for task in tasks], options.repeat)
    rows = sum(count_rows(source, table.relation) for table in source.tables)
    columns = sum(len(table.columns) for table in source.tables)
    return Times(rows, columns, *times)


def measure_csv(scratch: Path, options: argparse.Namespace) -> Times:
    """Time the three from opening a CSV file on."""
    path = scratch / "orders.csv"
    build_csv(path, options.csv_rows)
    tasks = (csv_floor, csv_summarize, csv_profile)
    times = least_times([partial(task, path, options.threads) for task in tasks], options.repeat)
    return Times(options.csv_rows, 12, *times)


def least_times(tasks: Sequence[Callable[[], object]], repeat: int) -> list[float]:
    """Return the least processor time of each task, and the last one's least time on the clock."""
    processor, clock = [float("inf")] * len(tasks), float("inf")
    for _ in range(repeat):
        for index, task in enumerate(tasks):
            began, began_clock = time.process_time(), time.perf_counter()
            task()
            processor[index] = min(processor[index], time.process_time() - began)
        clock = min(clock, time.perf_counter() - began_clock)
    return [*processor, clock]


def build_csv(path: Path, rows: int) -> None:
    """Write orders: a key, references, codes, text, money, dates, booleans and nulls."""
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT i AS order_id, (i * 7919) % 120000 + 1 AS customer_id,"
            " 'SKU-' || lpad(((i * 31) % 5000)::VARCHAR, 6, '0') AS sku,"
            " round(((i * 97) % 100000) / 100.0, 2) AS amount, (i % 9) + 1 AS quantity,"
            " DATE '2021-01-01' + ((i * 13) % 1400)::INTEGER AS ordered_on,"
            " TIMESTAMP '2021-01-01' + to_seconds(((i * 37) % 120000000)::BIGINT) AS shipped_at,"
            " ['open', 'paid', 'shipped', 'returned'][1 + i % 4] AS status, i % 3 = 0 AS is_gift,"
            " 'user' || ((i * 7919) % 120000) || '@example.com' AS email,"
            " CASE WHEN i % 10 > 0 THEN 'note about ' || md5(i::VARCHAR)[:12] END AS note,"
            " md5((i * 3)::VARCHAR)::UUID AS token"
            f" FROM range({rows}) AS t(i)) TO {literal(str(path))} (HEADER)"
        )


def csv_floor(path: Path, threads: int) -> None:
    with duckdb.connect(config={"threads": threads}) as connection:
        file = f"read_csv({literal(str(path))})"
        names = [quote(row[0]) for row in connection.execute(f"DESCRIBE FROM {file}").fetchall()]
        aggregates = ", ".join(
            f"count({name}), min({name}), max({name}), approx_count_distinct({name})"
            for name in names
        )
        connection.execute(f"SELECT {aggregates} FROM {file}").fetchall()


def csv_summarize(path: Path, threads: int) -> None:
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.execute(f"SUMMARIZE FROM read_csv({literal(str(path))})").fetchall()


def csv_profile(path: Path, threads: int) -> None:
    with open_source(path) as source:
        source.connection.execute(f"SET threads = {threads}")
        profile_source(source)


def count_rows(source: Source, relation: str) -> int:
    row = source.connection.execute(f"SELECT count(*) FROM {relation}").fetchone()
    return int(row[0]) if row else 0


def floor(source: Source) -> None:
    """Compute count, min, max and approximate distinct of every column in one pass."""
    for table in source.tables:
        aggregates = ", ".join(
            f"count({name}), min({name}), max({name}), approx_count_distinct({name})"
            for name in (quote(column.alias) for column in table.columns)
        )
        source.connection.execute(f"SELECT {aggregates} FROM {table.relation}").fetchall()


def summarize(source: Source) -> None:
    """Run ``SUMMARIZE``, which is what people use."""
    for table in source.tables:
        source.connection.execute(f"SUMMARIZE FROM {table.relation}").fetchall()


if __name__ == "__main__":
    sys.exit(main())
