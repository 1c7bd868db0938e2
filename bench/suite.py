"""Measure the test suite: processor seconds per folder, module, test and fixture.

    python bench/suite.py                      # what `make test` runs
    python bench/suite.py --tier all           # all tests
    python bench/suite.py tests/cli -n 0       # any arguments of pytest
    python bench/suite.py --write              # all but sweeps, and write tests/test_seconds.txt

Seconds of the clock say how busy a machine is; these are seconds of processors, used by the workers
and by all that they started (servers, dbt, browsers). What a fixture costs that tests share stands
in the table of fixtures, not with the first test that requests it. Linux only, because processes
that still run are read from /proc. pytest's ``--durations`` shows the clock.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.tiers import QUICK_SECONDS, TEST_SECONDS, Case

ROOT = Path(__file__).parents[1]
RECORDS = "FLUID_SUITE_RECORDS"
"""The variable that tells the plugin, in each worker, where its records go."""
_TICKS = os.sysconf("SC_CLK_TCK")


def _descendants(process: str = "self") -> Iterator[list[str]]:
    """The fields of /proc/PID/stat, from the state on, of each process that this one started."""
    for children in Path("/proc", process, "task").glob("*/children"):
        try:
            started = children.read_text().split()
        except OSError:
            continue  # The thread has just ended.
        for child in started:
            try:
                text = Path("/proc", child, "stat").read_text()
            except OSError:
                continue  # The process has just ended.
            yield text.rpartition(")")[2].split()
            yield from _descendants(child)


def processor_seconds() -> float:
    """The processor time of this process and all it started, ended or running, in seconds."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = sum(int(ticks) for fields in _descendants() for ticks in fields[11:15])
    return time.process_time() + ended.ru_utime + ended.ru_stime + running / _TICKS


class Recorder:
    """The plugin of a worker: writes a line of JSON for each test, fixture and collection."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / f"{os.getpid()}.jsonl").open("w", buffering=1)
        self._shared, self._shared_clock = 0.0, 0.0
        """What setting up shared fixtures took for the test under way."""

    def _record(self, kind: str, name: str, seconds: float, **facts: object) -> None:
        line = {"kind": kind, "name": name, "seconds": seconds, **facts}
        self._file.write(json.dumps(line) + "\n")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._record("collection", "", processor_seconds(), tests=len(session.items))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        before, clock = processor_seconds(), time.perf_counter()
        self._shared = self._shared_clock = 0.0
        result = yield
        self._record(
            "test",
            item.nodeid.partition("@")[0],
            processor_seconds() - before - self._shared,
            clock=time.perf_counter() - clock - self._shared_clock,
            marks=sorted({mark.name for mark in item.iter_markers()} & {"slow", "thorough"}),
        )
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: "pytest.FixtureDef[Any]"
    ) -> Generator[None, Any, Any]:
        before, shared = processor_seconds(), self._shared
        started, shared_clock = time.perf_counter(), self._shared_clock
        result = yield
        seconds = processor_seconds() - before - (self._shared - shared)
        if fixturedef.scope != "function":
            self._shared += seconds
            self._shared_clock = shared_clock + time.perf_counter() - started
        place = f"{fixturedef.baseid or 'pytest'}::{fixturedef.argname}"
        self._record("fixture", place, seconds, scope=fixturedef.scope)
        return result


def pytest_configure(config: pytest.Config) -> None:
    """Record in each worker; the process that only hands out tests runs none."""
    folder = os.environ.get(RECORDS)
    if folder and (hasattr(config, "workerinput") or not config.getoption("numprocesses", None)):
        config.pluginmanager.register(Recorder(Path(folder)))


def _read(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in folder.iterdir() for line in file.read_text().splitlines()]


def _table(title: str, rows: Iterable[tuple[str, float, int]], most: int) -> None:
    print(f"\n{title:<86} {'seconds':>8} {'count':>6}")
    for name, seconds, count in sorted(rows, key=lambda row: -row[1])[:most]:
        print(f"{name[-86:]:<86} {seconds:8.1f} {count:6d}")


def _grouped(records: Iterable[tuple[str, float]]) -> list[tuple[str, float, int]]:
    seconds: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for name, used in records:
        seconds[name] += used
        counts[name] += 1
    return [(name, seconds[name], counts[name]) for name in seconds]


def _folder(test: str) -> str:
    parts = test.partition("::")[0].split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def _test_seconds(tests: Iterable[Mapping[str, Any]]) -> str:
    """Return a line for each test that isn't quick: the mean of what its cases took, and its id."""
    rows = _grouped((Case(test["name"]).test, _taken(test)) for test in tests)
    return "".join(
        f"{seconds / count:.3f} {name.removeprefix('tests/')}\n"
        for name, seconds, count in sorted(rows)
        if seconds / count > QUICK_SECONDS
    )


def _taken(test: Mapping[str, Any]) -> float:
    """Return what a test takes: a worker that waits for something runs no other test."""
    # The clock of two workers on two processors runs ahead of the work, though not twice as fast.
    return max(float(test["seconds"]), float(test["clock"]) / 2)


def main() -> int:
    """Run the suite and print where its processor time goes; return pytest's exit code."""
    # A test's tier follows from what it takes with the examples that `make test` tries.
    measured = ["--tier", "slow", "--hypothesis-profile", "test"]
    is_written = "--write" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--write"]
    arguments += measured * is_written
    with tempfile.TemporaryDirectory() as name:
        started = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-p", "bench.suite", *arguments]
        if "-n" not in arguments:
            command += ["-n", "logical", "--dist", "loadgroup"]
        code = subprocess.run(
            command, cwd=ROOT, env={**os.environ, RECORDS: name}, check=False
        ).returncode
        clock = time.perf_counter() - started
        records = _read(Path(name))
    tests = [record for record in records if record["kind"] == "test"]
    fixtures = [record for record in records if record["kind"] == "fixture"]
    collections = [record for record in records if record["kind"] == "collection"]
    print(f"\n{clock:.0f} s on the clock, {os.cpu_count()} processors")
    for record in collections:
        print(f"collection in a worker: {record['seconds']:.1f} s for {record['tests']} tests")
    _table(
        "kind of test",
        _grouped(("+".join(test["marks"]) or "fast", test["seconds"]) for test in tests),
        9,
    )
    _table("folder", _grouped((_folder(test["name"]), test["seconds"]) for test in tests), 40)
    modules = _grouped((test["name"].partition("::")[0], test["seconds"]) for test in tests)
    _table("module", modules, 40)
    functions = _grouped((test["name"].partition("[")[0], test["seconds"]) for test in tests)
    if is_written:
        TEST_SECONDS.write_text(_test_seconds(tests), encoding="utf-8")
    _table("test", functions, 60)
    _table("fixture", _grouped((f["name"], f["seconds"]) for f in fixtures), 40)
    return code


if __name__ == "__main__":
    sys.exit(main())
