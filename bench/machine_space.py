"""How much disk and memory a build with its proof takes, and how long, against a plain copy.

    python bench/machine_space.py [--scale 1 3] [--techniques flat data_vault_2] [--memory 8GB]

TPC-H is generated at each ``--scale`` as a DuckDB file by DuckDB's extension, from the wheel
``duckdb-extension-tpch``; ``--file`` takes a file that is there. Each technique is built and proven
in a process of its own, whose temporary folder is watched: ``scratch`` is the most that was in it
at once, over the size of the source file, and ``memory`` the most that the process had. ``clock``
and ``processor`` are the seconds of build and proof over those of a copy of all tables and one
``EXCEPT ALL`` each, on the same connection. The profile isn't in them.

Goals: scratch at most 3 times the source with 8 GB of memory at scale 10; on the clock at most 1.0,
1.8 and 2.5 times for flat, star and vault at scale 1.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
from profiling import extension

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.building import build_and_prove

TECHNIQUES = ("flat", "dimensional", "data_vault_2")
GOALS = {"flat": 1.0, "dimensional": 1.8, "data_vault_2": 2.5}
SCRATCH_GOAL = 3.0
_EVERY = 0.02
"""Seconds between two looks at the temporary folder."""


def main() -> int:
    options = _options()
    if options.one:
        print(json.dumps(_measured(options.file, options.one, options)))
        return 0
    heads = f"{'source':12}{'GB':>6}  {'technique':14}{'verdict':20}{'scratch':>9}{'memory':>9}"
    print(f"{heads}{'clock s':>9}{'clock x':>9}{'proc s':>9}{'proc x':>9}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for name, file in _sources(options, Path(folder)):
            for technique in options.techniques:
                _report(name, file, technique, Path(folder))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--scale", type=float, nargs="*", default=[1.0])
    parser.add_argument("--file", type=Path)
    parser.add_argument("--techniques", nargs="*", default=TECHNIQUES, choices=TECHNIQUES)
    parser.add_argument("--memory", help='such as "8GB"; default: that of the product')
    parser.add_argument("--folder", type=Path, help="where the data and the scratch are put")
    parser.add_argument("--no-floor", action="store_true", help="leave out the copy")
    parser.add_argument("--one", choices=TECHNIQUES, help=argparse.SUPPRESS)
    return parser.parse_args()


def _sources(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Path]]:
    if options.file:
        yield options.file.stem, options.file
        return
    for scale in options.scale:
        file = folder / f"tpch{scale:g}.duckdb"
        with duckdb.connect(str(file)) as connection:
            connection.execute(f"LOAD {literal(str(extension('tpch')))}")
            connection.execute(f"CALL dbgen(sf={scale})")
        yield f"TPC-H {scale:g}", file
        file.unlink()


def _report(name: str, file: Path, technique: str, folder: Path) -> None:
    size = file.stat().st_size
    with tempfile.TemporaryDirectory(dir=folder) as scratch, _watched(Path(scratch)) as most:
        passed = [each for each in sys.argv[1:] if each == "--no-floor"]
        if "--memory" in sys.argv:
            passed += ["--memory", sys.argv[sys.argv.index("--memory") + 1]]
        done = subprocess.run(
            [sys.executable, __file__, "--one", technique, "--file", str(file), *passed],
            env={**os.environ, "TMPDIR": scratch},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        print(f"{name:12}{size / 1e9:6.2f}  {technique:14}{done.stderr.strip()[-400:]}")
        print(f"{'':34}scratch {most[0] / size:.2f}")
        return
    found = json.loads(done.stdout.splitlines()[-1])
    ratios = (
        f"{found['clock'] / found['floor_clock']:9.2f}{found['processor']:9.1f}"
        f"{found['processor'] / found['floor_processor']:9.2f}"
        if "floor_clock" in found
        else f"{'':9}{found['processor']:9.1f}"
    )
    print(
        f"{name:12}{size / 1e9:6.2f}  {technique:14}{found['verdict']:20}{most[0] / size:9.2f}"
        f"{found['memory'] / 1024**2:9.2f}{found['clock']:9.1f}{ratios}",
        flush=True,
    )


@contextmanager
def _watched(folder: Path) -> Iterator[list[int]]:
    """Watch a folder; the most bytes that its files had on disk at once, in a list of one."""
    most, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(_EVERY):
            most[0] = max(most[0], _bytes(folder))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def _bytes(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        # A file may be gone by the time that it's looked at.
        with suppress(FileNotFoundError):
            total += path.lstat().st_blocks * 512
    return total


def _measured(file: Path, technique: str, options: argparse.Namespace) -> dict[str, object]:
    limit = {"memory_limit": options.memory} if options.memory else {}
    with open_source(f"duckdb:///{file}", **limit) as source:
        model = build_model(profile_source(source), technique)
        plan = transform_plan(model)
        start = _now()
        verdict = build_and_prove(source, plan, model).verdict
        clock, processor = _since(start)
        found = {"verdict": verdict, "clock": clock, "processor": processor}
        found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if not options.no_floor:
            start = _now()
            _copy_and_compare(source)
            found["floor_clock"], found["floor_processor"] = _since(start)
    return found


def _copy_and_compare(source: Source) -> None:
    connection = source.connection
    connection.execute("ATTACH ':memory:' AS copied")
    for number, table in enumerate(source.tables):
        copy = f"copied.main.t{number}"
        connection.execute(f"CREATE TABLE {copy} AS FROM {table.relation}")
        lost = f"FROM {table.relation} EXCEPT ALL FROM {copy}"
        assert connection.execute(f"SELECT count(*) FROM ({lost})").fetchall() == [(0,)]
    connection.execute("DETACH copied")


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(start: Sequence[float]) -> tuple[float, float]:
    return time.perf_counter() - start[0], time.process_time() - start[1]


if __name__ == "__main__":
    sys.exit(main())
