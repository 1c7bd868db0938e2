"""Builds the databases of ``bench/sources.toml``, with their declared keys, from clones.

    python bench/sources.py build --clones DIR --into ../collected          # all of them
    python bench/sources.py build --clones DIR --into DIR --only mondial --only soundgood
    python bench/sources.py check --into ../collected
    python bench/sources.py draw --seed 30           # halves, for databases that have none
    python bench/accuracy.py --collected learn

``DIR`` has a clone of each repository at its commit, in a folder ``owner+name``, bare or not:
``git clone https://github.com/owner/name owner+name``. The folder that is built has ``learn``,
``look-once`` and ``fresh``, each with a folder for a database as ``bench/accuracy.py`` reads it.
The figures of *fresh* are taken once per release: nothing is tuned by them, and nobody reads its
errors. *Look-once* was that part until it was read; now it is one more to learn from.

Scripts run on servers of our own, MariaDB and PostgreSQL, past the statements that fail there; the
keys are those of the servers' catalogs. Dropped are views, tables without rows, and the references
from and to them. A reference counts as supported where at least 95 % of the child's distinct values
are in the parent, and the parent's columns are a key. Files that a clone lacks are passed over.
What the sources don't declare stands in ``collected/settled_*.toml``; ``check`` reads that, too.
"""

import argparse
import dataclasses
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.collected.clones import MissingFileError, find_clone  # noqa: E402
from bench.collected.listing import FRESH, Source, draw_halves, read_sources, set_fields  # noqa: E402
from bench.collected.loading import Place, load  # noqa: E402
from bench.collected.servers import Servers, servers  # noqa: E402
from bench.collected.settled import Settled, read_settled  # noqa: E402
from bench.collected.truth import Written, measure, write  # noqa: E402
from fluid_build.sources.engine.connection import extension_file  # noqa: E402
from fluid_build.sources.engine.extensions import (  # noqa: E402
    MYSQL_SCANNER,
    POSTGRES_SCANNER,
    SQLITE_SCANNER,
)
from fluid_build.sources.sql import literal  # noqa: E402

LIST = ROOT / "bench" / "sources.toml"


def main() -> int:
    options = read_options()
    sources = [each for each in read_sources(LIST) if not options.only or each.name in options.only]
    if options.command == "draw":
        return draw(sources, options.seed)
    if options.command == "check":
        return check(sources, options.into)
    with servers() as running:
        failures = [build(each, options, running) for each in sources].count(False)
    return 1 if failures else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("command", choices=["build", "check", "draw"])
    parser.add_argument("--clones", type=Path, help="the folder of clones")
    parser.add_argument("--into", type=Path, help="the folder that is built or checked")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="repeatable")
    parser.add_argument("--seed", type=int, default=30, help="of the draw")
    parser.add_argument("--record", action="store_true", help="write the counts into the list")
    options = parser.parse_args()
    if options.command != "draw" and options.into is None:
        parser.error("--into is missing.")
    if options.command == "build" and options.clones is None:
        parser.error("--clones is missing.")
    return options


def build(source: Source, options: argparse.Namespace, running: Servers) -> bool:
    """Build one database; return False where it can't be loaded."""
    folder = options.into / source.half / source.name
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch, scanning_engine() as engine:
        try:
            clone = find_clone(options.clones, source)
            place = Place(clone, Path(scratch), running, engine)
            written = write(source.name, load(source, place), folder, engine)
        except (MissingFileError, duckdb.Error, ValueError) as error:
            print(f"{source.name:28} not loaded: {error}")
            return False
    print(f"{source.name:28} {summary(written)}", flush=True)
    if options.record:
        counts = {key: value for key, value in dataclasses.asdict(written).items()
                  if key not in ("empty", "failed")}  # fmt: skip
        text = set_fields(LIST.read_text(encoding="utf-8"), source.name, counts)
        LIST.write_text(text, encoding="utf-8")
    return True


@contextmanager
def scanning_engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """Provide a DuckDB that reads the servers and SQLite; one thread, for their scanners' sake."""
    with duckdb.connect() as engine:
        for extension in (MYSQL_SCANNER, POSTGRES_SCANNER, SQLITE_SCANNER):
            engine.load_extension(str(extension_file(extension)))
        engine.execute("SET threads = 1")
        yield engine


def summary(written: Written) -> str:
    return (
        f"{written.tables:4} tables, {written.tables_over_30:3} over 30 rows,"
        f" {written.rows:7,} rows; {written.primary_keys:4} primary keys,"
        f" {written.foreign_keys:4} references ({written.supported} supported,"
        f" {written.composite} composite); {written.empty} tables empty,"
        f" {written.failed} statements failed"
    )


def check(sources: list[Source], into: Path) -> int:
    """Read each file and compare it with the truth: rows, and the columns of its keys."""
    problems = []
    for source in sources:
        folder = into / source.half / source.name
        truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
        columns = {}
        for table, described in truth["tables"].items():
            path = literal(str(folder / "data" / f"{table.replace('/', '_')}.parquet"))
            with duckdb.connect() as engine:
                found = engine.execute(f"SELECT count(*) FROM read_parquet({path})").fetchone()
                names = engine.execute(f"DESCRIBE FROM read_parquet({path})").fetchall()
            columns[table] = {row[0] for row in names}
            if found != (described["rows"],) or columns[table] != set(described["columns"]):
                problems.append(f"{source.name}: {table} isn't as the truth says.")
            if not set(described["primary_key"]) <= columns[table]:
                problems.append(f"{source.name}: {table} lacks a column of its key.")
        for key in truth["foreign_keys"]:
            if not (
                set(key["from_columns"]) <= columns[key["from_table"]]
                and set(key["to_columns"]) <= columns[key["to_table"]]
            ):
                problems.append(f"{source.name}: a reference of {key['from_table']} lacks columns.")
        problems += check_settled(source, folder)
    print("\n".join(problems) or f"{len(sources)} databases are as their truth says.")
    return 1 if problems else 0


def check_settled(source: Source, folder: Path) -> list[str]:
    """Return the settled references that the data doesn't bear out."""
    settled = read_settled(source.half).get(source.name, Settled())
    with duckdb.connect() as engine:
        return [
            f"{source.name}: the data doesn't bear out {each.child} -> {each.parent}."
            for each in settled.true
            if not measure(engine, folder / "data", each)["supported"]
        ]


def draw(sources: list[Source], seed: int) -> int:
    """Draw the halves of databases that have none, and write them into the list."""
    text = LIST.read_text(encoding="utf-8")
    drawn = draw_halves([each for each in sources if each.half != FRESH], seed)
    for name, half in drawn.items():
        text = set_fields(text, name, {"half": half})
    LIST.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
